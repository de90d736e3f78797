//! The things that travel with a plan: its files, and the values that its setup took.
//!
//! A file goes by the server's object store, under the run and its number; its name, size and digest
//! go with the assignment, so that an agent takes nothing that the coordinator did not name. A path
//! is a key among them as the plan has it, and leads to no place on an agent.

use drumfire_measure::form;
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::io::{self, Read, Write};

/// The bytes of a digest.
const DIGEST: usize = 32;
/// The bytes that are read at a time.
const CHUNK: usize = 64 << 10;

/// The files of a plan, its folders, and the values of its setup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attachments {
    /// The files, in the order of their numbers.
    pub files: Vec<SentFile>,
    /// Folders that the plan names.
    pub folders: Vec<String>,
    /// The names and values that the setup took.
    pub taken: Vec<(String, String)>,
}

/// A file that travels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentFile {
    /// Its path as the plan has it.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its SHA-256.
    pub digest: [u8; DIGEST],
}

form! { struct Attachments { files, folders, taken } }
form! { struct SentFile { path, size, digest } }

/// The reason why a file did not arrive.
#[derive(Debug)]
pub enum FileError {
    /// The server, or the connection to it, did not give it.
    Missing(String),
    /// It has another size or digest than the coordinator named.
    Altered,
    /// It can't be written here.
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
    /// The file at a path with this content, which is read to its end.
    ///
    /// # Errors
    /// Those of the content.
    pub fn of(path: &str, content: &mut dyn Read) -> io::Result<Self> {
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

    /// Writes chunks to their end, and compares them with what was named.
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
        let file = SentFile::of("a/b", &mut &b"one two"[..]).unwrap();
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
