//! The runs of a server: the run of this process, and stored runs.

use crate::library::{Library, Shelved, missing};
use crate::look::Look;
use crate::own_run::OwnRun;
use crate::route::ListQuery;
use drumfire_session::Order;
use std::sync::Arc;

/// The runs of a server.
#[derive(Clone, Default)]
pub struct RunSite {
    own: Option<Arc<OwnRun>>,
    library: Option<Library>,
}

/// A run with a page.
#[derive(Clone)]
pub(crate) enum Run {
    /// The run of this process.
    Own(Arc<OwnRun>),
    /// A stored run, whose process may be active.
    Shelved(Shelved),
}

impl RunSite {
    /// The site of stored runs.
    #[must_use]
    pub const fn of_library(library: Library) -> Self {
        Self {
            own: None,
            library: Some(library),
        }
    }

    /// The site of a run of this process and of the stored runs, if a library exists.
    pub(crate) const fn of_own(own: Arc<OwnRun>, library: Option<Library>) -> Self {
        Self {
            own: Some(own),
            library,
        }
    }

    /// The run with this name.
    ///
    /// # Errors
    /// If the run does not exist.
    pub(crate) fn run(&self, name: &str) -> Result<Run, String> {
        if let Some(own) = &self.own
            && own.id().as_deref() == Some(name)
        {
            return Ok(Run::Own(Arc::clone(own)));
        }
        let shelved = self.library.as_ref().and_then(|library| library.find(name));
        shelved.map(Run::Shelved).ok_or_else(|| missing(name))
    }

    /// A page of the list of runs.
    pub(crate) fn runs(&self, query: &ListQuery) -> Vec<u8> {
        match &self.library {
            Some(library) => library.page(query),
            None => Library::empty_page(),
        }
    }

    /// The page of the runs of a stored run's plan.
    ///
    /// # Errors
    /// If the run cannot be read, or its plan is unknown; the text has the reason.
    pub(crate) fn history(&self, run: &str) -> Result<Vec<u8>, String> {
        match &self.library {
            Some(library) => library.history(run),
            None => Err(missing(run)),
        }
    }

    /// The page that compares two stored runs.
    ///
    /// # Errors
    /// If one of them cannot be read; the text has the reason.
    pub(crate) fn compare(&self, base: &str, candidate: &str) -> Result<Vec<u8>, String> {
        match &self.library {
            Some(library) => library.compare(base, candidate),
            None => Err(missing(base)),
        }
    }
}

impl Run {
    /// A number that changes with the page.
    pub(crate) fn version(&self) -> u64 {
        match self {
            Self::Own(run) => run.version(),
            Self::Shelved(run) => run.version(),
        }
    }

    /// The current run. Reads and draws, which may take long.
    ///
    /// # Errors
    /// If the run cannot be read; the text has the reason.
    pub(crate) fn look(&self) -> Result<Look, String> {
        match self {
            Self::Own(run) => run
                .look()
                .ok_or_else(|| "the run has not started".to_owned()),
            Self::Shelved(run) => run.look(),
        }
    }

    /// Carries out a user's order. Returns the answer. May wait for another process.
    ///
    /// # Errors
    /// If the order is not carried out; the text has the reason.
    pub(crate) fn carry_out(&self, order: &Order<'_>) -> Result<String, String> {
        match self {
            Self::Own(run) => run.carry_out(order),
            Self::Shelved(run) => run.carry_out(order),
        }
    }
}
