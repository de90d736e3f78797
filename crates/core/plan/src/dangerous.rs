//! Characters that act on a terminal or deceive the reader. They are escaped in every text from
//! outside: in reports, in messages and in printed plans.

/// Whether a character can move the cursor, reorder its neighbours or be invisible: C0, DEL, C1,
/// bidirectional controls, zero-width characters, fillers, tags and variation selectors.
#[must_use]
pub const fn is_dangerous(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{1f}'
        | '\u{7f}'..='\u{9f}'
        | '\u{ad}' // soft hyphen
        | '\u{34f}' // combining grapheme joiner
        | '\u{61c}' // Arabic letter mark
        | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' // Hangul fillers
        | '\u{17b4}' | '\u{17b5}' // invisible Khmer vowels
        | '\u{180b}'..='\u{180f}' // Mongolian selectors and vowel separator
        | '\u{200b}'..='\u{200f}' // zero-width, directional marks
        | '\u{2028}'..='\u{202e}' // line and paragraph separators, embeddings, overrides
        | '\u{2060}'..='\u{206f}' // joiners, isolates, deprecated controls
        | '\u{fe00}'..='\u{fe0f}' // variation selectors
        | '\u{feff}' // byte order mark
        | '\u{fff0}'..='\u{fffb}' // interlinear annotation
        | '\u{1bca0}'..='\u{1bca3}' // shorthand controls
        | '\u{1d173}'..='\u{1d17a}' // musical controls
        | '\u{e0000}'..='\u{e0fff}' // tags, more selectors
    )
}

/// A text of several lines, in which all dangerous characters except line ends and tabs are
/// escaped. Line ends and tabs in foreign parts must be escaped before.
#[must_use]
pub fn escaped_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match is_dangerous(c) && !matches!(c, '\n' | '\t') {
            true => push_escape(&mut out, c),
            false => out.push(c),
        }
    }
    out
}

/// Appends the escape of a character, as `\n`, `\x1b` or `\u{202e}`.
pub fn push_escape(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if (c as u32) < 0x100 => out.push_str(&format!("\\x{:02x}", c as u32)),
        c => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
    }
}
