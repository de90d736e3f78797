//! The arguments of requests, as `prelude.js` writes them: a list for each.

use crate::arguments::{Arguments, pairs};
use crate::errand::{BodyForm, Errand, Expected, Hop, OwnCookie};
use crate::state::{Shared, expected};
use drumfire_k6::parse_duration;
use drumfire_plan::{Header, Method, Url};
use drumfire_realm::buffer_bytes;
use drumfire_units::Nanos;
use rquickjs::{Array, Result, Value};

/// The time for a request if the script gives none.
const TIMEOUT: Nanos = Nanos::from_secs(60);

/// The places of what a list has.
mod place {
    pub(super) const METHOD: usize = 0;
    pub(super) const URL: usize = 1;
    pub(super) const NAME: usize = 2;
    pub(super) const BODY: usize = 3;
    pub(super) const TYPE: usize = 4;
    pub(super) const HEADERS: usize = 5;
    pub(super) const TAGS: usize = 6;
    pub(super) const TIMEOUT: usize = 7;
    pub(super) const REDIRECTS: usize = 8;
    pub(super) const FORM: usize = 9;
    pub(super) const COOKIES: usize = 10;
    pub(super) const JAR: usize = 11;
    pub(super) const THROW: usize = 12;
    pub(super) const STATUSES: usize = 14;
}

/// The requests of a call.
pub(super) fn errands(shared: &Shared, a: Arguments<'_, '_>) -> Result<Vec<Errand>> {
    let list = a.value(0);
    let list = list.as_array().ok_or_else(|| a.mistake("no requests"))?;
    let requests = list.iter::<Array<'_>>();
    requests
        .map(|request| errand(shared, a, &request?))
        .collect()
}

pub(super) fn errand(shared: &Shared, a: Arguments<'_, '_>, list: &Array<'_>) -> Result<Errand> {
    let settings = shared.settings.borrow();
    let address: String = list.get(place::URL)?;
    let timeout: Option<String> = optional(list, place::TIMEOUT)?;
    let timeout = match timeout {
        None => TIMEOUT,
        Some(text) => parse_duration(&text).map_err(|message| a.mistake(&message))?,
    };
    let redirects: Option<f64> = optional(list, place::REDIRECTS)?;
    let form: Option<String> = optional(list, place::FORM)?;
    let body_form = match form.as_deref() {
        None if settings.drops_bodies => BodyForm::None,
        None | Some("text") => BodyForm::Text,
        Some("binary") => BodyForm::Binary,
        Some(_) => BodyForm::None,
    };
    let cookies = match optional::<Array<'_>>(list, place::COOKIES)? {
        None => Vec::new(),
        Some(list) => own_cookies(&list)?,
    };
    let (user_agent, throws) = (settings.user_agent.clone(), settings.throws);
    let redirects_max = settings.redirects_max;
    drop(settings);
    Ok(Errand {
        hop: hop(a, list, &address, &user_agent)?,
        name: optional(list, place::NAME)?,
        tags: pairs(&list.get(place::TAGS)?)?,
        timeout,
        redirects: redirects.map_or(redirects_max, |number| number.max(0.0) as u32),
        limits_redirects: redirects.is_some(),
        body_form,
        cookies,
        jar: optional::<f64>(list, place::JAR)?.unwrap_or(0.0) as usize,
        throws: optional(list, place::THROW)?.unwrap_or(throws),
        expected: statuses(&list.get(place::STATUSES)?)?,
        address,
    })
}

fn optional<'js, T: rquickjs::FromJs<'js>>(list: &Array<'js>, at: usize) -> Result<Option<T>> {
    let value: Value<'js> = list.get(at)?;
    if value.is_undefined() || value.is_null() {
        return Ok(None);
    }
    value.get().map(Some)
}

fn own_cookies(list: &Array<'_>) -> Result<Vec<OwnCookie>> {
    let thirds = (0..list.len()).step_by(3);
    thirds
        .map(|at| {
            Ok(OwnCookie {
                name: list.get(at)?,
                value: list.get(at + 1)?,
                replaces: !list.get::<String>(at + 2)?.is_empty(),
            })
        })
        .collect()
}

/// The statuses that a request may have: `null` for any.
fn statuses(value: &Value<'_>) -> Result<Expected> {
    let Some(list) = value.as_array() else {
        return Ok(if value.is_null() {
            Expected::Any
        } else {
            expected()
        });
    };
    let mut ranges = Vec::new();
    for at in (0..list.len()).step_by(2) {
        let bound = |at: usize| Ok::<u16, rquickjs::Error>(list.get::<f64>(at)? as u16);
        ranges.push((bound(at)?, bound(at + 1)?));
    }
    Ok(Expected::Ranges(ranges))
}

/// The first request; in case of a wrong URL the text and the code of the error.
fn hop(
    a: Arguments<'_, '_>,
    list: &Array<'_>,
    address: &str,
    user_agent: &str,
) -> Result<std::result::Result<Hop, (String, u32)>> {
    let url = match Url::parse(address) {
        Ok(url) if address.contains("://") => url,
        Ok(_) => {
            let error = format!("unsupported protocol scheme \"\" in \"{address}\"");
            return Ok(Err((error, 1000)));
        }
        Err(error) => return Ok(Err((format!("invalid URL: {}", error.message), 1020))),
    };
    let method: String = list.get(place::METHOD)?;
    let method = Method::parse(&method).map_err(|error| a.mistake(&error.to_string()))?;
    let body: Value<'_> = list.get(place::BODY)?;
    let body = match body.as_string() {
        Some(text) => Some(text.to_string()?.into_bytes()),
        None => buffer_bytes(&body),
    };
    let mut headers = Vec::new();
    for (name, value) in pairs(&list.get(place::HEADERS)?)? {
        if name.eq_ignore_ascii_case("content-length") {
            continue;
        }
        let header = Header::new(&canonical(&name), value.as_bytes());
        headers.push(header.map_err(|error| a.mistake(&error.to_string()))?);
    }
    let mut default = |name: &str, value: &str| {
        if !headers.iter().any(|header: &Header| header.is(name))
            && let Ok(header) = Header::new(name, value.as_bytes())
        {
            headers.push(header);
        }
    };
    if let Some(own) = optional::<String>(list, place::TYPE)? {
        default("Content-Type", &own);
    }
    default("User-Agent", user_agent);
    Ok(Ok(Hop {
        shown: without_credentials(address),
        url,
        method,
        headers,
        body: body.map(Into::into),
    }))
}

/// The text of a URL without user and password.
fn without_credentials(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else {
        return address.to_owned();
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        None => address.to_owned(),
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]),
    }
}

/// The name of a field with capital letters at the begin of its words.
fn canonical(name: &str) -> String {
    let mut is_start = true;
    let letters = name.chars().map(|letter| {
        let own = if is_start {
            letter.to_ascii_uppercase()
        } else {
            letter.to_ascii_lowercase()
        };
        is_start = letter == '-';
        own
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_credentials() {
        assert_eq!(canonical("x-a-TOKEN"), "X-A-Token");
        for (given, shown) in [
            ("http://u:p@a.test/x@y", "http://a.test/x@y"),
            ("http://a.test?q=@", "http://a.test?q=@"),
        ] {
            assert_eq!(without_credentials(given), shown);
        }
    }
}
