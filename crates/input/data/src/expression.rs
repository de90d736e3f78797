//! The expressions that most templates are made of, without an interpreter.

use crate::integer::push_integer;
use crate::render_context::RenderContext;
use crate::{Sources, rfc3339, typed};
use drumfire_plan::{DataError, ValueForm, VariableId};
use minijinja::Value;

/// A random string is at most this long.
pub(crate) const LETTERS_MAX: u64 = 1 << 20;

/// An expression that needs no interpreter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Simple {
    RequestNumber,
    MessageNumber,
    User,
    Iteration,
    Connection,
    Time,
    Unix,
    UnixMillis,
    UnixNanos,
    Uuid,
    NewUuid,
    RandomInt(i64, i64),
    RandomString(u64),
    /// A feed and a column of it.
    Cell(usize, usize),
    /// A variable of the user.
    Kept(VariableId),
}

impl Simple {
    /// The variables by name.
    const VARIABLES: [(&str, Self); 10] = [
        ("request_number", Self::RequestNumber),
        ("message_number", Self::MessageNumber),
        ("user", Self::User),
        ("iteration", Self::Iteration),
        ("connection", Self::Connection),
        ("time", Self::Time),
        ("unix", Self::Unix),
        ("unix_ms", Self::UnixMillis),
        ("unix_ns", Self::UnixNanos),
        ("uuid", Self::Uuid),
    ];

    /// The variable of this name.
    pub(crate) fn variable(name: &str) -> Option<Self> {
        let mut all = Self::VARIABLES.iter();
        all.find(|(known, _)| *known == name)
            .map(|(_, simple)| simple.clone())
    }

    /// The expression, if it is of such a form.
    pub(crate) fn parse(text: &str, sources: &Sources) -> Option<Self> {
        if let Some(variable) = Self::variable(text).filter(|_| !sources.lacks(text)) {
            return Some(variable);
        }
        if let Some(variable) = sources.variable(text) {
            return Some(Self::Kept(variable));
        }
        if let Some((feed, column)) = sources.column(text) {
            let is_plain = sources.feed(feed)?.is_plain(column);
            return is_plain.then_some(Self::Cell(feed, column));
        }
        let (function, rest) = text.split_once('(')?;
        let arguments: Vec<&str> = rest.strip_suffix(')')?.split(',').map(str::trim).collect();
        match (function.trim_end(), arguments.as_slice()) {
            ("new_uuid", [""]) => Some(Self::NewUuid),
            ("random_int", [min, max]) => Some(Self::RandomInt(integer(min)?, integer(max)?)),
            ("random_string", [length]) => {
                let length = u64::try_from(integer(length)?).ok()?;
                (length <= LETTERS_MAX).then_some(Self::RandomString(length))
            }
            _ => None,
        }
    }

    /// The feed of a cell.
    pub(crate) const fn feed(&self) -> Option<usize> {
        match self {
            Self::Cell(feed, _) => Some(*feed),
            _ => None,
        }
    }

    /// The variable of the user, if it is one.
    pub(crate) const fn kept(&self) -> Option<VariableId> {
        match self {
            Self::Kept(variable) => Some(*variable),
            _ => None,
        }
    }

    /// Appends the value.
    pub(crate) fn render(
        &self,
        context: &mut RenderContext,
        sources: &Sources,
        out: &mut String,
    ) -> Result<(), DataError> {
        let call = &context.call;
        match *self {
            Self::RequestNumber => push_integer(call.number, out),
            Self::MessageNumber => push_integer(context.message, out),
            Self::User => push_integer(call.user.into(), out),
            Self::Iteration => push_integer(call.iteration, out),
            Self::Connection => push_integer(call.connection.into(), out),
            Self::Time => rfc3339(call.now, out),
            Self::Unix => push_integer(call.now / 1_000_000_000, out),
            Self::UnixMillis => push_integer(call.now / 1_000_000, out),
            Self::UnixNanos => push_integer(call.now, out),
            Self::Uuid => context.own().uuid(out),
            Self::NewUuid => context.random().uuid(out),
            Self::RandomInt(min, max) => {
                let drawn = context.random().int(min, max);
                if drawn < 0 {
                    out.push('-');
                }
                push_integer(drawn.unsigned_abs(), out);
            }
            // The length was checked to be at most LETTERS_MAX.
            Self::RandomString(length) => context.random().letters(length as usize, out),
            Self::Cell(feed, column) => sources.push(feed, column, call, out)?,
            Self::Kept(variable) => out.push_str(context.kept(variable)?),
        }
        Ok(())
    }

    /// The type of the value.
    ///
    /// # Errors
    /// If the row of a feed cannot be read.
    pub(crate) fn form(
        &self,
        context: &RenderContext,
        sources: &Sources,
    ) -> Result<ValueForm, DataError> {
        Ok(match *self {
            Self::RequestNumber
            | Self::MessageNumber
            | Self::User
            | Self::Iteration
            | Self::Connection
            | Self::Unix
            | Self::UnixMillis
            | Self::UnixNanos
            | Self::RandomInt(..) => ValueForm::Json,
            Self::Time | Self::Uuid | Self::NewUuid | Self::RandomString(_) => ValueForm::Text,
            Self::Cell(feed, column) => typed::form(&sources.value(feed, column, &context.call)?),
            Self::Kept(variable) => context.form(variable),
        })
    }

    /// The value for the interpreter.
    pub(crate) fn value(&self, context: &mut RenderContext) -> Value {
        let call = &context.call;
        match self {
            Self::RequestNumber => Value::from(call.number),
            Self::MessageNumber => Value::from(context.message),
            Self::User => Value::from(call.user),
            Self::Iteration => Value::from(call.iteration),
            Self::Connection => Value::from(call.connection),
            Self::Unix => Value::from(call.now / 1_000_000_000),
            Self::UnixMillis => Value::from(call.now / 1_000_000),
            Self::UnixNanos => Value::from(call.now),
            _ => {
                let mut text = String::new();
                // The remaining ones do not read sources, so that none fails.
                match self.render(context, &Sources::new(), &mut text) {
                    Ok(()) => Value::from(text),
                    Err(_) => Value::UNDEFINED,
                }
            }
        }
    }
}

/// An integer as the interpreter reads it: decimal, with an optional sign.
fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let decimal = digits.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = digits == "0" || !digits.starts_with('0');
    (decimal && canonical).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::Simple;
    use crate::{CsvForm, Feed, Order, Sources};

    #[test]
    fn simple_forms_are_known_and_others_left_to_the_interpreter() {
        let mut sources = Sources::new();
        let feed = Feed::from_csv(b"name,age\na,1\n", &CsvForm::default()).unwrap();
        sources.add("users", feed, Order::InTurn).unwrap();
        let feed = Feed::from_lines(b"a\nb\n").unwrap();
        sources.add("skus", feed, Order::InTurn).unwrap();
        for (text, simple) in [
            ("request_number", Some(Simple::RequestNumber)),
            ("uuid", Some(Simple::Uuid)),
            ("new_uuid()", Some(Simple::NewUuid)),
            ("random_int(-1, 6)", Some(Simple::RandomInt(-1, 6))),
            ("random_string(8)", Some(Simple::RandomString(8))),
            ("users.age", Some(Simple::Cell(0, 1))),
            ("users", None),
            ("skus", Some(Simple::Cell(1, 0))),
            ("skus.value", Some(Simple::Cell(1, 0))),
            ("random_string(9999999)", None),
            ("random_int(01, 2)", None),
            ("random_int(1)", None),
            ("random_int(request_number, 2)", None),
            ("users.size", None),
            ("request_number + 1", None),
            ("new_uuid() ~ '('", None),
        ] {
            assert_eq!(Simple::parse(text, &sources), simple, "{text}");
        }
    }
}
