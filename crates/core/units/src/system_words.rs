//! The texts of errors of the operating system.

use std::fmt;

/// The text between an error and its number.
const NUMBER: &str = " (os error ";

/// A text as users read it: errors of the operating system in lower case, without their numbers.
///
/// ```
/// let text = "can't read x: No such file or directory (os error 2)";
/// let words = drumfire_units::system_words(&text);
/// assert_eq!(words, "can't read x: no such file or directory");
/// ```
#[must_use]
pub fn system_words(text: &dyn fmt::Display) -> String {
    let text = text.to_string();
    let mut out = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = rest.find(NUMBER) {
        let (before, behind) = (&rest[..at], &rest[at + NUMBER.len()..]);
        let number = behind.split(')').next().unwrap_or_default();
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        match behind[number.len()..]
            .strip_prefix(')')
            .filter(|_| is_number)
        {
            Some(behind) => {
                push_in_lower_case(before, &mut out);
                rest = behind;
            }
            None => {
                out.push_str(&rest[..at + NUMBER.len()]);
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Appends a text whose last part, after a colon, begins in lower case. An abbreviation stays.
fn push_in_lower_case(text: &str, out: &mut String) {
    let start = text.rfind(": ").map_or(0, |at| at + 2);
    let (before, last) = text.split_at(start);
    out.push_str(before);
    let mut letters = last.chars();
    let first = letters.next();
    let is_word = letters
        .next()
        .is_none_or(|second| !second.is_ascii_uppercase());
    let first = first.map(|first| match is_word {
        true => first.to_ascii_lowercase(),
        false => first,
    });
    out.extend(first);
    out.extend(last.chars().skip(1));
}

#[cfg(test)]
mod tests {
    use super::system_words;
    use std::io;

    #[test]
    fn errors_have_words_without_numbers() {
        let missing = io::Error::from_raw_os_error(2).to_string();
        for (text, words) in [
            (&*missing, "no such file or directory"),
            (
                "--metrics: can't listen on `x`: Address already in use (os error 98)",
                "--metrics: can't listen on `x`: address already in use",
            ),
            (
                "a: Is a directory (os error 21)\nb: RPC struct is bad (os error 72)",
                "a: is a directory\nb: RPC struct is bad",
            ),
            ("no error", "no error"),
            ("a (os error x) b (os error ", "a (os error x) b (os error "),
            ("", ""),
        ] {
            assert_eq!(system_words(&text), words);
        }
    }
}
