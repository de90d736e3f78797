//! Other tools' command lines and outputs, as one program.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod case;
mod conformance;
mod ghz_schedules;
mod machines;
mod made_up_run;
mod plan_text;
