//! Command lines with their texts, exit codes and results, from the files in `tests/cases/`.
//!
//! Each file is a test with the file's name; `tests/cases/README.md` has the format.
//! `DRUMFIRE_BLESS=1` rewrites the exit codes and texts that differ.

use crate::support::case_file::replay;
use std::collections::BTreeSet;

/// One test per file.
macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(
            #[test]
            fn $name() {
                replay(stringify!($name));
            }
        )*
    };
}

cases![
    ab,
    ammo,
    answers,
    calls,
    capacity,
    check,
    comparing,
    events,
    expectations,
    feeds,
    first_use,
    ghz,
    go_wrk,
    grpc_mistakes,
    import,
    lists,
    metrics,
    mistakes,
    outputs,
    pandora,
    plans,
    references,
    requests,
    runs,
    scenarios,
    scripts,
    secrets,
    sent,
    setup,
    show,
    stops,
    templates,
    traces,
    waiting,
    websocket,
];

#[test]
fn every_case_file_is_a_test() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases");
    let entries = std::fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let files: BTreeSet<String> = names
        .filter_map(|name| Some(name.strip_suffix(".case")?.to_owned()))
        .collect();
    let named: BTreeSet<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(files, named, "list every file in cases.rs");
}
