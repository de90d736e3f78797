// k6/secrets: values that logs do not show.
(function (native) {
"use strict";

const source = (name) => ({ get: async (key) => native.secret(name, String(key)) });
const module = { get: source(null).get, source: async (name) => source(String(name)) };
module.default = { ...module };
return { module };
})
