//! How an exchange uses the body of its response.
//!
//! The use is chosen when the head arrives. [`BodyUse::read`] receives each piece of the body,
//! after the wire has decoded its framing; [`BodyUse::finish`] ends the body. A discarded body is
//! not passed here, so that the wire may drop it in the kernel.
//!
//! Every use that decodes or keeps bytes has a bound, from the plan or from [`SHOWN_DECODED`],
//! since the server decides how much a body expands: a decoder fails at its limit, and a look keeps
//! at most `max` bytes. Decoded pieces are borrowed from the decoder and copied only if they are
//! kept.

use super::look::Look;
use crate::blame::{Failure, coding_outcome};
use crate::limits::SHOWN_DECODED;
use crate::wire::Fields;
use drumfire_coding::{Decoder, Error};
use drumfire_plan::Compressed;

/// The use of a body.
#[derive(Debug, Default)]
pub(super) enum BodyUse {
    /// The wire counts the bytes and may discard them unread. This costs a plan without checks
    /// nothing.
    #[default]
    Discard,
    /// The bytes are decoded to their end, which checks them, and discarded.
    Decode(Box<Decoder>),
    /// The bytes are decoded if they are coded, and kept for a look.
    Keep {
        decoder: Option<Box<Decoder>>,
        /// The maximum number of decoded bytes to keep.
        max: u64,
    },
    /// The beginning of the decoded bytes is kept to be shown. A decoding error does not fail the
    /// exchange.
    Sample {
        decoder: Option<Box<Decoder>>,
        /// The number of bytes to keep; later bytes are still decoded, up to the decoder's limit.
        max: usize,
    },
}

impl BodyUse {
    /// The use of a body with these fields: decoded if the plan requests decoding and the body is
    /// coded.
    ///
    /// # Errors
    /// If the coding is unknown.
    #[inline]
    pub(super) fn from_fields(
        compressed: Compressed,
        fields: &Fields<'_>,
    ) -> Result<Self, Failure> {
        let (Compressed::Decode(limit) | Compressed::DecodeGzip(limit)) = compressed else {
            return Ok(Self::Discard);
        };
        if matches!(compressed, Compressed::DecodeGzip(_)) && !is_gzip(fields) {
            return Ok(Self::Discard);
        }
        let decoder = decoder(fields, limit.0)?;
        Ok(decoder.map_or(Self::Discard, Self::Decode))
    }

    /// The use of a body with these fields, of which up to `max` decoded bytes are inspected. If
    /// the plan decodes only gzip, a body of another coding is inspected in its coded form.
    ///
    /// # Errors
    /// If the coding is unknown.
    pub(super) fn keeping(
        compressed: Compressed,
        max: u64,
        fields: &Fields<'_>,
    ) -> Result<Self, Failure> {
        let stays = matches!(compressed, Compressed::DecodeGzip(_)) && !is_gzip(fields);
        let decoder = match stays {
            true => None,
            false => decoder(fields, max)?,
        };
        Ok(Self::Keep { decoder, max })
    }

    /// The use of a body with these fields whose beginning is kept to be shown.
    pub(super) fn sample(max: usize, fields: &Fields<'_>) -> Self {
        // A body with an unknown coding is kept in its coded form.
        let decoder = decoder(fields, SHOWN_DECODED).unwrap_or(None);
        Self::Sample { decoder, max }
    }

    /// Whether the bytes may be discarded unread.
    #[inline]
    pub(super) const fn is_discard(&self) -> bool {
        matches!(self, Self::Discard)
    }

    /// Receives bytes of the body.
    ///
    /// # Errors
    /// If they cannot be decoded, or exceed a limit.
    pub(super) fn read(
        &mut self,
        bytes: &[u8],
        mut look: Option<&mut Look>,
    ) -> Result<(), Failure> {
        match self {
            Self::Discard => Ok(()),
            Self::Decode(decoder) => {
                let pushed = decoder.push(bytes, &mut |part| {
                    if let Some(look) = &mut look {
                        look.keep_decoded(part);
                    }
                });
                pushed.map_err(|error| failure(&error))
            }
            Self::Keep { decoder, max } => {
                let mut kept = Ok(());
                let mut keep = |part: &[u8]| {
                    if let (Ok(()), Some(look)) = (&kept, &mut look) {
                        kept = look.keep(part, *max);
                    }
                };
                let pushed = match decoder {
                    None => {
                        keep(bytes);
                        Ok(())
                    }
                    Some(decoder) => decoder.push(bytes, &mut keep),
                };
                kept?;
                pushed.map_err(|error| failure(&error))
            }
            Self::Sample { decoder, max } => {
                let mut keep = |part: &[u8]| {
                    if let Some(look) = &mut look {
                        look.sample(part, *max);
                    }
                };
                match decoder {
                    None => keep(bytes),
                    Some(decoder) => {
                        let _undecodable = decoder.push(bytes, &mut keep);
                    }
                }
                Ok(())
            }
        }
    }

    /// Ends the body.
    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        match self {
            Self::Discard | Self::Keep { decoder: None, .. } | Self::Sample { .. } => Ok(()),
            Self::Decode(decoder)
            | Self::Keep {
                decoder: Some(decoder),
                ..
            } => {
                let finished = decoder.finish();
                finished.map(drop).map_err(|error| failure(&error))
            }
        }
    }
}

/// The decoder of a body with these fields; `None` if the body is not coded.
///
/// # Errors
/// If the coding is unknown.
pub(super) fn decoder(fields: &Fields<'_>, limit: u64) -> Result<Option<Box<Decoder>>, Failure> {
    let Some(coding) = fields.find("content-encoding") else {
        return Ok(None);
    };
    let decoder = Decoder::new(coding, limit).map_err(|error| failure(&error))?;
    Ok(decoder.map(Box::new))
}

/// Whether a body is coded by gzip alone.
fn is_gzip(fields: &Fields<'_>) -> bool {
    let coding = fields.find("content-encoding");
    coding.is_some_and(|coding| coding.trim_ascii().eq_ignore_ascii_case(b"gzip"))
}

/// The failure of a body that cannot be decoded.
pub(super) fn failure(error: &Error) -> Failure {
    Failure::with(coding_outcome(error), error.to_string())
}
