//! Go's `text/template` as a filter of templates: `"Hello {{.name}}" | go({"name": name})`.
//!
//! Beside Go's own functions there are `uuid`, `randInt` and `randString`, as Pandora's scenarios
//! have them: their values are texts.

use crate::Random;
use crate::render_context::RenderContext;
use drumfire_gotemplate::{Call, Env, Escape, Fault, Functions, Template, Value as GoValue};
use minijinja::Value;
use minijinja::value::ValueKind;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::OnceLock;

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
    static PARSED: RefCell<HashMap<Box<str>, Template>> = RefCell::default();
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
    let data = go_value(data, 0)?;
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
fn parsed(text: &str) -> Result<Template, String> {
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
        let template = Template::parse(NAME, text, functions);
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

/// A value with the Go type that JSON of its kind has there.
fn go_value(value: &Value, depth: u32) -> Result<GoValue, String> {
    if depth > DEPTH_MAX {
        return Err(format!("values are nested more than {DEPTH_MAX} deep"));
    }
    if let Some(text) = value.as_str() {
        return Ok(text.into());
    }
    Ok(match value.kind() {
        ValueKind::Undefined | ValueKind::None => GoValue::Nil,
        ValueKind::Bool => value.is_true().into(),
        ValueKind::Number => match i64::try_from(value.clone()) {
            Ok(whole) if value.is_integer() => GoValue::int(whole),
            _ => GoValue::Float(f64::try_from(value.clone()).unwrap_or(f64::NAN)),
        },
        ValueKind::Seq | ValueKind::Iterable => {
            let elements = value.try_iter().map_err(|error| error.to_string())?;
            let elements = elements.map(|element| go_value(&element, depth + 1));
            GoValue::list(elements.collect::<Result<_, _>>()?)
        }
        ValueKind::Map => {
            let mut entries = Vec::new();
            for key in value.try_iter().map_err(|error| error.to_string())? {
                let element = value.get_item(&key).map_err(|error| error.to_string())?;
                entries.push((key.to_string(), go_value(&element, depth + 1)?));
            }
            GoValue::dictionary(entries)
        }
        _ => value.to_string().into(),
    })
}

/// A whole number, or a text of one.
fn whole(value: &GoValue) -> Result<i64, Fault> {
    let read = match value {
        GoValue::Int(_, number) => Some(*number),
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
