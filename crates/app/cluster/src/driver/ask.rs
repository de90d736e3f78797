//! Requests the state of their runs from all coordinators of a group.

use super::access::{NatsCredentials, Role};
use super::{DriverError, spawn};
use crate::envelope::Message as _;
use crate::status::Status;
use futures::StreamExt as _;
use std::sync::mpsc;
use std::time::Duration;

/// The active runs of a group whose coordinators answer within this time. Answers of another
/// version are ignored.
///
/// # Errors
/// If the server is unreachable, or refuses the request.
pub fn runs_under_way(
    credentials: NatsCredentials,
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
            // An empty reply comes from the server, and means that the subject has no subscriber.
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
