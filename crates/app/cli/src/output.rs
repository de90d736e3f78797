//! Output: text to the terminal, results to files, without the secrets of the command's plan.

use crate::exit::Failure;
use crate::flags::ColorChoice;
use crate::input;
use crate::terminal;
use drumfire_report::style::{Style, Unicode};
use drumfire_report::untrusted::Untrusted;
use drumfire_session::{Console, Redactor};
use drumfire_units::system_words;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Standard output and standard error of one command. Clones share the command's secrets.
///
/// All text on standard error, from every thread, passes through [`Output::draw`].
#[derive(Clone)]
pub(crate) struct Output {
    redactor: Redactor,
    color: ColorChoice,
    /// The console in front of standard error, while the screen is shown.
    front: Option<Arc<dyn Console>>,
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Output");
        shown.field("color", &self.color).finish_non_exhaustive()
    }
}

impl Output {
    /// The output of a command whose flags are not parsed yet.
    pub(crate) fn new() -> Self {
        Self {
            redactor: Redactor::default(),
            color: ColorChoice::Auto,
            front: None,
        }
    }

    /// A clone with this choice of colour.
    pub(crate) fn colored(&self, color: ColorChoice) -> Self {
        Self {
            color,
            ..self.clone()
        }
    }

    /// The secrets that are masked in all output.
    pub(crate) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// The style for text on standard output.
    pub(crate) fn stdout_style(&self) -> Style {
        terminal::stdout_style(self.color)
    }

    /// The console for threads of a session.
    pub(crate) fn console(&self) -> Arc<dyn Console> {
        match &self.front {
            Some(console) => Arc::clone(console),
            None => Arc::new(self.clone()),
        }
    }

    /// A clone whose sessions use another console.
    pub(crate) fn behind(&self, console: Arc<dyn Console>) -> Self {
        Self {
            front: Some(console),
            ..self.clone()
        }
    }

    /// Writes a plan to standard output unmasked. A plan contains references instead of secrets,
    /// and must be printed exactly as it was written.
    pub(crate) fn print_plan(&self, text: &str) -> Result<(), Failure> {
        print_as_it_is(text.as_bytes())
    }

    /// Writes text to standard output, with secrets masked.
    pub(crate) fn print(&self, bytes: &[u8]) -> Result<(), Failure> {
        print_as_it_is(&self.redactor.bytes(bytes))
    }

    /// Writes lines of foreign text to standard output.
    pub(crate) fn print_foreign(&self, lines: &[String]) -> Result<(), Failure> {
        let unicode = terminal::stdout_style(ColorChoice::Never).unicode;
        let lines = lines.iter();
        let lines: String = lines
            .map(|line| Untrusted::new(line).escaped(unicode) + "\n")
            .collect();
        self.print(lines.as_bytes())
    }

    /// Writes to standard error without escaping. Only our own text moves the terminal's cursor.
    pub(crate) fn draw(&self, text: &str) {
        let mut stderr = io::stderr().lock();
        // If standard error is closed, the message is lost.
        let _closed = stderr
            .write_all(self.redactor.text(text).as_bytes())
            .and_then(|()| stderr.flush());
    }

    /// Writes a remark to standard error. Control characters are escaped, because parts of the text
    /// may come from a server. Errors of the operating system lose their numbers.
    pub(crate) fn remark(&self, text: &str) {
        self.draw(&Untrusted::new(&system_words(&text)).escaped_lines());
    }

    /// Writes an error message to standard error.
    pub(crate) fn complain(&self, message: &str) {
        self.remark(&format!("drumfire: {message}\n"));
    }
}

impl Console for Output {
    fn note(&self, message: &str) {
        self.complain(message);
    }

    fn replace_line(&self, line: &str) {
        self.draw(&format!("\r\x1b[K{line}"));
    }

    fn style(&self) -> Style {
        terminal::stderr_style(self.color)
    }

    fn columns(&self) -> usize {
        usize::from(terminal::columns())
    }
}

/// Fails if standard output is missing. A program started without one (`>&-`) would write to
pub(crate) fn check_stdout() -> Result<(), Failure> {
    match drumfire_net::stdout_was_closed() {
        true => Err(Failure::failed("can't write to stdout: it is closed")),
        false => Ok(()),
    }
}

/// Writes text to standard output. A reader that closed the pipe is not an error.
fn print_as_it_is(bytes: &[u8]) -> Result<(), Failure> {
    if !bytes.is_empty() {
        check_stdout()?;
    }
    stream_as_tool(&mut |out| out.write_all(bytes)).map(|_| ())
}

/// The state of standard output's reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// All data was written.
    There,
    /// The other end closed the pipe.
    Gone,
}

/// Writes to standard output as another tool does. An output that was closed from the start accepts
/// everything, because Go's runtime opens `/dev/null` in its place.
pub(crate) fn stream_as_tool(
    write: &mut dyn FnMut(&mut dyn io::Write) -> io::Result<()>,
) -> Result<Reader, Failure> {
    let mut stdout = BufWriter::new(io::stdout().lock());
    match write(&mut stdout).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(Reader::There),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Reader::Gone),
        Err(error) => Err(Failure::failed(format!("can't write to stdout: {error}"))),
    }
}

/// The destination of a result, found writable before the run.
#[derive(Clone, Debug)]
pub(crate) enum Destination {
    /// Standard output, instead of the text.
    Stdout,
    /// A file.
    File(PathBuf),
}

/// The forms of results by their settings, with the usual endings of files.
const FORMS: [(&str, &str, &str); 5] = [
    ("html", "HTML", "html"),
    ("json", "JSON", "json"),
    ("csv", "CSV", "csv"),
    ("junit", "XML", "xml"),
    ("markdown", "Markdown", "md"),
];
/// The endings of files that no setting writes.
const OTHER_ENDINGS: [&str; 3] = ["pdf", "png", "svg"];

/// The form of a setting and its ending, if the name of the file has the ending of another form.
fn form_of_other_name(flag: &str, path: &Path) -> Option<(&'static str, &'static str)> {
    let setting = flag.rsplit(['-', ' ', '.']).next()?;
    let (_, form, ending) = FORMS.iter().find(|(of, ..)| *of == setting)?;
    let own = path.extension()?.to_str()?.to_ascii_lowercase();
    let mut others = FORMS.iter().map(|(.., other)| *other).chain(OTHER_ENDINGS);
    let is_other = own != *ending && others.any(|other| other == own);
    is_other.then_some((*form, *ending))
}

/// Why a file could not be written. If its folder is missing, the text names the folder.
pub(crate) fn why_not_written(path: &Path, error: &io::Error) -> String {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if error.kind() == io::ErrorKind::NotFound && !folder.exists() => {
            format!("the folder {} does not exist", folder.display())
        }
        _ => system_words(error),
    }
}

impl Destination {
    /// Checks that a result can be written to this path. An existing file keeps its content until
    /// the new file is complete.
    pub(crate) fn check(flag: &str, path: &Path) -> Result<Self, Failure> {
        if path == Path::new("-") {
            let closed = |failure: Failure| Failure::usage(format!("{flag}: {}", failure.message));
            return check_stdout().map(|()| Self::Stdout).map_err(closed);
        }
        if path.to_string_lossy().starts_with(['{', '[']) {
            let shown: String = path.to_string_lossy().chars().take(64).collect();
            let message = format!(
                "{flag} takes a file name, but `{}` is data; to send a JSON body, use \
                 -d '{{…}}' -H 'Content-Type: application/json'",
                Untrusted::new(&shown).escaped(Unicode::On)
            );
            return Err(Failure::usage(message));
        }
        if let Some((form, ending)) = form_of_other_name(flag, path) {
            return Err(Failure::usage(format!(
                "{flag}: {} would contain {form}; write a name that ends in .{ending}",
                path.display()
            )));
        }
        let wrong = |error: io::Error| {
            let why = why_not_written(path, &error);
            Failure::usage(format!("{flag}: can't write {}: {why}", path.display()))
        };
        input::check_name(path).map_err(wrong)?;
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

    /// Writes a result without secrets. The result is written to a temporary file in the same
    /// folder and then renamed, so that a full disk leaves the previous file intact.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        self.stream(&mut |out| out.write_all(bytes))
    }

    /// Writes a result that is produced while it is written, in the same way.
    pub(crate) fn stream(
        &self,
        write: &mut dyn FnMut(&mut dyn io::Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let Self::File(path) = self else {
            check_stdout()?;
            return stream_as_tool(write).map(|_| ());
        };
        // A link stays, and the file to which it leads is replaced.
        let path = &match path.canonicalize() {
            Ok(file) if path.is_symlink() => file,
            _ => path.clone(),
        };
        let wrong = |error: io::Error| {
            let why = why_not_written(path, &error);
            Failure::failed(format!("can't write {}: {why}", path.display()))
        };
        let mut filled = |path: &Path| {
            let mut file = BufWriter::new(File::create(path)?);
            write(&mut file)?;
            file.flush()
        };
        // Devices and pipes cannot be replaced.
        if path.exists() && !path.is_file() {
            return filled(path).map_err(wrong);
        }
        let mut beside = path.clone().into_os_string();
        beside.push(format!(".{}.tmp", std::process::id()));
        let beside = PathBuf::from(beside);
        let written = filled(&beside).and_then(|()| fs::rename(&beside, path));
        written.map_err(|error| {
            // The partial file is useless, and failing to remove it changes nothing.
            let _left = fs::remove_file(&beside);
            wrong(error)
        })
    }
}
