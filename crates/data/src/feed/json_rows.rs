//! Rows of JSON: objects whose members are columns, or single values.

use super::{FeedError, VALUE};
use minijinja::Value;
use std::collections::{BTreeMap, HashMap};

/// Rows as they are read. The columns are all names, in the order in which they come first.
#[derive(Debug, Default)]
pub(super) struct JsonRows {
    columns: Vec<String>,
    places: HashMap<String, usize>,
    kind: Option<RowKind>,
    rows: Vec<Vec<(usize, Value)>>,
}

/// What all rows of a feed are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowKind {
    Object,
    Single,
}

impl JsonRows {
    /// Adds the row that a text is, which begins in a line.
    pub(super) fn add(&mut self, text: &str, line: u64) -> Result<(), FeedError> {
        let read = serde_json::from_str(text).map_err(|error| {
            let shown = error.to_string();
            let reason = shown.split(" at line ").next().unwrap_or_default();
            let message = match error.line() {
                1 => format!("no JSON: {reason} at column {}", error.column()),
                _ => format!("no JSON: {reason}"),
            };
            FeedError::at(line + (error.line() as u64).saturating_sub(1), message)
        });
        self.add_value(read?, line)
    }

    /// Adds a row.
    pub(super) fn add_value(&mut self, row: serde_json::Value, line: u64) -> Result<(), FeedError> {
        use serde_json::Value as Json;
        let (kind, shown) = match &row {
            Json::Object(_) => (RowKind::Object, "an object"),
            Json::Array(_) => {
                let kind = match self.kind {
                    Some(RowKind::Single) => "a single value",
                    _ => "an object",
                };
                let message = format!("a row is {kind} here, and this is an array");
                return Err(FeedError::at(line, message));
            }
            Json::String(_) => (RowKind::Single, "a text"),
            Json::Number(_) => (RowKind::Single, "a number"),
            Json::Bool(_) => (RowKind::Single, "a truth value"),
            Json::Null => (RowKind::Single, "null"),
        };
        let wanted = *self.kind.get_or_insert(kind);
        if wanted != kind {
            let wanted = match wanted {
                RowKind::Object => "an object",
                RowKind::Single => "a single value",
            };
            let message = format!("a row is {wanted} here, and this is {shown}");
            return Err(FeedError::at(line, message));
        }
        let values = match row {
            Json::Object(object) => {
                let values = object.into_iter();
                values
                    .map(|(name, value)| (self.place(name), from_json(value)))
                    .collect()
            }
            value => vec![(self.place(VALUE.to_owned()), from_json(value))],
        };
        self.rows.push(values);
        Ok(())
    }

    /// The column with this name, a new one if need be.
    fn place(&mut self, name: String) -> usize {
        let columns = &mut self.columns;
        *self.places.entry(name).or_insert_with_key(|name| {
            columns.push(name.clone());
            columns.len() - 1
        })
    }

    /// The columns, and the cells row by row.
    pub(super) fn into_cells(self) -> (Vec<String>, Vec<Value>) {
        let width = self.columns.len();
        let mut cells = vec![Value::UNDEFINED; width * self.rows.len()];
        for (row, values) in cells.chunks_mut(width.max(1)).zip(self.rows) {
            for (place, value) in values {
                row[place] = value;
            }
        }
        (self.columns, cells)
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
