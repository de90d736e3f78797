//! Constraints: `>= 1.2, < 2 || ~3.1 || ^0.4.x`.

use super::{Version, compare_prereleases};
use std::cmp::Ordering;

/// One comparison. Numbers that are absent or `x` are wild.
#[derive(Clone, Debug)]
pub(crate) struct Constraint {
    operator: String,
    version: Version,
    /// The number of given numbers, of three.
    given: usize,
}

/// Whether a version satisfies all constraints of one alternative.
pub(crate) fn hold(alternatives: &[Vec<Constraint>], version: &Version) -> bool {
    alternatives
        .iter()
        .any(|all| all.iter().all(|one| one.holds(version)))
}

/// Parses the alternatives of a text; all constraints of an alternative must hold.
pub(crate) fn parse(text: &str) -> Result<Vec<Vec<Constraint>>, String> {
    let mut alternatives = Vec::new();
    for alternative in text.split("||") {
        alternatives.push(parse_all(alternative).ok_or_else(|| {
            let rewritten = match range(alternative) {
                Some((low, high)) => format!(">= {low}, <= {high} "),
                None => alternative.to_owned(),
            };
            format!("improper constraint: {rewritten}")
        })?);
    }
    Ok(alternatives)
}

/// Splits `1.2 - 3`, a range that includes both ends.
fn range(text: &str) -> Option<(&str, &str)> {
    let (low, high) = text.trim().split_once(" - ")?;
    Some((low.trim(), high.trim()))
}

fn parse_all(text: &str) -> Option<Vec<Constraint>> {
    if let Some((low, high)) = range(text) {
        return Some(vec![
            Constraint::parse(">=", low)?,
            Constraint::parse("<=", high)?,
        ]);
    }
    let mut constraints = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() || constraints.is_empty() {
        let operator = rest.len()
            - rest
                .trim_start_matches(['=', '!', '<', '>', '~', '^'])
                .len();
        let (operator, behind) = rest.split_at(operator);
        let behind = behind.trim_start();
        let end = behind.find([' ', ',', '\t', '\n']).unwrap_or(behind.len());
        let (version, after) = behind.split_at(end);
        constraints.push(Constraint::parse(operator, version)?);
        let after = after.trim_start();
        rest = after.strip_prefix(',').unwrap_or(after).trim_start();
    }
    Some(constraints)
}

impl Constraint {
    fn parse(operator: &str, text: &str) -> Option<Self> {
        let known = [
            "", "=", "!=", ">", "<", ">=", "=>", "<=", "=<", "~", "~>", "^",
        ];
        if !known.contains(&operator) {
            return None;
        }
        let body = text.strip_prefix('v').unwrap_or(text);
        let tail = body.find(['-', '+']).unwrap_or(body.len());
        let (numbers, tail) = body.split_at(tail);
        let parts: Vec<&str> = numbers.split('.').collect();
        let wild = |part: &&str| matches!(*part, "x" | "X" | "*");
        let given = parts.iter().position(wild).unwrap_or(parts.len());
        if parts.len() > 3 {
            return None;
        }
        let mut whole = parts[..given].join(".");
        for n in given..3 {
            whole.push_str(if n == 0 { "0" } else { ".0" });
        }
        let rest_is_fine = parts[given..]
            .iter()
            .all(|part| wild(part) || part.bytes().all(|byte| byte.is_ascii_digit()));
        if !rest_is_fine {
            return None;
        }
        Some(Self {
            operator: operator.to_owned(),
            version: Version::parse(&format!("{whole}{tail}")).ok()?,
            given,
        })
    }

    fn holds(&self, version: &Version) -> bool {
        // A prerelease matches only a constraint with a prerelease.
        let unasked = !version.prerelease.is_empty() && self.version.prerelease.is_empty();
        let dirty = self.given < 3;
        let order = version.compare(&self.version);
        match self.operator.as_str() {
            "!=" if dirty => !unasked && self.differs(version),
            "!=" => order.is_ne(),
            _ if unasked => false,
            ">" if dirty => self.is_above(version),
            ">" => order.is_gt(),
            "<" => order.is_lt(),
            ">=" | "=>" => order.is_ge(),
            "<=" | "=<" if dirty => self.is_not_above(version),
            "<=" | "=<" => order.is_le(),
            "~" | "~>" => self.is_near(version, order),
            "^" => self.is_compatible(version, order),
            _ if dirty => self.is_near(version, order),
            _ => order.is_eq(),
        }
    }

    /// `!=` with wild numbers: whether any given number differs.
    fn differs(&self, version: &Version) -> bool {
        let (own, other) = (self.version.numbers, version.numbers);
        if own[0] != other[0] {
            return true;
        }
        if self.given < 2 {
            // In a constraint of only wild numbers, minor and patch numbers still count.
            return self.given == 0 && own[1..] != other[1..];
        }
        if own[1] != other[1] {
            return true;
        }
        compare_prereleases(&version.prerelease, &self.version.prerelease) != Ordering::Equal
    }

    fn is_above(&self, version: &Version) -> bool {
        let (own, other) = (self.version.numbers, version.numbers);
        match other[0].cmp(&own[0]) {
            Ordering::Greater => true,
            Ordering::Less => false,
            Ordering::Equal if self.given == 1 => false,
            Ordering::Equal if self.given == 2 => other[1] > own[1],
            Ordering::Equal => version.compare(&self.version).is_gt(),
        }
    }

    fn is_not_above(&self, version: &Version) -> bool {
        let (own, other) = (self.version.numbers, version.numbers);
        if other[0] > own[0] {
            return false;
        }
        !(other[0] == own[0] && other[1] > own[1] && self.given != 1)
    }

    fn is_near(&self, version: &Version, order: Ordering) -> bool {
        let (own, other) = (self.version.numbers, version.numbers);
        if order.is_lt() {
            return false;
        }
        if own == [0, 0, 0] && (self.given == 0 || self.given == 3) {
            return true;
        }
        own[0] == other[0] && (self.given == 1 || own[1] == other[1])
    }

    fn is_compatible(&self, version: &Version, order: Ordering) -> bool {
        let (own, other) = (self.version.numbers, version.numbers);
        if order.is_lt() || own[0] != other[0] {
            return false;
        }
        if own[0] > 0 || self.given == 1 {
            return true;
        }
        if own[1] != other[1] {
            return false;
        }
        own[1] > 0 || self.given == 2 || own[2] == other[2]
    }
}
