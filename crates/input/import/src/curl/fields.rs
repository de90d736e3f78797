//! The header fields of a command line.

use crate::exchange::Words;

/// The fields of `--header`, and those of other options, in their order. A field of `--header`
/// replaces the field that an option sets.
#[derive(Default)]
pub(super) struct Fields {
    all: Vec<Field>,
    /// The names of `--header 'NAME:'`, in lower case.
    removed: Vec<String>,
}

struct Field {
    name: String,
    value: String,
    /// Whether an option other than `--header` sets the field.
    is_own: bool,
}

impl Fields {
    /// Adds a field of `--header`.
    pub(super) fn add(&mut self, name: &str, value: &str) {
        self.all.push(Field {
            name: name.to_owned(),
            value: value.to_owned(),
            is_own: false,
        });
    }

    /// Removes the field that an option sets.
    pub(super) fn remove(&mut self, name: &str) {
        self.removed.push(name.to_ascii_lowercase());
    }

    /// Sets the field of an option; the last such option applies.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        let mut own = self.all.iter_mut().filter(|field| field.is_own);
        match own.find(|field| field.name == name) {
            Some(field) => value.clone_into(&mut field.value),
            None => self.all.push(Field {
                name: name.to_owned(),
                value: value.to_owned(),
                is_own: true,
            }),
        }
    }

    /// Sets the field of an option that stands before the other fields.
    pub(super) fn set_first(&mut self, name: &str, value: &str) {
        let field = Field {
            name: name.to_owned(),
            value: value.to_owned(),
            is_own: true,
        };
        self.all.insert(0, field);
    }

    /// The value that an option has set.
    pub(super) fn own(&self, name: &str) -> Option<&str> {
        let mut own = self.all.iter().filter(|field| field.is_own);
        let found = own.find(|field| field.name == name);
        found.map(|field| field.value.as_str())
    }

    /// The first value of `--header` for a name.
    pub(super) fn given(&self, name: &str) -> Option<&str> {
        let mut given = self.all.iter().filter(|field| !field.is_own);
        let found = given.find(|field| field.name.eq_ignore_ascii_case(name));
        found.map(|field| field.value.as_str())
    }

    /// Whether there is a field with this name, or `--header` removes it.
    pub(super) fn has(&self, name: &str) -> bool {
        let mut all = self.all.iter();
        all.any(|field| field.name.eq_ignore_ascii_case(name)) || self.is_removed(name)
    }

    fn is_removed(&self, name: &str) -> bool {
        self.removed
            .iter()
            .any(|removed| removed.eq_ignore_ascii_case(name))
    }

    /// Removes all fields with a name.
    pub(super) fn drop_all(&mut self, name: &str) {
        self.all
            .retain(|field| !field.name.eq_ignore_ascii_case(name));
    }

    /// The fields to send. An empty `User-Agent` removes drumfire's own.
    pub(super) fn into_list(self) -> Vec<(String, Words)> {
        let is_sent = |field: &&Field| {
            let is_agent = field.name == "User-Agent";
            !field.is_own
                || self.given(&field.name).is_none()
                    && (is_agent || !self.is_removed(&field.name) && !field.value.is_empty())
        };
        let is_agent_removed = self.is_removed("User-Agent");
        let has_agent = self.given("User-Agent").is_some();
        let mut list: Vec<(String, Words)> = self
            .all
            .iter()
            .filter(is_sent)
            .map(|field| (field.name.clone(), Words::plain(&field.value)))
            .collect();
        if is_agent_removed && !has_agent {
            list.retain(|(name, _)| name != "User-Agent");
            list.push(("User-Agent".to_owned(), Words::plain("")));
        }
        list
    }
}
