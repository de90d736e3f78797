//! The files of plans in the server's object store.
//!
//! A group has one bucket, so that the subjects of its users are known in advance. The name of an
//! object consists of the run and the file's number. The coordinator stores all files of a run
//! before any agent gets a share, and removes them after the run ends. The server removes the files
//! of a killed coordinator after [`AGE_MAX`].

use super::DriverError;
use crate::attachments::SentFile;
use async_nats::jetstream;
use async_nats::jetstream::object_store::{Config, ObjectStore};
use drumfire_units::Nanos;
use std::fmt;
use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, ReadBuf};
use tokio::sync::mpsc::Sender;

/// The age at which the server removes a file.
const AGE_MAX: Nanos = Nanos::from_secs(604_800);
/// The maximum time between two chunks.
const PATIENCE: Duration = Duration::from_secs(20);
/// The number of bytes that are read at a time.
const CHUNK: usize = 128 << 10;

/// The content of a file that is sent to agents.
pub type Content = Box<dyn Read + Send>;

/// The name of a file's object.
pub(super) fn object(run: &str, number: usize) -> String {
    format!("{run}/{number}")
}

/// Stores files under a run.
pub(super) async fn store(
    context: &jetstream::Context,
    bucket: &str,
    run: &str,
    contents: Vec<(SentFile, Content)>,
) -> Result<(), DriverError> {
    if contents.is_empty() {
        return Ok(());
    }
    let bucket = made(context, bucket).await?;
    for (number, (file, content)) in contents.into_iter().enumerate() {
        let stored = bucket
            .put(&*object(run, number), &mut Blocking(content))
            .await;
        let path = &file.path;
        stored.map_err(|error| DriverError::Stream(format!("could not send {path}: {error}")))?;
    }
    Ok(())
}

/// Removes the given number of files of a run.
pub(super) async fn remove(context: &jetstream::Context, bucket: &str, run: &str, count: usize) {
    if count == 0 {
        return;
    }
    // A file that could not be removed expires.
    if let Ok(bucket) = context.get_object_store(bucket).await {
        for number in 0..count {
            let _stays = bucket.delete(object(run, number)).await;
        }
    }
}

/// Sends the chunks of an object, or the reason for which there are no more.
pub(super) async fn fetch(
    context: jetstream::Context,
    bucket: String,
    object: String,
    chunks: Sender<Result<Vec<u8>, String>>,
) {
    if let Err(reason) = fetched(&context, &bucket, &object, &chunks).await {
        // The agent may have given up.
        let _gone = chunks.send(Err(reason)).await;
    }
}

async fn fetched(
    context: &jetstream::Context,
    bucket: &str,
    object: &str,
    chunks: &Sender<Result<Vec<u8>, String>>,
) -> Result<(), String> {
    let wrong = |error: &dyn fmt::Display| error.to_string();
    let slow = |_| "no data arrived in time".to_owned();
    let bucket = context.get_object_store(bucket).await;
    let bucket = bucket.map_err(|error| wrong(&error))?;
    let object = bucket.get(object).await;
    let mut object = object.map_err(|error| wrong(&error))?;
    loop {
        let mut chunk = vec![0; CHUNK];
        let read = tokio::time::timeout(PATIENCE, object.read(&mut chunk)).await;
        let count = read.map_err(slow)?.map_err(|error| wrong(&error))?;
        chunk.truncate(count);
        if count == 0 || chunks.send(Ok(chunk)).await.is_err() {
            return Ok(());
        }
    }
}

/// A group's bucket, which the first coordinator of the group creates.
async fn made(context: &jetstream::Context, bucket: &str) -> Result<ObjectStore, DriverError> {
    if let Ok(known) = context.get_object_store(bucket).await {
        return Ok(known);
    }
    let made = context.create_object_store(Config {
        bucket: bucket.to_owned(),
        max_age: AGE_MAX.as_duration(),
        ..Config::default()
    });
    let made = made.await;
    made.map_err(|error| {
        DriverError::Stream(format!(
            "could not create the object store {bucket}: {error}"
        ))
    })
}

/// A content whose reading blocks its thread, which has no other work before the run.
struct Blocking(Content);

impl AsyncRead for Blocking {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let count = self.0.read(into.initialize_unfilled())?;
        into.advance(count);
        Poll::Ready(Ok(()))
    }
}
