//! Encodes a text as the value of a field, like strings in protobuf's JSON mapping.

use prost::encoding::{WireType, encode_varint};
use prost_reflect::{EnumDescriptor, Kind};

/// The type of a field that accepts plain strings.
#[derive(Clone, Debug)]
pub(super) enum PlainScalar {
    Text,
    Int32,
    Int64,
    Uint32,
    Uint64,
    Sint32,
    Sint64,
    Fixed32,
    Fixed64,
    Sfixed32,
    Sfixed64,
    Float,
    Double,
    Enum(EnumDescriptor),
}

/// The kind of the written value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// The default value of the field.
    Zero,
    Other,
}

impl PlainScalar {
    /// The scalar for a field's kind; `None` for kinds that fall back to the text.
    pub(super) fn from_kind(kind: &Kind) -> Option<Self> {
        Some(match kind {
            Kind::String => Self::Text,
            Kind::Int32 => Self::Int32,
            Kind::Int64 => Self::Int64,
            Kind::Uint32 => Self::Uint32,
            Kind::Uint64 => Self::Uint64,
            Kind::Sint32 => Self::Sint32,
            Kind::Sint64 => Self::Sint64,
            Kind::Fixed32 => Self::Fixed32,
            Kind::Fixed64 => Self::Fixed64,
            Kind::Sfixed32 => Self::Sfixed32,
            Kind::Sfixed64 => Self::Sfixed64,
            Kind::Float => Self::Float,
            Kind::Double => Self::Double,
            Kind::Enum(of) if !of.full_name().starts_with("google.protobuf.") => {
                Self::Enum(of.clone())
            }
            Kind::Enum(_) | Kind::Bool | Kind::Bytes | Kind::Message(_) => return None,
        })
    }

    /// The wire type of its values.
    pub(super) const fn wire_type(&self) -> WireType {
        match self {
            Self::Text => WireType::LengthDelimited,
            Self::Fixed32 | Self::Sfixed32 | Self::Float => WireType::ThirtyTwoBit,
            Self::Fixed64 | Self::Sfixed64 | Self::Double => WireType::SixtyFourBit,
            _ => WireType::Varint,
        }
    }

    /// Appends the value of a text; `None` if the text is not plain.
    pub(super) fn write(&self, text: &str, out: &mut Vec<u8>) -> Option<Written> {
        let zero = match self {
            Self::Text => {
                let start = super::open(out);
                out.extend_from_slice(text.as_bytes());
                super::close(out, start);
                text.is_empty()
            }
            // Negative numbers are encoded with 64 bits.
            Self::Int32 => varint(i64::from(text.parse::<i32>().ok()?) as u64, out),
            Self::Int64 => varint(text.parse::<i64>().ok()? as u64, out),
            Self::Uint32 => varint(text.parse::<u32>().ok()?.into(), out),
            Self::Uint64 => varint(text.parse::<u64>().ok()?, out),
            Self::Sint32 => varint(zigzag(text.parse::<i32>().ok()?.into()), out),
            Self::Sint64 => varint(zigzag(text.parse::<i64>().ok()?), out),
            Self::Fixed32 => fixed(text.parse::<u32>().ok()?.to_le_bytes(), out),
            Self::Fixed64 => fixed(text.parse::<u64>().ok()?.to_le_bytes(), out),
            Self::Sfixed32 => fixed(text.parse::<i32>().ok()?.to_le_bytes(), out),
            Self::Sfixed64 => fixed(text.parse::<i64>().ok()?.to_le_bytes(), out),
            Self::Float if is_decimal(text) => fixed(text.parse::<f32>().ok()?.to_le_bytes(), out),
            Self::Double if is_decimal(text) => fixed(text.parse::<f64>().ok()?.to_le_bytes(), out),
            Self::Float | Self::Double => return None,
            Self::Enum(of) => {
                let number = of.get_value_by_name(text)?.number();
                varint(i64::from(number) as u64, out)
            }
        };
        Some(if zero { Written::Zero } else { Written::Other })
    }
}

/// Whether a number consists of digits and not of a word such as `inf`, for which JSON has
/// different words.
fn is_decimal(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'e' | b'E'))
}

fn varint(value: u64, out: &mut Vec<u8>) -> bool {
    encode_varint(value, out);
    value == 0
}

fn fixed<const N: usize>(bytes: [u8; N], out: &mut Vec<u8>) -> bool {
    out.extend_from_slice(&bytes);
    bytes == [0; N]
}

/// Maps small numbers of either sign to small numbers.
const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}
