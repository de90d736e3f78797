//! The maximum number of tokens that a request asks for.

use memchr::memmem;

/// The keys of the maximum number of generated tokens, without `_tokens`.
const KEYS: [&[u8]; 3] = [b"\"max", b"\"max_completion", b"\"max_output"];
const END: &[u8] = b"_tokens\"";

/// The maximum number of generated tokens in the body of a request; the last one, if there are
/// several. `None` if the body has none. The body is searched instead of parsed: inside of a JSON
/// string, a quote follows a backslash, so that the texts of messages are no keys.
#[must_use]
pub fn asked_tokens(body: &[u8]) -> Option<u32> {
    let ends = memmem::find_iter(body, END);
    let values = ends.filter_map(|at| {
        let (before, value) = (&body[..at], &body[at + END.len()..]);
        let is_key = KEYS.iter().any(|key| before.ends_with(key));
        number(value).filter(|_| is_key)
    });
    values.last()
}

/// The number after a colon.
fn number(value: &[u8]) -> Option<u32> {
    let digits = value
        .trim_ascii_start()
        .strip_prefix(b":")?
        .trim_ascii_start();
    let length = digits
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    std::str::from_utf8(&digits[..length]).ok()?.parse().ok()
}
