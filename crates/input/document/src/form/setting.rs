//! Settings of the command line that override a document's text: `pools.buy.users=10`.
//!
//! Settings are put into the tree before references are resolved and keys are read. A setting may
//! therefore contain references, and a mistake in its key is found like one in the text. A path
//! consists of keys and of indices of list items. A missing mapping is created, except for pools,
//! feeds and variables, because a misspelt name would otherwise create a new one. The value is a
//! scalar of the text's kind, or YAML in brackets or quotes.

use crate::diagnostic::Findings;
use crate::keys::node::{self, Node};
use crate::{Place, Placed};
use drumfire_plan::suggestion;

/// The mappings with user-defined keys: a setting can't create new ones.
const NAMED: [(&str, &str); 3] = [("feeds", "feed"), ("pools", "pool"), ("vars", "variable")];

/// A value that replaces or adds one in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    path: String,
    value: String,
}

impl std::str::FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((path, _)) if path.contains(char::is_control) => Err(format!(
                "`{}` contains a control character, which keys can't contain",
                path.escape_debug()
            )),
            Some((path, value)) if !path.trim().is_empty() => Ok(Self {
                path: path.trim().to_owned(),
                value: value.trim().to_owned(),
            }),
            _ => {
                let shown = drumfire_plan::secret::excerpt(text);
                let shown = shown.escape_debug();
                Err(format!(
                    "`{shown}` is not PATH=VALUE, such as pools.main.users=10"
                ))
            }
        }
    }
}

impl Setting {
    /// Puts the value into a document's tree.
    pub(super) fn apply(&self, root: &mut Placed<Node>, found: &mut Findings) {
        let place = Place::Setting {
            path: self.path.as_str().into(),
        };
        let value = match self.value(&place) {
            Ok(value) => value,
            Err(message) => return found.add(&place, message),
        };
        if let Err(message) = insert_at(root, &self.path, &self.path, value, &place) {
            found.add(&place, message);
        }
    }

    /// The value: a literal scalar, or a list or mapping in YAML.
    fn value(&self, place: &Place) -> Result<Placed<Node>, String> {
        let text = &self.value;
        let is_yaml = text.starts_with(['[', '{', '"', '\'']);
        let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
        let node = match text.as_str() {
            _ if is_yaml => {
                let read = node::read(text, "").map_err(|error| error.message)?;
                return Ok(placed(read, place));
            }
            "" => Node::Null,
            "true" => Node::Switch(true),
            "false" => Node::Switch(false),
            text if is_number => Node::Number(text.to_owned()),
            text => Node::Text(text.to_owned()),
        };
        Ok(Placed::new(node, place.clone()))
    }
}

/// A tree in which all places are this one.
fn placed(node: Placed<Node>, place: &Place) -> Placed<Node> {
    let value = match node.value {
        Node::List(items) => {
            Node::List(items.into_iter().map(|item| placed(item, place)).collect())
        }
        Node::Map(entries) => {
            let entries = entries
                .into_iter()
                .map(|(key, value)| (Placed::new(key.value, place.clone()), placed(value, place)));
            Node::Map(entries.collect())
        }
        value => value,
    };
    Placed::new(value, place.clone())
}

/// Puts a value at the rest of a path below this node.
fn insert_at(
    node: &mut Placed<Node>,
    rest: &str,
    path: &str,
    value: Placed<Node>,
    place: &Place,
) -> Result<(), String> {
    if rest.is_empty() {
        *node = value;
        return Ok(());
    }
    let done = path[..path.len() - rest.len()].trim_end_matches('.');
    if node.value == Node::Null {
        node.value = Node::Map(Vec::new());
    }
    match &mut node.value {
        Node::List(items) => {
            let (index, rest) = rest.split_once('.').unwrap_or((rest, ""));
            let count = items.len();
            let item = index.parse::<usize>().ok().and_then(|n| items.get_mut(n));
            match item {
                Some(item) => insert_at(item, rest, path, value, place),
                None => Err(format!(
                    "`{done}` is a list of length {count}; write the number of an item, from 0"
                )),
            }
        }
        Node::Map(entries) => {
            let (name, rest) = key_of(entries, rest);
            if let Some((_, below)) = entries.iter_mut().find(|(key, _)| key.value == name) {
                return insert_at(below, rest, path, value, place);
            }
            if let Some((_, noun)) = NAMED.iter().find(|(named, _)| *named == done) {
                let known = entries.iter().map(|(key, _)| &*key.value);
                let near = suggestion(&name, known.clone());
                let known = known.map(|key| key.escape_debug().to_string());
                let known = known.collect::<Vec<_>>().join(", ");
                let near = match (near.is_empty(), known.is_empty()) {
                    (true, true) => format!("; the plan has no {noun}s"),
                    (true, false) => format!("; the {noun}s are {known}"),
                    (false, _) => near,
                };
                return Err(format!("unknown {noun} `{name}`{near}"));
            }
            let mut below = Placed::new(Node::Null, place.clone());
            insert_at(&mut below, rest, path, value, place)?;
            entries.push((Placed::new(name, place.clone()), below));
            Ok(())
        }
        other => {
            let kind = other.kind();
            Err(format!("`{done}` is {kind} and has no keys"))
        }
    }
}

/// The next key of a path, and the rest after it: the longest matching key of the mapping, because
/// keys may contain dots.
fn key_of<'p>(entries: &[(Placed<String>, Placed<Node>)], path: &'p str) -> (String, &'p str) {
    let behind = |key: &str| match path.strip_prefix(key) {
        Some("") => Some(""),
        Some(rest) => rest.strip_prefix('.'),
        None => None,
    };
    let known = entries.iter().map(|(key, _)| key.value.as_str());
    let known = known.filter_map(|key| Some((key, behind(key)?)));
    match known.max_by_key(|(key, _)| key.len()) {
        Some((key, rest)) => (key.to_owned(), rest),
        None => {
            let (key, rest) = path.split_once('.').unwrap_or((path, ""));
            (key.to_owned(), rest)
        }
    }
}

/// Applies every setting in order; notes those that can't be applied.
pub(super) fn apply_all(settings: &[Setting], root: &mut Placed<Node>, found: &mut Findings) {
    for setting in settings {
        setting.apply(root, found);
    }
}

#[cfg(test)]
mod tests {
    use super::Setting;

    #[test]
    fn a_path_has_no_control_characters() {
        let message = "pools.a\u{1b}[2J=5".parse::<Setting>().unwrap_err();
        assert_eq!(
            message,
            "`pools.a\\u{1b}[2J` contains a control character, which keys can't contain"
        );
        assert!("pools.a=5\n6".parse::<Setting>().is_ok());
    }
}
