//! The runs of a server: that of its own process, and those that are stored.

use crate::library::{Library, Shelved, missing};
use crate::look::Look;
use crate::own_run::OwnRun;
use drumfire_session::Order;
use std::sync::Arc;

/// The runs of a server.
#[derive(Clone, Default)]
pub struct Site {
    own: Option<Arc<OwnRun>>,
    library: Option<Library>,
}

/// A run that a page is of.
#[derive(Clone)]
pub(crate) enum Run {
    /// The run of this process.
    Own(Arc<OwnRun>),
    /// A stored one, whose process may go on.
    Shelved(Shelved),
}

impl Site {
    /// The site of stored runs.
    #[must_use]
    pub const fn of_library(library: Library) -> Self {
        Self {
            own: None,
            library: Some(library),
        }
    }

    /// The site of a run of this process, beside the stored ones, where there are any.
    pub(crate) const fn of_own(own: Arc<OwnRun>, library: Option<Library>) -> Self {
        Self {
            own: Some(own),
            library,
        }
    }

    /// The run of this name.
    ///
    /// # Errors
    /// When there is none; the text says so.
    pub(crate) fn run(&self, name: &str) -> Result<Run, String> {
        if let Some(own) = &self.own
            && own.id().as_deref() == Some(name)
        {
            return Ok(Run::Own(Arc::clone(own)));
        }
        let shelved = self.library.as_ref().and_then(|library| library.find(name));
        shelved.map(Run::Shelved).ok_or_else(|| missing(name))
    }

    /// The page of all runs.
    pub(crate) fn runs(&self) -> Vec<u8> {
        match &self.library {
            Some(library) => library.page(),
            None => Library::empty_page(),
        }
    }

    /// The page of the runs of the plan of a stored one.
    ///
    /// # Errors
    /// When it can't be read, or its plan is not known; the text says why.
    pub(crate) fn history(&self, run: &str) -> Result<Vec<u8>, String> {
        match &self.library {
            Some(library) => library.history(run),
            None => Err(missing(run)),
        }
    }

    /// The page of two stored runs.
    ///
    /// # Errors
    /// When one of them can't be read; the text says why.
    pub(crate) fn compare(&self, base: &str, candidate: &str) -> Result<Vec<u8>, String> {
        match &self.library {
            Some(library) => library.compare(base, candidate),
            None => Err(missing(base)),
        }
    }
}

impl Run {
    /// A number that differs when the page does.
    pub(crate) fn version(&self) -> u64 {
        match self {
            Self::Own(run) => run.version(),
            Self::Shelved(run) => run.version(),
        }
    }

    /// The run as it is now. It reads and draws, which may take long.
    ///
    /// # Errors
    /// When it can't be read; the text says why.
    pub(crate) fn look(&self) -> Result<Look, String> {
        match self {
            Self::Own(run) => run
                .look()
                .ok_or_else(|| "the run has not started".to_owned()),
            Self::Shelved(run) => run.look(),
        }
    }

    /// Carries out a person's order; gives the answer. It may wait for another process.
    ///
    /// # Errors
    /// When it is not carried out; the text has the reason.
    pub(crate) fn carry_out(&self, order: &Order<'_>) -> Result<String, String> {
        match self {
            Self::Own(run) => run.carry_out(order),
            Self::Shelved(run) => run.carry_out(order),
        }
    }
}
