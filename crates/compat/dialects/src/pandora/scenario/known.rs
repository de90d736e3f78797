//! Values as expressions of drumfire's templates.

use drumfire_data::go_float;
use serde_json::Value as Json;

/// Go's text for an absent value.
pub(super) const NO_VALUE: &str = "<no value>";

/// A value: an expression and its form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) is: String,
    pub(super) form: Form,
}

/// The form of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A text.
    Text,
    /// A value for which this expression gives the typed value.
    Value(String, Whole),
    /// A row of a feed with these columns.
    Row(Vec<Column>),
    /// A text for which another expression gives the typed value.
    Typed(String),
    /// The texts of nodes: a JSON array in this variable; a single text is used without the array.
    Nodes(String),
    /// A text whose typed value needs another take of a step.
    Taken(ExtraTake),
    /// A JSON array of any length that a step has taken.
    Many,
}

/// Go's type of a whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whole {
    /// `float64`, as Go decodes JSON.
    Float64,
    /// `int`, as Go decodes the scenario file.
    Int,
}

impl Whole {
    /// An expression of drumfire's templates for the filter `go`.
    fn typed(self, bare: &str) -> String {
        match self {
            Self::Float64 => format!("({bare} | gojson)"),
            Self::Int => bare.to_owned(),
        }
    }
}

/// A column of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) cells: Cells,
}

/// The values in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cells {
    /// Texts.
    Texts,
    /// Empty texts, because the table has fewer columns.
    Empty,
    /// Texts that are inaccessible, because a later column has the same name.
    Hidden,
    /// Texts and whole numbers.
    Plain(Whole),
    /// Values with a special format in Go.
    Any(Whole),
}

impl Cells {
    /// The form of these values.
    pub(super) fn from_values<'a>(
        mut values: impl Iterator<Item = &'a Json> + Clone,
        whole: Whole,
    ) -> Self {
        let is_plain = |value: &Json| match whole {
            Whole::Float64 => value.is_string() || value.is_i64(),
            Whole::Int => value.is_string() || value.is_i64() || value.is_u64(),
        };
        match (values.clone().all(Json::is_string), values.all(is_plain)) {
            (true, _) => Self::Texts,
            (false, true) => Self::Plain(whole),
            (false, false) => Self::Any(whole),
        }
    }

    /// One of the values, given by an expression.
    pub(super) fn known(self, is: String) -> Known {
        match self {
            Self::Texts | Self::Hidden => Known::text(is),
            Self::Empty => Known::text(quoted("")),
            Self::Any(whole) => Known::value(is, whole),
            Self::Plain(whole) => Known {
                form: Form::Value(is.clone(), whole),
                is,
            },
        }
    }
}

/// An additional take of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ExtraTake {
    pub(super) step: usize,
    /// The variable, and the extractor.
    pub(super) variable: String,
    pub(super) how: String,
    /// The typed value, as an expression.
    pub(super) typed: String,
}

impl Known {
    pub(super) const fn text(is: String) -> Self {
        let form = Form::Text;
        Self { is, form }
    }

    /// A typed value given by an expression, printed as Go prints it.
    pub(super) fn value(bare: String, whole: Whole) -> Self {
        Self {
            is: format!("({bare} | gojson)"),
            form: Form::Value(bare, whole),
        }
    }

    /// A value that never changes.
    pub(super) fn constant(value: &Json, whole: Whole) -> Self {
        let text = match value {
            Json::String(text) => return Self::text(quoted(text)),
            Json::Number(number) => {
                // For Go, an integer of more than 64 signed bits is a `uint64`.
                let is_float = number.is_f64() || whole == Whole::Float64 && !number.is_i64();
                let float = number.as_f64().filter(|_| is_float);
                float.map_or_else(|| number.to_string(), go_float)
            }
            other => other.to_string(),
        };
        Self {
            is: quoted(&text),
            form: Form::Value(literal(value), whole),
        }
    }

    /// Stores the value in a variable, which keeps its type, and returns the template that sets the
    /// variable. A value that is not computed again at each use is left unchanged.
    pub(super) fn kept(self, variable: &str) -> (Self, Option<String>) {
        let is_computed = |is: &str| is.contains(['(', '|']);
        match self.form {
            Form::Value(bare, whole) if is_computed(&bare) => {
                let kept = Self::value(format!("({variable} | fromjson)"), whole);
                (kept, Some(format!("{{{{ {bare} | tojson }}}}")))
            }
            Form::Value(..) => (self, None),
            form if is_computed(&self.is) => {
                let is = variable.to_owned();
                (Self { is, form }, Some(format!("{{{{ {} }}}}", self.is)))
            }
            form => (Self { form, ..self }, None),
        }
    }

    /// The typed value, as an expression for the filter `go`.
    pub(super) fn typed(&self) -> String {
        let is = &self.is;
        match &self.form {
            Form::Text => is.clone(),
            Form::Value(bare, whole) => whole.typed(bare),
            Form::Row(columns) => {
                let cell = |column: &Column| {
                    let cell = column.cells.known(cell(is, &column.name)).typed();
                    format!("{}: {cell}", quoted(&column.name))
                };
                let columns = columns.iter();
                let columns = columns.filter(|column| column.cells != Cells::Hidden);
                let cells: Vec<String> = columns.map(cell).collect();
                format!("{{{}}}", cells.join(", "))
            }
            Form::Typed(typed) => typed.clone(),
            Form::Taken(taken) => Whole::Float64.typed(&taken.typed),
            Form::Nodes(list) => single_or(list, &format!("({list} | fromjson)")),
            Form::Many => Whole::Float64.typed(&format!("{is} | fromjson")),
        }
    }

    /// The value of a header field; the variable is an empty text if the field is absent.
    pub(super) fn optional(variable: &str, piped: &str) -> Self {
        let none = quoted(NO_VALUE);
        Self {
            is: format!("({piped} if {variable} else {none})"),
            form: Form::Typed(format!("({piped} if {variable} else none)")),
        }
    }

    /// The texts of nodes; the variable contains a JSON array.
    pub(super) fn nodes(variable: &str) -> Self {
        Self {
            is: single_or(
                variable,
                &format!("(\"{{{{.}}}}\" | go({variable} | fromjson))"),
            ),
            form: Form::Nodes(variable.to_owned()),
        }
    }

    /// The value, with a failure if it is absent.
    pub(super) fn needed(self) -> Self {
        let absent = format!(" else {})", quoted(NO_VALUE));
        match self.is.strip_suffix(&absent) {
            Some(there) => Self::text(format!("{there} else (\"[]\" | item(0)))")),
            None => self,
        }
    }

    /// The JSON array of a list of nodes; any other value is unchanged.
    pub(super) fn into_list(self) -> Self {
        match self.form {
            Form::Nodes(list) => Self::text(list),
            _ => self,
        }
    }

    /// Whether the value is a list or a row, which Go prints in a special format.
    pub(super) const fn is_printed_by_go(&self) -> bool {
        matches!(self.form, Form::Many | Form::Row(_))
    }

    /// The member of this name.
    ///
    /// # Errors
    /// If a row has no such column.
    pub(super) fn member(self, name: &str) -> Result<Self, String> {
        let Form::Row(columns) = &self.form else {
            return Ok(self.part(&quoted(name)));
        };
        let column = columns.iter().find(|column| column.name == name);
        let column = column.ok_or_else(|| {
            let names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
            format!(
                "`{name}` is not a field; the fields are {}",
                names.join(", ")
            )
        })?;
        Ok(column.cells.known(cell(&self.is, name)))
    }

    /// The element at an index given by an expression.
    pub(super) fn element(self, place: &str) -> Self {
        self.part(place)
    }

    /// The element or the member at a place given by an expression.
    fn part(self, place: &str) -> Self {
        let (whole, whole_numbers) = match self.form {
            Form::Value(bare, whole) => (bare, whole),
            _ => (self.is, Whole::Float64),
        };
        Self::value(format!("({whole} | fromjson({place}))"), whole_numbers)
    }
}

/// The only text of a JSON array; otherwise, `array`.
pub(super) fn single_or(variable: &str, array: &str) -> String {
    let list = format!("({variable} | fromjson)");
    format!("({list}[0] if {list} is sequence and ({list} | length) == 1 else {array})")
}

/// A text as a literal of templates.
pub(super) fn quoted(text: &str) -> String {
    Json::String(text.to_owned()).to_string()
}

/// A value as a literal of templates.
pub(super) fn literal(value: &Json) -> String {
    let joined = |parts: Vec<String>| parts.join(", ");
    match value {
        Json::Null => "none".to_owned(),
        Json::Array(values) => format!("[{}]", joined(values.iter().map(literal).collect())),
        Json::Object(members) => {
            let members = members.iter();
            let members = members.map(|(name, value)| {
                let value = literal(value);
                format!("{}: {value}", quoted(name))
            });
            format!("{{{}}}", joined(members.collect()))
        }
        // In an expression, a sign would be parsed as an operator.
        Json::Number(number) if number.is_f64() => {
            format!("({} | fromjson)", quoted(&number.to_string()))
        }
        Json::Number(number) => format!("({number})"),
        other => other.to_string(),
    }
}

/// The value of a column of a row.
fn cell(row: &str, name: &str) -> String {
    match is_identifier(name) {
        true => format!("{row}.{name}"),
        false => format!("{row}[{}]", quoted(name)),
    }
}

fn is_identifier(name: &str) -> bool {
    let mut letters = name.chars();
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    letters.next().is_some_and(is_first) && letters.all(|c| is_first(c) || c.is_ascii_digit())
}

/// A valid identifier for templates.
pub(super) fn identifier(text: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    text.chars().map(letter).collect()
}
