//! The cost of a coordinator by the number of its agents: CPU, memory and traffic. The agents are
//! fake: they speak the protocol and report an interval per second.

use clap::Parser;
use drumfire_bench::cluster::{Binaries, CoordinatorProcess, NatsServer};
use drumfire_bench::machine;
use drumfire_bench::process::{Guarded, cpu_so_far, resident_so_far};
use drumfire_net::Clock;
use drumfire_units::{ByteSize, Nanos};
use std::fmt::Write as _;
use std::fs;
use std::io::{Error, Result, Write as _};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Measure a coordinator with fake agents
#[derive(Debug, Parser)]
struct ScaleFlags {
    /// The numbers of agents
    #[arg(long, value_delimiter = ',', default_value = "8,100,1000")]
    agents: Vec<u64>,
    /// The length of the load in seconds
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// The series of an interval
    #[arg(long, default_value_t = 20)]
    series: u64,
    /// The program to measure [default: the one next to this program]
    #[arg(long, value_name = "FILE")]
    drumfire: Option<PathBuf>,
    /// The fake agents [default: those next to this program]
    #[arg(long, value_name = "FILE")]
    fakes: Option<PathBuf>,
    /// The nats-server program
    #[arg(long, value_name = "FILE", default_value = "target/suites/nats-server")]
    nats: PathBuf,
}

/// The figures of one run.
struct ScaleFigures {
    agents: u64,
    /// CPU time per second of the load.
    coordinator: f64,
    server: f64,
    /// The peak of resident memory.
    memory: u64,
    /// Bytes per second from all agents, and to them.
    up: f64,
    down: f64,
    /// Bytes of a report.
    report: f64,
}

fn main() -> Result<()> {
    let flags = ScaleFlags::parse();
    let here = std::env::current_exe()?;
    let beside = |name: &str| here.with_file_name(name);
    let programs = Binaries {
        drumfire: flags.drumfire.clone().unwrap_or_else(|| beside("drumfire")),
        nats: fs::canonicalize(&flags.nats)?,
    };
    let fakes = flags.fakes.clone();
    let fakes = fakes.unwrap_or_else(|| beside("examples/fake_agents"));
    let mut out = std::io::stdout();
    writeln!(
        out,
        "- Machine: {}\n- {} series, intervals of 1 s, {} s\n\n\
         | agents | coordinator, of a core | its memory | nats-server, of a core | up | down | a report |\n\
         |---|---|---|---|---|---|---|",
        machine::describe(),
        flags.series,
        flags.seconds,
    )?;
    for agents in &flags.agents {
        let figures = flags.measure(&programs, &fakes, *agents)?;
        let rate = |bytes: f64| ByteSize(bytes as u64);
        writeln!(
            out,
            "| {} | {:.2} % | {} | {:.2} % | {}/s | {}/s | {} |",
            figures.agents,
            figures.coordinator * 100.0,
            ByteSize(figures.memory),
            figures.server * 100.0,
            rate(figures.up),
            rate(figures.down),
            rate(figures.report),
        )?;
    }
    Ok(())
}

impl ScaleFlags {
    fn measure(&self, programs: &Binaries, fakes: &PathBuf, agents: u64) -> Result<ScaleFigures> {
        let name = format!("drumfire-scale-{}-{agents}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder)?;
        let plan = folder.join("plan.yaml");
        fs::write(&plan, self.plan(agents))?;
        let server = NatsServer::start(programs, Ipv4Addr::LOCALHOST, &folder)?;
        let (url, count) = (server.url(), agents.to_string());
        let mut command = Command::new(fakes);
        command.args([&url, "scale", &count, &self.seconds.to_string()]);
        command.arg(self.series.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut fleet = Guarded(command.spawn()?);
        let plan = plan.to_string_lossy().into_owned();
        let args = [
            "run", &plan, "--agents", &count, "--nats", &url, "--group", "scale", "--wait", "120s",
        ];
        let coordinator = CoordinatorProcess::start(programs, &args, &folder)?;
        let (id, server_id) = (coordinator.id(), server.id().unwrap_or_default());
        // The time of gathering agents and of the first intervals is excluded.
        let clock = Clock::start();
        let journal = || {
            let entries = fs::read_dir(folder.join("drumfire/cluster")).ok()?;
            entries
                .flatten()
                .filter_map(|it| it.metadata().ok())
                .map(|it| it.len())
                .max()
        };
        while journal().unwrap_or(0) < 1_000 * agents {
            if clock.now() > Nanos::from_secs(150) {
                return Err(Error::other("the load did not begin"));
            }
            thread::sleep(Duration::from_millis(50));
        }
        thread::sleep(Duration::from_secs(2));
        let before = (cpu_so_far(id), cpu_so_far(server_id), clock.now());
        let mut memory = 0;
        let span = Nanos::from_secs(self.seconds.saturating_sub(8).max(4));
        while clock.now() - before.2 < span {
            memory = memory.max(resident_so_far(id));
            thread::sleep(Duration::from_millis(200));
        }
        let seconds = (clock.now() - before.2).as_secs_f64();
        let share = |after: Nanos, before: Nanos| (after - before).as_secs_f64() / seconds;
        let coordinator_share = share(cpu_so_far(id), before.0);
        let server_share = share(cpu_so_far(server_id), before.1);
        coordinator.report(Duration::from_secs(60))?;
        let mut said = String::new();
        if let Some(mut pipe) = fleet.0.stdout.take() {
            std::io::Read::read_to_string(&mut pipe, &mut said)?;
        }
        let numbers: Vec<f64> = said
            .split_whitespace()
            .filter_map(|it| it.parse().ok())
            .collect();
        let &[up, down, reports] = numbers.as_slice() else {
            return Err(Error::other("the fake agents printed nothing"));
        };
        let length = self.seconds as f64;
        let _left_behind = fs::remove_dir_all(&folder);
        Ok(ScaleFigures {
            agents,
            coordinator: coordinator_share,
            server: server_share,
            memory,
            up: up / length,
            down: down / length,
            report: up / reports.max(1.0),
        })
    }

    /// A plan that can be divided among this many agents.
    fn plan(&self, agents: u64) -> String {
        let mut text = format!(
            "drumfire: 1\npools:\n  p:\n    target: http://127.0.0.1:9\n    rate: {}/s\n    connections: {}\n    \
             requests:\n",
            agents * 10,
            agents * 2
        );
        for step in 0..self.series {
            // Writing to a String can't fail.
            let _complete = writeln!(text, "      - {{ get: /{step}, name: step{step} }}");
        }
        text + &format!("stop: {{ after: {}s }}\n", self.seconds)
    }
}
