//! The clipboard, by the terminal's own sequence (OSC 52 of xterm's control sequences), which works
//! through ssh too.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The longest text that terminals take, in bytes before its encoding: xterm's bound is 100,000
/// characters behind it.
pub(crate) const TEXT_MAX: usize = 74_000;

/// The sequence that puts a text into the clipboard.
pub(crate) fn copying(text: &str) -> String {
    format!("\u{1b}]52;c;{}\u{7}", STANDARD.encode(text))
}
