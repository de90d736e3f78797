//! The URLs of a command line: with their scheme, the name of an uploaded file, and the query.

use super::{Dots, dots, encoded};

/// The beginnings of host names for which curl uses a protocol other than HTTP.
const OTHERS: [&str; 6] = ["dict", "ftp", "imap", "ldap", "pop3", "smtp"];

/// A complete URL; `file` is the file that is uploaded there. curl sends no fragment.
pub(super) fn whole(given: &str, file: Option<&str>, query: &[String], form: Dots) -> String {
    let given = given.split('#').next().unwrap_or_default();
    let (target, own) = match given.split_once('?') {
        Some((target, own)) => (target, Some(own)),
        None => (given, None),
    };
    let mut url = with_scheme(target);
    let authority = url.find("://").map_or(0, |at| at + 3);
    let has_path = url[authority..].contains('/');
    if let Some(file) = file.filter(|_| !has_path || url.ends_with('/')) {
        // The file's name becomes the name of the resource.
        let slash = if has_path { "" } else { "/" };
        let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
        url = format!("{url}{slash}{}", encoded(name));
    }
    let own = own.map(str::to_owned);
    let all = own.filter(|own| !own.is_empty() || query.is_empty());
    let all: Vec<String> = all.into_iter().chain(query.iter().cloned()).collect();
    if !all.is_empty() {
        url = format!("{url}?{}", all.join("&"));
    }
    match form {
        Dots::Resolved => dots::resolved(url),
        Dots::Plain => url,
    }
}

/// A URL with its scheme. curl accepts one to three slashes after it.
fn with_scheme(given: &str) -> String {
    for scheme in ["http:/", "https:/"] {
        let begin = given.get(..scheme.len());
        if begin.is_some_and(|begin| begin.eq_ignore_ascii_case(scheme)) {
            let rest = &given[scheme.len()..];
            let rest = rest.strip_prefix('/').unwrap_or(rest);
            let rest = rest.strip_prefix('/').unwrap_or(rest);
            return format!("{}//{rest}", &given[..scheme.len() - 1]);
        }
    }
    if given.contains("://") {
        return given.to_owned();
    }
    let first = given.split('.').next().unwrap_or_default();
    let mut others = OTHERS.iter();
    let other = others.find(|other| given.contains('.') && first.eq_ignore_ascii_case(other));
    format!("{}://{given}", other.unwrap_or(&"http"))
}

#[cfg(test)]
mod tests {
    use super::{Dots, whole};

    #[test]
    fn urls_are_completed_as_curl_does() {
        for (given, file, query, url) in [
            ("h/a", None, &[][..], "http://h/a"),
            ("HTTPS://h/a#b?c", None, &[], "HTTPS://h/a"),
            ("http:/h/a", None, &[], "http://h/a"),
            ("http:///h/a", None, &[], "http://h/a"),
            ("ftp.h.test/a", None, &[], "ftp://ftp.h.test/a"),
            ("ftp/a", None, &[], "http://ftp/a"),
            ("h?u=a://b", None, &[], "http://h?u=a://b"),
            ("h/a?", None, &[], "http://h/a?"),
            ("h/a?", None, &["x=1", "y=2"], "http://h/a?x=1&y=2"),
            ("h/a?b#c", None, &["x=1"], "http://h/a?b&x=1"),
            ("h", Some("d/f 1"), &[], "http://h/f%201"),
            ("h/a/?q", Some("f"), &["r"], "http://h/a/f?q&r"),
            ("h/a", Some("f"), &[], "http://h/a"),
        ] {
            let query: Vec<String> = query.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(whole(given, file, &query, Dots::Resolved), url, "{given}");
        }
    }
}
