//! Reads a head: quickly if it is regular, strictly if it is not.

use crate::framing::{Fields, Framing};
use crate::headers::Headers;
use crate::scan::Scan;
use crate::{Error, Limits, Notice, RequestKind};
use std::mem::MaybeUninit;

/// A head that was found to be complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parsed {
    /// The length of the head, including the final empty line.
    pub(crate) length: usize,
    pub(crate) framing: Framing,
}

/// The number of fields that the fast reader has room for; a head with more is read by the strict
/// reader.
const FAST_FIELDS: usize = 64;

/// Reads a head that is complete and clearly valid; `None` leaves it to [`Scan`].
///
/// httparse tolerates an empty line before the head and lines that end in LF alone; both are left
/// to [`Scan`], so that both readers agree on all other heads.
pub(crate) fn parse_fast(
    input: &[u8],
    limits: &Limits,
    kind: RequestKind,
) -> Option<Result<Parsed, Error>> {
    if input.first() != Some(&b'H') {
        return None;
    }
    let mut fields = [const { MaybeUninit::uninit() }; FAST_FIELDS];
    let mut response = httparse::Response::new(&mut []);
    let parsed = httparse::ParserConfig::default().parse_response_with_uninit_headers(
        &mut response,
        input,
        &mut fields,
    );
    let Ok(httparse::Status::Complete(length)) = parsed else {
        return None;
    };
    let count = response.headers.len();
    let within = length <= limits.head_bytes as usize && count <= limits.header_count as usize;
    if !within || has_bare_lf(&input[..length]) {
        return None;
    }
    let (status, minor) = (response.code?, response.version?);
    let mut facts = Fields::default();
    for field in response.headers.iter() {
        if let Err(error) = facts.note(field.name.as_bytes(), field.value) {
            return Some(Err(error));
        }
    }
    Some(Ok(Parsed {
        length,
        framing: facts.resolve(status, minor, kind),
    }))
}

/// Interprets a head that `scan` has found complete. `head` must already be unfolded.
pub(crate) fn interpret(scan: &Scan, head: &[u8], kind: RequestKind) -> Result<Framing, Error> {
    let mut facts = Fields::default();
    for (name, value) in Headers::new(head).iter() {
        facts.note(name.as_bytes(), value)?;
    }
    let mut framing = facts.resolve(scan.status, scan.minor, kind);
    framing.notices.extend(scan.notices);
    Ok(framing)
}

/// Puts every field on one line: RFC 9112 section 5.2 requires each fold to be replaced by spaces.
pub(crate) fn unfold(scan: &Scan, head: &mut [u8]) {
    if !scan.notices.contains(Notice::ObsFold) {
        return;
    }
    for at in 0..head.len().saturating_sub(1) {
        if head[at] == b'\n' && matches!(head[at + 1], b' ' | b'\t') {
            head[at] = b' ';
            if at > 0 && head[at - 1] == b'\r' {
                head[at - 1] = b' ';
            }
        }
    }
}

/// Whether any line ends in LF alone. The loop has no branch, for SIMD.
fn has_bare_lf(head: &[u8]) -> bool {
    let pairs = head.iter().zip(head.iter().skip(1));
    let bare = |(before, at): (&u8, &u8)| u8::from(*at == b'\n') & u8::from(*before != b'\r');
    pairs.map(bare).fold(0, |any, bare| any | bare) != 0
}
