//! Arbitrary text as a template and as a condition, with variables, and with feeds of numeric and
//! other texts: no panic, bounded output, and a value without a computation prints as itself.

#![no_main]

use drumfire_data::{CsvForm, Feed, Order, Sources, StepCondition, Template, Text, TextTemplate};
use drumfire_plan::{Condition as _, RequestContext, VariableId, Variables};
use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, LazyLock};

const VALUES: [&str; 8] = [
    "12.50",
    "007",
    "9007199254740993",
    "-1e3",
    "abc",
    "",
    "[1, \"x\"]",
    "{\"k\": 0.1}",
];

static SOURCES: LazyLock<Arc<Sources>> = LazyLock::new(|| {
    let mut sources = Sources::new();
    let feed = Feed::from_csv(b"name,age\nAda,36\n", &CsvForm::default()).expect("a feed");
    sources.add("people", feed, Order::InTurn).expect("a name");
    for (id, name) in (0..).zip("abcdefgh".split_terminator("").skip(1)) {
        sources.declare(name).expect("a name");
        sources = sources.with_set(VariableId(id));
    }
    Arc::new(sources)
});

fn context() -> RequestContext {
    let mut variables = Variables::new(VALUES.len());
    for (id, value) in (0..).zip(VALUES) {
        variables.set(VariableId(id), Ok(value));
    }
    RequestContext {
        variables: Some(Arc::new(variables)),
        ..RequestContext::default()
    }
}

fuzz_target!(|text: &str| {
    let context = context();
    for kind in [Text::Plain, Text::Json] {
        let Ok(template) = Template::compile(text, kind, &SOURCES) else {
            continue;
        };
        let (mut out, mut again) = (String::new(), String::new());
        let rendered = template.render(&context, 0, &mut out);
        assert_eq!(template.render(&context, 0, &mut again), rendered);
        assert_eq!(out, again);
        if rendered.is_ok() && Template::is_static(text) {
            assert_eq!(out, text);
        }
    }
    if let Ok(condition) = StepCondition::compile(text, 1, &SOURCES) {
        assert_eq!(condition.holds(&context), condition.holds(&context));
    }
});
