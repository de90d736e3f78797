//! The targets of go-wrk's requests: the URL on the command line, or the lines of the playback
//! file.

use super::args::Args;
use super::mistake::mistake;
use crate::go_text::open_failed;
use crate::outcome::LastWords;
use drumfire_compile::Host;
use drumfire_plan::{Url, percent};

/// A URL that is requested.
#[derive(Debug)]
pub(super) struct Target {
    /// The text by which reports name the target.
    pub(super) step: String,
    /// The URL in a form that can be sent.
    pub(super) written: String,
    pub(super) url: Url,
}

/// URLs as they were written, and their source.
pub(super) struct WrittenTargets {
    /// The playback file's name; `None` for the command line.
    file: Option<String>,
    /// Each URL with the number of its line, from 1.
    lines: Vec<(usize, String)>,
    /// Words of the command line that are ignored.
    ignored: Vec<String>,
}

impl WrittenTargets {
    /// Finds the URLs to request; `None` if the command line contains no target. The playback file
    /// takes precedence over the URL.
    pub(super) fn find(args: &Args, host: &dyn Host) -> Result<Option<Self>, LastWords> {
        if let Some(path) = &args.playback {
            return Self::in_file(path, args, host).map(Some);
        }
        let mut words = args.words.iter().cloned();
        Ok(words.next().filter(|url| !url.is_empty()).map(|url| Self {
            file: None,
            lines: vec![(1, url)],
            ignored: words.collect(),
        }))
    }

    /// The lines of the playback file, one URL each; blank lines are skipped.
    fn in_file(path: &str, args: &Args, host: &dyn Host) -> Result<Self, LastWords> {
        let bytes = host
            .read(path)
            .map_err(|error| LastWords::on_stdout(format!("{}\n", open_failed(path, &error)), 1))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| mistake(format!("{path} is not UTF-8 text; write one URL per line")))?;
        let lines: Vec<_> = text
            .trim_start_matches('\u{feff}')
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line.trim().to_owned()))
            .filter(|(_, line)| !line.is_empty())
            .collect();
        if lines.is_empty() {
            return Err(mistake(format!(
                "{path} has no URLs; write one URL per line"
            )));
        }
        Ok(Self {
            file: Some(path.to_owned()),
            lines,
            ignored: args.words.clone(),
        })
    }

    /// The URLs.
    pub(super) fn urls(&self) -> Result<Vec<Target>, LastWords> {
        self.lines
            .iter()
            .map(|(number, text)| {
                let written = sendable(text);
                let url = Url::parse(&written).map_err(|error| {
                    mistake(match &self.file {
                        Some(file) => format!("{file} line {number}: {error}"),
                        None => error.to_string(),
                    })
                })?;
                Ok(Target {
                    step: shown(text, &url),
                    written,
                    url,
                })
            })
            .collect()
    }

    /// The name of the target in the banner, for the source of these URLs.
    pub(super) fn title(&self, urls: &[Target]) -> String {
        match (&self.file, urls) {
            (_, [target]) => target.step.clone(),
            (file, urls) => {
                let file = file.as_deref().unwrap_or_default();
                format!("{file} ({} URLs)", urls.len())
            }
        }
    }

    /// Words of the command line that are ignored.
    pub(super) fn ignored_words(&self) -> &[String] {
        &self.ignored
    }
}

/// The URL as it was written. A password is removed, because no output may contain one.
fn shown(text: &str, url: &Url) -> String {
    match url.userinfo {
        Some(_) => url.to_string(),
        None => text.to_owned(),
    }
}

/// The URL with only those characters escaped that a request line can't contain: a space (`+` in
/// the query, as in go-wrk, `%20` before it) and non-ASCII characters. All other text, including
/// `%20` and `a=b=c`, is sent unchanged.
fn sendable(url: &str) -> String {
    let authority_end = url
        .find("://")
        .and_then(|at| url[at + 3..].find(['/', '?', '#']).map(|end| at + 3 + end))
        .unwrap_or(url.len());
    let (origin, target) = url.split_at(authority_end);
    let target = percent::encoded_beyond_ascii(target.as_bytes());
    let query = target.find('?').unwrap_or(target.len());
    let (path, query) = target.split_at(query);
    [origin, &path.replace(' ', "%20"), &query.replace(' ', "+")].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_request_line_cannot_carry_is_escaped() {
        for (url, expected) in [
            ("http://h/p?a=hello host", "http://h/p?a=hello+host"),
            ("http://h/a b?c d", "http://h/a%20b?c+d"),
            ("http://h/?q=a%20b&x=a=b=c", "http://h/?q=a%20b&x=a=b=c"),
            ("http://h/?flag&a=1", "http://h/?flag&a=1"),
            ("http://h/?", "http://h/?"),
            ("http://h?grün=ü", "http://h?gr%C3%BCn=%C3%BC"),
            ("http://bad host/", "http://bad host/"),
            ("no scheme", "no scheme"),
        ] {
            assert_eq!(sendable(url), expected);
        }
    }
}
