//! The operators of templates and conditions, and the filters that compute.
//!
//! Numbers are computed exactly: integers up to 38 digits, and decimals as decimals, of which the
//! result is the nearest number of 64 bits. A text is not a number. An operation in which a text
//! seems to be meant as a number is an error that names the cast, because its result would be
//! another one than expected: `'9' < '10'` is false, and `'200' == 200` is false.

use crate::growth;
use crate::number::Number;
use drumfire_plan::secret;
use minijinja::value::{Kwargs, ValueKind};
use minijinja::{
    Environment, Error, ErrorKind, State, UndefinedBehavior, Value, filters, functions,
};
use std::borrow::Cow;
use std::cmp::Ordering;

/// The function through which a value goes that a condition uses as a truth. The name cannot be
/// written in a template.
pub(crate) const TRUTH: &str = " truth ";

/// The advice for a text that should be a number.
const CAST: &str = "cast it with `| int` or `| float`";

/// Adds a function for each operator, and the filters and tests that compute with numbers.
pub(crate) fn register(environment: &mut Environment<'static>) {
    for name in ["+", "-", "*", "/", "//", "%", "**"] {
        environment.add_function(name, move |left: &Value, right: &Value| {
            compute(left, name, right)
        });
    }
    let comparisons: [(&str, &[&'static str]); 6] = [
        ("==", &["eq", "equalto", "=="]),
        ("!=", &["ne", "!="]),
        ("<", &["lt", "lessthan", "<"]),
        ("<=", &["le", "<="]),
        (">", &["gt", "greaterthan", ">"]),
        (">=", &["ge", ">="]),
    ];
    for (operator, tests) in comparisons {
        let compare = move |state: &mut State<'_, '_>, left: &Value, right: &Value| {
            compare(state, left, operator, right)
        };
        environment.add_function(operator, compare);
        for test in tests {
            environment.add_test(*test, compare);
        }
    }
    environment.add_function(" in ", contains);
    environment.add_test("in", contains);
    environment.add_function(" - ", negate);
    environment.add_function(TRUTH, |value: &Value| truth(value).map(|_| value.clone()));
    environment.add_filter("string", |value: &Value| text(value).map(Cow::into_owned));
    environment.add_filter("sum", sum);
    environment.add_function("range", range);
    environment.add_test("odd", |value: &Value| {
        check_number(value).map(|()| minijinja::tests::is_odd(value.clone()))
    });
    environment.add_test("even", |value: &Value| {
        check_number(value).map(|()| minijinja::tests::is_even(value.clone()))
    });
    environment.add_test("divisibleby", is_divisible);
}

/// The number that a value is.
fn number_of(value: &Value) -> Option<Number> {
    if value.is_integer() {
        return i128::try_from(value.clone()).ok().map(Number::from);
    }
    let is_number = value.kind() == ValueKind::Number;
    is_number
        .then(|| f64::try_from(value.clone()).ok())?
        .map(Number::from)
}

impl From<Number> for Value {
    /// An integer, or the nearest number of 64 bits.
    fn from(number: Number) -> Self {
        match number.whole() {
            Some(whole) => i64::try_from(whole).map_or_else(|_| Self::from(whole), Self::from),
            None => Self::from(number.float()),
        }
    }
}

/// A value in an error.
fn described(value: &Value) -> String {
    match (value.as_str(), value.kind()) {
        (Some(text), _) => format!("the text `{}`", secret::excerpt(text)),
        (None, ValueKind::Undefined) => "a missing value".to_owned(),
        (None, ValueKind::None) => "null".to_owned(),
        (None, ValueKind::Bool) => value.is_true().to_string(),
        (None, ValueKind::Number) => format!("the number {value}"),
        (None, ValueKind::Map) => "a map".to_owned(),
        (None, ValueKind::Seq | ValueKind::Iterable) => "a list".to_owned(),
        (None, kind) => format!("a {kind}"),
    }
}

/// Whether a value is a text that JSON could write as a number.
fn looks_like_number(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| Number::parse(text).is_some())
}

/// The advice for a text where a number is needed.
fn cast(value: &Value) -> &'static str {
    match (looks_like_number(value), value.as_str()) {
        (true, _) => CAST,
        (false, Some(_)) => "it is not a number",
        (false, None) => "use a number",
    }
}

/// An error if a value is not a number.
fn check_number(value: &Value) -> Result<(), Error> {
    match value.as_str() {
        None => Ok(()),
        Some(_) => {
            let shown = described(value);
            Err(refusal(format!(
                "a number is needed instead of {shown}; {}",
                cast(value)
            )))
        }
    }
}

/// A whole number that a function takes.
pub(crate) fn integer<T>(value: &Value) -> Result<T, Error>
where
    T: TryFrom<i128> + TryFrom<Value, Error = Error>,
{
    check_number(value)?;
    let whole = number_of(value).and_then(Number::whole);
    match whole.map(T::try_from) {
        Some(Ok(number)) => Ok(number),
        _ => T::try_from(value.clone()),
    }
}

/// A number that a function takes.
pub(crate) fn float(value: &Value) -> Result<f64, Error> {
    check_number(value)?;
    match number_of(value) {
        Some(number) => Ok(number.float()),
        None => f64::try_from(value.clone()),
    }
}

/// The result of an arithmetic operator.
fn compute(left: &Value, operator: &str, right: &Value) -> Result<Value, Error> {
    let (Some(a), Some(b)) = (number_of(left), number_of(right)) else {
        return compute_others(left, operator, right);
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

/// Joins two lists, or repeats a text or a list.
fn compute_others(left: &Value, operator: &str, right: &Value) -> Result<Value, Error> {
    let is_list = |value: &Value| matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable);
    let count = |value: &Value| match value.is_integer() {
        true => i128::try_from(value.clone()).ok(),
        false => None,
    };
    let is_repeated =
        |value: &Value| is_list(value) || value.as_str().is_some() && !looks_like_number(value);
    match (operator, count(left), count(right)) {
        ("+", ..) if is_list(left) && is_list(right) => growth::joined(left, right),
        ("*", _, Some(count)) if is_repeated(left) => growth::repeated(left, count),
        ("*", Some(count), _) if is_repeated(right) => growth::repeated(right, count),
        _ => {
            let wrong = [left, right]
                .into_iter()
                .find(|value| number_of(value).is_none());
            let wrong = wrong.unwrap_or(left);
            let hint = match operator {
                "+" if wrong.as_str().is_some() => "; use `~` to join texts",
                _ => "",
            };
            let (shown, cast) = (described(wrong), cast(wrong));
            Err(refusal(format!("`{operator}` with {shown}; {cast}{hint}")))
        }
    }
}

/// The result of a comparison.
fn compare(
    state: &State<'_, '_>,
    left: &Value,
    operator: &str,
    right: &Value,
) -> Result<bool, Error> {
    if left.is_undefined() || right.is_undefined() {
        check_missing(state)?;
        return Ok(operator == "!=");
    }
    let order = match (number_of(left), number_of(right)) {
        (Some(left), Some(right)) => left.compare(right),
        _ => ordered(left, operator, right)?,
    };
    Ok(match operator {
        "==" => order == Some(Ordering::Equal),
        "!=" => order != Some(Ordering::Equal),
        "<" => order.is_some_and(Ordering::is_lt),
        "<=" => order.is_some_and(Ordering::is_le),
        ">" => order.is_some_and(Ordering::is_gt),
        _ => order.is_some_and(Ordering::is_ge),
    })
}

/// A missing value is an error in a template; a condition compares it.
fn check_missing(state: &State<'_, '_>) -> Result<(), Error> {
    match state.undefined_behavior() {
        UndefinedBehavior::Strict => Err(Error::from(ErrorKind::UndefinedError)),
        _ => Ok(()),
    }
}

/// The order of two values that are not both numbers; `None` if their types differ.
fn ordered(left: &Value, operator: &str, right: &Value) -> Result<Option<Ordering>, Error> {
    let failed = |advice: &str| {
        let (left, right) = (described(left), described(right));
        let message = format!("`{operator}` compares {left} with {right}; {advice}");
        Err(refusal(message))
    };
    if let (Some(a), Some(b)) = (left.as_str(), right.as_str()) {
        let numbers = Number::parse(a).zip(Number::parse(b));
        let is_equal = numbers.is_some_and(|(a, b)| a.compare(b) == Some(Ordering::Equal));
        let is_order = !matches!(operator, "==" | "!=");
        return match a != b && (is_equal || is_order && numbers.is_some()) {
            true => failed("to compare numbers, cast both with `| int` or `| float`"),
            false => Ok(Some(a.cmp(b))),
        };
    }
    for (side, other) in [(left, right), (right, left)] {
        if let (Some(text), Some(advice)) = (side.as_str(), advice_for(side, other)) {
            let text = secret::excerpt(text);
            return failed(&advice.replace("TEXT", &text));
        }
    }
    if left.kind() == right.kind() {
        growth::check(left)?;
        growth::check(right)?;
        return Ok(Some(left.cmp(right)));
    }
    match operator {
        "==" | "!=" => Ok(None),
        _ => failed("only values of one type have an order"),
    }
}

/// The advice for a text that looks like a value of the other side's type.
fn advice_for(side: &Value, other: &Value) -> Option<&'static str> {
    let text = side.as_str()?;
    match other.kind() {
        ValueKind::Number if Number::parse(text).is_some() => {
            Some("cast the text with `| int` or `| float`")
        }
        ValueKind::Bool if matches!(text, "true" | "false") => Some("compare with 'TEXT'"),
        ValueKind::None if text == "null" => Some("compare with 'TEXT'"),
        ValueKind::Map | ValueKind::Seq | ValueKind::Iterable if text.starts_with(['[', '{']) => {
            Some("read the text with `| fromjson`")
        }
        _ => None,
    }
}

/// Whether a list has a value, a map a key, or a text a part.
fn contains(state: &mut State<'_, '_>, value: &Value, whole: &Value) -> Result<bool, Error> {
    if value.is_undefined() || whole.is_undefined() {
        check_missing(state)?;
        return Ok(false);
    }
    if let Some(whole) = whole.as_str() {
        let Some(value) = value.as_str() else {
            let shown = described(value);
            let message =
                format!("`in` looks for {shown} in a text; make a text of it with `| string`");
            return Err(refusal(message));
        };
        return Ok(whole.contains(value));
    }
    match whole.kind() {
        ValueKind::Map => Ok(!whole.get_item(value)?.is_undefined()),
        ValueKind::Seq | ValueKind::Iterable => {
            growth::check(whole)?;
            Ok(whole.try_iter()?.any(|element| element == *value))
        }
        _ => {
            let shown = described(whole);
            let message =
                format!("`in` needs a text, a list or a map instead of {shown}; use `| string`");
            Err(refusal(message))
        }
    }
}

fn negate(value: &Value) -> Result<Value, Error> {
    match number_of(value) {
        Some(number) => Ok(Number::from(0).minus(number).into()),
        None => {
            let (shown, cast) = (described(value), cast(value));
            Err(refusal(format!("`-` with {shown}; {cast}")))
        }
    }
}

/// The text of a value as it is printed: all but texts as JSON.
pub(crate) fn text(value: &Value) -> Result<Cow<'_, str>, Error> {
    if let Some(text) = value.as_str() {
        return Ok(Cow::Borrowed(text));
    }
    match value.kind() {
        ValueKind::Undefined => Err(Error::from(ErrorKind::UndefinedError)),
        ValueKind::Number | ValueKind::Plain => Ok(value.to_string().into()),
        _ => {
            growth::check(value)?;
            let json = filters::tojson(value, None, Kwargs::from_iter::<[(&str, Value); 0]>([]))?;
            Ok(json.to_string().into())
        }
    }
}

/// Whether a value holds as a condition. A missing value, `null`, `false`, 0, and an empty text,
/// list or map do not.
///
/// # Errors
/// If a text is written as one of the values that do not hold, because it would.
pub(crate) fn truth(value: &Value) -> Result<bool, Error> {
    let Some(text) = value.as_str() else {
        return Ok(value.is_true());
    };
    let is_zero = Number::parse(text).is_some_and(Number::is_zero);
    match is_zero || matches!(text, "false" | "null") {
        true => Err(refusal(format!(
            "the text `{text}` is not a truth; compare it, as in `x != '{text}'`"
        ))),
        false => Ok(!text.is_empty()),
    }
}

fn is_divisible(value: &Value, by: &Value) -> Result<bool, Error> {
    let rest = compute(value, "%", by)?;
    Ok(number_of(&rest).is_some_and(Number::is_zero))
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
    // Elements without a value are left out, as the interpreter's own filter does.
    let mut present = values.try_iter()?.filter(|value| !value.is_undefined());
    present.try_fold(Value::from(0), |sum, value| compute(&sum, "+", &value))
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
    use drumfire_plan::{RequestContext, ValueForm, VariableId, Variables};
    use std::sync::Arc;

    /// Renders a template of a user whose variables have these values.
    fn rendered(text: &str) -> Result<String, String> {
        let (json, plain) = (ValueForm::Json, ValueForm::Text);
        let values = [
            ("total", "12.50", json),
            ("count", "3", json),
            ("id", "9007199254740993", json),
            ("code", "007", plain),
            ("word", "abc", plain),
            ("flag", "false", json),
            ("huge", "1e300", json),
            ("nine", "9", json),
            ("ids", "[4, 5, 6]", json),
            ("cents", "0.1", json),
            ("price", "19.99", json),
            ("cell", "12.50", plain),
            ("other", "9", plain),
            ("zero", "0", json),
        ];
        let mut sources = Sources::new();
        let mut variables = Variables::new(values.len());
        for (at, (name, value, form)) in values.into_iter().enumerate() {
            sources.declare(name).expect("a name");
            let id = VariableId(u16::try_from(at).expect("few"));
            sources = sources.with_set(id);
            variables.set_as(id, form, Ok(value));
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

    /// Templates and their texts.
    const COMPUTED: &[(&str, &str)] = &[
        (
            "{{ total + 1 }} {{ total * 2 }} {{ -total }}",
            "13.5 25 -12.5",
        ),
        (
            "{{ id + 1 }} {{ id * 1000000 }}",
            "9007199254740994 9007199254740993000000",
        ),
        (
            "{{ cents + 0.2 }} {{ price * 100 }} {{ total - cents }}",
            "0.3 1999 12.4",
        ),
        (
            "{{ count / 2 }} {{ count // 2 }} {{ count % 2 }} {{ count ** 2 }}",
            "1.5 1 1 9",
        ),
        ("{{ (count + 1) * 2 - total / 5 + user }}", "12.5"),
        (
            "{{ (count + 3) / 2 }} {{ user / 2 }} {{ 7 // 2 }}",
            "3 3.5 3",
        ),
        ("{{ huge + 1 == huge }}", "true"),
        (
            "{{ [total, count, 1] | sum }} {{ total | round }}",
            "16.5 12.0",
        ),
        ("{{ [cents, cents, cents] | sum }}", "0.3"),
        (
            "{{ (0 - count) | abs }} {{ count is odd }} {{ count is divisibleby 3 }}",
            "3 true true",
        ),
        (
            "{% for i in range(count) %}{{ i + nine }},{% endfor %}",
            "9,10,11,",
        ),
        (
            "{{ ids | item(count) + 1 }} {{ ids | fromjson(nine) }}",
            "5 4",
        ),
        (
            "{% set n = namespace(sum=0) %}{% for i in range(2) %}{% set n.sum = n.sum + total %}{% endfor %}{{ n.sum }}",
            "25",
        ),
        (
            "{{ random_int(count, count) }} {{ random_string(count) | length }}",
            "3 3",
        ),
        (
            "{{ count > 2 }} {{ nine < 10 }} {{ count == 3.0 }} {{ count == 'x' }}",
            "true true true false",
        ),
        (
            "{{ id == 9007199254740992 }} {{ id > 9007199254740992 }}",
            "false true",
        ),
        ("{% if flag == false and flag != true %}no{% endif %}", "no"),
        (
            "{{ cell | float + 1 }} {{ other | int * 2 }} {{ code | int }}",
            "13.5 18 7",
        ),
        (
            "{{ '-' * count }} {{ [1] + [2] }} {{ [0] * count }} {{ 'a' < word }}",
            "--- [1, 2] [0, 0, 0] true",
        ),
        (
            "{{ 5 in ids }} {{ 7 in ids }} {{ 4 not in ids }}",
            "true false false",
        ),
        (
            "{{ [4, 5, 9] | select('gt', 4) | list }} {{ 3 is eq count }}",
            "[5, 9] true",
        ),
    ];

    #[test]
    fn numbers_are_computed_exactly() {
        for (text, expected) in COMPUTED.iter().copied() {
            assert_eq!(rendered(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn values_that_are_only_printed_stay_as_they_came() {
        for (text, expected) in [
            (
                "{{ total }} {{ id }} {{ code }} {{ huge }}",
                "12.50 9007199254740993 007 1e300",
            ),
            ("{{ code ~ cell ~ flag ~ none }}", "00712.50falsenull"),
            ("{{ cell | upper }} {{ total | string }}", "12.50 12.5"),
            (
                "{{ '2' in cell }} {{ [id] | tojson }}",
                "true [9007199254740993]",
            ),
            ("{{ code == '007' }} {{ code == 'x' }}", "true false"),
        ] {
            assert_eq!(rendered(text).as_deref(), Ok(expected), "{text}");
        }
    }

    /// Templates and a part of their errors.
    const REFUSED: &[(&str, &str)] = &[
        (
            "{{ cell + 1 }}",
            "`+` with the text `12.50`; cast it with `| int` or `| float`; use `~` to join texts",
        ),
        ("{{ cell + other }}", "cast it with `| int` or `| float`"),
        (
            "{{ word + 1 }}",
            "the text `abc`; it is not a number; use `~`",
        ),
        ("{{ 'x' + word }}", "use `~` to join texts"),
        (
            "{{ code - 1 }}",
            "`-` with the text `007`; it is not a number",
        ),
        ("{{ cell * 2 }}", "cast it"),
        ("{{ -cell }}", "cast it"),
        ("{{ -word }}", "the text `abc`; it is not a number"),
        (
            "{{ cell == 12.5 }}",
            "cast the text with `| int` or `| float`",
        ),
        (
            "{{ other < 10 }}",
            "compares the text `9` with the number 10; cast the text",
        ),
        ("{{ word < 10 }}", "only values of one type have an order"),
        ("{{ other < cell }}", "to compare numbers, cast both"),
        ("{{ other == '9.0' }}", "to compare numbers, cast both"),
        ("{{ flag == 'false' }}", "compare with 'false'"),
        ("{{ ids == '[4]' }}", "`| fromjson`"),
        ("{{ 3 in cell }}", "make a text of it with `| string`"),
        ("{{ 'x' in count }}", "use `| string`"),
        (
            "{{ choose([none]) < 3 }}",
            "only values of one type have an order",
        ),
        ("{{ total / (count - 3) }}", "`12.5 / 0` divides by 0"),
        ("{{ total % zero }}", "divides by 0"),
        ("{{ 1 / 0 }}", "`1 / 0` divides by 0"),
        ("{{ [] - 1 }}", "`-` with a list; use a number"),
        ("{{ range(other) }}", "instead of the text `9`; cast it"),
        (
            "{{ random_int(1, other) }}",
            "instead of the text `9`; cast it",
        ),
        ("{{ other is odd }}", "instead of the text `9`; cast it"),
        ("{{ other is divisibleby 3 }}", "cast it"),
        ("{{ [1, 'x'] | sum }}", "the text `x`; it is not a number"),
        ("{{ id[:4] }}", "make a text of it with `| string`"),
        ("{{ missing + 1 }}", "no variable `missing`"),
        ("{{ 1 < count <= 3 }}", "write `1 < a and a < 3` instead"),
    ];

    #[test]
    fn a_text_in_place_of_a_number_is_an_error_with_the_cast() {
        for (text, words) in REFUSED.iter().copied() {
            let error = rendered(text).expect_err(text);
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
