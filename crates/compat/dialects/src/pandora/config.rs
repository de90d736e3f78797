//! A parsed and checked configuration.

use super::ammo::Ammo;
use super::gun::Gun;
use super::mistakes::Mistakes;
use super::output::{Output, Place};
use super::schedule::{Schedule, Startup};
use super::section::{ConfigSection, Entry};
use super::value::{self, Value};
use drumfire_compile::Host;
use serde_json::Value as Json;

/// Log levels, from the most to the least verbose.
const LEVELS: [&str; 7] = ["debug", "info", "warn", "error", "dpanic", "panic", "fatal"];

/// The port of the counters.
const EXPVAR_PORT: u64 = 1234;

/// A configuration.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Config {
    pub(super) pools: Vec<Pool>,
    pub(super) log: Log,
    /// The port of the counters, if they are on.
    pub(super) expvar: Option<u16>,
    /// Whether the configuration requests a profile of Go's runtime.
    pub(super) profiles: bool,
    /// Notes on values that are surely not meant.
    pub(super) notes: Vec<String>,
}

/// The destination of the log, and its level.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Log {
    pub(super) to: Place,
    /// The number of the level, from the most verbose.
    pub(super) level: usize,
}

impl Log {
    /// Whether informational messages are logged.
    pub(super) const fn has_info(&self) -> bool {
        self.level <= 1
    }

    /// Whether failures are logged.
    pub(super) const fn has_warnings(&self) -> bool {
        self.level <= 2
    }
}

/// A pool.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pool {
    pub(super) id: String,
    pub(super) gun: Gun,
    pub(super) ammo: Ammo,
    pub(super) output: Output,
    pub(super) rps: Schedule,
    pub(super) startup: Startup,
    pub(super) rps_per_instance: bool,
    pub(super) discard_overflow: bool,
}

impl Config {
    /// Reads a configuration's tree.
    ///
    /// # Errors
    /// All mistakes of the configuration.
    pub(super) fn read(json: Json, host: &dyn Host) -> Result<Self, Vec<String>> {
        let mistakes = Mistakes::default();
        let mut config = read(json, host, &mistakes);
        if let Some(config) = &mut config {
            config.notes = mistakes.take_notes();
        }
        let mistakes = mistakes.into_inner();
        match config {
            Some(config) if mistakes.is_empty() => Ok(config),
            _ => Err(mistakes),
        }
    }
}

fn read(json: Json, host: &dyn Host, mistakes: &Mistakes) -> Option<Config> {
    let entries = match value::filled(json, "", host, mistakes) {
        Value::Map(entries) => entries,
        Value::Null => Vec::new(),
        other => {
            let kind = other.kind();
            mistakes.add("", format!("expected a map, got '{kind}'"));
            return None;
        }
    };
    if let Some(remedy) = of_tank(&entries) {
        mistakes.add(
            "",
            format!("this is a configuration of Yandex.Tank, not of Pandora; {remedy}"),
        );
        return None;
    }
    let mut root = ConfigSection::root(&entries, mistakes);
    let pools = root.take("pools");
    if pools.is_none() {
        root.wrong(
            "pools",
            "validation failed on the 'required' tag: add a list of pools",
        );
    }
    let pools = pools.and_then(|pools| pools.list());
    let pools = pools.unwrap_or_default();
    let read = |(index, entry): (usize, &Entry<'_>)| Pool::read(index, entry);
    let pools: Vec<Option<Pool>> = pools.iter().enumerate().map(read).collect();
    let log = log(&mut root);
    let (expvar, profiles) = monitoring(&mut root);
    root.finish();
    Some(Config {
        pools: pools.into_iter().collect::<Option<_>>()?,
        log,
        expvar,
        profiles,
        notes: Vec::new(),
    })
}

/// Advice for a configuration of Yandex.Tank, which runs Pandora among other tools; `None` for
/// other configurations. The keys of such a configuration are the names of plugins.
fn of_tank(entries: &[(String, Value)]) -> Option<String> {
    let of = |name: &str| {
        let mut named = entries.iter();
        named.find_map(|(key, value)| key.eq_ignore_ascii_case(name).then_some(value))
    };
    if of("pools").is_some() {
        return None;
    }
    let Some(Value::Map(pandora)) = of("pandora") else {
        let tools = ["bfg", "jmeter", "phantom"];
        let tool = tools.into_iter().find(|tool| of(tool).is_some())?;
        return Some(format!(
            "its load is of `{tool}`, which drumfire does not read"
        ));
    };
    let file = pandora.iter().find(|(key, _)| key == "config_file");
    Some(match file {
        Some((_, Value::Text(file))) => {
            format!("run the file of its `pandora.config_file`, {file}")
        }
        _ => "save the value of its `pandora.config_content` as a file and run that".to_owned(),
    })
}

impl Pool {
    fn read(index: usize, entry: &Entry<'_>) -> Option<Self> {
        let mut section = entry.section()?;
        let id = section.text("id");
        let gun = required(&mut section, "gun").and_then(|entry| Gun::read(&entry));
        let ammo = required(&mut section, "ammo").and_then(|entry| Ammo::read(&entry));
        let output = required(&mut section, "result").and_then(|entry| Output::read(&entry));
        let rps = required(&mut section, "rps").map(|entry| Schedule::read(&entry));
        let startup = required(&mut section, "startup").map(|entry| Schedule::read(&entry));
        let rps_per_instance = section.bool("rps-per-instance", false);
        let discard_overflow = section.bool("discard_overflow", true);
        let startup = match startup?.startup() {
            Ok(startup) => Some(startup),
            Err(why) => {
                section.wrong("startup", why);
                None
            }
        };
        section.finish();
        Some(Self {
            id: id.unwrap_or_else(|| format!("pool_{index}")),
            gun: gun?,
            ammo: ammo?,
            output: output?,
            rps: rps?,
            startup: startup?,
            rps_per_instance,
            discard_overflow,
        })
    }
}

/// The value of a required key.
fn required<'a>(section: &mut ConfigSection<'a>, key: &'static str) -> Option<Entry<'a>> {
    let entry = section.take(key);
    if entry.is_none() {
        section.wrong(key, "validation failed on the 'required' tag");
    }
    entry
}

fn log(root: &mut ConfigSection<'_>) -> Log {
    let mut log = Log {
        to: Place::Stdout,
        level: 1,
    };
    let Some(mut section) = root.section("log") else {
        return log;
    };
    let entry = section.take("level");
    let number = entry.as_ref().and_then(|entry| match entry.value {
        Value::Number(number) => number.as_i64(),
        _ => None,
    });
    if let Some(number) = number {
        // The first level is -1.
        let last = LEVELS.len() - 1;
        log.level = usize::try_from(number.saturating_add(1))
            .unwrap_or(0)
            .min(last);
    } else if let Some(level) = entry
        .and_then(|entry| entry.text())
        .filter(|text| !text.is_empty())
    {
        match LEVELS
            .iter()
            .position(|known| level.eq_ignore_ascii_case(known))
        {
            Some(level) => log.level = level,
            None => {
                let level = level.escape_debug();
                let known = LEVELS.join(", ");
                section.wrong(
                    "level",
                    format!("unrecognized level: \"{level}\"; use one of {known}"),
                );
            }
        }
    }
    if let Some(file) = section.text("file") {
        log.to = Place::named(&file);
    }
    section.finish();
    log
}

/// The port of the counters, and whether a profile of Go's runtime is requested.
fn monitoring(root: &mut ConfigSection<'_>) -> (Option<u16>, bool) {
    let Some(mut section) = root.section("monitoring") else {
        return (None, false);
    };
    let mut port = None;
    if let Some(mut expvar) = section.section("expvar") {
        let given = expvar.count("port", EXPVAR_PORT, 1);
        if expvar.bool("enabled", false) {
            port = u16::try_from(given).ok();
            if port.is_none() {
                expvar.wrong("port", format!("{given} is not a port; use 1 to 65535"));
            }
        }
        expvar.finish();
    }
    let mut profiles = false;
    for key in ["cpuprofile", "memprofile"] {
        if let Some(mut profile) = section.section(key) {
            profiles |= profile.bool("enabled", false);
            profile.text("file");
            profile.finish();
        }
    }
    section.finish();
    (port, profiles)
}

#[cfg(test)]
mod tests {
    use super::{Value, of_tank};

    fn map(entries: &[(&str, Value)]) -> Vec<(String, Value)> {
        let entries = entries.iter().cloned();
        entries
            .map(|(key, value)| (key.to_owned(), value))
            .collect()
    }

    #[test]
    fn a_configuration_of_yandex_tank_is_named() {
        let text = |text: &str| Value::Text(text.to_owned());
        let own = Value::Map(map(&[("pools", Value::List(Vec::new()))]));
        let content = Value::Map(map(&[
            ("enabled", Value::Bool(true)),
            ("config_content", own),
        ]));
        let file = Value::Map(map(&[("config_file", text("p.yaml"))]));
        for (entries, remedy) in [
            (
                map(&[("pandora", content)]),
                Some("save the value of its `pandora.config_content`"),
            ),
            (
                map(&[("pandora", file)]),
                Some("run the file of its `pandora.config_file`, p.yaml"),
            ),
            (
                map(&[("phantom", Value::Null)]),
                Some("its load is of `phantom`"),
            ),
            (
                map(&[("pools", Value::Null), ("phantom", Value::Null)]),
                None,
            ),
            (map(&[("log", Value::Null)]), None),
        ] {
            let said = of_tank(&entries);
            let is_right = match (&said, remedy) {
                (Some(said), Some(remedy)) => said.starts_with(remedy),
                (said, remedy) => said.is_none() && remedy.is_none(),
            };
            assert!(is_right, "{said:?}, not {remedy:?}");
        }
    }
}
