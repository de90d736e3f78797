//! What comes in from outside: arguments, files, standard input.

use crate::exit::Failure;
use drumfire_dialects::Source;
use drumfire_dialects::ghz::ZoneTime;
use drumfire_dialects::ghz::template::World;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

/// A file larger than this is not read into memory: 1 GiB.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// The disk, as dialects see it.
pub(crate) struct Disk;

impl Source for Disk {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        read_bounded(fs::File::open(path)?)
    }
}

/// The machine, as dialects see it.
#[derive(Debug)]
pub(crate) struct Machine {
    /// `TZ`, or else the system's zone; `None` where there are no zone data.
    local: Option<TimeZone>,
}

impl Machine {
    pub(crate) fn new() -> Self {
        Self {
            local: TimeZone::try_system().ok(),
        }
    }
}

impl World for Machine {
    fn zone(&self, place: &str, unix_seconds: i64) -> Option<ZoneTime> {
        let zone = match place {
            "Local" => self.local.clone()?,
            name => TimeZone::get(name).ok()?,
        };
        let shown = zone.to_offset_info(Timestamp::from_second(unix_seconds).ok()?);
        Some(ZoneTime {
            offset_seconds: shown.offset().seconds(),
            abbreviation: shown.abbreviation().to_owned(),
        })
    }

    fn variable(&self, name: &str) -> Option<String> {
        Some(std::env::var(name).unwrap_or_default())
    }
}

/// Reads a file that a flag names.
pub(crate) fn file(flag: &str, path: &Path) -> Result<Vec<u8>, Failure> {
    let read = fs::File::open(path).and_then(read_bounded);
    read.map_err(|error| Failure::usage(format!("{flag}: can't read {}: {error}", path.display())))
}

/// Reads a schema's file, or says that there is none.
pub(crate) fn proto(path: &str) -> io::Result<Vec<u8>> {
    read_bounded(fs::File::open(path)?)
}

/// Reads a value that is a file's content after `@`, standard input after `@-`, or the text itself.
pub(crate) fn text_or_file(flag: &str, value: &str) -> Result<Vec<u8>, Failure> {
    match value.strip_prefix('@') {
        None => Ok(value.as_bytes().to_vec()),
        Some("-") => read_bounded(io::stdin().lock())
            .map_err(|error| Failure::usage(format!("{flag}: can't read stdin: {error}"))),
        Some(path) => file(flag, Path::new(path)),
    }
}

/// Reads to the end, within the limit.
fn read_bounded(from: impl io::Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other("it is larger than 1 GiB"));
    }
    Ok(bytes)
}

/// Arguments as text.
pub(crate) fn texts(args: impl IntoIterator<Item = OsString>) -> Result<Vec<String>, Failure> {
    args.into_iter()
        .map(|arg| {
            arg.into_string()
                .map_err(|arg| Failure::usage(format!("the argument {arg:?} is not valid UTF-8")))
        })
        .collect()
}
