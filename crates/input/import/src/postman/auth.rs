//! The authentication of a request.

use super::{EnabledPair, Reader, TextUse, pairs};
use crate::exchange::{Exchange, Words};
use crate::library::Node;
use crate::shape::shown;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_plan::Header;

/// The kinds of authentication that a plan has, and their keys. Further keys of `oauth2` define how
/// Postman fetches a token.
const KEYS: [(&str, &[&str]); 3] = [
    ("apikey", &["in", "key", "value"]),
    (
        "basic",
        &["password", "saveHelperData", "showPassword", "username"],
    ),
    ("bearer", &["token"]),
];

/// A credential of the client: a field of the header or the query.
struct ClientCredential {
    place: &'static str,
    field: String,
    value: Words,
}

impl Reader {
    /// Adds the client's credentials.
    pub(super) fn auth(&mut self, exchange: &mut Exchange, auth: Node<'_>) {
        let Some(kind) = auth.get("type").str() else {
            if auth.value().is_object() {
                let finding = "an authentication without a `type` is left out".to_owned();
                self.all.notes.add_at(finding, || auth.place());
            }
            return;
        };
        let own = pairs(auth.get(kind));
        let known = KEYS.iter().find(|(known, _)| *known == kind);
        for pair in &own {
            if known.is_some_and(|(_, keys)| !keys.contains(&pair.key.as_str())) {
                let finding = format!(
                    "`{}` of the authentication by `{kind}` is not read",
                    shown(&pair.key)
                );
                self.note_here(finding);
            }
        }
        let Some(proof) = self.proof(kind, &own) else {
            return;
        };
        let ClientCredential {
            place,
            field,
            value,
        } = proof;
        if place == "query" {
            let pair = self.plan_words(&field, TextUse::Url);
            let url = exchange.url.in_plan();
            let sign = if url.contains('?') { '&' } else { '?' };
            exchange.url = Words::Plan(format!("{url}{sign}{pair}={}", value.in_plan()));
            return;
        }
        let request = exchange.name.clone().unwrap_or_default();
        let Some(field) = self.fixed_or_note(&field, "header", &request) else {
            return;
        };
        if Header::new(&field, b"").is_err() {
            let finding =
                "a key of an authentication is left out: a header can't have its name".to_owned();
            let place = || format!("`{}` of {}", shown(&field), shown(&request));
            return self.all.notes.add_at(finding, place);
        }
        if exchange.has(&field) {
            let finding = "a header is left out, because the authentication replaces it".to_owned();
            let place = || format!("`{}` of {}", shown(&field), shown(&request));
            self.all.notes.add_at(finding, place);
            exchange
                .headers
                .retain(|(name, _)| !name.eq_ignore_ascii_case(&field));
        }
        exchange.headers.push((field, value));
    }

    /// Adds a note at the request that is read.
    fn note_here(&mut self, finding: String) {
        let place = self.place.clone();
        self.all.notes.add_at(finding, || place);
    }

    /// The credential that an authentication sends.
    fn proof(&mut self, kind: &str, own: &[EnabledPair<'_>]) -> Option<ClientCredential> {
        let value = |key: &str| {
            let found = own.iter().find(|pair| pair.key == key);
            found.map(EnabledPair::text).unwrap_or_default()
        };
        let authorization = |value: Words| ClientCredential {
            place: "header",
            field: "Authorization".to_owned(),
            value,
        };
        let secret = |scheme: &str, variable: &str| {
            Words::Plan(format!("{scheme} ${{secret:env:{variable}:-none-yet}}"))
        };
        Some(match kind {
            "noauth" => return None,
            "bearer" if value("token").is_empty() => {
                let finding = "a bearer authentication has no token, so the plan sends none";
                self.note_here(finding.to_owned());
                return None;
            }
            "bearer" => authorization(self.words(&format!("Bearer {}", value("token")))),
            "basic" => {
                let pair = format!("{}:{}", value("username"), value("password"));
                match self.fixed(&pair) {
                    Some(pair) => {
                        authorization(Words::Plain(format!("Basic {}", STANDARD.encode(pair))))
                    }
                    None => {
                        self.all.note(
                            "basic authentication has variables without a value; the plan reads \
                             `user:password` in base64 from the environment variable BASIC"
                                .to_owned(),
                        );
                        authorization(secret("Basic", "BASIC"))
                    }
                }
            }
            "apikey" if value("key").is_empty() => {
                self.note_here("an API key without a name is left out".to_owned());
                return None;
            }
            "apikey" if value("in") == "query" => ClientCredential {
                place: "query",
                field: value("key"),
                value: Words::Plan(self.plan_words(&value("value"), TextUse::Url)),
            },
            "apikey" => ClientCredential {
                place: "header",
                field: value("key"),
                value: self.words(&value("value")),
            },
            "oauth2" => return Some(self.oauth2(&value)),
            kind => {
                let finding = format!("authentication by `{}` is not imported", shown(kind));
                self.note_here(finding);
                return None;
            }
        })
    }

    /// The token of OAuth 2.
    fn oauth2(&mut self, value: &dyn Fn(&str) -> String) -> ClientCredential {
        let token = value("accessToken");
        let authorization = |value: Words| ClientCredential {
            place: "header",
            field: "Authorization".to_owned(),
            value,
        };
        if token.is_empty() {
            self.all.note(
                "`Authorization` reads its token from the environment variable TOKEN".to_owned(),
            );
            return authorization(Words::Plan(
                "Bearer ${secret:env:TOKEN:-none-yet}".to_owned(),
            ));
        }
        if value("addTokenTo") == "queryParams" {
            return ClientCredential {
                place: "query",
                field: "access_token".to_owned(),
                value: Words::Plan(self.plan_words(&token, TextUse::Url)),
            };
        }
        let prefix = value("headerPrefix");
        let prefix = Some(prefix.trim()).filter(|prefix| !prefix.is_empty());
        authorization(self.words(&format!("{} {token}", prefix.unwrap_or("Bearer"))))
    }
}
