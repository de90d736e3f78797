//! A function of templates, and its parameters.

use crate::call::Call;
use crate::fault::Fault;
use crate::value::Value;
use std::fmt;
use std::sync::Arc;

/// The type of a parameter. Go's templates convert only constants: an `int64` is not an `int`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// `interface {}`: any value.
    Any,
    /// Any value or no value, unconverted: the parameter of built-in functions.
    Reflected,
    /// `bool`
    Bool,
    /// `float64`
    Float,
    /// `int`
    Int,
    /// `int64`
    Int64,
    /// `map[string]interface {}`
    Map,
    /// `string`
    Str,
    /// `time.Time`
    Time,
    /// `time.Duration`
    Duration,
    /// `*semver.Version`
    Version,
}

impl Parameter {
    /// The type's name in error messages.
    pub(crate) const fn type_name(self) -> &'static str {
        match self {
            Self::Any => "interface {}",
            Self::Reflected => "reflect.Value",
            Self::Bool => "bool",
            Self::Float => "float64",
            Self::Int => "int",
            Self::Int64 => "int64",
            Self::Map => "map[string]interface {}",
            Self::Str => "string",
            Self::Time => "time.Time",
            Self::Duration => "time.Duration",
            Self::Version => "*semver.Version",
        }
    }

    const fn of_letter(letter: u8) -> Option<Self> {
        Some(match letter {
            b'a' => Self::Any,
            b'v' => Self::Reflected,
            b'b' => Self::Bool,
            b'f' => Self::Float,
            b'i' => Self::Int,
            b'I' => Self::Int64,
            b'm' => Self::Map,
            b's' => Self::Str,
            b't' => Self::Time,
            b'd' => Self::Duration,
            b'V' => Self::Version,
            _ => return None,
        })
    }
}

/// The number and types of a function's arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The required parameters.
    pub fixed: Vec<Parameter>,
    /// The type of any number of further arguments.
    pub variadic: Option<Parameter>,
}

impl Signature {
    /// A signature from letters: `a` interface, `b` bool, `f` float64, `i` int, `I` int64, `m` map,
    /// `s` string, `t` time, `d` duration, `V` version, `v` any value or none. With a star at the
    /// end, the last parameter is variadic. Other letters are ignored.
    #[must_use]
    pub fn parse(letters: &str) -> Self {
        let starred = letters.ends_with('*');
        let mut fixed: Vec<Parameter> = letters.bytes().filter_map(Parameter::of_letter).collect();
        let variadic = if starred { fixed.pop() } else { None };
        Self { fixed, variadic }
    }

    /// The type of the `n`-th argument.
    pub(crate) fn parameter(&self, n: usize) -> Option<Parameter> {
        self.fixed.get(n).copied().or(self.variadic)
    }
}

/// A function from this crate.
pub(crate) type NativeFunction = fn(&mut Call<'_>, &[Value]) -> Result<Value, Fault>;

/// A function from the caller.
pub(crate) type Custom = dyn Fn(&mut Call<'_>, &[Value]) -> Result<Value, Fault> + Send + Sync;

/// A function's body.
#[derive(Clone)]
pub(crate) enum Body {
    Native(NativeFunction),
    Custom(Arc<Custom>),
    /// Stops at the first false argument; the rest is not evaluated.
    And,
    /// Stops at the first true argument; the rest is not evaluated.
    Or,
    /// Calls its first argument, which is never a function in this crate.
    CallValue,
}

/// A function of templates.
#[derive(Clone)]
pub(crate) struct Function {
    pub(crate) signature: Arc<Signature>,
    pub(crate) body: Body,
}

impl Function {
    /// A function with this body. See [`Signature::parse`] for the letters.
    pub(crate) fn new(signature: &str, body: Body) -> Self {
        Self {
            signature: Arc::new(Signature::parse(signature)),
            body,
        }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function")
            .field("signature", &self.signature)
            .finish_non_exhaustive()
    }
}

/// A row of a function table: name, signature, body.
pub(crate) type Row = (&'static str, &'static str, NativeFunction);
