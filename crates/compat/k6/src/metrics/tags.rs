//! Tags of samples.

/// Names with values, in the order of the names.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tags(Vec<(String, String)>);

impl Tags {
    /// Set a tag, also one that exists.
    pub fn set(&mut self, name: &str, value: &str) {
        match self.place(name) {
            Ok(at) => value.clone_into(&mut self.0[at].1),
            Err(at) => self.0.insert(at, (name.to_owned(), value.to_owned())),
        }
    }

    /// The value of a tag.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        self.place(name).ok().map(|at| self.0[at].1.as_str())
    }

    /// Names and values in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether there is no tag.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether each of the tags is set to that value.
    pub(crate) fn have_all(&self, tags: &[(String, String)]) -> bool {
        tags.iter()
            .all(|(name, value)| self.value(name) == Some(value))
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.0
            .binary_search_by(|(known, _)| known.as_str().cmp(name))
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Tags {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(list: I) -> Self {
        let mut tags = Self::default();
        list.into_iter()
            .for_each(|(name, value)| tags.set(name, value));
        tags
    }
}
