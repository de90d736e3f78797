//! Client credentials: the security schemes of a description, with secrets from the environment.

use super::style::Encoding;
use super::{Reader, keys};
use crate::exchange::{Exchange, Words};
use crate::library::Node;
use crate::shape::shown;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_plan::Header;

impl<'a> Reader<'a> {
    /// Adds the fields of the first way to authenticate; their values come from the environment.
    pub(super) fn secure(&mut self, operation: Node<'a>, exchange: &mut Exchange) {
        let own = operation.get("security");
        let security = if own.is_null() {
            self.root.get("security")
        } else {
            own
        };
        if !security.is_null() && !security.whole().value().is_array() {
            let finding = "`security` is not a list".to_owned();
            self.all.notes.add_at(finding, || security.place());
        }
        let Some(first) = security.list().next() else {
            return;
        };
        let schemes = self
            .root
            .get("components")
            .whole()
            .get("securitySchemes")
            .whole();
        for (name, _) in first.entries() {
            let given = schemes.get(name);
            self.seen.check(given, &keys::SECURITY, &mut self.all.notes);
            let proof = given.resolved().and_then(proof);
            match proof {
                Ok(proof) => self.prove(name, proof, exchange),
                Err(why) => self.all.note(format!(
                    "the security scheme `{}` is not imported: {why}",
                    shown(name)
                )),
            }
        }
    }

    /// Adds a credential to a request.
    fn prove(&mut self, scheme: &str, proof: RequestCredential<'_>, exchange: &mut Exchange) {
        let RequestCredential { place, name, value } = proof;
        let is_header = place == "header";
        if is_header && Header::new(name, b"").is_err() {
            self.all.note(format!(
                "the header `{}` of the security scheme `{}` is left out: a header can't have this name",
                shown(name),
                shown(scheme)
            ));
            return;
        }
        self.all.note(match is_header {
            true => format!("`{name}` reads its secret from the environment; see the plan"),
            false => format!(
                "the {place} parameter `{}` reads its secret from the environment; see the plan",
                shown(name)
            ),
        });
        match place {
            "header" => exchange.headers.push((name.to_owned(), Words::Plan(value))),
            "query" => {
                let url = exchange.url.in_plan();
                let sign = if url.contains('?') { '&' } else { '?' };
                let name = Words::of_document(&Encoding::All.encoded(name)).in_plan();
                exchange.url = Words::Plan(format!("{url}{sign}{name}={value}"));
            }
            _ => {
                let pair = format!("{}={value}", Words::of_document(name).in_plan());
                let mut headers = exchange.headers.iter_mut();
                match headers.find(|(name, _)| name == "Cookie") {
                    Some((_, words)) => {
                        *words = Words::Plan(format!("{}; {pair}", words.in_plan()));
                    }
                    None => exchange
                        .headers
                        .push(("Cookie".to_owned(), Words::Plan(pair))),
                }
            }
        }
    }
}

/// A credential: a field of the header, the query or the cookies.
struct RequestCredential<'a> {
    place: &'a str,
    name: &'a str,
    value: String,
}

/// The credential of a security scheme.
fn proof(scheme: Node<'_>) -> Result<RequestCredential<'_>, String> {
    let bearer = || RequestCredential {
        place: "header",
        name: "Authorization",
        value: "Bearer ${secret:env:TOKEN:-none-yet}".to_owned(),
    };
    let way = scheme
        .get("scheme")
        .str()
        .unwrap_or_default()
        .to_ascii_lowercase();
    match (scheme.get("type").str().unwrap_or_default(), way.as_str()) {
        ("http", "basic") => {
            let usual = STANDARD.encode("user:password");
            Ok(RequestCredential {
                value: format!("Basic ${{secret:env:BASIC:-{usual}}}"),
                ..bearer()
            })
        }
        ("http", "bearer") | ("oauth2" | "openIdConnect", _) => Ok(bearer()),
        ("http", way) => Err(format!("the HTTP scheme `{}` is not supported", shown(way))),
        ("apiKey", _) => match scheme.get("in").str() {
            Some(place @ ("header" | "query" | "cookie")) => Ok(RequestCredential {
                place,
                name: scheme.get("name").str().unwrap_or("X-Api-Key"),
                value: "${secret:env:API_KEY:-none-yet}".to_owned(),
            }),
            _ => Err("its key is in no header, query or cookie".to_owned()),
        },
        ("mutualTLS", _) => Err("set `tls.cert` and `tls.key` in the plan".to_owned()),
        ("", _) => Err("it is not described".to_owned()),
        (kind, _) => Err(format!("its type `{}` is not supported", shown(kind))),
    }
}
