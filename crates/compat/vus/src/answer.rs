//! The results of requests as the objects that scripts receive.

use crate::arguments::Arguments;
use crate::errand::{BodyForm, Outcome};
use crate::state::{Shared, version};
use crate::surroundings::Level;
use rquickjs::{Array, ArrayBuffer, Object, Result, Value};

/// The responses of a call. A request that failed is logged, or thrown if the script wants that.
pub(crate) fn responses<'js>(
    shared: &Shared,
    a: Arguments<'_, 'js>,
    outcomes: Vec<Outcome>,
) -> Result<Value<'js>> {
    let list = Array::new(a.ctx.clone())?;
    for (at, outcome) in outcomes.into_iter().enumerate() {
        if !outcome.error.is_empty() {
            let text = format!("Request Failed: {}: {}", outcome.address, outcome.error);
            if outcome.throws {
                return Err(a.mistake(&text));
            }
            shared.log(Level::Warning, &text, None);
        }
        list.set(at, response(a, outcome)?)?;
    }
    Ok(list.into_value())
}

fn response<'js>(a: Arguments<'_, 'js>, outcome: Outcome) -> Result<Object<'js>> {
    let object = Object::new(a.ctx.clone())?;
    object.set("status", outcome.status)?;
    object.set("status_text", status_text(outcome.status))?;
    object.set("url", outcome.address.as_str())?;
    object.set("proto", version(outcome.version))?;
    object.set("headers", headers(a, &outcome.fields)?)?;
    object.set("cookies", cookies(a, &outcome)?)?;
    object.set("timings", timings(a, &outcome)?)?;
    object.set("error", outcome.error.as_str())?;
    object.set("error_code", outcome.code)?;
    object.set("tls_version", "")?;
    object.set("tls_cipher_suite", "")?;
    let (ip, port) = match outcome.peer {
        Some(peer) if outcome.status != 0 => (peer.ip().to_string(), peer.port()),
        _ => (String::new(), 0),
    };
    object.set("remote_ip", ip)?;
    object.set("remote_port", port)?;
    object.set("request", request(a, &outcome)?)?;
    object.set("body", body(a, outcome)?)?;
    Ok(object)
}

fn body<'js>(a: Arguments<'_, 'js>, outcome: Outcome) -> Result<Value<'js>> {
    let ctx = a.ctx.clone();
    match outcome.body_form {
        _ if outcome.status == 0 => Ok(Value::new_null(ctx)),
        BodyForm::None => Ok(Value::new_null(ctx)),
        BodyForm::Binary => ArrayBuffer::new(ctx, outcome.body).map(ArrayBuffer::into_value),
        BodyForm::Text => {
            let text = String::from_utf8_lossy(&outcome.body);
            rquickjs::String::from_str(ctx, &text).map(rquickjs::String::into_value)
        }
    }
}

/// The fields by their names; several values of one name are joined.
pub(crate) fn headers<'js>(
    a: Arguments<'_, 'js>,
    fields: &[(String, Vec<u8>)],
) -> Result<Object<'js>> {
    let object = Object::new(a.ctx.clone())?;
    for (at, (name, value)) in fields.iter().enumerate() {
        let same = |other: &&(String, Vec<u8>)| other.0.eq_ignore_ascii_case(name);
        if fields[..at].iter().any(|other| same(&other)) {
            continue;
        }
        let mut text = String::from_utf8_lossy(value).into_owned();
        for (_, further) in fields[at + 1..].iter().filter(same) {
            text.push_str(", ");
            text.push_str(&String::from_utf8_lossy(further));
        }
        object.set(canonical(name), text)?;
    }
    Ok(object)
}

/// The name of a field with capital letters at the begin of its words.
fn canonical(name: &str) -> String {
    let mut text = name.to_ascii_lowercase().into_bytes();
    let mut is_start = true;
    for byte in &mut text {
        if is_start {
            byte.make_ascii_uppercase();
        }
        is_start = *byte == b'-';
    }
    String::from_utf8(text).unwrap_or_default()
}

/// The cookies that the response sets, by their names.
fn cookies<'js>(a: Arguments<'_, 'js>, outcome: &Outcome) -> Result<Object<'js>> {
    let object = Object::new(a.ctx.clone())?;
    let fields = outcome.fields.iter();
    for (_, value) in fields.filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie")) {
        let text = String::from_utf8_lossy(value);
        let mut parts = text.split(';').map(str::trim);
        let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else {
            continue;
        };
        let cookie = Object::new(a.ctx.clone())?;
        cookie.set("name", name)?;
        cookie.set("value", value)?;
        for attribute in ["domain", "path"] {
            cookie.set(attribute, "")?;
        }
        cookie.set("http_only", false)?;
        cookie.set("secure", false)?;
        cookie.set("max_age", 0)?;
        cookie.set("expires", -62_135_596_800_000_f64)?;
        for part in parts {
            let (attribute, value) = part.split_once('=').unwrap_or((part, ""));
            match attribute.to_ascii_lowercase().as_str() {
                "domain" => cookie.set("domain", value)?,
                "path" => cookie.set("path", value)?,
                "httponly" => cookie.set("http_only", true)?,
                "secure" => cookie.set("secure", true)?,
                "max-age" => cookie.set("max_age", value.parse::<f64>().unwrap_or(0.0))?,
                _ => {}
            }
        }
        let list: Option<Array<'js>> = object.get(name)?;
        match list {
            Some(list) => list.set(list.len(), cookie)?,
            None => {
                let list = Array::new(a.ctx.clone())?;
                list.set(0, cookie)?;
                object.set(name, list)?;
            }
        }
    }
    Ok(object)
}

fn timings<'js>(a: Arguments<'_, 'js>, outcome: &Outcome) -> Result<Object<'js>> {
    let object = Object::new(a.ctx.clone())?;
    let times = &outcome.timings;
    for (name, value) in [
        ("duration", times.duration()),
        ("blocked", times.blocked),
        ("looking_up", 0.0),
        ("connecting", times.connecting),
        ("tls_handshaking", times.tls),
        ("sending", times.sending),
        ("waiting", times.waiting),
        ("receiving", times.receiving),
    ] {
        object.set(name, value)?;
    }
    Ok(object)
}

/// The request that was sent last.
fn request<'js>(a: Arguments<'_, 'js>, outcome: &Outcome) -> Result<Object<'js>> {
    let object = Object::new(a.ctx.clone())?;
    object.set("url", outcome.address.as_str())?;
    let headers = Object::new(a.ctx.clone())?;
    let cookies = Object::new(a.ctx.clone())?;
    object.set(
        "method",
        outcome.hop.as_ref().map_or("", |hop| hop.method.as_str()),
    )?;
    if let Some(hop) = &outcome.hop {
        for header in &hop.headers {
            let value = String::from_utf8_lossy(header.value()).into_owned();
            headers.set(canonical(header.name()), vec![value])?;
        }
        for (name, value) in crate::jars::pairs(&outcome.cookies_sent) {
            let cookie = Object::new(a.ctx.clone())?;
            cookie.set("name", name)?;
            cookie.set("value", value)?;
            cookie.set("replace", false)?;
            cookies.set(name, vec![cookie])?;
        }
        let body = hop.body.as_deref().unwrap_or_default();
        object.set("body", String::from_utf8_lossy(body).into_owned())?;
    } else {
        object.set("body", "")?;
    }
    object.set("headers", headers)?;
    object.set("cookies", cookies)?;
    Ok(object)
}

/// The status with its words (RFC 9110 section 15, and the registry of statuses).
fn status_text(status: u16) -> String {
    let words = match status {
        0 => return String::new(),
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        206 => "Partial Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        410 => "Gone",
        413 => "Request Entity Too Large",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Entity",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        status => return status.to_string(),
    };
    format!("{status} {words}")
}
