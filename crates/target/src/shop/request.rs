//! What is asked of the shop, from a request's head.

use super::ledger::Ticket;
use crate::request::RequestHead;

/// The cookie with a session's number.
pub(super) const COOKIE: &str = "shop_session";
/// The field that names the user for whom a client believes to act.
pub(super) const USER_FIELD: &str = "x-shop-user";

/// A request to the shop, but for its body.
#[derive(Debug)]
pub(crate) struct ShopRequest {
    pub(super) method: Method,
    pub(super) place: Place,
    pub(super) credentials: Credentials,
    pub(super) content: ContentType,
}

/// A method that means something here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// GET and HEAD.
    Get,
    Post,
    Delete,
    Other,
}

/// A page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Account,
    Cart,
    Front { page: u64 },
    Login,
    Logout,
    Nowhere,
    Order { number: u64 },
    Pay,
    Product { id: u64 },
    ProductPage { id: u64 },
    Products { page: u64 },
}

impl Place {
    /// The methods that it takes.
    pub(super) fn methods(self) -> &'static str {
        match self {
            Self::Login | Self::Logout | Self::Pay => "POST",
            Self::Cart => "GET, HEAD, POST, DELETE",
            _ => "GET, HEAD",
        }
    }

    /// Whether every client gets the same.
    fn is_public(self) -> bool {
        matches!(
            self,
            Self::Front { .. }
                | Self::Product { .. }
                | Self::ProductPage { .. }
                | Self::Products { .. }
        )
    }
}

/// What a request says of its sender.
#[derive(Debug, Default)]
pub(crate) struct Credentials {
    pub(crate) cookie: Option<Claim<u64>>,
    pub(crate) token: Option<Claim<Ticket>>,
    pub(crate) user: Option<Box<str>>,
}

/// A value that a client claims to have from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim<T> {
    Made(T),
    /// Nothing of this form is ever given out.
    Malformed,
}

/// How a body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContentType {
    Form,
    Json,
    Other,
    Unsaid,
}

impl ShopRequest {
    /// The request of a head, if its path is one of the shop's. `/shop/stats` is none: it asks
    /// about the load.
    pub(crate) fn read(head: &RequestHead<'_>) -> Option<Self> {
        let rest = head.path().strip_prefix("/shop")?;
        if !(rest.is_empty() || rest.starts_with('/')) {
            return None;
        }
        Some(Self {
            method: match head.method {
                "GET" | "HEAD" => Method::Get,
                "POST" => Method::Post,
                "DELETE" => Method::Delete,
                _ => Method::Other,
            },
            place: place(rest.trim_start_matches('/'), head),
            credentials: Credentials::read(head),
            content: content(head),
        })
    }

    /// Whether equal requests get equal answers.
    pub(crate) fn is_constant(&self) -> bool {
        self.method == Method::Get && self.place.is_public()
    }
}

fn place(path: &str, head: &RequestHead<'_>) -> Place {
    let page = || {
        let page = head.parameters().find(|(name, _)| name == "page");
        page.map_or(Some(1), |(_, value)| value.parse().ok())
    };
    let number = |text: &str| text.parse().ok();
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let place = match (first, rest) {
        ("", "") => page().map(|page| Place::Front { page }),
        ("account", "") => Some(Place::Account),
        ("cart", "") => Some(Place::Cart),
        ("login", "") => Some(Place::Login),
        ("logout", "") => Some(Place::Logout),
        ("orders", rest) => number(rest).map(|number| Place::Order { number }),
        ("page", rest) => number(rest).map(|id| Place::ProductPage { id }),
        ("pay", "") => Some(Place::Pay),
        ("products", "") => page().map(|page| Place::Products { page }),
        ("products", rest) => number(rest).map(|id| Place::Product { id }),
        _ => None,
    };
    place.unwrap_or(Place::Nowhere)
}

fn content(head: &RequestHead<'_>) -> ContentType {
    let Some(value) = head.values("content-type").next() else {
        return ContentType::Unsaid;
    };
    let kind = value.split(|byte| *byte == b';').next().unwrap_or_default();
    let kind = kind.trim_ascii();
    if kind.eq_ignore_ascii_case(b"application/json") {
        ContentType::Json
    } else if kind.eq_ignore_ascii_case(b"application/x-www-form-urlencoded") {
        ContentType::Form
    } else {
        ContentType::Other
    }
}

impl Credentials {
    fn read(head: &RequestHead<'_>) -> Self {
        let user = head.values(USER_FIELD).next();
        Self {
            cookie: cookie(head),
            token: head.values("authorization").next().map(bearer),
            user: user.map(|user| String::from_utf8_lossy(user).into()),
        }
    }

    /// Those of a call, whose only proof is a token.
    pub(crate) fn of_call(authorization: Option<&[u8]>, user: Option<&[u8]>) -> Self {
        Self {
            cookie: None,
            token: authorization.map(bearer),
            user: user.map(|user| String::from_utf8_lossy(user).into()),
        }
    }
}

/// The session's cookie among all.
fn cookie(head: &RequestHead<'_>) -> Option<Claim<u64>> {
    let pairs = head
        .values("cookie")
        .flat_map(|value| value.split(|byte| *byte == b';'));
    let value = pairs
        .map(<[u8]>::trim_ascii)
        .find_map(|pair| pair.strip_prefix(COOKIE.as_bytes())?.strip_prefix(b"="))?;
    Some(hex(value).map_or(Claim::Malformed, Claim::Made))
}

/// `Bearer TOKEN`: a session's number and its proof.
fn bearer(value: &[u8]) -> Claim<Ticket> {
    let token = value
        .split_at_checked(7)
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"bearer "))
        .and_then(|(_, token)| token.trim_ascii().split_at_checked(16))
        .and_then(|(session, proof)| {
            Some(Ticket {
                session: hex(session)?,
                proof: hex(proof)?,
            })
        });
    token.map_or(Claim::Malformed, Claim::Made)
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

    fn read(target: &str, fields: &[(&'static str, &'static str)]) -> Option<ShopRequest> {
        ShopRequest::read(&RequestHead {
            method: "GET",
            target,
            protocol: "HTTP/1.1",
            fields: fields
                .iter()
                .map(|(name, value)| Field {
                    name,
                    value: value.as_bytes(),
                })
                .collect(),
        })
    }

    #[test]
    fn paths_are_places() {
        let place = |target| read(target, &[]).map(|request| request.place);
        for (target, expected) in [
            ("/shop", Some(Place::Front { page: 1 })),
            ("/shop/?page=3", Some(Place::Front { page: 3 })),
            ("/shop/products?x&page=2", Some(Place::Products { page: 2 })),
            ("/shop/products/7", Some(Place::Product { id: 7 })),
            ("/shop/page/7", Some(Place::ProductPage { id: 7 })),
            ("/shop/orders/9", Some(Place::Order { number: 9 })),
            ("/shop/orders/-9", Some(Place::Nowhere)),
            ("/shop/products?page=x", Some(Place::Nowhere)),
            ("/shop/cart/1", Some(Place::Nowhere)),
            ("/shopping", None),
            ("/", None),
        ] {
            assert_eq!(place(target), expected, "{target}");
        }
    }

    #[test]
    fn credentials_are_read_or_malformed() {
        let credentials = |fields| read("/shop/cart", fields).unwrap().credentials;
        let both = credentials(&[
            ("Cookie", "a=b; shop_session=00000000000000ff; c"),
            ("Authorization", "bearer 00000000000000ff000000000000000A"),
        ]);
        assert_eq!(both.cookie, Some(Claim::Made(255)));
        let ticket = Ticket {
            session: 255,
            proof: 10,
        };
        assert_eq!(both.token, Some(Claim::Made(ticket)));
        for value in [
            "",
            "Bearer",
            "Bearer ff",
            "Basic 00000000000000ff000000000000000A",
        ] {
            assert_eq!(bearer(value.as_bytes()), Claim::Malformed, "{value}");
        }
        assert_eq!(hex(b"+00000000000000f"), None);
    }
}
