//! curl command lines.

mod dots;
mod fields;
mod form;
mod glob;
mod options;
mod requests;
mod settings;
mod url;

use crate::exchange::{FormPart, ImportedRequests, Words, placed};
use crate::shape::shown;
use crate::shell;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_plan::percent;
use fields::Fields;
use settings::setting;
use std::collections::BTreeSet;
use std::slice;

/// Flags about the output of results.
const OF_RESULTS: [&str; 10] = [
    "--dump-header",
    "--fail",
    "--include",
    "--no-progress-meter",
    "--output",
    "--remote-name",
    "--show-error",
    "--silent",
    "--verbose",
    "--write-out",
];

/// Words before `curl` that do not change what it sends.
const BEFORE: [&str; 6] = ["$", "command", "env", "exec", "sudo", "time"];

/// Fields that curl adds and a plan does not, so that removing them has no effect.
const ABSENT: [&str; 3] = ["accept", "expect", "proxy-connection"];

/// Fields that a command line can remove.
const REMOVABLE: [&str; 6] = [
    "authorization",
    "content-type",
    "cookie",
    "range",
    "referer",
    "user-agent",
];

/// Reads one or more command lines.
pub(crate) fn read(text: &str) -> Result<ImportedRequests, String> {
    let mut all = ImportedRequests::default();
    let mut settings = Vec::new();
    let commands = shell::commands(text)?;
    for expansion in &commands.expansions {
        all.note(format!(
            "`{expansion}` is sent as it is: no shell expands it; write ${{env:NAME}} in the plan for an \
             environment variable"
        ));
    }
    for (words, start) in commands.words.into_iter().zip(commands.starts) {
        let is_curl = |word: &String| {
            let name = word.rsplit('/').next().unwrap_or_default();
            name == "curl" || name == "curl.exe"
        };
        match words.iter().position(is_curl) {
            // Options before `--next` apply to the URLs before it.
            Some(at) => {
                note_before(&words[..at], &mut all);
                for words in words[at + 1..].split(|word| ["--next", "-:"].contains(&&**word)) {
                    let own = Command::default().read(words, &mut all);
                    settings.push(own.map_err(|why| shell::in_line(text, start, &why))?);
                }
            }
            None => {
                let shown: String = words[0].chars().take(40).collect();
                all.note(format!(
                    "`{shown}` is not a curl command line and is left out"
                ));
            }
        }
    }
    note_shared(&settings, &mut all);
    Ok(all)
}

/// Notes the words before `curl`, which may send its request from another machine or several times.
fn note_before(words: &[String], all: &mut ImportedRequests) {
    let is_meant = |word: &&String| !BEFORE.contains(&word.as_str()) && !word.contains('=');
    let words: Vec<&str> = words.iter().filter(is_meant).map(String::as_str).collect();
    if !words.is_empty() {
        all.note(format!(
            "`{}` before `curl` is left out",
            shown(&words.join(" "))
        ));
    }
}

/// Notes settings that only some of several command lines have: a plan applies them to all
/// requests.
fn note_shared(settings: &[BTreeSet<String>], all: &mut ImportedRequests) {
    let names: BTreeSet<&String> = settings.iter().flatten().collect();
    for name in names {
        let having = settings.iter().filter(|own| own.contains(name)).count();
        if having < settings.len() {
            all.note(format!(
                "`{name}` is set in {having} of {} command lines and applies to all requests of \
                 the plan",
                settings.len()
            ));
        }
    }
}

/// One command line.
#[derive(Default)]
struct Command {
    urls: Vec<String>,
    method: Option<String>,
    fields: Fields,
    data: Vec<Data>,
    /// The files of `--upload-file`, one for each URL in their order.
    uploads: Vec<String>,
    query: Vec<String>,
    /// The parts of `--form`.
    parts: Option<Vec<FormPart>>,
    /// The flags that are settings of the whole plan.
    settings: BTreeSet<String>,
    /// The user and the password, which an `Authorization` field overrides.
    user: Option<String>,
    auth: Auth,
    /// The options of ways to authenticate that a plan lacks, since the last `--basic`.
    other_auths: Vec<String>,
    is_head: bool,
    data_in_query: bool,
    is_json: bool,
    form: UrlForm,
    dots: Dots,
    /// The number of redirects that `--location` follows.
    redirects: Option<String>,
}

/// The way in which a user is authenticated.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Auth {
    #[default]
    Basic,
    /// A way that a plan lacks.
    Other,
}

/// The meaning of `.` and `..` in paths.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Dots {
    /// Resolved before sending.
    #[default]
    Resolved,
    /// Their own (`--path-as-is`).
    Plain,
}

/// The meaning of brackets and braces in URLs.
#[derive(Clone, Copy, Default)]
enum UrlForm {
    /// Sets and ranges.
    #[default]
    Globs,
    /// Literal characters (`--globoff`).
    Plain,
}

/// A part of a body.
struct Data {
    /// The long name of its option.
    flag: &'static str,
    content: DataContent,
}

enum DataContent {
    Text(String),
    File(String),
}

impl Command {
    /// Adds the requests of a command line; returns its flags that are settings of the whole plan.
    fn read(
        mut self,
        words: &[String],
        all: &mut ImportedRequests,
    ) -> Result<BTreeSet<String>, String> {
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.strip_prefix("--") {
                // Only URLs follow.
                Some("") => self.urls.extend(words.by_ref().cloned()),
                Some(long) => self.long(long, &mut words, all)?,
                None if word.len() > 1 && word.starts_with('-') => {
                    self.letters(&word[1..], &mut words, all)?;
                }
                None => self.urls.push(word.clone()),
            }
        }
        self.note_redirects(all);
        for name in &self.other_auths {
            all.note(format!(
                "`{name}` is not imported: the plan sends no user and no password"
            ));
        }
        let tls = &mut all.document.defaults.tls;
        if tls.key.is_none() {
            // curl looks for the key beside the certificate.
            tls.key.clone_from(&tls.cert);
        }
        let settings = self.settings.clone();
        self.finish(all)?;
        Ok(settings)
    }

    /// Processes an option with its long name, which may contain its value.
    fn long(
        &mut self,
        written: &str,
        words: &mut slice::Iter<'_, String>,
        all: &mut ImportedRequests,
    ) -> Result<(), String> {
        let (long, given) = match written.split_once('=') {
            Some((long, value)) => (long, Some(value.to_owned())),
            None => (written, None),
        };
        let plain = long.strip_prefix("expand-").unwrap_or(long);
        let Some(option) = options::by_name(plain) else {
            if options::is_negated(long) {
                return self.flag(&format!("--{long}"), "", all);
            }
            return Err(format!("`--{written}` is not a known option of curl"));
        };
        if plain.len() < long.len() {
            all.note(format!("`--{long}` is imported without its variables"));
        }
        let value = match option.takes_value {
            true => value_of(&format!("--{written}"), given, words)?,
            false => String::new(),
        };
        self.flag(&format!("--{}", option.name), &value, all)
    }

    /// Processes a word of options with one letter each.
    fn letters(
        &mut self,
        letters: &str,
        words: &mut slice::Iter<'_, String>,
        all: &mut ImportedRequests,
    ) -> Result<(), String> {
        for (at, letter) in letters.char_indices() {
            let Some(option) = options::by_letter(letter) else {
                return Err(format!(
                    "`-{letter}` in `-{letters}` is not a known option of curl"
                ));
            };
            let name = format!("--{}", option.name);
            if option.takes_value {
                let rest = &letters[at + letter.len_utf8()..];
                let given = (!rest.is_empty()).then(|| rest.to_owned());
                let value = value_of(&name, given, words)?;
                return self.flag(&name, &value, all);
            }
            self.flag(&name, "", all)?;
        }
        Ok(())
    }

    /// Sets the redirects to follow, and notes where curl handles them in another way.
    fn note_redirects(&mut self, all: &mut ImportedRequests) {
        if !self.settings.contains("--location") {
            return;
        }
        if let Some(most) = self.redirects.take() {
            all.document.defaults.http.redirects = Some(placed(most));
        }
        let is_kept = |method: &&String| !matches!(method.as_str(), "GET" | "HEAD");
        if let Some(method) = self.method.as_ref().filter(is_kept) {
            all.note(format!(
                "curl repeats `--request {}` after every redirect; the plan sends GET after 301, 302 \
                 and 303 where HTTP requires it",
                shown(method)
            ));
        }
    }

    /// Processes one flag.
    fn flag(&mut self, name: &str, value: &str, all: &mut ImportedRequests) -> Result<(), String> {
        if OF_RESULTS.contains(&name) || self.body_flag(name, value, all)? {
            return Ok(());
        }
        if setting(name, value, all) {
            self.settings.insert(name.to_owned());
            return Ok(());
        }
        match name {
            // curl follows without a limit if it is below 0.
            "--max-redirs" => {
                self.redirects = Some(value)
                    .filter(|most| !most.starts_with('-'))
                    .map(str::to_owned)
            }
            "--path-as-is" => self.dots = Dots::Plain,
            "--url" => self.urls.push(value.to_owned()),
            "--request" => self.method = Some(value.to_owned()),
            "--head" => self.is_head = true,
            "--get" => self.data_in_query = true,
            "--header" => self.header(value, all),
            "--user-agent" => self.fields.set("User-Agent", value),
            "--referer" => {
                let plain = value.trim_end_matches(";auto");
                if plain.len() < value.len() {
                    all.note("`;auto` of `--referer` is not imported".to_owned());
                }
                self.fields.set("Referer", plain);
            }
            "--oauth2-bearer" => self
                .fields
                .set("Authorization", &format!("Bearer {value}")),
            "--range" if value.is_empty() => {}
            "--range" => self.fields.set("Range", &format!("bytes={value}")),
            "--user" => self.user(value, all),
            "--globoff" => self.form = UrlForm::Plain,
            "--cookie" if value.contains('=') => self.cookie(value),
            "--cookie" if value.is_empty() => {
                all.note("`--cookie ''` is not imported: the plan keeps no cookies".to_owned());
            }
            "--cookie" => all.note(format!("the cookies of the file {value} are not imported")),
            "--config" => all.note(format!(
                "the options of the file {value} (`--config`) are not imported; write them into the \
                 command line"
            )),
            _ if self.auth_flag(name, all) => {}
            _ => all.note(format!("`{name}` is not imported")),
        }
        Ok(())
    }

    /// Processes a flag about authentication; returns whether it was one.
    fn auth_flag(&mut self, name: &str, all: &mut ImportedRequests) -> bool {
        match name {
            "--basic" => {
                self.auth = Auth::Basic;
                self.other_auths.clear();
            }
            "--anyauth" => all.note(
                "`--anyauth` is not imported; the plan sends the user by Basic authentication"
                    .to_owned(),
            ),
            "--aws-sigv4" | "--digest" | "--negotiate" | "--ntlm" | "--ntlm-wb" => {
                self.auth = Auth::Other;
                self.other_auths.push(name.to_owned());
            }
            _ => return false,
        }
        true
    }

    /// Processes a flag about the body; returns whether it was one.
    fn body_flag(
        &mut self,
        name: &str,
        value: &str,
        all: &mut ImportedRequests,
    ) -> Result<bool, String> {
        let mut add = |flag: &'static str, content| self.data.push(Data { flag, content });
        let text = |text: &str| DataContent::Text(text.to_owned());
        match name {
            "--data-raw" => add("--data-raw", text(value)),
            "--data" | "--data-ascii" | "--data-binary" | "--json" => {
                self.is_json |= name == "--json";
                let flag = match name {
                    "--json" => "--json",
                    "--data-binary" => "--data-binary",
                    _ => "--data",
                };
                let content = match value.strip_prefix('@') {
                    Some(path) => {
                        if flag == "--data" {
                            all.note(format!(
                                "line ends in {path} are sent unchanged; with curl, `{name}` \
                                 removes them"
                            ));
                        }
                        DataContent::File(path.to_owned())
                    }
                    None => text(value),
                };
                add(flag, content);
            }
            "--upload-file" => self.uploads.push(value.to_owned()),
            "--url-query" if value.starts_with('+') => self.query.push(value[1..].to_owned()),
            "--url-query" => self.query.push(url_encoded(name, value)?),
            "--data-urlencode" => {
                let pair = url_encoded(name, value)?;
                add("--data-urlencode", DataContent::Text(pair));
            }
            "--form" => {
                let made = form::parts(value)?;
                self.parts.get_or_insert_default().extend(made.parts);
                for note in made.notes {
                    all.note(note);
                }
            }
            "--form-string" => {
                let (field, value) = value.split_once('=').unwrap_or((value, ""));
                let part = FormPart::text(field.to_owned(), Words::plain(value));
                self.parts.get_or_insert_default().push(part);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The user of Basic authentication; curl prompts for a password that is absent.
    fn user(&mut self, value: &str, all: &mut ImportedRequests) {
        let mut pair = value.to_owned();
        if !value.contains(':') {
            all.note(format!(
                "`--user {value}` has no password, so the plan sends an empty one"
            ));
            pair.push(':');
        }
        self.user = Some(format!("Basic {}", STANDARD.encode(pair)));
    }

    /// Adds cookies after the earlier ones.
    fn cookie(&mut self, value: &str) {
        let cookies = match self.fields.own("Cookie") {
            Some(cookies) => format!("{cookies}; {value}"),
            None => value.to_owned(),
        };
        self.fields.set("Cookie", &cookies);
    }

    fn header(&mut self, line: &str, all: &mut ImportedRequests) {
        // A name followed by `;` is a field without a value; a name followed by `:` removes a
        // field.
        match line.split_once(':') {
            Some((name, value)) if !value.trim().is_empty() => {
                self.fields.add(name.trim(), value.trim());
            }
            Some((name, _)) => {
                let lower = name.trim().to_ascii_lowercase();
                if REMOVABLE.contains(&lower.as_str()) {
                    self.fields.remove(&lower);
                } else if !ABSENT.contains(&lower.as_str()) {
                    all.note(format!("`-H '{name}:'` has no effect"));
                }
            }
            None => match line.strip_suffix(';') {
                Some(name) => self.fields.add(name, ""),
                None => all.note(match line.strip_prefix('@') {
                    Some(file) => format!("the headers of the file {file} are not imported"),
                    None => {
                        let name = line.split_whitespace().next().unwrap_or_default();
                        let name: String = name.chars().take(40).collect();
                        format!("the header `{name}` has no colon and is left out")
                    }
                }),
            },
        }
    }
}

/// The value of an option: the rest of its word, or the next word.
fn value_of(
    name: &str,
    given: Option<String>,
    words: &mut slice::Iter<'_, String>,
) -> Result<String, String> {
    let value = given.or_else(|| words.next().cloned());
    value.ok_or_else(|| format!("`{name}` has no value"))
}

/// A pair with an encoded value, or a value alone.
///
/// # Errors
/// If a file contains the value.
fn url_encoded(flag: &str, value: &str) -> Result<String, String> {
    let one = |value: &str| encoded(value).replace("%20", "+");
    match value.split_once('=') {
        Some(("", value)) => Ok(one(value)),
        Some((name, value)) => Ok(format!("{name}={}", one(value))),
        None if value.contains('@') => Err(format!(
            "`{flag} {}` encodes the content of a file, which a plan can't do; write the content \
             instead of the name",
            shown(value)
        )),
        None => Ok(one(value)),
    }
}

/// Percent-encodes what is not unreserved.
fn encoded(text: &str) -> String {
    percent::encoded(text).into_owned()
}

#[cfg(test)]
mod tests;
