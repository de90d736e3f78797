//! The parts of an answer that the next request of a session repeats, besides the generated texts:
//! which texts belong to which call of a tool, and the signature of the reasoning.
//!
//! They are read only if a plan wants them, so that other answers cost nothing more.

/// A part of a call of a tool, or a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// The identifier of a call.
    Id,
    /// The name of the tool.
    Name,
    /// A piece of the arguments.
    Arguments,
    /// The signature of the reasoning.
    Signature,
}

/// The parts in one event, in their order.
#[derive(Debug, Default)]
pub(crate) struct Links {
    text: String,
    parts: Vec<LinkPart>,
    /// The number of the call that is being read, and the number of its first part.
    call: u64,
    first: usize,
    /// The number of calls that the event has begun.
    begun: u64,
}

#[derive(Debug)]
struct LinkPart {
    call: u64,
    link: Link,
    end: usize,
}

impl Links {
    /// Begins the next event.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.parts.clear();
        (self.call, self.first, self.begun) = (0, 0, 0);
    }

    /// Begins a call of a list, whose number is its place in the list unless [`Links::number`]
    /// follows.
    pub(crate) fn begin(&mut self) {
        self.call = self.begun;
        self.begun += 1;
        self.first = self.parts.len();
    }

    /// Sets the number of the call, also of its parts before.
    pub(crate) fn number(&mut self, call: u64) {
        self.call = call;
        for part in &mut self.parts[self.first..] {
            part.call = call;
        }
    }

    pub(crate) fn push(&mut self, link: Link, text: &str) {
        self.text.push_str(text);
        self.parts.push(LinkPart {
            call: self.call,
            link,
            end: self.text.len(),
        });
    }

    /// The parts, each with the number of its call.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, Link, &str)> {
        let mut start = 0;
        self.parts.iter().map(move |part| {
            let text = &self.text[start..part.end];
            start = part.end;
            (part.call, part.link, text)
        })
    }
}
