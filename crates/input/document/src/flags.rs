//! The flags of settings: from the row of a key to a command-line flag, and from given flags to a
//! document.
//!
//! A front end creates its flags from [`of_command`] and passes the given ones to [`read`]. They
//! become the tree of a plan with these values, in which the place of each value is its flag, and
//! the readers of plans read this tree. A flag's value is therefore checked like the key's.
//!
//! The values of the [`SPECIAL`] flags are not values of their keys; the front end reads these
//! flags itself.

use crate::diagnostic::Findings;
use crate::form::{AmmoKeys, BODY, Coding, DATA, FeedKeys, RequestKeys, SEND, SocketKeys};
use crate::keys::fields::{Fields as _, read_fields};
use crate::keys::node::Node;
use crate::keys::{DocumentKey, KeyValue};
pub use crate::keys::{Flag, Group, Number, On};
use crate::{
    CallOptions, CommonBody, CommonFields, Connections, Diagnostic, Document, EachSettings,
    EventSettings, ExpectSettings, Generator, Http, LlmSettings, LlmTrace, Load, Monitoring,
    Outputs, Place, Placed, ReachSettings, Reflection, SchemaSource, Settings, SocketSettings,
    Stop, Stream, Text, TimeoutSettings, TlsSettings,
};
use drumfire_plan::secret;

/// The name of the one pool of a command line.
pub const POOL: &str = "main";
/// The path of a pool's mapping.
const IN_POOL: &[&str] = &["pools", POOL];
/// The path of a request's mapping.
const IN_REQUEST: &[&str] = &["pools", POOL, "requests"];

/// Flags whose key has a value other than the flag's, by their long names: the content of a file or
/// of standard input, the parts of a form, the method of each URL, a feed with the rows of a file,
/// and the speed of every file of requests.
pub const SPECIAL: [&str; 6] = ["data", "feed", "feed-order", "form", "method", "speed"];

/// Keys of one mapping, with the path of the mapping in a command line's document.
struct Table {
    /// The prefix of the keys in messages, if another key has the same name.
    holder: &'static str,
    path: &'static [&'static str],
    keys: &'static [DocumentKey],
}

const fn table(path: &'static [&'static str], keys: &'static [DocumentKey]) -> Table {
    Table {
        holder: "",
        path,
        keys,
    }
}

const fn held(
    holder: &'static str,
    path: &'static [&'static str],
    keys: &'static [DocumentKey],
) -> Table {
    Table { holder, path, keys }
}

/// The tables of keys that flags set, in the order of help.
const TABLES: &[Table] = &[
    table(IN_REQUEST, RequestKeys::KEYS),
    table(IN_REQUEST, SEND.keys),
    table(IN_REQUEST, SocketKeys::KEYS),
    table(IN_POOL, SocketSettings::KEYS),
    table(IN_POOL, CommonFields::KEYS),
    table(IN_POOL, BODY.keys),
    table(IN_POOL, CommonBody::KEYS),
    table(IN_POOL, Http::KEYS),
    table(IN_POOL, EventSettings::KEYS),
    held("expect", &["pools", POOL, "expect"], ExpectSettings::KEYS),
    held(
        "expect.each",
        &["pools", POOL, "expect", "each"],
        EachSettings::KEYS,
    ),
    table(IN_REQUEST, DATA.keys),
    table(IN_REQUEST, Coding::KEYS),
    table(IN_REQUEST, CallOptions::KEYS),
    table(IN_POOL, SchemaSource::KEYS),
    held(
        "reflection",
        &["pools", POOL, "reflection"],
        Reflection::KEYS,
    ),
    held(
        "stream",
        &["pools", POOL, "requests", "stream"],
        Stream::KEYS,
    ),
    table(IN_REQUEST, AmmoKeys::KEYS),
    table(&["outputs"], Outputs::KEYS),
    table(&["outputs"], Monitoring::KEYS),
    table(&[], Document::KEYS),
    held("feeds", &["feeds"], FeedKeys::KEYS),
    table(IN_POOL, Settings::KEYS),
    held("llm", &["pools", POOL, "llm"], LlmSettings::KEYS),
    held("trace", &["pools", POOL, "llm", "trace"], LlmTrace::KEYS),
    table(IN_POOL, Load::KEYS),
    table(IN_POOL, Connections::KEYS),
    table(&["stop"], Stop::KEYS),
    table(&["generator"], Generator::KEYS),
    table(IN_POOL, TimeoutSettings::KEYS),
    table(&["pools", POOL, "tls"], TlsSettings::KEYS),
    table(IN_POOL, ReachSettings::KEYS),
];

/// A flag and the key that it sets.
#[derive(Clone, Copy, Debug)]
pub struct FlagRow {
    /// The flag.
    pub flag: &'static Flag,
    /// The key.
    pub key: &'static DocumentKey,
    holder: &'static str,
    path: &'static [&'static str],
}

impl FlagRow {
    /// The key with its path in a pool, or at the top of a plan: `tls.insecure`.
    #[must_use]
    pub fn plan_key(&self) -> String {
        let inner = self.path.strip_prefix(IN_REQUEST);
        let inner = inner.or_else(|| self.path.strip_prefix(IN_POOL));
        let path = inner.unwrap_or(self.path).iter().chain([&self.key.name]);
        path.copied().collect::<Vec<_>>().join(".")
    }

    /// Whether the flag's value is the key's value, and the key belongs to a pool.
    #[must_use]
    pub fn is_of_pool(&self) -> bool {
        self.path.starts_with(IN_POOL) && !self.is_special()
    }

    /// Whether the front end reads the flag itself: one of [`SPECIAL`]. The flags of traces share two
    /// of the names.
    #[must_use]
    pub fn is_special(&self) -> bool {
        SPECIAL.contains(&self.flag.long()) && self.holder != "trace"
    }

    /// Whether the key belongs to a request.
    fn is_of_request(&self) -> bool {
        self.path.starts_with(IN_REQUEST)
    }

    /// The value that a switch sets.
    #[must_use]
    pub fn switch_value(&self) -> &'static str {
        let usual = match self.flag.long().starts_with("no-") {
            true => "false",
            false => "true",
        };
        self.flag.sets.unwrap_or(usual)
    }

    /// The value of the key; `values` are the flag's values.
    fn node(&self, values: &[String], found: &mut Findings) -> Option<Node> {
        let place = self.place();
        Some(match self.key.value {
            KeyValue::Switch => Node::Switch(self.switch_value() == "true"),
            KeyValue::List => {
                let item = |value: &String| Placed::new(Node::Text(value.clone()), place.clone());
                Node::List(values.iter().map(item).collect())
            }
            KeyValue::Mapping => {
                let fields = values.iter().filter_map(|line| field(line, &place, found));
                let entry = |(name, value): (Text, Text)| {
                    let value = value.with(Node::Text(value.value.clone()));
                    Placed::new(Node::Map(vec![(name, value)]), place.clone())
                };
                Node::List(fields.map(entry).collect())
            }
            _ if self.flag.value().is_none() => Node::Text(self.switch_value().to_owned()),
            _ => Node::Text(values.last()?.clone()),
        })
    }

    fn place(&self) -> Place {
        Place::Flag {
            name: self.flag.name(),
        }
    }
}

/// Every flag, in the order of help.
fn all() -> impl Iterator<Item = FlagRow> {
    TABLES.iter().flat_map(|table| {
        table.keys.iter().filter_map(|key| {
            Some(FlagRow {
                flag: key.flag.as_ref()?,
                key,
                holder: table.holder,
                path: table.path,
            })
        })
    })
}

/// The flags of a command in the order of its help: by groups, and in each group first the flags
/// that `-h` lists.
#[must_use]
pub fn of_command(on: On) -> Vec<FlagRow> {
    let mut rows: Vec<FlagRow> = all().filter(|row| row.flag.on.has(on)).collect();
    rows.sort_by_key(|row| (row.flag.group, !row.flag.is_first));
    rows
}

/// The flag that sets a key. If the name of the key is ambiguous, `key` begins with the key of its
/// mapping and a dot: `stream.interval`.
pub(crate) fn of_key(key: &str) -> Option<FlagRow> {
    let (holder, key) = key.rsplit_once('.').unwrap_or(("", key));
    all().find(|row| row.holder == holder && row.key.name == key)
}

/// The setting of a flag, found by its name in messages, in the form of a plan: `tls.insecure`, or
/// `keepalive: false` if the flag sets one value.
#[must_use]
pub fn plan_setting(name: &str) -> Option<String> {
    let row = all().find(|row| row.flag.name() == name)?;
    let key = row.plan_key();
    Some(match (row.flag.value(), row.switch_value()) {
        (Some(_), _) | (None, "true") => key,
        (None, value) => format!("{key}: {value}"),
    })
}

/// A given flag, with its values in order.
#[derive(Clone, Debug)]
pub struct Given {
    /// The flag.
    pub row: FlagRow,
    /// The values; empty for a switch.
    pub values: Vec<String>,
}

/// The document of flags other than the [`SPECIAL`] ones, and the mistakes in their values. Without
/// a call, flags of requests have no request to apply to.
#[must_use]
pub fn read(given: &[Given]) -> (Document, Vec<Diagnostic>) {
    let mut found = Findings::default();
    let mut root = Placed::new(Node::Map(Vec::new()), Place::Nowhere);
    // A command line has a pool even if no flag sets one of its keys.
    let pool = Placed::new(Node::Map(Vec::new()), Place::Nowhere);
    insert_at(&mut root, IN_POOL, pool);
    let has_call = given.iter().any(|given| given.row.flag.long() == "call");
    for Given { row, values } in given {
        if row.is_special() || row.is_of_request() && !has_call {
            continue;
        }
        if let Some(value) = row.node(values, &mut found) {
            let path = [row.path, &[row.key.name]].concat();
            insert_at(&mut root, &path, Placed::new(value, row.place()));
        }
    }
    let document = read_fields(&root, "a plan", &mut found);
    (document, found.into_inner())
}

/// Puts a value at a path below a mapping; creates missing mappings.
fn insert_at(node: &mut Placed<Node>, path: &[&str], value: Placed<Node>) {
    let Some((name, rest)) = path.split_first() else {
        *node = value;
        return;
    };
    if !matches!(node.value, Node::Map(_)) {
        node.value = Node::Map(Vec::new());
    }
    if let Node::Map(entries) = &mut node.value {
        match entries.iter_mut().find(|(key, _)| key.value == *name) {
            Some((_, below)) => insert_at(below, rest, value),
            None => {
                let mut below = Placed::new(Node::Null, Place::Nowhere);
                insert_at(&mut below, rest, value);
                let key = Placed::new((*name).to_owned(), Place::Nowhere);
                entries.push((key, below));
            }
        }
    }
}

/// Parses `Name: value`; notes a line without a colon.
fn field(line: &str, place: &Place, found: &mut Findings) -> Option<(Text, Text)> {
    // The names of HTTP/2's pseudo-header fields begin with a colon; they are refused later, by
    // name.
    let rest = line.strip_prefix(':').unwrap_or(line);
    let start = line.len() - rest.len();
    let text = |text: &str| Text::new(text.to_owned(), place.clone());
    if let Some(at) = rest.find(':') {
        let (name, value) = (&line[..start + at], &line[start + at + 1..]);
        let value = value.trim_matches(|c: char| c.is_ascii_whitespace());
        return Some((text(name.trim()), text(value)));
    }
    let file = line.strip_prefix('@');
    let shown = secret::line_without_colon(file.unwrap_or(line));
    let shown = shown.replace(char::is_control, " ");
    let message = match file {
        Some(_) => format!(
            "`@{shown}` would read a file, which is not supported; write each field as `Name: value`"
        ),
        None if start > 0 => "the name before the colon is missing; write `Name: value`".to_owned(),
        None => format!("`{shown}` has no colon; write `Name: value`"),
    };
    found.add(place, message);
    None
}

#[cfg(test)]
mod tests {
    use super::{Given, On, SPECIAL, all, of_command, of_key, plan_setting, read};
    use crate::form::print;
    use std::collections::HashSet;

    const COMMANDS: [On; 8] = [
        On::HTTP,
        On::LLM,
        On::GRPC,
        On::WS,
        On::RUN,
        On::ATTACH,
        On::REPORT,
        On::RESUME,
    ];

    fn given(on: On, flags: &[(&str, &[&str])]) -> Vec<Given> {
        let rows = of_command(on);
        let given = flags.iter().map(|(long, values)| Given {
            row: *rows.iter().find(|row| row.flag.long() == *long).unwrap(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        });
        given.collect()
    }

    #[test]
    fn flags_make_the_document_that_a_plan_makes() {
        let http: &[(&str, &[&str])] = &[
            ("rate", &["5"]),
            ("header", &["A: 1", "a:2"]),
            ("expect-body", &["contains x"]),
            ("http2", &[]),
            ("no-keepalive", &[]),
            ("no-templates", &[]),
            ("insecure", &[]),
            ("requests", &["10"]),
            ("json", &["-"]),
        ];
        let plan = "drumfire: 1\npools:\n  main:\n    rate: 5\n    http: 2\n    expect:\n      body:\n        - contains x\n    keepalive: false\n    tls:\n      insecure: true\n    templates: none\n    headers:\n      A: 1\n      a: 2\nstop:\n  requests: 10\noutputs:\n  json: \"-\"\n";
        let (document, found) = read(&given(On::HTTP, http));
        assert_eq!((print(&document).as_str(), found.len()), (plan, 0));
        let grpc: &[(&str, &[&str])] = &[("stream-count", &["3"]), ("call", &["a.B/C"])];
        let plan = "drumfire: 1\npools:\n  main:\n    requests:\n      - call: a.B/C\n        stream:\n          count: 3\n";
        assert_eq!(print(&read(&given(On::GRPC, grpc)).0), plan);
        assert_eq!(
            print(&read(&given(On::GRPC, &grpc[..1])).0),
            "drumfire: 1\npools:\n  main: {}\n"
        );
    }

    #[test]
    fn every_mistake_in_a_flag_is_found_at_the_flag() {
        let wrong: &[(&str, &[&str])] = &[("header", &["x"]), ("requests", &["ten"])];
        let (_, found) = read(&given(On::HTTP, wrong));
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("-H: "), "{found:?}");
        assert!(
            found[1].starts_with("-n: `ten` is not a whole number"),
            "{found:?}"
        );
    }

    #[test]
    fn a_flag_is_named_once_and_names_others_that_its_commands_have() {
        for on in COMMANDS {
            let rows = of_command(on);
            let mut seen = HashSet::new();
            for row in &rows {
                assert!(seen.insert(row.flag.long().to_owned()), "{:?}", row.flag);
                let letter = row.flag.short().map(String::from);
                assert!(
                    letter.is_none_or(|letter| seen.insert(letter)),
                    "{:?}",
                    row.flag
                );
            }
            for row in &rows {
                let needs = row.flag.needs.filter(|_| on != On::WS && on != On::LLM);
                let others = row.flag.excludes.iter().copied().chain(needs);
                for other in others {
                    assert!(seen.contains(other), "{:?}", row.flag);
                }
            }
        }
        for special in SPECIAL {
            assert!(all().any(|row| row.flag.long() == special), "{special}");
        }
    }

    #[test]
    fn a_key_has_one_flag() {
        for row in all() {
            let key = match row.holder {
                "" => row.key.name.to_owned(),
                holder => format!("{holder}.{}", row.key.name),
            };
            let found = of_key(&key).unwrap();
            assert_eq!(found.flag.name(), row.flag.name(), "{key}");
        }
        let name = |key| of_key(key).map(|row| row.flag.name());
        assert_eq!(name("interval"), Some("--interval"));
        assert_eq!(name("stream.interval"), Some("--stream-interval"));
        assert_eq!(name("pace"), Some("--every"));
        for (flag, setting) in [
            ("-k", "tls.insecure"),
            ("--http2", "http: 2"),
            ("--no-keepalive", "keepalive: false"),
            ("--threads", "generator.threads"),
            ("--max-receive", "max_receive"),
        ] {
            assert_eq!(plan_setting(flag).as_deref(), Some(setting));
        }
    }
}
