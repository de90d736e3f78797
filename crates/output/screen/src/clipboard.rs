//! The clipboard, through the terminal's own sequence (OSC 52 of xterm's control sequences), which
//! also works through ssh.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The maximum length of a text for terminals, in bytes before its encoding: xterm's limit is
/// 100,000 characters of encoded text.
pub(crate) const TEXT_MAX: usize = 74_000;

/// The sequence that copies a text to the clipboard.
pub(crate) fn copying(text: &str) -> String {
    format!("\u{1b}]52;c;{}\u{7}", STANDARD.encode(text))
}
