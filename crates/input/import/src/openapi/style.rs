//! Serializes the values of parameters by the styles of OpenAPI 3, which come from RFC 6570.

use crate::exchange::MADE_UUID;
use crate::library::text;
use drumfire_plan::percent;
use serde_json::Value;

/// How a parameter's value is serialized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParameterStyle {
    Matrix,
    Label,
    Simple,
    Form,
    SpaceDelimited,
    PipeDelimited,
    DeepObject,
}

/// Which characters of a value are percent-encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// All characters with a meaning in a URL.
    All,
    /// Only characters that are invalid in a URL (`allowReserved`).
    Reserved,
    /// No characters: for a header field, or a form that is encoded later.
    Nothing,
}

impl ParameterStyle {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "matrix" => Self::Matrix,
            "label" => Self::Label,
            "simple" => Self::Simple,
            // OpenAPI 3.2 uses this name for the pairs of cookies.
            "form" | "cookie" => Self::Form,
            "spaceDelimited" => Self::SpaceDelimited,
            "pipeDelimited" => Self::PipeDelimited,
            "deepObject" => Self::DeepObject,
            _ => return None,
        })
    }

    /// Whether parameters at a place may have this style.
    pub(super) fn fits(self, place: &str) -> bool {
        match place {
            "path" => matches!(self, Self::Matrix | Self::Label | Self::Simple),
            "header" => self == Self::Simple,
            "cookie" => self == Self::Form,
            _ => !matches!(self, Self::Matrix | Self::Label | Self::Simple),
        }
    }
}

impl Encoding {
    /// A text in this encoding; generated values are kept.
    pub(super) fn encoded(self, text: &str) -> String {
        let parts = text.split(MADE_UUID).map(|part| match self {
            Self::All => percent::encoded(part).into_owned(),
            Self::Reserved => percent::escaped(part).into_owned(),
            Self::Nothing => part.to_owned(),
        });
        parts.collect::<Vec<_>>().join(MADE_UUID)
    }
}

/// A serialized value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Written {
    /// The pairs; a single one without a name in a path or a header.
    pub(super) pairs: Vec<(String, String)>,
    /// Whether the value contains lists or objects for which OpenAPI defines no form.
    pub(super) is_nested: bool,
}

impl Written {
    /// `a=1&b=2`, or only a value.
    pub(super) fn joined(&self, separator: &str) -> String {
        let pairs = self.pairs.iter().map(|(name, value)| match name.as_str() {
            "" => value.clone(),
            name => format!("{name}={value}"),
        });
        pairs.collect::<Vec<_>>().join(separator)
    }
}

/// The encoded texts of a value.
enum Parts {
    Single(String),
    List(Vec<String>),
    Members(Vec<(String, String)>),
}

impl Parts {
    fn from_value(value: &Value, encoding: Encoding) -> Self {
        let item = |value: &Value| encoding.encoded(&single(value));
        match value {
            Value::Array(items) => Self::List(items.iter().map(item).collect()),
            Value::Object(members) => {
                let members = members.iter().filter(|(_, value)| !value.is_null());
                let members = members.map(|(key, value)| (encoding.encoded(key), item(value)));
                Self::Members(members.collect())
            }
            value => Self::Single(item(value)),
        }
    }

    /// All texts joined; the members of an object become pairs with `explode`.
    fn joined(&self, separator: &str, explodes: bool) -> String {
        let sign = if explodes { "=" } else { separator };
        match self {
            Self::Single(text) => text.clone(),
            Self::List(items) => items.join(separator),
            Self::Members(members) => {
                let members = members
                    .iter()
                    .map(|(key, value)| format!("{key}{sign}{value}"));
                members.collect::<Vec<_>>().join(separator)
            }
        }
    }

    /// `;a=1`, with a pair for each item or member with `explode`.
    fn matrix(&self, name: &str, explodes: bool) -> String {
        match self {
            Self::List(items) if explodes => {
                items.iter().map(|item| format!(";{name}={item}")).collect()
            }
            Self::Members(_) if explodes => format!(";{}", self.joined(";", true)),
            Self::Single(text) if text.is_empty() => format!(";{name}"),
            _ => format!(";{name}={}", self.joined(",", false)),
        }
    }
}

/// A value within a list or an object as text. OpenAPI defines no form for nested lists and
/// objects.
fn single(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        value => text(value).unwrap_or_else(|| value.to_string()),
    }
}

/// Serializes the value of a parameter.
pub(super) fn written(
    name: &str,
    value: &Value,
    style: ParameterStyle,
    explodes: bool,
    encoding: Encoding,
) -> Written {
    let is_tree = |value: &Value| value.is_array() || value.is_object();
    let is_nested = match value {
        Value::Array(items) => items.iter().any(is_tree),
        Value::Object(members) => members.values().any(is_tree),
        _ => false,
    };
    let own_name = encoding.encoded(name);
    let parts = Parts::from_value(value, encoding);
    let alone = |text: String| vec![(String::new(), text)];
    let pairs = match (style, parts) {
        (ParameterStyle::Simple, parts) => alone(parts.joined(",", explodes)),
        (ParameterStyle::Label, parts) => {
            let separator = if explodes { "." } else { "," };
            alone(format!(".{}", parts.joined(separator, explodes)))
        }
        (ParameterStyle::Matrix, parts) => alone(parts.matrix(&own_name, explodes)),
        (ParameterStyle::DeepObject, Parts::Members(_)) => {
            let mut pairs = Vec::new();
            deep(name, value, encoding, &mut pairs, 0);
            pairs
        }
        (_, Parts::Members(members)) if explodes => members,
        (_, Parts::List(items)) if explodes => {
            let items = items.into_iter().map(|item| (own_name.clone(), item));
            items.collect()
        }
        (ParameterStyle::SpaceDelimited, parts) => {
            vec![(own_name, parts.joined(&encoding.encoded(" "), false))]
        }
        (ParameterStyle::PipeDelimited, parts) => {
            vec![(own_name, parts.joined(&encoding.encoded("|"), false))]
        }
        (ParameterStyle::Form | ParameterStyle::DeepObject, parts) => {
            vec![(own_name, parts.joined(",", false))]
        }
    };
    Written { pairs, is_nested }
}

/// The pairs of an object, with its keys in brackets. Deeper objects have the form that most
/// servers accept.
fn deep(
    name: &str,
    value: &Value,
    encoding: Encoding,
    pairs: &mut Vec<(String, String)>,
    depth: usize,
) {
    match value {
        Value::Object(members) if depth < 32 => {
            for (key, value) in members {
                deep(&format!("{name}[{key}]"), value, encoding, pairs, depth + 1);
            }
        }
        Value::Array(items) if depth < 32 => {
            for (at, value) in items.iter().enumerate() {
                deep(&format!("{name}[{at}]"), value, encoding, pairs, depth + 1);
            }
        }
        Value::Null => {}
        value => {
            pairs.push((encoding.encoded(name), encoding.encoded(&single(value))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Encoding, ParameterStyle, written};
    use serde_json::json;

    /// The table of OpenAPI 3.1, "Style Examples", with RFC 6570 where both differ.
    const TABLE: [(ParameterStyle, bool, [&str; 4]); 11] = [
        (
            ParameterStyle::Matrix,
            false,
            [
                ";color",
                ";color=blue",
                ";color=blue,black,brown",
                ";color=B,150,G,200,R,100",
            ],
        ),
        (
            ParameterStyle::Matrix,
            true,
            [
                ";color",
                ";color=blue",
                ";color=blue;color=black;color=brown",
                ";B=150;G=200;R=100",
            ],
        ),
        (
            ParameterStyle::Label,
            false,
            [".", ".blue", ".blue,black,brown", ".B,150,G,200,R,100"],
        ),
        (
            ParameterStyle::Label,
            true,
            [".", ".blue", ".blue.black.brown", ".B=150.G=200.R=100"],
        ),
        (
            ParameterStyle::Form,
            false,
            [
                "color=",
                "color=blue",
                "color=blue,black,brown",
                "color=B,150,G,200,R,100",
            ],
        ),
        (
            ParameterStyle::Form,
            true,
            [
                "color=",
                "color=blue",
                "color=blue&color=black&color=brown",
                "B=150&G=200&R=100",
            ],
        ),
        (
            ParameterStyle::Simple,
            false,
            ["", "blue", "blue,black,brown", "B,150,G,200,R,100"],
        ),
        (
            ParameterStyle::Simple,
            true,
            ["", "blue", "blue,black,brown", "B=150,G=200,R=100"],
        ),
        (
            ParameterStyle::SpaceDelimited,
            false,
            [
                "color=",
                "color=blue",
                "color=blue%20black%20brown",
                "color=B%20150%20G%20200%20R%20100",
            ],
        ),
        (
            ParameterStyle::PipeDelimited,
            false,
            [
                "color=",
                "color=blue",
                "color=blue%7Cblack%7Cbrown",
                "color=B%7C150%7CG%7C200%7CR%7C100",
            ],
        ),
        (
            ParameterStyle::DeepObject,
            true,
            [
                "color=",
                "color=blue",
                "color=blue&color=black&color=brown",
                "color%5BB%5D=150&color%5BG%5D=200&color%5BR%5D=100",
            ],
        ),
    ];

    #[test]
    fn styles_are_written_as_the_specification_has_them() {
        let values = [
            json!(""),
            json!("blue"),
            json!(["blue", "black", "brown"]),
            json!({"B": 150, "G": 200, "R": 100}),
        ];
        for (style, explodes, wanted) in TABLE {
            for (value, wanted) in values.iter().zip(wanted) {
                let text = written("color", value, style, explodes, Encoding::All).joined("&");
                assert_eq!(text, wanted, "{style:?} {explodes} {value}");
            }
        }
    }

    #[test]
    fn values_are_encoded_and_nested_ones_are_marked() {
        for (value, encoding, text, is_nested) in [
            (json!("a/b?&c"), Encoding::All, "n=a%2Fb%3F%26c", false),
            (
                json!("a/b?&c é"),
                Encoding::Reserved,
                "n=a/b?&c%20%C3%A9",
                false,
            ),
            (json!(["a,b", "c"]), Encoding::All, "n=a%2Cb,c", false),
            (json!([[1]]), Encoding::Nothing, "n=[1]", true),
            (
                json!({"a": {"b": 1}}),
                Encoding::Nothing,
                "n=a,{\"b\":1}",
                true,
            ),
        ] {
            let made = written("n", &value, ParameterStyle::Form, false, encoding);
            assert_eq!(
                (made.joined("&").as_str(), made.is_nested),
                (text, is_nested)
            );
        }
        let value = json!({"a": {"b": 1}, "c": [2, 3]});
        let made = written(
            "n",
            &value,
            ParameterStyle::DeepObject,
            true,
            Encoding::Nothing,
        );
        assert_eq!(made.joined("&"), "n[a][b]=1&n[c][0]=2&n[c][1]=3");
        assert!(made.is_nested);
    }
}
