//! Messages of a session while the screen covers the terminal.

/// The maximum number of messages that are kept until the screen is left.
const NOTES_MAX: usize = 200;

/// The messages so far: the first ones are kept until the screen is left, and the newest is shown.
#[derive(Default)]
pub(crate) struct Notes {
    kept: Vec<String>,
    newest: Option<String>,
    left_out: u64,
}

impl Notes {
    /// Adds a message. Messages beyond the limit are only counted.
    pub(crate) fn add(&mut self, message: &str) {
        self.newest = Some(message.to_owned());
        match self.kept.len() < NOTES_MAX {
            true => self.kept.push(message.to_owned()),
            false => self.left_out += 1,
        }
    }

    /// The number of messages so far.
    pub(crate) fn count(&self) -> u64 {
        self.kept.len() as u64 + self.left_out
    }

    /// The newest message.
    pub(crate) fn newest(&self) -> Option<&str> {
        self.newest.as_deref()
    }

    /// The kept messages in order, followed by the number of the others.
    pub(crate) fn into_messages(self) -> Vec<String> {
        let mut messages = self.kept;
        match self.left_out {
            0 => {}
            1 => messages.push("1 more message arrived while the screen was shown".to_owned()),
            more => messages.push(format!(
                "{more} more messages arrived while the screen was shown"
            )),
        }
        messages
    }
}

#[cfg(test)]
mod tests {
    use super::{NOTES_MAX, Notes};

    #[test]
    fn messages_without_room_are_counted_and_the_newest_is_shown() {
        let mut notes = Notes::default();
        let add = |notes: &mut Notes, count: usize| {
            for number in 0..count {
                notes.add(&format!("message {number}"));
            }
        };
        add(&mut notes, NOTES_MAX);
        assert_eq!(notes.newest(), Some("message 199"));
        notes.add("one");
        notes.add("two");
        assert_eq!(notes.newest(), Some("two"));
        let messages = notes.into_messages();
        assert_eq!(messages.len(), NOTES_MAX + 1);
        assert_eq!(
            messages[NOTES_MAX],
            "2 more messages arrived while the screen was shown"
        );
        let mut few = Notes::default();
        add(&mut few, 1);
        assert_eq!(few.into_messages(), ["message 0"]);
    }
}
