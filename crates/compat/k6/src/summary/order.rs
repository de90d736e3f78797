//! The order of names in summaries: letters without their case first, as in a dictionary.

use std::cmp::Ordering;

/// Punctuation from the first to the last, before digits and letters.
const PUNCTUATION: &str = " _-,;:!?./'\"()[]{}@*\\&#%`^+<=>|~$";

/// Compare two names as people sort them: `a_b`, `a1`, `ab`, `aB`, `AB`, `b`.
pub(crate) fn by_name(one: &str, other: &str) -> Ordering {
    let letters = |text: &str| text.chars().map(primary).collect::<Vec<_>>();
    let cases = |text: &str| text.chars().map(char::is_uppercase).collect::<Vec<_>>();
    letters(one)
        .cmp(&letters(other))
        .then_with(|| cases(one).cmp(&cases(other)))
        .then_with(|| one.cmp(other))
}

fn primary(letter: char) -> (u8, u32) {
    match PUNCTUATION.chars().position(|known| known == letter) {
        Some(at) => (0, at as u32),
        None if letter.is_ascii_digit() => (1, u32::from(letter)),
        None => (2, u32::from(letter.to_lowercase().next().unwrap_or(letter))),
    }
}

#[cfg(test)]
mod tests {
    use super::by_name;

    #[test]
    fn case_is_the_last_difference() {
        let sorted = [
            "a__b", "a_b", "A_b", "a_c", "a1", "ab", "aB", "AB", "browser", "zz", "ZZ",
        ];
        let mut names = sorted;
        names.reverse();
        names.sort_by(|one, other| by_name(one, other));
        assert_eq!(names, sorted);
    }
}
