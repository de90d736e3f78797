//! gzip (RFC 1952): a sequence of members, each with a header, a deflate stream, a checksum and a
//! length.

use crate::deflate::{Inflate, Wrapper};
use crate::step::{Invalid, Step};
use flate2::Crc;

const FLAG_CRC: u8 = 1 << 1;
const FLAG_EXTRA: u8 = 1 << 2;
const FLAG_NAME: u8 = 1 << 3;
const FLAG_COMMENT: u8 = 1 << 4;
const FLAGS_RESERVED: u8 = 0xe0;
/// ID1, ID2, CM, FLG, MTIME, XFL, OS.
const FIXED_BYTES: u8 = 10;
/// CRC32, ISIZE.
const TRAILER_BYTES: u8 = 8;

/// The reader's place in a member. Fields that the flags omit are skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The number of bytes of the fixed header read so far.
    Fixed(u8),
    /// The number of bytes of the extra field's length read so far.
    ExtraLength(u8),
    /// The number of bytes of the extra field still to read.
    Extra(u16),
    Name,
    Comment,
    /// The number of bytes of the header's checksum read so far.
    HeaderCrc(u8),
    Body,
    /// The number of bytes of the trailer read so far.
    Trailer(u8),
}

/// A gzip stream.
pub(crate) struct Gzip {
    place: Place,
    flags: u8,
    /// The bytes of a number as they arrive, lowest first.
    number: u64,
    header_crc: Crc,
    crc: Crc,
    inflate: Inflate,
    members: bool,
}

impl Gzip {
    pub(crate) fn new() -> Self {
        Self {
            place: Place::Fixed(0),
            flags: 0,
            number: 0,
            header_crc: Crc::new(),
            crc: Crc::new(),
            inflate: Inflate::new(Wrapper::None),
            members: false,
        }
    }

    /// Whether at least one member is complete and no further one has started.
    pub(crate) fn is_complete(&self) -> bool {
        self.members && self.place == Place::Fixed(0)
    }

    pub(crate) fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Invalid> {
        let mut read = 0;
        while self.place != Place::Body {
            let Some(&byte) = input.get(read) else {
                return Ok(Step { read, written: 0 });
            };
            read += 1;
            self.place = match self.place {
                Place::Trailer(count) => self.trailer(count, byte)?,
                _ => self.header(byte)?,
            };
        }
        let step = self.inflate.step(&input[read..], output)?;
        self.crc.update(&output[..step.written]);
        if self.inflate.is_complete() {
            self.inflate.reset();
            (self.place, self.number) = (Place::Trailer(0), 0);
        }
        Ok(Step {
            read: read + step.read,
            written: step.written,
        })
    }

    /// Reads a byte of the header (RFC 1952 section 2.3).
    fn header(&mut self, byte: u8) -> Result<Place, Invalid> {
        if !matches!(self.place, Place::HeaderCrc(_)) {
            self.header_crc.update(&[byte]);
        }
        Ok(match self.place {
            Place::Fixed(count) => {
                self.fixed(count, byte)?;
                if count + 1 < FIXED_BYTES {
                    Place::Fixed(count + 1)
                } else {
                    self.after(Place::Fixed(0))
                }
            }
            Place::ExtraLength(0) => {
                self.number = u64::from(byte);
                Place::ExtraLength(1)
            }
            Place::ExtraLength(_) => match u16::from_le_bytes([self.number as u8, byte]) {
                0 => self.after(Place::Extra(0)),
                length => Place::Extra(length),
            },
            Place::Extra(0 | 1) => self.after(Place::Extra(0)),
            Place::Extra(length) => Place::Extra(length - 1),
            Place::Name | Place::Comment if byte != 0 => self.place,
            Place::HeaderCrc(0) => {
                self.number = u64::from(byte);
                Place::HeaderCrc(1)
            }
            Place::HeaderCrc(_) => {
                let crc = u16::from_le_bytes([self.number as u8, byte]);
                if u32::from(crc) != self.header_crc.sum() & 0xffff {
                    return Err(Invalid);
                }
                Place::Body
            }
            place => self.after(place),
        })
    }

    fn fixed(&mut self, count: u8, byte: u8) -> Result<(), Invalid> {
        let right = match count {
            0 => byte == 0x1f,
            1 => byte == 0x8b,
            2 => byte == 8,
            3 => {
                self.flags = byte;
                byte & FLAGS_RESERVED == 0
            }
            _ => true,
        };
        if right { Ok(()) } else { Err(Invalid) }
    }

    /// The place after a field of the header.
    fn after(&self, place: Place) -> Place {
        let fields = [
            (FLAG_EXTRA, Place::ExtraLength(0)),
            (FLAG_NAME, Place::Name),
            (FLAG_COMMENT, Place::Comment),
            (FLAG_CRC, Place::HeaderCrc(0)),
        ];
        let passed = match place {
            Place::Fixed(_) => 0,
            Place::Extra(_) => 1,
            Place::Name => 2,
            _ => 3,
        };
        let rest = fields[passed..].iter();
        rest.clone()
            .find(|(flag, _)| self.flags & flag != 0)
            .map_or(Place::Body, |(_, place)| *place)
    }

    /// Reads a byte of the checksum and the length modulo 2^32, both little-endian.
    fn trailer(&mut self, count: u8, byte: u8) -> Result<Place, Invalid> {
        self.number |= u64::from(byte) << (8 * u32::from(count));
        if count + 1 < TRAILER_BYTES {
            return Ok(Place::Trailer(count + 1));
        }
        let found = u64::from(self.crc.amount()) << 32 | u64::from(self.crc.sum());
        if self.number != found {
            return Err(Invalid);
        }
        self.crc.reset();
        self.header_crc.reset();
        self.members = true;
        Ok(Place::Fixed(0))
    }
}
