//! Translates addresses to functions, with addr2line.

use crate::stepper::Steps;
use std::collections::HashMap;
use std::io::{Error, Result, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// The unit by which instructions are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Functions, with the file of each.
    Function,
    /// Lines of the source.
    Line,
}

/// Executed instructions by place, most first. Inlined functions are counted separately; code
/// outside the program is one line per library.
///
/// # Errors
/// If addr2line is not installed or gives unexpected output.
pub fn executed(program: &Path, steps: &Steps, by: By) -> Result<Vec<(String, u64)>> {
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
    for ((_, count), name) in inside.iter().zip(names(program, &offsets, by)?) {
        *totals.entry(name).or_default() += count;
    }
    let mut table: Vec<(String, u64)> = totals.into_iter().collect();
    table.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    Ok(table)
}

/// The innermost place at each offset.
fn names(program: &Path, offsets: &[u64], by: By) -> Result<Vec<String>> {
    let mut command = Command::new("addr2line");
    command.arg("-fC").arg("-e").arg(program);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = child.spawn()?;
    let lines: String = offsets.iter().map(|o| format!("{o:#x}\n")).collect();
    let pipe = child.stdin.take();
    let writer = std::thread::spawn(move || pipe.map(|mut p| p.write_all(lines.as_bytes())));
    let output = child.wait_with_output()?;
    // A failed write shows in the number of answers.
    let _written = writer.join();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let names: Vec<String> = text
        .lines()
        .collect::<Vec<_>>()
        .chunks(2)
        .map(|pair| {
            let place = pair.get(1).copied().unwrap_or("");
            match by {
                By::Function => function(pair[0], place),
                By::Line => line(pair[0], place),
            }
        })
        .collect();
    if names.len() == offsets.len() {
        Ok(names)
    } else {
        Err(Error::other("addr2line did not resolve each address"))
    }
}

/// A function with its file.
fn function(name: &str, place: &str) -> String {
    let file = place.split(':').next().unwrap_or(place);
    let parts: Vec<&str> = file.rsplit('/').take(3).collect();
    let short: Vec<&str> = parts.into_iter().rev().collect();
    format!("`{name}` in {}", short.join("/"))
}

/// A line of the source, with its function.
fn line(name: &str, place: &str) -> String {
    let number = place.split(':').nth(1).unwrap_or("?");
    let number: String = number.chars().take_while(char::is_ascii_digit).collect();
    format!("{}:{number}", function(name, place))
}

#[cfg(test)]
mod tests {
    use super::{function, line};

    #[test]
    fn a_function_is_named_with_the_end_of_its_path() {
        let place = "/a/crates/core/measure/src/interval.rs:12 (discriminator 3)";
        assert_eq!(
            function("record", place),
            "`record` in measure/src/interval.rs"
        );
        assert_eq!(
            line("record", place),
            "`record` in measure/src/interval.rs:12"
        );
        assert_eq!(function("??", "??:0"), "`??` in ??");
    }
}
