use rquickjs::{CatchResultExt, Context, Ctx, Module, Runtime};

use super::*;

/// What the libraries import of k6, as far as these tests go, and what tests use.
const MODULES: [(&str, &str); 4] = [
    (
        "k6",
        "export function check(value, sets, tags) {
             const results = Object.entries(sets).map(([name, set]) => [name, Boolean(typeof set === 'function' ? set(value) : set)]);
             globalThis.checks.push(...results.map(([name, result]) => ({ name, result, tags })));
             return results.every(([, result]) => result);
         }
         export function group(name, run) { globalThis.groups.push(name); return run(); }",
    ),
    (
        "k6/http",
        "const request = (...sent) => { globalThis.sent.push(sent); return { status: 200, json: () => ({ a: 1 }) }; };
         export default { request, asyncRequest: async (...sent) => request(...sent), batch: (list) => list.map((each) => request(...each)) };",
    ),
    (
        "k6/execution",
        "export default globalThis.execution;",
    ),
    (
        "assert",
        "export function equal(actual, expected, what = '') {
             const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)];
             if (one !== other) { throw new Error(`${what}: ${one} is not ${other}`); }
         }
         export function throws(run, text) {
             try { run(); } catch (error) {
                 if (!String(error.message).includes(text)) { throw new Error(`${error.message} has not ${text}`); }
                 return;
             }
             throw new Error(`nothing was thrown, and not ${text}`);
         }",
    ),
];

const GLOBALS: &str = "
    globalThis.checks = []; globalThis.groups = []; globalThis.sent = []; globalThis.errors = [];
    globalThis.console = { error: (text) => globalThis.errors.push(text) };
    globalThis.crypto = { randomUUID: () => '01234567-89ab-4def-8123-456789abcdef' };
    globalThis.execution = {
        test: { options: { scenarios: {} }, fail: (text) => globalThis.errors.push(`failed: ${text}`) },
        scenario: { name: 'one', startTime: Date.now() },
        vu: { tags: {} },
    };
    undefined;";

/// Run a test that imports libraries by their URL.
fn run(name: &str, test: &str) {
    let runtime = Runtime::new().expect("a runtime");
    let context = Context::full(&runtime).expect("a context");
    context.with(|ctx: Ctx<'_>| {
        let caught = |what: &str, result: rquickjs::Result<()>| {
            if let Err(error) = result.catch(&ctx) {
                panic!("{name}: {what}: {error}");
            }
        };
        caught("globals", ctx.eval::<(), _>(GLOBALS));
        let libraries = LIBRARIES.iter().map(|library| {
            let version = if library.start.contains("summary") {
                "0.1.0"
            } else {
                "1.0.0"
            };
            (
                format!("{}{version}/index.js", library.start),
                library.source,
            )
        });
        let modules = MODULES
            .iter()
            .map(|(name, source)| ((*name).to_owned(), *source));
        for (name, source) in modules.chain(libraries) {
            caught(
                &name,
                Module::declare(ctx.clone(), name.clone(), source).map(drop),
            );
        }
        let golden = |name: &str, text: &str| ctx.globals().set(name, text);
        caught(
            "data",
            golden(
                "summaryData",
                include_str!("../../tests/golden/text-summary.json"),
            ),
        );
        caught(
            "text",
            golden(
                "summaryText",
                include_str!("../../tests/golden/text-summary.txt"),
            ),
        );
        let evaluated =
            Module::evaluate(ctx.clone(), name, test).and_then(|promise| promise.finish::<()>());
        caught("test", evaluated);
    });
}

macro_rules! scripts {
    ($($name:ident: $file:literal,)*) => {
        $(
            #[test]
            fn $name() {
                run($file, include_str!(concat!("tests/", $file)));
            }
        )*
    };
}

scripts! {
    utilities: "k6-utils.js",
    urls: "url.js",
    forms: "formdata.js",
    tables: "papaparse.js",
    summaries: "k6-summary.js",
    sessions: "httpx.js",
    expectations: "assertions.js",
    matchers: "testing.js",
    pages: "reporter.js",
}

#[test]
fn libraries_are_found_by_their_url() {
    for (url, is_known) in [
        ("https://jslib.k6.io/k6-utils/1.2.0/index.js", true),
        ("https://jslib.k6.io/url/1.0.0/index.js", true),
        ("https://jslib.k6.io/k6chaijs/4.3.4.3/index.js", true),
        (
            "https://raw.githubusercontent.com/benc-uk/k6-reporter/main/dist/bundle.js",
            true,
        ),
        ("https://jslib.k6.io/aws/0.11.0/s3.js", false),
        ("https://jslib.k6.io/k6-utils/1.2.0/README.md", false),
        ("http://jslib.k6.io/k6-utils/1.2.0/index.js", false),
    ] {
        assert_eq!(library(url).is_some(), is_known, "{url}");
    }
}
