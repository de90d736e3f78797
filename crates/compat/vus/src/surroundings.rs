//! What a run needs of the program around it.

use drumfire_k6::{Registry, Sample};

/// The level of a line of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Details.
    Debug,
    /// `console.log` of a script.
    Info,
    /// Something unexpected.
    Warning,
    /// A mistake of the script or of its target.
    Error,
}

impl Level {
    /// The word in logs.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// What a run needs of the program around it.
pub trait Surroundings {
    /// The bytes of a file.
    ///
    /// # Errors
    ///
    /// Why the file cannot be read.
    fn read(&mut self, path: &str) -> Result<Vec<u8>, String>;

    /// The secret of a key, from a source or from the default one.
    ///
    /// # Errors
    ///
    /// Why there is none.
    fn secret(&mut self, _source: Option<&str>, _key: &str) -> Result<String, String> {
        Err("no secret sources are configured".to_owned())
    }

    /// Write a line of a log. `source` is `console` for lines of the script.
    fn log(&mut self, level: Level, text: &str, source: Option<&str>);

    /// Receive a sample that the registry has counted.
    fn sample(&mut self, _registry: &Registry, _sample: &Sample<'_>) {}

    /// Write what is held back of samples: no further one comes.
    fn finish(&mut self) {}

    /// The number of the signals that ask for the end of the run.
    fn interrupts(&self) -> u32;

    /// Random bytes of the system.
    fn random(&mut self, bytes: &mut [u8]);
}
