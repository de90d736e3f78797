//! The targets of requests: a URL, or the lines of a file.

use super::{go_url, mistake};
use crate::go_text::open_failed;
use crate::outcome::LastWords;
use drumfire_compile::Host;
use drumfire_plan::{Host as UrlHost, Url, secret};

/// The word for standard input, and its path.
const STDIN: (&str, &str) = ("-", "/dev/stdin");

/// The URLs; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Targets {
    pub(super) urls: Vec<String>,
    /// The argument, as the banner shows it.
    pub(super) title: String,
}

impl Targets {
    /// The URLs of the argument.
    ///
    /// # Errors
    /// The text that is printed instead of running.
    pub(super) fn find(argument: &str, host: &dyn Host) -> Result<Self, LastWords> {
        let list = argument.strip_prefix('@');
        let text = match list {
            None => argument.to_owned(),
            Some(path) => read(path, host)?,
        };
        let mut urls = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            urls.push(check(line).map_err(|why| {
                let line = secret::url(line);
                mistake(format!("invalid URL on line {number}: '{line}': {why}\n"))
            })?);
        }
        let title = match (urls.as_slice(), list) {
            ([], _) => return Err(mistake("the list has no URLs; write one per line")),
            ([url], _) => secret::url(url),
            (_, list) => list.unwrap_or(argument).to_owned(),
        };
        Ok(Self { urls, title })
    }
}

impl Targets {
    /// The host name of all URLs, if they share one.
    pub(super) fn host(&self) -> Option<String> {
        let mut hosts = self
            .urls
            .iter()
            .map(|url| Some(Url::parse(url).ok()?.origin.host));
        let first = hosts.next()??;
        hosts
            .all(|host| host.as_ref() == Some(&first))
            .then(|| match first {
                UrlHost::Name(name) => name,
                UrlHost::Address(address) => address.to_string(),
            })
    }
}

impl Targets {
    /// The host and port of all URLs, if they share one, in the form of a Host header.
    pub(super) fn authority(&self) -> Option<String> {
        let mut all = self.urls.iter().map(|url| {
            let url = Url::parse(url).ok()?;
            Some(url.origin.host_header())
        });
        let first = all.next()??;
        all.all(|other| other.as_deref() == Some(&*first))
            .then_some(first)
    }
}

fn read(path: &str, host: &dyn Host) -> Result<String, LastWords> {
    let place = if path == STDIN.0 { STDIN.1 } else { path };
    let bytes = host
        .read(place)
        .map_err(|error| LastWords::on_stderr(format!("{}\n", open_failed(path, &error)), 1))?;
    String::from_utf8(bytes).map_err(|_| mistake(format!("{path}: not valid UTF-8")))
}

/// A URL in the form in which it is sent.
///
/// # Errors
/// The message on the mistake, in Go's words if it has any.
fn check(text: &str) -> Result<String, String> {
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let colon = text.find(':');
    let before = &text[..colon.unwrap_or(0)];
    let begins = before.starts_with(|c: char| c.is_ascii_alphabetic());
    if !begins || !before.chars().all(is_scheme) {
        let first = text.split('/').next().unwrap_or_default();
        return Err(match first.contains(':') {
            true => {
                let text = crate::go_text::quoted(text);
                format!("parse {text}: first path segment in URL cannot contain colon")
            }
            false => "Missing scheme".to_owned(),
        });
    }
    let host = text[before.len() + 1..]
        .strip_prefix("//")
        .unwrap_or_default();
    if host.is_empty() || host.starts_with(['/', '?', '#']) {
        return Err("Missing host".to_owned());
    }
    let url = go_url::normal(text)?;
    match Url::parse(&url) {
        Ok(_) => Ok(url),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn a_url_has_a_scheme_and_a_host() {
        for (text, wanted) in [
            ("http://h", Ok("http://h")),
            ("HTTPS://h:8/p q?q", Ok("https://h:8/p%20q?q")),
            ("", Err("Missing scheme")),
            ("h/p", Err("Missing scheme")),
            ("/p", Err("Missing scheme")),
            ("http:///p", Err("Missing host")),
            ("http:p", Err("Missing host")),
            ("localhost:8080", Err("Missing host")),
            (
                "127.0.0.1:80",
                Err("parse \"127.0.0.1:80\": first path segment in URL cannot contain colon"),
            ),
        ] {
            assert_eq!(
                check(text),
                wanted.map(str::to_owned).map_err(str::to_owned),
                "{text}"
            );
        }
        assert!(check("ftp://h/").is_err());
    }
}
