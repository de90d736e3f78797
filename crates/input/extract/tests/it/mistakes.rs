//! Texts that are not extractors or checks: each mistake has a position and a correction.

use drumfire_extract::{Check, Extractor};

/// The text with a mark at the mistake's position, and a part of the reason.
fn check<T: std::fmt::Debug>(
    parse: impl Fn(&str) -> Result<T, drumfire_extract::ParseError>,
    marked: &str,
    reason: &str,
) {
    let at = marked.find('^').expect("a mark");
    let text = marked.replacen('^', "", 1);
    let error = parse(&text).expect_err(&text);
    assert!(error.reason.contains(reason), "{marked}: {error}");
    assert_eq!(error.at, at, "{marked}: {error}");
}

#[test]
fn extractors() {
    for (marked, reason) in [
        ("^", "write one of json"),
        ("^jsn $.a", "did you mean `json`?"),
        ("  ^jso $.a", "did you mean `json`?"),
        ("^headers X", "did you mean `header`?"),
        ("^quux", "unknown kind of value `quux`; the kinds are json"),
        ("json^#0 $.a", "counted from 1"),
        ("json^#lst $.a", "invalid `#lst`"),
        ("json^#-1 $.a", "invalid `#-1`"),
        ("status^#2", "a response has only one `status`"),
        ("body^#2", "a response has only one `body`"),
        ("status ^200", "`status` takes no argument"),
        ("body ^0", "how many bytes"),
        ("body ^x", "how many bytes"),
        ("xml ^", "write an XPath"),
        ("xml //^s:Body", "leave out the prefix"),
        ("xml //a[^cont(b) > 1]", "did you mean `count`?"),
        ("xml //a[@b=^'x]", "a closing ' is missing"),
        ("xml ^//a[", "can't be evaluated"),
        ("xml ^//a]", "can't be evaluated"),
        ("css ^", "write a selector"),
        ("css ^@href", "write a selector"),
        ("css a ^@", "the name of an attribute"),
        ("css a^[", "invalid CSS selector"),
        ("css a ^> > b", "invalid CSS selector"),
        ("css ^:nonsense(1)", "invalid CSS selector"),
        ("regex ^", "between slashes"),
        ("regex ^id", "between slashes"),
        ("regex ^/id", "between slashes"),
        ("regex /^/", "nothing between"),
        ("regex /a/^x", "invalid flag `x`"),
        ("regex /a/i^g", "invalid flag `g`"),
        ("regex /a/i^i", "invalid flag `i`"),
        ("regex /a^(b/is", "unclosed group"),
        ("regex /a^(b/", "unclosed group"),
        ("regex /a^{99999}/", "too large"),
        ("header ^", "name a header field"),
        ("header X^ Y", "not allowed in the name"),
        ("cookie ^", "name a cookie"),
        ("cookie a^=b", "not allowed in the name"),
    ] {
        if reason == "too large" {
            let error = Extractor::parse(&marked.replace('^', "")).expect_err(marked);
            assert!(error.reason.contains(reason), "{error}");
            continue;
        }
        check(Extractor::parse, marked, reason);
    }
}

#[test]
fn json_paths() {
    for (marked, reason) in [
        ("json ^", "a JSON path starts with `$`"),
        ("json ^token", "write `$.token`"),
        ("json ^.token", "write `$.token`"),
        ("json $^token", "continue the path with"),
        ("json $.^", "a name, `*` or `[` after the dot"),
        ("json $.^0", "write an index as `[0]`"),
        ("json $.first^-name", "quote a name"),
        ("json $.a[^]", "a name in quotes, an index, a slice"),
        ("json $.a[^b]", "a name in quotes, an index, a slice"),
        ("json $.a[0^", "a `]` is missing"),
        ("json $.a[0:^x]", "a `]` is missing"),
        ("json $.a[?^]", "write `@` and a path"),
        ("json $.a[?^1]", "compare this with another value"),
        ("json $.a[?@.b == ^]", "write `@` and a path"),
        ("json $.a[?@.b ^= 1]", "a `]` is missing"),
        ("json $.a[?^@.* == 1]", "may select several values"),
        ("json $.a[?(@.b^]", "a `)` is missing"),
        ("json $.a[?@.b == ^01]", "not a JSON number"),
        ("json $.a[?@.b == ^yes]", "write `@` and a path"),
        ("json $.a[?^len(@) > 1]", "unknown function `len`"),
        ("json $.a[?^cont(@.*) > 1]", "did you mean `count`?"),
        ("json $.a[?count(^1) > 1]", "a path from `@` or `$`"),
        ("json $.a[?^length(@)]", "compare this with another value"),
        (
            "json $.a[?^match(@, 'x') == true]",
            "true or false and can't be compared",
        ),
        ("json $.a[?match(@^)]", "a quoted expression"),
        ("json $.a[?match(@, 'x'^, 1)]", "too many arguments"),
        ("json $.a[^01]", "an index must be a whole number"),
        ("json $.a[^-0]", "an index must be a whole number"),
        (
            "json $.a[^99999999999999999999]",
            "an index must be a whole number",
        ),
        ("json $[^'a]", "a closing ' is missing"),
        (r#"json $['a^\"']"#, "invalid escape"),
        (r"json $['a^\x']", "invalid escape"),
        (r"json $['a^\ud800']", "invalid escape"),
        ("json $.a^ b", "continue the path with"),
    ] {
        check(Extractor::parse, marked, reason);
    }
    let deep = format!("json $[?{}", "(".repeat(900));
    let error = Extractor::parse(&deep).expect_err("too deep");
    assert!(error.reason.contains("deeper than 32 levels"), "{error}");
    let deep = format!("json ${}", "[?@".repeat(300));
    let error = Extractor::parse(&deep).expect_err("too deep");
    assert!(error.reason.contains("deeper than 32 levels"), "{error}");
    let long = format!("json $.{}", "a".repeat(2000));
    let error = Extractor::parse(&long).expect_err("too long");
    assert!(error.reason.contains("1,024 bytes"), "{error}");
}

#[test]
fn checks() {
    for (marked, reason) in [
        ("^", "is not a check"),
        ("^contain ok", "did you mean `contains`?"),
        ("^equal x", "did you mean `equals`?"),
        ("^application/json", "write `equals …`"),
        ("contains^", "write a text after `contains`"),
        ("matches ^ok", "between slashes"),
        ("matches /a^(/", "unclosed group"),
        ("not ^exists", "after `not`"),
        ("not ^contain x", "did you mean `contains`?"),
        ("not matches ^x", "between slashes"),
        ("exists ^x", "`exists` takes no argument"),
        ("<^", "is not a number"),
        (
            "< ^10parsecs",
            "`10parsecs` is not a number, time (500ms) or size (10kB)",
        ),
        ("<^<5", "is not a number"),
    ] {
        check(Check::parse, marked, reason);
    }
}
