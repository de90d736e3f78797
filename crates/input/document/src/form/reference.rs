//! References in the values of a document: `${name}`, `${env:NAME}`, `${file:path}`,
//! `${setup:name}`, and `${secret:…}` for values that no output may show.
//!
//! A value keeps its written text, so that a document is printed with its references and never with
//! their values.
//!
//! All variables are resolved first, in the order of their names, then every value of the tree in
//! the order of the text. A variable is resolved when it is first needed, and then cached. A cyclic
//! chain is a mistake, and a chain longer than [`CHAIN_MAX`] is refused. The value of a reference
//! is not searched for references again, so a file or an environment variable can't inject one.
//! `$${` gives the characters `${`.

use super::setup_values::{STAND_IN, SetupValues, makes_template};
use crate::Environment;
use crate::diagnostic::Findings;
use crate::keys::node::Node;
use crate::keys::tree::{OPEN, escaped};
use crate::{Place, Placed, Text};
use drumfire_plan::suggestion;
use drumfire_units::utf8;
use std::collections::HashMap;

/// The maximum size of all values of references in a document together, in bytes.
const BYTES_MAX: usize = 64 << 20;
/// The maximum length of a chain of variables that refer to each other.
const CHAIN_MAX: u32 = 100;
/// The minimum length of a secret: a shorter one can't be distinguished from other text in a
/// report.
const SECRET_MIN: usize = 4;
/// The sign before the default of an environment variable.
const DEFAULT: &str = ":-";

/// The values of references.
pub(super) struct References<'a> {
    environment: &'a dyn Environment,
    variables: HashMap<String, Variable>,
    secrets: Vec<String>,
    /// The values with unresolved references.
    unresolved: Vec<Place>,
    /// The state of the setup's values.
    setup: SetupValues,
    /// The number of bytes that may still be inserted.
    left: usize,
    /// The number of variables that are currently being resolved.
    chain: u32,
}

/// A variable of the document.
enum Variable {
    /// The variable as it was written.
    Written(Placed<Node>),
    /// The variable is being resolved: a reference back to it would never end.
    UnderWay,
    Resolved(Node),
    /// The variable has a mistake, which was noted.
    Wrong,
}

/// The source of the value of a reference.
enum Source<'t> {
    Variable(&'t str),
    Environment {
        name: &'t str,
        default: Option<&'t str>,
    },
    File(&'t str),
    Setup(&'t str),
}

impl<'a> References<'a> {
    /// References of a document to its variables, to the values of its setup, and to this machine.
    pub(super) fn new(root: &Placed<Node>, environment: &'a dyn Environment) -> Self {
        let written = |(name, value): &(Placed<String>, Placed<Node>)| {
            (name.value.clone(), Variable::Written(value.clone()))
        };
        Self {
            environment,
            variables: variables(root).iter().map(written).collect(),
            secrets: Vec::new(),
            unresolved: Vec::new(),
            setup: SetupValues::from_tree(root),
            left: BYTES_MAX,
            chain: 0,
        }
    }

    /// The places of values with unresolved references: any other mistake in such a value follows
    /// from that.
    pub(super) fn unresolved(&self) -> &[Place] {
        &self.unresolved
    }

    /// The places of values that contain a value of the setup.
    pub(super) fn late(&self) -> &[Place] {
        self.setup.late()
    }

    /// The inserted secrets.
    pub(super) fn into_secrets(mut self) -> Vec<String> {
        self.secrets.sort();
        self.secrets.dedup();
        self.secrets
    }

    /// Replaces the references of a whole document by their values.
    pub(super) fn resolve_root(&mut self, root: &mut Placed<Node>, found: &mut Findings) {
        self.resolve_all(found);
        let Node::Map(entries) = &mut root.value else {
            return;
        };
        for (key, value) in entries {
            self.setup.enter(&key.value);
            self.resolve(value, found);
            if key.value == "defaults" {
                self.setup.check_defaults(value, found);
            }
        }
    }

    /// Replaces the references of a node by their values.
    fn resolve(&mut self, node: &mut Placed<Node>, found: &mut Findings) {
        match &mut node.value {
            Node::List(items) => items.iter_mut().for_each(|item| self.resolve(item, found)),
            Node::Map(entries) => {
                for (_, value) in entries {
                    self.resolve(value, found);
                }
            }
            Node::Text(text) if text.contains(OPEN) => {
                let text = Text::new(std::mem::take(text), node.place.clone());
                let uses = self.setup.uses();
                let value = self.value(&text, found);
                self.setup.note_value(uses, &node.place);
                let is_literal =
                    matches!(&value, Some(Node::Text(value)) if escaped(value) == text.value);
                if value.is_none() {
                    self.unresolved.push(node.place.clone());
                }
                // An unresolved reference was noted; the text is used unchanged.
                node.value = value.unwrap_or_else(|| Node::Text(text.value.clone()));
                node.written = (!is_literal).then(|| text.value.into());
            }
            _ => {}
        }
    }

    /// The value of a text. A single reference keeps the kind of its value, so that `${count}` may
    /// be a number.
    fn value(&mut self, text: &Text, found: &mut Findings) -> Option<Node> {
        let mut out = String::new();
        let mut rest = text.value.as_str();
        let mut is_right = true;
        while let Some(at) = rest.find(OPEN) {
            if rest[..at].ends_with('$') {
                out.push_str(&rest[..at - 1]);
                out.push_str(OPEN);
                rest = &rest[at + OPEN.len()..];
                continue;
            }
            out.push_str(&rest[..at]);
            let start = text.value.len() - rest.len() + at;
            let Some(end) = closing(&rest[at..]) else {
                let message =
                    "the reference is not closed; add `}`, or write `$${` for a literal `${`";
                found.mark(text, start, message);
                return None;
            };
            let inner = &rest[at + OPEN.len()..at + end];
            rest = &rest[at + end + 1..];
            let uses = self.setup.uses();
            let value = self.reference(inner, start, text, found);
            if let Some(Node::Text(value)) = &value
                && self.setup.uses() > uses
                && (makes_template(&out, value) || makes_template(value, rest))
            {
                let message = "this text and a value of the setup together begin a template; put a \
                               space between them";
                found.mark(text, start, message);
                return None;
            }
            match value {
                Some(node) if out.is_empty() && start == 0 && rest.is_empty() => {
                    let length = match &node {
                        Node::Text(value) | Node::Number(value) => value.len(),
                        _ => 0,
                    };
                    return self.take_room(length, text, found).then_some(node);
                }
                Some(Node::Text(value) | Node::Number(value)) => {
                    is_right &= self.push(&value, text, found, &mut out);
                }
                Some(Node::Switch(value)) => out.push_str(if value { "true" } else { "false" }),
                Some(_) => {}
                None => is_right = false,
            }
        }
        out.push_str(rest);
        is_right.then_some(Node::Text(out))
    }

    /// Appends a value, within the bound.
    fn push(&mut self, value: &str, text: &Text, found: &mut Findings, out: &mut String) -> bool {
        let has_room = self.take_room(value.len(), text, found);
        if has_room {
            out.push_str(value);
        }
        has_room
    }

    /// Counts the bytes of a value against the bound; returns `false` if the bound is exceeded.
    fn take_room(&mut self, length: usize, text: &Text, found: &mut Findings) -> bool {
        let Some(left) = self.left.checked_sub(length) else {
            let message = "the values of references take more than 64 MiB in total";
            found.add(&text.place, message);
            return false;
        };
        self.left = left;
        true
    }

    /// The value of the text between the braces.
    fn reference(
        &mut self,
        inner: &str,
        at: usize,
        text: &Text,
        found: &mut Findings,
    ) -> Option<Node> {
        let (is_secret, source) = match parse(inner) {
            Ok(parsed) => parsed,
            Err(message) => {
                found.mark(text, at, &message);
                return None;
            }
        };
        let value = match source {
            Source::Variable(name) => return self.variable(name, at, text, found),
            Source::Setup(name) => match self.setup.value(name, self.environment) {
                Ok(Some(value)) => value,
                Ok(None) => return Some(Node::Text(STAND_IN.to_owned())),
                Err(mistake) => {
                    found.mark(text, at, &mistake);
                    return None;
                }
            },
            Source::Environment { name, default } => {
                self.environment(name, default, at, text, found)?
            }
            Source::File(path) => {
                let read = match is_secret {
                    true => self.environment.read_secret(path),
                    false => self.environment.read(path),
                };
                let read = read.map_err(|error| format!("can't read {path}: {error}"));
                let bytes = read.and_then(|bytes| {
                    let text = utf8::text(&bytes).map(str::to_owned);
                    text.map_err(|what| format!("{path} is {what}"))
                });
                match bytes {
                    Ok(content) => without_line_end(&content).to_owned(),
                    Err(message) => {
                        found.mark(text, at, &message);
                        return None;
                    }
                }
            }
        };
        if is_secret {
            if value.chars().count() < SECRET_MIN {
                let message = format!(
                    "the secret has fewer than {SECRET_MIN} characters, too few to mask it in a \
                     report; use a longer one, or leave out `secret:`"
                );
                found.mark(text, at, &message);
                return None;
            }
            self.secrets.push(value.clone());
        }
        Some(Node::Text(value))
    }

    /// The value of an environment variable. An empty variable counts as unset, as in shells.
    fn environment(
        &mut self,
        name: &str,
        default: Option<&str>,
        at: usize,
        text: &Text,
        found: &mut Findings,
    ) -> Option<String> {
        match self.environment.variable(name) {
            Some(value) if !value.is_empty() => return Some(value),
            Some(_) => {}
            None => {
                let message = self.environment.unreadable(name);
                found.mark(text, at, &message);
                return None;
            }
        }
        let Some(default) = default else {
            let message = format!(
                "the environment variable `{name}` is empty or not set; set it, or add a default: \
                 `${{env:{name}:-VALUE}}`"
            );
            found.mark(text, at, &message);
            return None;
        };
        let default = Text::new(default.to_owned(), text.place.clone());
        match self.value(&default, found)? {
            Node::Text(value) | Node::Number(value) => Some(value),
            Node::Switch(value) => Some(value.to_string()),
            _ => None,
        }
    }

    /// A variable of the document.
    fn variable(
        &mut self,
        name: &str,
        at: usize,
        text: &Text,
        found: &mut Findings,
    ) -> Option<Node> {
        match self.variables.get(name) {
            Some(Variable::Resolved(node)) => {
                if let Err(mistake) = self.setup.use_variable(name) {
                    found.mark(text, at, &mistake);
                    return None;
                }
                return Some(node.clone());
            }
            Some(Variable::Wrong) => return None,
            Some(Variable::UnderWay) => {
                found.mark(text, at, &format!("the value of `{name}` refers to itself"));
                return None;
            }
            Some(Variable::Written(_)) => {}
            None => {
                found.mark(text, at, &self.unknown(name));
                return None;
            }
        }
        if self.chain == CHAIN_MAX {
            let message =
                format!("the chain of references to `{name}` has more than {CHAIN_MAX} variables");
            found.mark(text, at, &message);
            return None;
        }
        let written = self.variables.insert(name.to_owned(), Variable::UnderWay);
        let Some(Variable::Written(mut node)) = written else {
            return None;
        };
        let (before, uses) = (found.len(), self.setup.uses());
        self.chain += 1;
        self.resolve(&mut node, found);
        self.chain -= 1;
        self.setup.note_variable(uses, name);
        let resolved = match node.value {
            _ if found.len() > before => None,
            Node::List(_) | Node::Map(_) | Node::Null => {
                let kind = node.value.kind();
                let message = format!("a variable must be a single value, and `{name}` is {kind}");
                found.add(&node.place, message);
                None
            }
            node => Some(node),
        };
        let kept = resolved.clone().map_or(Variable::Wrong, Variable::Resolved);
        self.variables.insert(name.to_owned(), kept);
        resolved
    }

    fn unknown(&self, name: &str) -> String {
        let mut known: Vec<&str> = self.variables.keys().map(String::as_str).collect();
        known.sort_unstable();
        let near = suggestion(name, known.iter().copied());
        if !near.is_empty() {
            return format!("`vars` has no `{name}`{near}");
        }
        let set = self.environment.variable(name);
        match set.is_some_and(|value| !value.is_empty()) {
            true => format!(
                "`vars` has no `{name}`; for the environment variable, write `${{env:{name}}}`"
            ),
            false => {
                format!("`vars` has no `{name}`; set it there, or write `$${{` for a literal `${{`")
            }
        }
    }

    /// Resolves every variable, including unused ones.
    fn resolve_all(&mut self, found: &mut Findings) {
        let mut names: Vec<String> = self.variables.keys().cloned().collect();
        names.sort_unstable();
        for name in names {
            // Every name comes from a written variable, so the reference can't be wrong.
            self.variable(&name, 0, &Text::default(), found);
        }
    }
}

/// The variables of a document's tree.
fn variables(root: &Placed<Node>) -> &[(Placed<String>, Placed<Node>)] {
    match root.value.entry("vars").map(|node| &node.value) {
        Some(Node::Map(variables)) => variables,
        _ => &[],
    }
}

/// The position of the brace that closes the first one; references inside are skipped.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_u32;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with(OPEN) {
            depth += 1;
            at += OPEN.len();
        } else if rest.starts_with('}') {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
            at += 1;
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    None
}

/// The source of a reference, and whether its value is a secret.
fn parse(inner: &str) -> Result<(bool, Source<'_>), String> {
    let (is_secret, rest) = match inner.strip_prefix("secret:") {
        Some(rest) => (true, rest),
        None => (false, inner),
    };
    let shown = inner.escape_debug();
    if let Some(path) = rest.strip_prefix("file:") {
        return match path {
            "" => Err("`file:` needs a path, as in `${file:token.txt}`".to_owned()),
            path => Ok((is_secret, Source::File(path))),
        };
    }
    if let Some(variable) = rest.strip_prefix("env:") {
        let (name, default) = match variable.split_once(DEFAULT) {
            Some((name, default)) => (name, Some(default)),
            None => (variable, None),
        };
        return match is_name(name) {
            true => Ok((is_secret, Source::Environment { name, default })),
            false => Err(format!(
                "invalid name `{}` of an environment variable; write a reference such as \
                 `${{env:HOME}}`",
                name.escape_debug()
            )),
        };
    }
    if let Some(name) = rest.strip_prefix("setup:") {
        return match is_name(name) {
            true => Ok((is_secret, Source::Setup(name))),
            false => Err(format!(
                "invalid name `{}` of a setup value; write a reference such as `${{setup:token}}`",
                name.escape_debug()
            )),
        };
    }
    if is_secret {
        return Err(format!(
            "`{shown}` is not a secret; write `${{secret:env:NAME}}`, `${{secret:file:PATH}}` or \
             `${{secret:setup:NAME}}`"
        ));
    }
    match is_name(rest) {
        true => Ok((false, Source::Variable(rest))),
        false => Err(format!(
            "`{shown}` is not a reference; write `${{name}}`, `${{env:NAME}}`, `${{file:PATH}}`, \
             `${{setup:NAME}}` or `${{secret:env:NAME}}`, or `$${{` for a literal `${{`"
        )),
    }
}

/// Whether a text is a valid name of a variable.
fn is_name(text: &str) -> bool {
    let first = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '_';
    first && text.chars().all(inside)
}

/// A file's content without the line end of its last line.
fn without_line_end(content: &str) -> &str {
    let content = content.strip_suffix('\n').unwrap_or(content);
    content.strip_suffix('\r').unwrap_or(content)
}

#[cfg(test)]
mod tests {
    use super::{References, escaped};
    use crate::Environment;
    use crate::diagnostic::Findings;
    use crate::keys::node::{Node, read};
    use std::io;

    /// A machine with a file and a few variables.
    #[derive(Debug)]
    struct Desk;

    impl Environment for Desk {
        fn read(&self, path: &str) -> io::Result<Vec<u8>> {
            match path {
                "token" => Ok(b"s3cret\r\n".to_vec()),
                "raw" => Ok(vec![0xff]),
                _ => Err(io::ErrorKind::NotFound.into()),
            }
        }

        fn variable(&self, name: &str) -> Option<String> {
            Some(match name {
                "HOST" => "shop.test".to_owned(),
                "PIN" => "123".to_owned(),
                _ => String::new(),
            })
        }

        fn setup_value(&self, name: &str) -> Option<String> {
            (name == "token").then(|| "{ uuid }}".to_owned())
        }
    }

    /// The value of a text, or its mistakes; and the secrets.
    fn resolved(text: &str) -> (Result<Node, Vec<String>>, Vec<String>) {
        let variables = "{base: 'https://${env:HOST}', n: 5, on: true, a: '${b}', b: '${a}', \
                         pair: '${base}/${n}', list: [1], key: '${secret:file:token}', bad: '${x}'}";
        let root =
            format!("vars: {variables}\nsetup: [ {{ get: /, take: {{ token: json $.t }} }} ]");
        let root = read(&root, "p").expect("yaml");
        let mut references = References::new(&root, &Desk);
        let mut node = read("''", "p").expect("yaml");
        node.value = Node::Text(text.to_owned());
        let mut found = Findings::default();
        references.resolve(&mut node, &mut found);
        let found: Vec<String> = found
            .into_inner()
            .iter()
            .map(|found| found.message.lines().next().unwrap_or_default().to_owned())
            .collect();
        let value = if found.is_empty() {
            let is_reference = node.value != Node::Text(text.replace("$${", "${"));
            let written = is_reference.then_some(text);
            assert_eq!(node.written.as_deref(), written, "{text}");
            Ok(node.value)
        } else {
            Err(found)
        };
        (value, references.into_secrets())
    }

    #[test]
    fn references_stand_for_values() {
        let text = |text: &str| Node::Text(text.to_owned());
        for (written, value) in [
            ("plain $ {x}", text("plain $ {x}")),
            ("${base}/x", text("https://shop.test/x")),
            ("${n}", Node::Number("5".to_owned())),
            ("${on}", Node::Switch(true)),
            ("a${n}b${on}", text("a5btrue")),
            ("${pair}", text("https://shop.test/5")),
            ("${env:NONE:-x}", text("x")),
            ("${env:NONE:-}", text("")),
            (
                "${env:NONE:-${base}/${env:HOST}}y",
                text("https://shop.test/shop.testy"),
            ),
            ("$${n}", text("${n}")),
            ("$$${n}", text("$${n}")),
            ("a$${n}${n}", text("a${n}5")),
            ("{{ user }}${n}", text("{{ user }}5")),
            ("${file:token}", text("s3cret")),
        ] {
            assert_eq!(resolved(written), (Ok(value), Vec::new()), "{written}");
        }
        for written in ["Bearer ${secret:file:token}", "Bearer ${key}"] {
            let secrets = vec!["s3cret".to_owned()];
            assert_eq!(resolved(written), (Ok(text("Bearer s3cret")), secrets));
        }
    }

    #[test]
    fn a_text_that_is_escaped_stands_for_itself() {
        for text in ["${a}", "$${a}", "$$${", "${", "$", "x${y}$${z}", "$ ${"] {
            let (value, _) = resolved(&escaped(text));
            assert_eq!(value, Ok(Node::Text(text.to_owned())), "{text}");
        }
    }

    /// A value from a server can't complete the beginning of a template in the plan.
    #[test]
    fn no_template_begins_at_a_value_of_the_setup() {
        for written in ["{${setup:token}", "x {${setup:token} y"] {
            let (found, _) = resolved(written);
            let found = found.expect_err(written);
            assert!(
                found[0].starts_with("this text and a value of the setup"),
                "{found:?}"
            );
        }
        let (value, _) = resolved("{ ${setup:token}");
        assert_eq!(value, Ok(Node::Text("{ { uuid }}".to_owned())));
    }

    /// A single reference is copied and counted like any other.
    #[test]
    fn the_values_of_references_have_a_bound() {
        for (written, count) in [("${v}", 7), ("${v}x", 7)] {
            let root = format!("vars: {{ v: {} }}", "x".repeat(10 << 20));
            let root = read(&root, "p").expect("yaml");
            let mut references = References::new(&root, &Desk);
            let mut found = Findings::default();
            for n in 1..=count {
                let mut node = read("''", "p").expect("yaml");
                node.value = Node::Text(written.to_owned());
                references.resolve(&mut node, &mut found);
                assert_eq!(found.len(), usize::from(n == count), "{written} {n}");
            }
            let found = found.into_inner();
            assert!(found[0].message.contains("more than 64 MiB"), "{found:?}");
        }
    }

    /// The length of a chain is bounded so that the stack can't overflow.
    #[test]
    fn a_long_chain_of_variables_is_refused() {
        let link = |n: u32| format!("  v{}: '${{v{}}}'\n", 20_000 - n, 20_000 - n - 1);
        let variables: String = (0..14_000).map(link).collect();
        let root = read(&format!("vars:\n{variables}  v6000: end\n"), "p").expect("yaml");
        let mut references = References::new(&root, &Desk);
        let mut node = read("''", "p").expect("yaml");
        node.value = Node::Text("${v20000}".to_owned());
        let mut found = Findings::default();
        references.resolve(&mut node, &mut found);
        let found = found.into_inner();
        assert!(
            found[0].message.contains("more than 100 variables"),
            "{found:?}"
        );
    }

    #[test]
    fn what_a_reference_lacks_is_said() {
        for (written, messages) in [
            ("${base", &["the reference is not closed; add `}`"][..]),
            ("${bse}", &["`vars` has no `bse`; did you mean `base`?"]),
            (
                "${HOST}",
                &["`vars` has no `HOST`; for the environment variable, write `${env:HOST}`"],
            ),
            (
                "${zzzzzz}",
                &["`vars` has no `zzzzzz`; set it there, or write `$${`"],
            ),
            ("${a.b}", &["`a.b` is not a reference; write `${name}`"]),
            ("${}", &["`` is not a reference"]),
            ("${a}", &["the value of `a` refers to itself"]),
            (
                "${list}",
                &["a variable must be a single value, and `list` is a list"],
            ),
            (
                "${env:NONE}",
                &["the environment variable `NONE` is empty or not set; set it, or add a default"],
            ),
            (
                "${env:a b}",
                &["invalid name `a b` of an environment variable"],
            ),
            ("${file:none}", &["can't read none: "]),
            ("${file:raw}", &["raw is not valid UTF-8"]),
            ("${file:}", &["`file:` needs a path"]),
            (
                "${secret:x}",
                &["`secret:x` is not a secret; write `${secret:env:NAME}`"],
            ),
            (
                "${secret:env:PIN}",
                &["the secret has fewer than 4 characters"],
            ),
            (
                "${bad} ${bse}",
                &["`vars` has no `x`", "`vars` has no `bse`"],
            ),
        ] {
            let (value, secrets) = resolved(written);
            let found = value.expect_err(written);
            let fits = found.len() == messages.len()
                && found
                    .iter()
                    .zip(messages)
                    .all(|(found, message)| found.starts_with(message));
            assert!(fits, "{written}: {found:#?}");
            assert!(secrets.is_empty(), "{secrets:?}");
        }
    }
}
