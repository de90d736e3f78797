//! The flags of `k6 run`, and the environment variables that stand for options.

use serde_json::{Map, Value, json};

/// What follows a flag.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// Nothing, or `=true` or `=false`.
    Switch,
    /// A text.
    Text,
    /// A list, separated by commas.
    List,
}

/// A flag that sets an option.
struct OptionFlag {
    long: &'static str,
    short: Option<char>,
    key: &'static str,
    takes: Takes,
}

const fn option(
    long: &'static str,
    short: Option<char>,
    key: &'static str,
    takes: Takes,
) -> OptionFlag {
    OptionFlag {
        long,
        short,
        key,
        takes,
    }
}

/// The flags that set options. Each option has an environment variable too: `K6_` and its words.
const OPTIONS: [OptionFlag; 31] = [
    option("vus", Some('u'), "vus", Takes::Text),
    option("duration", Some('d'), "duration", Takes::Text),
    option("iterations", Some('i'), "iterations", Takes::Text),
    option("no-setup", None, "noSetup", Takes::Switch),
    option("no-teardown", None, "noTeardown", Takes::Switch),
    option("no-thresholds", None, "noThresholds", Takes::Switch),
    option("max-redirects", None, "maxRedirects", Takes::Text),
    option("batch", None, "batch", Takes::Text),
    option("batch-per-host", None, "batchPerHost", Takes::Text),
    option("rps", None, "rps", Takes::Text),
    option("user-agent", None, "userAgent", Takes::Text),
    option("http-debug", None, "httpDebug", Takes::Switch),
    option(
        "insecure-skip-tls-verify",
        None,
        "insecureSkipTLSVerify",
        Takes::Switch,
    ),
    option(
        "no-connection-reuse",
        None,
        "noConnectionReuse",
        Takes::Switch,
    ),
    option(
        "no-vu-connection-reuse",
        None,
        "noVUConnectionReuse",
        Takes::Switch,
    ),
    option(
        "min-iteration-duration",
        None,
        "minIterationDuration",
        Takes::Text,
    ),
    option("throw", Some('w'), "throw", Takes::Switch),
    option("blacklist-ip", None, "blacklistIPs", Takes::List),
    option("block-hostnames", None, "blockHostnames", Takes::List),
    option(
        "summary-trend-stats",
        None,
        "summaryTrendStats",
        Takes::List,
    ),
    option("summary-time-unit", None, "summaryTimeUnit", Takes::Text),
    option("system-tags", None, "systemTags", Takes::List),
    option(
        "discard-response-bodies",
        None,
        "discardResponseBodies",
        Takes::Switch,
    ),
    option("local-ips", None, "localIPs", Takes::Text),
    option("dns", None, "dns", Takes::Text),
    option("setup-timeout", None, "setupTimeout", Takes::Text),
    option("teardown-timeout", None, "teardownTimeout", Takes::Text),
    option("paused", Some('p'), "paused", Takes::Switch),
    option("address", Some('a'), "address", Takes::Text),
    option("execution-segment", None, "executionSegment", Takes::Text),
    option(
        "execution-segment-sequence",
        None,
        "executionSegmentSequence",
        Takes::Text,
    ),
];

/// The other flags with a value.
const WITH_VALUE: [(&str, Option<char>); 16] = [
    ("stage", Some('s')),
    ("tag", None),
    ("env", Some('e')),
    ("out", Some('o')),
    ("config", Some('c')),
    ("summary-export", None),
    ("summary-mode", None),
    ("console-output", None),
    ("log-format", None),
    ("log-output", None),
    ("compatibility-mode", None),
    ("secret-source", None),
    ("seed", None),
    ("html", None),
    ("json", None),
    ("type", None),
];

/// The other switches.
const SWITCHES: [(&str, Option<char>); 12] = [
    ("include-system-env-vars", None),
    ("quiet", Some('q')),
    ("verbose", Some('v')),
    ("no-color", None),
    ("no-summary", None),
    ("no-usage-report", None),
    ("profiling-enabled", None),
    ("linger", Some('l')),
    ("new-machine-readable-summary", None),
    ("k6-isolate", None),
    ("strict", None),
    ("i-own-this-target", None),
];

/// The form of lines of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LogForm {
    #[default]
    Text,
    Json,
    Raw,
}

/// Which summary is printed at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Wanted {
    #[default]
    Compact,
    Full,
    None,
}

/// A parsed command line.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "k6 has these switches")]
pub(super) struct Flags {
    pub(super) script: Option<String>,
    /// The options that flags set, and those that environment variables set.
    pub(super) options: Map<String, Value>,
    pub(super) of_environment: Map<String, Value>,
    pub(super) environment: Vec<(String, String)>,
    pub(super) outs: Vec<String>,
    pub(super) config: Option<String>,
    pub(super) summary_export: Option<String>,
    pub(super) summary: Wanted,
    pub(super) console_output: Option<String>,
    pub(super) log_form: LogForm,
    pub(super) has_system_environment: bool,
    pub(super) is_quiet: bool,
    pub(super) is_verbose: bool,
    pub(super) no_color: bool,
    pub(super) isolates: bool,
    pub(super) owns_target: bool,
    pub(super) is_strict: bool,
    /// The sources of secrets.
    pub(super) secrets: Vec<String>,
    pub(super) html: Option<String>,
    pub(super) json: Option<String>,
    seed: u64,
    pub(super) notes: Vec<String>,
}

impl Flags {
    /// Parses a command line after `run`.
    ///
    /// # Errors
    ///
    /// The first mistake.
    pub(super) fn parse(
        args: &[String],
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let mut flags = Self {
            has_system_environment: true,
            no_color: variable("NO_COLOR").is_some_and(|value| !value.is_empty()),
            config: variable("K6_CONFIG"),
            console_output: variable("K6_CONSOLE_OUTPUT"),
            seed: super::fresh_seed(),
            ..Self::default()
        };
        flags.read_environment(variable)?;
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            if arg == "-" || !arg.starts_with('-') {
                if flags.script.replace(arg.clone()).is_some() {
                    return Err(format!("more than one script: `{}`", arg.escape_debug()));
                }
                continue;
            }
            let (name, inline) = match arg.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (arg.as_str(), None),
            };
            let (name, inline) = match long_name(name) {
                Some(long) => (long, inline),
                None => attached(arg).ok_or_else(|| unknown(arg))?,
            };
            flags.set(name, inline, &mut rest)?;
        }
        Ok(flags)
    }

    /// The seed of the random numbers of users.
    pub(super) const fn seed(&self) -> u64 {
        self.seed
    }

    fn read_environment(
        &mut self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(), String> {
        for flag in &OPTIONS {
            if let Some(value) = variable(&format!("K6_{}", snake(flag.key))) {
                let value = value_of(flag.takes, value);
                self.of_environment.insert(flag.key.to_owned(), value);
            }
        }
        if let Some(stages) = variable("K6_STAGES") {
            let list = stages.split(',').map(stage).collect::<Result<_, _>>()?;
            self.of_environment
                .insert("stages".to_owned(), Value::Array(list));
        }
        if let Some(outs) = variable("K6_OUT") {
            self.outs.push(outs);
        }
        if let Some(path) = variable("K6_SUMMARY_EXPORT") {
            self.summary_export = Some(path);
        }
        if let Some(mode) = variable("K6_SUMMARY_MODE") {
            self.set_summary(&mode)?;
        }
        Ok(())
    }

    fn set<'a>(
        &mut self,
        name: &'static str,
        inline: Option<String>,
        rest: &mut impl Iterator<Item = &'a String>,
    ) -> Result<(), String> {
        let is_on = || match inline.as_deref() {
            None | Some("true" | "1") => Ok(true),
            Some("false" | "0") => Ok(false),
            Some(other) => Err(format!("--{name}: use true or false instead of `{other}`")),
        };
        if let Some(flag) = OPTIONS.iter().find(|flag| flag.long == name) {
            let value = match flag.takes {
                Takes::Switch => Value::Bool(is_on()?),
                takes => {
                    let text = inline.or_else(|| rest.next().cloned());
                    value_of(
                        takes,
                        text.ok_or_else(|| format!("--{name} needs a value"))?,
                    )
                }
            };
            self.options.insert(flag.key.to_owned(), value);
            return Ok(());
        }
        if SWITCHES.iter().any(|(switch, _)| *switch == name) {
            let is_on = is_on()?;
            self.switch(name, is_on);
            return Ok(());
        }
        let value = inline.or_else(|| rest.next().cloned());
        self.value(
            name,
            value.ok_or_else(|| format!("--{name} needs a value"))?,
        )
    }

    fn switch(&mut self, name: &str, is_on: bool) {
        match name {
            "include-system-env-vars" => self.has_system_environment = is_on,
            "quiet" => self.is_quiet = is_on,
            "verbose" => self.is_verbose = is_on,
            "no-color" => self.no_color = is_on,
            "no-summary" => {
                self.summary = Wanted::None;
                self.notes
                    .push("note: --no-summary is --summary-mode=disabled in k6 v2".to_owned());
            }
            "k6-isolate" => self.isolates = is_on,
            "strict" => self.is_strict = is_on,
            "i-own-this-target" => self.owns_target = is_on,
            "new-machine-readable-summary" => self.notes.push(
                "note: --new-machine-readable-summary has no effect; results have k6's usual form"
                    .to_owned(),
            ),
            _ => {}
        }
    }

    fn value(&mut self, name: &str, value: String) -> Result<(), String> {
        match name {
            "stage" => {
                let stages = self
                    .options
                    .entry("stages")
                    .or_insert_with(|| Value::Array(Vec::new()));
                if let Value::Array(list) = stages {
                    for one in value.split(',') {
                        list.push(stage(one)?);
                    }
                }
            }
            "tag" => {
                let (tag, text) = pair("tag", &value)?;
                let tags = self
                    .options
                    .entry("tags")
                    .or_insert_with(|| Value::Object(Map::new()));
                if let Value::Object(map) = tags {
                    map.insert(tag, text.into());
                }
            }
            "env" => self.environment.push(pair("env", &value)?),
            "out" => self.outs.push(value),
            "config" => self.config = Some(value),
            "summary-export" => self.summary_export = Some(value),
            "summary-mode" => self.set_summary(&value)?,
            "console-output" => self.console_output = Some(value),
            "log-format" => {
                self.log_form = match value.as_str() {
                    "text" => LogForm::Text,
                    "json" => LogForm::Json,
                    "raw" => LogForm::Raw,
                    other => {
                        return Err(format!(
                            "unknown --log-format `{other}`; use text, json or raw"
                        ));
                    }
                }
            }
            "log-output" if value == "stderr" => {}
            "log-output" => {
                return Err(format!(
                    "--log-output {value} is not available; logs go to stderr"
                ));
            }
            "seed" => {
                let seed = value.parse();
                self.seed =
                    seed.map_err(|_| format!("--seed needs a number instead of `{value}`"))?;
            }
            "html" => self.html = Some(value),
            "json" => self.json = Some(value),
            "secret-source" => self.secrets.push(value),
            _ => {}
        }
        Ok(())
    }

    fn set_summary(&mut self, mode: &str) -> Result<(), String> {
        self.summary = match mode {
            "compact" => Wanted::Compact,
            "full" => Wanted::Full,
            "disabled" => Wanted::None,
            "legacy" => {
                self.notes.push(
                    "note: k6 removed --summary-mode=legacy in v2.0; compact is used".to_owned(),
                );
                Wanted::Compact
            }
            other => {
                return Err(format!(
                    "unknown --summary-mode `{other}`; use compact, full or disabled"
                ));
            }
        };
        Ok(())
    }
}

/// The long name of a flag that is written with one or two dashes.
fn long_name(flag: &str) -> Option<&'static str> {
    let all = || {
        let options = OPTIONS.iter().map(|flag| (flag.long, flag.short));
        options
            .chain(WITH_VALUE.iter().copied())
            .chain(SWITCHES.iter().copied())
    };
    if let Some(long) = flag.strip_prefix("--") {
        return all().map(|(name, _)| name).find(|name| *name == long);
    }
    let mut letters = flag.strip_prefix('-')?.chars();
    let (letter, None) = (letters.next()?, letters.next()) else {
        return None;
    };
    all()
        .find(|(_, short)| *short == Some(letter))
        .map(|(name, _)| name)
}

/// A short flag with its value attached, such as `-u10`.
fn attached(arg: &str) -> Option<(&'static str, Option<String>)> {
    let rest = arg
        .strip_prefix('-')
        .filter(|rest| !rest.starts_with('-'))?;
    let letter = rest.chars().next()?;
    let name = long_name(&format!("-{letter}"))?;
    let is_switch = SWITCHES.iter().any(|(switch, _)| *switch == name)
        || OPTIONS
            .iter()
            .any(|flag| flag.long == name && flag.takes == Takes::Switch);
    let value = &rest[letter.len_utf8()..];
    (!is_switch && !value.is_empty()).then(|| (name, Some(value.to_owned())))
}

fn unknown(arg: &str) -> String {
    let name = arg.split('=').next().unwrap_or(arg);
    let all = OPTIONS.iter().map(|flag| flag.long);
    let all = all
        .chain(WITH_VALUE.iter().map(|(name, _)| *name))
        .chain(SWITCHES.iter().map(|(name, _)| *name));
    let long: Vec<String> = all.map(|name| format!("--{name}")).collect();
    let near = drumfire_plan::suggestion(name, long.iter().map(String::as_str));
    format!("unknown flag `{}`{near}", name.escape_debug())
}

fn value_of(takes: Takes, text: String) -> Value {
    match takes {
        Takes::Text | Takes::Switch => Value::String(text),
        Takes::List => {
            let list = text.split(',').map(|part| part.trim().into());
            Value::Array(list.collect())
        }
    }
}

/// A stage such as `30s:10`.
fn stage(text: &str) -> Result<Value, String> {
    let wrong = || format!("invalid stage `{text}`; use DURATION:USERS, such as 30s:10");
    let (duration, target) = text.trim().split_once(':').ok_or_else(wrong)?;
    let target: u64 = target.parse().map_err(|_| wrong())?;
    Ok(match duration {
        "" => json!({ "target": target }),
        duration => json!({ "duration": duration, "target": target }),
    })
}

fn pair(flag: &str, text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| format!("--{flag} needs NAME=VALUE instead of `{text}`"))?;
    Ok((name.to_owned(), value.to_owned()))
}

/// The words of an option in capital letters: `minIterationDuration` is `MIN_ITERATION_DURATION`.
fn snake(key: &str) -> String {
    match key {
        "insecureSkipTLSVerify" => return "INSECURE_SKIP_TLS_VERIFY".to_owned(),
        "noVUConnectionReuse" => return "NO_VU_CONNECTION_REUSE".to_owned(),
        "blacklistIPs" => return "BLACKLIST_IPS".to_owned(),
        "localIPs" => return "LOCAL_IPS".to_owned(),
        _ => {}
    }
    let mut text = String::new();
    for letter in key.chars() {
        if letter.is_ascii_uppercase() {
            text.push('_');
        }
        text.push(letter.to_ascii_uppercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Flags, String> {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        Flags::parse(&args, &|name| {
            (name == "K6_DURATION").then(|| "5s".to_owned())
        })
    }

    #[test]
    fn flags_set_options() {
        let flags = parse("-u10 --iterations=20 -s 5s:3 -s 1m:0 --tag a=b -e X=1 -w -q x.js");
        let flags = flags.expect("flags");
        assert_eq!(flags.script.as_deref(), Some("x.js"));
        assert_eq!(flags.options["vus"], "10");
        assert_eq!(flags.options["stages"][1]["duration"], "1m");
        assert_eq!(flags.options["throw"], true);
        assert_eq!(flags.options["tags"]["a"], "b");
        assert_eq!(flags.environment, [("X".to_owned(), "1".to_owned())]);
        assert_eq!(flags.of_environment["duration"], "5s");
        assert!(flags.is_quiet);
    }

    #[test]
    fn mistakes() {
        for (line, message) in [
            (
                "--vuss 3 x.js",
                "unknown flag `--vuss`; did you mean `--vus`?",
            ),
            (
                "-s 5s x.js",
                "invalid stage `5s`; use DURATION:USERS, such as 30s:10",
            ),
            ("x.js y.js", "more than one script: `y.js`"),
            ("x.js -u", "--vus needs a value"),
        ] {
            assert_eq!(parse(line).err().as_deref(), Some(message), "{line}");
        }
        assert_eq!(snake("minIterationDuration"), "MIN_ITERATION_DURATION");
    }
}
