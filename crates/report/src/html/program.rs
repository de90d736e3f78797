//! The program of the page, and the digest by which the page's policy knows it.
//!
//! `web/` has its source in TypeScript; `make page` builds it into `page.js`, which is kept here, so
//! that this crate is built without Node.

use crate::markup::Markup;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The program, in ASCII.
const PROGRAM: &str = include_str!("page.js");

/// The digest of the program, as a content security policy names it.
pub(super) fn digest() -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(PROGRAM)))
}

/// Appends the program, which begins as soon as the page is read.
pub(super) fn print(out: &mut Markup) {
    out.open("script", &[]);
    out.raw(PROGRAM);
    out.close("script");
}
