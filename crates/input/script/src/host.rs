//! Functions for scripts in addition to the language: those that signatures need.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use rquickjs::{Coerced, Ctx, Exception, FromJs, Function, Value};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// Adds the functions to the globals.
pub(crate) fn register(ctx: &Ctx<'_>) -> rquickjs::Result<()> {
    let globals = ctx.globals();
    globals.set("base64", Function::new(ctx.clone(), base64)?)?;
    globals.set("base64url", Function::new(ctx.clone(), base64url)?)?;
    globals.set("sha256", Function::new(ctx.clone(), sha256)?)?;
    globals.set("hmac_sha256", Function::new(ctx.clone(), hmac_sha256)?)?;
    globals.set(
        "hmac_sha256_base64",
        Function::new(ctx.clone(), hmac_sha256_base64)?,
    )
}

/// An argument: a text, or a number or boolean converted to text as in JavaScript.
struct Text(String);

impl<'js> FromJs<'js> for Text {
    fn from_js(ctx: &Ctx<'js>, value: Value<'js>) -> rquickjs::Result<Self> {
        if value.is_string() || value.is_number() || value.is_bool() {
            return Coerced::from_js(ctx, value).map(|text: Coerced<String>| Self(text.0));
        }
        let kind = value.type_name();
        let message = format!("expected a string, not {kind}; convert it with `String(…)`");
        Err(Exception::throw_type(ctx, &message))
    }
}

fn base64(text: Text) -> String {
    STANDARD.encode(text.0)
}

fn base64url(text: Text) -> String {
    URL_SAFE_NO_PAD.encode(text.0)
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the interpreter gives it away"
)]
fn sha256(text: Text) -> String {
    hexadecimal(&Sha256::digest(text.0.as_bytes()))
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the interpreter gives it away"
)]
fn hmac_sha256(key: Text, text: Text) -> String {
    hexadecimal(&hmac(key.0.as_bytes(), text.0.as_bytes()))
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the interpreter gives it away"
)]
fn hmac_sha256_base64(key: Text, text: Text) -> String {
    STANDARD.encode(hmac(key.0.as_bytes(), text.0.as_bytes()))
}

/// HMAC with SHA-256 (RFC 2104); keys may have any length.
fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
    #[expect(clippy::unwrap_used, reason = "HMAC takes keys of any length")]
    let mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.chain_update(text).finalize().into_bytes().into()
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a String can't fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hmac_is_that_of_rfc_4231() {
        let mac = |key: &[u8], text: &[u8]| hexadecimal(&hmac(key, text));
        assert_eq!(
            mac(b"Jefe", b"what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            mac(
                &[0xaa; 131],
                b"Test Using Larger Than Block-Size Key - Hash Key First"
            ),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }
}
