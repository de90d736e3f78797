//! Bounds on the values of a template, which the interpreter's steps do not see: one step can make
//! gigabytes, or a value so deep that to print or to release it overflows the stack.

use minijinja::value::{DynObject, Kwargs, Rest, StringInput, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State, Value, filters};
use std::cell::Cell;
use std::collections::BTreeMap;

/// Bytes of one value.
const VALUE_BYTES_MAX: usize = 64 << 20;
/// Bytes that an element of a list or map counts for, beside those of texts.
const ELEMENT_BYTES: usize = 64;
/// Elements of lists and maps that are looked at in one rendering, each as often as it is: a list
/// that grows in a loop is copied each time.
const ELEMENTS_MAX: usize = 5_000_000;
/// How deep lists and maps may be nested in each other.
const DEPTH_MAX: u32 = 100;
/// Columns that a text may be padded to, and elements that a list may be filled up to.
const WIDTH_MAX: usize = 1 << 20;
/// Blanks for a level of JSON.
const INDENT_MAX: usize = 16;
/// The filter through which a value goes that a variable is set to.
pub(crate) const SET: &str = "__set";
/// The filter through which a value goes that a namespace keeps.
pub(crate) const KEEP: &str = "__keep";

thread_local! {
    /// The elements that the rendering on this thread may still look at.
    static ELEMENTS: Cell<usize> = const { Cell::new(0) };
}

/// A rendering begins on this thread.
pub(crate) fn begin() {
    ELEMENTS.set(ELEMENTS_MAX);
}

/// Puts bounded filters in the place of those that make much of little, and adds those through
/// which values go that are set.
pub(crate) fn bound(environment: &mut Environment<'static>) {
    environment.add_filter(SET, set);
    environment.add_filter(KEEP, keep);
    environment.add_filter("format", format);
    environment.add_filter("tojson", tojson);
    environment.add_filter("indent", indent);
    environment.add_filter("replace", replace);
    environment.add_filter("join", join);
    environment.add_filter("batch", batch);
    environment.add_filter("slice", slice);
}

/// What is left of the bytes that a value may have.
struct Room(usize);

impl Room {
    /// Takes room for so many bytes.
    fn take(&mut self, bytes: usize) -> Result<(), Error> {
        match self.0.checked_sub(bytes) {
            Some(left) => {
                self.0 = left;
                Ok(())
            }
            None => Err(refusal(format!(
                "a value of more than {VALUE_BYTES_MAX} bytes"
            ))),
        }
    }

    /// Takes room for a value.
    fn hold(&mut self, value: &Value, depth: u32) -> Result<(), Error> {
        self.take(ELEMENT_BYTES)?;
        let Some(left) = ELEMENTS.get().checked_sub(1) else {
            let message = format!("more than {ELEMENTS_MAX} elements in one rendering");
            return Err(refusal(message));
        };
        ELEMENTS.set(left);
        if let Some(text) = value.as_str() {
            return self.take(text.len());
        }
        if !is_container(value) {
            return Ok(());
        }
        if depth >= DEPTH_MAX {
            let message = format!("lists or maps are nested more than {DEPTH_MAX} deep");
            return Err(refusal(message));
        }
        let is_map = value.kind() == ValueKind::Map;
        for element in value.try_iter().into_iter().flatten() {
            self.hold(&element, depth + 1)?;
            if is_map {
                self.hold(&value.get_item(&element)?, depth + 1)?;
            }
        }
        Ok(())
    }
}

/// Checks that a value is neither too large nor too deep to be written.
pub(crate) fn check(value: &Value) -> Result<(), Error> {
    Room(VALUE_BYTES_MAX).hold(value, 0)
}

fn refusal(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message.into())
}

fn is_container(value: &Value) -> bool {
    matches!(
        value.kind(),
        ValueKind::Seq | ValueKind::Map | ValueKind::Iterable
    )
}

/// The value of a variable, computed: each use of a list that waits to be computed would recurse
/// into the list that it was made of.
fn set(value: Value) -> Result<Value, Error> {
    check(&value)?;
    Ok(computed(value))
}

/// The value of a variable in a namespace. It is no namespace and has none, for it could then hold
/// itself.
fn keep(value: Value) -> Result<Value, Error> {
    check(&value)?;
    if has_namespace(&value) {
        return Err(refusal("a namespace can't contain a namespace"));
    }
    Ok(computed(value))
}

/// Whether a value is a namespace or has one. It was checked, so its depth is bounded.
fn has_namespace(value: &Value) -> bool {
    let is_map = value.kind() == ValueKind::Map;
    let mut elements = value.try_iter().into_iter().flatten();
    is_namespace(value)
        || is_container(value)
            && elements.any(|element| match is_map {
                true => value
                    .get_item(&element)
                    .is_ok_and(|value| has_namespace(&value)),
                false => has_namespace(&element),
            })
}

fn is_namespace(value: &Value) -> bool {
    let name = value.as_object().map_or("", DynObject::type_name);
    name.ends_with("::Namespace")
}

/// Lists and maps as they are now. The value was checked, so its depth is bounded.
pub(crate) fn computed(value: Value) -> Value {
    match value.kind() {
        ValueKind::Seq | ValueKind::Iterable => {
            let elements = value.try_iter().into_iter().flatten();
            Value::from(elements.map(computed).collect::<Vec<Value>>())
        }
        // What lists nothing may have values for all that, such as the row of a feed.
        ValueKind::Map if !is_namespace(&value) && value.len().is_some_and(|len| len > 0) => {
            let keys = value.try_iter().into_iter().flatten();
            let computed = keys.map(|key| {
                let element = value.get_item(&key).unwrap_or_default();
                (key, computed(element))
            });
            Value::from(computed.collect::<BTreeMap<Value, Value>>())
        }
        _ => value,
    }
}

/// Padding to a width beyond all use is refused, in the format itself and as an argument for `*`.
fn format(
    state: &mut State<'_, '_>,
    format: &Value,
    arguments: Rest<ValueOrKwargs>,
) -> Result<Value, Error> {
    let text = format.as_str().unwrap_or_default();
    for digits in text.split(|c: char| !c.is_ascii_digit()) {
        // What is longer than a number is a large one.
        let width = (!digits.is_empty()).then(|| digits.parse().unwrap_or(usize::MAX));
        check_width(width.unwrap_or(0))?;
    }
    if text.contains('*') {
        for argument in &arguments.0 {
            check_width(usize::try_from((**argument).clone()).unwrap_or(0))?;
        }
    }
    filters::format(state, format, arguments)
}

fn tojson(value: &Value, indent: Option<Value>, arguments: Kwargs) -> Result<Value, Error> {
    check(value)?;
    let named: Option<Value> = arguments.peek("indent")?;
    let width = indent.clone().or(named).map(usize::try_from);
    if width.is_some_and(|width| width.is_ok_and(|width| width > INDENT_MAX)) {
        return Err(refusal(format!("an indent of more than {INDENT_MAX}")));
    }
    filters::tojson(value, indent, arguments)
}

fn indent(
    text: StringInput<'_>,
    width: Option<usize>,
    first: Option<bool>,
    blank: Option<bool>,
    arguments: Kwargs,
) -> Result<Value, Error> {
    let named: Option<usize> = arguments.peek("width")?;
    let columns = width.or(named).unwrap_or(0);
    let lines = text.as_str().lines().count();
    check_length(lines.saturating_mul(columns))?;
    filters::indent(text, width, first, blank, arguments)
}

fn replace(
    state: &mut State<'_, '_>,
    text: StringInput<'_>,
    from: StringInput<'_>,
    to: StringInput<'_>,
) -> Result<Value, Error> {
    let count = text.as_str().matches(from.as_str()).count();
    check_length(count.saturating_mul(to.as_str().len()))?;
    filters::replace(state, text, from, to)
}

fn join(
    state: &mut State<'_, '_>,
    list: &Value,
    joiner: Option<StringInput<'_>>,
    attribute: Option<&str>,
    arguments: Kwargs,
) -> Result<Value, Error> {
    check(list)?;
    let joiner_length = joiner.as_ref().map_or(0, |joiner| joiner.as_str().len());
    check_length(list.len().unwrap_or(0).saturating_mul(joiner_length))?;
    filters::join(state, list, joiner, attribute, arguments)
}

fn batch(
    state: &State<'_, '_>,
    list: Value,
    count: usize,
    fill: Option<Value>,
) -> Result<Value, Error> {
    check_width(count)?;
    filters::batch(state, list, count, fill)
}

fn slice(
    state: &State<'_, '_>,
    list: Value,
    count: usize,
    fill: Option<Value>,
) -> Result<Value, Error> {
    check_width(count)?;
    filters::slice(state, list, count, fill)
}

fn check_width(width: usize) -> Result<(), Error> {
    match width > WIDTH_MAX {
        true => Err(refusal(format!("a width of more than {WIDTH_MAX}"))),
        false => Ok(()),
    }
}

fn check_length(bytes: usize) -> Result<(), Error> {
    Room(VALUE_BYTES_MAX).take(bytes)
}
