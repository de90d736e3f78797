//! The URLs of a collection: a text, or its parts.

use super::{Reader, pairs};
use crate::exchange::{TARGET_DEFAULT, Words, literal};
use crate::library::Node;
use crate::shape::shown;

impl Reader {
    /// The URL of a request; `None` if it is missing.
    pub(super) fn url(&mut self, given: Node<'_>, name: &str) -> Option<Words> {
        if given.value().is_object() {
            self.seen
                .check(given, &super::keys::URL, &mut self.all.notes);
        }
        let has_parts = !given.get("host").is_null() || !given.get("path").is_null();
        let (start, path, query) = match has_parts {
            true => parts(given)?,
            false => raw(given)?,
        };
        let path = self.with_path_variables(&path, given.get("variable"), name);
        let mut url = self.url_start(&start, given.get("protocol").str());
        url.push_str(&self.encoded(&path));
        for (at, (key, value)) in query.iter().enumerate() {
            url.push(if at == 0 { '?' } else { '&' });
            url.push_str(&self.encoded(key));
            if let Some(value) = value {
                url.push('=');
                url.push_str(&self.encoded(value));
            }
        }
        Some(Words::Plan(url))
    }

    /// The URL up to its path. The scheme may also be in a variable.
    fn url_start(&mut self, start: &str, protocol: Option<&str>) -> String {
        if let Some(protocol) = protocol.filter(|_| !start.contains("://")) {
            let scheme = protocol.trim_end_matches("://").trim_end_matches(':');
            let scheme = format!("{scheme}://");
            return self.encoded(&scheme) + &self.authority(start);
        }
        let variable = start
            .strip_prefix("{{")
            .and_then(|rest| rest.split_once("}}"));
        let Some((variable, rest)) = variable else {
            let scheme = if start.contains("://") { "" } else { "http://" };
            return format!("{scheme}{}", self.authority(start));
        };
        if rest.starts_with("://") {
            let scheme = match self.fixed(&format!("{{{{{variable}}}}}")) {
                Some(scheme) => literal(&scheme),
                None => self.of_environment(variable.trim(), "http"),
            };
            return scheme + &self.authority(rest);
        }
        let value = self.fixed(&format!("{{{{{variable}}}}}"));
        match value {
            Some(value) if value.contains("://") => self.encoded(start),
            Some(value) if !value.is_empty() && !value.starts_with('/') => {
                format!("http://{}", self.authority(start))
            }
            Some(path) => {
                let name = variable.trim();
                self.all.notes.add(format!(
                    "the variable `{}` has no host, so the plan uses {TARGET_DEFAULT}",
                    shown(name)
                ));
                let path = self.encoded(path.trim_end_matches('/'));
                format!("{TARGET_DEFAULT}{path}{}", self.encoded(rest))
            }
            None if rest.starts_with([':', '.', '{']) => {
                format!("http://{}", self.authority(start))
            }
            None => {
                let reference = self.of_environment(variable.trim(), TARGET_DEFAULT);
                reference + &self.encoded(rest)
            }
        }
    }

    /// A host with its port, which may be a variable.
    fn authority(&mut self, given: &str) -> String {
        let port = given
            .strip_suffix("}}")
            .and_then(|rest| rest.rsplit_once(":{{"));
        match port.filter(|(_, name)| !name.contains('}')) {
            Some((host, name)) if self.fixed(&format!("{{{{{name}}}}}")).is_none() => {
                let port = self.of_environment(name.trim(), "80");
                format!("{}:{port}", self.encoded(host))
            }
            _ => self.encoded(given),
        }
    }

    /// Replaces `:id` in a path by its value.
    fn with_path_variables(&mut self, path: &str, variables: Node<'_>, name: &str) -> String {
        let values = pairs(variables);
        let segments = path.split('/').map(|segment| {
            let Some(variable) = segment.strip_prefix(':').filter(|it| !it.is_empty()) else {
                return segment.to_owned();
            };
            let value = values.iter().find(|pair| pair.key == variable);
            let value = value.map(|pair| pair.text()).unwrap_or_default();
            if value.is_empty() {
                let finding = "a path variable has no value, so the plan has 1".to_owned();
                let place = || format!("`:{}` of {}", shown(variable), shown(name));
                self.all.notes.add_at(finding, place);
                return "1".to_owned();
            }
            // A value is a single segment.
            value.replace('/', "%2F").replace('?', "%3F")
        });
        segments.collect::<Vec<_>>().join("/")
    }

    /// A part of a URL in the form of a plan, with invalid characters encoded.
    fn encoded(&mut self, given: &str) -> String {
        self.plan_words(given, super::TextUse::Url)
    }
}

/// The pairs of a query; a pair without a value has no `=`.
type Query = Vec<(String, Option<String>)>;

/// The enabled pairs of a query, encoded so that each stays a single pair.
fn query_pairs(query: Node<'_>) -> Query {
    if let Some(text) = query.str() {
        return vec![(text.to_owned(), None)];
    }
    let is_one = |text: &str| text.replace('&', "%26").replace('#', "%23");
    let pairs = pairs(query).into_iter().map(|pair| {
        let value = pair.has_value().then(|| is_one(&pair.text()));
        (is_one(&pair.key).replace('=', "%3D"), value)
    });
    pairs.collect()
}

/// The parts of a URL with a separate host or path.
fn parts(given: Node<'_>) -> Option<(String, String, Query)> {
    let joined = |node: Node<'_>, separator: &str| {
        let item = |item: Node<'_>| item.text().or_else(|| item.get("value").text());
        let list: Vec<String> = node.list().filter_map(item).collect();
        node.text().unwrap_or_else(|| list.join(separator))
    };
    let host = joined(given.get("host"), ".");
    let path = joined(given.get("path"), "/");
    if host.is_empty() {
        return None;
    }
    let port = given.get("port").text().filter(|port| !port.is_empty());
    let port = port.map_or_else(String::new, |port| format!(":{port}"));
    let slash = if path.is_empty() || path.starts_with('/') {
        ""
    } else {
        "/"
    };
    let path = path.replace('?', "%3F").replace('#', "%23");
    Some((
        format!("{host}{port}"),
        format!("{slash}{path}"),
        query_pairs(given.get("query")),
    ))
}

/// The parts of a URL given as text: the text before the path, the path, and the query.
fn raw(given: Node<'_>) -> Option<(String, String, Query)> {
    let raw = given.text().or_else(|| given.get("raw").text())?;
    let raw = raw.trim();
    let raw = raw.split('#').next().unwrap_or_default();
    if raw.is_empty() {
        return None;
    }
    let (before, query) = match raw.split_once('?') {
        Some((before, query)) => (before, Some(query)),
        None => (raw, None),
    };
    let authority = before.find("://").map_or(0, |at| at + 3);
    let end = before[authority..]
        .find('/')
        .map_or(before.len(), |at| authority + at);
    let (start, path) = before.split_at(end);
    let listed = given.get("query");
    let Some(query) = query else {
        // The list of pairs accompanies a text without a query.
        return Some((start.to_owned(), path.to_owned(), query_pairs(listed)));
    };
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
        None => (pair.to_owned(), None),
    });
    let enabled = query_pairs(listed);
    let has_disabled = listed.list().any(|pair| pair.get("disabled").is_true());
    let pairs = pairs.filter(|pair| !has_disabled || enabled.contains(pair));
    Some((start.to_owned(), path.to_owned(), pairs.collect()))
}
