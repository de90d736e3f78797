//! The forms of the standard types: numbers, texts, lists, pairs and optional values.

use super::input::{push_number, put_bytes, put_signed, put_text, put_wide};
use super::{Form, FormError, Input};
use std::marker::PhantomData;
use std::sync::Arc;

/// Numbers of these types.
macro_rules! numbers {
    ($($number:ident $wrong:literal;)*) => {
        $(impl Form for $number {
            fn write(value: &Self, out: &mut Vec<u8>) {
                put_wide(out, *value as u128);
            }

            fn read(input: &mut Input<'_>) -> Result<Self, FormError> {
                Self::try_from(input.wide()?).map_err(|_| FormError::Malformed($wrong))
            }
        })*
    };
}

numbers! {
    u64 "a number has more than 64 bits";
    u32 "a number has more than 32 bits";
    u16 "a number has more than 16 bits";
    usize "a number has more bits than an address";
}

impl Form for i64 {
    fn write(value: &Self, out: &mut Vec<u8>) {
        put_signed(out, *value);
    }

    fn read(input: &mut Input<'_>) -> Result<Self, FormError> {
        input.signed()
    }
}

impl Form for bool {
    fn write(value: &Self, out: &mut Vec<u8>) {
        push_number(out, u64::from(*value));
    }

    fn read(input: &mut Input<'_>) -> Result<Self, FormError> {
        match input.number()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(FormError::Malformed("a flag is neither 0 nor 1")),
        }
    }
}

impl Form for f64 {
    fn write(value: &Self, out: &mut Vec<u8>) {
        out.extend_from_slice(&value.to_bits().to_le_bytes());
    }

    fn read(input: &mut Input<'_>) -> Result<Self, FormError> {
        Ok(Self::from_bits(u64::from_le_bytes(input.array()?)))
    }
}

/// The bytes themselves, without a length.
impl<const N: usize> Form for [u8; N] {
    fn write(value: &Self, out: &mut Vec<u8>) {
        out.extend_from_slice(value);
    }

    fn read(input: &mut Input<'_>) -> Result<Self, FormError> {
        input.array()
    }
}

/// A text, after its length.
macro_rules! texts {
    ($($text:ty),*) => {
        $(impl Form for $text {
            fn write(value: &Self, out: &mut Vec<u8>) {
                put_text(out, value);
            }

            fn read(input: &mut Input<'_>) -> Result<Self, FormError> {
                input.text().map(Self::from)
            }
        })*
    };
}

texts!(String, Arc<str>);

/// A text of at most `N` bytes.
#[derive(Debug)]
pub struct Text<const N: usize>;

impl<const N: usize> Form<String> for Text<N> {
    fn write(value: &String, out: &mut Vec<u8>) {
        put_text(out, value);
    }

    fn read(input: &mut Input<'_>) -> Result<String, FormError> {
        let text = input.text()?;
        match text.len() <= N {
            true => Ok(text.to_owned()),
            false => Err(FormError::Malformed("a text is too long")),
        }
    }
}

/// A byte string, after its length.
impl Form for Vec<u8> {
    fn write(value: &Self, out: &mut Vec<u8>) {
        put_bytes(out, value);
    }

    fn read(input: &mut Input<'_>) -> Result<Self, FormError> {
        input.bytes().map(<[u8]>::to_vec)
    }
}

/// Whether there is a value, then the value.
impl<T, F: Form<T>> Form<Option<T>> for Option<F> {
    fn write(value: &Option<T>, out: &mut Vec<u8>) {
        super::write(&value.is_some(), out);
        if let Some(value) = value {
            F::write(value, out);
        }
    }

    fn read(input: &mut Input<'_>) -> Result<Option<T>, FormError> {
        let is_there: bool = super::read(input)?;
        is_there.then(|| F::read(input)).transpose()
    }
}

/// Whether the result is a success, then the value of either kind.
impl<T: Form, E: Form> Form for Result<T, E> {
    fn write(value: &Self, out: &mut Vec<u8>) {
        super::write(&value.is_ok(), out);
        match value {
            Ok(value) => T::write(value, out),
            Err(error) => E::write(error, out),
        }
    }

    fn read(input: &mut Input<'_>) -> Result<Self, FormError> {
        let is_ok: bool = super::read(input)?;
        Ok(match is_ok {
            true => Ok(T::read(input)?),
            false => Err(E::read(input)?),
        })
    }
}

/// The number of items, then each of them.
impl<T, F: Form<T>> Form<Vec<T>> for Vec<F> {
    fn write(value: &Vec<T>, out: &mut Vec<u8>) {
        push_number(out, value.len() as u64);
        value.iter().for_each(|item| F::write(item, out));
    }

    fn read(input: &mut Input<'_>) -> Result<Vec<T>, FormError> {
        let length = input.length()?;
        (0..length).map(|_| F::read(input)).collect()
    }
}

impl<T: Form> Form for Arc<[T]> {
    fn write(value: &Self, out: &mut Vec<u8>) {
        push_number(out, value.len() as u64);
        value.iter().for_each(|item| T::write(item, out));
    }

    fn read(input: &mut Input<'_>) -> Result<Self, FormError> {
        Vec::<T>::read(input).map(Self::from)
    }
}

impl<T, U, F: Form<T>, G: Form<U>> Form<(T, U)> for (F, G) {
    fn write((first, second): &(T, U), out: &mut Vec<u8>) {
        F::write(first, out);
        G::write(second, out);
    }

    fn read(input: &mut Input<'_>) -> Result<(T, U), FormError> {
        Ok((F::read(input)?, G::read(input)?))
    }
}

/// The value itself, one level deeper: a type that contains itself does so in a box.
impl<T: Form> Form for Box<T> {
    fn write(value: &Self, out: &mut Vec<u8>) {
        T::write(value, out);
    }

    fn read(input: &mut Input<'_>) -> Result<Self, FormError> {
        input.nested(T::read).map(Self::new)
    }
}

impl<T: Form> Form for Arc<T> {
    fn write(value: &Self, out: &mut Vec<u8>) {
        T::write(value, out);
    }

    fn read(input: &mut Input<'_>) -> Result<Self, FormError> {
        T::read(input).map(Self::new)
    }
}

/// Kinds with stable names, in a fixed order.
pub trait Named: Copy + 'static {
    /// All kinds.
    const KINDS: &'static [Self];

    /// The stable name of a kind.
    fn stable_name(self) -> &'static str;
}

/// Counts by kind: the number of counts above 0, then each with the name of its kind. Kinds can be
/// added without another version.
#[derive(Debug)]
pub struct ByName<K>(PhantomData<K>);

impl<K: Named, const N: usize> Form<[u64; N]> for ByName<K> {
    fn write(counts: &[u64; N], out: &mut Vec<u8>) {
        let counts = K::KINDS.iter().zip(counts);
        let used: Vec<_> = counts.filter(|(_, count)| **count > 0).collect();
        push_number(out, used.len() as u64);
        for (kind, count) in used {
            put_text(out, kind.stable_name());
            push_number(out, *count);
        }
    }

    fn read(input: &mut Input<'_>) -> Result<[u64; N], FormError> {
        let mut counts = [0; N];
        let mut next = 0;
        for _ in 0..input.length()? {
            let name = input.text()?;
            let mut kinds = K::KINDS.iter().take(N);
            let place = kinds.position(|kind| kind.stable_name() == name);
            // A count without a known kind would be lost.
            let place = place.ok_or(FormError::Malformed("a count has an unknown name"))?;
            let count = input.number()?;
            if place < next || count == 0 {
                return Err(FormError::Malformed("counts by name are out of order"));
            }
            next = place + 1;
            counts[place] = count;
        }
        Ok(counts)
    }
}
