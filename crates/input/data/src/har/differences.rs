//! Parts of a recorded request that contradict other parts.

use super::{HarPair, HarRequest};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_plan::percent;

/// The encodings of a text that are no encoding.
const PLAIN: [&str; 2] = ["utf-8", "utf8"];

impl HarRequest {
    /// Whether the request changes the connection to WebSocket.
    #[must_use]
    pub fn is_upgrade(&self) -> bool {
        let is_websocket = |value: &str| value.eq_ignore_ascii_case("websocket");
        let mut upgrades = self
            .headers
            .iter()
            .filter(|pair| pair.name.eq_ignore_ascii_case("upgrade") || pair.name == ":protocol");
        upgrades.any(|pair| pair.value.split(',').map(str::trim).any(is_websocket))
    }

    /// The differences between the recording and the request that its URL, headers and body give,
    /// one clause each.
    #[must_use]
    pub fn differences(&self) -> Vec<String> {
        let mut all = Vec::new();
        self.pseudo_fields(&mut all);
        let (_, query) = self.url.split_once('?').unwrap_or_default();
        let query = query.split('#').next().unwrap_or_default();
        if !query.is_empty() && lacks(query, '&', &self.query_string) {
            all.push(
                "`queryString` differs from the query of the URL, which the plan sends".into(),
            );
        }
        if let Some(cookie) = self.header("cookie")
            && lacks(cookie, ';', &self.cookies)
        {
            all.push("`cookies` differ from the header `Cookie`, which the plan sends".into());
        }
        self.body_differences(&mut all);
        all
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|pair| pair.name.eq_ignore_ascii_case(name));
        found.map(|pair| pair.value.as_str())
    }

    /// The pseudo-header fields of HTTP/2 and HTTP/3 (RFC 9113 section 8.3.1).
    fn pseudo_fields(&self, all: &mut Vec<String>) {
        let url = self.url.trim().split('#').next().unwrap_or_default();
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let host = |text: &str| {
            let text = text.rsplit('@').next().unwrap_or_default();
            let text = text.trim_end_matches(":443").trim_end_matches(":80");
            text.to_ascii_lowercase()
        };
        let slash = if path.starts_with('/') { "" } else { "/" };
        let path = format!("{slash}{path}");
        for HarPair { name, value, .. } in &self.headers {
            let is_equal = match name.as_str() {
                ":authority" => host(value) == host(authority),
                ":method" => value.eq_ignore_ascii_case(&self.method),
                ":path" => percent::decoded(value) == percent::decoded(&path),
                ":scheme" => value.eq_ignore_ascii_case(scheme),
                name if name.starts_with(':') => {
                    all.push(format!(
                        "the pseudo-header field `{}` is left out",
                        short(name)
                    ));
                    continue;
                }
                _ => continue,
            };
            if !is_equal {
                all.push(format!(
                    "`{name}` differs from the method or the URL, which the plan sends"
                ));
            }
        }
    }

    fn body_differences(&self, all: &mut Vec<String>) {
        let Some(data) = &self.post_data else {
            let size = self.body_size.as_f64().unwrap_or(0.0);
            if size > 0.0 && self.header("content-length").is_none() {
                all.push(format!(
                    "the recording lacks the body, which has {size} bytes"
                ));
            }
            return;
        };
        let essence = data.mime_type.split(';').next().unwrap_or_default();
        let essence = essence.trim().to_ascii_lowercase();
        let is_form = essence == "application/x-www-form-urlencoded";
        let Some(text) = data.text.as_deref().filter(|text| !text.is_empty()) else {
            let is_usual = is_form || matches!(essence.as_str(), "" | "multipart/form-data");
            if !data.params.is_empty() && !is_usual {
                let shown = short(&essence);
                all.push(match essence.starts_with("multipart/") {
                    true => format!(
                        "the parts of a body of the type {shown} are sent as multipart/form-data"
                    ),
                    false => format!(
                        "a body of the type {shown} has only `params`, which the plan sends as a web \
                         form"
                    ),
                });
            }
            return;
        };
        let encoding = data.encoding.as_deref().unwrap_or_default();
        let is_base64 = encoding.eq_ignore_ascii_case("base64");
        let is_plain = PLAIN.iter().any(|it| encoding.eq_ignore_ascii_case(it));
        if is_base64 && STANDARD.decode(text).is_err() {
            all.push("a body is invalid base64, and its text is sent as it is".into());
        } else if !is_base64 && !is_plain && !encoding.is_empty() {
            all.push(format!(
                "the encoding `{}` of a body is unknown, and its text is sent as it is",
                short(encoding)
            ));
        }
        if is_form && !is_base64 && lacks(text, '&', &data.params) {
            all.push("`params` of a body differ from its text, which the plan sends".into());
        }
        let coding = self.header("content-encoding").unwrap_or("identity");
        if !is_base64 && !coding.trim().eq_ignore_ascii_case("identity") {
            all.push(format!(
                "a body was recorded as a text, and its header `Content-Encoding: {}` may not fit it",
                short(coding)
            ));
        }
    }
}

/// Whether a text of pairs lacks one of the listed pairs, each of which may be encoded.
fn lacks(text: &str, separator: char, listed: &[HarPair]) -> bool {
    let decoded = |text: &str| {
        let text = text.trim().replace('+', " ");
        percent::decoded(&text).trim_matches('"').to_owned()
    };
    let pair = |name: &str, value: &str| (decoded(name), decoded(value));
    let own: Vec<(String, String)> = text
        .split(separator)
        .map(|it| it.split_once('=').unwrap_or((it, "")))
        .map(|(name, value)| pair(name, value))
        .collect();
    let is_lacking = |it: &HarPair| {
        let raw = (it.name.trim().to_owned(), it.value.trim().to_owned());
        !own.contains(&pair(&it.name, &it.value)) && !own.contains(&raw)
    };
    listed.iter().any(is_lacking)
}

/// A word of a recording for a note.
fn short(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::HarRequest;
    use serde_json::{Value, json};

    /// The differences of a request with these members.
    fn of(members: Value) -> Vec<String> {
        let mut given = json!({"method": "POST", "url": "https://h.test:443/a?b=c%20d#e"});
        for (key, value) in members.as_object().expect("members") {
            given[key] = value.clone();
        }
        let request: HarRequest = serde_json::from_value(given).expect("a request");
        request.differences()
    }

    #[test]
    fn equal_parts_have_no_differences() {
        let pair = |name: &str, value: &str| json!({"name": name, "value": value});
        for members in [
            json!({"queryString": [pair("b", "c d")]}),
            json!({"queryString": [pair("b", "c%20d")]}),
            json!({"cookies": [pair("a", "1=2"), pair("b", "%20")],
                "headers": [pair("cookie", "a=\"1=2\"; b=%20; c")]}),
            json!({"cookies": [pair("a", "1")]}),
            json!({"headers": [pair(":method", "POST"), pair(":authority", "H.test"),
                pair(":path", "/a?b=c%20d"), pair(":scheme", "https")]}),
            json!({"postData": {"mimeType": "application/x-www-form-urlencoded; charset=UTF-8",
                "text": "a=b+c&d", "params": [pair("a", "b c"), pair("d", "")]}}),
            json!({"postData": {"mimeType": "a/b", "text": "//8=", "encoding": "BASE64"}}),
            json!({"postData": {"mimeType": "a/b", "text": "x", "encoding": "utf-8"}}),
            json!({"postData": {"mimeType": "multipart/form-data", "params": [pair("a", "b")]}}),
            json!({"bodySize": 0}),
            json!({"bodySize": -1}),
            json!({"bodySize": "5"}),
        ] {
            assert_eq!(of(members.clone()), [""; 0], "{members}");
        }
    }

    #[test]
    fn different_parts_are_named() {
        let pair = |name: &str, value: &str| json!({"name": name, "value": value});
        let body = |mime: &str, text: &str| json!({"mimeType": mime, "text": text, "params": [pair("a", "2")]});
        for (members, difference) in [
            (
                json!({"queryString": [pair("b", "x")]}),
                "`queryString` differs from the query of the URL, which the plan sends",
            ),
            (
                json!({"cookies": [pair("a", "2")], "headers": [pair("Cookie", "a=1")]}),
                "`cookies` differ from the header `Cookie`, which the plan sends",
            ),
            (
                json!({"headers": [pair(":authority", "other.test")]}),
                "`:authority` differs from the method or the URL, which the plan sends",
            ),
            (
                json!({"headers": [pair(":path", "/b")]}),
                "`:path` differs from the method or the URL, which the plan sends",
            ),
            (
                json!({"headers": [pair(":protocol", "connect-udp")]}),
                "the pseudo-header field `:protocol` is left out",
            ),
            (
                json!({"postData": {"mimeType": "a/b", "text": "*", "encoding": "base64"}}),
                "a body is invalid base64, and its text is sent as it is",
            ),
            (
                json!({"postData": {"mimeType": "a/b", "text": "x", "encoding": "gzip"}}),
                "the encoding `gzip` of a body is unknown, and its text is sent as it is",
            ),
            (
                json!({"postData": body("application/x-www-form-urlencoded", "a=1")}),
                "`params` of a body differ from its text, which the plan sends",
            ),
            (
                json!({"postData": body("application/json", "")}),
                "a body of the type application/json has only `params`, which the plan sends as a web \
                 form",
            ),
            (
                json!({"postData": body("multipart/mixed", "")}),
                "the parts of a body of the type multipart/mixed are sent as multipart/form-data",
            ),
            (
                json!({"headers": [pair("Content-Encoding", "gzip")], "postData": body("a/b", "x")}),
                "a body was recorded as a text, and its header `Content-Encoding: gzip` may not fit it",
            ),
            (
                json!({"bodySize": 5}),
                "the recording lacks the body, which has 5 bytes",
            ),
        ] {
            assert_eq!(of(members.clone()), [difference], "{members}");
        }
    }
}
