//! Relations between ordered values.

use std::cmp::Ordering;

/// A relation between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    Equal,
    Unequal,
    LessOrEqual,
    Less,
    MoreOrEqual,
    More,
}

/// The signs of relations; a sign comes before any of its prefixes.
const SIGNS: [(&str, Relation); 6] = [
    ("==", Relation::Equal),
    ("!=", Relation::Unequal),
    ("<=", Relation::LessOrEqual),
    ("<", Relation::Less),
    (">=", Relation::MoreOrEqual),
    (">", Relation::More),
];

impl Relation {
    /// The relation at the start of a text, and the rest.
    pub(crate) fn strip(text: &str) -> Option<(Self, &str)> {
        let mut signs = SIGNS.iter();
        signs.find_map(|(sign, relation)| Some((*relation, text.strip_prefix(sign)?)))
    }

    /// Whether the relation holds for values with this order.
    pub(crate) const fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::Unequal => order.is_ne(),
            Self::LessOrEqual => order.is_le(),
            Self::Less => order.is_lt(),
            Self::MoreOrEqual => order.is_ge(),
            Self::More => order.is_gt(),
        }
    }
}
