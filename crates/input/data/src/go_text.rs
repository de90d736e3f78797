//! Go's `text/template` as a filter of templates: `"Hello {{.name}}" | go({"name": name})`.
//!
//! Beside Go's own functions there are `uuid`, `randInt` and `randString`, as Pandora's scenarios
//! have them: their values are texts.

use crate::Random;
use crate::render_context::RenderContext;
use drumfire_gotemplate::{
    Call, Env, Escape, Fault, Functions, GoTemplate, IntKind, Value as GoValue, float_text,
};
use minijinja::Value;
use minijinja::value::{Object, ObjectRepr, ValueKind};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The letters of `randString`.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
/// A random text has at most this many letters.
const LETTERS_MAX: usize = 1 << 20;
/// `randInt` without bounds gives numbers below this.
const INT_END: i64 = 10;
/// A thread keeps at most this many parsed templates.
const PARSED_MAX: usize = 1_000;
/// Lists and maps within one another.
const DEPTH_MAX: u32 = 100;
/// The name of a template in its errors.
const NAME: &str = "template";

thread_local! {
    /// Templates that were parsed, by their texts.
    static PARSED: RefCell<HashMap<Box<str>, GoTemplate>> = RefCell::default();
}

/// A value that Go has read from JSON: its numbers are `float64` in templates of Go's, and are printed
/// as such, but whole ones keep their digits. Lists and maps are printed as JSON.
#[derive(Debug)]
pub(crate) struct GoJson(Value);

impl GoJson {
    /// A value as Go has it; texts are the same anyway.
    pub(crate) fn marked(value: Value) -> Value {
        match value.is_undefined() || value.as_str().is_some() {
            true => value,
            false => Value::from_object(Self(value)),
        }
    }
}

impl Object for GoJson {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_json(&self.0, f)
    }
}

/// Writes a value as JSON, with numbers as Go prints them. Its depth was checked.
fn write_json(value: &Value, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let text = |text: &str, f: &mut fmt::Formatter<'_>| {
        let quoted = serde_json::to_string(text).map_err(|_| fmt::Error)?;
        f.write_str(&quoted)
    };
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => f.write_str("null"),
        ValueKind::Bool => write!(f, "{}", value.is_true()),
        ValueKind::Number => match (whole_number(value), f64::try_from(value.clone())) {
            (None, Ok(number)) => f.write_str(&float_text(number)),
            _ => write!(f, "{value}"),
        },
        ValueKind::Seq | ValueKind::Iterable => {
            let elements = value.try_iter().into_iter().flatten();
            f.write_str("[")?;
            for (n, element) in elements.enumerate() {
                f.write_str(if n > 0 { "," } else { "" })?;
                write_json(&element, f)?;
            }
            f.write_str("]")
        }
        ValueKind::Map => {
            let keys = value.try_iter().into_iter().flatten();
            f.write_str("{")?;
            for (n, key) in keys.enumerate() {
                f.write_str(if n > 0 { "," } else { "" })?;
                text(&key.to_string(), f)?;
                f.write_str(":")?;
                write_json(&value.get_item(&key).unwrap_or_default(), f)?;
            }
            f.write_str("}")
        }
        _ => text(&value.to_string(), f),
    }
}

/// Appends the text of a template of Go's for a value.
///
/// # Errors
/// In Go's words, when the text is no template or can't be executed.
pub(crate) fn render(
    text: &str,
    data: &Value,
    escape: Escape,
    context: &mut RenderContext,
) -> Result<String, String> {
    let template = parsed(text)?.escaping(escape);
    let data = go_value(data, NumberSource::Go, 0)?;
    let mut out = String::new();
    let mut env = Request { context };
    let executed = template.execute(&data, &mut env, &mut out);
    match executed {
        Ok(()) => Ok(out),
        // Before the run, values that responses will give are made up: their kinds mean nothing.
        Err(_) if context.call.now == 0 => Ok(made_up(text).to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// What stands for a text that can't be made yet.
fn made_up(text: &str) -> &'static str {
    match text.trim_start().starts_with('{') && !text.trim_start().starts_with("{{") {
        true => "{}",
        false => "1",
    }
}

/// The template of a text, which is parsed once.
fn parsed(text: &str) -> Result<GoTemplate, String> {
    static FUNCTIONS: OnceLock<Functions> = OnceLock::new();
    PARSED.with_borrow_mut(|known| {
        if let Some(template) = known.get(text) {
            return Ok(template.clone());
        }
        let functions = FUNCTIONS.get_or_init(|| {
            Functions::builtin()
                .with("uuid", "a*", |call, _| call.random_uuid())
                .with("randInt", "a*", random_int)
                .with("randString", "a*", random_string)
        });
        let template = GoTemplate::parse(NAME, text, functions);
        let template = template.map_err(|error| error.to_string())?;
        if known.len() == PARSED_MAX {
            known.clear();
        }
        known.insert(text.into(), template.clone());
        Ok(template)
    })
}

/// The request as Go's templates see it.
struct Request<'a> {
    context: &'a mut RenderContext,
}

impl Env for Request<'_> {
    fn unix_time_ns(&mut self) -> i64 {
        i64::try_from(self.context.call.now).unwrap_or(i64::MAX)
    }

    fn random(&mut self) -> u64 {
        let random: &mut Random = self.context.random();
        random.bits()
    }
}

/// Where the numbers of a value come from.
#[derive(Clone, Copy)]
enum NumberSource {
    /// A program: whole ones are integers.
    Go,
    /// JSON: all are `float64`.
    Json,
}

impl NumberSource {
    /// A number with its Go type.
    fn go(self, value: &Value) -> GoValue {
        let float = f64::try_from(value.clone()).unwrap_or(f64::NAN);
        match (self, whole_number(value)) {
            (Self::Go, Some(number)) => GoValue::int(number),
            (Self::Json, Some(number)) => GoValue::Whole(number),
            (_, None) if !value.is_integer() => GoValue::Float(float),
            (Self::Json, None) => GoValue::Float(float),
            (Self::Go, None) => match u64::try_from(value.clone()) {
                Ok(number) => GoValue::Int(IntKind::Uint64, number.cast_signed()),
                Err(_) => GoValue::Float(float),
            },
        }
    }
}

/// A whole number of 64 bits.
fn whole_number(value: &Value) -> Option<i64> {
    let number = i64::try_from(value.clone()).ok();
    number.filter(|_| value.is_integer())
}

/// A value with its Go type.
fn go_value(value: &Value, numbers: NumberSource, depth: u32) -> Result<GoValue, String> {
    if depth > DEPTH_MAX {
        return Err(format!("values are nested more than {DEPTH_MAX} deep"));
    }
    if let Some(GoJson(value)) = value.downcast_object_ref() {
        return go_value(value, NumberSource::Json, depth + 1);
    }
    if let Some(text) = value.as_str() {
        return Ok(text.into());
    }
    Ok(match value.kind() {
        ValueKind::Undefined | ValueKind::None => GoValue::Nil,
        ValueKind::Bool => value.is_true().into(),
        ValueKind::Number => numbers.go(value),
        ValueKind::Seq | ValueKind::Iterable => {
            let elements = value.try_iter().map_err(|error| error.to_string())?;
            let elements = elements.map(|element| go_value(&element, numbers, depth + 1));
            GoValue::list(elements.collect::<Result<_, _>>()?)
        }
        ValueKind::Map => {
            let mut entries = Vec::new();
            for key in value.try_iter().map_err(|error| error.to_string())? {
                let element = value.get_item(&key).map_err(|error| error.to_string())?;
                entries.push((key.to_string(), go_value(&element, numbers, depth + 1)?));
            }
            GoValue::dictionary(entries)
        }
        _ => value.to_string().into(),
    })
}

/// A whole number, or a text of one.
fn whole(value: &GoValue) -> Result<i64, Fault> {
    let read = match value {
        GoValue::Int(_, number) | GoValue::Whole(number) => Some(*number),
        GoValue::Float(number) => Some(*number as i64),
        GoValue::Str(text) => text.trim().parse().ok(),
        _ => None,
    };
    read.ok_or_else(|| Fault::from(format!("{value:?} is not a whole number")))
}

/// From 0 to 9; with one number from 0 up to it, or from it up to 0; with two from the smaller up
/// to the larger, without that.
fn random_int(call: &mut Call<'_>, args: &[GoValue]) -> Result<GoValue, Fault> {
    let (from, to) = match args {
        [] => (0, INT_END),
        [one] => (0, whole(one)?),
        [from, to] => (whole(from)?, whole(to)?),
        _ => return Err("randInt takes at most two arguments".into()),
    };
    let (from, to) = match (from.min(to), from.max(to)) {
        (0, 0) => (0, INT_END),
        bounds => bounds,
    };
    let drawn = from.wrapping_add_unsigned(call.random_below(to.abs_diff(from)));
    call.text(drawn.to_string())
}

/// One letter, or that many, of an alphabet of one's own perhaps.
fn random_string(call: &mut Call<'_>, args: &[GoValue]) -> Result<GoValue, Fault> {
    let (length, letters) = match args {
        [] => (1, None),
        [length] => (whole(length)?, None),
        [length, letters] => (whole(length)?, Some(letters)),
        _ => return Err("randString takes at most two arguments".into()),
    };
    let length = usize::try_from(length).ok().filter(|n| *n <= LETTERS_MAX);
    let length = length.ok_or_else(|| {
        Fault::from(format!(
            "a random string must have 0 to {LETTERS_MAX} letters"
        ))
    })?;
    let given = letters.and_then(GoValue::as_str);
    let letters = given.filter(|letters| !letters.is_empty());
    let letters: Vec<char> = letters.unwrap_or(LETTERS).chars().collect();
    call.work(length)?;
    let drawn: String = (0..length.max(1))
        .map(|_| letters[call.random_below(letters.len() as u64) as usize])
        .collect();
    call.text(drawn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::json_rows::from_json;
    use drumfire_plan::RequestContext;

    fn rendered(text: &str, json: &str, now: u64) -> Result<String, String> {
        let data: serde_json::Value = serde_json::from_str(json).expect(json);
        let call = RequestContext {
            now,
            ..RequestContext::default()
        };
        let mut context = RenderContext::new(call, 0, 0);
        render(text, &from_json(data), Escape::None, &mut context)
    }

    #[test]
    fn values_may_be_escaped_as_html() {
        let call = RequestContext {
            now: 1,
            ..RequestContext::default()
        };
        let mut context = RenderContext::new(call, 0, 0);
        let data = Value::from("<a b='c'>&\"+");
        let escaped = render("<p>{{.}}</p>", &data, Escape::Html, &mut context);
        let wanted = "<p>&lt;a b=&#39;c&#39;&gt;&amp;&#34;&#43;</p>";
        assert_eq!(escaped.as_deref(), Ok(wanted));
    }

    #[test]
    fn templates_of_gos_see_values() {
        let json = r#"{"name":"Ada","items":[{"id":1},{"id":2.5}],"ok":true,"none":null}"#;
        for (text, wanted) in [
            ("Hello {{.name}}", "Hello Ada"),
            (
                "{{range $i, $v := .items}}{{$i}}={{.id}};{{end}}",
                "0=1;1=2.5;",
            ),
            ("{{index .items 1 | printf \"%v\"}}", "map[id:2.5]"),
            ("{{(index .items 0).id | printf \"%03d\"}}", "001"),
            ("{{if and .ok (eq .name \"Ada\")}}y{{else}}n{{end}}", "y"),
            (
                "{{len .items}} {{.none}} {{.absent}}",
                "2 <no value> <no value>",
            ),
            ("{{with .items}}{{len .}}{{end}}", "2"),
        ] {
            assert_eq!(rendered(text, json, 1).as_deref(), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn numbers_of_json_are_floats_that_keep_their_digits() {
        let json = r#"{"id":12345678,"e":1e3,"minus":-0,"list":[1,2.50],"text":"8"}"#;
        let plain: serde_json::Value = serde_json::from_str(json).unwrap();
        let value = |name: &str| GoJson::marked(from_json(plain[name].clone()));
        for (name, printed, template, wanted) in [
            (
                "id",
                "12345678",
                "{{.}} {{printf \"%.0f %d\" . .}}",
                "12345678 12345678 12345678",
            ),
            ("e", "1000", "{{.}} {{printf \"%.1f\" .}}", "1000 1000.0"),
            ("minus", "-0", "{{.}}", "-0"),
            (
                "list",
                "[1,2.5]",
                "{{.}}{{range .}}{{gt . 1.5}}{{end}}",
                "[1 2.5]falsetrue",
            ),
            ("text", "8", "{{printf \"%s\" .}}", "8"),
        ] {
            let value = value(name);
            assert_eq!(value.to_string(), printed);
            let call = RequestContext {
                now: 1,
                ..RequestContext::default()
            };
            let mut context = RenderContext::new(call, 0, 0);
            let made = render(template, &value, Escape::None, &mut context);
            assert_eq!(made.as_deref(), Ok(wanted), "{template}");
        }
        let of_program = rendered("{{printf \"%T %x\" .id .id}}", r#"{"id":255}"#, 1);
        assert_eq!(of_program.as_deref(), Ok("int ff"));
    }

    #[test]
    fn random_values_are_texts() {
        for (text, least, most) in [
            ("{{randInt}}", 0, 9),
            ("{{randInt 5}}", 0, 4),
            ("{{randInt -5}}", -5, -1),
            ("{{randInt 30 \"10\"}}", 10, 29),
            ("{{randInt 7 7}}", 7, 7),
        ] {
            let drawn: i64 = rendered(text, "{}", 1).unwrap().parse().unwrap();
            assert!((least..=most).contains(&drawn), "{text}: {drawn}");
        }
        assert_eq!(
            rendered("{{randString 5 \"x\"}}", "{}", 1).as_deref(),
            Ok("xxxxx")
        );
        assert_eq!(rendered("{{len randString}}", "{}", 1).as_deref(), Ok("1"));
        assert_eq!(rendered("{{len uuid}}", "{}", 1).as_deref(), Ok("36"));
        assert!(rendered("{{randInt 1 \"x\"}}", "{}", 1).is_err());
        assert!(rendered("{{randString 10000000}}", "{}", 1).is_err());
    }

    #[test]
    fn what_is_made_up_before_a_run_has_no_kind() {
        assert!(rendered("{{.a.b}}", "{\"a\":1}", 1).is_err());
        assert_eq!(rendered("{{.a.b}}", "{\"a\":1}", 0).as_deref(), Ok("1"));
        let json = rendered("{\"n\": {{.a.b}}}", "{\"a\":1}", 0);
        assert_eq!(json.as_deref(), Ok("{}"));
        assert!(rendered("{{.a", "{}", 0).is_err());
    }
}
