//! Prints the cost of a message, static and templated: nanoseconds per message, the best of several
//! rounds.
//!
//! `cargo run --release -p drumfire-schema --example message_cost`

#![expect(clippy::print_stdout, reason = "it is what the program is for")]
#![expect(
    clippy::disallowed_methods,
    reason = "a stopwatch for people, not part of a run"
)]

use drumfire_data::Sources;
use drumfire_plan::{DataError, RenderedFields, RequestContext, RequestData};
use drumfire_schema::{Input, Metadata, Method, Schema};
use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

const PROTO: &str = "syntax = \"proto3\";
message Request { string id = 1; string name = 2; int64 number = 3; Request inner = 4; }
service S { rpc M(Request) returns (Request); }";

/// The number of messages in a round, and the number of rounds.
const MESSAGES: u64 = 200_000;
const ROUNDS: u32 = 7;

/// A case: its name and its data.
const CASES: [(&str, &str); 7] = [
    (
        "static",
        r#"{"id": "12345678", "name": "9a1f4c56-07d4-4b0e-8a3c-2f9f1a9d1c11"}"#,
    ),
    (
        "request number",
        r#"{"id": "{{ request_number }}", "name": "somebody"}"#,
    ),
    (
        "request number and uuid",
        r#"{"id": "{{ request_number }}", "name": "{{ uuid }}"}"#,
    ),
    (
        "the same, as an integer, nested",
        r#"{"number": "{{ request_number }}", "inner": {"name": "{{ uuid }}"}}"#,
    ),
    (
        "request number as text",
        r#"{"number": {{ request_number }}, "name": "{{ uuid }}"}"#,
    ),
    (
        "interpreted",
        r#"{"id": "{{ request_number + 1 }}", "name": "{{ uuid|upper }}"}"#,
    ),
    (
        "a block",
        r#"{"id": "{% if user %}a{% else %}b{% endif %}", "name": "{{ uuid }}"}"#,
    ),
];

fn main() -> Result<(), Box<dyn Error>> {
    let read = |_: &str| Ok(PROTO.as_bytes().to_vec());
    let method = Schema::from_proto(&["m.proto".to_owned()], &[], read)?.method("S/M")?;
    let sources = Arc::new(Sources::new());
    for (name, text) in CASES {
        let input = Input::template(&method, text, &sources)?;
        println!("{:>8.1} ns  {name}", best(&input)?);
    }
    println!(
        "{:>8.1} ns  metadata with a uuid",
        with_metadata(&method, &sources)?
    );
    Ok(())
}

fn with_metadata(method: &Method, sources: &Arc<Sources>) -> Result<f64, DataError> {
    let metadata = Metadata::template("x-id", "{{ uuid }}", sources)?;
    best(&Input::empty(method).with_metadata(metadata))
}

/// Nanoseconds for the metadata and message of one call.
fn best(input: &Input) -> Result<f64, DataError> {
    let (mut message, mut metadata) = (Vec::new(), RenderedFields::default());
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for number in 0..MESSAGES {
            let call = RequestContext {
                number,
                arrival: number,
                parts: 1,
                user: 0,
                iteration: 0,
                connection: 0,
                now: number,
                seed: 1,
                variables: None,
            };
            message.clear();
            metadata.clear();
            input.fields(&call, &mut metadata)?;
            input.message(&call, 0, &mut message)?;
            black_box(&message);
        }
        let nanos = start.elapsed().as_nanos() as f64 / MESSAGES as f64;
        best = best.min(nanos);
    }
    Ok(best)
}
