//! Places of modules in stack traces, and of assignments to what users share.

use crate::world::{linked, run};

#[test]
fn stack_traces_have_the_places_of_modules() {
    let files = [
        (
            "a.js",
            "import { fail as f } from './b.js';\nconst value = 1;\n\nf(value); f(value, value)",
        ),
        (
            "b.js",
            "const value = 'b';\nexport function fail(x, y) {\n  if (y) { const { length } = value; throw new Error('é' + length) }\n}",
        ),
    ];
    let text = run(&files);
    // QuickJS gives the place of the last argument of a call.
    assert!(text.contains("b.js:3:60"), "{text}");
    assert!(text.contains("a.js:4:20"), "{text}");
    assert!(!text.contains("linked"), "{text}");
}

#[test]
fn stack_traces_have_the_places_of_typescript() {
    let files = [(
        "a.ts",
        "interface A {\n  x: number\n}\nenum E { A, B }\nexport const a: A = { x: E.B };\n  throw new Error(`${a.x as number}`)",
    )];
    let text = run(&files);
    assert!(text.contains("a.ts:6:"), "{text}");
}

#[test]
fn mistakes_of_syntax_have_places() {
    for (name, source, place) in [
        ("a.js", "let x = 1;\nlet x = 2;", "a.js:1:5: "),
        ("a.js", "export const a = ;", "a.js:1:18: "),
        (
            "a.ts",
            "type A = number;\nexport const a = ;",
            "a.ts:2:18: ",
        ),
        ("a.js", "with (x) {}", "a.js:1:1: "),
        (
            "a.js",
            "export const a = 1, b = 2; export { a as b }",
            "a.js:1:21: ",
        ),
        ("a.js", "/(/", "a.js:1:2: "),
    ] {
        let text = run(&[(name, source)]);
        assert!(text.starts_with(place), "{source}: {text}");
    }
}

#[test]
fn a_place_outside_of_modules_has_none() {
    let linked = linked(&[("a.js", "export const a = 1")]).expect("linked");
    assert_eq!(linked.place(1, 1), None);
    assert_eq!(linked.place(1000, 1), None);
    assert_eq!(
        linked.translate("at <linked>:1:1 and <linked>"),
        "at <linked>:1:1 and <linked>"
    );
}

#[test]
fn assignments_to_shared_objects_are_listed() {
    let source = "Array.prototype.last = function () {};
globalThis.counter = 1; const Mine = {}; Mine.x = 1; Mine.prototype = {};
Object.defineProperty(String.prototype, 'x', {}); Object.assign(Mine, {});
delete Math.max; Math.count++; __ENV.x = 1; (function (Array) { Array.prototype.x = 1 })(Mine);
console['log'] = 1; const { a } = Math;";
    let linked = linked(&[("a.js", source)]).expect("linked");
    let shared: Vec<String> = linked
        .shared
        .iter()
        .map(|(place, path)| format!("{place} {path}"))
        .collect();
    assert_eq!(
        shared,
        [
            "a.js:1:1 Array.prototype.last",
            "a.js:2:1 globalThis.counter",
            "a.js:3:1 String.prototype",
            "a.js:4:1 Math.max",
            "a.js:4:18 Math.count",
            "a.js:5:1 console[…]",
        ]
    );
}
