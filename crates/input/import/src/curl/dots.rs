//! `.` and `..` in the path of a URL, which curl resolves before it sends a request.

/// A URL without the dot segments of its path (RFC 3986 section 5.2.4).
pub(super) fn resolved(url: String) -> String {
    let Some(begin) = url.find("://").map(|at| at + 3) else {
        return url;
    };
    let end =
        |from: usize, signs: &[char]| url[from..].find(signs).map_or(url.len(), |at| from + at);
    let path = end(begin, &['/', '?', '#']);
    let rest = end(path, &['?', '#']);
    let is_dots = |segment: &str| matches!(segment, "." | "..");
    if !url[path..rest].split('/').any(is_dots) {
        return url;
    }
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = url[path..rest].split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        if segment == ".." {
            kept.pop();
        }
        match is_dots(segment) {
            false => kept.push(segment),
            // A last one leads to a folder.
            true if segments.peek().is_none() => kept.push(""),
            true => {}
        }
    }
    format!("{}/{}{}", &url[..path], kept.join("/"), &url[rest..])
}

#[cfg(test)]
mod tests {
    use super::resolved;

    #[test]
    fn dot_segments_are_resolved_as_curl_does() {
        for (given, sent) in [
            ("http://h/a/../b/./c", "http://h/b/c"),
            ("http://h/a/..", "http://h/"),
            ("http://h/a/b/.", "http://h/a/b/"),
            ("http://h/../../a", "http://h/a"),
            ("http://h/..?a=/../b", "http://h/?a=/../b"),
            ("http://h/a//../b", "http://h/a/b"),
            ("http://h/a/..b/c../...", "http://h/a/..b/c../..."),
            ("http://..", "http://.."),
            ("http://h?x=/./", "http://h?x=/./"),
            ("http://h#/../", "http://h#/../"),
        ] {
            assert_eq!(resolved(given.to_owned()), sent, "{given}");
        }
    }
}
