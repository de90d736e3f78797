//! The laws that a machine can enforce, checked against this repository.

use xtask::{Repository, Severity, TidyCheck};

/// This repository.
fn repository() -> Repository {
    match Repository::read() {
        Ok(repository) => repository,
        Err(error) => panic!("failed to read the repository: {error}"),
    }
}

/// Fails with every violation that a check finds.
fn clean(check: TidyCheck) {
    let violations: Vec<String> = check(&repository())
        .iter()
        .filter(|finding| finding.severity == Severity::Violation)
        .map(ToString::to_string)
        .collect();
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

#[test]
fn crates_depend_downwards() {
    clean(xtask::layers::check);
}

#[test]
fn pure_crates_stay_pure() {
    clean(xtask::effects::check);
}

#[test]
fn the_data_plane_has_no_runtime() {
    clean(xtask::no_runtime::check);
}

#[test]
fn the_parts_of_crates_use_each_other_downwards() {
    clean(xtask::parts::check);
}

#[test]
fn crates_say_what_they_know() {
    clean(xtask::crate_docs::check);
}

#[test]
fn files_hold_one_noun() {
    clean(xtask::file_length::check);
}

#[test]
fn types_are_small() {
    clean(xtask::type_size::check);
}

#[test]
fn impls_lie_with_their_types() {
    clean(xtask::impl_place::check);
}

#[test]
fn types_of_engine_do_one_thing() {
    clean(xtask::impl_size::check);
}

#[test]
fn parameters_have_names() {
    clean(xtask::tuple_parameters::check);
}

#[test]
fn file_names_say_something() {
    clean(xtask::file_names::check);
}

#[test]
fn identifiers_use_the_glossary() {
    clean(xtask::words::check);
}

#[test]
fn ignored_tests_say_why() {
    clean(xtask::ignored_tests::check);
}

#[test]
fn pure_crates_do_not_sleep() {
    clean(xtask::sleeping::check);
}

#[test]
fn dependencies_have_reasons() {
    clean(xtask::reasons::check);
}

#[test]
fn links_lead_somewhere() {
    clean(xtask::links::check);
}

#[test]
fn licenses_are_those_that_are_allowed() {
    clean(xtask::licenses::check);
}

#[test]
fn dependencies_come_from_the_registry() {
    clean(xtask::sources::check);
}

#[test]
fn what_is_linked_has_a_license_text() {
    clean(xtask::third_party::check);
}

#[test]
fn the_tables_of_the_manual_are_those_of_the_code() {
    clean(xtask::reference::check);
}

#[test]
fn limits_are_as_the_manual_says() {
    clean(xtask::limits::check);
}

#[test]
fn comments_name_their_subjects() {
    clean(xtask::prose::check);
}

#[test]
fn commits_are_one_change_with_a_reason() {
    clean(xtask::commits::check);
}

/// A check that is missing from the list would be missing from `cargo run -p xtask`.
#[test]
fn every_check_is_run() {
    let repository = repository();
    let listed = xtask::CHECKS.len();
    let with_check = repository
        .rust_files()
        .iter()
        .filter(|file| file.path.starts_with("xtask/src/"))
        .filter(|file| file.code.contains("pub fn check("))
        .count();
    assert_eq!(listed, with_check);
    let tests = repository.text("xtask/tests/tidy.rs");
    let tested = tests.matches("clean(xtask::").count();
    // One more, for the line above.
    assert_eq!(listed + 1, tested);
}
