//! Shots of ammo to requests of a document.

use super::ammo::{Ammo, Format, Source};
use super::decode::{self, CallShot, Shot};
use super::gun::{AutoTag, HttpGun, Way};
use super::lower::TOOL;
use super::scenario::method;
use drumfire_compile::Host;
use drumfire_plan::document::{Ask, Fields, Payload, Request};

/// The tag of ammo that has none.
pub(super) const NO_TAG: &str = "__EMPTY__";

/// The name by which Go's client calls itself.
const USER_AGENT: &str = "Go-http-client/1.1";
/// The same over HTTP/2.
const USER_AGENT_HTTP2: &str = "Go-http-client/2.0";

/// Methods whose empty body Go's client announces.
const ANNOUNCING: [&str; 3] = ["POST", "PUT", "PATCH"];

/// A larger file of ammo is not made a list of requests.
const FILE_BYTES_MAX: usize = 64 << 20;

/// The message where nothing is left to shoot.
const NO_AMMO: &str = "no ammo in file: there is none, or none with a chosen tag";

/// The HTTP requests of ammo, in their order.
///
/// # Errors
/// The mistake in the ammo.
pub(super) fn requests(
    ammo: &Ammo,
    gun: &HttpGun,
    host: &dyn Host,
) -> Result<Vec<Request>, String> {
    let shots = match &ammo.source {
        Source::Lines(lines) => decode::lines(lines)?,
        Source::File(path) => {
            let shots = decode::shots(ammo.format, &read(path, host)?);
            shots.map_err(|why| format!("{path}: {why}"))?
        }
    };
    let shots = shots.iter().filter(|shot| is_chosen(ammo, &shot.tag));
    let requests: Result<Vec<Request>, String> =
        shots.map(|shot| request(shot, ammo, gun)).collect();
    match requests? {
        requests if requests.is_empty() => Err(NO_AMMO.to_owned()),
        requests => Ok(requests),
    }
}

/// The gRPC calls of ammo, in their order.
///
/// # Errors
/// The mistake in the ammo.
pub(super) fn calls(ammo: &Ammo, host: &dyn Host) -> Result<Vec<Request>, String> {
    let Source::File(path) = &ammo.source else {
        return Err(NO_AMMO.to_owned());
    };
    let calls = decode::calls(&read(path, host)?);
    let calls = calls.map_err(|why| format!("{path}: {why}"))?;
    let calls = calls.iter().filter(|call| is_chosen(ammo, &call.tag));
    match calls.map(call).collect::<Vec<_>>() {
        calls if calls.is_empty() => Err(NO_AMMO.to_owned()),
        calls => Ok(calls),
    }
}

fn is_chosen(ammo: &Ammo, tag: &str) -> bool {
    ammo.chosen.is_empty() || ammo.chosen.iter().any(|chosen| chosen == tag)
}

fn read(path: &str, host: &dyn Host) -> Result<Vec<u8>, String> {
    let bytes = host.read(path);
    let bytes = bytes.map_err(|error| crate::go_text::open_failed(path, &error))?;
    match bytes.len() {
        0..=FILE_BYTES_MAX => Ok(bytes),
        _ => Err(format!(
            "{path}: files of more than 64 MiB can't be run by drumfire yet"
        )),
    }
}

/// A gRPC call.
fn call(shot: &CallShot) -> Request {
    let name = method(&shot.call);
    let mut request = Request::new(Ask::Call(TOOL.text("ammo", &name)));
    let metadata = shot.metadata.iter();
    let metadata = metadata.map(|(key, value)| TOOL.field("ammo", key, value));
    request.fields = Fields::Listed(metadata.collect());
    request.data.payload = Some(Payload::Text(TOOL.text("ammo", &shot.payload)));
    let tag = if shot.tag.is_empty() {
        NO_TAG
    } else {
        &shot.tag
    };
    request.name = Some(TOOL.text("ammo", &tag));
    request
}

/// An HTTP request.
fn request(shot: &Shot, ammo: &Ammo, gun: &HttpGun) -> Result<Request, String> {
    let uri = Uri::read(&shot.uri)?;
    let mut headers = fields(shot, ammo);
    if let Some(host) = uri.host.or(shot.host.as_deref()) {
        headers.retain(|(name, _)| !name.eq_ignore_ascii_case("host"));
        headers.push(("Host".to_owned(), host.to_owned()));
    }
    let url = match gun.way {
        Way::Http1 | Way::Http2 => uri.target.clone(),
        Way::Connect => tunnelled(&headers, &uri, gun)?,
    };
    complete(&mut headers, gun);
    let mut request = Request::new(Ask::Url {
        method: TOOL.text("ammo", &shot.method),
        url: TOOL.text("ammo", &url),
    });
    let fields = headers.iter();
    let fields = fields.map(|(name, value)| TOOL.field("ammo", &canonical(name), value));
    request.fields = Fields::Listed(fields.collect());
    let body = shot.body.as_deref().filter(|body| !body.is_empty());
    let announced = ANNOUNCING.contains(&&*shot.method).then_some(&[][..]);
    request.data.payload = body.or(announced).map(|body| TOOL.inline("ammo", body));
    let tag = tagged(&shot.tag, &uri.target, gun.auto_tag);
    request.name = Some(TOOL.text("ammo", &tag));
    Ok(request)
}

/// The URL of a request that goes through a tunnel, to the host that the ammo names.
fn tunnelled(headers: &[(String, String)], uri: &Uri<'_>, gun: &HttpGun) -> Result<String, String> {
    let mut hosts = headers.iter();
    let host = hosts.find(|(name, _)| name.eq_ignore_ascii_case("host"));
    let (_, host) = host.ok_or("through `connect`, ammo needs a host: write http://HOST/PATH")?;
    let scheme = if gun.tls { "https" } else { "http" };
    Ok(format!("{scheme}://{host}{}", uri.target))
}

/// The header fields: with URIs those of the configuration stand above those of the file, with
/// whole requests below them.
fn fields(shot: &Shot, ammo: &Ammo) -> Vec<(String, String)> {
    let has = |headers: &[(String, String)], name: &str| {
        let mut headers = headers.iter();
        headers.any(|(known, _)| known.eq_ignore_ascii_case(name))
    };
    let mut headers = shot.headers.clone();
    match ammo.format {
        Format::Uri | Format::UriPost => {
            for (name, value) in &ammo.headers {
                headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
                headers.push((name.clone(), value.clone()));
            }
        }
        _ => {
            let given = ammo.headers.iter();
            let more = given.filter(|(name, _)| !has(&shot.headers, name));
            headers.extend(more.cloned());
        }
    }
    // They follow from the body.
    headers.retain(|(name, _)| {
        !name.eq_ignore_ascii_case("content-length")
            && !name.eq_ignore_ascii_case("transfer-encoding")
    });
    headers
}

/// A field's name as Go's client spells it: `Content-Type`.
pub(super) fn canonical(name: &str) -> String {
    let mut first = true;
    let spelled = name.chars().map(|c| {
        let spelled = match first {
            true => c.to_ascii_uppercase(),
            false => c.to_ascii_lowercase(),
        };
        first = c == '-';
        spelled
    });
    spelled.collect()
}

/// Adds the fields that Go's client sends where they are not given.
pub(super) fn complete(headers: &mut Vec<(String, String)>, gun: &HttpGun) {
    let lacks = |headers: &[(String, String)], name: &str| {
        let mut headers = headers.iter();
        !headers.any(|(known, _)| known.eq_ignore_ascii_case(name))
    };
    if lacks(headers, "host") {
        let (host, _) = gun.target.rsplit_once(':').unwrap_or((&gun.target, ""));
        headers.push(("Host".to_owned(), host.to_owned()));
    }
    if lacks(headers, "user-agent") {
        let agent = match gun.way {
            Way::Http2 => USER_AGENT_HTTP2,
            Way::Http1 | Way::Connect => USER_AGENT,
        };
        headers.push(("User-Agent".to_owned(), agent.to_owned()));
    }
}

/// A URI of ammo: its host, where it names one, and what is asked for there.
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
            return Err(format!("`{shown}` names no host"));
        }
        Ok(Self { host, target })
    }
}

/// The tag of ammo, with what is made of its path.
fn tagged(tag: &str, target: &str, auto: Option<AutoTag>) -> String {
    let Some(auto) = auto else {
        return if tag.is_empty() { NO_TAG } else { tag }.to_owned();
    };
    let made = auto_tag(target, auto.elements);
    match (tag, auto.untagged_only) {
        ("", _) => made,
        (tag, true) => tag.to_owned(),
        (tag, false) => format!("{tag}|{made}"),
    }
}

/// The first elements of a path, each with its slash.
fn auto_tag(target: &str, elements: u64) -> String {
    let path = target.split('?').next().unwrap_or_default();
    let elements = usize::try_from(elements).unwrap_or(usize::MAX);
    let slashes = path.match_indices('/').map(|(at, _)| at);
    let end = slashes.skip(1).nth(elements - 1).unwrap_or(path.len());
    path[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pandora's own table, `components/guns/http/base_test.go`.
    #[test]
    fn tags_are_the_first_elements_of_a_path() {
        for (target, elements, wanted) in [
            ("/my/very/deep/page?id=23&param=33", 2, "/my/very"),
            ("/my/very/deep/page?id=23&param=33", 3, "/my/very/deep"),
            ("/my", 2, "/my"),
            ("/my/", 2, "/my/"),
            ("/", 2, "/"),
            ("/my/very", 1, "/my"),
            ("/?a=/b/c", 2, "/"),
        ] {
            assert_eq!(auto_tag(target, elements), wanted, "{target}");
        }
        let auto = |untagged_only| {
            Some(AutoTag {
                elements: 1,
                untagged_only,
            })
        };
        assert_eq!(tagged("", "/a/b", None), NO_TAG);
        assert_eq!(tagged("t", "/a/b", None), "t");
        assert_eq!(tagged("", "/a/b", auto(true)), "/a");
        assert_eq!(tagged("t", "/a/b", auto(true)), "t");
        assert_eq!(tagged("t", "/a/b", auto(false)), "t|/a");
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
