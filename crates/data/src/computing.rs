//! How templates compute: as conditions do, with texts that are numbers, too.
//!
//! Values of responses, feeds and scripts are texts. They are printed as they came, and count as
//! numbers where numbers are computed or compared, or given to a function that takes some.

use crate::number::Number;
use crate::tags::{COMPARE, COMPUTE, NEGATE, NUMBER};
use drumfire_plan::secret;
use minijinja::value::{Kwargs, Rest, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, Value, context, filters, functions};
use std::cmp::Ordering;

/// Adds what operators have become, and puts functions that take such texts in the place of those
/// that take none.
pub(crate) fn add(environment: &mut Environment<'static>) {
    environment.add_function(COMPUTE, compute);
    environment.add_function(COMPARE, compare);
    environment.add_function(NEGATE, negate);
    environment.add_filter(NUMBER, number);
    environment.add_filter("abs", abs);
    environment.add_filter("round", round);
    environment.add_filter("sum", sum);
    environment.add_function("range", range);
    environment.add_test("odd", |value: &Value| {
        minijinja::tests::is_odd(number(value))
    });
    environment.add_test("even", |value: &Value| {
        minijinja::tests::is_even(number(value))
    });
    environment.add_test("divisibleby", |value: &Value, by: &Value| {
        minijinja::tests::is_divisibleby(&number(value), &number(by))
    });
}

/// The number that a value is, or that its text is.
pub(crate) fn number_of(value: &Value) -> Option<Number> {
    if let Some(text) = value.as_str() {
        return Number::parse(text);
    }
    if value.is_integer() {
        return i128::try_from(value.clone()).ok().map(Number::from);
    }
    let is_number = value.kind() == ValueKind::Number;
    is_number
        .then(|| f64::try_from(value.clone()).ok())?
        .map(Number::from)
}

impl From<Number> for Value {
    /// A whole number or a fraction; a decimal number that no fraction is equal to as its text.
    fn from(number: Number) -> Self {
        if let Some(whole) = number.whole() {
            return i64::try_from(whole).map_or_else(|_| Self::from(whole), Self::from);
        }
        let float = number.float();
        let text = number.to_string();
        match float.to_string() == text {
            true => Self::from(float),
            false => Self::from(text),
        }
    }
}

/// A text that is a number, as one; any other value as it is.
fn number(value: &Value) -> Value {
    match value.as_str().and_then(Number::parse) {
        Some(number) => number.into(),
        None => value.clone(),
    }
}

/// A whole number that a function takes.
pub(crate) fn integer<T>(value: &Value) -> Result<T, Error>
where
    T: TryFrom<i128> + TryFrom<Value, Error = Error>,
{
    let whole = number_of(value).and_then(Number::whole);
    match whole.map(T::try_from) {
        Some(Ok(number)) => Ok(number),
        _ => T::try_from(value.clone()),
    }
}

/// A number that a function takes.
pub(crate) fn float(value: &Value) -> Result<f64, Error> {
    match number_of(value) {
        Some(number) => Ok(number.float()),
        None => f64::try_from(value.clone()),
    }
}

/// Operands with operators of one rank between them, the left ones first.
fn compute(state: &mut State<'_, '_>, first: Value, links: Rest<Value>) -> Result<Value, Error> {
    let mut links = links.0.into_iter();
    let mut left = first;
    while let (Some(operator), Some(right)) = (links.next(), links.next()) {
        left = computed(state, left, operator.as_str().unwrap_or_default(), right)?;
    }
    Ok(left)
}

fn computed(
    state: &State<'_, '_>,
    left: Value,
    operator: &str,
    right: Value,
) -> Result<Value, Error> {
    let (Some(a), Some(b)) = (number_of(&left), number_of(&right)) else {
        return of_others(state, left, operator, right);
    };
    let result = match operator {
        "+" => Some(a.plus(b)),
        "-" => Some(a.minus(b)),
        "*" => Some(a.times(b)),
        "/" => a.divided_by(b),
        "//" => a.floor_divided_by(b),
        "%" => a.remainder(b),
        _ => Some(a.power(b)),
    };
    let error = || refusal(format!("`{a} {operator} {b}` divides by 0"));
    result.map(Value::from).ok_or_else(error)
}

/// An operation of which one side is no number.
fn of_others(
    state: &State<'_, '_>,
    left: Value,
    operator: &str,
    right: Value,
) -> Result<Value, Error> {
    match (operator, left.as_str(), right.as_str()) {
        ("+", Some(left), Some(right)) => return Ok(Value::from([left, right].concat())),
        // A text so often.
        ("*", ..) => return by_interpreter(state, number(&left), operator, number(&right)),
        _ => {}
    }
    let sides = [(&left, &right), (&right, &left)];
    let text = sides.into_iter().find_map(|(side, other)| {
        let text = side.as_str().filter(|text| Number::parse(text).is_none());
        text.filter(|_| matches!(other.kind(), ValueKind::Number | ValueKind::String))
    });
    match text {
        None => by_interpreter(state, left, operator, right),
        Some(text) => {
            let hint = match operator {
                "+" => "; use `~` to join strings",
                _ => "",
            };
            let text = secret::excerpt(text);
            Err(refusal(format!(
                "`{operator}` with `{text}`, which is not a number{hint}"
            )))
        }
    }
}

/// What the interpreter makes of two values.
fn by_interpreter(
    state: &State<'_, '_>,
    left: Value,
    operator: &str,
    right: Value,
) -> Result<Value, Error> {
    let expression = format!("left {operator} right");
    let compiled = state.env().compile_expression(&expression)?;
    compiled.eval(context! { left, right })
}

/// Whether a comparison holds: of numbers where both sides are some, and else of what they are.
fn compare(
    state: &mut State<'_, '_>,
    left: Value,
    operator: &str,
    right: Value,
) -> Result<Value, Error> {
    let order = match (number_of(&left), number_of(&right)) {
        (Some(left), Some(right)) => left.compare(right),
        // A truth that a response gave is a text.
        _ => match (truth(&left), truth(&right)) {
            (Some(left), Some(right)) if left.is_text != right.is_text => {
                Some(left.holds.cmp(&right.holds))
            }
            _ => return by_interpreter(state, left, operator, right),
        },
    };
    Ok(Value::from(match operator {
        "==" => order == Some(Ordering::Equal),
        "!=" => order != Some(Ordering::Equal),
        "<" => order.is_some_and(Ordering::is_lt),
        "<=" => order.is_some_and(Ordering::is_le),
        ">" => order.is_some_and(Ordering::is_gt),
        _ => order.is_some_and(Ordering::is_ge),
    }))
}

/// A truth, or the text of one.
struct Truth {
    holds: bool,
    is_text: bool,
}

fn truth(value: &Value) -> Option<Truth> {
    let holds = match value.as_str() {
        Some(text) => text.parse().ok()?,
        None => bool::try_from(value.clone()).ok()?,
    };
    let is_text = value.as_str().is_some();
    (is_text || value.kind() == ValueKind::Bool).then_some(Truth { holds, is_text })
}

fn negate(state: &mut State<'_, '_>, value: Value) -> Result<Value, Error> {
    match number_of(&value) {
        Some(number) => Ok(Number::from(0).minus(number).into()),
        None => of_others(state, Value::from(0), "-", value),
    }
}

fn abs(value: &Value) -> Result<Value, Error> {
    filters::abs(number(value))
}

fn round(
    value: &Value,
    precision: Option<i32>,
    method: Option<&str>,
    arguments: Kwargs,
) -> Result<Value, Error> {
    filters::round(number(value), precision, method, arguments)
}

fn sum(
    state: &mut State<'_, '_>,
    values: Value,
    attribute: Option<&str>,
    start: Option<Value>,
    arguments: Kwargs,
) -> Result<Value, Error> {
    let is_plain = attribute.is_none() && start.is_none() && arguments.args().next().is_none();
    if !is_plain {
        return filters::sum(state, values, attribute, start, arguments);
    }
    let mut sum = Value::from(0);
    // As the interpreter's own, it leaves out what has no value.
    let present = values.try_iter()?.filter(|value| !value.is_undefined());
    for value in present {
        sum = computed(state, sum, "+", value)?;
    }
    Ok(sum)
}

fn range(lower: &Value, upper: Option<&Value>, step: Option<&Value>) -> Result<Value, Error> {
    let upper = upper.map(integer).transpose()?;
    let step = step.map(integer).transpose()?;
    functions::range(integer(lower)?, upper, step)
}

fn refusal(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message.into())
}

#[cfg(test)]
mod tests {
    use crate::{Sources, Template, Text, TextTemplate};
    use drumfire_plan::{RequestContext, VariableId, Variables};
    use std::sync::Arc;

    /// Renders a template of a user whose variables have these values.
    fn rendered(text: &str) -> Result<String, String> {
        let values = [
            ("total", "12.50"),
            ("count", "3"),
            ("id", "9007199254740993"),
            ("code", "007"),
            ("word", "abc"),
            ("flag", "false"),
            ("huge", "1e400"),
            ("nine", "9"),
            ("ids", "[4, 5, 6]"),
        ];
        let mut sources = Sources::new();
        let mut variables = Variables::new(values.len());
        for (at, (name, value)) in values.into_iter().enumerate() {
            sources.declare(name).expect("a name");
            let id = VariableId(u16::try_from(at).expect("few"));
            sources = sources.with_set(id);
            variables.set(id, Ok(value));
        }
        let template = Template::compile(text, Text::Plain, &Arc::new(sources));
        let template = template.map_err(|error| error.to_string())?;
        let context = RequestContext {
            user: 7,
            variables: Some(Arc::new(variables)),
            ..RequestContext::default()
        };
        let mut out = String::new();
        let done = template.render(&context, 0, &mut out);
        done.map(|()| out).map_err(|error| error.to_string())
    }

    #[test]
    fn texts_that_are_numbers_compute_exactly() {
        for (text, expected) in [
            (
                "{{ total + 1 }} {{ total * 2 }} {{ -total }}",
                "13.5 25 -12.5",
            ),
            (
                "{{ id + 1 }} {{ id * 1000000 }}",
                "9007199254740994 9007199254740993000000",
            ),
            ("{{ id + 0.5 }}", "9007199254740993.5"),
            (
                "{{ 0.1 + 0.2 }} {{ 19.99 * 100 }} {{ total - 0.1 }}",
                "0.3 1999 12.4",
            ),
            (
                "{{ count / 2 }} {{ count // 2 }} {{ count % 2 }} {{ count ** 2 }}",
                "1.5 1 1 9",
            ),
            ("{{ (count + 1) * 2 - total / 5 + user }}", "12.5"),
            ("{{ 6 / 2 }} {{ user / 2 }} {{ 7 // 2 }}", "3 3.5 3"),
            ("{{ total + huge | length }}", "17.5"),
            (
                "{{ [total, count, 1] | sum }} {{ total | round }}",
                "16.5 12.0",
            ),
            (
                "{{ (0 - count) | abs }} {{ count is odd }} {{ count is divisibleby 3 }}",
                "3 true true",
            ),
            (
                "{% for i in range(count) %}{{ i + nine }},{% endfor %}",
                "9,10,11,",
            ),
            ("{{ ids | item(count) }} {{ ids | fromjson(nine) }}", "4 4"),
            (
                "{% set n = namespace(sum=0) %}{% for i in range(2) %}{% set n.sum = n.sum + total %}{% endfor %}{{ n.sum }}",
                "25",
            ),
            (
                "{{ random_int(count, count) }} {{ random_string(count) | length }}",
                "3 3",
            ),
            (
                "{{ count > 2 }} {{ nine < 10 }} {{ count == 3 }} {{ count == '3.0' }}",
                "true true true true",
            ),
            ("{{ 1 < count <= 3 }} {{ 10 < nine < 11 }}", "true false"),
            (
                "{{ id == 9007199254740992 }} {{ id > 9007199254740992 }}",
                "false true",
            ),
            ("{% if flag == false and flag != true %}no{% endif %}", "no"),
            (
                "{{ 'x' + word }} {{ '-' * count }} {{ [1] + [2] }} {{ 'a' < word }}",
                "xabc --- [1, 2] true",
            ),
        ] {
            assert_eq!(rendered(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn values_that_are_not_computed_with_stay_as_they_came() {
        for (text, expected) in [
            (
                "{{ total }} {{ id }} {{ code }} {{ huge }}",
                "12.50 9007199254740993 007 1e400",
            ),
            ("{% if code %}{{ code }}{{ total }}{% endif %}", "00712.50"),
            (
                "{{ code ~ total }} {{ total | upper }} {{ id | length }}",
                "00712.50 12.50 16",
            ),
            (
                "{{ id[:4] }} {{ '2' in total }} {{ [id] | tojson }}",
                "9007 true [\"9007199254740993\"]",
            ),
            ("{% set x = total %}{{ x }} {{ x + 0 }}", "12.50 12.5"),
            // A text, as in a condition.
            ("{{ code == 7 }} {{ code == '007' }}", "false true"),
        ] {
            assert_eq!(rendered(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_named() {
        for (text, words) in [
            (
                "{{ word + 1 }}",
                "`+` with `abc`, which is not a number; use `~` to join strings",
            ),
            ("{{ code - 1 }}", "`-` with `007`, which is not a number"),
            ("{{ total / (count - 3) }}", "`12.5 / 0` divides by 0"),
            ("{{ total % 0 }}", "divides by 0"),
            ("{{ [] - 1 }}", "unsupported types sequence and number"),
            ("{{ -word }}", "`-` with `abc`, which is not a number"),
            ("{{ range(word) }}", "cannot convert"),
            ("{{ missing + 1 }}", "no variable `missing`"),
        ] {
            let error = rendered(text).expect_err(text);
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
