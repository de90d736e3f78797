//! The observer that gives an agent's run to its driver.

use crate::from_agent::FromAgent;
use crate::message::Content;
use drumfire_engine::Appointment;
use drumfire_measure::{Ending, Interval, RunEvent, Summary, Validity, encode_event};
use drumfire_plan::StopReason;
use drumfire_session::{Observer, Redactor, RunContext, SessionError};
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;

/// Reports every event of a share's run, and lets the driver command it. It is attached with a
/// thread of its own.
///
/// Servers repeat what they are sent, so that secrets are masked here as in what is stored.
#[derive(Debug)]
pub struct Courier {
    pub(crate) sender: UnboundedSender<FromAgent>,
    pub(crate) redactor: Redactor,
    /// The one that the run's workers keep.
    pub(crate) appointment: Appointment,
}

impl Courier {
    /// The ending without secrets; bodies of failures stay here where there are any.
    fn masked(&self, summary: &Summary) -> Ending {
        let mut ending = summary.ending(None);
        if self.redactor.has_secrets() {
            ending.failed_bodies.take();
        }
        ending.with_texts(&|text| self.redactor.text(text).into_owned())
    }

    fn send(&self, message: FromAgent) {
        // The send fails only if the driver has left, which has ended the run.
        let _left = self.sender.send(message);
    }
}

/// The gravest reason for which a share's run is invalid.
fn invalid(summary: &Summary) -> Option<String> {
    let verdict = &summary.verdict;
    let reason = verdict.reasons.first()?;
    (verdict.validity == Validity::Invalid).then(|| reason.text.clone())
}

impl Observer for Courier {
    fn begin(&mut self, run: &RunContext) -> Result<(), SessionError> {
        let given = self.sender.send(FromAgent::Control(run.control.clone()));
        if given.is_err() {
            // The driver has left while the share was prepared: nobody will name the start.
            run.control.end(StopReason::Command);
            self.appointment.call_off();
        }
        Ok(())
    }

    fn observe(&mut self, event: &RunEvent) {
        let content = match event {
            // Its facts were told before, and its time is the coordinator's.
            RunEvent::Started(_) => return,
            // A body may have a secret anywhere.
            RunEvent::Failed(_) if self.redactor.has_secrets() => return,
            RunEvent::Finished(summary) => {
                if let Some(reason) = invalid(summary) {
                    self.send(FromAgent::Content(Content::Invalid(reason)));
                }
                Content::Ending(self.masked(summary).encode())
            }
            RunEvent::IntervalClosed(interval) if self.redactor.has_secrets() => {
                let mut interval = Interval::clone(interval);
                interval.rewrite_messages(&|text| self.redactor.text(text).into_owned());
                Content::Event(encode_event(&RunEvent::IntervalClosed(Arc::new(interval))))
            }
            event => Content::Event(encode_event(event)),
        };
        self.send(FromAgent::Content(content));
    }
}
