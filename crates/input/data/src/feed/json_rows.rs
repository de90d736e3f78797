//! Rows of JSON: objects whose members are columns, or single values.

use super::json_skim::{Known, skim};
use super::row_step::ChangedRow;
use super::{FeedError, VALUE, is_plain};
use crate::json_tree;
use minijinja::Value;
use std::collections::{BTreeMap, HashMap};

/// The columns of rows: all names, in the order in which they come first.
#[derive(Clone, Debug, Default)]
pub(super) struct JsonColumns {
    names: Vec<String>,
    places: HashMap<String, usize>,
    /// For each column, whether it has nothing but texts and numbers.
    plain: Vec<bool>,
    kind: Option<RowKind>,
    /// Memory for the places of a row's members.
    seen: Vec<usize>,
}

/// What all rows of a feed are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowKind {
    Object,
    Single,
}

/// Rows as they are read, each value with its column.
pub(super) type RowValues = Vec<Vec<(usize, Value)>>;

impl JsonColumns {
    /// The values of the row that a text is, which begins in a line.
    pub(super) fn read(&mut self, text: &str, line: u64) -> Result<Vec<(usize, Value)>, FeedError> {
        let read = json_tree::read(text).map_err(|error| {
            let shown = error.to_string();
            let reason = shown.split(" at line ").next().unwrap_or_default();
            let message = match error.line() {
                1 => format!("invalid JSON: {reason} at column {}", error.column()),
                _ => format!("invalid JSON: {reason}"),
            };
            FeedError::at_line(line + (error.line() as u64).saturating_sub(1), message)
        });
        let (row, repeated) = read?;
        if let Some(key) = repeated {
            let key = key.escape_debug();
            let message = format!("`{key}` is given twice; write it once");
            return Err(FeedError::at_line(line, message));
        }
        self.row(row, line)
    }

    /// Notes the columns of a row as [`JsonColumns::read`] does, where its values are not kept.
    pub(super) fn note(&mut self, text: &str, line: u64) -> Result<(), FeedError> {
        let known = Known {
            names: &self.names,
            places: &self.places,
        };
        if self.kind == Some(RowKind::Object) && skim(text, known, &mut self.plain, &mut self.seen)
        {
            return Ok(());
        }
        // It has a new column, or a mistake.
        self.read(text, line).map(drop)
    }

    /// The values of a row.
    pub(super) fn row(
        &mut self,
        row: serde_json::Value,
        line: u64,
    ) -> Result<Vec<(usize, Value)>, FeedError> {
        use serde_json::Value as Json;
        let (kind, shown) = match &row {
            Json::Object(_) => (RowKind::Object, "an object"),
            Json::Array(_) => {
                let kind = match self.kind {
                    Some(RowKind::Single) => "a single value",
                    _ => "an object",
                };
                let message = format!("a row must be {kind} here, not an array");
                return Err(FeedError::at_line(line, message));
            }
            Json::String(_) => (RowKind::Single, "a string"),
            Json::Number(_) => (RowKind::Single, "a number"),
            Json::Bool(_) => (RowKind::Single, "a boolean"),
            Json::Null => (RowKind::Single, "null"),
        };
        let wanted = *self.kind.get_or_insert(kind);
        if wanted != kind {
            let wanted = match wanted {
                RowKind::Object => "an object",
                RowKind::Single => "a single value",
            };
            let message = format!("a row must be {wanted} here, not {shown}");
            return Err(FeedError::at_line(line, message));
        }
        Ok(match row {
            Json::Object(object) => {
                let values = object.into_iter();
                values
                    .map(|(name, value)| self.insert(name, value))
                    .collect()
            }
            value => vec![self.insert(VALUE.to_owned(), value)],
        })
    }

    /// A value with the column of this name, a new one if need be.
    fn insert(&mut self, name: String, value: serde_json::Value) -> (usize, Value) {
        let value = from_json(value);
        let (names, plain) = (&mut self.names, &mut self.plain);
        let place = *self.places.entry(name).or_insert_with_key(|name| {
            names.push(name.clone());
            plain.push(true);
            names.len() - 1
        });
        plain[place] &= is_plain(&value);
        (place, value)
    }

    /// Reads the values of a row again, one for each column; undefined where it has none.
    pub(super) fn decode(&self, row: &[u8], cells: &mut Vec<Value>) -> Result<(), ChangedRow> {
        use serde_json::Value as Json;
        cells.clear();
        cells.resize(self.names.len(), Value::UNDEFINED);
        let row = serde_json::from_slice(row).map_err(|_| ChangedRow)?;
        match (self.kind, row) {
            (Some(RowKind::Object), Json::Object(object)) => {
                for (name, value) in object {
                    let place = self.places.get(&name).ok_or(ChangedRow)?;
                    cells[*place] = from_json(value);
                }
            }
            (Some(RowKind::Object), _) | (_, Json::Object(_) | Json::Array(_)) => {
                return Err(ChangedRow);
            }
            (_, value) => *cells.first_mut().ok_or(ChangedRow)? = from_json(value),
        }
        Ok(())
    }

    /// The columns by name, each with whether it has nothing but texts and numbers.
    pub(super) fn list(&self) -> impl Iterator<Item = (&str, bool)> {
        let names = self.names.iter().map(String::as_str);
        names.zip(self.plain.iter().copied())
    }

    /// The cells of rows, row by row.
    pub(super) fn cells(&self, rows: RowValues) -> Vec<Value> {
        let width = self.names.len();
        let mut cells = vec![Value::UNDEFINED; width * rows.len()];
        for (row, values) in cells.chunks_mut(width.max(1)).zip(rows) {
            for (place, value) in values {
                row[place] = value;
            }
        }
        cells
    }
}

/// A JSON value as templates see it. The reader of JSON has bounded its depth.
pub(crate) fn from_json(value: serde_json::Value) -> Value {
    use serde_json::Value as Json;
    match value {
        Json::Null => Value::from(()),
        Json::Bool(value) => Value::from(value),
        Json::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(value), ..) => Value::from(value),
            (None, Some(value), _) => Value::from(value),
            (None, None, value) => Value::from(value.unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::from(text),
        Json::Array(list) => list.into_iter().map(from_json).collect(),
        Json::Object(map) => {
            let values = map.into_iter().map(|(key, value)| (key, from_json(value)));
            Value::from(values.collect::<BTreeMap<String, Value>>())
        }
    }
}
