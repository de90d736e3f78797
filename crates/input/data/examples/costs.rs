//! Evaluates a condition, or a template in double braces, so that its cost can be counted:
//!
//!     cargo build --release -p drumfire-data --example costs
//!     valgrind --tool=callgrind target/release/examples/costs 'status == 200' 1000
//!
//! The variables are `status` (200), `total` (12.50) and `id` (a text). The cost of an evaluation is
//! the difference between runs with two counts: instructions, which a busy machine does not change
//! (`valgrind --tool=callgrind`), or time.

use drumfire_data::{RenderContext, Sources, StepCondition, Template, Text};
use drumfire_plan::{Condition as _, RequestContext, ValueForm, VariableId, Variables};
use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [text, count] => evaluate(text, count.parse()?),
        _ => Err("usage: costs TEXT COUNT".into()),
    }
}

/// Evaluates a text this often.
fn evaluate(text: &str, count: u32) -> Result<(), Box<dyn Error>> {
    let mut sources = Sources::new();
    let mut variables = Variables::new(3);
    for (at, (name, value)) in [("status", "200"), ("total", "12.50"), ("id", "\"a7\"")]
        .into_iter()
        .enumerate()
    {
        sources.declare(name)?;
        let id = VariableId(at as u16);
        sources = sources.with_set(id);
        variables.set_as(id, ValueForm::Json, Ok(value));
    }
    let sources = Arc::new(sources);
    let request = RequestContext {
        variables: Some(Arc::new(variables)),
        ..RequestContext::default()
    };
    if !text.contains("{{") {
        let condition =
            StepCondition::compile(text, 0, &sources).map_err(|error| error.to_string())?;
        for _ in 0..count {
            black_box(
                condition
                    .holds(black_box(&request))
                    .map_err(|error| error.words)?,
            );
        }
        return Ok(());
    }
    let template =
        Template::compile(text, Text::Plain, &sources).map_err(|error| error.to_string())?;
    let mut out = String::new();
    for _ in 0..count {
        out.clear();
        let mut context = RenderContext::new(black_box(&request).clone(), 0, 0);
        template
            .render_with(&mut context, &mut out)
            .map_err(|error| error.words)?;
        black_box(&out);
    }
    Ok(())
}
