//! The cookies of one user, according to draft-ietf-httpbis-rfc6265bis.
//!
//! Knows Set-Cookie and Cookie, which requests carry a cookie, and when it expires. Must not know
//! connections, plans or clocks. Start reading at [`Jar`].
//!
//! ```
//! use drumfire_cookies::{Jar, Site};
//!
//! let mut jar = Jar::new();
//! let login = Site { host: "shop.example", path: "/login", is_secure: true };
//! assert!(jar.store(b"session=5; Path=/; Max-Age=60; Secure", login, 1000));
//!
//! let mut field = String::new();
//! let cart = Site { path: "/cart?item=7", ..login };
//! jar.write(cart, 1059, &mut field);
//! assert_eq!(field, "session=5");
//!
//! field.clear();
//! jar.write(cart, 1060, &mut field);
//! assert_eq!(field, "", "expired");
//! ```
//!
//! Deliberately absent: a list of public suffixes (instead, a Domain without an inner dot counts as
//! one), HttpOnly (there are no scripts) and SameSite (there are no pages that start requests, so
//! every request counts as same-site).

mod cookie;
mod date;
mod jar;
mod set_cookie;
mod site;

pub use jar::Jar;
pub use site::Site;
