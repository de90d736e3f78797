//! Looking at a response: the part of it that its request's inspection sees, and what that takes.
//!
//! A look is begun with each head, so that a redirect that is followed leaves nothing in it, and is
//! over with the response. What was taken stays until the exchange's id is used again: the worker
//! gives it to the user before.

use crate::blame::Failure;
use crate::limits::KEPT_LOOK_BYTES;
use crate::wire::Fields;
use drumfire_measure::Outcome;
use drumfire_plan::{Inspection, Mismatch, MismatchKind, Response, ResponseFields, Taken};
use drumfire_units::Nanos;

/// The part of a response that is looked at; kept for the next exchange with the same id.
#[derive(Debug, Default)]
pub(super) struct Look {
    fields: ResponseFields,
    body: Vec<u8>,
    taken: Taken,
}

impl Look {
    /// A response's head has come.
    pub(super) fn begin(&mut self, inspection: &dyn Inspection, fields: &Fields<'_>) {
        self.clear();
        for name in inspection.fields() {
            fields.each(name, |value| self.fields.push(name, value));
        }
    }

    /// Forgets the last response. Its memory stays, unless that was uncommonly much.
    pub(super) fn clear(&mut self) {
        self.fields.clear();
        self.body.clear();
        self.body.shrink_to(KEPT_LOOK_BYTES);
        self.taken.clear();
    }

    /// Keeps decoded bytes of the body.
    ///
    /// # Errors
    /// When there are more than these.
    pub(super) fn keep(&mut self, bytes: &[u8], max: u64) -> Result<(), Failure> {
        if (self.body.len() + bytes.len()) as u64 > max {
            let reason = format!("the plan looks at no body of more than {max} bytes");
            return Err(Failure::with(Outcome::LimitBody, reason));
        }
        self.body.extend_from_slice(bytes);
        Ok(())
    }

    /// Looks at the whole response, with a status, that took this long.
    ///
    /// # Errors
    /// When it is not as expected.
    pub(super) fn inspect(
        &mut self,
        inspection: &dyn Inspection,
        status: u16,
        time: Nanos,
    ) -> Result<(), Failure> {
        let response = Response {
            status,
            fields: &self.fields,
            body: &self.body,
            time,
        };
        inspection
            .inspect(&response, &mut self.taken)
            .map_err(|mismatch| failure(&mismatch))
    }

    /// What was taken from the response.
    pub(super) const fn taken(&self) -> &Taken {
        &self.taken
    }
}

fn failure(mismatch: &Mismatch) -> Failure {
    let outcome = match mismatch.kind {
        MismatchKind::Header => Outcome::AssertHeader,
        MismatchKind::Body => Outcome::AssertBody,
        MismatchKind::Time => Outcome::AssertTime,
        MismatchKind::Missing => Outcome::ExtractMissing,
    };
    Failure::with(outcome, mismatch.reason.as_str())
}
