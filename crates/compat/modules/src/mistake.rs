//! Mistakes in the text of one module.

use oxc::diagnostics::Diagnostics;
use oxc::span::Span;

/// A mistake at a byte of a text.
pub(crate) struct Mistake {
    /// The byte.
    pub(crate) offset: usize,
    /// The mistake, and what would be right.
    pub(crate) message: String,
}

impl Mistake {
    /// The first error of the parser, as a result.
    pub(crate) fn first(diagnostics: &Diagnostics) -> Result<(), Self> {
        let Some(error) = diagnostics.errors().next() else {
            return Ok(());
        };
        let offset = error
            .labels
            .first()
            .map_or(0, |label| label.offset() as usize);
        let help = error.help.iter().map(|help| format!("; {help}"));
        let message = std::iter::once(error.message.to_string())
            .chain(help)
            .collect();
        Err(Self { offset, message })
    }

    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        Self {
            offset: span.start as usize,
            message: message.into(),
        }
    }
}
