//! The observer that shows a run of this process in a browser while it goes on.
//!
//! It listens before the run ([`RunPage::open`]), so that an address in use is known before
//! anything is sent. It joins two things that do not know each other: the session's events, which
//! it hands to the [`OwnRun`], and the [`Server`], which reads that. At the end the run's last
//! books are set first and the server closed then, so that viewers get them as their last event.

use crate::library::Library;
use crate::own_run::{OwnRun, Subject};
use crate::server::Server;
use crate::site::Site;
use drumfire_measure::{RunEvent, Summary};
use drumfire_session::{Console, Note, Observer, RunContext, SessionError};
use std::io;
use std::sync::Arc;

/// The page of a run while it goes on.
pub struct RunPage {
    run: Arc<OwnRun>,
    server: Server,
    console: Arc<dyn Console>,
}

impl RunPage {
    /// Listens at an address of loopback for those who want to see a run, and the stored runs beside
    /// it. The console is given the page's address when the run begins.
    ///
    /// # Errors
    /// When the address is none of loopback, or can't be listened on.
    pub fn open(
        address: &str,
        subject: &Subject<'_>,
        library: Option<Library>,
        console: Arc<dyn Console>,
    ) -> io::Result<Self> {
        let run = Arc::new(OwnRun::new(subject));
        let site = Site::of_own(Arc::clone(&run), library);
        Ok(Self {
            run,
            server: Server::start(address, site)?,
            console,
        })
    }
}

impl Observer for RunPage {
    fn begin(&mut self, run: &RunContext) -> Result<(), SessionError> {
        self.run.begin(run.control.clone());
        let (url, id) = (self.server.url(), &run.info.id);
        self.console
            .note(&format!("the run's page is {url}run/{id}/"));
        Ok(())
    }

    fn observe(&mut self, event: &RunEvent) {
        self.run.observe(event);
    }

    fn finish(self: Box<Self>, summary: &Summary) -> Vec<Note> {
        self.run.end(summary);
        self.server.close();
        Vec::new()
    }
}
