//! The question to all coordinators of a group for the state of their runs.

use super::access::{Credentials, Role};
use super::{DriverError, spawn};
use crate::envelope::Message as _;
use crate::status::Status;
use futures::StreamExt as _;
use std::sync::mpsc;
use std::time::Duration;

/// The runs under way in a group, as their coordinators tell within this time. What one of
/// another version says is passed over.
///
/// # Errors
/// When the server can't be reached, or refuses the question.
pub fn runs_under_way(
    credentials: Credentials,
    within: Duration,
) -> Result<Vec<Status>, DriverError> {
    let (found, runs) = mpsc::channel();
    let thread = spawn("status", move || async move {
        let (client, mut refusals) = credentials.connect(Role::Coordinator).await?;
        let inbox = client.new_inbox();
        let wrong = |error: &dyn std::fmt::Display| DriverError::Stream(error.to_string());
        let replies = client.subscribe(inbox.clone()).await;
        let mut replies = replies.map_err(|error| wrong(&error))?;
        let subject = credentials.subject("status");
        let asked = client
            .publish_with_reply(subject, inbox, Vec::new().into())
            .await;
        asked.map_err(|error| wrong(&error))?;
        let end = tokio::time::sleep(within);
        tokio::pin!(end);
        loop {
            let reply = tokio::select! {
                Some(refusal) = refusals.recv() => return Err(DriverError::Forbidden(refusal)),
                reply = replies.next() => reply,
                () = &mut end => None,
            };
            let Some(reply) = reply else {
                return Ok(());
            };
            // An empty reply of the server is a subject without a subscriber.
            if let Ok(status) = Status::decode(&reply.payload) {
                // The receiver waits for the end of this thread.
                let _taken = found.send(status);
            }
        }
    })?;
    let asked = thread.join();
    asked.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    let mut runs: Vec<Status> = runs.try_iter().collect();
    runs.sort_by(|a, b| (&a.run, a.term).cmp(&(&b.run, b.term)));
    Ok(runs)
}
