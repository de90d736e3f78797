//! Output: text to the terminal, results to files.

use crate::exit::Failure;
use crate::flags::ColorChoice;
use crate::terminal;
use drumfire_report::Secrets;
use drumfire_report::style::Unicode;
use drumfire_report::untrusted::Untrusted;
use std::borrow::Cow;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The secrets of the plan that is run, which nothing that is written here shows.
static SECRETS: OnceLock<Secrets> = OnceLock::new();

/// Keeps secrets out of whatever is written from now on; a command has one plan.
pub(crate) fn hide(secrets: &[String]) {
    let _first = SECRETS.get_or_init(|| Secrets::new(secrets));
}

/// The secrets to keep out, if there are any.
fn hidden() -> Option<&'static Secrets> {
    SECRETS.get().filter(|secrets| !secrets.is_empty())
}

/// A result without secrets; `mask` is that of its format.
fn masked(bytes: &[u8], mask: impl Fn(&Secrets, &str) -> String) -> Cow<'_, [u8]> {
    match hidden() {
        None => Cow::Borrowed(bytes),
        Some(secrets) => Cow::Owned(mask(secrets, &String::from_utf8_lossy(bytes)).into_bytes()),
    }
}

/// A text without secrets.
fn masked_text(bytes: &[u8]) -> Cow<'_, [u8]> {
    masked(bytes, |secrets, text| secrets.masked(text).into_owned())
}

/// A text without secrets.
pub(crate) fn without_secrets(text: &str) -> String {
    String::from_utf8_lossy(&masked_text(text.as_bytes())).into_owned()
}

/// Bytes of JSON without secrets.
pub(crate) fn json_without_secrets(json: &[u8]) -> Cow<'_, [u8]> {
    masked(json, Secrets::masked_json)
}

/// Whether there are secrets to keep out.
pub(crate) fn has_secrets() -> bool {
    hidden().is_some()
}

/// Writes a plan to standard output: it has references in the place of secrets, and must stay as it
/// was written.
pub(crate) fn print_plan(text: &str) -> Result<(), Failure> {
    print_as_it_is(text.as_bytes())
}

/// Writes text to standard output, without secrets.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    print_as_it_is(&masked_text(bytes))
}

/// Writes text to standard output. A reader that has gone away is no error.
fn print_as_it_is(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("can't write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes lines of foreign text to standard output.
pub(crate) fn print_foreign(lines: &[String]) -> Result<(), Failure> {
    let unicode = terminal::stdout_style(ColorChoice::Never).unicode;
    let lines = lines.iter();
    let lines: String = lines
        .map(|line| Untrusted::new(line).escaped(unicode) + "\n")
        .collect();
    print(lines.as_bytes())
}

/// Writes to standard error as it is: what moves the terminal's cursor is our own.
pub(crate) fn draw(text: &str) {
    let mut stderr = io::stderr().lock();
    // Standard error is closed: the message has no other place.
    let _closed = stderr
        .write_all(&masked_text(text.as_bytes()))
        .and_then(|()| stderr.flush());
}

/// Puts a text in place of the live line.
pub(crate) fn replace_line(text: &str) {
    draw(&format!("\r\x1b[K{text}"));
}

/// Writes a remark to standard error, without anything in it that a terminal would obey: parts of
/// it may come from a server.
pub(crate) fn remark(text: &str) {
    draw(&Untrusted::new(text).escaped_lines());
}

/// Writes an error message to standard error.
pub(crate) fn complain(message: &str) {
    remark(&format!("drumfire: {message}\n"));
}

/// A file that a result will be written to, found writable before the run.
#[derive(Debug)]
pub(crate) enum Destination {
    /// Standard output, in place of the text.
    Stdout,
    /// A file.
    File(PathBuf),
}

impl Destination {
    /// Looks whether a result can be written there. An existing file keeps its content until the
    /// new one is complete.
    pub(crate) fn check(flag: &str, path: &Path) -> Result<Self, Failure> {
        if path == Path::new("-") {
            return Ok(Self::Stdout);
        }
        if path.to_string_lossy().starts_with(['{', '[']) {
            let shown: String = path.to_string_lossy().chars().take(64).collect();
            let message = format!(
                "{flag} takes the name of a file, and `{}` is data; a body of JSON is \
                 -d '{{…}}' -H 'Content-Type: application/json'",
                Untrusted::new(&shown).escaped(Unicode::On)
            );
            return Err(Failure::usage(message));
        }
        let wrong = |error: io::Error| {
            Failure::usage(format!("{flag}: can't write {}: {error}", path.display()))
        };
        if path.is_dir() {
            return Err(wrong(io::Error::other(
                "it is a directory; name a file in it",
            )));
        }
        let existed = path.exists();
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)
            .map_err(wrong)?;
        if !existed {
            fs::remove_file(path).map_err(wrong)?;
        }
        Ok(Self::File(path.to_owned()))
    }

    /// Writes a result in JSON, without secrets.
    pub(crate) fn write_json(&self, json: &[u8]) -> Result<(), Failure> {
        self.write(&json_without_secrets(json))
    }

    /// Writes a result as text, without secrets.
    pub(crate) fn write_text(&self, text: &[u8]) -> Result<(), Failure> {
        self.write(&masked_text(text))
    }

    /// Writes the result: beside the file first, then in its place, so that a full disk leaves the
    /// previous file intact.
    fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        self.stream(&mut |out| out.write_all(bytes))
    }

    /// The same of a result that is made as it is written.
    pub(crate) fn stream(
        &self,
        write: &mut dyn FnMut(&mut dyn io::Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let Self::File(path) = self else {
            let mut stdout = BufWriter::new(io::stdout().lock());
            return match write(&mut stdout).and_then(|()| stdout.flush()) {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                    Err(Failure::failed(format!("can't write to stdout: {error}")))
                }
                _ => Ok(()),
            };
        };
        let wrong =
            |error: io::Error| Failure::failed(format!("can't write {}: {error}", path.display()));
        let mut filled = |path: &Path| {
            let mut file = BufWriter::new(File::create(path)?);
            write(&mut file)?;
            file.flush()
        };
        // Devices and pipes can't be replaced.
        if path.exists() && !path.is_file() {
            return filled(path).map_err(wrong);
        }
        let mut beside = path.clone().into_os_string();
        beside.push(format!(".{}.tmp", std::process::id()));
        let beside = PathBuf::from(beside);
        let written = filled(&beside).and_then(|()| fs::rename(&beside, path));
        written.map_err(|error| {
            // The partial file is of no use; a failure to remove it changes nothing.
            let _left = fs::remove_file(&beside);
            wrong(error)
        })
    }
}
