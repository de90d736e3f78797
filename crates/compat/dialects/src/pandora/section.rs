//! A mapping of the configuration. A reader takes its keys one by one.
//!
//! The case of keys is ignored. Keys that no reader has taken are unknown, and unknown keys are
//! mistakes. Messages use the words of the library that parses Pandora's configuration.

use super::mistakes::Mistakes;
use super::value::Value;
use crate::grammar::{go_duration, go_number};
use drumfire_plan::suggestion;
use drumfire_units::Nanos;

/// The minimum length of a schedule and of a timeout.
const SPAN_MIN: Nanos = Nanos::from_millis(1);

/// A mapping, and the keys taken so far.
#[derive(Debug)]
pub(super) struct ConfigSection<'a> {
    /// The place in the file, such as `pools[0].gun`.
    pub(super) path: String,
    entries: &'a [(String, Value)],
    /// Every key that a reader has asked for.
    asked: Vec<&'static str>,
    pub(super) mistakes: &'a Mistakes,
}

/// A value and its place in the file.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    pub(super) path: String,
    pub(super) value: &'a Value,
    pub(super) mistakes: &'a Mistakes,
}

impl<'a> Entry<'a> {
    /// Notes that the value has the wrong type.
    fn unfit(&self, wanted: &str) {
        let (kind, shown) = (self.value.kind(), self.value.shown());
        self.wrong(format!(
            "expected type '{wanted}', got unconvertible type '{kind}', value: '{shown}'"
        ));
    }

    /// Notes a mistake.
    pub(super) fn wrong(&self, what: impl std::fmt::Display) {
        self.mistakes.add(&self.path, what);
    }

    /// The value as a mapping.
    pub(super) fn section(&self) -> Option<ConfigSection<'a>> {
        match self.value {
            Value::Map(entries) => Some(ConfigSection {
                path: self.path.clone(),
                entries,
                asked: Vec::new(),
                mistakes: self.mistakes,
            }),
            // A single block of HCL.
            Value::List(values) if matches!(&values[..], [Value::Map(_)]) => Entry {
                value: &values[0],
                ..self.clone()
            }
            .section(),
            other => {
                self.wrong(format!("expected a map, got '{}'", other.kind()));
                None
            }
        }
    }

    /// The values of a list.
    pub(super) fn list(&self) -> Option<Vec<Self>> {
        let values = match self.value {
            Value::List(values) => &values[..],
            Value::Map(entries) if entries.is_empty() => &[],
            // A block of HCL that occurs once.
            map @ Value::Map(_) => std::slice::from_ref(map),
            _ => {
                self.unfit("slice");
                return None;
            }
        };
        let entry = |(index, value)| Entry {
            path: format!("{}[{index}]", self.path),
            value,
            mistakes: self.mistakes,
        };
        Some(values.iter().enumerate().map(entry).collect())
    }

    /// The value as a text.
    pub(super) fn text(&self) -> Option<String> {
        match self.value {
            Value::Text(text) | Value::Filled(text) => Some(text.clone()),
            _ => {
                self.unfit("string");
                None
            }
        }
    }

    fn bool(&self) -> Option<bool> {
        let read = match self.value {
            Value::Bool(on) => Some(*on),
            Value::Filled(text) => go_number::boolean(text.trim()).ok(),
            _ => None,
        };
        if read.is_none() {
            self.unfit("bool");
        }
        read
    }

    /// A whole number; a fraction is truncated, as in the library.
    fn whole(&self) -> Option<i64> {
        let read = match self.value {
            Value::Number(number) => number.as_i64().or_else(|| {
                let whole = number.as_f64().map(|number| number as i64);
                if let Some(whole) = whole {
                    let what = format!("{number} is not a whole number; {whole} is used");
                    self.mistakes.note(&self.path, what);
                }
                whole
            }),
            Value::Filled(text) => go_number::integer(text.trim()).ok(),
            _ => None,
        };
        if read.is_none() {
            self.unfit("int");
        }
        read
    }

    fn float(&self) -> Option<f64> {
        let read = match self.value {
            Value::Number(number) => number.as_f64(),
            Value::Filled(text) => text.trim().parse().ok(),
            _ => None,
        };
        if read.is_none() {
            self.unfit("float64");
        }
        read.filter(|number| number.is_finite())
    }

    /// A span: a Go duration, or a number of nanoseconds.
    fn span(&self) -> Option<Nanos> {
        match self.value {
            Value::Text(text) | Value::Filled(text) => match go_duration::duration(text.trim()) {
                Ok(span) => Some(span),
                Err(why) => {
                    self.wrong(why);
                    None
                }
            },
            Value::Number(number) if number.as_u64().is_some() => {
                let span = number.as_u64().map(Nanos);
                if span.is_some_and(|span| span > Nanos::ZERO && span < SPAN_MIN) {
                    self.mistakes.note(&self.path, unitless(number));
                }
                span
            }
            _ => {
                self.unfit("time.Duration");
                None
            }
        }
    }

    /// A size in bytes: a number, optionally with a unit in powers of 1024, such as `8mb`.
    fn size(&self) -> Option<u64> {
        let read = match self.value {
            Value::Number(number) => number.as_u64(),
            Value::Text(text) | Value::Filled(text) => size(text),
            _ => None,
        };
        if read.is_none() {
            self.unfit("datasize.ByteSize");
        }
        read
    }
}

/// The note on a short span without a unit, which was surely meant in seconds.
fn unitless(number: &serde_json::Number) -> String {
    format!("{number} has no unit and means {number}ns; write `{number}s` for seconds")
}

/// Parses a size.
fn size(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim() {
        "" | "b" => 0,
        "k" | "kb" => 10,
        "m" | "mb" => 20,
        "g" | "gb" => 30,
        "t" | "tb" => 40,
        "p" | "pb" => 50,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

impl<'a> ConfigSection<'a> {
    /// The section of the whole file.
    pub(super) fn root(entries: &'a [(String, Value)], mistakes: &'a Mistakes) -> Self {
        Self {
            path: String::new(),
            entries,
            asked: Vec::new(),
            mistakes,
        }
    }

    /// Takes the value of a key.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Entry<'a>> {
        self.asked.push(key);
        let mut entries = self.entries.iter();
        let (_, value) = entries.find(|(name, _)| name.eq_ignore_ascii_case(key))?;
        (*value != Value::Null).then(|| Entry {
            path: self.path_of(key),
            value,
            mistakes: self.mistakes,
        })
    }

    /// Every key and its value, for mappings with arbitrary keys.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'a str, Entry<'a>)> {
        self.entries.iter().map(|(key, value)| {
            let entry = Entry {
                path: self.path_of(key),
                value,
                mistakes: self.mistakes,
            };
            (key.as_str(), entry)
        })
    }

    fn path_of(&self, key: &str) -> String {
        match self.path.as_str() {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        }
    }

    /// Notes a mistake in the value of a key.
    pub(super) fn wrong(&self, key: &str, what: impl std::fmt::Display) {
        self.mistakes.add(&self.path_of(key), what);
    }

    /// Notes that the value of a key is below the minimum, with the name of the rule.
    fn invalid(&self, key: &str, rule: &str, least: impl std::fmt::Display) {
        self.wrong(
            key,
            format!("validation failed on the '{rule}' tag; use at least {least}"),
        );
    }

    /// A switch.
    pub(super) fn bool(&mut self, key: &'static str, usual: bool) -> bool {
        self.take(key)
            .and_then(|entry| entry.bool())
            .unwrap_or(usual)
    }

    /// A text; `None` if it is absent or empty.
    pub(super) fn text(&mut self, key: &'static str) -> Option<String> {
        let text = self.take(key).and_then(|entry| entry.text());
        text.filter(|text| !text.is_empty())
    }

    /// A whole number that must not be below `least`.
    pub(super) fn count(&mut self, key: &'static str, usual: u64, least: u64) -> u64 {
        let given = self.take(key).and_then(|entry| entry.whole());
        let given = match given.map(u64::try_from) {
            None => usual,
            Some(Ok(number)) => number,
            Some(Err(_)) => {
                self.invalid(key, "min", least);
                return usual;
            }
        };
        if given < least {
            self.invalid(key, "min", least);
        }
        given
    }

    /// A whole number.
    pub(super) fn signed(&mut self, key: &'static str, usual: i64) -> i64 {
        let given = self.take(key).and_then(|entry| entry.whole());
        given.unwrap_or(usual)
    }

    /// A number that must not be negative.
    pub(super) fn float(&mut self, key: &'static str) -> f64 {
        let given = self.take(key).and_then(|entry| entry.float());
        let given = given.unwrap_or(0.0);
        if given < 0.0 {
            self.invalid(key, "min", 0);
            return 0.0;
        }
        given
    }

    /// A span.
    pub(super) fn span(&mut self, key: &'static str, usual: Nanos) -> Nanos {
        self.take(key)
            .and_then(|entry| entry.span())
            .unwrap_or(usual)
    }

    /// A timeout: 0, negative and absent mean unlimited.
    pub(super) fn bound(&mut self, key: &'static str) -> Nanos {
        let entry = self.take(key);
        let is_below_0 = entry.as_ref().is_some_and(|entry| match entry.value {
            Value::Text(text) | Value::Filled(text) => {
                let span = text.trim().strip_prefix('-');
                span.is_some_and(|span| go_duration::duration(span).is_ok())
            }
            Value::Number(number) => number.as_i64().is_some_and(i64::is_negative),
            _ => false,
        });
        match entry {
            Some(entry) if !is_below_0 => entry.span().unwrap_or(Nanos::ZERO),
            _ => Nanos::ZERO,
        }
    }

    /// A span of at least a millisecond.
    pub(super) fn long_span(&mut self, key: &'static str) -> Nanos {
        let entry = self.take(key);
        let given = entry.as_ref().map(Entry::span);
        match given {
            Some(Some(span)) if span >= SPAN_MIN => return span,
            // An invalid span was already noted.
            Some(None) => return SPAN_MIN,
            Some(Some(_)) | None => {}
        }
        let number = entry.as_ref().and_then(|entry| match entry.value {
            Value::Number(number) if number.as_u64() > Some(0) => Some(number),
            _ => None,
        });
        let number = number.map_or_else(String::new, |number| format!("; {}", unitless(number)));
        self.invalid(key, "min-time", format!("{SPAN_MIN}{number}"));
        SPAN_MIN
    }

    /// A size in bytes. Only its form is checked, because nothing uses it.
    pub(super) fn check_size(&mut self, key: &'static str) {
        let _size = self.take(key).and_then(|entry| entry.size());
    }

    /// A list of texts.
    pub(super) fn texts(&mut self, key: &'static str) -> Vec<String> {
        let values = self.take(key).and_then(|entry| entry.list());
        let values = values.unwrap_or_default();
        values.iter().filter_map(Entry::text).collect()
    }

    /// A mapping of texts.
    pub(super) fn text_map(&mut self, key: &'static str) -> Vec<(String, String)> {
        let Some(section) = self.section(key) else {
            return Vec::new();
        };
        let entries = section.all();
        // An absent value is an empty text, as in Go.
        let text = |(key, entry): (&str, Entry<'_>)| match entry.value {
            Value::Null => Some((key.to_owned(), String::new())),
            _ => Some((key.to_owned(), entry.text()?)),
        };
        entries.filter_map(text).collect()
    }

    /// A mapping.
    pub(super) fn section(&mut self, key: &'static str) -> Option<Self> {
        self.take(key).and_then(|entry| entry.section())
    }

    /// The type of a plugin, which must be one of `known`; `what` is its kind in messages.
    pub(super) fn plugin(&mut self, what: &str, known: &[&'static str]) -> Option<&'static str> {
        let Some(name) = self.text("type") else {
            let path = &self.path;
            self.mistakes
                .add(path, "plugin type expected; add `type: …`");
            return None;
        };
        let found = known.iter().find(|known| known.eq_ignore_ascii_case(&name));
        if found.is_none() {
            let near = suggestion(&name, known.iter().copied());
            let name = name.escape_debug();
            let message =
                format!("no plugins of type {what} has been registered for name {name}{near}");
            self.mistakes.add(&self.path, message);
        }
        found.copied()
    }

    /// Notes the keys that no reader has requested, and keys that occur in two spellings: keys are
    /// found in any case.
    pub(super) fn finish(self) {
        for (n, (key, _)) in self.entries.iter().enumerate() {
            let mut before = self.entries[..n].iter();
            if let Some((known, _)) = before.find(|(known, _)| known.eq_ignore_ascii_case(key)) {
                let (known, key) = (known.escape_debug(), key.escape_debug());
                let what = format!("`{known}` and `{key}` are one key; `{known}` is used");
                self.mistakes.note(&self.path, what);
            }
        }
        let is_known = |key: &str| {
            self.asked
                .iter()
                .any(|asked| asked.eq_ignore_ascii_case(key))
        };
        for (key, _) in self.entries.iter().filter(|(key, _)| !is_known(key)) {
            let near = suggestion(key, self.asked.iter().copied());
            let key = key.escape_debug();
            let message = format!("has invalid keys: {key}{near}");
            self.mistakes.add(&self.path, message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_document::Bare;

    /// The mistakes that a reader of a section notes.
    fn mistakes_of(yaml: &str, read: fn(&mut ConfigSection<'_>)) -> Vec<String> {
        let mistakes = Mistakes::default();
        let json = super::super::value::read(super::super::value::Format::Yaml, yaml).unwrap();
        let Value::Map(entries) = super::super::value::filled(json, "", &Bare, &mistakes) else {
            panic!("{yaml} is no mapping");
        };
        let mut section = ConfigSection::root(&entries, &mistakes);
        read(&mut section);
        section.finish();
        mistakes.into_inner()
    }

    #[test]
    fn types_are_not_made_to_fit() {
        for (yaml, wanted) in [
            (
                "{on: 'yes'}",
                "on: expected type 'bool', got unconvertible type 'string', value: 'yes'",
            ),
            (
                "{n: '5'}",
                "n: expected type 'int', got unconvertible type 'string', value: '5'",
            ),
            (
                "{n: -1}",
                "n: validation failed on the 'min' tag; use at least 1",
            ),
            (
                "{n: 0}",
                "n: validation failed on the 'min' tag; use at least 1",
            ),
            (
                "{d: 5}",
                "d: validation failed on the 'min-time' tag; use at least 1ms; 5 has no unit and \
                 means 5ns; write `5s` for seconds",
            ),
            (
                "{d: 0.5ms}",
                "d: validation failed on the 'min-time' tag; use at least 1ms",
            ),
            (
                "{d: 0}",
                "d: validation failed on the 'min-time' tag; use at least 1ms",
            ),
            ("{d: 5x}", "d: time: unknown unit \"x\" in duration \"5x\""),
            (
                "{f: x}",
                "f: expected type 'float64', got unconvertible type 'string', value: 'x'",
            ),
            (
                "{s: 3}",
                "s: expected type 'string', got unconvertible type 'int', value: '3'",
            ),
            (
                "{b: 8mx}",
                "b: expected type 'datasize.ByteSize', got unconvertible type 'string', value: '8mx'",
            ),
            ("{z: 1}", "has invalid keys: z"),
        ] {
            let found = mistakes_of(yaml, |section| {
                section.bool("on", false);
                section.count("n", 1, 1);
                section.float("f");
                section.text("s");
                if section.take("d").is_some() {
                    section.long_span("d");
                }
                section.check_size("b");
            });
            assert_eq!(found, [wanted], "{yaml}");
        }
    }

    #[test]
    fn values_that_are_surely_not_meant_are_noted() {
        for (yaml, noted) in [
            (
                "{t: 5}",
                Some("t: 5 has no unit and means 5ns; write `5s` for seconds"),
            ),
            ("{t: 0}", None),
            ("{t: -1}", None),
            ("{t: 5s}", None),
            ("{t: 1000000}", None),
            (
                "{T: 5s, t: 6s}",
                Some("`T` and `t` are one key; `T` is used"),
            ),
        ] {
            let mistakes = Mistakes::default();
            let json = super::super::value::read(super::super::value::Format::Yaml, yaml).unwrap();
            let filled = super::super::value::filled(json, "", &Bare, &mistakes);
            let Value::Map(entries) = filled else {
                panic!("{yaml} is no mapping");
            };
            let mut section = ConfigSection::root(&entries, &mistakes);
            section.bound("t");
            section.finish();
            let notes = mistakes.take_notes();
            assert_eq!(notes.first().map(String::as_str), noted, "{yaml}");
            assert_eq!(mistakes.into_inner(), Vec::<String>::new(), "{yaml}");
        }
    }

    #[test]
    fn keys_are_found_in_any_case_and_numbers_lose_their_fractions() {
        let found = mistakes_of("{ON: true, N: 2.7, D: 1m30s, B: 8MB}", |section| {
            assert!(section.bool("on", false));
            assert_eq!(section.count("n", 1, 1), 2);
            assert_eq!(section.long_span("d"), Nanos::from_secs(90));
            section.check_size("b");
        });
        assert!(found.is_empty(), "{found:?}");
    }
}
