//! Sample values for a schema: its own examples, or values generated within its bounds.

mod pattern;

use crate::exchange::MADE_UUID;
use crate::library::{ENDLESS, Node};
use crate::notes::Notes;
use crate::shape::shown;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Number, Value};

/// The maximum depth of schemas.
const DEPTH_MAX: usize = 32;
/// The maximum number of values in one sample, and of schemas that apply to one value.
const VALUES_MAX: usize = 10_000;
/// The length of a text that counts as one more value, in bytes.
const TEXT_OF_VALUE: usize = 256;
/// The maximum length of a generated text, in characters.
const TEXT_MAX: usize = 64 << 10;
/// The default text.
const TEXT: &str = "text";

/// The texts of formats.
const FORMATS: [(&str, &str); 21] = [
    ("date", "2024-01-31"),
    ("date-time", "2024-01-31T12:00:00Z"),
    ("duration", "PT1H"),
    ("email", "ada@example.test"),
    ("hostname", "host.example.test"),
    ("idn-email", "ada@example.test"),
    ("idn-hostname", "host.example.test"),
    ("ip", "192.0.2.1"),
    ("ipv4", "192.0.2.1"),
    ("ipv6", "2001:db8::1"),
    ("iri", "https://example.test/"),
    ("iri-reference", "/text"),
    ("json-pointer", "/text"),
    ("regex", "text"),
    ("relative-json-pointer", "0"),
    ("time", "12:00:00Z"),
    ("uri", "https://example.test/"),
    ("uri-reference", "/text"),
    ("uri-template", "/text"),
    ("url", "https://example.test/"),
    ("uuid", MADE_UUID),
];

/// A valid value for a schema: its example, its default, the first of its values, or one generated
/// from its type and bounds. Recursion ends at the first repetition: there, a property is left out,
/// and a list ends. Rules that can't be satisfied are noted, and so is a sample that is too large.
pub(crate) fn sample(schema: Node<'_>, notes: &mut Notes) -> Option<Value> {
    let mut samples = SampleGenerator {
        within: Vec::new(),
        left: VALUES_MAX,
        is_cut: false,
        is_circle: false,
        notes,
    };
    let made = samples.generate(schema, 0);
    if samples.is_cut {
        let finding =
            format!("an example ends after {VALUES_MAX} values; write a smaller `example`");
        notes.add_at(finding, || schema.place());
    }
    made
}

/// The schema of a property of an object, if it exists.
pub(crate) fn property<'a>(schema: Node<'a>, name: &str, notes: &mut Notes) -> Option<Node<'a>> {
    let merged = Merged::from_schema(schema, notes);
    let mut properties = merged
        .parts
        .iter()
        .map(|part| part.get("properties").whole().get(name));
    properties.find(|property| !property.is_null())
}

/// The first value of a key in a schema.
pub(crate) fn key<'a>(schema: Node<'a>, key: &str, notes: &mut Notes) -> Option<Node<'a>> {
    Merged::from_schema(schema, notes).first(key)
}

/// Whether a schema describes bytes, such as a file, or a list of them.
pub(crate) fn is_binary(schema: Node<'_>, notes: &mut Notes) -> bool {
    let mut merged = Merged::from_schema(schema, notes);
    if let Some(items) = merged.first("items") {
        merged = Merged::from_schema(items, notes);
    }
    let format = merged.first("format").and_then(Node::str);
    let encoding = merged.first("contentEncoding");
    let media_type = merged.first("contentMediaType").and_then(Node::str);
    format == Some("binary")
        || encoding.is_none()
            && media_type.is_some_and(|kind| !kind.starts_with("text/") && !kind.contains("json"))
}

/// The schemas that apply to one value together: the schema itself, the parts of `allOf`, and the
/// first choices of `oneOf` and `anyOf`.
struct Merged<'a> {
    parts: Vec<Node<'a>>,
    /// The number of parts that are the schema itself and the targets of its references.
    own: usize,
    /// The discriminating properties, with their values.
    fixed: Vec<(&'a str, String)>,
}

impl<'a> Merged<'a> {
    fn from_schema(schema: Node<'a>, notes: &mut Notes) -> Self {
        let mut merged = Self {
            parts: Vec::new(),
            own: 0,
            fixed: Vec::new(),
        };
        let added = merged.add_own(schema, notes);
        merged.own = merged.parts.len();
        for part in added {
            merged.add_others(part, 0, notes);
        }
        if merged.parts.len() >= VALUES_MAX {
            let finding = format!(
                "a schema combines more than {VALUES_MAX} schemas, and the others are left out"
            );
            notes.add_at(finding, || schema.place());
        }
        merged
    }

    /// Adds a schema and the targets of its references; returns those that were new.
    fn add_own(&mut self, schema: Node<'a>, notes: &mut Notes) -> Vec<Node<'a>> {
        let mut added = Vec::new();
        let mut passed: Vec<Node<'a>> = Vec::new();
        let mut node = schema;
        loop {
            if passed.len() > DEPTH_MAX || passed.iter().any(|part| part.is(node)) {
                notes.add_at(ENDLESS.to_owned(), || node.place());
                break;
            }
            if self.parts.len() >= VALUES_MAX || self.parts.iter().any(|part| part.is(node)) {
                break;
            }
            passed.push(node);
            let referred = node.referred();
            if referred.is_none() || node.has_siblings() {
                added.push(node);
                self.parts.push(node);
            }
            match referred {
                Some(Ok(next)) => node = next,
                Some(Err(why)) => {
                    notes.add_at(why, || node.place());
                    break;
                }
                None => break,
            }
        }
        added
    }

    fn add(&mut self, schema: Node<'a>, depth: usize, notes: &mut Notes) {
        if depth > DEPTH_MAX {
            let finding = "schemas are combined too deeply, and the inner ones are left out";
            return notes.add_at(finding.to_owned(), || schema.place());
        }
        for part in self.add_own(schema, notes) {
            self.add_others(part, depth, notes);
        }
    }

    /// Adds the parts of a schema, and its first choice.
    fn add_others(&mut self, schema: Node<'a>, depth: usize, notes: &mut Notes) {
        for part in schema.get("allOf").list() {
            self.add(part, depth + 1, notes);
        }
        for choices in ["oneOf", "anyOf"] {
            let mut chosen = None;
            for choice in schema.get(choices).list() {
                match choice.resolved() {
                    Ok(node) if node.get("type").str() == Some("null") => {}
                    Ok(node) if self.parts.iter().any(|part| part.is(node)) => {}
                    Ok(_) => {
                        chosen = Some(choice);
                        break;
                    }
                    Err(why) => notes.add_at(why, || choice.place()),
                }
            }
            let Some(choice) = chosen else {
                continue;
            };
            if let Some(fixed) = discriminator(schema, choice) {
                self.fixed.push(fixed);
            }
            self.add(choice, depth + 1, notes);
        }
    }

    /// The names of the required properties.
    fn required(&self) -> Vec<&'a str> {
        let lists = self.parts.iter().map(|part| part.get("required"));
        lists.flat_map(Node::list).filter_map(Node::str).collect()
    }

    /// The first value of a key.
    fn first(&self, key: &str) -> Option<Node<'a>> {
        let mut values = self.parts.iter().map(|part| part.get(key));
        values.find(|value| !value.is_null())
    }

    /// The numbers of a key in all parts.
    fn numbers(&self, key: &str) -> impl Iterator<Item = f64> {
        let values = self.parts.iter().map(move |part| part.get(key));
        values.filter_map(|value| value.value().as_f64())
    }

    /// The maximum number of a key, as a count.
    fn at_least(&self, key: &str) -> Option<usize> {
        self.numbers(key).map(|number| number as usize).max()
    }

    /// The minimum number of a key, as a count.
    fn at_most(&self, key: &str) -> Option<usize> {
        self.numbers(key).map(|number| number as usize).min()
    }

    /// An example in one of the parts; the nth, modulo their number.
    fn given(&self, parts: &[Node<'a>], nth: usize) -> Option<Value> {
        let nth_of = |list: Node<'a>| {
            let values: Vec<&Value> = list.list().map(Node::value).collect();
            let values: Vec<&Value> = values.into_iter().filter(|it| !it.is_null()).collect();
            let at = nth.checked_rem(values.len())?;
            Some(values[at].clone())
        };
        let key = |key: &str| {
            parts
                .iter()
                .map(move |part| part.get(key))
                .find(|it| !it.is_null())
        };
        let single = |name: &str| key(name).map(|value| value.value().clone());
        single("const")
            .or_else(|| single("example").filter(|_| nth == 0))
            .or_else(|| key("examples").and_then(nth_of))
            .or_else(|| single("default").filter(|_| nth == 0))
            .or_else(|| key("enum").and_then(nth_of))
    }

    /// The type of the value, explicit or implied by other keys.
    fn kind(&self) -> Option<&'a str> {
        let types = self.parts.iter().map(|part| part.get("type"));
        let named = types.filter_map(|kind| {
            let mut listed = kind.list().filter_map(Node::str);
            kind.str().or_else(|| listed.find(|kind| *kind != "null"))
        });
        let of_keys = [
            ("properties", "object"),
            ("additionalProperties", "object"),
            ("items", "array"),
            ("prefixItems", "array"),
            ("minItems", "array"),
            ("pattern", "string"),
            ("minLength", "string"),
            ("maxLength", "string"),
            ("minimum", "number"),
            ("maximum", "number"),
            ("multipleOf", "number"),
            ("format", "string"),
        ];
        let mut named = named;
        named.next().or_else(|| {
            let mut known = of_keys.iter();
            known.find_map(|(key, kind)| self.first(key).map(|_| *kind))
        })
    }
}

/// The property that discriminates a choice of a schema from the others, with its value.
fn discriminator<'a>(schema: Node<'a>, choice: Node<'a>) -> Option<(&'a str, String)> {
    let discriminator = schema.get("discriminator");
    let property = discriminator.get("propertyName").str()?;
    let reference = choice.get("$ref").str()?;
    let name = reference.rsplit('/').next().unwrap_or_default();
    let mut mapping = discriminator.get("mapping").entries();
    let mapped = mapping.find(|(_, to)| to.str().is_some_and(|to| to == reference || to == name));
    Some((property, mapped.map_or(name, |(key, _)| key).to_owned()))
}

/// The state of generating samples.
struct SampleGenerator<'a, 'n> {
    /// The schemas whose samples are being generated, the outermost first.
    within: Vec<Node<'a>>,
    /// The number of values that may still be generated.
    left: usize,
    /// Whether a value was left out because there were too many.
    is_cut: bool,
    /// Whether the last value is missing because its schema contains itself.
    is_circle: bool,
    notes: &'n mut Notes,
}

impl<'a> SampleGenerator<'a, '_> {
    /// The nth value of a schema; `None` within the schema itself, below too many others, or after
    /// too many values.
    fn generate(&mut self, schema: Node<'a>, nth: usize) -> Option<Value> {
        self.take()?;
        let merged = Merged::from_schema(schema, self.notes);
        let own = &merged.parts[..merged.own];
        if let Some(given) = merged.given(own, nth) {
            return Some(given);
        }
        let &own = own.last()?;
        if self.within.iter().any(|outer| outer.is(own)) {
            self.is_circle = true;
            return None;
        }
        if self.within.len() >= DEPTH_MAX {
            let finding = "schemas are nested too deeply, and the inner ones are left out";
            self.notes.add_at(finding.to_owned(), || own.place());
            return None;
        }
        self.within.push(own);
        let made = self.made(&merged, nth);
        self.within.pop();
        Some(made)
    }

    /// Takes one of the values that may still be generated.
    fn take(&mut self) -> Option<()> {
        let left = self.left.checked_sub(1);
        self.is_cut |= left.is_none();
        self.left = left?;
        Some(())
    }

    fn made(&mut self, merged: &Merged<'a>, nth: usize) -> Value {
        let kind = merged.kind();
        let is_object = kind == Some("object");
        let given = merged.given(&merged.parts, nth).filter(|_| !is_object);
        if let Some(given) = given {
            return given;
        }
        match kind {
            Some("object") => Value::Object(self.object(merged, nth)),
            Some("array") => Value::Array(self.array(merged)),
            Some("integer" | "number") => self.number(merged, nth),
            Some("boolean") => Value::Bool(nth.is_multiple_of(2)),
            Some("string") => {
                let text = self.string(merged, nth);
                self.left = self.left.saturating_sub(text.len() / TEXT_OF_VALUE);
                Value::String(text)
            }
            Some("null") | None => Value::Null,
            Some(other) => {
                let finding = format!("the type `{}` is unknown", shown(other));
                self.note(merged, finding);
                Value::Null
            }
        }
    }

    /// Adds a note about a schema with its place.
    fn note(&mut self, merged: &Merged<'a>, finding: String) {
        let place = merged.parts.last().copied();
        self.notes
            .add_at(finding, || place.map(Node::place).unwrap_or_default());
    }

    /// An object with the properties that a client may send.
    fn object(&mut self, merged: &Merged<'a>, nth: usize) -> Map<String, Value> {
        let mut all = Map::new();
        let required = merged.required();
        for part in &merged.parts {
            if let Some(Value::Object(given)) = merged.given(&[*part], nth) {
                for (name, value) in given {
                    all.entry(name).or_insert(value);
                }
            }
            for (name, property) in part.get("properties").entries() {
                let is_read = property
                    .resolved()
                    .is_ok_and(|it| it.get("readOnly").is_true());
                if is_read || property.get("readOnly").is_true() || all.contains_key(name) {
                    continue;
                }
                self.is_circle = false;
                if let Some(value) = self.generate(property, nth) {
                    all.insert(name.to_owned(), value);
                } else if required.contains(&name) && !self.is_cut {
                    let why = match self.is_circle {
                        true => "its schema contains itself",
                        false => "its schema gives no value",
                    };
                    let finding = format!("a required property is left out, because {why}");
                    self.notes.add_at(finding, || property.place());
                }
            }
        }
        for (name, value) in &merged.fixed {
            all.insert((*name).to_owned(), Value::from(value.as_str()));
        }
        self.fill(merged, &mut all, nth);
        all
    }

    /// Adds required properties without a description, and removes properties if there are too
    /// many.
    fn fill(&mut self, merged: &Merged<'a>, all: &mut Map<String, Value>, nth: usize) {
        let required = merged.required();
        let is_described = |name: &str| {
            let mut parts = merged.parts.iter();
            parts.any(|part| !part.get("properties").whole().get(name).is_null())
        };
        let further = merged.first("additionalProperties");
        let least = merged
            .at_least("minProperties")
            .unwrap_or(0)
            .min(VALUES_MAX);
        let undescribed = required.iter().filter(|name| !is_described(name));
        let names: Vec<String> = undescribed.map(|name| (*name).to_owned()).collect();
        let extra = (1..).map(|n| format!("key{n}"));
        for name in names.into_iter().chain(extra.take(least)) {
            let is_needed = required.contains(&name.as_str()) || all.len() < least;
            if all.contains_key(&name) || !is_needed {
                continue;
            }
            let schema = further.filter(|further| further.value().is_object());
            let value = schema.and_then(|schema| self.generate(schema, nth));
            let Some(value) = value.or_else(|| self.take().map(|()| Value::from(TEXT))) else {
                break;
            };
            all.insert(name, value);
        }
        if let Some(most) = merged.at_most("maxProperties") {
            let optional: Vec<String> = all
                .keys()
                .filter(|name| !required.contains(&name.as_str()))
                .cloned()
                .collect();
            let excess = all.len().saturating_sub(most);
            for name in optional.iter().rev().take(excess) {
                all.remove(name);
            }
        }
    }

    fn array(&mut self, merged: &Merged<'a>) -> Vec<Value> {
        let prefix: Vec<Node<'a>> = match merged.first("prefixItems") {
            Some(items) => items.list().collect(),
            None => Vec::new(),
        };
        let items = merged.first("items");
        let least = merged.at_least("minItems").unwrap_or(0);
        let most = merged.at_most("maxItems").unwrap_or(usize::MAX);
        let is_unique = merged.first("uniqueItems").is_some_and(Node::is_true);
        let usual = if items.is_some() { 1 } else { 0 };
        let count = least.max(prefix.len()).max(usual).min(most).min(VALUES_MAX);
        let mut all = Vec::new();
        for at in 0..count {
            let value = match prefix.get(at).copied().or(items) {
                Some(schema) if schema.value().is_object() => {
                    self.generate(schema, if is_unique { at } else { 0 })
                }
                Some(_) | None => self.take().map(|()| Value::from(TEXT)),
            };
            let Some(value) = value else { break };
            all.push(value);
        }
        let is_repeated = |(at, value): (usize, &Value)| {
            !value.to_string().contains(MADE_UUID) && all[..at].contains(value)
        };
        if is_unique && all.iter().enumerate().any(is_repeated) {
            let finding = "a list must have different items, and as many are not known";
            self.note(merged, finding.to_owned());
        }
        if all.len() < least {
            let finding = format!("a list must have {least} items and has fewer in the plan");
            self.note(merged, finding);
        }
        all
    }

    /// A number within the bounds: 1 if that is allowed.
    fn number(&mut self, merged: &Merged<'a>, nth: usize) -> Value {
        let is_whole = merged.kind() == Some("integer");
        match Range::from_merged(merged).nth(nth, is_whole) {
            Some(number) => Value::Number(number),
            None => {
                let finding = "no number keeps to the bounds of a schema; the plan has 1";
                self.note(merged, finding.to_owned());
                Value::from(1)
            }
        }
    }

    fn string(&mut self, merged: &Merged<'a>, nth: usize) -> String {
        let least = merged.at_least("minLength").unwrap_or(0);
        let most = merged.at_most("maxLength").unwrap_or(usize::MAX);
        let format = merged.first("format").and_then(Node::str);
        let pattern = merged.first("pattern").and_then(Node::str);
        if let Some(pattern) = pattern {
            match pattern::matching(pattern, (least, most.min(TEXT_MAX)), nth) {
                Ok(text) => return text,
                Err(why) => {
                    let finding = format!(
                        "the text for the pattern `{}` may not match it: {why}",
                        shown(pattern)
                    );
                    self.note(merged, finding);
                }
            }
        }
        let of_format = FORMATS.iter().find(|(known, _)| Some(*known) == format);
        let media_type = merged.first("contentMediaType").and_then(Node::str);
        let is_json = media_type.is_some_and(|kind| kind.contains("json"));
        let mut text = match (of_format, format) {
            (Some((_, MADE_UUID)), _) => MADE_UUID.to_owned(),
            (Some((format, text)), _) => varied(text, format, nth),
            (None, Some("byte")) => STANDARD.encode(varied(TEXT, "", nth)),
            _ if merged.first("contentEncoding").and_then(Node::str) == Some("base64") => {
                STANDARD.encode(varied(TEXT, "", nth))
            }
            _ if is_json => match merged.first("contentSchema") {
                Some(schema) => self.generate(schema, nth).unwrap_or_default().to_string(),
                None => "{}".to_owned(),
            },
            _ => varied(TEXT, "", nth),
        };
        let length = if text == MADE_UUID {
            36
        } else {
            text.chars().count()
        };
        if (least..=most).contains(&length) {
            return text;
        }
        let is_free = of_format.is_none() && !is_json;
        match () {
            () if length > most && is_free => text = text.chars().skip(length - most).collect(),
            () if length < least && least <= TEXT_MAX && (is_free || text.starts_with("ada@")) => {
                text.insert_str(0, &"a".repeat(least - length));
            }
            () if length < least && least <= TEXT_MAX && text.starts_with("https:") => {
                text.push_str(&"a".repeat(least - length));
            }
            () => {
                let finding = "a text keeps its format, but not the length that it must have";
                self.note(merged, finding.to_owned());
            }
        }
        text
    }
}

/// The nth text of a format, if the format has several.
fn varied(text: &str, format: &str, nth: usize) -> String {
    match (nth, format) {
        (0, _) => text.to_owned(),
        (n, "date" | "date-time") => text.replacen("-31", &format!("-{:02}", n % 30 + 1), 1),
        (n, "ip" | "ipv4" | "ipv6") => format!("{}{}", &text[..text.len() - 1], n % 200 + 1),
        (n, "email" | "idn-email" | "hostname" | "idn-hostname") => {
            format!("a{n}{text}")
        }
        (n, "duration") => format!("PT{}H", n + 1),
        (n, "time") => text.replacen("12:", &format!("{:02}:", n % 12), 1),
        (n, _) => format!("{text}{n}"),
    }
}

/// The numbers that a schema allows.
struct Range {
    least: Option<f64>,
    most: Option<f64>,
    /// Whether the bounds themselves are excluded.
    is_open: (bool, bool),
    step: Option<f64>,
}

impl Range {
    fn from_merged(merged: &Merged<'_>) -> Self {
        let bound = |key: &str, exclusive: &str, is_tighter: fn(f64, f64) -> bool| {
            let mut bound: Option<(f64, bool)> = None;
            for part in &merged.parts {
                let value = part.get(key).value().as_f64();
                // A boolean in OpenAPI 3.0, and a separate bound in 3.1.
                let outer = part.get(exclusive).value().as_f64().map(|at| (at, true));
                let inner = value.map(|at| (at, part.get(exclusive).is_true()));
                for (at, is_open) in inner.into_iter().chain(outer) {
                    let is_new = bound.is_none_or(|(old, was_open)| {
                        is_tighter(at, old) || at == old && is_open && !was_open
                    });
                    if is_new {
                        bound = Some((at, is_open));
                    }
                }
            }
            bound
        };
        let least = bound("minimum", "exclusiveMinimum", |new, old| new > old);
        let most = bound("maximum", "exclusiveMaximum", |new, old| new < old);
        let step = merged.numbers("multipleOf").find(|step| *step > 0.0);
        Self {
            least: least.map(|(at, _)| at),
            most: most.map(|(at, _)| at),
            is_open: (
                least.is_some_and(|(_, is_open)| is_open),
                most.is_some_and(|(_, is_open)| is_open),
            ),
            step,
        }
    }

    fn has(&self, value: f64) -> bool {
        let above = |least: f64| value > least || value == least && !self.is_open.0;
        let below = |most: f64| value < most || value == most && !self.is_open.1;
        self.least.is_none_or(above) && self.most.is_none_or(below)
    }

    /// The nth number, from 1 on if 1 is allowed; `None` if no number is.
    fn nth(&self, nth: usize, is_whole: bool) -> Option<Number> {
        let step = match self.step {
            Some(step) if is_whole && step.fract() != 0.0 => whole_multiple(step)?,
            Some(step) => step,
            None => 1.0,
        };
        let begin = match (self.least, self.most) {
            _ if self.has(1.0) => 1.0,
            (Some(least), _) => least,
            (None, Some(most)) => most,
            (None, None) => 1.0,
        };
        let first = multiple((begin / step).ceil(), step);
        let candidates = [
            first,
            multiple((begin / step).ceil() + 1.0, step),
            multiple((begin / step).floor(), step),
            multiple((begin / step).floor() - 1.0, step),
        ];
        let Some(found) = candidates.into_iter().find(|at| self.has(*at)) else {
            // Between two whole numbers.
            let (least, most) = self.least.zip(self.most)?;
            let middle = least + (most - least) / 2.0;
            let is_found = self.step.is_none() && !is_whole && self.has(middle);
            return is_found.then(|| Number::from_f64(middle))?;
        };
        let index = (found / step).round();
        let up = multiple(index + nth as f64, step);
        let down = multiple(index - nth as f64, step);
        let value = [up, down]
            .into_iter()
            .find(|at| self.has(*at))
            .unwrap_or(found);
        if value.fract() == 0.0 && value.abs() < 9e15 {
            return Some(Number::from(value as i64));
        }
        Number::from_f64(value)
    }
}

/// A multiple of a step; decimal fractions are computed exactly.
fn multiple(n: f64, step: f64) -> f64 {
    let parts = (1.0 / step).round();
    let is_fraction = step < 1.0 && (parts * step - 1.0).abs() < 1e-12;
    if is_fraction { n / parts } else { n * step }
}

/// The smallest whole multiple of a step.
fn whole_multiple(step: f64) -> Option<f64> {
    (1..=1_000)
        .map(|n| multiple(f64::from(n), step))
        .find(|at| at.fract() == 0.0)
}

#[cfg(test)]
mod tests {
    use super::sample;
    use crate::library::FileLibrary;
    use crate::notes::Notes;
    use serde_json::{Value, json};

    fn made(schema: Value) -> (Value, Vec<String>) {
        let mut library = FileLibrary::from_value(schema);
        library.siblings = crate::library::Siblings::Read;
        let mut notes = Notes::default();
        let value = sample(library.root(), &mut notes);
        (value.unwrap_or_default(), notes.sentences())
    }

    /// A schema within schemas.
    fn nested(depth: usize, around: impl Fn(&Value) -> Value) -> Value {
        (0..depth).fold(json!({"type": "string"}), |inner, _| around(&inner))
    }

    /// Checks the values of schemas, without notes.
    #[track_caller]
    fn check(rows: &[(Value, Value)]) {
        for (schema, value) in rows {
            let (made, notes) = made(schema.clone());
            let numbers = made.as_f64().zip(value.as_f64());
            let is_near = numbers.is_some_and(|(a, b)| (a - b).abs() < 1e-9);
            assert!(made == *value || is_near, "{schema}: {made}");
            assert_eq!(notes, [""; 0], "{schema}");
        }
    }

    #[test]
    fn numbers_keep_to_the_bounds_of_their_schema() {
        check(&[
            (json!({"type": "integer"}), json!(1)),
            (json!({"type": "integer", "minimum": 5}), json!(5)),
            (json!({"type": "integer", "maximum": 0}), json!(0)),
            (json!({"type": "integer", "minimum": 0}), json!(1)),
            (
                json!({"type": "integer", "minimum": 5, "exclusiveMinimum": true}),
                json!(6),
            ),
            (json!({"type": "integer", "exclusiveMinimum": 5}), json!(6)),
            (
                json!({"type": "integer", "exclusiveMaximum": -5}),
                json!(-6),
            ),
            (
                json!({"type": "integer", "minimum": 11, "multipleOf": 10}),
                json!(20),
            ),
            (
                json!({"type": "integer", "maximum": -11, "multipleOf": 10}),
                json!(-20),
            ),
            (json!({"type": "integer", "multipleOf": 2.5}), json!(5)),
            (json!({"type": "number", "minimum": 1.5}), json!(2)),
            (
                json!({"type": "number", "minimum": 0.2, "maximum": 0.4}),
                json!(0.30000000000000004),
            ),
            (
                json!({"type": "number", "minimum": 0.3, "maximum": 0.4, "multipleOf": 0.1}),
                json!(0.3),
            ),
            (
                json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
                json!(0.5),
            ),
            (json!({"minimum": 3}), json!(3)),
            (json!({"type": ["null", "string"]}), json!("text")),
        ]);
    }

    #[test]
    fn texts_keep_to_the_bounds_of_their_schema() {
        check(&[
            (json!({"type": "string", "minLength": 6}), json!("aatext")),
            (json!({"type": "string", "maxLength": 2}), json!("xt")),
            (
                json!({"type": "string", "format": "email", "minLength": 20}),
                json!("aaaaada@example.test"),
            ),
            (
                json!({"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$", "minLength": 6}),
                json!("AA-000"),
            ),
            (
                json!({"type": "string", "format": "byte"}),
                json!("dGV4dA=="),
            ),
            (json!({"type": "string", "enum": [null, "a"]}), json!("a")),
            (
                json!({"type": "array", "items": {"type": "integer"}, "minItems": 3}),
                json!([1, 1, 1]),
            ),
            (
                json!({"type": "array", "items": {"type": "integer", "maximum": 2}, "minItems": 3, "uniqueItems": true}),
                json!([1, 2, -1]),
            ),
        ]);
    }

    #[test]
    fn lists_and_objects_keep_to_their_schema() {
        check(&[
            (
                json!({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2, "uniqueItems": true}),
                json!(["a", "b"]),
            ),
            (
                json!({"type": "array", "items": {"type": "string"}, "maxItems": 0}),
                json!([]),
            ),
            (
                json!({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]}),
                json!([1, "text"]),
            ),
            (
                json!({"type": "array", "items": {"type": "string", "minLength": 5}, "minItems": 2, "uniqueItems": true}),
                json!(["atext", "text1"]),
            ),
            (
                json!({"allOf": [{"type": "string", "enum": ["a"]}]}),
                json!("a"),
            ),
            (
                json!({"allOf": [{"properties": {"a": {"type": "string"}}}], "properties": {"b": {"type": "integer"}}}),
                json!({"a": "text", "b": 1}),
            ),
            (
                json!({"oneOf": [{"type": "null"}, {"type": "integer"}]}),
                json!(1),
            ),
            (
                json!({"type": "object", "required": ["a"], "additionalProperties": {"type": "integer"}}),
                json!({"a": 1}),
            ),
            (
                json!({"type": "object", "minProperties": 2, "additionalProperties": {"type": "integer"}}),
                json!({"key1": 1, "key2": 1}),
            ),
            (
                json!({"type": "object", "maxProperties": 1, "required": ["b"],
                    "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}),
                json!({"b": "text"}),
            ),
            (
                json!({"properties": {"a": {"readOnly": true, "type": "string"}}}),
                json!({}),
            ),
            (
                json!({"$defs": {"a": {"$anchor": "x", "type": "string"}}, "$ref": "#x", "maxLength": 1}),
                json!("t"),
            ),
            (
                json!({"$defs": {"Cat": {"type": "object", "properties": {"kind": {"type": "string"}}}},
                    "oneOf": [{"$ref": "#/$defs/Cat"}],
                    "discriminator": {"propertyName": "kind", "mapping": {"cat": "#/$defs/Cat"}}}),
                json!({"kind": "cat"}),
            ),
            (
                json!({"type": "string", "contentMediaType": "application/json", "contentSchema": {"type": "integer"}}),
                json!("1"),
            ),
        ]);
    }

    /// Checks that one of the notes on a schema contains a text.
    #[track_caller]
    fn check_note(schema: Value, note: &str) {
        let shown = schema.to_string();
        let (_, notes) = made(schema);
        assert!(
            notes.iter().any(|it| it.contains(note)),
            "{shown}: {notes:?}"
        );
    }

    #[test]
    fn circles_and_samples_without_an_end_are_noted() {
        for (schema, note) in [
            (
                json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}),
                "a reference leads to itself, or there are too many in a row: #/$defs/a",
            ),
            (
                json!({"properties": {"a": {"$ref": "#"}}, "required": ["a"]}),
                "a required property is left out, because its schema contains itself: #/properties/a",
            ),
            (
                json!({"properties": {"a": {"type": "array", "items": {"properties": {"b": {"$ref": "#"}}, "required": ["b"]}}}}),
                "its schema contains itself: #/properties/a/items/properties/b",
            ),
            (
                nested(40, |inner| json!({"type": "array", "items": inner})),
                "schemas are nested too deeply, and the inner ones are left out: #/items/items",
            ),
            (
                nested(40, |inner| json!({"allOf": [inner]})),
                "schemas are combined too deeply, and the inner ones are left out: #/allOf/0/allOf/0",
            ),
            (
                nested(7, |inner| json!({"allOf": [inner, inner, inner, inner]})),
                "a schema combines more than 10000 schemas, and the others are left out: #",
            ),
            (
                nested(14, |inner| json!({"properties": {"a": inner, "b": inner}})),
                "an example ends after 10000 values; write a smaller `example`: #",
            ),
            (
                json!({"type": "array", "minItems": 1000, "items": {"type": "array", "minItems": 1000}}),
                "an example ends after 10000 values",
            ),
            (
                json!({"type": "array", "minItems": 1000, "items": {"minProperties": 1000, "type": "object"}}),
                "an example ends after 10000 values",
            ),
            (
                json!({"type": "array", "minItems": 1000, "items": {"type": "string", "minLength": 60000}}),
                "an example ends after 10000 values",
            ),
        ] {
            check_note(schema, note);
        }
    }

    #[test]
    fn what_can_not_be_kept_to_is_noted() {
        for (schema, note) in [
            (
                json!({"type": "array", "minItems": 1e18}),
                "a list must have 1000000000000000000 items",
            ),
            (
                json!({"type": "string", "minLength": 1e18}),
                "not the length",
            ),
            (
                json!({"type": "string", "pattern": "^a$", "minLength": 1e18}),
                "may not match it",
            ),
            (
                json!({"type": "string", "pattern": "^a+$", "minLength": 1e18}),
                "may not match it",
            ),
            (
                json!({"type": "integer", "minimum": 2, "maximum": 1}),
                "no number keeps to the bounds of a schema",
            ),
            (
                json!({"type": "number", "minimum": 0.1, "maximum": 0.2, "multipleOf": 1}),
                "no number keeps",
            ),
            (
                json!({"type": "string", "format": "date", "maxLength": 3}),
                "not the length",
            ),
            (
                json!({"type": "string", "pattern": "(?=a)b"}),
                "may not match it",
            ),
            (
                json!({"type": "array", "items": {"const": 1}, "minItems": 2, "uniqueItems": true}),
                "different items",
            ),
            (
                json!({"type": "array", "items": {"$ref": "#"}, "minItems": 2}),
                "a list must have 2 items",
            ),
            (json!({"type": "strange"}), "the type `strange` is unknown"),
            (
                json!({"oneOf": [{"$ref": "#/a"}, {"type": "string"}]}),
                "the reference `#/a` can't be followed: the document has no such part: #/oneOf/0",
            ),
            (
                json!({"$ref": "#/a"}),
                "the reference `#/a` can't be followed: the document has no such part",
            ),
        ] {
            check_note(schema, note);
        }
    }
}
