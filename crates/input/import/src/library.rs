//! JSON and YAML documents with their references to other parts and other files.
//!
//! All files are read before anything is evaluated. A reference that can't be resolved is an error
//! only where it is used.

use crate::{Source, json};
use drumfire_plan::percent;
use drumfire_units::utf8;
use serde_json::Value;
use std::collections::HashMap;
use std::ptr;

/// The maximum length of a chain of references.
const DEPTH_MAX: usize = 32;
/// The maximum number of files to which a document may refer.
const FILES_MAX: usize = 10_000;
/// The maximum number of values in a YAML document, whose aliases could otherwise multiply a small
/// text.
const YAML_VALUES_MAX: usize = 1_000_000;
/// The keys by which a schema defines its name, and the prefix of references to such a name.
const NAMES: [(&str, &str); 4] = [
    ("$id", ""),
    ("$self", ""),
    ("$anchor", "#"),
    ("$dynamicAnchor", "#"),
];
/// The keys that refer to another part.
const REFERENCES: [&str; 2] = ["$ref", "$dynamicRef"];

/// The message for references without an end.
pub(crate) const ENDLESS: &str = "a reference leads to itself, or there are too many in a row";

static NOTHING: Value = Value::Null;

/// A document, and the files to which it refers.
#[derive(Debug)]
pub(crate) struct FileLibrary {
    files: Vec<File>,
    /// The reason why each missing file can't be read, by name.
    missing: HashMap<String, String>,
    /// Whether keys next to `$ref` apply (JSON Schema 2020-12).
    pub(crate) siblings: Siblings,
}

/// The keys next to a `$ref`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Siblings {
    Ignored,
    Read,
}

#[derive(Debug)]
struct File {
    /// The path relative to the folder of the first file.
    name: String,
    value: Value,
    /// Pointers to the named parts.
    names: HashMap<String, String>,
}

/// A value in one of the files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<'a> {
    library: &'a FileLibrary,
    file: usize,
    value: &'a Value,
}

/// Parses JSON or YAML.
///
/// # Errors
/// The first mistake of the text.
fn parsed(text: &str) -> Result<Value, String> {
    let is_json = text.trim_start().starts_with('{');
    let json = is_json.then(|| json::parsed(text));
    if let Some(Ok(value)) = json {
        return Ok(value);
    }
    // YAML also has mappings that begin with a brace. Words such as `no` are texts (YAML 1.2).
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 2 * YAML_VALUES_MAX,
            max_nodes: YAML_VALUES_MAX,
        },
        strict_booleans: true,
        underscored_numbers_as_strings: true,
        leading_zero_numbers_as_strings: true,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| match json {
        Some(Err(error)) => format!("invalid JSON: {error}"),
        _ => format!("invalid YAML: {}", yaml_words(&error.to_string())),
    })
}

/// The message of the YAML library, without its own settings and functions.
fn yaml_words(error: &str) -> String {
    let words = error.lines().next().unwrap_or_default();
    let words = words.strip_prefix("error: ").unwrap_or(words);
    let place = words.split(": ").next().unwrap_or_default();
    if words.contains("multiple YAML documents") {
        return format!("{place}: the file has several documents; keep one");
    }
    if words.contains("budget breached") {
        return format!("{place}: it has more than {YAML_VALUES_MAX} values, or is too large");
    }
    words.split(", set ").next().unwrap_or_default().to_owned()
}

impl FileLibrary {
    /// A document without other files.
    pub(crate) fn from_value(value: Value) -> Self {
        Self {
            files: vec![File::new(String::new(), value)],
            missing: HashMap::new(),
            siblings: Siblings::Ignored,
        }
    }

    /// Reads a document with all files to which it refers.
    ///
    /// # Errors
    /// If the document itself can't be read.
    pub(crate) fn read(source: &Source<'_>) -> Result<Self, String> {
        let mut library = Self::from_value(parsed(source.text)?);
        library.files[0].name = source.name.to_owned();
        let mut looked_at = 0;
        while let Some(file) = library.files.get(looked_at) {
            let mut wanted = Vec::new();
            each_reference(&file.value, &mut |reference| {
                if let Ok(Some(name)) = file_of(&file.name, reference) {
                    wanted.push(name);
                }
            });
            for name in wanted {
                library.add(name, source);
            }
            looked_at += 1;
        }
        Ok(library)
    }

    /// Reads a file, unless it was already read.
    fn add(&mut self, name: String, source: &Source<'_>) {
        if self.file(&name).is_some() || self.missing.contains_key(&name) {
            return;
        }
        let read = || {
            if self.files.len() >= FILES_MAX {
                return Err(format!(
                    "the document refers to more than {FILES_MAX} files"
                ));
            }
            let bytes = (source.read)(&name).map_err(|error| error.to_string())?;
            parsed(utf8::text(&bytes)?)
        };
        match read() {
            Ok(value) => self.files.push(File::new(name, value)),
            Err(why) => {
                self.missing.insert(name, why);
            }
        }
    }

    fn file(&self, name: &str) -> Option<usize> {
        self.files.iter().position(|file| file.name == name)
    }

    /// The root of the document.
    pub(crate) fn root(&self) -> Node<'_> {
        Node {
            library: self,
            file: 0,
            value: &self.files[0].value,
        }
    }

    /// The target of a reference in a file.
    fn follow(&self, file: usize, reference: &str) -> Result<Node<'_>, String> {
        let named = self.files.iter().enumerate().find_map(|(at, file)| {
            let pointer = file.names.get(reference)?;
            Some((at, pointer))
        });
        if let Some((at, pointer)) = named.filter(|_| !reference.starts_with('#')) {
            return self.part(at, pointer, reference);
        }
        let (_, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let file = match file_of(&self.files[file].name, reference)? {
            None => file,
            Some(name) => self.file(&name).ok_or_else(|| {
                let why = self
                    .missing
                    .get(&name)
                    .map_or("it was not read", String::as_str);
                format!("can't read {name}: {why}")
            })?,
        };
        let fragment = percent::decoded(fragment);
        if fragment.is_empty() || fragment.starts_with('/') {
            return self.part(file, &fragment, reference);
        }
        let pointer = self.files[file].names.get(&format!("#{fragment}"));
        let pointer = pointer.ok_or_else(|| "no schema has this anchor".to_owned())?;
        self.part(file, pointer, reference)
    }

    fn part(&self, file: usize, pointer: &str, reference: &str) -> Result<Node<'_>, String> {
        let value = self.files[file].value.pointer(pointer);
        let missing = || match reference.starts_with('#') {
            true => "the document has no such part".to_owned(),
            false => "the file has no such part".to_owned(),
        };
        Ok(Node {
            library: self,
            file,
            value: value.ok_or_else(missing)?,
        })
    }
}

impl File {
    fn new(name: String, value: Value) -> Self {
        let mut names = HashMap::new();
        find_names(&value, &mut String::new(), &mut names);
        Self { name, value, names }
    }
}

/// Finds the named parts.
fn find_names(value: &Value, pointer: &mut String, names: &mut HashMap<String, String>) {
    let length = pointer.len();
    match value {
        Value::Object(map) => {
            for (key, sign) in NAMES {
                if let Some(name) = map.get(key).and_then(Value::as_str) {
                    names
                        .entry(format!("{sign}{name}"))
                        .or_insert_with(|| pointer.clone());
                }
            }
            for (key, value) in map {
                step(pointer, key);
                find_names(value, pointer, names);
                pointer.truncate(length);
            }
        }
        Value::Array(list) => {
            for (at, value) in list.iter().enumerate() {
                step(pointer, &at.to_string());
                find_names(value, pointer, names);
                pointer.truncate(length);
            }
        }
        _ => {}
    }
}

/// Appends a step to a pointer (RFC 6901).
fn step(pointer: &mut String, key: &str) {
    pointer.push('/');
    pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
}

/// Passes every reference of a document to `give`.
fn each_reference(value: &Value, give: &mut impl FnMut(&str)) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value.as_str() {
                    Some(reference) if REFERENCES.contains(&key.as_str()) => give(reference),
                    _ => each_reference(value, give),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| each_reference(value, give)),
        _ => {}
    }
}

/// The name of the file of a reference in another file; `None` if it is the same file.
///
/// # Errors
/// If the file may not be read: only files below the folder of the first document are allowed,
/// because an untrusted document must not include other files of this machine in requests.
fn file_of(from: &str, reference: &str) -> Result<Option<String>, String> {
    let path = reference.split('#').next().unwrap_or_default();
    if path.is_empty() {
        return Ok(None);
    }
    let scheme = path.split(['/', '?']).next().unwrap_or_default();
    if path.starts_with("//") || scheme.contains(':') {
        return Err("URLs are not fetched; save it beside the document".to_owned());
    }
    let outside = "it is outside of the document's folder; copy it into that folder";
    if path.starts_with('/') {
        return Err(outside.to_owned());
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    let path = percent::decoded(path);
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop().ok_or(outside)?;
            }
            part => parts.push(part),
        }
    }
    let name = parts.join("/");
    Ok((name != from).then_some(name))
}

impl<'a> Node<'a> {
    /// The value of a key; null if the key is absent.
    pub(crate) fn get(self, key: &str) -> Self {
        self.with(self.value.get(key).unwrap_or(&NOTHING))
    }

    const fn with(self, value: &'a Value) -> Self {
        Self { value, ..self }
    }

    /// The values of a list, or of the list to which it refers; empty for other values.
    pub(crate) fn list(self) -> impl Iterator<Item = Self> {
        let whole = self.whole();
        let items = whole.value.as_array().into_iter().flatten();
        items.map(move |value| whole.with(value))
    }

    /// The keys of a mapping with their values, or of the mapping to which it refers; empty for
    /// other values.
    pub(crate) fn entries(self) -> impl Iterator<Item = (&'a str, Self)> {
        self.whole().own_entries()
    }

    /// The keys of the mapping itself.
    pub(crate) fn own_entries(self) -> impl Iterator<Item = (&'a str, Self)> {
        let entries = self.value.as_object().into_iter().flatten();
        entries.map(move |(key, value)| (key.as_str(), self.with(value)))
    }

    /// The target of its `$ref`, or the value itself without a `$ref`; null if the reference can't
    /// be resolved.
    pub(crate) fn whole(self) -> Self {
        self.resolved().unwrap_or_else(|_| self.with(&NOTHING))
    }

    /// The value itself.
    pub(crate) const fn value(self) -> &'a Value {
        self.value
    }

    /// Whether the value is a mapping; null and an empty list are mappings without keys.
    pub(crate) fn is_mapping(self) -> bool {
        match self.value {
            Value::Array(items) => items.is_empty(),
            value => value.is_object() || value.is_null(),
        }
    }

    pub(crate) fn is_null(self) -> bool {
        self.value.is_null()
    }

    /// Whether the value is `true`.
    pub(crate) fn is_true(self) -> bool {
        self.value.as_bool() == Some(true)
    }

    pub(crate) fn str(self) -> Option<&'a str> {
        self.value.as_str()
    }

    /// A scalar as text; `None` for a list, a mapping or null.
    pub(crate) fn text(self) -> Option<String> {
        text(self.value)
    }

    /// Whether both are the same part of the same file.
    pub(crate) fn is(self, other: Self) -> bool {
        ptr::eq(self.value, other.value)
    }

    /// A unique id of this part.
    pub(crate) fn address(self) -> usize {
        ptr::from_ref(self.value).addr()
    }

    /// The target of its `$ref`, if it has one.
    pub(crate) fn referred(self) -> Option<Result<Self, String>> {
        let mut references = REFERENCES.iter().filter_map(|key| self.get(key).str());
        let reference = references.next()?;
        let followed = self.library.follow(self.file, reference);
        Some(
            followed.map_err(|why| format!("the reference `{reference}` can't be followed: {why}")),
        )
    }

    /// The value itself, or the target of its `$ref`.
    ///
    /// # Errors
    /// If the reference can't be resolved.
    pub(crate) fn resolved(self) -> Result<Self, String> {
        let mut node = self;
        for _ in 0..DEPTH_MAX {
            match node.referred() {
                Some(next) => node = next?,
                None => return Ok(node),
            }
        }
        Err(ENDLESS.to_owned())
    }

    /// Whether keys next to a `$ref` apply.
    pub(crate) fn has_siblings(self) -> bool {
        self.library.siblings == Siblings::Read
    }

    /// The place: the file, unless it is the first, and a JSON pointer.
    pub(crate) fn place(self) -> String {
        let file = &self.library.files[self.file];
        let mut pointer = String::new();
        let is_found = find(&file.value, self.value, &mut pointer);
        let name = if self.file == 0 { "" } else { &file.name };
        match is_found {
            true => format!("{name}#{pointer}"),
            false => name.to_owned(),
        }
    }
}

/// Finds a part by its address; returns whether it was found.
fn find(within: &Value, wanted: &Value, pointer: &mut String) -> bool {
    if ptr::eq(within, wanted) {
        return true;
    }
    let length = pointer.len();
    let mut below = |key: &str, value: &Value| {
        step(pointer, key);
        let is_found = find(value, wanted, pointer);
        if !is_found {
            pointer.truncate(length);
        }
        is_found
    };
    match within {
        Value::Object(map) => map.iter().any(|(key, value)| below(key, value)),
        Value::Array(list) => {
            let mut items = list.iter().enumerate();
            items.any(|(at, value)| below(&at.to_string(), value))
        }
        _ => false,
    }
}

/// A scalar as text; `None` for a list, a mapping or null.
pub(crate) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::file_of;

    #[test]
    fn references_lead_to_files_below_the_folder_of_the_document() {
        for (from, reference, file) in [
            ("root.yaml", "#/a", Some(None)),
            ("root.yaml", "root.yaml#/a", Some(None)),
            ("root.yaml", "./a.yaml", Some(Some("a.yaml"))),
            ("", "a.yaml", Some(Some("a.yaml"))),
            ("r/x/a.yaml", "../b.yaml#/c", Some(Some("r/b.yaml"))),
            ("r/a.yaml", "../root.yaml", Some(Some("root.yaml"))),
            ("r/a.yaml", "b%20c.yaml", Some(Some("r/b c.yaml"))),
            ("a.yaml", "../b.yaml", None),
            ("a.yaml", "%2e%2e/b.yaml", None),
            ("a.yaml", "/etc/passwd", None),
            ("a.yaml", "//h/b", None),
            ("a.yaml", "https://h/b", None),
            ("a.yaml", "file:b", None),
        ] {
            let found = file_of(from, reference).ok();
            assert_eq!(
                found,
                file.map(|file| file.map(str::to_owned)),
                "{reference}"
            );
        }
    }
}
