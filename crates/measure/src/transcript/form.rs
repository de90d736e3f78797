//! Exchanges in full in our own binary form: of each its pool, its sample, both sides, the detail of
//! a failure, and what was found.
//!
//! Outcomes of samples are numbered within one list of exchanges (`sample/form`), so that a list is
//! encoded and decoded as a whole. What was cut off a body when it was kept is not there; its whole
//! length is.

use super::{Excerpt, Field, Side, Transcript};
use crate::codec::{CodecError, Input, put, put_text};
use crate::sample::form::{Outcomes, decode_sample, encode_sample};
use drumfire_plan::Finding;

/// Appends exchanges in full.
pub(crate) fn encode_transcripts(all: &[Transcript], out: &mut Vec<u8>) {
    let mut outcomes = Outcomes::default();
    put(out, all.len() as u64);
    for transcript in all {
        put(out, transcript.pool as u64);
        encode_sample(&transcript.sample, &mut outcomes, out);
        encode_side(&transcript.request, out);
        put(out, transcript.response.is_some().into());
        if let Some(response) = &transcript.response {
            encode_side(response, out);
        }
        put_optional_text(out, transcript.detail.as_deref());
        put(out, transcript.findings.len() as u64);
        for finding in &transcript.findings {
            encode_finding(finding, out);
        }
    }
}

/// Reads what [`encode_transcripts`] wrote.
pub(crate) fn decode_transcripts(input: &mut Input<'_>) -> Result<Vec<Transcript>, CodecError> {
    const POOL: CodecError = CodecError::Malformed("the number of a pool");
    let mut outcomes = Outcomes::default();
    input.several(|input| {
        Ok(Transcript {
            pool: usize::try_from(input.number()?).map_err(|_| POOL)?,
            sample: decode_sample(&mut outcomes, input)?,
            request: decode_side(input)?,
            response: match input.flag()? {
                true => Some(decode_side(input)?),
                false => None,
            },
            detail: optional_text(input)?,
            findings: input.several(decode_finding)?,
        })
    })
}

/// Appends the beginning of a body.
pub(crate) fn encode_excerpt(excerpt: &Excerpt, out: &mut Vec<u8>) {
    put(out, excerpt.bytes.len() as u64);
    out.extend_from_slice(&excerpt.bytes);
    put(out, excerpt.length);
    put_optional_text(out, excerpt.text.as_deref());
}

/// Reads what [`encode_excerpt`] wrote.
pub(crate) fn decode_excerpt(input: &mut Input<'_>) -> Result<Excerpt, CodecError> {
    Ok(Excerpt {
        bytes: input.bytes()?.to_vec(),
        length: input.number()?,
        text: optional_text(input)?,
    })
}

fn encode_side(side: &Side, out: &mut Vec<u8>) {
    put_text(out, &side.line);
    encode_fields(&side.fields, out);
    put(out, side.bodies.len() as u64);
    for body in &side.bodies {
        encode_excerpt(body, out);
    }
    put(out, side.more);
    encode_fields(&side.trailers, out);
}

fn decode_side(input: &mut Input<'_>) -> Result<Side, CodecError> {
    Ok(Side {
        line: input.text()?.to_owned(),
        fields: input.several(decode_field)?,
        bodies: input.several(decode_excerpt)?,
        more: input.number()?,
        trailers: input.several(decode_field)?,
    })
}

fn encode_fields(fields: &[Field], out: &mut Vec<u8>) {
    put(out, fields.len() as u64);
    for field in fields {
        put_text(out, &field.name);
        put_text(out, &field.value);
    }
}

fn decode_field(input: &mut Input<'_>) -> Result<Field, CodecError> {
    Ok(Field {
        name: input.text()?.to_owned(),
        value: input.text()?.to_owned(),
    })
}

/// Appends the result of a rule: whether it holds, and its text.
fn encode_finding(finding: &Finding, out: &mut Vec<u8>) {
    put_text(out, &finding.rule);
    put_optional_text(out, finding.variable.as_deref());
    put(out, finding.result.is_ok().into());
    match &finding.result {
        Ok(value) => put_optional_text(out, value.as_deref()),
        Err(instead) => put_text(out, instead),
    }
}

fn decode_finding(input: &mut Input<'_>) -> Result<Finding, CodecError> {
    Ok(Finding {
        rule: input.text()?.to_owned(),
        variable: optional_text(input)?,
        result: match input.flag()? {
            true => Ok(optional_text(input)?),
            false => Err(input.text()?.to_owned()),
        },
    })
}

/// Appends a text that may be missing: whether it is there, and the text.
fn put_optional_text(out: &mut Vec<u8>, text: Option<&str>) {
    put(out, text.is_some().into());
    if let Some(text) = text {
        put_text(out, text);
    }
}

/// Reads what [`put_optional_text`] wrote.
fn optional_text(input: &mut Input<'_>) -> Result<Option<String>, CodecError> {
    Ok(match input.flag()? {
        true => Some(input.text()?.to_owned()),
        false => None,
    })
}
