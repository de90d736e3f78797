//! Violations of the RFC that were accepted in a response: each has a name and a count.
//!
//! A client that refuses such a response would measure its own strictness, and one that accepts it
//! silently would hide a server's mistake. So the response stays ok and the leniency is counted.
//! New ones are added at the end of the table: the index is a bit of [`Leniencies`], and the name a
//! key in outputs and stored runs.

use crate::form;
use crate::form::Named;

/// Declares [`Leniency`] from one table: variant, stable name, description, and, if the description
/// needs it, its effect for the manual.
macro_rules! leniencies {
    ($($variant:ident $name:literal $words:literal $($details:literal)?,)*) => {
        /// A violation that was accepted in a response; the response stays ok.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Leniency {
            $(#[doc = $words] $variant,)*
        }

        impl Leniency {
            /// Every leniency, in the order of its index.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The stable name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// A description of the violation, for the report.
            #[must_use]
            pub const fn words(self) -> &'static str {
                match self { $(Self::$variant => $words,)* }
            }

            /// The sentence that follows the description in the manual: the effect on the response;
            /// empty if the description is enough.
            #[must_use]
            pub const fn details(self) -> &'static str {
                match self { $(Self::$variant => concat!($($details)?),)* }
            }
        }
    };
}

leniencies! {
    HigherMinor "higher_minor" "a minor version above 1, read as HTTP/1.1 (RFC 9110 section 2.5)",
    BareLf "bare_lf" "lines that end in LF alone (RFC 9112 section 2.2)"
        "This concerns the lines of the head.",
    ObsFold "obs_fold" "a header field folded over several lines (RFC 9112 section 5.2)"
        "The fold is read as a space.",
    DuplicateLength "duplicate_length" "the same Content-Length more than once (RFC 9110 section 8.6)"
        "The field counts once.",
    Excess "excess" "bytes after the end of the response, discarded with the connection",
    LengthAndCoding "length_and_coding" "Content-Length together with Transfer-Encoding (RFC 9112 section 6.3)"
        "The Transfer-Encoding counts, and the connection is closed.",
    CodingInHttp10 "coding_in_http10" "Transfer-Encoding in an HTTP/1.0 response (RFC 9112 section 6.1)"
        "The Transfer-Encoding counts, and the connection is closed.",
    ChunkSpace "chunk_space" "white space after a chunk size",
    EmptyLine "empty_line" "an empty line before the status line (RFC 9112 section 2.2)"
        "The line is skipped.",
    NoCloseNotify "no_close_notify" "a body that ends with a TLS connection without close_notify (RFC 9112 section 9.8)"
        "The body may have been cut off. It is accepted only with `no_close_notify: true`.",
    UnendedEvent "unended_event" "an event stream whose last event lacks its empty line (HTML, section 9.2.6)"
        "The event counts, because its data are `[DONE]` or a JSON object. Other events without an empty line are `events:cut`.",
    UnmarkedEnd "unmarked_end" "a streamed answer of a language model without its end marker, such as `[DONE]`"
        "The answer is complete, because it has a reason for its end. Without one, it is `llm:cut`.",
    WebSocketLongLength "ws_long_length" "a WebSocket frame whose length has more bytes than needed (RFC 6455 section 5.2)",
    WebSocketExcess "ws_excess" "bytes after the close frame of a WebSocket"
        "They are discarded.",
    WebSocketFinalBlock "ws_final_block" "a compressed message of a WebSocket that ends with a final block (RFC 7692 section 7.2.1)"
        "The message counts, because it is complete.",
}

/// A set of leniencies, one bit each by [`Leniency::ALL`]; small enough to be part of every sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leniencies(pub u16);

form! { struct Leniencies(set) }

impl Named for Leniency {
    const KINDS: &'static [Self] = Self::ALL;

    fn stable_name(self) -> &'static str {
        self.name()
    }
}

impl Leniencies {
    /// Adds a leniency.
    pub fn insert(&mut self, leniency: Leniency) {
        self.0 |= 1 << leniency as u8;
    }

    /// Whether the set contains a leniency.
    #[must_use]
    pub fn contains(self, leniency: Leniency) -> bool {
        self.0 & (1 << leniency as u8) != 0
    }
}
