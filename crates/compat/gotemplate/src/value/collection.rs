//! Slices and maps. A template may nest them as deep as its budget allows, so they are dropped
//! without recursion.

use super::Value;
use std::cell::{Ref, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The maximum nesting of values that are printed, compared, copied or encoded.
pub(crate) const NESTING_MAX: u32 = 100;

/// The type of a slice's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// `interface {}`
    Any,
    /// `int`
    Int,
    /// `[]interface {}`
    List,
    /// `string`
    Str,
}

/// A slice; immutable after creation.
#[derive(Debug)]
pub struct List {
    items: Vec<Value>,
    element: Element,
    is_nil: bool,
}

impl List {
    /// A `[]interface {}`.
    #[must_use]
    pub const fn of_any(items: Vec<Value>) -> Self {
        Self::with_element(Element::Any, items)
    }

    /// A `[]string`; all items must be strings.
    #[must_use]
    pub const fn of_strings(items: Vec<Value>) -> Self {
        Self::with_element(Element::Str, items)
    }

    /// A slice of the given type; all items must have that type.
    #[must_use]
    pub const fn with_element(element: Element, items: Vec<Value>) -> Self {
        Self {
            items,
            element,
            is_nil: false,
        }
    }

    /// A nil slice: empty, and `null` in JSON.
    #[must_use]
    pub const fn nil(element: Element) -> Self {
        Self {
            items: Vec::new(),
            element,
            is_nil: true,
        }
    }

    /// The slice's elements.
    #[must_use]
    pub fn items(&self) -> &[Value] {
        &self.items
    }

    /// The type of the elements.
    #[must_use]
    pub const fn element(&self) -> Element {
        self.element
    }

    /// Whether the slice is nil.
    #[must_use]
    pub const fn is_nil(&self) -> bool {
        self.is_nil
    }

    pub(crate) const fn type_name(&self) -> &'static str {
        match self.element {
            Element::Any => "[]interface {}",
            Element::Int => "[]int",
            Element::List => "[][]interface {}",
            Element::Str => "[]string",
        }
    }
}

impl Drop for List {
    fn drop(&mut self) {
        take_apart(std::mem::take(&mut self.items));
    }
}

/// The type of a map's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// `interface {}`
    Any,
    /// `string`
    Str,
}

/// A map with string keys, in the order of the keys. Templates change it in place.
#[derive(Debug)]
pub struct Map {
    entries: RefCell<BTreeMap<Rc<str>, Value>>,
    entry: Entry,
}

impl Map {
    /// An empty `map[string]interface {}`.
    #[must_use]
    pub const fn of_any() -> Self {
        Self::with_entry(Entry::Any)
    }

    /// An empty `map[string]string`; all values must be strings.
    #[must_use]
    pub const fn of_strings() -> Self {
        Self::with_entry(Entry::Str)
    }

    const fn with_entry(entry: Entry) -> Self {
        Self {
            entries: RefCell::new(BTreeMap::new()),
            entry,
        }
    }

    /// The type of the map's values.
    #[must_use]
    pub const fn entry(&self) -> Entry {
        self.entry
    }

    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.borrow().len()
    }

    /// Whether the map has no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a key; `None` if the key is absent.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<Value> {
        self.entries.borrow().get(key).cloned()
    }

    /// Sets the value of a key.
    pub fn insert(&self, key: Rc<str>, value: Value) {
        // The borrow ends before the old value is dropped: its drop could access this map.
        let old = self.entries.borrow_mut().insert(key, value);
        drop(old);
    }

    /// Removes a key.
    pub fn remove(&self, key: &str) {
        let old = self.entries.borrow_mut().remove(key);
        drop(old);
    }

    /// All entries, in the order of their keys.
    #[must_use]
    pub fn entries(&self) -> Vec<(Rc<str>, Value)> {
        let entries = self.entries.borrow();
        entries
            .iter()
            .map(|(key, value)| (Rc::clone(key), value.clone()))
            .collect()
    }

    pub(crate) fn borrow(&self) -> Ref<'_, BTreeMap<Rc<str>, Value>> {
        self.entries.borrow()
    }

    pub(crate) const fn type_name(&self) -> &'static str {
        match self.entry {
            Entry::Any => "map[string]interface {}",
            Entry::Str => "map[string]string",
        }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        take_apart(
            std::mem::take(self.entries.get_mut())
                .into_values()
                .collect(),
        );
    }
}

/// Drops values without recursion, regardless of their nesting.
fn take_apart(mut pending: Vec<Value>) {
    while let Some(value) = pending.pop() {
        match value {
            Value::List(list) => {
                if let Some(mut list) = Rc::into_inner(list) {
                    pending.append(&mut list.items);
                }
            }
            Value::Map(map) => {
                if let Some(mut map) = Rc::into_inner(map) {
                    pending.extend(std::mem::take(map.entries.get_mut()).into_values());
                }
            }
            _ => {}
        }
    }
}
