//! The cookies of one user, as draft-ietf-httpbis-rfc6265bis has them.
//!
//! Knows Set-Cookie and Cookie, which cookie goes where, and when it expires. Must not know
//! connections, plans, nor a clock. Start reading at [`Jar`].
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
//! Deliberately absent: a list of public suffixes (a Domain without a dot inside stands for it),
//! HttpOnly (there are no scripts) and SameSite (there are no pages on which requests start, so
//! every request counts as same-site).

mod cookie;
mod date;
mod jar;
mod set_cookie;
mod site;

pub use jar::Jar;
pub use site::Site;
