//! A run at one moment, as its page shows it.

use drumfire_report::html::{Document, Part, Place};

/// A run at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    /// The title of the page.
    pub(crate) title: String,
    /// The parts, with secrets masked.
    pub(crate) parts: Vec<Part>,
    /// Whether the run is active and accepts commands.
    pub(crate) is_live: bool,
}

impl Look {
    /// The page.
    pub(crate) fn page(&self) -> Vec<u8> {
        let place = match self.is_live {
            true => Place::Live,
            false => Place::Served,
        };
        let document = Document {
            title: &self.title,
            place,
            parts: &self.parts,
        };
        document.print()
    }
}
