//! The native template language: its values, their bounds, and that a second rendering is equal.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use drumfire_data::{Feed, Order, Sources, Template, Text, TextTemplate};
use drumfire_plan::RequestContext;
use proptest::prelude::*;
use std::sync::Arc;

fn call(number: u64) -> RequestContext {
    RequestContext {
        number,
        arrival: number,
        parts: 1,
        user: 2,
        iteration: 0,
        connection: 1,
        now: 951_868_800_500_000_000,
        seed: 11,
        variables: None,
    }
}

fn sources() -> Arc<Sources> {
    let mut sources = Sources::new();
    let lines =
        "{\"a\": 1, \"b\": {\"c\": [true, null, \"x\\\"\"]}}\n{\"a\": \"y\\n\", \"b\": false}\n";
    let feed = Feed::from_json_lines(lines.as_bytes()).unwrap();
    sources.add("f", feed, Order::InTurn).unwrap();
    Arc::new(sources)
}

fn render(source: &str, text: Text, call: &RequestContext, message: u64) -> Result<String, String> {
    let template =
        Template::compile(source, text, &sources()).map_err(|error| error.to_string())?;
    let mut out = String::new();
    template
        .render(call, message, &mut out)
        .map_err(|error| error.to_string())?;
    Ok(out)
}

#[test]
fn variables_are_those_of_the_call() {
    for (source, text) in [
        ("plain", "plain"),
        ("{{ request_number }}/{{message_number}}", "1/6"),
        ("{{ user }} {{ connection }}", "2 1"),
        (
            "{{ unix }} {{ unix_ms }} {{ unix_ns }}",
            "951868800 951868800500 951868800500000000",
        ),
        ("{{ time }}", "2000-03-01T00:00:00.500Z"),
        ("{{ time[:4] }}", "2000"),
        ("{{ f.a }}|{{ f.a|trim }}", "y\n|y"),
        ("{{ f.b }}", "false"),
        ("{{ none }}{{ [1, 'a'] }}", "null[1, \"a\"]"),
        ("{{ random_int(3, 3) + random_int(2, 2) }}", "5"),
        (
            "{% for i in range(2) %}{{ i }}{{ random_int(7, 7) }};{% endfor %}",
            "07;17;",
        ),
        ("{{- ' a' }}{# nothing #}", " a"),
        ("{{ 'b' if user > 5 }}", ""),
    ] {
        assert_eq!(
            render(source, Text::Plain, &call(1), 6).as_deref(),
            Ok(text),
            "{source}"
        );
    }
}

#[test]
fn values_in_json_are_escaped_inside_strings_only() {
    for (source, number, text) in [
        ("{\"a\": \"{{ f.a }}\"}", 1, "{\"a\": \"y\\n\"}"),
        (
            "{\"a\": {{ f.b }}}",
            0,
            "{\"a\": {\"c\": [true, null, \"x\\\"\"]}}",
        ),
        ("{\"a\": \"{{ f.b.c[2] }}\"}", 0, "{\"a\": \"x\\\"\"}"),
        ("{\"a\": \"{{ f.b.c[2]|safe }}\"}", 0, "{\"a\": \"x\"\"}"),
        (
            "{% if true %}{\"a\": \"{{ f.b.c[2] }}\"}{% endif %}",
            0,
            "{\"a\": \"x\\\"\"}",
        ),
    ] {
        let found = render(source, Text::Json, &call(number), 0);
        assert_eq!(found.as_deref(), Ok(text), "{source}");
    }
}

#[test]
fn random_values_depend_on_seed_number_message_and_place() {
    for expression in [
        "uuid",
        "new_uuid()",
        "random_int(0, 1000000000)",
        "random_float()",
        "random_string(12)",
        "choose(range(10000))",
        "(uuid)",
    ] {
        for source in [
            format!("{{{{ {expression} }}}}"),
            format!("{{% if true %}}{{{{ {expression} }}}}{{% endif %}}"),
        ] {
            let of = |call: &RequestContext, message| {
                render(&source, Text::Plain, call, message).unwrap()
            };
            let first = of(&call(0), 0);
            assert_eq!(
                first,
                of(
                    &RequestContext {
                        user: 9,
                        now: 5,
                        ..call(0)
                    },
                    0
                ),
                "{source}"
            );
            for other in [
                of(&call(1), 0),
                of(&call(0), 1),
                of(
                    &RequestContext {
                        seed: 12,
                        ..call(0)
                    },
                    0,
                ),
            ] {
                assert_ne!(first, other, "{source}");
            }
        }
    }
    let two = render(
        "{{ new_uuid() }} {{ new_uuid() }}",
        Text::Plain,
        &call(0),
        0,
    )
    .unwrap();
    let (a, b) = two.split_once(' ').unwrap();
    assert_ne!(a, b);
    let float = render("{{ random_float(2, 3) }}", Text::Plain, &call(0), 0).unwrap();
    assert!(
        (2.0..3.0).contains(&float.parse::<f64>().unwrap()),
        "{float}"
    );
}

#[test]
fn mistakes_are_told() {
    for (source, error) in [
        (
            "{{ request_numbr }}",
            "templates have no variable `request_numbr`; did you mean `request_number`?",
        ),
        (
            "{% if usr %}{% endif %}",
            "templates have no variable `usr`; did you mean `user`?",
        ),
        ("{{ g.a }}", "templates have no variable `g`"),
        (
            "{{ g.a }}",
            "templates have no variable `g`; the feeds are f",
        ),
        ("{{ f.aa }}", "the feed `f` has no column `aa`"),
        (
            "{{ random_int(1) }}",
            "in the template `{{ random_int(1) }}`: missing argument",
        ),
        (
            "{{ choose([]) }}",
            "in the template `{{ choose([]) }}`: `choose` needs a list with at least one element",
        ),
        (
            "{% for i in range(3) %}",
            "in the template `{% for i in range(3) %}`: ",
        ),
        (
            "a\n{% if true %}\n{{ 1/0 }}{% endif %}",
            "in the template `a {% if true %} {{ 1/0 }}{% endif %}`: `1 / 0` divides by 0 \
             (line 3 of the template)",
        ),
    ] {
        let found = render(source, Text::Plain, &call(0), 0).unwrap_err();
        assert!(found.starts_with(error), "{source}: {found}");
    }
}

/// Templates that would overflow the stack, or take gigabytes, and a part of each refusal.
#[track_caller]
fn refused(cases: &[(String, &str)]) {
    for (source, error) in cases {
        let found = render(source, Text::Plain, &call(0), 0);
        let shown: String = source.chars().take(100).collect();
        let found = found.map(|text| text.len()).unwrap_err();
        assert!(found.contains(error), "{shown}: {found}");
    }
}

#[test]
fn templates_have_a_bounded_depth() {
    let chain = "a chain of more than 500 parts at line 1, column ";
    let long = |part: &str| part.repeat(50_000);
    refused(&[
        (format!("{{{{ {}1 }}}}", long("-")), chain),
        (format!("{{{{ {}1 }}}}", long("1+")), chain),
        (format!("{{{{ {}true }}}}", long("not ")), chain),
        (format!("{{{{ {}1 }}}}", long("1 if 1 else ")), chain),
        (format!("{{{{ user{} }}}}", long("|string")), chain),
        (format!("{{{{ f{} }}}}", long(".b")), chain),
        (format!("{{% set {}a = 1 %}}", long("(")), chain),
        (
            format!("{{% if 1 %}}{}{{% endif %}}", long("{% elif 1 %}")),
            "`elif` of more than 500 parts at line 1, column ",
        ),
        (
            format!("{{{{ {}1{} }}}}", "[".repeat(200), "]".repeat(200)),
            "template exceeds maximum",
        ),
        (
            "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}".to_owned(),
            "recursion limit exceeded",
        ),
        (
            "{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}".to_owned(),
            "recursion limit exceeded",
        ),
    ]);
}

#[test]
fn values_have_a_bounded_depth() {
    const DEEP: &str = "lists or maps are nested more than 100 deep";
    const NAMESPACE: &str = "can't contain a namespace";
    const MANY: &str = "elements in one rendering";
    let ns = "{% set ns = namespace() %}";
    let loops = |set: &str| {
        format!(
            "{ns}{{% set ns.x = [] %}}{{% for i in range(100000) %}}{{% set ns.x = {set} %}}\
             {{% endfor %}}{{{{ ns.x }}}}"
        )
    };
    refused(&[
        (format!("{ns}{{% set ns.a = ns %}}{{{{ ns }}}}"), NAMESPACE),
        (
            format!("{ns}{{% set ns.a = [[{{'b': ns}}]] %}}{{{{ ns ~ '' }}}}"),
            NAMESPACE,
        ),
        (loops("[ns.x]"), DEEP),
        (loops("{'a': ns.x}"), DEEP),
        (loops("ns.x|map('string')|chain([1])"), MANY),
        (loops("ns.x|chain([1])"), MANY),
        (loops("ns.x + [1]"), MANY),
        (
            "{% macro f(a, n) %}{{ f([[a]], n - 1) if n > 0 else '' }}{% endmacro %}{{ f([], 60) }}"
                .to_owned(),
            DEEP,
        ),
        (
            format!("{{% set a = [] %}}{}", "{% set a = [a] %}".repeat(1000)),
            DEEP,
        ),
    ]);
}

#[test]
fn values_have_a_bounded_size() {
    const LARGE: &str = "a value of more than 67108864 bytes";
    const WIDE: &str = "a width of more than 1048576";
    const INDENT: &str = "an indent of more than 16";
    let cases = [
        (
            "{% set n = namespace(x='ab') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
            LARGE,
        ),
        ("{{ '%999999999d'|format(1) }}", WIDE),
        ("{{ '%*d'|format(999999999, 1) }}", WIDE),
        ("{{ '%99999999999999999999999d'|format(1) }}", WIDE),
        ("{{ [1]|tojson(indent=999999999) }}", INDENT),
        ("{{ [1]|tojson(999999999) }}", INDENT),
        ("{{ 'a\nb'|indent(999999999) }}", LARGE),
        ("{{ 'a\nb'|indent(width=999999999) }}", LARGE),
        ("{{ ('a' * 10000000)|replace('a', 'b' * 10000000) }}", LARGE),
        ("{{ (['a'] * 100000)|join('b' * 100000) }}", LARGE),
        ("{{ [1]|batch(999999999, 1) }}", WIDE),
        ("{{ [1]|slice(999999999) }}", WIDE),
        ("{{ ['a' * 10000000] * 100000 }}", LARGE),
        ("{{ ('a' * 10000000) * 100 }}", LARGE),
        ("{{ 100 * ('a' * 10000000) }}", LARGE),
        ("{{ '' ~ ['a' * 10000000] * 100000 }}", LARGE),
        ("{{ (['a' * 10000000] * 100000)|upper }}", LARGE),
        ("{{ (['a' * 10000000] * 100000)|tojson }}", LARGE),
        ("{{ (['a' * 10000000] * 100000)|string }}", LARGE),
        ("{{ (['a' * 10000000] * 100000)|pprint }}", LARGE),
        ("{{ (['a' * 10000000] * 100000)|urlencode }}", LARGE),
        ("{{ (['a' * 10000000] * 100000)|join }}", LARGE),
        ("{{ (['a' * 10000000] * 100000)|item(0) }}", LARGE),
        ("{{ js('f', ['a' * 10000000] * 100000) }}", LARGE),
        (
            "{% if ['a' * 10000000] * 100000 == [1] %}{% endif %}",
            LARGE,
        ),
        ("{{ range(999999999) }}", "range has too many elements"),
        ("{{ [1] * 999999999 }}", LARGE),
        ("{{ 'a'|center(999999999) }}", "filter center is unknown"),
    ];
    refused(&cases.map(|(source, error)| (source.to_owned(), error)));
    let texts = "{{ random_string(1048576) }}".repeat(66);
    refused(&[(texts, "the text is longer than 67108864 bytes")]);
    // A part that is shared many times counts as often.
    for (first, doubled) in [
        ("'ab' * 100000", "{% set a = a ~ a %}"),
        ("['ab' * 100000]", "{% set a = [a, a] %}"),
        ("['ab' * 100000]", "{% set a = {'a': a, 'b': a} %}"),
        ("['ab' * 100000]", "{% set a = (a, a) %}"),
        ("['ab' * 100000]", "{% set a = a + a %}"),
        ("['ab' * 100000]", "{% set a = a * 2 %}"),
        ("['ab' * 100000]", "{% set a = a|chain(a) %}"),
        ("['ab' * 100000]", "{% set a = [a]|batch(2, a)|list %}"),
        ("['ab' * 100000]", "{% set a = a|zip(a)|list %}"),
        ("'ab' * 100000", "{% set a %}{{ a }}{{ a }}{% endset %}"),
        ("'ab' * 100000", "{% set a = a|replace('ab', 'abab') %}"),
        ("'ab' * 100000", "{% set a = [a, a]|join %}"),
        ("'ab' * 100000", "{% set a = '%s%s'|format(a, a) %}"),
    ] {
        let source = format!("{{% set a = {first} %}}{}{{{{ a }}}}", doubled.repeat(60));
        let found = render(&source, Text::Plain, &call(0), 0).map(|text| text.len());
        let error = found.unwrap_err();
        assert!(error.contains(LARGE), "{doubled}: {error}");
    }
}

/// An included text would have the interpreter's own operators, which have no bounds.
#[test]
fn a_template_includes_no_other() {
    for name in ["template", "0", " program "] {
        let source = format!("{{% if user < 5 %}}{{% include '{name}' %}}{{% endif %}}");
        refused(&[(source, "tried to include non-existing template")]);
    }
}

#[test]
fn what_is_set_is_what_was_written() {
    for (source, text) in [
        ("{% set a = 'x' if false %}{{ a }}", ""),
        ("{% set a = '\"'|safe %}{{ a is safe }}", "true"),
        ("{% set a, b = 1, [2] %}{{ a }}{{ b }}", "1[2]"),
        (
            "{% set a = {'b': [1, {'c': 2}]} %}{{ a }}",
            "{\"b\": [1, {\"c\": 2}]}",
        ),
        ("{% set a = range(3) %}{{ a }}{{ a[1] }}", "[0, 1, 2]1"),
        ("{% set a = f %}{{ a.b }}", "false"),
        ("{%- set a = 1 -%} {{ a }}", "1"),
        (
            "{% set n = namespace(a=[]) %}{% for i in range(3) %}{% set n.a = n.a + [i] %}{% endfor %}{{ n.a }}",
            "[0, 1, 2]",
        ),
        (
            "{% set n = namespace() %}{% set n.f = f %}{{ n.f.b }}",
            "false",
        ),
        ("{% set a %}b{% endset %}{{ a }}", "b"),
        (
            "{{ '%05d'|format(42) }}{{ [1]|tojson(indent=0) }}{{ [1, 2]|join('-') }}",
            "00042[\n1\n]1-2",
        ),
        (
            "{{ 'a-b'|replace('-', '+') }}{{ [1, 2, 3]|batch(2) }}",
            "a+b[[1, 2], [3]]",
        ),
    ] {
        let found = render(source, Text::Plain, &call(1), 0);
        assert_eq!(found.as_deref(), Ok(text), "{source}");
    }
}

/// Pieces of which much of the language can be made.
const PIECES: [&str; 40] = [
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "#}",
    "{%-",
    "-%}",
    " ",
    "\n",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    ".",
    "|",
    "=",
    "-",
    "+",
    "~",
    "not ",
    " if ",
    " else ",
    "elif ",
    "endif ",
    "set ",
    "ns",
    "namespace()",
    "raw ",
    "endraw ",
    "for a in ",
    "endfor ",
    "\"\\é",
    "'x'",
    "é",
    "range(3)",
];

proptest! {
    #[test]
    fn any_text_is_a_template_or_an_error(text in ".{0,100}") {
        let _any = render(&text, Text::Json, &call(0), 0);
    }

    #[test]
    fn any_pieces_are_a_template_or_an_error(
        pieces in prop::collection::vec(prop::sample::select(PIECES.as_slice()), 0..40),
    ) {
        let _any = render(&pieces.concat(), Text::Plain, &call(0), 0);
    }

    /// What a template sets is neither more nor less than what was written.
    #[test]
    fn setting_changes_no_value(value in "[a-z]{1,8}", number in 0..1000, text in "[a-z =|.']{0,8}") {
        let text = text.replace('\'', "");
        let source = format!(
            "{{% set a = '{value}' ~ '{text}' %}}{{% set n = namespace(b={number}) %}}{{% set n.b = n.b + 1 %}}{{{{ a }}}}{{{{ n.b }}}}"
        );
        let found = render(&source, Text::Plain, &call(0), 0);
        prop_assert_eq!(found, Ok(format!("{value}{text}{}", number + 1)));
    }
}
