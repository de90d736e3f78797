//! Templates that exceed limits. Each soon ends with an error, within a default thread stack.

use drumfire_gotemplate::{Env, Functions, GoTemplate, Limits, Value};
use proptest::prelude::*;

/// A constant environment.
pub(crate) struct Still(pub(crate) u64);

impl Env for Still {
    fn unix_time_ns(&mut self) -> i64 {
        0
    }

    fn random(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        self.0
    }
}

pub(crate) fn run(text: &str) -> Result<String, String> {
    let template =
        GoTemplate::parse("t", text, &Functions::sprig()).map_err(|error| error.to_string())?;
    let mut out = String::new();
    template
        .execute(&Value::Missing, &mut Still(1), &mut out)
        .map_err(|error| error.to_string())?;
    Ok(out)
}

fn check(text: &str, reason: &str) {
    let message = run(text).expect_err(text);
    assert!(message.contains(reason), "{text}: {message}");
}

#[test]
fn what_does_not_end_is_ended() {
    let steps = "too many steps";
    check(
        r#"{{define "f"}}{{template "f"}}{{end}}{{template "f"}}"#,
        "maximum template depth",
    );
    check(
        "{{range 1000000000}}{{range 1000000000}}{{end}}{{end}}",
        steps,
    );
    check("{{range 9000000000000000000}}{{end}}", steps);
    check("{{until 9000000000000000000}}", "too many");
    check("{{seq 1 9000000000000000000}}", "too many");
    check(
        "{{$d := dict}}{{range until 5000}}{{range until 5000}}{{$_ := set $d \"a\" 1}}{{end}}{{end}}",
        steps,
    );
}

#[test]
fn what_grows_is_bounded() {
    // Either limit may come first.
    let values = "too many";
    check("{{repeat 1000000000 \"ab\"}}", values);
    check(
        "{{$x := \"ab\"}}{{range 60}}{{$x = print $x $x}}{{end}}",
        "exceeds its limit",
    );
    check(
        "{{$x := repeat 4000 \"a\"}}{{range 60}}{{$x = replace \"a\" $x $x}}{{end}}",
        values,
    );
    check(
        "{{$x := repeat 4000 \"a\"}}{{range 60}}{{$x = regexReplaceAll \"a\" $x $x}}{{end}}",
        values,
    );
    check("{{indent 1000000000 \"a\"}}", values);
    check("{{printf \"%*d\" 1000000 1 | repeat 1000 | len}}", values);
    check(
        "{{range 20000000}}aaaaaaaaaaaaaaaaaaaaaaaaaaaaa{{end}}",
        "exceeds its limit",
    );
    check("{{randAlphaNum 1000000000}}", values);
    check("{{randBytes 1000000000}}", values);
}

#[test]
fn shared_values_do_not_explode() {
    let doubled = "{{$x := list 1}}{{range 60}}{{$x = list $x $x}}{{end}}";
    for end in [
        "{{$x}}",
        "{{toJson $x}}",
        "{{deepCopy $x}}",
        "{{deepEqual $x (deepCopy $x)}}",
    ] {
        assert!(run(&format!("{doubled}{end}")).is_err(), "{end}");
    }
    check(
        &format!("{doubled}{{{{$d := dict}}}}{{{{$_ := set $d \"a\" $x}}}}"),
        "too many steps",
    );
}

#[test]
fn nesting_is_bounded() {
    check(
        "{{$d := dict}}{{$_ := set $d \"a\" (list $d)}}",
        "can't contain itself",
    );
    check(
        "{{$d := dict}}{{$e := dict \"d\" $d}}{{$_ := merge $d (dict \"e\" $e)}}",
        "can't contain itself",
    );
    // Created and dropped without recursion.
    let deep = "{{$x := list}}{{range 300000}}{{$x = list $x}}{{end}}";
    assert_eq!(run(deep), Ok(String::new()));
    check(&format!("{deep}{{{{$x}}}}"), "too deep");
    check(&format!("{deep}{{{{toJson $x}}}}"), "too deep");
    let dicts = "{{$x := dict}}{{range 300000}}{{$x = dict \"a\" $x}}{{end}}";
    assert_eq!(run(dicts), Ok(String::new()));
    let parens = format!("{{{{{}1{}}}}}", "(".repeat(5000), ")".repeat(5000));
    check(&parens, "max expression depth");
    let ifs = format!("{}{}", "{{if 1}}".repeat(5000), "{{end}}".repeat(5000));
    check(&ifs, "max expression depth");
    let fits = format!("{}x{}", "{{if 1}}".repeat(99), "{{end}}".repeat(99));
    assert_eq!(run(&fits), Ok("x".to_owned()));
    check(
        &format!("{{{{fromJson `{}`}}}}x{{{{nosuch}}}}", "[".repeat(100_000)),
        "nosuch",
    );
    assert_eq!(
        run(&format!("{{{{fromJson `{}`}}}}", "[".repeat(100_000))),
        Ok("<no value>".to_owned())
    );
}

#[test]
fn the_deepest_execution_fits_a_threads_stack() {
    // The maximum nesting of parentheses and branches, repeated in every template.
    let expression = format!("{}1{}", "(print ".repeat(90), ")".repeat(90));
    let text = format!(
        "{{{{define \"f\"}}}}{{{{if 1}}}}{{{{with {expression}}}}}{{{{template \"f\" .}}}}{{{{end}}}}{{{{end}}}}{{{{end}}}}{{{{template \"f\"}}}}"
    );
    check(&text, "maximum template depth");
}

#[test]
fn expressions_are_bounded() {
    check(r#"{{mustRegexMatch "(a{1000}){1000}" "a"}}"#, "too large");
    assert_eq!(
        run(r#"{{regexMatch "(a*)*b" (repeat 20000 "a")}}"#),
        Ok("false".to_owned())
    );
}

#[test]
fn what_is_not_available_says_so() {
    check("{{env \"HOME\"}}", "the environment is not available here");
    check(
        "{{expandenv \"$HOME\"}}",
        "the environment is not available here",
    );
    check("{{getHostByName \"localhost\"}}", "can't be looked up here");
    check("{{genPrivateKey \"rsa\"}}", "not available here");
}

#[test]
fn functions_are_added_and_removed() {
    let functions = Functions::builtin()
        .with("two", "", |_, _| Ok(Value::int(2)))
        .with("double", "i", |_, args| match args[0] {
            Value::Int(kind, number) => Ok(Value::Int(kind, 2 * number)),
            _ => Err("no number".into()),
        });
    let text = "{{double two}} {{double 4}}";
    let template = GoTemplate::parse("", text, &functions).expect("both are there");
    let mut out = String::new();
    template
        .execute(&Value::Missing, &mut Still(1), &mut out)
        .expect("both work");
    assert_eq!(out, "4 8");
    let error =
        GoTemplate::parse("", text, &functions.without("double")).expect_err("one is not there");
    assert_eq!(
        error.to_string(),
        "template: :1: function \"double\" not defined"
    );
}

#[test]
fn a_template_without_actions_is_static() {
    let parsed = |text| GoTemplate::parse("", text, &Functions::builtin()).expect("a template");
    assert!(parsed("{\"a\": {\"b\": 1}}").is_static());
    for text in [
        "{{.}}",
        "{{if 1}}a{{end}}",
        "a{{/* b */}}",
        "{{range 3}}{{end}}",
    ] {
        assert!(!parsed(text).is_static(), "{text}");
    }
    assert!(parsed("a{{/* b */}}").is_constant());
    assert!(!parsed("{{if 1}}a{{end}}").is_constant());
}

/// Pieces that combine to much of the language.
const PIECES: &[&str] = &[
    "{{",
    "}}",
    "{{-",
    "-}}",
    " ",
    "\n",
    "(",
    ")",
    "|",
    ".",
    ".a",
    ".b.c",
    "$",
    "$x",
    "$y",
    ":=",
    "=",
    ",",
    "if ",
    "else",
    "else if ",
    "end",
    "range ",
    "with ",
    "define ",
    "template ",
    "block ",
    "break",
    "continue",
    "nil",
    "true",
    "\"f\"",
    "\"a\"",
    "`b`",
    "'c'",
    "1",
    "-2",
    "0x3",
    "1.5",
    "1e3",
    "print ",
    "printf ",
    "\"%d %s %v\"",
    "list ",
    "dict ",
    "index ",
    "slice ",
    "len ",
    "add ",
    "substr ",
    "trunc ",
    "and ",
    "or ",
    "eq ",
    "lt ",
    "toJson ",
    "set ",
    "date ",
    "now",
    "semver ",
    "\"1.2.3\"",
    "regexFind ",
    "split ",
    "wrap ",
    "abbrev ",
    "round ",
    "divf ",
    "until ",
    "{{/*",
    "*/}}",
    "é",
    "text",
    "repeat ",
    "merge ",
    "chunk ",
    "urlParse ",
    "toDate ",
    "ago ",
    "shuffle ",
    "html ",
];

proptest! {
    #[test]
    fn any_text_is_a_template_or_an_error(text in ".{0,200}") {
        let _ = GoTemplate::parse("", &text, &Functions::sprig());
    }

    #[test]
    fn any_template_gives_a_text_or_an_error(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40),
        wraps in any::<bool>(),
    ) {
        let inner: String = pieces.concat();
        let text = if wraps { format!("{{{{{inner}}}}}") } else { inner };
        if let Ok(template) = GoTemplate::parse("", &text, &Functions::sprig()) {
            let limits = Limits { output_bytes: 10_000, value_bytes: 1_000_000, steps: 100_000 };
            let data = Value::dictionary([("a", Value::int(1)), ("b", Value::dictionary([("c", "x".into())]))]);
            let mut out = String::new();
            let _ = template.with_limits(limits).execute(&data, &mut Still(1), &mut out);
            prop_assert!(out.len() <= 10_000);
        }
    }
}
