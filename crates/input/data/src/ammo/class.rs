//! Classes of requests: those that the plan tells apart, since they have a method and a name of
//! their own, or parts that others lack.

use super::batch::Entry;
use super::remark::Remark;
use super::{AmmoField, AmmoFormat, AmmoOptions};
use drumfire_plan::{Header, HttpVersion};
use std::borrow::Cow;
use std::collections::HashMap;

/// A file has at most this many methods and names together.
const CLASSES_MAX: usize = 10_000;
/// Fields for which a request has a default that must not stand beside its own.
const DEFAULTED: [&str; 5] = [
    "user-agent",
    "accept-encoding",
    "authorization",
    "connection",
    "expect",
];

/// Tags that are made of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutoTag {
    /// How many elements of the path a tag has.
    pub elements: usize,
    /// Whether it is added to a tag that there is, behind `|`.
    pub beside: bool,
}

/// Requests with one method and one name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Class {
    /// The method.
    pub method: String,
    /// The name under which their numbers are reported.
    pub name: String,
    /// The gRPC method that they call, `package.Service/Method`; `None` of plain requests.
    pub call: Option<String>,
    /// Which parts they have.
    pub parts: ClassParts,
}

/// The parts that all requests of a class have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ClassParts {
    /// A host of their own.
    pub host: bool,
    /// Header fields of their own.
    pub fields: bool,
    /// A body.
    pub body: bool,
    /// Fields of their own that have a default otherwise, by their place in a list.
    defaulted: [bool; DEFAULTED.len()],
}

impl ClassParts {
    /// Whether all have a field with this name, for which there is a default.
    pub(super) fn renders(self, name: &str) -> bool {
        let mut known = DEFAULTED.iter().zip(self.defaulted);
        known.any(|(known, is_there)| is_there && name.eq_ignore_ascii_case(known))
    }
}

/// The classes of a file.
#[derive(Debug)]
pub(super) struct Classes {
    format: AmmoFormat,
    chosen: Vec<String>,
    /// Whether an entry has each chosen tag.
    met: Vec<bool>,
    name: Option<String>,
    auto_tag: Option<AutoTag>,
    planned: Vec<AmmoField>,
    /// Whether the fields of a connection are sent.
    sends_of_connection: bool,
    list: Vec<Class>,
    places: HashMap<Class, u32>,
    /// The class of the entry before: most entries have the same.
    last: u32,
    /// The names of fields that are not sent, which were noted. There are few, since each frames a
    /// message or belongs to a connection.
    unsent: Vec<String>,
}

impl Classes {
    pub(super) fn new(options: &AmmoOptions) -> Self {
        Self {
            format: options.format,
            chosen: options.chosen.clone(),
            met: vec![false; options.chosen.len()],
            name: options.name.clone(),
            auto_tag: options.auto_tag,
            planned: options.fields.clone(),
            sends_of_connection: options.version == HttpVersion::Http1
                && options.format != AmmoFormat::GrpcJson,
            list: Vec::new(),
            places: HashMap::new(),
            last: 0,
            unsent: Vec::new(),
        }
    }

    pub(super) fn list(&self) -> &[Class] {
        &self.list
    }

    /// Whether an entry is used.
    pub(super) fn is_chosen(&self, entry: Entry<'_>) -> bool {
        self.chosen.is_empty() || self.chosen.iter().any(|tag| tag == entry.tag)
    }

    /// The class of an entry, a new one if need be; `None` where it is not chosen.
    pub(super) fn insert(&mut self, entry: Entry<'_>) -> Result<Option<u32>, String> {
        if !self.chosen.is_empty() {
            let mut chosen = self.chosen.iter();
            let Some(tag) = chosen.position(|tag| tag == entry.tag) else {
                return Ok(None);
            };
            self.met[tag] = true;
        }
        if let Some(host) = self.host(entry) {
            check_host(host)?;
        }
        let parts = self.parts_of(entry);
        let last = self.list.get(self.last as usize);
        if last.is_some_and(|last| self.is_of(entry, parts, last)) {
            return Ok(Some(self.last));
        }
        let class = self.classify(entry);
        if let Some(place) = self.places.get(&class) {
            self.last = *place;
            return Ok(Some(*place));
        }
        if self.list.len() == CLASSES_MAX {
            return Err(format!(
                "the requests of the file have more than {CLASSES_MAX} names; give all the same \
                 `name`, or shorten paths with `auto_tag`"
            ));
        }
        let place = self.list.len() as u32;
        self.list.push(class.clone());
        self.places.insert(class, place);
        Ok(Some(place))
    }

    /// The class of an entry, if there is one already and it is chosen.
    pub(super) fn find(&self, entry: Entry<'_>) -> Option<u32> {
        if !self.is_chosen(entry) {
            return None;
        }
        self.places.get(&self.classify(entry)).copied()
    }

    fn classify(&self, entry: Entry<'_>) -> Class {
        Class {
            method: entry.method.to_owned(),
            name: self.name_of(entry).into_owned(),
            call: self.call_of(entry).map(str::to_owned),
            parts: self.parts_of(entry),
        }
    }

    fn parts_of(&self, entry: Entry<'_>) -> ClassParts {
        let plan = |name: &str| self.planned(name).is_some();
        ClassParts {
            host: entry.named_host().is_some() || plan("host"),
            fields: true,
            body: entry.body.is_some(),
            defaulted: DEFAULTED.map(|name| entry.has(name) || plan(name)),
        }
    }

    /// Whether an entry with these parts is of a class.
    fn is_of(&self, entry: Entry<'_>, parts: ClassParts, class: &Class) -> bool {
        class.parts == parts
            && class.method == entry.method
            && class.call.as_deref() == self.call_of(entry)
            && class.name == self.name_of(entry)
    }

    /// The gRPC method that an entry calls.
    pub(super) fn call_of<'a>(&self, entry: Entry<'a>) -> Option<&'a str> {
        let is_call = self.format == AmmoFormat::GrpcJson;
        is_call.then(|| entry.target.trim_start_matches('/'))
    }

    fn name_of<'a>(&'a self, entry: Entry<'a>) -> Cow<'a, str> {
        let auto = self
            .auto_tag
            .filter(|auto| auto.beside || entry.tag.is_empty());
        let auto = auto.map(|auto| elements(entry.target, auto.elements));
        match (entry.tag, auto, &self.name) {
            ("", Some(auto), _) => auto.into(),
            ("", None, Some(name)) => name.into(),
            ("", None, None) => self.call_of(entry).unwrap_or(entry.method).into(),
            (tag, Some(auto), _) => format!("{tag}|{auto}").into(),
            (tag, None, _) => tag.into(),
        }
    }

    /// The plan's field of this name.
    fn planned(&self, name: &str) -> Option<&AmmoField> {
        self.planned.iter().find(|field| field.is(name))
    }

    /// The fields of an entry that are sent, but for its host.
    pub(super) fn own_fields<'a>(
        &'a self,
        entry: Entry<'a>,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        entry.fields().filter(|(name, value)| {
            self.sends(name)
                && !is_empty_agent(name, value)
                && !self.planned(name).is_some_and(AmmoField::is_above)
        })
    }

    /// The plan's fields that an entry is sent with, but for its host.
    pub(super) fn planned_fields<'a>(
        &'a self,
        entry: Entry<'a>,
    ) -> impl Iterator<Item = &'a AmmoField> {
        let fields = self.planned.iter().filter(|field| self.sends(field.name()));
        fields.filter(move |field| field.is_above() || !entry.has(field.name()))
    }

    /// Whether a field of this name goes out as it stands. Over HTTP/1.1 those of a connection do: an
    /// entry may ask for its end, or for another protocol.
    fn sends(&self, name: &str) -> bool {
        let stays = match self.sends_of_connection {
            true => Header::frames(name),
            false => Header::is_framing(name),
        };
        !stays && !name.eq_ignore_ascii_case("host")
    }

    /// Remarks on chosen tags that no entry has.
    pub(super) fn unmet(&self) -> Vec<Remark> {
        let tags = self.chosen.iter().zip(&self.met);
        let unmet = tags.filter(|(_, is_met)| !**is_met);
        unmet
            .map(|(tag, _)| Remark::UnmetTag(tag.clone()))
            .collect()
    }

    /// Remarks on the fields of an entry that are not sent, each once per name. The Content-Length
    /// and the host are sent in another way.
    pub(super) fn unsent(&mut self, entry: Entry<'_>) -> Vec<Remark> {
        let mut remarks = Vec::new();
        for (name, _) in entry.fields() {
            if self.sends(name) {
                continue;
            }
            let mut known = ["host", "content-length"].into_iter();
            let mut noted = self.unsent.iter();
            if known.any(|known| name.eq_ignore_ascii_case(known))
                || noted.any(|noted| name.eq_ignore_ascii_case(noted))
            {
                continue;
            }
            self.unsent.push(name.to_owned());
            remarks.push(match Header::frames(name) {
                true => Remark::OfBody(name.to_owned()),
                false => Remark::NotInHttp2(name.to_owned()),
            });
        }
        remarks
    }

    /// The host that an entry is sent with.
    pub(super) fn host<'a>(&'a self, entry: Entry<'a>) -> Option<&'a str> {
        let planned = self.planned("host");
        let is_above = planned.is_some_and(AmmoField::is_above);
        let planned = planned.and_then(AmmoField::text);
        match (is_above, entry.host) {
            (_, host) if !host.is_empty() => Some(host),
            (true, _) => planned.or_else(|| entry.named_host()),
            (false, _) => entry.named_host().or(planned),
        }
    }
}

/// Whether a host can be sent, such as that of a Host field.
fn check_host(host: &str) -> Result<(), String> {
    if host.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(());
    }
    let shown: String = host.chars().take(60).collect();
    let shown = shown.escape_debug();
    Err(format!(
        "`{shown}` is not a host; write a name or an address"
    ))
}

/// Whether a field says that the client does not name itself.
fn is_empty_agent(name: &str, value: &str) -> bool {
    value.is_empty() && name.eq_ignore_ascii_case("user-agent")
}

/// The first elements of a path, with their slashes and without the query.
fn elements(target: &str, count: usize) -> &str {
    let path = target.split(['?', '#']).next().unwrap_or_default();
    let slashes = path
        .char_indices()
        .filter(|(_, c)| *c == '/')
        .map(|(at, _)| at);
    match slashes.skip(1).nth(count.saturating_sub(1)) {
        Some(end) => &path[..end],
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::elements;

    #[test]
    fn a_path_is_cut_behind_its_first_elements() {
        for (target, count, tag) in [
            ("/my/very/deep?x", 2, "/my/very"),
            ("/my/very/deep?x", 1, "/my"),
            ("/my/very/deep/", 3, "/my/very/deep"),
            ("/my?a/b", 2, "/my"),
            ("/", 2, "/"),
            ("", 1, ""),
        ] {
            assert_eq!(elements(target, count), tag, "{target} {count}");
        }
    }
}
