//! Changes of what users share.

use drumfire_realm::Realm;

fn changes(source: &str) -> Vec<String> {
    let mut realm = Realm::<(), ()>::new().expect("a realm");
    realm.watch().expect("watched");
    assert_eq!(realm.changes().expect("compared"), Vec::<String>::new());
    realm
        .enter(realm.context(), |ctx| ctx.eval::<(), _>(source))
        .expect(source);
    realm.changes().expect("compared")
}

#[test]
fn changes_of_shared_objects_are_named() {
    for (source, place) in [
        ("globalThis.counter = 1", "counter"),
        (
            "Array.prototype.last = function () {}",
            "Array.prototype.last",
        ),
        (
            "Object.prototype[Symbol.iterator] = 1",
            "Object.prototype[Symbol(Symbol.iterator)]",
        ),
        ("Math.random = () => 4", "Math.random"),
        ("delete String.prototype.trim", "String.prototype.trim"),
        (
            "Object.defineProperty(JSON, 'parse', { enumerable: true })",
            "JSON.parse",
        ),
        (
            "Object.setPrototypeOf(Date.prototype, null)",
            "Date.prototype.__proto__",
        ),
        ("Map.prototype.get.memo = {}", "Map.prototype.get.memo"),
        (
            "Object.getPrototypeOf(function* () {}).x = 1",
            "the prototype of function* () {}.x",
        ),
        (
            "Reflect.ownKeys = () => []; Object.is = () => true; globalThis.a = 1",
            "a",
        ),
    ] {
        let changes = changes(source);
        assert!(
            changes.iter().any(|change| change == place),
            "{source}: {changes:?}"
        );
    }
}

#[test]
fn other_code_changes_nothing() {
    let source = "(function () { class A { static x = 1 } new Map([[A, [1, 2].sort()]]); 'a'.replace(/a/g, 'b');
        new Date().toISOString(); Promise.resolve(1).then(() => 2); eval('1 + 1'); new Function('return 1')() })()";
    assert_eq!(changes(source), Vec::<String>::new());
}
