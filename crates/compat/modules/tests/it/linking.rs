//! What modules see of each other. Each row is files, and the exports of the first one as JSON.

#![expect(clippy::too_many_lines, reason = "a table of cases for each rule")]

use crate::world::run;

fn check(rows: &[(&[(&str, &str)], &str)]) {
    for (files, expected) in rows {
        assert_eq!(run(files), *expected, "{files:#?}");
    }
}

#[test]
fn names_and_bindings() {
    check(&[
        (
            &[
                (
                    "a.js",
                    "import { count, add } from './b.js'; add(); add(); export const seen = count;",
                ),
                (
                    "b.js",
                    "export let count = 0; export function add() { count++ }",
                ),
            ],
            r#"{"seen":2}"#,
        ),
        (
            &[
                (
                    "a.js",
                    "import { x as y } from './b.js'; const x = 'a'; export const r = [x, y, (() => { const y = 3; return y })()].join();",
                ),
                ("b.js", "export const x = 'b'; const y = 'unused';"),
            ],
            r#"{"r":"a,b,3"}"#,
        ),
        // The exporter's name is hidden where the importer uses the variable.
        (
            &[
                (
                    "a.js",
                    "import { value as v } from './b.js'; export const r = (function (value) { return [value, v] })(1).join();",
                ),
                ("b.js", "export const value = 2;"),
            ],
            r#"{"r":"1,2"}"#,
        ),
        // A name of one module is a global of another.
        (
            &[
                (
                    "a.js",
                    "import { kind } from './b.js'; const JSON = 'mine'; export const r = [JSON, kind()].join();",
                ),
                ("b.js", "export const kind = () => typeof JSON.parse;"),
            ],
            r#"{"r":"mine,function"}"#,
        ),
        (
            &[
                (
                    "a.js",
                    "import { name } from './b.js'; const o = { name }; let q; ({ name: q } = o); const { length } = q; export { o, q, length };",
                ),
                (
                    "b.js",
                    "const o = 'x', q = 1, length = 5; export const name = 'long' + o;",
                ),
            ],
            r#"{"length":5,"o":{"name":"longx"},"q":"longx"}"#,
        ),
        (
            &[
                (
                    "a.js",
                    "import { set } from './b.js'; let a = 1, b = 2; ({ a, b = 5 } = { a: 3 }); [a] = [a + 1]; export { a, b }; set();",
                ),
                (
                    "b.js",
                    "let a = 'b'; export const set = () => { ({ a } = { a: 9 }); for (a of [1]); a++; };",
                ),
            ],
            r#"{"a":4,"b":5}"#,
        ),
        (
            &[
                (
                    "a.js",
                    "import { A, f, C } from './b.js'; class K {} function g() {} const o = { K, g }; export const r = [A.name, f.name, o.K.name, o.g.name, C.name].join();",
                ),
                (
                    "b.js",
                    "export class K { static x = 1 } export function g() {} export { K as A, g as f }; export class C { static name = 'own' }",
                ),
            ],
            r#"{"r":"K,g,K,g,own"}"#,
        ),
        (
            &[(
                "a.js",
                "import { a, self } from './a.js'; export let a2; export { a2 as a }; a2 = 1; export const self2 = a; export { self2 as self };",
            )],
            r#"{"a":1,"a2":1,"self":1,"self2":1}"#,
        ),
    ]);
}

#[test]
fn defaults() {
    check(&[
        (
            &[
                (
                    "a.js",
                    "import d from './b.js'; export const r = d() + d.name;",
                ),
                ("b.js", "export default function () { return 1 }"),
            ],
            r#"{"r":"1default"}"#,
        ),
        (
            &[
                (
                    "a.js",
                    "import d from './b.js'; export const r = d() + d.name;",
                ),
                (
                    "b.js",
                    "export default function named() { return named.name }",
                ),
            ],
            r#"{"r":"namednamed"}"#,
        ),
        (
            &[
                ("a.js", "import d from './b.js'; export const r = d.name;"),
                ("b.js", "export default class {}"),
            ],
            r#"{"r":"default"}"#,
        ),
        (
            &[
                (
                    "a.js",
                    "import d from './b.js'; export const r = d.name + new d().x;",
                ),
                ("b.js", "export default class A { x = A.name }"),
            ],
            r#"{"r":"AA"}"#,
        ),
        (
            &[
                ("a.js", "import d from './b.js'; export const r = d.name;"),
                ("b.js", "export default (x) => x"),
            ],
            r#"{"r":"default"}"#,
        ),
        (
            &[
                (
                    "a.js",
                    "import d, { default as e } from './b.js'; export const r = [d, e].join();",
                ),
                ("b.js", "export\n default\n 1 + 2"),
            ],
            r#"{"r":"3,3"}"#,
        ),
        (
            &[
                ("a.js", "export { default } from './b.js'"),
                ("b.js", "let x = 1; export { x as default }; x = 2"),
            ],
            r#"{"default":2}"#,
        ),
        // The value is copied, and not the variable.
        (
            &[
                ("a.js", "export { default } from './b.js'"),
                ("b.js", "let x = 1; export default x; x = 2"),
            ],
            r#"{"default":1}"#,
        ),
        (
            &[
                ("a.js", "export const r = f(); import f from './b.js';"),
                (
                    "b.js",
                    "import './a.js'; export default function () { return 'hoisted' }",
                ),
            ],
            r#"{"r":"hoisted"}"#,
        ),
        (
            &[("a.js", "export default { a: 1 }\nexport const b = 1;")],
            r#"{"b":1,"default":{"a":1}}"#,
        ),
        (
            &[(
                "a.js",
                "export default async function* name() {}\n[1].map((x) => x); export const n = name.name",
            )],
            r#"{"n":"name"}"#,
        ),
    ]);
}

#[test]
fn lists_of_exports() {
    check(&[
        (
            &[
                (
                    "a.js",
                    "export * from './b.js'; export * from './c.js'; export const a = 1;",
                ),
                ("b.js", "export const b = 2; export default 9;"),
                ("c.js", "export const c = 3; export const a = 'hidden';"),
            ],
            r#"{"a":1,"b":2,"c":3}"#,
        ),
        (
            &[
                ("a.js", "export * from './b.js'; export * from './c.js';"),
                ("b.js", "export const x = 2, y = 1;"),
                ("c.js", "export const x = 3;"),
            ],
            r#"{"y":1}"#,
        ),
        (
            &[
                ("a.js", "export * from './b.js'; export * from './c.js';"),
                ("b.js", "export { x } from './d.js'"),
                ("c.js", "export { x } from './d.js'"),
                ("d.js", "export const x = 3;"),
            ],
            r#"{"x":3}"#,
        ),
        (
            &[
                (
                    "a.js",
                    "export * as b from './b.js'; export { x as y } from './b.js'",
                ),
                ("b.js", "export const x = 2; export default 3;"),
            ],
            r#"{"b":{"default":3,"x":2},"y":2}"#,
        ),
        (
            &[
                (
                    "a.js",
                    "import * as b from './b.js'; let e; try { b.x = 1 } catch (x) { e = x.name } export const r = [e, Object.keys(b).join('+'), b[Symbol.toStringTag], b.f(), Object.isSealed(b)].join();",
                ),
                ("b.js", "export let x = 2; export const f = () => ++x; "),
            ],
            r#"{"r":"TypeError,f+x,Module,3,true"}"#,
        ),
        (
            &[(
                "a.js",
                "import * as a from './a.js'; export const me = Object.keys(a).join(), f = () => a.g(); export function g() { return 7 } export const r = f()",
            )],
            r#"{"me":"f,g,me,r","r":7}"#,
        ),
        (
            &[(
                "a.js",
                "const x = 1; export { x as 'a b', x as \"__proto__\" }",
            )],
            r#"{"__proto__":1,"a b":1}"#,
        ),
        (
            &[
                ("a.js", "import { 'a b' as x } from './b.js'; export { x }"),
                ("b.js", "const y = 4; export { y as 'a b' }"),
            ],
            r#"{"x":4}"#,
        ),
        (
            &[(
                "a.js",
                "export const { a, b: [c = 4], ...rest } = { a: 1, b: [], d: 2 };",
            )],
            r#"{"a":1,"c":4,"rest":{"d":2}}"#,
        ),
    ]);
}

#[test]
fn order_and_cycles() {
    check(&[
        (
            &[
                (
                    "a.js",
                    "import { log } from './log.js'; import './b.js'; import './c.js'; log.push('a'); export { log }",
                ),
                (
                    "b.js",
                    "import { log } from './log.js'; import './d.js'; log.push('b');",
                ),
                (
                    "c.js",
                    "import './b.js'; import { log } from './log.js'; log.push('c');",
                ),
                (
                    "d.js",
                    "import { log } from './log.js'; import './a.js'; log.push('d');",
                ),
                ("log.js", "export const log = [];"),
            ],
            r#"{"log":["d","b","c","a"]}"#,
        ),
        (
            &[
                (
                    "a.js",
                    "import { b } from './b.js'; export const a = 1; export function late() { return a } export const r = b;",
                ),
                (
                    "b.js",
                    "import { a, late } from './a.js'; let seen; try { seen = a } catch (e) { seen = e.name } export const b = seen + late.name;",
                ),
            ],
            r#"{"a":1,"r":"ReferenceErrorlate"}"#,
        ),
        (
            &[
                (
                    "a.js",
                    "import { v } from './b.js'; export var own = 1; export const r = v",
                ),
                (
                    "b.js",
                    "import { own } from './a.js'; export const v = typeof own",
                ),
            ],
            r#"{"own":1,"r":"undefined"}"#,
        ),
        // Removed statements end the statement before them.
        (
            &[
                (
                    "a.js",
                    "const f = (x) => x\nimport { b } from './b.js'\n(function () {})()\nexport const r = f\nexport { b }\n[1].length",
                ),
                ("b.js", "export const b = 1"),
            ],
            r#"{"b":1}"#,
        ),
        (
            &[
                (
                    "a.js",
                    "import { b } from './b.js'; export const t = typeof this; export let r; try { b = 2 } catch (e) { r = e.name } export const s = (() => { try { b++; } catch (e) { return e.name } })(); export { b }",
                ),
                ("b.js", "export let b = 1"),
            ],
            r#"{"b":1,"r":"TypeError","s":"TypeError","t":"undefined"}"#,
        ),
        (
            &[
                (
                    "a.js",
                    "export const x = await 5; export { y } from './b.js'",
                ),
                (
                    "b.js",
                    "export let y = 0; for await (const z of [1, 2]) y += z;",
                ),
            ],
            r#"{"x":5,"y":3}"#,
        ),
        (
            &[(
                "a.js",
                "#!/usr/bin/env k6\nexport const url = import.meta.url",
            )],
            r#"{"url":"a.js"}"#,
        ),
    ]);
}

#[test]
fn hosts_and_commonjs() {
    check(&[
        (
            &[(
                "a.js",
                "import host, { double } from 'host'; import * as all from 'host'; export const r = [host.name, double(2), all.double(3)].join()",
            )],
            r#"{"r":"host,4,6"}"#,
        ),
        (
            &[(
                "a.js",
                "export { double as d } from 'host'; import { d } from './a.js'; export const r = d(4), double = 1",
            )],
            r#"{"double":1,"r":8}"#,
        ),
        (
            &[
                (
                    "a.js",
                    "import lib, { two } from './lib.js'; import * as all from './lib.js'; export const r = [lib.one, two, all.two].join()",
                ),
                (
                    "lib.js",
                    "exports.one = 1; module.exports.two = this === exports ? 2 : 0; undeclared = 1",
                ),
            ],
            r#"{"r":"1,2,2"}"#,
        ),
        (
            &[
                (
                    "a.js",
                    "import lib from './lib.js'; export const r = lib(2)",
                ),
                (
                    "lib.js",
                    "var host = require('host'), o = require('./other.js'); module.exports = function (x) { return host.double(x) + o.x }; return",
                ),
                (
                    "other.js",
                    "const other = require('./lib.js'); exports.x = typeof other",
                ),
            ],
            r#"{"r":"4object"}"#,
        ),
        (
            &[
                ("a.js", "import lib from './lib.js'; export const r = lib"),
                (
                    "lib.js",
                    "Object.defineProperty(exports, '__esModule', { value: true }); exports.default = 'compiled'",
                ),
            ],
            r#"{"r":"compiled"}"#,
        ),
        (
            &[
                (
                    "a.js",
                    "import './lib.js'; export let r; try { lib() } catch (e) { r = e.message } ",
                ),
                (
                    "lib.js",
                    "globalThis.lib = () => require('./' + 'other.js')",
                ),
            ],
            r#"{"r":"require(\"./other.js\") is not known before the run"}"#,
        ),
        (
            &[
                ("a.js", "import { a } from './umd.js'; export const r = a"),
                (
                    "umd.js",
                    "(function (root, f) { typeof exports === 'object' && typeof module !== 'undefined' ? f(exports) : f(root.x = {}) })(this, function (e) { e.a = 5 })",
                ),
            ],
            r#"{"r":5}"#,
        ),
    ]);
}

#[test]
fn typescript() {
    check(&[
        (
            &[
                (
                    "a.ts",
                    "import type { T } from './t.ts'; import { E, type I, f } from './b.ts'; const x: I = { v: 2 } as I; export const r: number = f<number>(x.v!) + E.B; export type Z = T;",
                ),
                (
                    "b.ts",
                    "export interface I { v?: number } export enum E { A = 3, B } export function f<T>(x: T): T { return x }",
                ),
            ],
            r#"{"r":6}"#,
        ),
        (
            &[(
                "a.ts",
                "class P { constructor(private x: number, readonly y = 2) {} sum(): number { return this.x + this.y } } export const r = new P(1).sum() satisfies number;",
            )],
            r#"{"r":3}"#,
        ),
    ]);
}

#[test]
fn mistakes() {
    check(&[
        (
            &[
                ("a.js", "import { x, z } from './b.js'"),
                ("b.js", "export const y = 1, x = 2; export default 1"),
            ],
            "a.js:1:13: b.js has no export `z`; it has default, x, y",
        ),
        (
            &[("a.js", "\n  import { x } from 'host'")],
            "a.js:2:12: host has no export `x`; it has default, double, later",
        ),
        (
            &[
                ("a.js", "import './b.js'"),
                ("b.js", "export { q } from './c.js'"),
                ("c.js", ""),
            ],
            "b.js:1:10: c.js exports nothing, so `q` is missing",
        ),
        (
            &[
                ("a.js", "import { x } from './b.js'"),
                ("b.js", "export * from './c.js'; export * from './d.js'"),
                ("c.js", "export const x = 1"),
                ("d.js", "export const x = 1"),
            ],
            "a.js:1:10: `x` is exported twice by the modules that b.js exports",
        ),
        (
            &[
                ("a.js", "import { x } from './b.js'"),
                ("b.js", "export { x } from './a.js'"),
            ],
            "a.js:1:10: b.js has no export `x`; it has x",
        ),
        (
            &[("a.js", "import 'lodash'")],
            "a.js:1:8: unknown module `lodash`; use a path",
        ),
        (
            &[("a.js", "let x;\nimport './missing.js'")],
            "a.js:2:8: no file missing.js",
        ),
        (
            &[("a.js", "let f = () => import('./b.js')")],
            "a.js:1:15: import() is not available; use an import declaration",
        ),
        (
            &[("a.js", "export { x }")],
            "a.js:1:10: Export 'x' is not defined",
        ),
        (
            &[("a.js", "import x from './b.js' with { type: 'json' }")],
            "a.js:1:15: import attributes are not available",
        ),
        (
            &[
                ("a.js", "module.exports = require('./b.js')"),
                ("b.js", "export const x = 1"),
            ],
            "a.js:1:26: require() cannot load a module with `export`; use `import` in a module",
        ),
    ]);
}
