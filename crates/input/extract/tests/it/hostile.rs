//! Malicious bodies.

use crate::reply::Reply;
use drumfire_extract::{Check, Extractor};
use proptest::prelude::*;

#[test]
fn deep_json_is_passed_over() {
    let deep = |open: &str, close: &str| {
        let inside = format!("{}1{}", open.repeat(10_000), close.repeat(10_000));
        Reply::new(format!("{{\"a\":{inside},\"b\":2}}"))
    };
    for reply in [deep("[", "]"), deep("{\"x\":", "}")] {
        reply.check("json $.b", Ok("2"));
        reply.check("json $.a", Err("has values nested deeper than 512 levels"));
        reply.check("json $..c", Err("has values nested deeper than 512 levels"));
        let unclosed = Reply::new(&reply.body[..reply.body.len() / 2]);
        unclosed.check("json $.b", Err("cut off"));
        unclosed.check("json $", Err("has values nested deeper than 512 levels"));
    }
}

#[test]
fn values_within_values_have_a_bound() {
    // Each `..` visits every nested value of every value.
    let body = format!("{}{}", "[1,".repeat(400), "]".repeat(400));
    let body = body.replace(",]", ",1]");
    let wide = format!("[{}]", vec![body; 200].join(","));
    let reply = Reply::new(wide);
    reply.check(
        "json#count $..*..*..*",
        Err("the body is too large for this path"),
    );
    let equal = Err("has values nested deeper than 256 levels, which can't be compared");
    reply.check("json#count $..[?@ == $[0]]", equal);
    // The expression in the body is compiled for each of its texts.
    let texts = format!(r#"["[a-z]{{9}}"{}]"#, r#","x""#.repeat(2000));
    let reply = Reply::new(texts);
    reply.check("json $[?search(@, $[0])]", Err("too large for this path"));
    reply.check("json#count $[?search(@, '[a-z]')]", Ok("2001"));
}

#[test]
fn a_list_of_all_has_a_bound() {
    let long = format!("[{}]", vec!["1"; 100_000].join(","));
    let nested = format!("{}{long}{}", "[".repeat(20), "]".repeat(20));
    Reply::new(nested).check("json#all $..*", Err("larger than 1 MiB"));
}

#[test]
fn searches_for_all_matches_have_a_bound() {
    // The expression scans to the end of the body after each match.
    let body = "a".repeat(200_000);
    let reply = Reply::new(body);
    reply.check(
        "regex#count /.*[^a-z]|[a-z]/",
        Err("too large to search for this many"),
    );
    reply.check("regex /.*[^a-z]|[a-z]/", Ok("a"));
}

/// A page for which a browser's parser takes time quadratic in its length.
fn page(text: impl Fn(usize) -> String) -> Reply {
    Reply::new((0..50_000).map(text).collect::<String>())
}

#[test]
fn pages_have_bounds() {
    let check = |text: fn(usize) -> String, reason| page(text).check("css div", Err(reason));
    check(|_| "<div>".into(), "nested deeper than 512");
    check(|_| "<table><td>".into(), "nested deeper than 512");
    check(
        |i| format!("<font a{i}>"),
        "too many unclosed elements such as `font`",
    );
    check(
        |i| format!("<font a{i}><p>"),
        "too many unclosed elements such as `font`",
    );
    check(
        |_| "<b></i>".into(),
        "too many unclosed elements such as `b`",
    );
    check(|_| "<b><div></b>".into(), "nested deeper than 512");
    check(|_| "<p><q></q><br>".into(), "more than 100000 elements");
    check(
        |i| {
            if i == 0 {
                "<p ".into()
            } else {
                format!("a{i} ")
            }
        },
        "too much work",
    );
    check(
        |i| {
            if i < 400 {
                "<div>".into()
            } else {
                "</p>".into()
            }
        },
        "too much work",
    );
    let siblings = page(|_| "<a></a>".into());
    siblings.check("css a ~ div", Err("more than 5000 elements"));
    siblings.check("css body:has(a ~ div)", Err("more than 5000 elements"));
    siblings.check("css#count a", Ok("50000"));
}

#[test]
fn xml_texts_have_bounds() {
    let check = |body: String, reason| Reply::new(body).check("xml //a", Err(reason));
    check("<a>".repeat(10_000), "nesting exceeds maximum depth");
    let attributes: String = (0..3000).map(|i| format!(" a{i}=''")).collect();
    check(format!("<a{attributes}/>"), "more than 2,000 attributes");
    check("<a/>".repeat(600_000), "more than 500,000 tags");
    let entities = r#"<!DOCTYPE a [<!ENTITY b "x"><!ENTITY c "&b;&b;">]><a>&c;</a>"#;
    check(entities.into(), "not allowed");
    let wide = Reply::new(format!("<a>{}</a>", "<b/>".repeat(3000)));
    wide.check("xml //b[preceding::b]", Err("exceeded maximum node visit"));
    wide.check("xml count(//b)", Ok("3000"));
}

proptest! {
    #[test]
    fn nothing_panics(
        body in prop::collection::vec(any::<u8>(), 0..200),
        noise in r#"[\[\]{}:,"\\a0-9.eu \-]{0,60}"#,
        tags in r#"(</?[abp](\s?[ac]=?['"]?x){0,2}/?>?|<!--|-->|<!\[CDATA\[|&[a-z]{2};|x){0,20}"#,
    ) {
        for body in [body, noise.into_bytes(), tags.into_bytes()] {
            let reply = Reply::new(body.clone()).with("set-cookie", &body).with("x", &body);
            for text in [
                "json $", "json $.a", "json#all $..*", "json $[0].a", "json $[-1]", "json#last $.*",
                "regex#all /a.*?(e|0)/", "regex#count /x*/", "cookie a", "header#all x",
                "xml#all //a/@c", "xml //p", "css#all a", "css b > p @a",
                "body", "body 7", "size", "xxh3", "sha256", "fnv1a64",
            ] {
                let given = reply.extract(text);
                if let Err(reason) = given {
                    prop_assert!(reason.len() < 500, "{reason}");
                    prop_assert!(!reason.contains(|c: char| c.is_control()), "{reason:?}");
                }
            }
        }
    }

    #[test]
    fn arbitrary_texts_are_read_or_refused(text in any::<String>(), tail in r#"[\$\.\[\]'"\\a0-9*,: #/()-]{0,20}"#) {
        for text in [text, format!("json {tail}"), format!("regex {tail}"), format!("header {tail}"), tail] {
            if let Err(error) = Extractor::parse(&text) {
                prop_assert!(error.at <= text.len(), "{error} at {}", error.at);
                prop_assert!(text.is_char_boundary(error.at), "{error} at {}", error.at);
            }
            if let Err(error) = Check::parse(&text) {
                prop_assert!(error.at <= text.len() && text.is_char_boundary(error.at));
            }
        }
    }
}
