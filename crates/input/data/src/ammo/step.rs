//! The contract of a format's decoder: a window of the file in, one step out.
//!
//! A decoder is given the bytes from the end of its last step on, and whether the file ends with
//! them. It puts at most one entry into the batch, and counts it in [`Step::Took`]. After [`Step::More`] it is called again with a longer window of the same beginning.

/// The result of reading the beginning of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// This many bytes, which made this many entries: one or none.
    Took { bytes: usize, rows: usize },
    /// The window ends within an entry.
    More,
    /// There is no further entry.
    End,
    /// A mistake.
    Broken { at: usize, message: String },
}

impl Step {
    /// A mistake at the beginning of the window.
    pub(super) fn broken(message: impl Into<String>) -> Self {
        Self::Broken {
            at: 0,
            message: message.into(),
        }
    }
}

/// The first line of a window and its length with its end; the step to answer where there is none.
pub(super) fn line(window: &[u8], is_last: bool) -> Result<(&[u8], usize), Step> {
    match window.iter().position(|byte| *byte == b'\n') {
        Some(end) => Ok((window[..end].trim_ascii(), end + 1)),
        None if !is_last => Err(Step::More),
        None if window.is_empty() => Err(Step::End),
        None => Ok((window.trim_ascii(), window.len())),
    }
}

/// A line as text.
pub(super) fn text(line: &[u8]) -> Result<&str, Step> {
    std::str::from_utf8(line).map_err(|_| Step::broken("the line is not UTF-8"))
}
