//! Reads scenarios in HCL into the tree that the equivalent YAML has.

use super::hcl_size::Sizes;
use hcl::eval::{Context, Evaluate as _, FuncArgs, FuncDef, ParamType};
use hcl::structure::BlockLabel;
use hcl::{Block, Body, Structure, Value};
use serde_json::{Map, Value as Json};

/// Blocks that are lists in YAML, by their YAML names. The first label is the element's `name`, the
/// second its `type`.
const LISTS: [(&str, &str, &[&str]); 4] = [
    ("variable_source", "variable_sources", &["name", "type"]),
    ("request", "requests", &["name"]),
    ("call", "calls", &["name"]),
    ("scenario", "scenarios", &["name"]),
];

/// Attributes that are texts, or lists or maps of texts: numbers and booleans are converted to
/// texts.
const TEXTS: [&str; 17] = [
    "body",
    "call",
    "delimiter",
    "fields",
    "file",
    "headers",
    "mapping",
    "metadata",
    "method",
    "name",
    "op",
    "payload",
    "requests",
    "tag",
    "type",
    "uri",
    "variables",
];

/// Attributes that are numbers: a text of digits is converted.
const NUMBERS: [&str; 4] = ["weight", "min_waiting_time", "status_code", "val"];

/// A function of expressions.
type HclFunction = fn(FuncArgs) -> Result<Value, String>;

/// Parses HCL.
///
/// # Errors
/// The message of the parser, or of an expression's evaluation.
pub(super) fn read(text: &str) -> Result<Json, String> {
    let body = hcl::parse(text).map_err(text_of)?;
    let mut sizes = Sizes::default();
    let context = locals(&body, &mut sizes)?;
    let mut root = Map::new();
    for structure in &body {
        match structure {
            Structure::Block(block) if block.identifier() == "locals" => {}
            Structure::Block(block) => {
                let known = LISTS.iter().find(|(name, ..)| *name == block.identifier());
                let Some((_, list, labels)) = known else {
                    return Err(format!("unsupported block type \"{}\"", block.identifier()));
                };
                let element = element(block, labels, &context, &mut sizes)?;
                let list = root.entry(*list).or_insert_with(|| Json::Array(Vec::new()));
                if let Json::Array(list) = list {
                    list.push(element);
                }
            }
            Structure::Attribute(attribute) => {
                return Err(format!("unsupported argument \"{}\"", attribute.key()));
            }
        }
    }
    Ok(Json::Object(root))
}

/// The values that expressions may refer to: the functions, and the values of `locals` blocks. A
/// value can refer to earlier ones.
fn locals(body: &Body, sizes: &mut Sizes) -> Result<Context<'static>, String> {
    let mut known = hcl::Map::new();
    for structure in body {
        let Structure::Block(block) = structure else {
            continue;
        };
        if block.identifier() != "locals" {
            continue;
        }
        let context = context_of(&known);
        let mut more = Vec::new();
        for attribute in block.body().attributes() {
            let value = evaluated(attribute.expr(), &context, sizes)?;
            more.push((attribute.key().to_owned(), value));
        }
        for (name, value) in &more {
            sizes.declare(name, value);
        }
        known.extend(more);
    }
    Ok(context_of(&known))
}

fn context_of(locals: &hcl::Map<String, Value>) -> Context<'static> {
    let mut context = Context::new();
    context.declare_var("local", Value::Object(locals.clone()));
    let functions: [(&'static str, HclFunction); 17] = [
        ("coalesce", coalesce),
        ("coalescelist", coalesce_list),
        ("compact", compact),
        ("concat", concat),
        ("distinct", distinct),
        ("element", element_of),
        ("flatten", flatten),
        ("index", index),
        ("keys", keys),
        ("lookup", lookup),
        ("merge", merge),
        ("reverse", reverse),
        ("slice", slice),
        ("sort", sort),
        ("split", split),
        ("values", values),
        ("zipmap", zipmap),
    ];
    for (name, function) in functions {
        let defined = FuncDef::builder().variadic_param(ParamType::Any);
        context.declare_func(name, defined.build(function));
    }
    context
}

/// The value of an expression, if its size is within the bound.
fn evaluated(
    expression: &hcl::Expression,
    context: &Context<'_>,
    sizes: &mut Sizes,
) -> Result<Value, String> {
    sizes.upper_bound(expression)?;
    let value = expression.evaluate(context).map_err(text_of)?;
    sizes.spend(&value);
    Ok(value)
}

fn text_of(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// A block with its labels as keys.
fn element(
    block: &Block,
    labels: &[&str],
    context: &Context<'_>,
    sizes: &mut Sizes,
) -> Result<Json, String> {
    let mut object = attributes(block, context, sizes)?;
    for (n, label) in labels.iter().enumerate() {
        let given = block.labels().get(n).map(|label| match label {
            BlockLabel::Identifier(name) => name.as_str().to_owned(),
            BlockLabel::String(text) => text.clone(),
        });
        let missing = || format!("a {} block needs a {label}", block.identifier());
        let given = given.ok_or_else(missing)?;
        object.insert((*label).to_owned(), Json::String(given));
    }
    for inner in block.body().blocks() {
        let name = inner.identifier();
        match (name, inner.labels().len()) {
            ("postprocessor" | "preprocessor", 1) => {
                let list = object
                    .entry(format!("{name}s"))
                    .or_insert_with(|| Json::Array(Vec::new()));
                if let Json::Array(list) = list {
                    list.push(element(inner, &["type"], context, sizes)?);
                }
            }
            _ => {
                let inner = element(inner, &[], context, sizes)?;
                object.insert(name.to_owned(), inner);
            }
        }
    }
    Ok(Json::Object(object))
}

fn attributes(
    block: &Block,
    context: &Context<'_>,
    sizes: &mut Sizes,
) -> Result<Map<String, Json>, String> {
    let mut object = Map::new();
    for attribute in block.body().attributes() {
        let value = evaluated(attribute.expr(), context, sizes)?;
        let value = serde_json::to_value(value).map_err(text_of)?;
        let key = attribute.key();
        object.insert(key.to_owned(), fitted(key, value));
    }
    Ok(object)
}

/// A value with the type of its attribute: numbers, booleans and texts are converted to each other.
fn fitted(key: &str, value: Json) -> Json {
    match value {
        Json::String(text) if NUMBERS.contains(&key) => {
            let number = text.parse::<i64>();
            number.map_or(Json::String(text), Json::from)
        }
        Json::String(text) if key == "ignore_first_line" => match text.as_str() {
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            _ => Json::String(text),
        },
        value if TEXTS.contains(&key) => texts_of(value),
        value => value,
    }
}

/// A text, or a list or map of texts.
fn texts_of(value: Json) -> Json {
    match value {
        // All digits, without an exponent.
        Json::Number(number) if number.is_f64() => {
            let float = number.as_f64().unwrap_or_default();
            Json::String(float.to_string())
        }
        Json::Number(_) | Json::Bool(_) => Json::String(value.to_string()),
        Json::Array(values) => values.into_iter().map(texts_of).collect(),
        Json::Object(members) => {
            let members = members.into_iter();
            members
                .map(|(name, value)| (name, texts_of(value)))
                .collect()
        }
        value => value,
    }
}

/// The arguments of a function, one after the other.
struct HclArguments(std::vec::IntoIter<Value>);

impl HclArguments {
    fn new(args: FuncArgs) -> Self {
        Self(args.into_values().into_iter())
    }

    fn next(&mut self) -> Result<Value, String> {
        self.0
            .next()
            .ok_or_else(|| "an argument is missing".to_owned())
    }

    fn list(&mut self) -> Result<Vec<Value>, String> {
        match self.next()? {
            Value::Array(values) => Ok(values),
            other => Err(format!("`{other}` is not a list")),
        }
    }

    fn object(&mut self) -> Result<hcl::Map<String, Value>, String> {
        match self.next()? {
            Value::Object(entries) => Ok(entries),
            other => Err(format!("`{other}` is not a map")),
        }
    }

    fn number(&mut self) -> Result<usize, String> {
        let value = self.next()?;
        let number = value
            .as_u64()
            .and_then(|number| usize::try_from(number).ok());
        number.ok_or_else(|| format!("`{value}` is not a list index"))
    }

    fn text(&mut self) -> Result<String, String> {
        match self.next()? {
            Value::String(text) => Ok(text),
            other => Err(format!("`{other}` is not text")),
        }
    }
}

fn is_given(value: &Value) -> bool {
    !matches!(value, Value::Null) && value.as_str() != Some("")
}

/// The first value that is not null; an empty text counts.
fn coalesce(args: FuncArgs) -> Result<Value, String> {
    let found = HclArguments::new(args)
        .0
        .find(|value| !matches!(value, Value::Null));
    found.ok_or_else(|| "coalesce has no value".to_owned())
}

fn coalesce_list(args: FuncArgs) -> Result<Value, String> {
    let is_filled = |value: &Value| value.as_array().is_some_and(|list| !list.is_empty());
    let found = HclArguments::new(args).0.find(is_filled);
    found.ok_or_else(|| "coalescelist has no list".to_owned())
}

fn compact(args: FuncArgs) -> Result<Value, String> {
    let list = HclArguments::new(args).list()?;
    Ok(Value::Array(list.into_iter().filter(is_given).collect()))
}

fn concat(args: FuncArgs) -> Result<Value, String> {
    let mut all = Vec::new();
    for list in HclArguments::new(args).0 {
        match list {
            Value::Array(values) => all.extend(values),
            other => return Err(format!("`{other}` is not a list")),
        }
    }
    Ok(Value::Array(all))
}

fn distinct(args: FuncArgs) -> Result<Value, String> {
    let mut seen: Vec<Value> = Vec::new();
    for value in HclArguments::new(args).list()? {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    Ok(Value::Array(seen))
}

fn element_of(args: FuncArgs) -> Result<Value, String> {
    let mut given = HclArguments::new(args);
    let (list, place) = (given.list()?, given.number()?);
    let place = place.checked_rem(list.len());
    let found = place.and_then(|place| list.get(place).cloned());
    found.ok_or_else(|| "element of an empty list".to_owned())
}

fn flatten(args: FuncArgs) -> Result<Value, String> {
    fn into(list: Vec<Value>, flat: &mut Vec<Value>) {
        for value in list {
            match value {
                Value::Array(inner) => into(inner, flat),
                value => flat.push(value),
            }
        }
    }
    let mut flat = Vec::new();
    into(HclArguments::new(args).list()?, &mut flat);
    Ok(Value::Array(flat))
}

fn index(args: FuncArgs) -> Result<Value, String> {
    let mut given = HclArguments::new(args);
    match given.next()? {
        Value::Array(list) => {
            let place = given.number()?;
            let found = list.get(place).cloned();
            found.ok_or_else(|| format!("the list has no index {place}"))
        }
        Value::Object(entries) => {
            let key = given.text()?;
            let found = entries.get(&key).cloned();
            found.ok_or_else(|| format!("the map has no key {key}"))
        }
        other => Err(format!("`{other}` is neither a list nor a map")),
    }
}

fn keys(args: FuncArgs) -> Result<Value, String> {
    let mut keys: Vec<String> = HclArguments::new(args)
        .object()?
        .into_iter()
        .map(|(key, _)| key)
        .collect();
    keys.sort_unstable();
    Ok(keys.into_iter().map(Value::String).collect())
}

fn values(args: FuncArgs) -> Result<Value, String> {
    let mut entries: Vec<(String, Value)> = HclArguments::new(args).object()?.into_iter().collect();
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(entries.into_iter().map(|(_, value)| value).collect())
}

fn lookup(args: FuncArgs) -> Result<Value, String> {
    let mut given = HclArguments::new(args);
    let (entries, key) = (given.object()?, given.text()?);
    match entries.get(&key) {
        Some(value) => Ok(value.clone()),
        None => given
            .next()
            .map_err(|_| format!("the map has no key {key}")),
    }
}

fn merge(args: FuncArgs) -> Result<Value, String> {
    let mut all = hcl::Map::new();
    for entries in HclArguments::new(args).0 {
        match entries {
            Value::Object(entries) => all.extend(entries),
            Value::Null => {}
            other => return Err(format!("`{other}` is not a map")),
        }
    }
    Ok(Value::Object(all))
}

fn reverse(args: FuncArgs) -> Result<Value, String> {
    Ok(HclArguments::new(args).list()?.into_iter().rev().collect())
}

fn slice(args: FuncArgs) -> Result<Value, String> {
    let mut given = HclArguments::new(args);
    let (list, from, to) = (given.list()?, given.number()?, given.number()?);
    let found = list.get(from..to);
    let found = found.ok_or_else(|| format!("the list has no elements {from} to {to}"))?;
    Ok(Value::Array(found.to_vec()))
}

fn sort(args: FuncArgs) -> Result<Value, String> {
    let mut list = HclArguments::new(args).list()?;
    list.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    Ok(Value::Array(list))
}

fn split(args: FuncArgs) -> Result<Value, String> {
    let mut given = HclArguments::new(args);
    let (separator, text) = (given.text()?, given.text()?);
    Ok(text
        .split(separator.as_str())
        .map(|part| Value::String(part.to_owned()))
        .collect())
}

fn zipmap(args: FuncArgs) -> Result<Value, String> {
    let mut given = HclArguments::new(args);
    let (keys, values) = (given.list()?, given.list()?);
    let mut entries = hcl::Map::new();
    for (key, value) in keys.into_iter().zip(values) {
        match key {
            Value::String(key) => entries.insert(key, value),
            other => return Err(format!("`{other}` is not text")),
        };
    }
    Ok(Value::Object(entries))
}

#[cfg(test)]
mod tests {
    use super::read;
    use serde_json::json;

    #[test]
    fn blocks_become_what_they_are_in_yaml() {
        let text = r#"
locals { common = { A = "1" }, next = "next" }
locals { all = merge(local.common, { B = "2" }) }
variable_source "users" "file/csv" { file = "users.csv" }
request "one" {
  method = "GET"
  uri = "/a"
  headers = local.all
  preprocessor { mapping = { id = "source.users[${local.next}].id" } }
  postprocessor "var/jsonpath" { mapping = { token = "$.t" } }
  postprocessor "assert/response" {
    body = ["x"]
    size {
      op = ">"
      val = 1
    }
  }
}
scenario "s" {
  weight = 2
  requests = ["one(2)"]
}
"#;
        let text = text.replace(
            "{ common = { A = \"1\" }, next",
            "{\ncommon = { A = \"1\" }\nnext",
        );
        let text = text
            .replace("\"next\" }", "\"next\"\n}")
            .replace("locals { all", "locals {\nall");
        let text = text.replace("\"2\" }) }", "\"2\" })\n}");
        let wanted = json!({
            "variable_sources": [{"name": "users", "type": "file/csv", "file": "users.csv"}],
            "requests": [{
                "name": "one", "method": "GET", "uri": "/a", "headers": {"A": "1", "B": "2"},
                "preprocessor": {"mapping": {"id": "source.users[next].id"}},
                "postprocessors": [
                    {"type": "var/jsonpath", "mapping": {"token": "$.t"}},
                    {"type": "assert/response", "body": ["x"], "size": {"op": ">", "val": 1}},
                ],
            }],
            "scenarios": [{"name": "s", "weight": 2, "requests": ["one(2)"]}],
        });
        assert_eq!(read(&text), Ok(wanted));
    }

    #[test]
    fn values_are_made_to_fit_their_attributes() {
        let text = "request \"r\" {\n uri = 5\n headers = { A = 1, B = true }\n}\n\
            scenario \"s\" {\n weight = \"2\"\n requests = [\"r\"]\n}\n";
        let wanted = json!({
            "requests": [{"name": "r", "uri": "5", "headers": {"A": "1", "B": "true"}}],
            "scenarios": [{"name": "s", "weight": 2, "requests": ["r"]}],
        });
        assert_eq!(read(text), Ok(wanted));
    }

    /// For each kind of expression, one result of gigabytes, and one of normal size.
    #[test]
    fn values_have_a_bound() {
        let doubled = |first: &str, twice: &dyn Fn(usize) -> String, times: usize| {
            let mut text = format!("locals {{\n v0 = {first}\n}}\n");
            for n in 1..=times {
                let value = twice(n - 1);
                text.push_str(&format!("locals {{\n v{n} = {value}\n}}\n"));
            }
            text + &format!("request \"r\" {{\n uri = \"/\"\n x = local.v{times}\n}}\n")
        };
        let texts = |n: usize| format!("\"${{local.v{n}}}${{local.v{n}}}\"");
        let lists = |n: usize| format!("concat(local.v{n}, local.v{n})");
        let nested = |n: usize| format!("[local.v{n}, local.v{n}]");
        let loops = |n: usize| format!("[for a in [1, 2] : local.v{n}]");
        let lines = |n: usize| format!("\"%{{ for a in [1, 2] }}${{local.v{n}}}%{{ endfor }}\"");
        let ten = "\"0123456789\"";
        for (first, twice) in [
            (ten, &texts as &dyn Fn(usize) -> String),
            ("[1]", &lists),
            ("[1]", &nested),
            ("[1]", &loops),
            (ten, &lines),
        ] {
            assert!(read(&doubled(first, twice, 5)).is_ok(), "{}", twice(0));
            let refused = read(&doubled(first, twice, 40));
            let why = refused.map(drop).expect_err("it is too large");
            assert!(why.contains("more than 64 MiB"), "{why}");
        }
        let thousand = vec!["1"; 1_000].join(", ");
        let cube = "[for a in local.v0 : [for b in local.v0 : [for c in local.v0 : a]]]";
        let text = doubled(&format!("[{thousand}]"), &|_| cube.to_owned(), 1);
        assert!(read(&text).is_err());
    }

    #[test]
    fn functions_of_lists_and_maps() {
        for (expression, wanted) in [
            ("coalesce(null, \"a\")", json!("a")),
            ("coalesce(\"\", \"a\")", json!("")),
            ("coalescelist([], [1])", json!([1])),
            ("compact([\"\", \"a\"])", json!(["a"])),
            ("concat([1], [2])", json!([1, 2])),
            ("distinct([1, 2, 1])", json!([1, 2])),
            ("element([1, 2], 3)", json!(2)),
            ("flatten([1, [2, [3]]])", json!([1, 2, 3])),
            ("index([1, 2], 1)", json!(2)),
            ("keys({ b = 1, a = 2 })", json!(["a", "b"])),
            ("lookup({ a = 1 }, \"b\", 2)", json!(2)),
            ("reverse([1, 2])", json!([2, 1])),
            ("slice([1, 2, 3], 1, 3)", json!([2, 3])),
            ("sort([\"b\", \"a\"])", json!(["a", "b"])),
            ("split(\",\", \"a,b\")", json!(["a", "b"])),
            ("values({ b = 1, a = 2 })", json!([2, 1])),
            ("zipmap([\"a\"], [1])", json!({"a": 1})),
        ] {
            let text = format!("request \"r\" {{\n x = {expression}\n}}\n");
            let tree = read(&text).unwrap_or_else(|why| panic!("{expression}: {why}"));
            assert_eq!(tree["requests"][0]["x"], wanted, "{expression}");
        }
        for text in [
            "requst \"a\" {}",
            "a = 1",
            "request {}",
            "request \"r\" {\n x = nothing()\n}",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
