//! The observer that shows a run of this process in a browser while it is active.
//!
//! The observer listens before the run ([`RunPage::open`]), so that an address in use is detected
//! before anything is sent. It connects two independent parts: it passes the session's events to
//! the [`OwnRun`], which the [`Server`] reads. At the end, it first sets the run's last books and
//! then closes the server, so that viewers get the books as their last event.

use crate::library::Library;
use crate::own_run::{OwnRun, Subject};
use crate::server::Server;
use crate::site::RunSite;
use drumfire_measure::{RunEvent, Summary};
use drumfire_session::{Console, Note, Observer, RunContext, SessionError};
use std::io;
use std::sync::Arc;

/// The page of an active run.
pub struct RunPage {
    run: Arc<OwnRun>,
    server: Server,
    console: Arc<dyn Console>,
}

impl RunPage {
    /// Listens on an address of loopback, and serves the run and the stored runs. When the run
    /// begins, the page's address is printed on the console.
    ///
    /// # Errors
    /// If the address is not on loopback, or cannot be listened on.
    pub fn open(
        address: &str,
        subject: &Subject<'_>,
        library: Option<Library>,
        console: Arc<dyn Console>,
    ) -> io::Result<Self> {
        let run = Arc::new(OwnRun::new(subject));
        let site = RunSite::of_own(Arc::clone(&run), library);
        Ok(Self {
            run,
            server: Server::start(address, site)?,
            console,
        })
    }

    /// The address of the page of the run with this name, with the token.
    #[must_use]
    pub fn address(&self, run: &str) -> String {
        format!("{}run/{run}/", self.server.url())
    }
}

impl Observer for RunPage {
    fn run_started(&mut self, run: &RunContext) -> Result<(), SessionError> {
        self.run.set_run(run);
        let address = self.address(&run.info.id);
        self.console.note(&format!("the run's page is {address}"));
        Ok(())
    }

    fn observe(&mut self, event: &RunEvent) {
        self.run.observe(event);
    }

    fn finish(self: Box<Self>, summary: &Summary) -> Vec<Note> {
        self.run.set_books(summary);
        self.server.close();
        Vec::new()
    }
}
