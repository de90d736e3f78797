//! The values that a run's setup takes, for the references to them.
//!
//! The values are known after the setup has ended. Before that, [`STAND_IN`] represents each of
//! them, so that the rest of the document can be checked. Values that contain one are *late*, and
//! the setup itself must do without them. While references are resolved, each value is resolved
//! between [`SetupValues::uses`] and [`SetupValues::note_value`] or [`SetupValues::note_variable`],
//! which therefore detect late values, through any number of variables.
//!
//! The values come from a server's responses and are inserted into the text of a plan. Therefore no
//! value may contain a template, or begin one together with the adjacent text: otherwise the server
//! could inject expressions that this program evaluates.

use crate::diagnostic::Findings;
use crate::keys::node::Node;
use crate::{Environment, Phase, Place, Placed};
use drumfire_plan::suggestion_of;

/// The text for a value that the setup has not taken yet. The text is valid in a URL, and is a
/// number.
pub(super) const STAND_IN: &str = "1";

/// The beginnings of templates in a text.
const TEMPLATES: [&str; 3] = ["{{", "{%", "{#"];

/// Whether a template begins at the junction of two texts.
pub(super) fn makes_template(before: &str, after: &str) -> bool {
    before.ends_with('{') && after.starts_with(['{', '%', '#'])
}

/// Keys of `defaults` whose late values are omitted in the setup.
const LEFT_OUT: [&str; 2] = ["headers", "metadata"];

/// The values of the setup that are known so far.
pub(super) struct SetupValues {
    /// The names of the values.
    taken: Vec<String>,
    /// Whether a value of the setup's own steps is being resolved.
    is_within: bool,
    /// The number of late values requested so far.
    uses: usize,
    /// The variables that are late.
    variables: Vec<String>,
    /// The places of late values.
    late: Vec<Place>,
}

impl SetupValues {
    /// The values that the setup of a document's tree takes.
    pub(super) fn from_tree(root: &Placed<Node>) -> Self {
        Self {
            taken: taken(root),
            is_within: false,
            uses: 0,
            variables: Vec::new(),
            late: Vec::new(),
        }
    }

    /// Records that the values of this key of the document are resolved next.
    pub(super) fn enter(&mut self, key: &str) {
        self.is_within = key == Phase::Setup.key();
    }

    /// The number of late values requested so far.
    pub(super) const fn uses(&self) -> usize {
        self.uses
    }

    /// Records that a value has been resolved; `uses` is the number of uses before it.
    pub(super) fn note_value(&mut self, uses: usize, place: &Place) {
        if self.uses > uses {
            self.late.push(place.clone());
        }
    }

    /// Records that a variable has been resolved; `uses` is the number of uses before it.
    pub(super) fn note_variable(&mut self, uses: usize, name: &str) {
        if self.uses > uses {
            self.variables.push(name.to_owned());
        }
    }

    /// The places of late values.
    pub(super) fn late(&self) -> &[Place] {
        &self.late
    }

    /// A value of the setup; `None` before the setup has ended.
    ///
    /// # Errors
    /// If the setup takes no such value, or its value is not allowed in a document.
    pub(super) fn value(
        &mut self,
        name: &str,
        environment: &dyn Environment,
    ) -> Result<Option<String>, String> {
        self.uses += 1;
        if self.is_within {
            return Err(format!(
                "within the setup, read a value of an earlier step as `{{{{ {name} }}}}`; \
                 `${{setup:{name}}}` is for the load and the teardown"
            ));
        }
        let value = environment.setup_value(name);
        if let Some(value) = value {
            // An agent of a cluster has the value, but no setup.
            return match TEMPLATES.iter().any(|open| value.contains(open)) {
                true => Err(format!(
                    "the value that the setup took for `{name}` contains a template, which a \
                     server may not supply"
                )),
                false => Ok(Some(value)),
            };
        }
        if self.taken.is_empty() {
            return Err(format!(
                "no step of `setup` takes a value; add `take: {{ {name}: json $.{name} }}` to one"
            ));
        }
        if !self.taken.iter().any(|taken| taken == name) {
            let near = suggestion_of(name, self.taken.iter().map(String::as_str), "values taken");
            return Err(format!("no step of `setup` takes `{name}`{near}"));
        }
        Ok(None)
    }

    /// Records another use of an already resolved variable.
    ///
    /// # Errors
    /// If the setup reads the variable and the variable is late.
    pub(super) fn use_variable(&mut self, name: &str) -> Result<(), String> {
        if !self.variables.iter().any(|late| late == name) {
            return Ok(());
        }
        self.uses += 1;
        match self.is_within {
            true => Err(format!(
                "`{name}` contains a value that the setup has not taken yet"
            )),
            false => Ok(()),
        }
    }

    /// Notes the late values among the defaults that the setup needs.
    pub(super) fn check_defaults(&self, defaults: &Placed<Node>, found: &mut Findings) {
        let Node::Map(entries) = &defaults.value else {
            return;
        };
        let entries = entries.iter();
        let needed = entries.filter(|(key, _)| !LEFT_OUT.contains(&&*key.value));
        for place in needed.flat_map(|(_, value)| places(value)) {
            let message = "the defaults also apply to the setup, which has not taken this value \
                           yet; move it to the pools";
            found.add_if(self.late.contains(place), place, message);
        }
    }
}

/// The names of the values that the steps of a document's setup take.
fn taken(root: &Placed<Node>) -> Vec<String> {
    let mut names = Vec::new();
    let mut nodes: Vec<&Placed<Node>> = Vec::from_iter(root.value.entry(Phase::Setup.key()));
    while let Some(node) = nodes.pop() {
        if let Node::List(steps) = &node.value {
            nodes.extend(steps);
        }
        nodes.extend(
            ["do", "else"]
                .iter()
                .filter_map(|key| node.value.entry(key)),
        );
        if let Some(Node::Map(taken)) = node.value.entry("take").map(|node| &node.value) {
            names.extend(taken.iter().map(|(name, _)| name.value.clone()));
        }
    }
    names
}

/// The places of a node and its parts.
fn places(node: &Placed<Node>) -> Vec<&Place> {
    let mut places = vec![&node.place];
    match &node.value {
        Node::List(items) => places.extend(items.iter().flat_map(self::places)),
        Node::Map(entries) => {
            places.extend(entries.iter().flat_map(|(_, value)| self::places(value)));
        }
        _ => {}
    }
    places
}
