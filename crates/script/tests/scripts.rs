//! Scripts as a plan calls them, good, broken and hostile.

use drumfire_plan::{Datum, RequestContext};
use drumfire_script::{MEMORY_MAX, STEPS_MAX, Script};

fn request(number: u64) -> RequestContext {
    RequestContext {
        number,
        seed: 7,
        now: 1_700_000_000_123_456_789,
        ..RequestContext::default()
    }
}

fn text(text: &str) -> Datum {
    Datum::Text(text.to_owned())
}

fn json(text: &str) -> Datum {
    Datum::Json(text.to_owned())
}

/// The result of `f(arguments)`, or the words of its error.
fn call(source: &str, arguments: &[Datum]) -> Result<Option<Datum>, String> {
    let script = Script::new("test.js", source).map_err(|error| error.to_string())?;
    let called = script.call("f", arguments, &request(1));
    called.map_err(|error| error.to_string())
}

#[test]
fn functions_take_and_return_values() {
    for (source, arguments, expected) in [
        (
            "function f(a, b) { return a + b }",
            &[text("x"), text("ä")][..],
            Some(text("xä")),
        ),
        (
            "const f = (o) => o.n * 2",
            &[json(r#"{"n": 21}"#)],
            Some(json("42")),
        ),
        (
            "let f = (l) => ({ first: l[0] })",
            &[json("[1,2]")],
            Some(json(r#"{"first":1}"#)),
        ),
        ("function f() {}", &[], None),
        ("function f() { return null }", &[], None),
        ("function f() { return true }", &[], Some(json("true"))),
        (
            "function f(x) { return typeof x }",
            &[text("1")],
            Some(text("string")),
        ),
        (
            "function f() { return new Date().toISOString() }",
            &[],
            Some(text("2023-11-14T22:13:20.123Z")),
        ),
        (
            "function f() { return String(Date.now() === +new Date()) }",
            &[],
            Some(text("true")),
        ),
        (
            "function f() { return sha256('abc').slice(0, 8) }",
            &[],
            Some(text("ba7816bf")),
        ),
        (
            "function f() { return hmac_sha256('k', 'x') === hmac_sha256('k', 'x') }",
            &[],
            Some(json("true")),
        ),
        (
            "function f() { return sha256(5) === sha256('5') && base64(true) === base64('true') }",
            &[],
            Some(json("true")),
        ),
        (
            "function f() { try { sha256(undefined) } catch (wrong) { return wrong.message } }",
            &[],
            Some(text(
                "a text is wanted, and not undefined; `String(…)` makes one",
            )),
        ),
        (
            "function f() { return base64('ä?') + base64url('ä?>') }",
            &[],
            Some(text("w6Q/w6Q_Pg")),
        ),
        (
            "function f(s) { return s.match(/(\\d+)/)[1] }",
            &[text("a12b")],
            Some(text("12")),
        ),
    ] {
        assert_eq!(call(source, arguments), Ok(expected), "{source}");
    }
}

#[test]
fn randomness_is_the_request_s_alone() {
    let source = "function f() { return [Math.random(), Math.random()] }";
    let script = Script::new("test.js", source).unwrap();
    let draw = |number| script.call("f", &[], &request(number)).unwrap();
    let first = draw(1);
    assert_ne!(draw(2), first);
    assert_eq!(draw(1), first);
    let there = script.clone();
    let elsewhere = std::thread::spawn(move || there.call("f", &[], &request(1)).unwrap());
    assert_eq!(elsewhere.join().unwrap(), first);
    let Some(Datum::Json(pair)) = first else {
        panic!("a list: {first:?}");
    };
    let numbers: Vec<f64> = pair
        .trim_matches(['[', ']'])
        .split(',')
        .map(|number| number.parse().unwrap())
        .collect();
    assert!(numbers.iter().all(|n| (0.0..1.0).contains(n)) && numbers[0] != numbers[1]);
}

#[test]
fn no_clock_and_no_world_can_be_reached() {
    for reached in [
        "performance",
        "require",
        "process",
        "std",
        "os",
        "fetch",
        "setTimeout",
        "console",
        "Worker",
    ] {
        let source = format!("function f() {{ return typeof {reached} }}");
        assert_eq!(call(&source, &[]), Ok(Some(text("undefined"))), "{reached}");
    }
    let real = "function f() { return [Object.getPrototypeOf(Date), new Date().constructor,
        (() => 0).constructor('return Date')()].map(D => typeof D.now === 'function' && D.now()) }";
    assert_eq!(
        call(real, &[]),
        Ok(Some(json("[false,1700000000123,1700000000123]")))
    );
    let import = call("import x from 'fs'; function f() {}", &[]);
    assert!(import.is_err(), "{import:?}");
    let dynamic = call("function f() { return import('fs') }", &[]);
    assert!(!matches!(dynamic, Ok(Some(Datum::Text(_)))), "{dynamic:?}");
}

#[test]
fn mistakes_are_said_with_their_place() {
    for (source, words) in [
        ("function f( {", "test.js:1"),
        ("function f() {\n  return g() }", "g is not defined"),
        ("function f() {\n  return g() }", "test.js:2"),
        ("function f() { throw new Error('no stock') }", "no stock"),
        ("function f() { throw 'plain' }", "plain"),
        ("function f() { throw { a: 1 } }", "no error"),
        ("function g() {}", "no function `f`"),
        ("throw new Error('at the top')", "at the top"),
        ("x = 1; function f() {}", "x is not defined"),
    ] {
        let error = call(source, &[]).unwrap_err();
        assert!(error.contains(words), "{source}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn hostile_scripts_are_ended_and_the_next_call_is_good() {
    let steps = format!("more than {STEPS_MAX} steps");
    let memory = format!("more than {} MiB", MEMORY_MAX >> 20);
    for (body, words) in [
        ("for (;;) {}", steps.as_str()),
        ("try { for (;;) {} } catch (e) { return 'escaped' }", &steps),
        (
            "while (true) { try { for (;;) {} } finally { continue } }",
            &steps,
        ),
        ("return /(a+)+$/.test('a'.repeat(40) + '!')", &steps),
        ("const g = () => g(); return g()", "stack"),
        ("let s = 'x'; for (;;) s += s", "string too long"),
        (
            "const l = []; for (;;) l.push(new Array(1000).fill(1))",
            &memory,
        ),
        ("return 'x'.repeat(2 ** 29)", &memory),
        ("return JSON.parse('['.repeat(100000))", ""),
        ("const o = {}; o.o = o; return o", "circular"),
        ("return new Proxy({}, { get() { for (;;) {} } }).x", &steps),
        ("return { toJSON() { for (;;) {} } }", &steps),
        ("return Promise.resolve(1)", ""),
    ] {
        let source = format!("function ok() {{ return 'ok' }} function f() {{ {body} }}");
        let script = Script::new("hostile.js", &source).unwrap();
        let called = script.call("f", &[], &request(1));
        if body != "return Promise.resolve(1)" {
            let error = called.unwrap_err().to_string();
            assert!(error.contains(words), "{body}: {error}");
        }
        let after = script.call("ok", &[], &request(2));
        assert_eq!(after, Ok(Some(text("ok"))), "{body}");
    }
    let endless = Script::new("top.js", "for (;;) {}").unwrap_err();
    assert!(endless.to_string().contains(&steps), "{endless}");
}

#[test]
fn memory_does_not_grow_from_call_to_call() {
    let source = "function f(n) { return 'x'.repeat(100000) + n }";
    let script = Script::new("test.js", source).unwrap();
    for n in 0..2_000 {
        let called = script.call("f", &[json(&n.to_string())], &request(n));
        assert!(called.is_ok(), "{n}: {called:?}");
    }
}
