//! Addresses to functions, by addr2line.

use crate::stepper::Steps;
use std::collections::HashMap;
use std::io::{Error, Result, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Executed instructions by function, most first. An inlined function counts for itself; what
/// lies outside the program is one line for each library.
///
/// # Errors
/// When addr2line is not installed or does not answer as it should.
pub fn by_function(program: &Path, steps: &Steps) -> Result<Vec<(String, u64)>> {
    let own = program.canonicalize()?;
    let own = own.to_string_lossy();
    let base = steps.mappings.iter().find(|m| m.name == own);
    let base = base.map_or(0, |mapping| mapping.range.start);
    let mut totals: HashMap<String, u64> = HashMap::new();
    let mut inside = Vec::new();
    for (address, count) in &steps.addresses {
        let mapping = steps.mappings.iter().find(|m| m.range.contains(address));
        match mapping.map_or("(unknown)", |mapping| &mapping.name) {
            name if name == own => inside.push((address - base, *count)),
            name => *totals.entry(name.to_owned()).or_default() += count,
        }
    }
    let offsets: Vec<u64> = inside.iter().map(|(offset, _)| *offset).collect();
    for ((_, count), name) in inside.iter().zip(names(program, &offsets)?) {
        *totals.entry(name).or_default() += count;
    }
    let mut table: Vec<(String, u64)> = totals.into_iter().collect();
    table.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    Ok(table)
}

/// The innermost function at each offset.
fn names(program: &Path, offsets: &[u64]) -> Result<Vec<String>> {
    let mut command = Command::new("addr2line");
    command.arg("-fC").arg("-e").arg(program);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = child.spawn()?;
    let lines: String = offsets.iter().map(|o| format!("{o:#x}\n")).collect();
    let pipe = child.stdin.take();
    let writer = std::thread::spawn(move || pipe.map(|mut p| p.write_all(lines.as_bytes())));
    let output = child.wait_with_output()?;
    // A refusal shows itself in the number of answers.
    let _written = writer.join();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let names: Vec<String> = text
        .lines()
        .collect::<Vec<_>>()
        .chunks(2)
        .map(|pair| function(pair[0], pair.get(1).copied().unwrap_or("")))
        .collect();
    if names.len() == offsets.len() {
        Ok(names)
    } else {
        Err(Error::other("addr2line does not answer for each address"))
    }
}

/// A function with the file that it is in.
fn function(name: &str, place: &str) -> String {
    let file = place.split(':').next().unwrap_or(place);
    let parts: Vec<&str> = file.rsplit('/').take(3).collect();
    let short: Vec<&str> = parts.into_iter().rev().collect();
    format!("`{name}` in {}", short.join("/"))
}

#[cfg(test)]
mod tests {
    use super::function;

    #[test]
    fn a_function_is_named_with_the_end_of_its_path() {
        let place = "/a/crates/measure/src/interval.rs:12 (discriminator 3)";
        assert_eq!(
            function("record", place),
            "`record` in measure/src/interval.rs"
        );
        assert_eq!(function("??", "??:0"), "`??` in ??");
    }
}
