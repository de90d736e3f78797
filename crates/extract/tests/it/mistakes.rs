//! Texts that are no extractors or checks: each mistake has its place and what would be right.

use drumfire_extract::{Check, Extractor};

/// The text with a mark at the mistake's place, and a part of the reason.
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
        ("^quux", "nothing is taken by `quux`; there are json"),
        ("json^#0 $.a", "counted from 1"),
        ("json^#lst $.a", "picks no value"),
        ("json^#-1 $.a", "picks no value"),
        ("status^#2", "a response has one `status`"),
        ("body^#2", "a response has one `body`"),
        ("status ^200", "`status` stands alone"),
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
        ("css a ^@", "an attribute's name follows"),
        ("css a^[", "can't go on like this"),
        ("css a ^> > b", "can't go on like this"),
        ("css ^:nonsense(1)", "can't go on like this"),
        ("regex ^", "between slashes"),
        ("regex ^id", "between slashes"),
        ("regex ^/id", "between slashes"),
        ("regex /^/", "nothing between"),
        ("regex /a/^x", "`x` is no flag"),
        ("regex /a/i^g", "`g` is no flag"),
        ("regex /a/i^i", "`i` is no flag"),
        ("regex /a^(b/is", "unclosed group"),
        ("regex /a^(b/", "unclosed group"),
        ("regex /a^{99999}/", "too large"),
        ("header ^", "name a header field"),
        ("header X^ Y", "not in the name"),
        ("cookie ^", "name a cookie"),
        ("cookie a^=b", "not in the name"),
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
        ("json $^token", "a path goes on with"),
        ("json $.^", "a name, `*` or `[` follows a dot"),
        ("json $.^0", "an index is `[0]`"),
        ("json $.first^-name", "in quotes"),
        ("json $.a[^]", "a name in quotes, an index, a slice"),
        ("json $.a[^b]", "a name in quotes, an index, a slice"),
        ("json $.a[0^", "a `]` is missing"),
        ("json $.a[0:^x]", "a `]` is missing"),
        ("json $.a[?^]", "write `@` and a path"),
        ("json $.a[?^1]", "compare this with another value"),
        ("json $.a[?@.b == ^]", "write `@` and a path"),
        ("json $.a[?@.b ^= 1]", "a `]` is missing"),
        ("json $.a[?^@.* == 1]", "may lead to several values"),
        ("json $.a[?(@.b^]", "a `)` is missing"),
        ("json $.a[?@.b == ^01]", "no number of JSON"),
        ("json $.a[?@.b == ^yes]", "write `@` and a path"),
        ("json $.a[?^len(@) > 1]", "no function `len`"),
        ("json $.a[?^cont(@.*) > 1]", "did you mean `count`?"),
        ("json $.a[?count(^1) > 1]", "a path from `@` or `$`"),
        ("json $.a[?^length(@)]", "compare this with another value"),
        ("json $.a[?^match(@, 'x') == true]", "it can't be compared"),
        ("json $.a[?match(@^)]", "an expression in quotes"),
        ("json $.a[?match(@, 'x'^, 1)]", "too many arguments"),
        ("json $.a[^01]", "an index is a whole number"),
        ("json $.a[^-0]", "an index is a whole number"),
        (
            "json $.a[^99999999999999999999]",
            "an index is a whole number",
        ),
        ("json $[^'a]", "a closing ' is missing"),
        (r#"json $['a^\"']"#, "no such escape"),
        (r"json $['a^\x']", "no such escape"),
        (r"json $['a^\ud800']", "no such escape"),
        ("json $.a^ b", "a path goes on with"),
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
        ("^", "is no check"),
        ("^contain ok", "did you mean `contains`?"),
        ("^equal x", "did you mean `equals`?"),
        ("^application/json", "write `equals …`"),
        ("contains^", "a text follows `contains`"),
        ("matches ^ok", "between slashes"),
        ("matches /a^(/", "unclosed group"),
        ("not ^exists", "follows `not`"),
        ("not ^contain x", "did you mean `contains`?"),
        ("not matches ^x", "between slashes"),
        ("exists ^x", "`exists` stands alone"),
        ("<^", "is no number"),
        (
            "< ^10parsecs",
            "`10parsecs` is no number, time (500ms) or size (10kB)",
        ),
        ("<^<5", "is no number"),
    ] {
        check(Check::parse, marked, reason);
    }
}
