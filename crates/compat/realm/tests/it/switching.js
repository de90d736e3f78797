// One iteration of a user. `wait(n)` suspends the fibre and returns user * 1000 + n; `later(n)` returns a
// promise of the same number, which is resolved when the user has nothing else to do.
(function instance(user, wait, later) {
    "use strict";
    let finals = 0, iterations = 0;
    const expect = (n) => user * 1000 + n;
    const must = (is, what) => { if (!is) throw new Error(`user ${user}: ${what}`); };
    const block = (n) => { const r = wait(n); must(r === expect(n), `answer ${r} to ${n}`); return r; };

    const parts = {
        exceptions() {
            const made = [];
            for (let i = 0; i < 5; i++) {
                try {
                    const o = { i }; o.self = o; made.push(o);
                    block(1);
                    if (i === 3) throw new Error("e3");
                    if (i === 4) throw "a text";
                } catch (e) {
                    must(i === 4 ? e === "a text" : e.message === "e3", "caught " + e);
                    block(2);
                } finally { finals++; block(3); }
            }
            must(made.every((o, i) => o.self === o && o.i === i), "objects");
            const f = () => { try { return block(4); } finally { block(5); } };
            must(f() === expect(4), "return through finally");
            const g = () => { for (;;) { try { throw 1; } catch { block(6); continue; } finally { break; } } return 7; };
            must(g() === 7, "break in finally");
        },
        generators() {
            function* count(n) { try { for (let i = 0; i < n; i++) { block(10); yield i; } } finally { block(11); } }
            function* nest(n) { yield* count(n); const got = yield "more"; block(12); return got; }
            const it = nest(3), seen = [];
            for (let r = it.next(); r.value !== "more"; r = it.next()) seen.push(r.value);
            must(seen.join() === "0,1,2", "generator");
            must(it.next("sent").value === "sent", "sent");
            for (const x of count(9)) { if (x === 2) break; }
            const [a, b] = count(5);
            must(a + b === 1, "destructuring");
            let closed = 0;
            const closing = { [Symbol.iterator]: () => ({ next() { block(13); return { value: 1, done: false }; },
                return() { block(14); closed++; return {}; } }) };
            try { for (const x of closing) throw "out"; } catch (e) { must(e === "out", "thrown out"); }
            const [z] = closing;
            must(closed === 2 && z === 1, "closed");
            must([...count(3)].length === 3 && Math.max(...count(3)) === 2, "spread");
        },
        callbacks() {
            must([3, 1, 2].sort((p, q) => { block(20); return p - q; }).join() === "1,2,3", "sort");
            must("abc".replace(/[ab]/g, (x) => { block(21); return x + x; }) === "aabbc", "replace");
            must([1, 2, 3].map((x) => x * (block(22) > 0)).reduce((s, x) => s + x + (block(23), 0)) === 6, "map");
            must(Array.from({ length: 3 }, (_, i) => (block(24), i)).join() === "0,1,2", "from");
            must(new Map([[1, 2]]).forEach((v) => { block(25); must(v === 2); }) === undefined, "forEach");
            must([1, 2, 3].find((x) => { block(26); return x === 2; }) === 2, "find");
            must((new Int8Array([3, 1])).sort((a, b) => (block(27), a - b)).join() === "1,3", "typed sort");
            must(Object.groupBy([1, 2], (x) => (block(28), x % 2 ? "odd" : "even")).odd[0] === 1, "groupBy");
        },
        json() {
            const parsed = JSON.parse('{"a":[1,2],"b":{"c":3}}', (k, v) => { if (k !== "") block(30); return v; });
            must(parsed.a[1] === 2 && parsed.b.c === 3, "reviver");
            const text = JSON.stringify({ a: { toJSON() { block(31); return "j"; } }, get b() { block(32); return [1]; } },
                (k, v) => { block(33); return v; });
            must(text === '{"a":"j","b":[1]}', "stringify " + text);
        },
        objects() {
            class Base { #secret = block(40); constructor() { block(41); } get secret() { block(42); return this.#secret; } }
            class Child extends Base { field = block(43); constructor() { super(); block(44); }
                static { block(45); } [Symbol.toPrimitive]() { block(46); return 5; } }
            const child = new Child();
            must(child.secret === expect(40) && child.field === expect(43) && child * 2 === 10, "class");
            const proxy = new Proxy({}, { get(_, k) { block(47); return k; }, has() { block(48); return true; },
                ownKeys() { block(49); return ["x"]; },
                getOwnPropertyDescriptor() { block(50); return { value: 1, enumerable: true, configurable: true }; },
                apply() {}, set() { block(51); return true; } });
            must(proxy.some === "some" && "q" in proxy && Object.keys(proxy).join() === "x", "proxy");
            proxy.y = 1;
            must(`${{ toString() { block(52); return "t"; } }}` === "t", "toString");
            must(Reflect.construct(function () { this.v = block(53); }, []).v === expect(53), "construct");
            must(((...args) => args.length + (block(54) > 0)).apply(null, [1, 2]) === 3, "apply");
            const defaults = ({ a = block(55) } = {}, b = block(56)) => a + b;
            must(defaults() === expect(55) + expect(56), "defaults");
            let assigned; ({ a: assigned = block(57) } = {});
            must(assigned === expect(57) && (null ?? block(58)) === expect(58), "assigned");
        },
        depth() {
            const down = (n) => (n === 0 ? (block(60), 0) : 1 + down(n - 1));
            must(down(40) === 40, "depth");
            let overflow = 0;
            const forever = () => { overflow++; forever(); };
            try { forever(); must(false, "no overflow"); } catch (e) { must(e instanceof RangeError, "" + e); }
            block(61);
            must(overflow > 100, "overflow at " + overflow);
            const error = (function named() { block(62); return new Error("e"); })();
            must(error.stack.includes("named") && error.stack.includes("depth"), error.stack);
            must(!error.stack.includes("promises") && error.stack.split("\n").length < 12, error.stack);
        },
        async promises() {
            const log = [];
            const first = later(70).then((r) => { must(r === expect(70)); log.push("l"); block(71); log.push("L"); });
            const micro = Promise.resolve().then(() => { log.push("m"); block(72); log.push("M"); }).then(() => log.push("n"));
            try { block(73); log.push("s"); } finally { log.push("f"); }
            await micro;
            await first;
            must(/^sfmM(nlL|lLn)$/.test(log.join("")), log.join(""));
            const all = await Promise.all([later(74), (async () => { block(75); return await later(76); })(), 3]);
            must(all.join() === [expect(74), expect(76), 3].join(), "all " + all);
            async function* stream() { try { for (let i = 0; i < 3; i++) { block(77); yield await later(78); } } finally { block(79); } }
            let n = 0;
            for await (const x of stream()) { must(x === expect(78)); n++; if (n === 2) break; }
            must(n === 2, "for await");
            try { await (async () => { block(80); throw "rejected"; })(); must(false); } catch (e) { must(e === "rejected", "" + e); }
            const thenable = { then(resolve) { block(81); resolve(82); } };
            must((await thenable) === 82, "thenable");
        },
    };
    const names = Object.keys(parts);
    return function (choice) {
        iterations++;
        return parts[names[choice % names.length]]();
    };
})
