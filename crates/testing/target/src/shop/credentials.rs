//! The credentials in a request: a cookie, a token, a user name.

use crate::request::RequestHead;
use std::fmt;

/// The cookie with a session's id.
pub(super) const COOKIE: &str = "shop_session";
/// The field with the user for whom a client believes it acts.
pub(super) const USER_FIELD: &str = "x-shop-user";

/// The credentials in a request.
#[derive(Debug, Default)]
pub(crate) struct Credentials {
    pub(crate) cookie: Option<ClientClaim<u64>>,
    pub(crate) token: Option<ClientClaim<SessionToken>>,
    pub(crate) user: Option<Box<str>>,
}

/// A value that a client claims to have received from this server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientClaim<T> {
    Made(T),
    /// The server never gives out values of this form.
    Malformed,
}

/// A token: a session's id and its proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SessionToken {
    pub(super) session: u64,
    pub(super) proof: u64,
}

impl fmt::Display for SessionToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}{:016x}", self.session, self.proof)
    }
}

impl Credentials {
    /// Reads the credentials of a request.
    pub(super) fn read(head: &RequestHead<'_>) -> Self {
        let user = head.values(USER_FIELD).next();
        Self {
            cookie: cookie(head),
            token: head.values("authorization").next().map(bearer),
            user: user.map(|user| String::from_utf8_lossy(user).into()),
        }
    }

    /// Reads the credentials of a call, whose only proof is a token.
    pub(crate) fn of_call(authorization: Option<&[u8]>, user: Option<&[u8]>) -> Self {
        Self {
            cookie: None,
            token: authorization.map(bearer),
            user: user.map(|user| String::from_utf8_lossy(user).into()),
        }
    }
}

/// The session's cookie among all cookies.
fn cookie(head: &RequestHead<'_>) -> Option<ClientClaim<u64>> {
    let pairs = head
        .values("cookie")
        .flat_map(|value| value.split(|byte| *byte == b';'));
    let value = pairs
        .map(<[u8]>::trim_ascii)
        .find_map(|pair| pair.strip_prefix(COOKIE.as_bytes())?.strip_prefix(b"="))?;
    Some(hex(value).map_or(ClientClaim::Malformed, ClientClaim::Made))
}

/// `Bearer TOKEN`: a session's id and its proof.
fn bearer(value: &[u8]) -> ClientClaim<SessionToken> {
    let token = value
        .split_at_checked(7)
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"bearer "))
        .and_then(|(_, token)| token.trim_ascii().split_at_checked(16))
        .and_then(|(session, proof)| {
            Some(SessionToken {
                session: hex(session)?,
                proof: hex(proof)?,
            })
        });
    token.map_or(ClientClaim::Malformed, ClientClaim::Made)
}

/// Sixteen hexadecimal digits.
fn hex(digits: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(digits).ok()?;
    let plain = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    plain.then(|| u64::from_str_radix(text, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Field;

    #[test]
    fn credentials_are_read_or_malformed() {
        let both = Credentials::read(&RequestHead {
            method: "GET",
            target: "/shop/cart",
            protocol: "HTTP/1.1",
            fields: vec![
                Field {
                    name: "Cookie",
                    value: b"a=b; shop_session=00000000000000ff; c",
                },
                Field {
                    name: "Authorization",
                    value: b"bearer 00000000000000ff000000000000000A",
                },
            ],
        });
        assert_eq!(both.cookie, Some(ClientClaim::Made(255)));
        let ticket = SessionToken {
            session: 255,
            proof: 10,
        };
        assert_eq!(both.token, Some(ClientClaim::Made(ticket)));
        for value in [
            "",
            "Bearer",
            "Bearer ff",
            "Basic 00000000000000ff000000000000000A",
        ] {
            assert_eq!(bearer(value.as_bytes()), ClientClaim::Malformed, "{value}");
        }
        assert_eq!(hex(b"+00000000000000f"), None);
    }
}
