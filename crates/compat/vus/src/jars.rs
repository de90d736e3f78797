//! The cookies of a user: its own jar, and those that its script makes.

use drumfire_cookies::{Jar, Site};
use drumfire_plan::{Host, Scheme, Url};

/// The jars that a script may make for a user, beside its own.
const JARS_MAX: usize = 1_000;

/// The jars of a user. Jar 0 is its own.
#[derive(Debug, Default)]
pub(crate) struct Jars(Vec<Jar>);

impl Jars {
    /// Makes a jar; `None` if there are too many.
    pub(crate) fn add(&mut self) -> Option<usize> {
        self.jar(0);
        if self.0.len() > JARS_MAX {
            return None;
        }
        self.0.push(Jar::default());
        Some(self.0.len() - 1)
    }

    pub(crate) fn jar(&mut self, number: usize) -> &mut Jar {
        if self.0.len() <= number {
            self.0.resize_with(number + 1, Jar::default);
        }
        &mut self.0[number]
    }

    /// Empties the own jar, at the begin of an iteration.
    pub(crate) fn reset(&mut self) {
        if let Some(jar) = self.0.first_mut() {
            jar.clear();
        }
    }
}

/// Calls a function with the site of a URL.
pub(crate) fn with_site<T>(url: &Url, run: impl FnOnce(Site<'_>) -> T) -> T {
    let host = match &url.origin.host {
        Host::Name(name) => name.clone(),
        Host::Address(address) => address.to_string(),
    };
    run(Site {
        host: &host,
        path: &url.target,
        is_secure: url.origin.scheme == Scheme::Https,
    })
}

/// The cookies of a jar for a URL, as a request sends them.
pub(crate) fn sent(jar: &mut Jar, url: &Url, now: u64) -> String {
    let mut text = String::new();
    with_site(url, |site| jar.write(site, now, &mut text));
    text
}

/// The names and values of a Cookie field.
pub(crate) fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let parts = text.split("; ").filter(|part| !part.is_empty());
    parts.map(|part| part.split_once('=').unwrap_or((part, "")))
}
