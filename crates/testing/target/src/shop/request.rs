//! The action that a request wants from the shop, from its head.

use super::credentials::Credentials;
use crate::request::RequestHead;

/// A request to the shop, without its body.
#[derive(Debug)]
pub(crate) struct ShopRequest {
    pub(super) method: Method,
    pub(super) place: Place,
    pub(super) credentials: Credentials,
    pub(super) content: ContentType,
}

/// A method that the shop supports.
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
    /// The methods that the page supports.
    pub(super) fn methods(self) -> &'static str {
        match self {
            Self::Login | Self::Logout | Self::Pay => "POST",
            Self::Cart => "GET, HEAD, POST, DELETE",
            _ => "GET, HEAD",
        }
    }

    /// Whether every client gets the same answer.
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

/// The format of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContentType {
    Form,
    Json,
    Other,
    Unsaid,
}

impl ShopRequest {
    /// Parses the head of a request, if its path belongs to the shop. `/shop/stats` does not: it
    /// reads the counters.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(target: &str) -> Option<ShopRequest> {
        ShopRequest::read(&RequestHead {
            method: "GET",
            target,
            protocol: "HTTP/1.1",
            fields: Vec::new(),
        })
    }

    #[test]
    fn paths_are_places() {
        let place = |target| read(target).map(|request| request.place);
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
}
