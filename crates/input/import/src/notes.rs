//! Notes on parts of a text that are not in its plan, one sentence each. The same finding at
//! several places is one sentence.

use std::collections::HashMap;

/// The maximum number of places listed for a finding.
const PLACES_MAX: usize = 3;

/// Findings in the order of their discovery.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    groups: Vec<Group>,
    /// The index of the group of each finding.
    known: HashMap<String, usize>,
}

#[derive(Clone, Debug, Default)]
struct Group {
    finding: String,
    /// The first places.
    places: Vec<String>,
    /// The number of further places.
    others: usize,
}

impl Notes {
    /// Adds a finding without a place, once.
    pub(crate) fn add(&mut self, finding: String) {
        self.group(finding);
    }

    /// Adds a finding at a place, which is computed only if it will be listed.
    pub(crate) fn add_at(&mut self, finding: String, place: impl FnOnce() -> String) {
        let group = self.group(finding);
        if group.places.len() == PLACES_MAX {
            group.others += 1;
            return;
        }
        let place = place();
        if !group.places.contains(&place) {
            group.places.push(place);
        }
    }

    fn group(&mut self, finding: String) -> &mut Group {
        let at = *self.known.entry(finding).or_insert_with_key(|finding| {
            self.groups.push(Group {
                finding: finding.clone(),
                ..Group::default()
            });
            self.groups.len() - 1
        });
        &mut self.groups[at]
    }

    /// Whether there are no notes.
    pub(crate) const fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The sentences.
    pub(crate) fn sentences(self) -> Vec<String> {
        let sentence = |group: Group| {
            let Group {
                finding,
                places,
                others,
            } = group;
            let places = places.join(", ");
            match (places.is_empty(), others) {
                (true, _) => finding,
                (false, 0) => format!("{finding}: {places}"),
                (false, 1) => format!("{finding}: {places}, and 1 more"),
                (false, others) => format!("{finding}: {places}, and {others} more"),
            }
        };
        self.groups.into_iter().map(sentence).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Notes;

    #[test]
    fn equal_findings_are_one_sentence() {
        let mut notes = Notes::default();
        notes.add("once".to_owned());
        notes.add("once".to_owned());
        for n in 0..650 {
            notes.add_at("`x` is not read".to_owned(), || format!("#/{n}"));
        }
        notes.add_at("`y` is not read".to_owned(), || "#/a".to_owned());
        notes.add_at("`y` is not read".to_owned(), || "#/a".to_owned());
        assert_eq!(
            notes.sentences(),
            [
                "once",
                "`x` is not read: #/0, #/1, #/2, and 647 more",
                "`y` is not read: #/a"
            ]
        );
    }
}
