//! URLs without a scheme, as a browser's address bar accepts them.

/// Adds `http://`, and the host `localhost` if the text has only a port. `None` if the text has a
/// scheme or is not such an address.
pub(crate) fn completed(text: &str) -> Option<String> {
    let is_scheme = |scheme: &str| {
        let mut chars = scheme.chars();
        chars.next().is_some_and(|c| c.is_ascii_alphabetic())
            && chars.all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    if text
        .split_once("://")
        .is_some_and(|(scheme, _)| is_scheme(scheme))
    {
        return None;
    }
    let end = text.find(['/', '?', '#']).unwrap_or(text.len());
    let host = &text[..end];
    if host.is_empty() || host.starts_with(['-', '@', '{']) || text.contains(char::is_whitespace) {
        return None;
    }
    if let Some(port) = host.strip_prefix(':') {
        let number = !port.is_empty() && port.chars().all(|c| c.is_ascii_digit());
        return number.then(|| format!("http://localhost{text}"));
    }
    // A scheme without its slashes, as in `http:example.org`, is not a host.
    let (before, _) = host.split_once(':').unwrap_or_default();
    if ["http", "https"].contains(&before.to_ascii_lowercase().as_str()) {
        return None;
    }
    let named = host == "localhost" || host.contains(['.', ':']);
    named.then(|| format!("http://{text}"))
}

#[cfg(test)]
mod tests {
    use super::completed;

    #[test]
    fn addresses_are_taken_as_a_browser_takes_them() {
        for (text, url) in [
            ("localhost", "http://localhost"),
            ("localhost:8080", "http://localhost:8080"),
            ("127.0.0.1:8080/x?y=1", "http://127.0.0.1:8080/x?y=1"),
            (":8080", "http://localhost:8080"),
            (":8080/x", "http://localhost:8080/x"),
            ("example.com/x", "http://example.com/x"),
            ("example.com/?u=http://x", "http://example.com/?u=http://x"),
            ("[::1]:8080/", "http://[::1]:8080/"),
            ("me:secret@example.com", "http://me:secret@example.com"),
        ] {
            assert_eq!(completed(text).as_deref(), Some(url), "{text}");
        }
        for text in [
            "http://localhost",
            "ftp://h/",
            "foo",
            "100",
            "/x",
            "",
            ":",
            ":x",
            "@urls",
            "{{h}}.x/",
            "http:/127.0.0.1/",
            "HTTPS:127.0.0.1:8080",
            "-x",
            "a b.c",
        ] {
            assert_eq!(completed(text), None, "{text}");
        }
    }
}
