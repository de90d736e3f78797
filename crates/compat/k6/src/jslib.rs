//! Libraries that scripts import by URL, and that need no network here.
//!
//! The modules are written anew from the documented behaviour of the libraries at `https://jslib.k6.io` and of
//! `k6-reporter`; no code of these is in them. One version answers for all, because scripts rarely depend on a
//! difference.

/// A library: how its URLs begin, and the module.
struct BundledLibrary {
    start: &'static str,
    source: &'static str,
}

const LIBRARIES: [BundledLibrary; 11] = [
    BundledLibrary {
        start: "https://jslib.k6.io/k6-utils/",
        source: include_str!("jslib/k6-utils.js"),
    },
    BundledLibrary {
        start: "https://jslib.k6.io/url/",
        source: include_str!("jslib/url.js"),
    },
    BundledLibrary {
        start: "https://jslib.k6.io/formdata/",
        source: include_str!("jslib/formdata.js"),
    },
    BundledLibrary {
        start: "https://jslib.k6.io/papaparse/",
        source: include_str!("jslib/papaparse.js"),
    },
    BundledLibrary {
        start: "https://jslib.k6.io/k6-summary/",
        source: include_str!("jslib/k6-summary.js"),
    },
    BundledLibrary {
        start: "https://jslib.k6.io/httpx/",
        source: include_str!("jslib/httpx.js"),
    },
    BundledLibrary {
        start: "https://jslib.k6.io/k6chaijs/",
        source: include_str!("jslib/assertions.js"),
    },
    BundledLibrary {
        start: "https://jslib.k6.io/expect/",
        source: include_str!("jslib/assertions.js"),
    },
    BundledLibrary {
        start: "https://jslib.k6.io/k6-testing/",
        source: include_str!("jslib/testing.js"),
    },
    BundledLibrary {
        start: "https://raw.githubusercontent.com/benc-uk/k6-reporter/",
        source: include_str!("jslib/reporter.js"),
    },
    BundledLibrary {
        start: "https://cdn.jsdelivr.net/gh/benc-uk/k6-reporter",
        source: include_str!("jslib/reporter.js"),
    },
];

/// The module of a URL such as `https://jslib.k6.io/k6-utils/1.4.0/index.js`. `None` means: the library has to
/// be fetched.
#[must_use]
pub fn library(url: &str) -> Option<&'static str> {
    let library = LIBRARIES
        .iter()
        .find(|library| url.starts_with(library.start))?;
    url.ends_with(".js").then_some(library.source)
}

#[cfg(test)]
mod tests;
