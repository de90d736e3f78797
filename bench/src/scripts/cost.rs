//! What a user and a request of a script cost: resident memory and CPU time of drumfire and of k6.
//!
//! Memory is the growth of the peak from one user to many, divided by the number of further users, while each user is
//! in the middle of an iteration. It includes a connection for each. CPU is that of the whole process, divided by its
//! requests.

use super::Program;
use crate::process::{CLIENT_CORE, MemoryWatch, pinned, run};
use crate::server::Server;
use crate::tool::Programs;
use drumfire_units::Nanos;
use std::fmt::Write as _;
use std::fs;
use std::io::{Result, Write};
use std::net::Ipv4Addr;
use std::path::Path;

/// The longest run.
const RUN_MAX: Nanos = Nanos::from_secs(300);
/// The rounds of a measurement of CPU; the median counts.
const ROUNDS: usize = 5;
/// Users and iterations of the script whose CPU is measured.
const CPU_USERS: u32 = 20;
const CPU_ITERATIONS: u32 = 20_000;
/// The most users whose memory is measured, and the descriptors that a program needs beside connections.
const USERS_MAX: u32 = 20_000;
const DESCRIPTORS: u64 = 1_024;
/// The functions of the library, which then has some 235 kB.
const FUNCTIONS: usize = 1_650;

/// The script: twenty records, a group, a request, two checks, JSON, a Trend.
const SCRIPT: &str = "import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Trend } from 'k6/metrics';
const sizes = new Trend('sizes');
const records = [];
for (let at = 0; at < 20; at++) records.push({ id: at, name: `user ${at}`, tags: ['a', 'b'] });
export default function () {
  const record = records[__ITER % records.length];
  group('visit', () => {
    const response = http.get(`${__ENV.BASE}/?id=${record.id}`, { tags: { name: 'visit' }, headers: { 'X-Own': record.name } });
    check(response, { 'is 200': (r) => r.status === 200, 'has a body': (r) => r.body.length > 0 });
    JSON.parse(JSON.stringify(record));
    sizes.add(response.body.length);
  });
  if (__ENV.PAUSE) sleep(Number(__ENV.PAUSE));
}
";

/// The text of a library that stays alive at the top level of a script.
fn library() -> String {
    let mut text = String::from("export const library = {\n");
    for at in 0..FUNCTIONS {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "  part{at}(first, second) {{ const sum = first + second * {at}; const list = [first, second, sum]; return {{ list, sum, name: 'part {at}' }}; }},"
        );
    }
    text.push_str("};\n");
    text
}

/// A program, and the numbers of users with which its memory is measured.
struct Candidate<'a> {
    name: &'static str,
    program: Program,
    plain: &'a [u32],
    with_library: &'a [u32],
}

/// Prints the table of costs, row by row. Programs are pinned to one core, and the server to another.
///
/// # Errors
/// If a program cannot be started, or fails.
pub fn table(drumfire: &Path, k6: Option<&Path>, folder: &Path, out: &mut dyn Write) -> Result<()> {
    let mut programs = Programs::find(Some(drumfire.to_owned()), None)?;
    programs.serve = drumfire.to_owned();
    let server = Server::serving(Ipv4Addr::LOCALHOST, &["--threads", "1"], &programs)?;
    let base = server.url("");
    fs::create_dir_all(folder)?;
    let plain = folder.join("plain.js");
    fs::write(&plain, SCRIPT)?;
    fs::write(folder.join("library.js"), library())?;
    let large = folder.join("large.js");
    let with_library = format!(
        "import {{ library }} from './library.js';\nconst kept = library;\n{}",
        SCRIPT.replace("const record =", "kept.part1(1, 2);\n  const record =")
    );
    fs::write(&large, with_library)?;
    // Each user has a connection.
    let room = drumfire_net::raise_descriptor_limit().unwrap_or(DESCRIPTORS);
    let room = u32::try_from(room.saturating_sub(DESCRIPTORS)).unwrap_or(u32::MAX);
    let plain_users = [1_000, USERS_MAX.min(room)];
    let mut candidates = vec![Candidate {
        name: "drumfire",
        program: Program::drumfire(drumfire.to_owned()),
        plain: &plain_users,
        with_library: &[300, 1_000],
    }];
    candidates.extend(k6.map(|k6| Candidate {
        name: "k6",
        program: Program::k6(k6.to_owned()),
        plain: &[1_000],
        with_library: &[300],
    }));
    writeln!(
        out,
        "| program | script | users | kB a user | µs of CPU a request |\n|---|---|---|---|---|"
    )?;
    for candidate in &candidates {
        let name = candidate.name;
        for (script, kind, users) in [
            (&plain, "plain", candidate.plain),
            (&large, "with a library of 235 kB", candidate.with_library),
        ] {
            let one = peak(&candidate.program, script, &base, 1)?;
            for users in users {
                let many = peak(&candidate.program, script, &base, *users)?;
                let each = many.saturating_sub(one) as f64 / f64::from(users - 1) / 1e3;
                writeln!(out, "| {name} | {kind} | {users} | {each:.1} | |")?;
            }
        }
        let cpu = cpu(&candidate.program, &plain, &base)?;
        writeln!(out, "| {name} | plain | {CPU_USERS} | | {cpu:.1} |")?;
    }
    Ok(())
}

/// The peak of resident memory with users that are all in a pause of their iteration.
fn peak(program: &Program, script: &Path, base: &str, users: u32) -> Result<u64> {
    let mut command = pinned(CLIENT_CORE, &program.path);
    command.args(program.words).args(["run", "-q"]);
    command.args(["-u", &users.to_string(), "-i", &users.to_string()]);
    command.args(["-e", &format!("BASE={base}"), "-e", "PAUSE=20"]);
    command.arg(script);
    offline(&mut command);
    Ok(run(&mut command, RUN_MAX, MemoryWatch::Memory)?.peak_bytes)
}

/// The median of the CPU time of a request, in microseconds.
fn cpu(program: &Program, script: &Path, base: &str) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let mut command = pinned(CLIENT_CORE, &program.path);
        command.args(program.words).args(["run", "-q"]);
        command.args(["-u", &CPU_USERS.to_string()]);
        command.args(["-i", &CPU_ITERATIONS.to_string()]);
        command.args(["-e", &format!("BASE={base}")]).arg(script);
        offline(&mut command);
        let finished = run(&mut command, RUN_MAX, MemoryWatch::Nothing)?;
        times.push(finished.cpu().0 as f64 / 1e3 / f64::from(CPU_ITERATIONS));
    }
    times.sort_by(f64::total_cmp);
    Ok(times[ROUNDS / 2])
}

/// k6 must not call its makers.
fn offline(command: &mut std::process::Command) {
    command
        .env("K6_NO_USAGE_REPORT", "true")
        .env("K6_AUTO_EXTENSION_RESOLUTION", "false");
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_library_has_the_size_that_the_table_names() {
        let bytes = super::library().len();
        assert!((230_000..240_000).contains(&bytes), "{bytes}");
    }
}
