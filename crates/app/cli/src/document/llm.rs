//! `drumfire llm`.

use super::{Written, document, flag_place, once, slo};
use crate::exit::Failure;
use crate::flags::LlmFlags;
use crate::random::random;
use crate::{bare_url, input};
use drumfire_document::{
    Ask, Diagnostic, Document, LlmSettings, Place, Placed, Pool, Request, Stop, Text,
};
use drumfire_plan::Url;
use drumfire_report::secret;
use std::path::Path;

/// The number of requests if no flag describes a load: a first try harms nobody.
const REQUESTS_DEFAULT: u64 = 10;
/// The bits of a nonce, which is short enough to be typed.
const NONCE_BITS: u32 = 40;

/// The ends of the APIs' paths, each with the API's name; the longest match counts.
const ENDS: &[(&str, &str)] = &[
    ("/chat/completions", "chat"),
    ("/completions", "completions"),
    ("/responses", "responses"),
    ("/messages", "messages"),
    ("/embeddings", "embeddings"),
    ("/rerank", "rerank"),
];

/// The document of the flags.
pub(crate) fn from_flags(flags: &LlmFlags) -> Result<Written, Failure> {
    let settings = &flags.load.settings;
    let mut notes = Vec::new();
    let mut document = document(settings)?;
    let server = Server::parse(&flags.url, settings.value("api"), &mut notes)?;
    let has_load = ["rate", "users", "connections", "speed"];
    let has_load = has_load.iter().any(|flag| settings.has(flag));
    let has_end = ["requests", "duration"]
        .iter()
        .any(|flag| settings.has(flag));
    for pool in &mut document.pools {
        if !has_load {
            pool.load.users = Some(made("1"));
        }
        server.apply_to(pool);
        let llm = &mut pool.llm;
        let given = llm.prompt.iter_mut().chain(&mut llm.messages.0);
        for text in given.chain(&mut llm.tools.0) {
            read_file(text)?;
        }
        if llm.key.is_none() {
            llm.key = key(server.api);
        }
        pool.requests = vec![Request::new(Ask::Llm(made("prompt")))];
        notes.extend(note(llm));
    }
    for given in &flags.slo {
        document.thresholds.push(slo::threshold(given)?);
    }
    if !has_load && !has_end {
        document.stop = Stop {
            requests: Some(Placed::new(REQUESTS_DEFAULT, Place::Nowhere)),
            ..document.stop
        };
    }
    let document = match flags.load.output.show {
        true => once(document),
        false => document,
    };
    Ok(Written {
        notes,
        ..document.into()
    })
}

/// Gives the document of a run a new nonce, unless it has one or sends no made-up prompts.
pub(crate) fn renew_prompts(document: &mut Document) -> Result<(), Failure> {
    let mut pools = document.pools.iter();
    let is_asked = pools.any(|pool| pool.every_request().any(|r| matches!(r.ask, Ask::Llm(_))));
    if !is_asked || document.generator.nonce.is_some() {
        return Ok(());
    }
    let bytes = random();
    let bytes =
        bytes.map_err(|error| Failure::failed(format!("can't read random bytes: {error}")))?;
    let (half, _) = bytes.split_at(size_of::<u64>());
    let nonce = half
        .iter()
        .fold(0, |nonce, byte| (nonce << 8) | u64::from(*byte));
    let nonce = nonce >> (u64::BITS - NONCE_BITS);
    document.generator.nonce = Some(Placed::new(nonce, Place::Nowhere));
    Ok(())
}

/// The server and its API, as the URL names them.
struct Server {
    /// The URL without a path.
    target: String,
    /// The API that the URL or a flag names.
    api: &'static str,
    /// The path of the API, if it is not the usual one.
    path: Option<String>,
}

impl Server {
    /// Parses a server's URL, a base that ends in a version, or the URL of an API.
    fn parse(given: &str, api: Option<&str>, notes: &mut Vec<String>) -> Result<Self, Failure> {
        let whole = bare_url::completed(given);
        if let Some(url) = &whole {
            let shown = secret::url(url);
            notes.push(format!(
                "a URL without a scheme was read as http://: {shown}"
            ));
        }
        let text = whole.as_deref().unwrap_or(given);
        let url = Url::parse(text).map_err(|error| Failure::usage(error.to_string()))?;
        let (path, query) = url
            .target
            .split_at(url.target.find('?').unwrap_or(url.target.len()));
        let base = path.trim_end_matches('/');
        let named = ENDS.iter().find(|(end, _)| base.ends_with(end));
        let asked = api.and_then(|api| ENDS.iter().find(|(_, name)| *name == api));
        let (end, name) = *asked.or(named).unwrap_or(&ENDS[0]);
        if let (Some((_, own)), Some((_, asked))) = (named, asked)
            && own != asked
        {
            let message = format!(
                "the URL is that of the API {own}; leave --api out, or give the server alone: {}",
                url.origin
            );
            return Err(Failure::usage(Diagnostic::new(
                &flag_place("llm.api"),
                message,
            )));
        }
        let is_version = |base: &str| {
            let last = base.rsplit('/').next().unwrap_or_default();
            let digits = last.strip_prefix('v');
            digits.is_some_and(|digits| digits.starts_with(|c: char| c.is_ascii_digit()))
        };
        let path = match base {
            _ if named.is_some() => format!("{base}{query}"),
            "" => format!("/v1{end}{query}"),
            base if is_version(base) => format!("{base}{end}{query}"),
            base => {
                let shown = base.escape_debug();
                let message = format!(
                    "the path `{shown}` is not that of an API; use the server alone ({}), a base \
                     such as {shown}/v1, or a whole path such as {shown}/v1/chat/completions",
                    url.origin
                );
                return Err(Failure::usage(message));
            }
        };
        let target = match &url.userinfo {
            None => url.origin.to_string(),
            // The text is kept as it was written, with its escapes.
            Some(_) => {
                let after = text.find("://").map_or(0, |at| at + 3);
                let end = text[after..].find(['/', '?', '#']);
                end.map_or(text, |end| &text[..after + end]).to_owned()
            }
        };
        Ok(Self {
            target,
            api: name,
            path: (path != format!("/v1{end}")).then_some(path),
        })
    }

    fn apply_to(&self, pool: &mut Pool) {
        pool.settings.reach.target = Some(made(&self.target));
        pool.llm.path = self.path.as_deref().map(made);
        // An unknown API was given with its flag, and the compiler refuses it.
        if pool.llm.api.is_none() && self.api != "chat" {
            pool.llm.api = Some(made(self.api));
        }
    }
}

fn made(text: &str) -> Text {
    Text::new(text.to_owned(), Place::Nowhere)
}

/// Replaces `@FILE` by the file's content. The printed plan has a reference to the file.
fn read_file(text: &mut Text) -> Result<(), Failure> {
    let Some(path) = text.value.strip_prefix('@').map(str::to_owned) else {
        return Ok(());
    };
    let wrong = |why: String| Failure::usage(Diagnostic::new(&text.place, why));
    let bytes = match path.as_str() {
        "-" => input::stdin(&text.place.to_string())?,
        path => {
            let read = input::read(Path::new(path));
            read.map_err(|error| wrong(format!("can't read {path}: {error}")))?
        }
    };
    let content = String::from_utf8(bytes);
    let content = content.map_err(|_| wrong(format!("{path} is not UTF-8 text")))?;
    if path != "-" {
        text.written = Some(format!("${{file:{path}}}").into());
    }
    text.value = content;
    Ok(())
}

/// The API key of the environment, if there is one. The printed plan has a reference to it.
fn key(api: &str) -> Option<Text> {
    let name = match api {
        "messages" => "ANTHROPIC_API_KEY",
        _ => "OPENAI_API_KEY",
    };
    let value = std::env::var(name).ok().filter(|value| !value.is_empty())?;
    Some(Text {
        written: Some(format!("${{secret:env:{name}}}").into()),
        ..made(&value)
    })
}

/// The note on a prompt that is the same for all requests.
fn note(llm: &LlmSettings) -> Option<String> {
    let given = llm.prompt.as_ref().or(llm.messages.0.as_ref())?;
    (!given.value.contains("{{")).then(|| {
        "each request sends the same prompt, which a server may answer from its cache; begin it \
         with {{uuid}} to prevent that"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::Server;

    #[test]
    fn a_server_is_found_in_any_part_of_its_url() {
        const H: &str = "http://h";
        for (given, api, target, name, path) in [
            (
                "localhost:8000",
                None,
                "http://localhost:8000",
                "chat",
                None,
            ),
            ("http://h:8000/", None, "http://h:8000", "chat", None),
            ("http://h/v1", None, H, "chat", None),
            ("http://h/v1/", Some("rerank"), H, "rerank", None),
            (
                "http://h/openai/v1",
                Some("responses"),
                H,
                "responses",
                Some("/openai/v1/responses"),
            ),
            ("http://h/v1/chat/completions", None, H, "chat", None),
            ("http://h/v1/completions", None, H, "completions", None),
            (
                "http://h/d/chat/completions?v=2",
                None,
                H,
                "chat",
                Some("/d/chat/completions?v=2"),
            ),
            (
                "http://h/?key=1",
                None,
                H,
                "chat",
                Some("/v1/chat/completions?key=1"),
            ),
            (
                "http://h/v1/messages",
                Some("messages"),
                H,
                "messages",
                None,
            ),
            (
                "https://a:b%40c@h/v1",
                None,
                "https://a:b%40c@h",
                "chat",
                None,
            ),
        ] {
            let server = Server::parse(given, api, &mut Vec::new());
            let server = server.unwrap_or_else(|failure| panic!("{given}: {}", failure.message));
            let found = (server.target.as_str(), server.api, server.path.as_deref());
            assert_eq!(found, (target, name, path), "{given}");
        }
    }

    #[test]
    fn a_url_without_an_api_is_refused() {
        for (given, api, part) in [
            ("http://h/api", None, "`/api` is not that of an API"),
            ("http://h/v1/completions", Some("chat"), "leave --api out"),
            ("nonsense", None, "write `http://nonsense`"),
        ] {
            let failure = Server::parse(given, api, &mut Vec::new()).err();
            let message = failure.map(|failure| failure.message).unwrap_or_default();
            assert!(message.contains(part), "{given}: {message}");
        }
    }
}
