//! Whether bytes are one JSON object, as far as its brackets and strings show.
//!
//! A cut object is never balanced, so this decides whether an object is complete. An object with
//! another mistake may count as complete; a reader of the data finds the mistake.

/// The deepest nesting that is followed; deeper objects count as unbalanced.
const DEPTH_MAX: u32 = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Before the object.
    Before,
    /// In the object, outside its strings.
    Inside,
    /// In a string.
    Text,
    /// In a string, after a backslash.
    Escape,
    /// After the object.
    After,
    /// The bytes are something else.
    Other,
}

/// A scan of bytes that arrive in pieces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Balance {
    place: Place,
    depth: u32,
    /// The open brackets, the innermost in the lowest bit: 1 for `[`, 0 for `{`.
    open: u128,
}

impl Balance {
    /// A scan at its beginning.
    pub(crate) const NEW: Self = Self {
        place: Place::Before,
        depth: 0,
        open: 0,
    };

    /// Whether a text is one object.
    pub(crate) fn is_object(text: &str) -> bool {
        let mut balance = Self::NEW;
        balance.push(text.as_bytes());
        balance.is_complete()
    }

    /// Whether the bytes so far are one object.
    pub(crate) fn is_complete(&self) -> bool {
        self.place == Place::After
    }

    /// Scans the next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.place = match (self.place, byte) {
                (Place::Before | Place::After, b' ' | b'\t' | b'\n' | b'\r') => self.place,
                (Place::Before | Place::Inside, b'{') => self.enter(0),
                (Place::Inside, b'[') => self.enter(1),
                (Place::Inside, b'}') => self.leave(0),
                (Place::Inside, b']') => self.leave(1),
                (Place::Inside, b'"') | (Place::Escape, _) => Place::Text,
                (Place::Text, b'"') => Place::Inside,
                (Place::Text, b'\\') => Place::Escape,
                (Place::Inside | Place::Text, _) => self.place,
                (Place::Before | Place::After | Place::Other, _) => Place::Other,
            };
        }
    }

    fn enter(&mut self, bracket: u128) -> Place {
        if self.depth == DEPTH_MAX {
            return Place::Other;
        }
        self.depth += 1;
        self.open = self.open << 1 | bracket;
        Place::Inside
    }

    fn leave(&mut self, bracket: u128) -> Place {
        if self.open & 1 != bracket {
            return Place::Other;
        }
        self.open >>= 1;
        self.depth -= 1;
        match self.depth {
            0 => Place::After,
            _ => Place::Inside,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Balance;

    #[test]
    fn an_object_is_complete_at_its_last_bracket() {
        let deep = |depth| format!("{}{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        let objects = [
            "{}",
            " {\"a\": [1, {\"b\": \"}\\\"]\"}]} ",
            "{\"a\":\"\\\\\"}",
            &deep(128),
        ];
        for object in objects {
            assert!(Balance::is_object(object), "{object}");
            let end = object.trim_end().len() - 1;
            for cut in (0..=end).filter(|cut| object.is_char_boundary(*cut)) {
                assert!(!Balance::is_object(&object[..cut]), "{object} at {cut}");
            }
        }
        for other in [
            "",
            "1",
            "[]",
            "{}}",
            "{} {}",
            "{]",
            "{[}]",
            "x{}",
            &deep(129),
        ] {
            assert!(!Balance::is_object(other), "{other}");
        }
    }
}
