//! All sources except JSON.

use crate::reply::Reply;
use drumfire_extract::Extractor;

#[test]
fn regular_expressions_find_in_the_body() {
    let check = |body: &str, text: &str, expected| Reply::new(body).check(text, expected);
    check("id=12&id=34", r"regex /id=(\d+)/", Ok("12"));
    check("id=12&id=34", r"regex /id=\d+/", Ok("id=12"));
    check("id=12&id=34", r"regex#2 /id=(\d+)/", Ok("34"));
    check("id=12&id=34", r"regex#last /id=(\d+)/", Ok("34"));
    check("id=12&id=34", r"regex#count /id=(\d+)/", Ok("2"));
    check("id=12&id=34", r"regex#all /id=(\d+)/", Ok(r#"["12","34"]"#));
    check(
        "id=12&id=34",
        r"regex#3 /id=(\d+)/",
        Err("there is no `#3`, only 2"),
    );
    check("ID=7", r"regex /id=(\d+)/i", Ok("7"));
    check(
        "ID=7",
        r"regex /id=(\d+)/",
        Err("no match in the body, which begins with `ID=7`"),
    );
    check("a\nb=1", r"regex /^b=(\d)$/m", Ok("1"));
    check("a\nb=1", r"regex /^b=(\d)$/", Err("no match"));
    check("a\nb", "regex /a.b/s", Ok("a\nb"));
    check("a/b", "regex /a/b/", Ok("a/b"));
    check("a/b", r"regex /a\/(b)/", Ok("b"));
    check(
        "b",
        "regex /(a)|b/",
        Err("the expression matches, but its first group does not"),
    );
    check("aäa", "regex#count /x*/", Ok("4"));
    check("", "regex#count /x/", Ok("0"));
    check("", "regex#all /x/", Ok("[]"));
    check("größe=3", r"regex /(\w+)=/", Ok("größe"));
    check(
        "say \"hi\"\n",
        "regex#all /\"hi\"\n/",
        Ok(r#"["\"hi\"\u000a"]"#),
    );
    Reply::new(b"\xff\xfeid=5\xff").check(r"regex /id=(\d)/", Ok("5"));
}

#[test]
fn header_fields_and_cookies() {
    let reply = Reply::new("")
        .with("location", "/next")
        .with("Set-Cookie", "session=abc; Path=/; HttpOnly")
        .with("set-cookie", "theme = dark ;Secure")
        .with("set-cookie", "session=def==; Path=/")
        .with("set-cookie", "lonely")
        .with("x", "1")
        .with("x", "2")
        .with("y", b"\xe4");
    reply.check("header Location", Ok("/next"));
    reply.check("  header   LOCATION  ", Ok("/next"));
    reply.check("header x", Ok("1"));
    reply.check("header#2 x", Ok("2"));
    reply.check("header#all x", Ok(r#"["1","2"]"#));
    reply.check("header#count x", Ok("2"));
    reply.check("header#count nothing", Ok("0"));
    reply.check("header nothing", Err("no such field"));
    reply.check("header y", Err("not UTF-8 at byte 0"));
    reply.check("cookie session", Ok("def=="));
    reply.check("cookie#1 session", Ok("abc"));
    reply.check("cookie#all session", Ok(r#"["abc","def=="]"#));
    reply.check("cookie theme", Ok("dark"));
    reply.check(
        "cookie lonely",
        Err("sets other cookies, such as `session`"),
    );
    reply.check("cookie Session", Err("sets other cookies"));
    Reply::new("").check("cookie session", Err("sets no cookies"));
}

#[test]
fn a_response_as_a_whole() {
    let mut reply = Reply::new("größe");
    reply.check("status", Ok("200"));
    reply.check("body", Ok("größe"));
    reply.check("body 2", Ok("gr"));
    reply.check("body 3", Ok("gr"));
    reply.check("body 4", Ok("grö"));
    reply.check("body 100", Ok("größe"));
    reply.check("size", Ok("7"));
    reply.check("time", Ok("0.0125"));
    for (ns, seconds) in [
        (0, "0"),
        (1, "0.000000001"),
        (2_000_000_000, "2"),
        (61_050_000_000, "61.05"),
    ] {
        reply.time.0 = ns;
        reply.check("time", Ok(seconds));
    }
    Reply::new(b"ab\xff").check("body", Err("not UTF-8 at byte 2"));
    Reply::new(b"ab\xff").check("body 2", Ok("ab"));
    Reply::new("").check("body", Ok(""));
    Reply::new("foobar").check("fnv1a64", Ok("85944171f73967e8"));
    Reply::new("").check("xxh3", Ok("2d06800538d394c2"));
    let sha = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    Reply::new("abc").check("sha256", Ok(sha));
}

#[test]
fn an_extractor_says_what_it_reads() {
    for (text, header, reads_body) in [
        ("json $.a", None, true),
        ("xml //a", None, true),
        ("css a @href", None, true),
        ("regex /a/", None, true),
        ("body", None, true),
        ("size", None, true),
        ("sha256", None, true),
        ("header X-Token", Some("x-token"), false),
        ("cookie Session", Some("set-cookie"), false),
        ("status", None, false),
        ("time", None, false),
    ] {
        let extractor = Extractor::parse(text).expect(text);
        assert_eq!(extractor.header(), header, "{text}");
        assert_eq!(extractor.reads_body(), reads_body, "{text}");
        assert_eq!(extractor.to_string(), text);
    }
}
