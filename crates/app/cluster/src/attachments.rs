//! The parts that an agent needs in addition to the plan: its files, and the values that its setup
//! produced.
//!
//! A file goes through the server's object store, under the run and its number. Its name, size and
//! digest are in the assignment, so that an agent accepts only files that the coordinator listed. A
//! path is a key, exactly as written in the plan, and never a path on the agent.

use drumfire_measure::form;
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::io::{self, Read, Write};

/// The length of a digest in bytes.
const DIGEST: usize = 32;
/// The number of bytes that are read at a time.
const CHUNK: usize = 64 << 10;

/// The files of a plan, its folders, and the values of its setup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attachments {
    /// The files, in the order of their numbers.
    pub files: Vec<SentFile>,
    /// The folders in the plan.
    pub folders: Vec<String>,
    /// The names and values that the setup produced.
    pub taken: Vec<(String, String)>,
}

/// A file that is sent to agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentFile {
    /// The path as written in the plan.
    pub path: String,
    /// The size in bytes.
    pub size: u64,
    /// The SHA-256 digest.
    pub digest: [u8; DIGEST],
}

form! { struct Attachments { files, folders, taken } }
form! { struct SentFile { path, size, digest } }

/// Why a file did not arrive.
#[derive(Debug)]
pub enum FileError {
    /// The server, or the connection to it, did not provide the file.
    Missing(String),
    /// The file's size or digest differs from the coordinator's.
    Altered,
    /// The file cannot be written on this machine.
    Write(io::Error),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(reason) => write!(f, "could not fetch it from NATS: {reason}"),
            Self::Altered => f.write_str("its content differs from the coordinator's file"),
            Self::Write(error) => write!(f, "could not write it here: {error}"),
        }
    }
}

impl std::error::Error for FileError {}

impl SentFile {
    /// The description of a file with this path and content. Reads the content to its end.
    ///
    /// # Errors
    /// If the content cannot be read.
    pub fn describe(path: &str, content: &mut dyn Read) -> io::Result<Self> {
        let (mut size, mut hasher) = (0, Sha256::new());
        let mut chunk = vec![0; CHUNK];
        loop {
            match content.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => {
                    size += count as u64;
                    hasher.update(&chunk[..count]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self {
            path: path.to_owned(),
            size,
            digest: hasher.finalize().into(),
        })
    }

    /// Writes all chunks, and checks the size and digest of the file.
    pub(crate) fn receive(
        &self,
        chunks: impl Iterator<Item = Result<Vec<u8>, String>>,
        into: &mut dyn Write,
    ) -> Result<(), FileError> {
        let (mut size, mut hasher) = (0, Sha256::new());
        for chunk in chunks {
            let chunk = chunk.map_err(FileError::Missing)?;
            size += chunk.len() as u64;
            if size > self.size {
                return Err(FileError::Altered);
            }
            hasher.update(&chunk);
            into.write_all(&chunk).map_err(FileError::Write)?;
        }
        into.flush().map_err(FileError::Write)?;
        if size < self.size {
            return Err(FileError::Missing(format!("it ends after {size} bytes")));
        }
        let digest: [u8; DIGEST] = hasher.finalize().into();
        match digest == self.digest {
            true => Ok(()),
            false => Err(FileError::Altered),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_was_named_or_refused() {
        let file = SentFile::describe("a/b", &mut &b"one two"[..]).unwrap();
        assert_eq!(file.size, 7);
        for (chunks, is_taken) in [
            (&["one ", "two"][..], true),
            (&["one ", "twe"], false),
            (&["one "], false),
            (&["one ", "two", " three"], false),
        ] {
            let mut written = Vec::new();
            let given = chunks.iter().map(|chunk| Ok(chunk.as_bytes().to_vec()));
            let received = file.receive(given, &mut written);
            assert_eq!(received.is_ok(), is_taken, "{chunks:?}");
            assert!(written.len() as u64 <= file.size, "{chunks:?}");
        }
        let lost = [Ok(b"one".to_vec()), Err("gone".to_owned())];
        let lost = file.receive(lost.into_iter(), &mut Vec::new());
        assert!(lost.unwrap_err().to_string().contains("gone"));
    }
}
