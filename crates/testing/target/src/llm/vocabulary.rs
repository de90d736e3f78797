//! The tokens of the mock: a token is a word.
//!
//! Words of one to three syllables such as `bado` have fixed ids, in both directions by arithmetic,
//! so that any id below [`SYLLABIC`] is a word. Other words get ids in the order in which they are
//! tokenized.

use drumfire_units::Xoshiro256;
use std::collections::HashMap;

const CONSONANTS: &[u8; 20] = b"bcdfghjklmnpqrstvwxz";
const VOWELS: &[u8; 5] = b"aeiou";
/// The number of syllables.
const BASE: u32 = 100;
/// The number of words of one and of two syllables.
const SHORT: [u32; 2] = [BASE, BASE * BASE];
/// The number of words with fixed ids.
pub(crate) const SYLLABIC: u32 = BASE + BASE * BASE + BASE * BASE * BASE;
/// The maximum number of other words.
const OTHERS_MAX: usize = 1 << 20;
/// The maximum number of bytes of other words.
const BYTES_MAX: usize = 64 << 20;

/// The words of a text, as the mock counts them.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_ascii_whitespace()
}

/// Appends the word with this id, if it is one of syllables.
pub(crate) fn push_syllabic(id: u32, out: &mut String) -> bool {
    let (mut rest, count) = match id {
        _ if id < SHORT[0] => (id, 1),
        _ if id < SHORT[0] + SHORT[1] => (id - SHORT[0], 2),
        _ if id < SYLLABIC => (id - SHORT[0] - SHORT[1], 3),
        _ => return false,
    };
    let mut syllables = [0; 3];
    for syllable in syllables[..count].iter_mut().rev() {
        *syllable = rest % BASE;
        rest /= BASE;
    }
    for syllable in &syllables[..count] {
        out.push(char::from(CONSONANTS[(syllable / 5) as usize]));
        out.push(char::from(VOWELS[(syllable % 5) as usize]));
    }
    true
}

/// The id of a word of syllables.
pub(crate) fn syllabic_id(word: &str) -> Option<u32> {
    let bytes = word.as_bytes();
    let first = match bytes.len() {
        2 => 0,
        4 => SHORT[0],
        6 => SHORT[0] + SHORT[1],
        _ => return None,
    };
    let place = |letters: &[u8], letter: u8| letters.iter().position(|it| *it == letter);
    let mut id = 0;
    for pair in bytes.chunks(2) {
        let (consonant, vowel) = (place(CONSONANTS, pair[0])?, place(VOWELS, pair[1])?);
        // Below 100, so it fits.
        id = id * BASE + (consonant * 5 + vowel) as u32;
    }
    Some(first + id)
}

/// Appends a random word of two syllables.
pub(crate) fn push_random(random: &mut Xoshiro256, out: &mut String) {
    // Below 10,000, so it fits.
    let id = SHORT[0] + (random.bits() % u64::from(SHORT[1])) as u32;
    push_syllabic(id, out);
}

/// The vocabulary is full.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// The words without fixed ids that `/tokenize` has seen.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    ids: HashMap<Box<str>, u32>,
    words: Vec<Box<str>>,
    bytes: usize,
}

impl Vocabulary {
    /// The id of a word.
    ///
    /// # Errors
    /// If the word is new, and there are too many.
    pub(crate) fn id(&mut self, word: &str) -> Result<u32, Full> {
        if let Some(id) = syllabic_id(word).or_else(|| self.ids.get(word).copied()) {
            return Ok(id);
        }
        if self.words.len() >= OTHERS_MAX || self.bytes + word.len() > BYTES_MAX {
            return Err(Full);
        }
        // At most OTHERS_MAX, so the id fits.
        let id = SYLLABIC + self.words.len() as u32;
        self.bytes += word.len();
        self.words.push(word.into());
        self.ids.insert(word.into(), id);
        Ok(id)
    }

    /// Appends the word with this id; returns whether there is one.
    pub(crate) fn push_word(&self, id: u32, out: &mut String) -> bool {
        if push_syllabic(id, out) {
            return true;
        }
        let word = self.words.get((id - SYLLABIC) as usize);
        out.push_str(word.map_or("", |word| word));
        word.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_is_a_word_and_every_word_an_id() {
        let mut vocabulary = Vocabulary::default();
        let mut seen = std::collections::HashSet::new();
        for id in (0..20_000).chain(SYLLABIC - 20_000..SYLLABIC) {
            let mut word = String::new();
            assert!(vocabulary.push_word(id, &mut word));
            assert_eq!(vocabulary.id(&word), Ok(id));
            assert!(seen.insert(word));
        }
        let hello = vocabulary.id("Hello,").unwrap();
        assert_eq!((hello, vocabulary.id("Hello,")), (SYLLABIC, Ok(hello)));
        let mut word = String::new();
        assert!(vocabulary.push_word(hello, &mut word) && word == "Hello,");
        assert!(!vocabulary.push_word(hello + 1, &mut word));
    }

    #[test]
    fn a_vocabulary_is_bounded() {
        let mut vocabulary = Vocabulary::default();
        let long = "x".repeat(BYTES_MAX);
        assert_eq!(vocabulary.id(&long), Ok(SYLLABIC));
        assert_eq!(vocabulary.id("y"), Err(Full));
        assert_eq!(vocabulary.id("ba"), Ok(0));
    }
}
