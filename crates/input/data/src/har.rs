//! HTTP archives (HAR 1.2), as browsers record them: the members that say what was sent.

mod differences;

use crate::log_time;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_plan::percent;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// An archive.
#[derive(Debug, Deserialize)]
pub struct HarArchive {
    log: Log,
}

#[derive(Debug, Deserialize)]
struct Log {
    entries: Vec<HarEntry>,
}

impl HarArchive {
    /// Its entries, in the order of the file.
    #[must_use]
    pub fn into_entries(self) -> Vec<HarEntry> {
        self.log.entries
    }
}

/// One exchange.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HarEntry {
    started_date_time: Option<String>,
    /// How long it took, in milliseconds.
    pub time: Option<f64>,
    /// What was sent.
    pub request: HarRequest,
}

impl HarEntry {
    /// When it began, in nanoseconds since the Unix epoch.
    #[must_use]
    pub fn started(&self) -> Option<u64> {
        self.started_date_time.as_deref().and_then(log_time::any)
    }
}

/// A request.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HarRequest {
    /// Its method.
    pub method: String,
    url: String,
    #[serde(default, deserialize_with = "or_default")]
    headers: Vec<HarPair>,
    #[serde(default, deserialize_with = "or_default")]
    cookies: Vec<HarPair>,
    #[serde(default, deserialize_with = "or_default")]
    query_string: Vec<HarPair>,
    post_data: Option<HarBody>,
    /// The size of the body, in bytes; some programs write -1 or a text.
    #[serde(default)]
    body_size: Value,
    /// The keys that are not read.
    #[serde(flatten)]
    others: BTreeMap<String, IgnoredAny>,
}

/// The keys of a request that change the sent request.
pub(crate) const REQUEST_KEYS: [&str; 6] = [
    "method",
    "url",
    "headers",
    "cookies",
    "queryString",
    "postData",
];

/// Further keys of a request in HAR 1.2. They do not change the sent request.
const IDLE_KEYS: [&str; 3] = ["comment", "headersSize", "httpVersion"];

impl HarRequest {
    /// The keys that HAR 1.2 lacks. Keys of a program itself begin with `_` (section 3).
    pub(crate) fn unknown_keys(&self) -> impl Iterator<Item = &str> {
        let others = self.others.keys().map(String::as_str);
        others.filter(|key| !key.starts_with('_') && !IDLE_KEYS.contains(key))
    }

    /// Whether it went over HTTP: there are `data:`, `blob:` and `wss:`, too.
    #[must_use]
    pub fn is_http(&self) -> bool {
        let scheme = self.url.split("://").next().unwrap_or_default();
        ["http", "https"]
            .iter()
            .any(|known| scheme.eq_ignore_ascii_case(known))
    }

    /// The whole URL without its fragment, in which what no request can have is percent-encoded.
    /// Some programs write the query beside it alone.
    #[must_use]
    pub fn url(&self) -> String {
        let url = self.url.trim().split('#').next().unwrap_or_default();
        let mut url = percent::encoded_for_target(url).into_owned();
        let has_query = url
            .split_once('?')
            .is_some_and(|(_, query)| !query.is_empty());
        if !has_query && !self.query_string.is_empty() {
            url.truncate(url.trim_end_matches('?').len());
            let is_encoded = are_encoded(&self.query_string);
            let pairs: Vec<String> = self
                .query_string
                .iter()
                .map(|HarPair { name, value, .. }| match is_encoded {
                    true => format!("{name}={value}"),
                    false => format!("{}={}", percent::encoded(name), percent::encoded(value)),
                })
                .collect();
            url.push('?');
            url.push_str(&pairs.join("&"));
        }
        url
    }

    /// Its header fields; of HTTP/2 the pseudo-fields, too. Cookies and a media type that stand only
    /// beside them are added.
    #[must_use]
    pub fn fields(&self) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
        let own = self.headers.iter();
        let mut all: Vec<(Cow<'_, str>, Cow<'_, str>)> = own
            .map(|pair| (pair.name.as_str().into(), pair.value.as_str().into()))
            .collect();
        let has = |name: &str| {
            self.headers
                .iter()
                .any(|it| it.name.eq_ignore_ascii_case(name))
        };
        if !self.cookies.is_empty() && !has("cookie") {
            let cookies = self.cookies.iter();
            let cookies = cookies.map(|HarPair { name, value, .. }| format!("{name}={value}"));
            let cookies = cookies.collect::<Vec<_>>().join("; ");
            all.push(("Cookie".into(), cookies.into()));
        }
        let media_type = self.post_data.as_ref().map(|data| data.mime_type.as_str());
        if let Some(media_type) = media_type.filter(|it| !it.is_empty() && !has("content-type")) {
            all.push(("Content-Type".into(), media_type.into()));
        }
        all
    }

    /// Its body, if it had one.
    #[must_use]
    pub fn body(&self) -> Option<HarContent<'_>> {
        let data = self.post_data.as_ref()?;
        let text = data.text.as_deref().filter(|text| !text.is_empty());
        if let Some(text) = text {
            let encoding = data.encoding.as_deref().unwrap_or_default();
            let is_base64 = encoding.eq_ignore_ascii_case("base64");
            let bytes = is_base64.then(|| STANDARD.decode(text).ok()).flatten();
            return Some(match bytes {
                Some(bytes) => HarContent::Bytes(bytes),
                None => HarContent::Text(text),
            });
        }
        if data.mime_type.starts_with("multipart/") {
            return Some(HarContent::Parts(&data.params));
        }
        if data.params.is_empty() {
            return None;
        }
        let is_encoded = are_encoded(&data.params);
        let decoded = |text: &str| match is_encoded {
            true => percent::decoded(&text.replace('+', " ")).into_owned(),
            false => text.to_owned(),
        };
        let pairs = data.params.iter();
        let pairs = pairs.map(|HarPair { name, value, .. }| (decoded(name), decoded(value)));
        Some(HarContent::Form(pairs.collect()))
    }

    /// The parts of a form that were files, and whose content the archive lacks.
    pub fn files(&self) -> impl Iterator<Item = &HarPair> {
        let params = self.post_data.iter().flat_map(|data| &data.params);
        params.filter(|pair| pair.is_lost_file())
    }
}

/// What a body had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HarContent<'a> {
    /// A text.
    Text(&'a str),
    /// Bytes that were recorded in base64.
    Bytes(Vec<u8>),
    /// The pairs of a web form, decoded.
    Form(Vec<(String, String)>),
    /// The parts of a form of several parts.
    Parts(&'a [HarPair]),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HarBody {
    #[serde(default, deserialize_with = "or_default")]
    mime_type: String,
    text: Option<String>,
    /// `base64`, as some programs write it.
    encoding: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    params: Vec<HarPair>,
}

/// A name with a value.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HarPair {
    /// The name.
    pub name: String,
    /// The value; nothing where there is none.
    #[serde(default, deserialize_with = "or_default")]
    pub value: String,
    /// The file that was the value.
    pub file_name: Option<String>,
    /// The media type of a part.
    pub content_type: Option<String>,
}

impl HarPair {
    /// Whether the pair is a file whose content the archive lacks.
    #[must_use]
    pub const fn is_lost_file(&self) -> bool {
        self.file_name.is_some() && self.value.is_empty()
    }
}

/// A value, or its default where `null` stands.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    from: D,
) -> Result<T, D::Error> {
    Option::deserialize(from).map(Option::unwrap_or_default)
}

/// Whether pairs are percent-encoded already, as some browsers write them: there are escapes, and
/// nothing that an encoding would change.
fn are_encoded(pairs: &[HarPair]) -> bool {
    let mut escapes = 0;
    let mut is_encoded = |text: &str| {
        let mut rest = text.bytes();
        while let Some(byte) = rest.next() {
            let is_hex = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_hexdigit());
            match byte {
                b'%' if is_hex(rest.next()) && is_hex(rest.next()) => escapes += 1,
                byte if byte.is_ascii_alphanumeric() => {}
                // Encodings leave some of these.
                b'-' | b'.' | b'_' | b'*' | b'~' | b'+' | b'!' | b'\'' | b'(' | b')' => {}
                _ => return false,
            }
        }
        true
    };
    let mut pairs = pairs.iter().filter(|pair| pair.file_name.is_none());
    pairs.all(|pair| is_encoded(&pair.name) && is_encoded(&pair.value)) && escapes > 0
}

#[cfg(test)]
mod tests {
    use super::{HarContent, HarRequest};
    use serde_json::json;

    fn request(value: serde_json::Value) -> HarRequest {
        serde_json::from_value(value).expect("a request")
    }

    #[test]
    fn urls_can_be_sent() {
        for (given, url) in [
            (
                json!({"method": "GET", "url": "http://h/a b?c=é d#x"}),
                "http://h/a%20b?c=%C3%A9%20d",
            ),
            (
                json!({"method": "GET", "url": "http://h/a?b=%20"}),
                "http://h/a?b=%20",
            ),
            (
                json!({"method": "GET", "url": "http://h/a", "queryString": [{"name": "b", "value": "1 2"}, {"name": "c"}]}),
                "http://h/a?b=1%202&c=",
            ),
            (
                json!({"method": "GET", "url": "http://h/a", "queryString": [{"name": "b", "value": "1%202"}]}),
                "http://h/a?b=1%202",
            ),
            (
                json!({"method": "GET", "url": "http://h/a?", "queryString": [{"name": "b", "value": "1"}]}),
                "http://h/a?b=1",
            ),
            (
                json!({"method": "GET", "url": "http://h/a?b=1", "queryString": [{"name": "b", "value": "1"}]}),
                "http://h/a?b=1",
            ),
        ] {
            assert_eq!(request(given).url(), url);
        }
    }

    #[test]
    fn cookies_and_types_beside_the_fields_are_added() {
        let given = json!({"method": "POST", "url": "http://h/", "headers": null,
            "cookies": [{"name": "a", "value": "1"}, {"name": "b", "value": "2"}],
            "postData": {"mimeType": "text/plain", "text": "x"}});
        let given = request(given);
        let fields: Vec<String> = given
            .fields()
            .iter()
            .map(|(n, v)| format!("{n}: {v}"))
            .collect();
        assert_eq!(fields, ["Cookie: a=1; b=2", "Content-Type: text/plain"]);
    }

    #[test]
    fn pairs_of_a_form_are_decoded_once() {
        let form = |params: serde_json::Value| {
            let given = json!({"method": "POST", "url": "http://h/", "postData": {
                "mimeType": "application/x-www-form-urlencoded", "params": params}});
            match request(given).body() {
                Some(HarContent::Form(pairs)) => pairs,
                other => panic!("{other:?}"),
            }
        };
        let pair = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
        for (name, value, decoded) in [
            ("q", "a%20b", "a b"),
            ("q", "a%2Bb+c", "a+b c"),
            ("q", "a b%20", "a b%20"),
            ("q", "100%", "100%"),
            ("q", "a+b", "a+b"),
        ] {
            let params = json!([{"name": name, "value": value}]);
            assert_eq!(form(params), pair(name, decoded), "{value}");
        }
    }

    #[test]
    fn bodies_may_be_recorded_in_base64() {
        let given = json!({"method": "POST", "url": "http://h/",
            "postData": {"mimeType": "a/b", "text": "//8=", "encoding": "base64"}});
        assert_eq!(
            request(given).body(),
            Some(HarContent::Bytes(vec![255, 255]))
        );
    }
}
