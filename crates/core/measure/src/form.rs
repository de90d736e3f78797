//! Stored and sent values as bytes: one table for each type makes the encoder, the decoder and the
//! bounds.
//!
//! [`Form`] is a value's place in the bytes. The macro [`form!`](crate::form!) implements it from a
//! table of fields, or of variants with their numbers, so that the two directions cannot differ:
//!
//! ```
//! use drumfire_measure::form;
//!
//! #[derive(Debug, PartialEq)]
//! struct Span { from: u64, to: u64, name: String }
//!
//! form! {
//!     struct Span { from, to, name as form::Text<16> }
//!     check |span| span.from <= span.to, "a span that ends before it starts";
//! }
//!
//! let span = Span { from: 1, to: 300, name: "ramp".to_owned() };
//! let bytes = form::encode(&span);
//! assert_eq!(form::decode(&bytes), Ok(span));
//! assert!(form::decode::<Span>(&bytes[1..]).is_err());
//! ```
//!
//! - The order of a table is the order of the bytes. The table must list all fields of the type:
//!   the compiler refuses a missing one.
//! - `name as T` writes a field in the form `T` instead of the default form: with a shorter bound,
//!   or for a type of another crate (`struct Shares for SharesForm { .. }`).
//! - `check` is a condition that every decoded value meets. A decoder refuses what an encoder could
//!   not have written.
//! - A variant's number is never given to another variant. Kinds that grow, such as outcomes, are
//!   stored by their stable names.
//!
//! Histograms, series of steps and samples are written by hand over the same primitives
//! ([`Input`], [`put`]), because they omit what follows from other bytes and reuse memory.
//!
//! Bytes may come from a damaged file or a hostile machine. No bytes make a decoder panic, and its
//! memory is bounded by a multiple of their length: a count of items is at most the number of bytes
//! that are left, and a value is nested at most [`NESTING_MAX`] deep. Each value has exactly one
//! encoding, so that bytes that decode also encode to themselves.
//!
//! [`encode`] and [`decode`] add the [`VERSION`], for values that travel alone.

mod input;
mod plan;
mod values;

pub(crate) use input::put_wide;
pub use input::{FormError, Input, NESTING_MAX, push_number, put_text};
pub use values::{ByName, Named, Text};

/// The version of all forms: of stored runs, of the control socket and of the protocol between
/// machines.
pub const VERSION: u64 = 1;

/// The form of a `T` as bytes. Most types are their own form; another type can be the form of a
/// type that has several, or that belongs to another crate.
pub trait Form<T = Self>: Sized {
    /// Appends a value.
    fn write(value: &T, out: &mut Vec<u8>);

    /// Reads what [`Self::write`] appended.
    ///
    /// # Errors
    /// If the bytes end early, or no encoder writes them.
    fn read(input: &mut Input<'_>) -> Result<T, FormError>;

    /// Reads into a value whose memory is reused. After an error, the value is arbitrary.
    ///
    /// # Errors
    /// As [`Self::read`].
    fn read_into(value: &mut T, input: &mut Input<'_>) -> Result<(), FormError> {
        *value = Self::read(input)?;
        Ok(())
    }
}

/// Appends a value that is its own form.
pub fn write<T: Form>(value: &T, out: &mut Vec<u8>) {
    T::write(value, out);
}

/// Reads a value that is its own form.
///
/// # Errors
/// As [`Form::read`].
pub fn read<T: Form>(input: &mut Input<'_>) -> Result<T, FormError> {
    T::read(input)
}

/// Reads a value that is its own form into the memory of another.
///
/// # Errors
/// As [`Form::read_into`].
pub fn read_into<T: Form>(value: &mut T, input: &mut Input<'_>) -> Result<(), FormError> {
    T::read_into(value, input)
}

/// The bytes of a value that travels alone: the version, then the value.
#[must_use]
pub fn encode<T: Form>(value: &T) -> Vec<u8> {
    let mut out = Vec::new();
    push_number(&mut out, VERSION);
    T::write(value, &mut out);
    out
}

/// The value that [`encode`] wrote.
///
/// # Errors
/// If the bytes are not exactly one value, or have another version.
pub fn decode<T: Form>(bytes: &[u8]) -> Result<T, FormError> {
    let mut input = Input::new(bytes);
    input.version(VERSION)?;
    let value = T::read(&mut input)?;
    input.finish()?;
    Ok(value)
}

/// Refuses a value that does not meet a condition of its table.
///
/// # Errors
/// If the condition is false, with its text.
pub fn check<T>(
    value: &T,
    condition: impl FnOnce(&T) -> bool,
    otherwise: &'static str,
) -> Result<(), FormError> {
    match condition(value) {
        true => Ok(()),
        false => Err(FormError::Malformed(otherwise)),
    }
}

/// Implements [`Form`](crate::form::Form) for a type from a table; see [the module](crate::form).
#[macro_export]
macro_rules! form {
    (@target $name:ident) => { $name };
    (@target $name:ident $form:ident) => { $form };
    (@write $value:ident, $out:ident) => { $crate::form::write($value, $out) };
    (@write $value:ident, $out:ident, $with:ty) => {
        <$with as $crate::form::Form<_>>::write($value, $out)
    };
    (@read $value:ident, $input:ident) => { $crate::form::read($input)? };
    (@read $value:ident, $input:ident, $with:ty) => {
        <$with as $crate::form::Form<_>>::read($input)?
    };
    (@read_into $value:ident, $input:ident) => { $crate::form::read_into($value, $input)? };
    (@read_into $value:ident, $input:ident, $with:ty) => {
        <$with as $crate::form::Form<_>>::read_into($value, $input)?
    };
    (
        struct $name:ident $(for $form:ident)? { $($field:ident $(as $with:ty)?),* $(,)? }
        $(check $condition:expr, $otherwise:expr;)*
    ) => {
        impl $crate::form::Form<$name> for $crate::form!(@target $name $($form)?) {
            fn write(value: &$name, out: &mut Vec<u8>) {
                let $name { $($field),* } = value;
                $($crate::form!(@write $field, out $(, $with)?);)*
            }

            fn read(
                input: &mut $crate::form::Input<'_>,
            ) -> Result<$name, $crate::form::FormError> {
                let value = $name {
                    $($field: $crate::form!(@read $field, input $(, $with)?)),*
                };
                $($crate::form::check::<$name>(&value, $condition, $otherwise)?;)*
                Ok(value)
            }

            fn read_into(
                value: &mut $name,
                input: &mut $crate::form::Input<'_>,
            ) -> Result<(), $crate::form::FormError> {
                let $name { $($field),* } = value;
                $($crate::form!(@read_into $field, input $(, $with)?);)*
                $($crate::form::check::<$name>(value, $condition, $otherwise)?;)*
                Ok(())
            }
        }
    };
    (struct $name:ident($field:ident $(as $with:ty)?)) => {
        impl $crate::form::Form for $name {
            fn write(value: &Self, out: &mut Vec<u8>) {
                let $name($field) = value;
                $crate::form!(@write $field, out $(, $with)?);
            }

            fn read(input: &mut $crate::form::Input<'_>) -> Result<Self, $crate::form::FormError> {
                Ok($name($crate::form!(@read $field, input $(, $with)?)))
            }
        }
    };
    (
        enum $name:ident {
            $($number:literal => $variant:ident
                $(($($item:ident $(as $item_with:ty)?),*))?
                $({ $($field:ident $(as $field_with:ty)?),* })?
            ),* $(,)?
        }
        $(check $condition:expr, $otherwise:expr;)*
    ) => {
        impl $crate::form::Form for $name {
            fn write(value: &Self, out: &mut Vec<u8>) {
                match value {
                    $($name::$variant $(($($item),*))? $({ $($field),* })? => {
                        $crate::form::push_number(out, $number);
                        $($($crate::form!(@write $item, out $(, $item_with)?);)*)?
                        $($($crate::form!(@write $field, out $(, $field_with)?);)*)?
                    })*
                }
            }

            fn read(input: &mut $crate::form::Input<'_>) -> Result<Self, $crate::form::FormError> {
                let value = match input.number()? {
                    $($number => $name::$variant
                        $(($($crate::form!(@read $item, input $(, $item_with)?)),*))?
                        $({ $($field: $crate::form!(@read $field, input $(, $field_with)?)),* })?,
                    )*
                    _ => return Err($crate::form::FormError::Malformed(
                        concat!("unknown ", stringify!($name)),
                    )),
                };
                $($crate::form::check::<$name>(&value, $condition, $otherwise)?;)*
                Ok(value)
            }
        }
    };
}
