//! Pandora's command line, and its configuration file.

use super::value::{Format, has_more_documents};
use super::{PROGRAM, VERSION, fatal};
use crate::go_text::open_failed;
use crate::grammar::go_flag::{self, BadValue, Failure, Flag, FlagPlacement, Kind, Listed};
use crate::grammar::go_json;
use crate::grammar::go_number::boolean;
use crate::outcome::LastWords;
use drumfire_compile::{Found, Host};

/// The word for standard input, and its path.
const STDIN: (&str, &str) = ("-", "/dev/stdin");

/// The folders where a configuration without a given name is searched, and its name.
const FOLDERS: [&str; 3] = ["./", "./config/", "/etc/pandora/"];
const NAME: &str = "load";

/// The extensions of files, in the order of the search.
const EXTENSIONS: [(&str, Format); 5] = [
    ("json", Format::Json),
    ("toml", Format::Toml),
    ("yaml", Format::Yaml),
    ("yml", Format::Yaml),
    ("hcl", Format::Hcl),
];

/// The extensions of formats without lists, and therefore without pools.
const FLAT: [&str; 7] = [
    "dotenv",
    "env",
    "ini",
    "prop",
    "properties",
    "props",
    "tfvars",
];

/// The usage text.
const USAGE: &str = "\
Usage of Pandora: pandora [<config_filename>]
<config_filename> is './load.(yaml|json|...)' by default
  -example
    \tprint example config to STDOUT and exit
  -expvar
    \tenable expvar service (DEPRECATED, use monitoring config section instead)
  -version
    \tprint pandora core version
";

/// The flags.
#[derive(Debug, Default)]
struct Args {
    version: bool,
    expvar: bool,
    example: bool,
}

/// A row of the table for a switch.
const fn switch(
    name: &'static str,
    set: fn(&mut Args, &str) -> Result<(), BadValue>,
) -> Flag<Args> {
    Flag {
        name,
        kind: Kind::Bool,
        default: "false",
        help: "",
        listed: Listed::Yes,
        set,
    }
}

const FLAGS: [Flag<Args>; 3] = [
    switch("example", |args, text| {
        args.example = boolean(text)?;
        Ok(())
    }),
    switch("expvar", |args, text| {
        args.expvar = boolean(text)?;
        Ok(())
    }),
    switch("version", |args, text| {
        args.version = boolean(text)?;
        Ok(())
    }),
];

/// The text of a configuration file.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) format: Format,
    pub(super) text: String,
    /// Notes on the command line.
    pub(super) notes: Vec<String>,
}

/// Parses the command line and reads the configuration file.
///
/// # Errors
/// The text that is printed instead of running.
pub(super) fn read(args: &[String], host: &dyn Host) -> Result<Written, LastWords> {
    let mut flags = Args::default();
    let words = go_flag::parse(&FLAGS, FlagPlacement::First, args, &mut flags);
    let words = words.map_err(|failure| match failure {
        Failure::HelpWanted => LastWords::on_stderr(USAGE.to_owned(), 0),
        Failure::Mistake(message) => LastWords::on_stderr(format!("{message}\n{USAGE}"), 2),
    })?;
    let mut notes = Vec::new();
    if flags.expvar {
        let note = "-expvar flag is DEPRECATED. Use monitoring config section instead";
        notes.push(note.to_owned());
    }
    if flags.example {
        let message =
            "-example prints nothing in Pandora; see docs/dialects/pandora.md for an example";
        return Err(fatal(message));
    }
    if flags.version {
        let version = format!("Pandora core/{VERSION} (drumfire)\n");
        return Err(LastWords::on_stderr(version, 0));
    }
    let (name, format) = match &words[..] {
        [] => search(host)?,
        // Viper treats an empty name, for example from an unset variable, as absent.
        [name] if name.is_empty() => search(host)?,
        [name] if name == STDIN.0 => (STDIN.1.to_owned(), Format::Yaml),
        [name] => (name.clone(), format_of(name)?),
        words => {
            let words = words.join(" ");
            return Err(fatal(&format!("Too many command line arguments: {words}")));
        }
    };
    let failed = |why: &str| fatal(&format!("Config read failed: {why}"));
    let bytes = host.read(&name);
    let bytes = bytes.map_err(|error| failed(&open_failed(&name, &error)))?;
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| failed(&format!("{name}: not valid UTF-8")))?;
    if format == Format::Yaml && has_more_documents(&text) {
        notes.push(format!(
            "{name} has several YAML documents; only the first is used"
        ));
    }
    if format == Format::Json {
        notes.extend(go_json::repeated(&name, &text));
    }
    Ok(Written {
        format,
        text,
        notes,
    })
}

/// The default file if the command line names no file.
fn search(host: &dyn Host) -> Result<(String, Format), LastWords> {
    let paths = FOLDERS.iter().flat_map(|folder| {
        let names = EXTENSIONS.iter();
        names.map(move |(extension, format)| (format!("{folder}{NAME}.{extension}"), *format))
    });
    let mut paths = paths.filter(|(path, _)| host.look(path) == Found::File);
    paths.next().ok_or_else(|| {
        fatal(&format!(
            "Config read failed: Config File \"{NAME}\" Not Found in \"{}\"",
            FOLDERS.join(" ")
        ))
    })
}

/// The format of a file, by its extension.
fn format_of(path: &str) -> Result<Format, LastWords> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some((_, extension)) = name.rsplit_once('.') else {
        return Ok(Format::Yaml);
    };
    let extension = extension.to_ascii_lowercase();
    let known = EXTENSIONS.iter().find(|(known, _)| *known == extension);
    if let Some((_, format)) = known {
        return Ok(*format);
    }
    let message = match FLAT.contains(&extension.as_str()) {
        true => format!("a .{extension} file cannot contain lists, so it has no pools; use YAML"),
        false => format!("Unsupported Config Type \"{extension}\"; use yaml, json, toml or hcl"),
    };
    Err(fatal(&format!("Config read failed: {message}")))
}

/// A line that begins with the program's name.
pub(super) fn line(message: &str) -> String {
    format!("{PROGRAM}: {message}\n")
}
