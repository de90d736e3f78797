//! Bounds on the values of a template. The interpreter counts its steps and the bytes that it
//! makes, but not the size of a value that is printed: lists share their elements, so that a few
//! steps make a list whose text has terabytes, or one so deep that to release it overflows the
//! stack. So the size and the depth of each list and map are checked when it is made, and again
//! before it is printed.

use minijinja::value::{DynObject, Kwargs, Rest, StringInput, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State, Value, filters};
use std::cell::Cell;
use std::collections::BTreeMap;

/// Bytes of one value.
const VALUE_BYTES_MAX: usize = 64 << 20;
/// Bytes of an element of a list or map, without its text.
const ELEMENT_BYTES: usize = 64;
/// Elements of lists and maps that are checked in one rendering. An element counts each time: a
/// list that grows in a loop is copied in each pass.
const ELEMENTS_MAX: usize = 5_000_000;
/// How deep lists and maps may be nested in each other.
const DEPTH_MAX: u32 = 100;
/// Columns that a text may be padded to, and elements that a list may be filled up to.
const WIDTH_MAX: usize = 1 << 20;
/// Blanks for a level of JSON.
const INDENT_MAX: usize = 16;
/// The function through which each list and map goes that an instruction makes. No template can
/// write the name.
pub(crate) const HELD: &str = " held ";
/// The function through which a value goes that a namespace keeps.
pub(crate) const KEPT: &str = " kept ";

thread_local! {
    /// The elements that the rendering on this thread may still check.
    static ELEMENTS: Cell<usize> = const { Cell::new(0) };
}

/// A rendering begins on this thread.
pub(crate) fn start_rendering() {
    ELEMENTS.set(ELEMENTS_MAX);
}

/// Replaces the filters whose result can be much larger than their input by bounded ones, and adds
/// the functions that check values.
pub(crate) fn bound(environment: &mut Environment<'static>) {
    environment.add_function(HELD, held);
    environment.add_function(KEPT, kept);
    environment.add_filter("format", format);
    environment.add_filter("tojson", tojson);
    environment.add_filter("indent", indent);
    environment.add_filter("replace", replace);
    environment.add_filter("join", join);
    environment.add_filter("batch", batch);
    environment.add_filter("slice", slice);
}

/// The bytes that a value may still have.
struct Room {
    left: usize,
    /// Whether the value has a part that is computed only when it is read.
    is_lazy: bool,
}

impl Room {
    /// The room of a whole value.
    const fn new() -> Self {
        Self {
            left: VALUE_BYTES_MAX,
            is_lazy: false,
        }
    }

    /// Uses `bytes`.
    fn reserve(&mut self, bytes: usize) -> Result<(), Error> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(refusal(format!(
                "a value of more than {VALUE_BYTES_MAX} bytes"
            ))),
        }
    }

    /// Uses the bytes of a value.
    fn hold(&mut self, value: &Value, depth: u32) -> Result<(), Error> {
        self.reserve(ELEMENT_BYTES)?;
        let Some(left) = ELEMENTS.get().checked_sub(1) else {
            let message = format!("more than {ELEMENTS_MAX} elements in one rendering");
            return Err(refusal(message));
        };
        ELEMENTS.set(left);
        if let Some(text) = value.as_str() {
            return self.reserve(text.len());
        }
        if !is_container(value) {
            return Ok(());
        }
        if depth >= DEPTH_MAX {
            let message = format!("lists or maps are nested more than {DEPTH_MAX} deep");
            return Err(refusal(message));
        }
        if depth > 0 && is_namespace(value) {
            let message = "a list, a map or a namespace can't contain a namespace";
            return Err(refusal(message));
        }
        self.is_lazy |= is_lazy(value);
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
    Room::new().hold(value, 0)
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

/// The bytes of a value, which is neither too large nor too deep.
fn size(value: &Value) -> Result<usize, Error> {
    let mut room = Room::new();
    room.hold(value, 0)?;
    Ok(VALUE_BYTES_MAX - room.left)
}

/// A value that an instruction has made. The elements of a list that are computed only when they
/// are read are computed now: each use would recurse into the lists that it was made of.
fn held(value: &Value) -> Result<Value, Error> {
    if let Some(text) = value.as_str() {
        check_length(text.len())?;
    }
    match is_container(value) {
        true => settled(value, 0),
        false => Ok(value.clone()),
    }
}

/// A list or map as a part of values that are `depth` deep, with all of its elements computed.
fn settled(value: &Value, depth: u32) -> Result<Value, Error> {
    let mut room = Room::new();
    room.hold(value, depth)?;
    Ok(match room.is_lazy {
        true => computed(value.clone()),
        false => value.clone(),
    })
}

/// The value of a variable in a namespace. Neither the value nor a part of it is a namespace,
/// because a namespace could then contain itself.
fn kept(value: &Value) -> Result<Value, Error> {
    settled(value, 1)
}

/// Two lists as one.
pub(crate) fn joined(left: &Value, right: &Value) -> Result<Value, Error> {
    check_length(size(left)?.saturating_add(size(right)?))?;
    let elements = left.try_iter()?.chain(right.try_iter()?);
    Ok(Value::from(elements.collect::<Vec<Value>>()))
}

/// A text or a list, `count` times; a negative count is 0.
pub(crate) fn repeated(value: &Value, count: i128) -> Result<Value, Error> {
    let count = usize::try_from(count.max(0)).unwrap_or(usize::MAX);
    let Some(text) = value.as_str() else {
        check_length(size(value)?.saturating_mul(count))?;
        let elements: Vec<Value> = value.try_iter()?.collect();
        let length = elements.len().saturating_mul(count);
        let repeated = elements.iter().cycle().take(length).cloned();
        return Ok(Value::from(repeated.collect::<Vec<Value>>()));
    };
    check_length(text.len().saturating_mul(count))?;
    let repeated = text.repeat(count);
    Ok(match value.is_safe() {
        true => Value::from_safe_string(repeated),
        false => Value::from(repeated),
    })
}

/// Whether the elements of a list or map are computed only when they are read. The interpreter's
/// own lists and maps are not.
fn is_lazy(value: &Value) -> bool {
    let is_list = value.downcast_object_ref::<Vec<Value>>().is_some();
    let is_map = || {
        let map = value.downcast_object_ref::<BTreeMap<Value, Value>>();
        map.is_some()
    };
    !is_list && !value.is_tuple() && !is_map()
}

fn is_namespace(value: &Value) -> bool {
    let name = value.as_object().map_or("", DynObject::type_name);
    name.ends_with("::Namespace")
}

/// Lists and maps with all of their elements computed. The value was checked, so its depth is
/// bounded.
pub(crate) fn computed(value: Value) -> Value {
    match value.kind() {
        ValueKind::Seq | ValueKind::Iterable => {
            let elements = value.try_iter().into_iter().flatten();
            Value::from(elements.map(computed).collect::<Vec<Value>>())
        }
        // An object without keys may have values, such as the row of a feed.
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

/// A very large width is refused, both in the format and as an argument for `*`.
fn format(
    state: &mut State<'_, '_>,
    format: &Value,
    arguments: Rest<ValueOrKwargs>,
) -> Result<Value, Error> {
    let text = format.as_str().unwrap_or_default();
    for digits in text.split(|c: char| !c.is_ascii_digit()) {
        // More digits than a number can have are a large number.
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

/// Checks the length of a text that is about to be made.
pub(crate) fn check_length(bytes: usize) -> Result<(), Error> {
    Room::new().reserve(bytes)
}
