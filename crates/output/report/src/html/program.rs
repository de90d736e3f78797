//! The program of the page, and its digest in the page's policy. `make page` builds `page.js` from
//! the TypeScript in `web/`; the file is kept here, so that this crate is built without Node.

use crate::markup::Markup;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The program, in ASCII.
const PROGRAM: &str = include_str!("page.js");

/// The digest of the program in the form of a content security policy.
pub(super) fn digest() -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(PROGRAM)))
}

/// Appends the program, which starts when the page is read.
pub(super) fn print(out: &mut Markup) {
    out.open("script", &[]);
    out.raw(PROGRAM);
    out.close("script");
}
