//! Turns ammo into files of requests, and adds the fields of Go's client.

use super::TOOL;
use super::ammo::{Ammo, Format, Source};
use super::gun::{HttpGun, Way};
use super::zone;
use crate::go_http::{canonical, untemplated};
use drumfire_compile::Host;
use drumfire_data::{
    Ammo as Entries, AmmoData, AmmoField, AmmoFormat, AmmoOptions, AmmoPick, AutoTag, Precedence,
    ReadAt,
};
use drumfire_document::{Ammo as Written, Ask, Field, Fields, Payload, Request};
use drumfire_plan::{
    DataError, Method, Pick as _, RenderedFields, RequestContext, RequestData as _,
};
use serde_json::Value;
use std::sync::Arc;

/// The tag of ammo without a tag.
pub(super) const NO_TAG: &str = "__EMPTY__";

/// The User-Agent of Go's client.
pub(super) const USER_AGENT: &str = "Go-http-client/1.1";
/// The User-Agent of Go's client over HTTP/2.
const USER_AGENT_HTTP2: &str = "Go-http-client/2.0";

/// The maximum number of requests through tunnels. They are listed individually, because each may
/// have a different host.
const TUNNELLED_MAX: u64 = 1_000_000;

/// The number of bytes of a file that are searched for the fields of its first entry.
const BEGINNING_BYTES: usize = 16 << 10;

/// The HTTP requests of ammo, in order: one request for a file, or a list of requests through
/// tunnels.
///
/// # Errors
/// The mistake in the ammo.
pub(super) fn requests(
    ammo: &Ammo,
    gun: &HttpGun,
    host: &dyn Host,
) -> Result<Vec<Request>, String> {
    if gun.way == Way::Connect {
        return tunnelled(ammo, gun, host);
    }
    let mut written = written(ammo, host)?;
    if let Some(auto) = gun.auto_tag {
        written.auto_tag = Some(TOOL.count("auto-tag", auto.elements));
        written.auto_tag_all = (!auto.untagged_only).then(|| TOOL.switch("auto-tag", true));
    }
    let mut request = representative(written);
    let mut fields: Vec<Field> = Vec::new();
    let varies = !ammo.dates.is_empty();
    let planned = planned(ammo).into_iter();
    for (name, value) in planned.filter(|(name, _)| gun.sends(name)) {
        let value = match varies {
            true => untemplated(&value),
            false => value,
        };
        fields.push(TOOL.field("headers", &canonical(&name), &value));
    }
    for date in &ammo.dates {
        let value = zone::dated(&date.location, host);
        let value = value.ok_or_else(|| format!("unknown time zone {}", date.location))?;
        fields.push(TOOL.field("middlewares", &canonical(&date.name), &value));
    }
    request.fields = Fields::Listed(fields);
    request.data.templates = varies.then(|| TOOL.text("middlewares", &"jinja"));
    Ok(vec![request])
}

/// Notes on headers of the configuration that are not sent.
pub(super) fn notes(ammo: &Ammo, gun: &HttpGun) -> Vec<String> {
    let headers = planned(ammo).into_iter();
    headers
        .filter_map(|(name, _)| gun.note("ammo.headers", &name))
        .collect()
}

/// Whether the first request of ammo closes its connection. All requests are then assumed to close
/// it.
///
/// # Errors
/// If the file can't be read.
pub(super) fn closes(ammo: &Ammo, host: &dyn Host) -> Result<bool, String> {
    let is_connection = |name: &str, value: &str, wanted: &str| {
        name.trim().eq_ignore_ascii_case("connection") && value.trim().eq_ignore_ascii_case(wanted)
    };
    let is_close = |name: &str, value: &str| is_connection(name, value, "close");
    let mut given = ammo.headers.iter();
    if given.any(|(name, value)| is_close(name, value)) {
        return Ok(true);
    }
    let path = match &ammo.source {
        Source::File(path) => path,
        Source::Lines(lines) => {
            return Ok(stands_in(lines.iter().map(|line| line.trim()), is_close));
        }
    };
    let read = host.open(path).and_then(|source| {
        let mut bytes = vec![0; BEGINNING_BYTES];
        let read = source.read_at(0, &mut bytes)?;
        bytes.truncate(read);
        Ok(bytes)
    });
    let bytes = read.map_err(|error| crate::go_text::open_failed(path, &error))?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(match ammo.format {
        Format::Uri | Format::UriPost => stands_in(text.lines().map(str::trim), is_close),
        Format::Raw => {
            let end = text.find("\r\n\r\n").unwrap_or(text.len());
            let mut head = text[..end].lines().skip(1).map(str::trim);
            let is_old = head.next().is_some_and(|line| line.ends_with(" HTTP/1.0"));
            let said = head.clone().filter_map(|line| line.split_once(':'));
            let says = |wanted: &str| {
                let mut said = said.clone();
                said.any(|(name, value)| is_connection(name, value, wanted))
            };
            says("close") || is_old && !says("keep-alive")
        }
        Format::JsonLine => {
            let mut values = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
            let first = values.next().and_then(Result::ok);
            let headers = first
                .as_ref()
                .and_then(|first| first["headers"].as_object());
            let mut headers = headers.into_iter().flatten();
            headers.any(|(name, value)| is_close(name, value.as_str().unwrap_or_default()))
        }
        Format::GrpcJson | Format::HttpScenario | Format::GrpcScenario => false,
    })
}

/// Whether a matching field is in brackets before the first entry.
fn stands_in<'a>(lines: impl Iterator<Item = &'a str>, is_it: impl Fn(&str, &str) -> bool) -> bool {
    let lines = lines.filter(|line| !line.is_empty());
    let mut standing = lines.take_while(|line| line.starts_with('['));
    standing.any(|line| {
        let field = line.trim_matches(['[', ']']).split_once(':');
        field.is_some_and(|(name, value)| is_it(name, value))
    })
}

/// The gRPC calls of ammo.
///
/// # Errors
/// If the file can't be read.
pub(super) fn calls(ammo: &Ammo, host: &dyn Host) -> Result<Request, String> {
    Ok(representative(written(ammo, host)?))
}

/// A request that represents every entry.
fn representative(written: Written) -> Request {
    let mut request = Request::new(Ask::Ammo(Box::new(written)));
    request.name = Some(TOOL.text("ammo", &NO_TAG));
    request
}

/// A file of requests.
fn written(ammo: &Ammo, host: &dyn Host) -> Result<Written, String> {
    let (file, lines) = match &ammo.source {
        Source::File(path) => {
            let opened = host.open(path);
            opened.map_err(|error| crate::go_text::open_failed(path, &error))?;
            (TOOL.text("file", path), Vec::new())
        }
        Source::Lines(lines) => {
            let lines = lines.iter().map(|line| TOOL.text("uris", line));
            (TOOL.text("uris", &Written::LINES), lines.collect())
        }
    };
    let count = |name, count| (count > 0).then(|| TOOL.count(name, count));
    let chosen = ammo.chosen.iter();
    Ok(Written {
        file,
        lines,
        format: Some(TOOL.text(
            "type",
            &match ammo.format {
                Format::Uri => "uri",
                Format::UriPost => "uripost",
                Format::Raw => "raw",
                Format::JsonLine => "jsonline",
                Format::GrpcJson | Format::HttpScenario | Format::GrpcScenario => Written::CALLS,
            },
        )),
        limit: count("limit", ammo.limit),
        passes: count("passes", ammo.passes),
        chosen: chosen.map(|tag| TOOL.text("chosencases", tag)).collect(),
        override_headers: stands_above(ammo).then(|| TOOL.switch("headers", true)),
        preload: ammo.preload.then(|| TOOL.switch("preload", true)),
        ..Written::default()
    })
}

/// Whether the configuration's fields override the file's.
const fn stands_above(ammo: &Ammo) -> bool {
    matches!(ammo.format, Format::Uri | Format::UriPost)
}

/// The fields of the configuration, without those that follow from the body.
fn planned(ammo: &Ammo) -> Vec<(String, String)> {
    let mut headers: Vec<(String, String)> = Vec::new();
    for (name, value) in &ammo.headers {
        if stands_above(ammo) {
            headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        }
        headers.push((name.clone(), value.clone()));
    }
    headers.retain(|(name, _)| {
        !name.eq_ignore_ascii_case("content-length")
            && !name.eq_ignore_ascii_case("transfer-encoding")
    });
    headers
}

/// Ammo whose `limit` counts only the chosen entries. In the configuration, `limit` counts all
/// entries that are read, over repeated passes.
///
/// # Errors
/// The mistake in the ammo.
pub(super) fn limited(ammo: &Ammo, gun: &HttpGun, host: &dyn Host) -> Result<Ammo, String> {
    let mut limited = ammo.clone();
    if ammo.limit == 0 || ammo.chosen.is_empty() {
        return Ok(limited);
    }
    let all = Ammo {
        chosen: Vec::new(),
        ..ammo.clone()
    };
    let entries = entries(&all, gun, host)?;
    let pick = AmmoPick(Arc::clone(&entries));
    let is_chosen = |row: &u64| {
        let class = &entries.classes()[pick.pick(*row) as usize];
        ammo.chosen.contains(&class.name)
    };
    let chosen = |rows: u64| (0..rows).filter(is_chosen).count() as u64;
    let (passes, rest) = (ammo.limit / entries.rows(), ammo.limit % entries.rows());
    let whole = if passes > 0 {
        chosen(entries.rows())
    } else {
        0
    };
    limited.limit = passes.saturating_mul(whole).saturating_add(chosen(rest));
    if limited.limit == 0 {
        return Err("chosencases: no entry within `limit` has such a tag".to_owned());
    }
    Ok(limited)
}

/// The entries of ammo.
fn entries(ammo: &Ammo, gun: &HttpGun, host: &dyn Host) -> Result<Arc<Entries>, String> {
    let source: Arc<dyn ReadAt> = match &ammo.source {
        Source::File(path) => {
            let opened = host.open(path);
            opened.map_err(|error| crate::go_text::open_failed(path, &error))?
        }
        Source::Lines(lines) => Arc::new(lines.join("\n").into_bytes()),
    };
    let read = Entries::read(source, options(ammo, gun));
    read.map(Arc::new)
        .map_err(|error| format!("{}: {error}", place(ammo)))
}

/// The name of the ammo's source in messages.
fn place(ammo: &Ammo) -> &str {
    match &ammo.source {
        Source::File(path) => path,
        Source::Lines(_) => "uris",
    }
}

/// Requests through tunnels, each to the host in its entry.
fn tunnelled(ammo: &Ammo, gun: &HttpGun, host: &dyn Host) -> Result<Vec<Request>, String> {
    let entries = entries(ammo, gun, host)?;
    let wrong = |error: String| format!("{}: {error}", place(ammo));
    if entries.rows() > TUNNELLED_MAX {
        let message = format!("at most {TUNNELLED_MAX} requests can be sent through `connect`");
        return Err(wrong(message));
    }
    let rows = 0..entries.rows();
    rows.map(|row| through_tunnel(&entries, row, gun).map_err(wrong))
        .collect()
}

/// The options for reading entries that go through tunnels.
fn options(ammo: &Ammo, gun: &HttpGun) -> AmmoOptions {
    let precedence = match stands_above(ammo) {
        true => Precedence::Plan,
        false => Precedence::File,
    };
    let field = |(name, value)| AmmoField::fixed(name, value, precedence);
    AmmoOptions {
        format: match ammo.format {
            Format::UriPost => AmmoFormat::UriPost,
            Format::Raw => AmmoFormat::Raw,
            Format::JsonLine => AmmoFormat::JsonLine,
            _ => AmmoFormat::Uri,
        },
        chosen: ammo.chosen.clone(),
        fields: planned(ammo).into_iter().map(field).collect(),
        name: Some(NO_TAG.to_owned()),
        auto_tag: gun.auto_tag.map(|auto| AutoTag {
            elements: usize::try_from(auto.elements).unwrap_or(usize::MAX),
            beside: !auto.untagged_only,
        }),
        ..AmmoOptions::default()
    }
}

/// One request through a tunnel.
fn through_tunnel(entries: &Arc<Entries>, row: u64, gun: &HttpGun) -> Result<Request, String> {
    let told = |error: DataError| error.words;
    let class = AmmoPick(Arc::clone(entries)).pick(row) as usize;
    let data = AmmoData::new(Arc::clone(entries), class);
    let context = RequestContext {
        arrival: row,
        ..RequestContext::default()
    };
    let mut target = String::new();
    data.target(&context, &mut target).map_err(told)?;
    let mut fields = RenderedFields::default();
    data.fields(&context, &mut fields).map_err(told)?;
    let mut headers: Vec<(String, String)> = Vec::new();
    for (name, value) in fields.iter() {
        headers.push((name.to_owned(), value.to_owned()));
    }
    let host = headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("host"));
    // A request without a host goes to the proxy itself, as in the original.
    let host = host.map_or(&gun.target, |(_, host)| host);
    let scheme = if gun.tls { "https" } else { "http" };
    let url = format!("{scheme}://{host}{target}");
    complete(&mut headers, gun);
    let class = &entries.classes()[class];
    let mut request = Request::new(Ask::Url {
        method: TOOL.text("ammo", &class.method),
        url: TOOL.text("ammo", &url),
    });
    let fields = headers.iter();
    let fields = fields.map(|(name, value)| TOOL.field("ammo", &canonical(name), value));
    request.fields = Fields::Listed(fields.collect());
    let mut body = Vec::new();
    data.message(&context, 0, &mut body).map_err(told)?;
    let is_sent = !body.is_empty() || Method::announces_content(&class.method);
    request.data.payload = is_sent.then(|| -> Payload { TOOL.inline("ammo", &body) });
    request.name = Some(TOOL.text("ammo", &class.name));
    Ok(request)
}

/// Adds the fields that Go's client sends by default, if they are missing.
pub(super) fn complete(headers: &mut Vec<(String, String)>, gun: &HttpGun) {
    let lacks = |headers: &[(String, String)], name: &str| {
        let mut headers = headers.iter();
        !headers.any(|(known, _)| known.eq_ignore_ascii_case(name))
    };
    for (name, value) in defaults(gun) {
        if lacks(headers, name) {
            headers.push((name.to_owned(), value.to_owned()));
        }
    }
}

/// The default fields.
pub(super) fn defaults(gun: &HttpGun) -> [(&'static str, &str); 2] {
    let (host, _) = gun.target.rsplit_once(':').unwrap_or((&gun.target, ""));
    let agent = match gun.way {
        Way::Http2 => USER_AGENT_HTTP2,
        Way::Http1 | Way::Connect => USER_AGENT,
    };
    [("Host", host), ("User-Agent", agent)]
}

/// A URI of ammo: its host, if it has one, and the path and query.
pub(super) struct Uri<'a> {
    pub(super) host: Option<&'a str>,
    pub(super) target: String,
}

impl<'a> Uri<'a> {
    pub(super) fn read(text: &'a str) -> Result<Self, String> {
        let (host, rest) = match text.split_once("://") {
            Some((scheme, rest)) if ["http", "https"].contains(&scheme) => {
                let end = rest.find(['/', '?']).unwrap_or(rest.len());
                (Some(&rest[..end]), &rest[end..])
            }
            _ => (None, text),
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let target = match rest.starts_with('/') {
            true => rest.to_owned(),
            false => format!("/{rest}"),
        };
        if host == Some("") {
            let shown = text.escape_debug();
            return Err(format!("`{shown}` has no host"));
        }
        Ok(Self { host, target })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_document::Environment;

    /// A file of ammo.
    #[derive(Debug)]
    struct One(&'static str);

    impl Environment for One {
        fn read(&self, _: &str) -> std::io::Result<Vec<u8>> {
            Ok(self.0.as_bytes().to_vec())
        }
    }

    impl Host for One {}

    #[test]
    fn an_old_request_ends_its_connection_unless_it_keeps_it() {
        for (head, ends) in [
            ("9\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", false),
            ("9\nGET / HTTP/1.1\r\nConnection: close\r\n\r\n", true),
            ("9\nGET / HTTP/1.0\r\nHost: h\r\n\r\n", true),
            ("9\nGET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", false),
            ("9\nGET / HTTP/1.0\r\nConnection: close\r\n\r\n", true),
        ] {
            let ammo = Ammo {
                format: Format::Raw,
                source: Source::File("a.raw".to_owned()),
                headers: Vec::new(),
                limit: 0,
                passes: 0,
                chosen: Vec::new(),
                preload: false,
                lenient: false,
                dates: Vec::new(),
            };
            assert_eq!(closes(&ammo, &One(head)), Ok(ends), "{head}");
        }
    }

    #[test]
    fn a_uri_names_a_host_or_a_path() {
        for (text, host, target) in [
            ("/a?b=c", None, "/a?b=c"),
            ("http://h:8/x", Some("h:8"), "/x"),
            ("https://h?x", Some("h"), "/?x"),
            ("http://h", Some("h"), "/"),
            ("a/b", None, "/a/b"),
            ("/a#b", None, "/a"),
            ("/a?u=http://x/", None, "/a?u=http://x/"),
        ] {
            let uri = Uri::read(text).unwrap();
            assert_eq!((uri.host, uri.target.as_str()), (host, target), "{text}");
        }
        assert!(Uri::read("http:///x").is_err());
    }
}
