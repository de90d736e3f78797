// Remembers all objects that are reachable from the global object and from literals, and returns a function
// that lists the properties that have changed. Only functions that were taken here are called later, because
// a script may replace those that objects have then.
(function () {
    "use strict";
    const { ownKeys, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
    const { is } = Object;
    const { String } = globalThis;
    const records = [], known = new Set();

    function remember(object, path) {
        if ((typeof object !== "object" && typeof object !== "function") || object === null) return;
        if (known.has(object)) return;
        known.add(object);
        const keys = ownKeys(object), properties = [];
        for (const key of keys) properties.push(getOwnPropertyDescriptor(object, key));
        records.push({ object, path, keys, properties, parent: getPrototypeOf(object) });
    }

    function place(path, key) {
        if (typeof key === "symbol") return path + "[" + String(key) + "]";
        return path === "" ? key : path + "." + key;
    }

    remember(globalThis, "");
    for (const object of [function* () {}, async function () {}, async function* () {}, [].values(),
        "".matchAll(/x/g), ""[Symbol.iterator](), new Map().values(), new Set().values(),
        [].values().map((x) => x), Iterator.from({ next() {} }), function* () {}(), async function* () {}()])
        remember(getPrototypeOf(object), "the prototype of " + String(object));

    // Level by level, and prototypes last, so that each object has its usual path.
    for (let i = 0, p = 0; i < records.length; ) {
        for (; i < records.length; i++) {
            const { path, keys, properties } = records[i];
            keys.forEach((key, index) => {
                const { value, get, set } = properties[index];
                const name = place(path, key);
                remember(value, name), remember(get, name), remember(set, name);
            });
        }
        for (; p < i; p++) remember(records[p].parent, records[p].path + ".__proto__");
    }

    function same(a, b) {
        return b !== undefined && is(a.value, b.value) && a.get === b.get && a.set === b.set &&
            a.writable === b.writable && a.configurable === b.configurable && a.enumerable === b.enumerable;
    }

    return function () {
        const found = [];
        let count = 0;
        const note = (path) => { found[count++] = path; };
        for (let i = 0; i < records.length; i++) {
            const { object, path, keys, properties, parent } = records[i];
            if (getPrototypeOf(object) !== parent) note(path + ".__proto__");
            const now = ownKeys(object);
            let old = 0;
            for (let k = 0; k < keys.length; k++)
                if (!same(properties[k], getOwnPropertyDescriptor(object, keys[k]))) note(place(path, keys[k]));
                else old++;
            if (now.length === old) continue;
            for (let k = 0; k < now.length; k++) {
                let added = true;
                for (let o = 0; o < keys.length && added; o++) added = keys[o] !== now[k];
                if (added) note(place(path, now[k]));
            }
        }
        return found;
    };
})()
