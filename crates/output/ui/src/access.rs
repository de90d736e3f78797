//! Decides which requests are admitted.
//!
//! Every page in the user's browser, and every user of the machine, can reach a server on loopback.
//! So each request must satisfy three rules. It must be addressed to this server, by an address of
//! loopback and the port; a name that another site has pointed at loopback is refused. Its path
//! must contain the token, which no other page and no other user knows. A request that changes
//! something must come from a page of this server, by its `Origin`, with a content type that no
//! form of another page can send without a preflight (the Fetch standard, sections on `Origin` and
//! on CORS preflights).

use hyper::header::{CONTENT_TYPE, HOST, HeaderValue, ORIGIN};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};

/// The length of a token in bytes.
const TOKEN_BYTES: usize = 16;
/// The content type of commands.
const JSON: &str = "application/json";

/// The rules for admitting a request: the token in the server's address, and the authorities under
/// which the server may be addressed.
#[derive(Debug)]
pub(crate) struct Access {
    token: String,
    authorities: Vec<String>,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The request is addressed to another server.
    Host,
    /// The token is missing or wrong.
    Token,
    /// The request comes from another page, or in a form that another page could send.
    Origin,
    /// The method is unsupported.
    Method,
}

impl Refusal {
    /// The status and the text of the response.
    pub(crate) const fn answer(self) -> (StatusCode, &'static str) {
        match self {
            Self::Host => (
                StatusCode::MISDIRECTED_REQUEST,
                "use the loopback address of this server: http://127.0.0.1 or localhost",
            ),
            Self::Token => (
                StatusCode::FORBIDDEN,
                "the token is missing or wrong: open the address that drumfire printed",
            ),
            Self::Origin => (
                StatusCode::FORBIDDEN,
                "commands must be JSON from a page of this server",
            ),
            Self::Method => (StatusCode::METHOD_NOT_ALLOWED, "use GET, HEAD or POST"),
        }
    }
}

impl Access {
    /// The rules for a server on this port, with a new token.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub(crate) fn new(port: u16) -> Result<Self, getrandom::Error> {
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes)?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self::with_token(port, token))
    }

    fn with_token(port: u16, token: String) -> Self {
        let hosts = ["127.0.0.1", "localhost", "[::1]"];
        Self {
            token,
            authorities: hosts.map(|host| format!("{host}:{port}")).into(),
        }
    }

    /// The token, in hexadecimal digits.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Checks a request, and returns its path after the token, from the slash on.
    ///
    /// # Errors
    /// If the request is refused.
    pub(crate) fn admit<'r>(&self, request: &'r Parts) -> Result<&'r str, Refusal> {
        let host = text(request.headers.get(HOST));
        if !self.authorities.iter().any(|own| own == host) {
            return Err(Refusal::Host);
        }
        let path = request.uri.path().strip_prefix('/').unwrap_or_default();
        let (token, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
        if !is_same(token, &self.token) {
            return Err(Refusal::Token);
        }
        match request.method {
            Method::GET | Method::HEAD => Ok(rest),
            Method::POST => {
                let origin = text(request.headers.get(ORIGIN));
                let is_own = origin.strip_prefix("http://") == Some(host);
                let is_json = text(request.headers.get(CONTENT_TYPE)) == JSON;
                match is_own && is_json {
                    true => Ok(rest),
                    false => Err(Refusal::Origin),
                }
            }
            _ => Err(Refusal::Method),
        }
    }
}

fn text(value: Option<&HeaderValue>) -> &str {
    let text = value.and_then(|value| value.to_str().ok());
    text.unwrap_or_default()
}

/// Whether two texts are equal, in a time that does not depend on where they differ.
fn is_same(given: &str, own: &str) -> bool {
    let pairs = given.bytes().zip(own.bytes());
    let differing = pairs.fold(0, |differing, (a, b)| differing | (a ^ b));
    given.len() == own.len() && differing == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    const PORT: u16 = 7_070;

    fn admitted(method: &str, uri: &str, fields: &[(&str, &str)]) -> Result<String, Refusal> {
        let access = Access::with_token(PORT, "aa11".to_owned());
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        access.admit(&parts).map(str::to_owned)
    }

    #[test]
    fn a_request_names_this_server_and_has_the_token() {
        let host = ("host", "127.0.0.1:7070");
        assert_eq!(admitted("GET", "/aa11/run/1/", &[host]).unwrap(), "/run/1/");
        assert_eq!(
            admitted("HEAD", "/aa11", &[("host", "[::1]:7070")]).unwrap(),
            ""
        );
        assert!(admitted("GET", "/aa11/", &[("host", "localhost:7070")]).is_ok());
        for other in ["evil.example:7070", "127.0.0.1", "127.0.0.1:7071", ""] {
            let refused = admitted("GET", "/aa11/", &[("host", other)]);
            assert_eq!(refused, Err(Refusal::Host), "{other}");
        }
        assert_eq!(admitted("GET", "/aa11/", &[]), Err(Refusal::Host));
        for other in ["/", "/aa1/", "/aa12/", "/aa111/", "/AA11/", "/run/aa11/"] {
            assert_eq!(
                admitted("GET", other, &[host]),
                Err(Refusal::Token),
                "{other}"
            );
        }
        let refused = admitted("DELETE", "/aa11/", &[host]);
        assert_eq!(refused, Err(Refusal::Method));
    }

    #[test]
    fn a_command_comes_from_a_page_of_this_server() {
        let host = ("host", "127.0.0.1:7070");
        let own = ("origin", "http://127.0.0.1:7070");
        let json = ("content-type", "application/json");
        assert!(admitted("POST", "/aa11/run/1/command", &[host, own, json]).is_ok());
        for fields in [
            &[host, json][..],
            &[host, own],
            &[host, own, ("content-type", "text/plain")],
            &[host, json, ("origin", "null")],
            &[host, json, ("origin", "http://localhost:7070")],
            &[host, json, ("origin", "https://127.0.0.1:7070")],
            &[host, json, ("origin", "http://evil.example")],
        ] {
            let refused = admitted("POST", "/aa11/run/1/command", fields);
            assert_eq!(refused, Err(Refusal::Origin), "{fields:?}");
        }
    }

    #[test]
    fn tokens_differ() {
        let [one, other] = [1, 2].map(|_| Access::new(PORT).unwrap());
        assert_eq!(one.token().len(), 2 * TOKEN_BYTES);
        assert_ne!(one.token(), other.token());
    }
}
