//! Scripts as called by a plan: valid, broken and hostile.

use drumfire_plan::{CallSteps, Datum, RequestContext};
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

/// The result of `f(arguments)`, or its error message.
fn call(source: &str, arguments: &[Datum]) -> Result<Option<Datum>, String> {
    let script = Script::new("test.js", source).map_err(|error| error.to_string())?;
    let called = script.call("f", arguments, &request(1), CallSteps::Own);
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
                "expected a string, not undefined; convert it with `String(…)`",
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
    let draw = |number| {
        script
            .call("f", &[], &request(number), CallSteps::Own)
            .unwrap()
    };
    let first = draw(1);
    assert_ne!(draw(2), first);
    assert_eq!(draw(1), first);
    let there = script.clone();
    let elsewhere =
        std::thread::spawn(move || there.call("f", &[], &request(1), CallSteps::Own).unwrap());
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
        ("function f() { throw { a: 1 } }", "not an error"),
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
        let called = script.call("f", &[], &request(1), CallSteps::Own);
        if body != "return Promise.resolve(1)" {
            let error = called.unwrap_err().to_string();
            assert!(error.contains(words), "{body}: {error}");
        }
        let after = script.call("ok", &[], &request(2), CallSteps::Own);
        assert_eq!(after, Ok(Some(text("ok"))), "{body}");
    }
    let endless = Script::new("top.js", "for (;;) {}").unwrap_err();
    assert!(endless.to_string().contains(&steps), "{endless}");
}

/// Calls that share steps are stopped together, like one call, and the next call with its own steps
/// has all of them.
#[test]
fn calls_of_one_text_share_their_steps() {
    let source = "function f() { let n = 0; for (let i = 0; i < 400000; i++) n += i; return 'ok' }";
    let script = Script::new("test.js", source).unwrap();
    for _ in 0..100 {
        assert!(script.call("f", &[], &request(1), CallSteps::Own).is_ok());
    }
    let ended = (0..1_000).find_map(|n| {
        let called = script.call("f", &[], &request(1), CallSteps::Left);
        Some((n, called.err()?.to_string()))
    });
    let (n, error) = ended.unwrap();
    let words = format!(
        "the first {} calls of this text take more than {STEPS_MAX} steps",
        n + 2
    );
    assert!(error.contains(&words), "{error}");
    assert!(script.call("f", &[], &request(1), CallSteps::Own).is_ok());
}

#[test]
fn memory_does_not_grow_from_call_to_call() {
    let source = "function f(n) { return 'x'.repeat(100000) + n }";
    let script = Script::new("test.js", source).unwrap();
    for n in 0..2_000 {
        let called = script.call("f", &[json(&n.to_string())], &request(n), CallSteps::Own);
        assert!(called.is_ok(), "{n}: {called:?}");
    }
}

/// The interpreter counts no steps within a native function, and a response may choose the
/// function's input. Each function must stop within the steps of a call, or do its work in one
/// pass.
#[test]
fn native_functions_are_bounded_too() {
    let body = format!("a{}{}", "\u{315}".repeat(60_000), "\u{316}".repeat(60_000));
    let flat = "a".repeat(950_000);
    let spent = format!("it takes more than {STEPS_MAX} steps and was stopped");
    let marks = "a letter has more than 30 marks";
    for (source, arguments, words) in [
        (
            "function f(b) { return b.normalize('NFC').length }",
            &[text(&body)][..],
            marks,
        ),
        (
            "function f(b) { return b.localeCompare('a') }",
            &[text(&body)],
            marks,
        ),
        (
            "function f(n) { const a = []; a.length = +n; a.reverse() }",
            &[text("4294967295")],
            &spent,
        ),
        (
            "function f(l) { return Array.prototype.join.call(l, '') }",
            &[json(r#"{"length": 1e15}"#)],
            &spent,
        ),
        (
            "function f() { return [Array(4294967295)].flat().length }",
            &[],
            &spent,
        ),
        (
            "function f() { return new Set(Array(4294967295)).size }",
            &[],
            &spent,
        ),
        (
            "function f(b) { for (;;) try { sha256(b) } catch {} }",
            &[text(&flat)],
            &spent,
        ),
        (
            "function f(b) { for (;;) b.split('b') }",
            &[text(&flat)],
            &spent,
        ),
        (
            "function f(b) { for (;;) b.toUpperCase() }",
            &[text(&flat)],
            &spent,
        ),
        (
            "function f(b) { for (;;) JSON.parse(JSON.stringify(b)) }",
            &[text(&flat)],
            &spent,
        ),
    ] {
        let failed = call(source, arguments).unwrap_err();
        assert!(failed.contains(words), "{source}: {failed}");
    }
}

/// The output of a native function may be larger than its input.
#[test]
fn what_native_functions_make_is_bounded_too() {
    let spent = format!("it takes more than {STEPS_MAX} steps and was stopped");
    for body in [
        "for (let n = 0; n < 100000; n++) b.split('a')",
        "for (;;) [...b]",
        "for (;;) Array.from(b)",
        "const all = b.split(''); for (;;) Object.keys(all)",
        "const all = new Uint32Array(1000000); for (;;) all.sort()",
    ] {
        let source = format!("function f(b) {{ {body} }}");
        let failed = call(&source, &[text(&"a".repeat(100_000))]).unwrap_err();
        assert!(failed.contains(&spent), "{source}: {failed}");
    }
}

/// A list that is longer than memory has holes, and each hole is looked up.
#[test]
fn lists_without_elements_are_bounded_too() {
    for method in [
        "join",
        "reverse",
        "sort",
        "slice",
        "copyWithin",
        "fill",
        "indexOf",
        "includes",
        "concat",
        "forEach",
        "splice",
        "unshift",
        "toString",
        "lastIndexOf",
        "toSorted",
        "with",
        "some",
    ] {
        let source = format!("function f() {{ return Array(4294967295).{method}(0).length }}");
        let failed = call(&source, &[]).unwrap_err();
        let spent = format!("it takes more than {STEPS_MAX} steps and was stopped");
        assert_eq!(failed, spent, "{method}");
    }
}

/// Searches take one pass over a text, and have the same results as the language's own searches.
#[test]
fn searches_take_one_pass() {
    let flat = "a".repeat(950_000);
    let needle = format!("{}b", "a".repeat(100_000));
    for (source, expected) in [
        ("function f(t, p) { return t.includes(p) }", "false"),
        (
            "function f(t, p) { return t.includes(p.slice(0, -1)) }",
            "true",
        ),
        ("function f(t, p) { return t.indexOf(p) }", "-1"),
        (
            "function f(t, p) { return ('ä' + t).indexOf(p.slice(0, -1)) }",
            "1",
        ),
        ("function f(t, p) { return t.split(p).length }", "1"),
        (
            "function f(t, p) { return t.split(p.slice(0, 50000)).length }",
            "20",
        ),
    ] {
        let given = [text(&flat), text(&needle)];
        assert_eq!(call(source, &given), Ok(Some(json(expected))), "{source}");
    }
}

/// Bounded functions behave like the original functions in all other respects.
#[test]
fn bounded_functions_are_those_of_the_language() {
    for source in [
        "[3, 1, 2].sort().join() === '1,2,3'",
        "[[1, [2]], 3].flat(Infinity).length === 3",
        "[1, 2].flatMap((n) => [n, [n]]).length === 4",
        "[...'äb', ...[1, 2]].length === 4",
        "Array.from({ length: 3 }, (_, n) => n).at(-1) === 2",
        "Array.from(new Set([1, 1, 2])).length === 2",
        "[1, 2].concat(3, [4]).length === 4",
        "Math.max(...[1, 9, 3]) === 9",
        "'a\\u0301'.normalize('NFC') === 'á'",
        "'b'.localeCompare('a') === 1",
        "'a,b'.split(',').length === 2 && 'abc'.split('').length === 3",
        "'a1b2'.split(/[0-9]/).length === 3 && 'a,b,c'.split(',', 2).length === 2",
        "'xayax'.indexOf('a', 2) === 3 && 'xax'.lastIndexOf('x') === 2",
        "'aaa'.replaceAll('a', 'b') === 'bbb' && 'aXa'.replace(/x/i, (m) => m + '!') === 'aX!a'",
        "JSON.stringify({ a: [1] }, null, 1).includes('\\n')",
        "JSON.parse('[1,2]', (k, v) => v).length === 2",
        "Array.prototype.indexOf.name === 'indexOf' && [].slice.length === 2",
        "Object.keys([1]).join() === '0' && Object.keys('').length === 0",
        "encodeURIComponent('ä b') === '%C3%A4%20b'",
        "(() => { let s = 0; for (const n of [1, 2, 3]) s += n; return s === 6 })()",
        "String.raw`a${1}b` === 'a1b'",
        "Array.from('äb').length === 2 && Array.from.length === 1",
        "Object.entries({ a: 1 })[0].join() === 'a,1' && Object.assign({}, { b: 2 }).b === 2",
        "Object.fromEntries([['a', 1]]).a === 1 && Object.isFrozen(Object.freeze([1]))",
        "new Uint8Array([3, 1]).sort().join() === '1,3' && Reflect.ownKeys({ a: 1 }).length === 1",
    ] {
        let whole = format!("function f() {{ return {source} }}");
        assert_eq!(call(&whole, &[]), Ok(Some(json("true"))), "{source}");
    }
}
