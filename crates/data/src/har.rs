//! HTTP archives (HAR 1.2), as browsers record them: the members that say what was sent.

use crate::log_time;
use serde::Deserialize;

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
    /// The whole URL.
    pub url: String,
    /// Its header fields; of HTTP/2 the pseudo-fields, too.
    #[serde(default)]
    pub headers: Vec<HarPair>,
    /// Its body, where it had one.
    pub post_data: Option<HarBody>,
}

impl HarRequest {
    /// Whether it went over HTTP: there are `data:`, `blob:` and `wss:`, too.
    #[must_use]
    pub fn is_http(&self) -> bool {
        let scheme = self.url.split("://").next().unwrap_or_default();
        ["http", "https"]
            .iter()
            .any(|known| scheme.eq_ignore_ascii_case(known))
    }
}

/// A body.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HarBody {
    /// Its media type, or nothing.
    #[serde(default)]
    pub mime_type: String,
    /// Its text, where it was recorded.
    pub text: Option<String>,
    /// The fields of a form.
    #[serde(default)]
    pub params: Vec<HarPair>,
}

/// A name with a value.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HarPair {
    /// The name.
    pub name: String,
    /// The value; nothing where there is none.
    #[serde(default)]
    pub value: String,
    /// The file that was the value.
    pub file_name: Option<String>,
}
