//! The observer that passes an agent's run to its driver.

use crate::from_agent::FromAgent;
use crate::redacted::Redacted;
use drumfire_engine::Appointment;
use drumfire_measure::{RunEvent, Summary, Validity};
use drumfire_plan::StopReason;
use drumfire_session::{Observer, Redactor, RunContext, SessionError};
use tokio::sync::mpsc::UnboundedSender;

/// Reports every event of a share's run, and lets the driver control the run. The courier needs its
/// own observer thread.
///
/// Secrets are masked here as in stored runs, because a server's responses may repeat them.
#[derive(Debug)]
pub struct Courier {
    pub(crate) sender: UnboundedSender<FromAgent>,
    pub(crate) redactor: Redactor,
    /// The appointment of the run's workers.
    pub(crate) appointment: Appointment,
}

impl Courier {
    fn send(&self, message: FromAgent) {
        // Sending fails only if the driver has left, which has ended the run.
        let _left = self.sender.send(message);
    }
}

/// The most serious reason for which a share's run is invalid.
fn invalid(summary: &Summary) -> Option<&str> {
    let verdict = &summary.verdict;
    let reason = verdict.reasons.first()?;
    (verdict.validity == Validity::Invalid).then_some(&*reason.text)
}

impl Observer for Courier {
    fn run_started(&mut self, run: &RunContext) -> Result<(), SessionError> {
        let given = self.sender.send(FromAgent::Control(run.control.clone()));
        if given.is_err() {
            // The driver left while the share was prepared, so no start will be set.
            run.control.stop_now(StopReason::Command);
            self.appointment.call_off();
        }
        Ok(())
    }

    fn observe(&mut self, event: &RunEvent) {
        if let RunEvent::Finished(summary) = event
            && let Some(reason) = invalid(summary)
        {
            let invalid = Redacted::invalid(reason, &self.redactor);
            self.send(FromAgent::Content(invalid));
        }
        if let Some(content) = Redacted::event(event, &self.redactor) {
            self.send(FromAgent::Content(content));
        }
    }
}
