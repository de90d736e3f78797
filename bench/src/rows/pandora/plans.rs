//! The plans, configurations and scripts of the rows, and the commands that run them.

use crate::process::{CLIENT_CORE, pinned};
use std::fs;
use std::io::Result;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A JSON document as a response, and the value that a scenario takes from it.
pub(super) const ITEM: &str = r#"{"id": 17, "token": "8f14e45fceea167a", "next": "/cart"}"#;

/// The number of rows in the feed.
const PEOPLE: u32 = 500;

/// Writes a file into a folder.
pub(super) fn write(folder: &Path, name: &str, text: &str) -> Result<PathBuf> {
    let file = folder.join(name);
    fs::write(&file, text)?;
    Ok(file)
}

/// Writes the feed: a column of names.
pub(super) fn write_people(folder: &Path) -> Result<PathBuf> {
    let rows = (0..PEOPLE).map(|row| format!("user{row:03}\n"));
    let text: String = std::iter::once("name\n".to_owned()).chain(rows).collect();
    write(folder, "people.csv", &text)
}

/// A command that runs drumfire with a plan on the clients' core, with its summary as output.
pub(super) fn run(drumfire: &Path, plan: &Path) -> Command {
    let mut command = pinned(CLIENT_CORE, drumfire);
    command.arg("run").arg(plan);
    command.args(["-q", "--no-tui", "--json=-"]);
    command
}

/// A plan of one pool: `pool` has its keys, one per line, in YAML, and may use the feed of people.
pub(super) fn plan(target: &str, pool: &str, stop: &str) -> String {
    let lines = pool.lines().map(|line| format!("    {line}\n"));
    let pool: String = lines.collect();
    let feeds = match pool.contains("people.") {
        true => "feeds: { people: { csv: people.csv } }\n",
        false => "",
    };
    format!(
        "drumfire: 1\n{feeds}pools:\n  load:\n    \
         target: {target}\n{pool}stop: {{ {stop} }}\ngenerator: {{ threads: 1 }}\n"
    )
}

/// A document of 10 kB with the token at its end.
pub(super) fn big_item() -> String {
    let filler = r#"{"sku": "tea-0001", "count": 3, "price": 12.5, "tags": ["a", "b"]}"#;
    let items = vec![filler; 9_950 / (filler.len() + 2)].join(", ");
    format!(r#"{{"items": [{items}], "token": "8f14e45fceea167a"}}"#)
}

#[cfg(test)]
mod tests {
    use super::{big_item, plan};

    #[test]
    fn a_pool_is_indented_and_a_document_has_its_size() {
        let text = plan("http://127.0.0.1:1", "users: 3\nrate: 5/s", "after: 1s");
        assert!(text.contains("\n    target: http://127.0.0.1:1\n    users: 3\n    rate: 5/s\n"));
        assert!((9_900..10_100).contains(&big_item().len()));
    }
}
