//! Requests out of entries.

use super::Ammo;
use drumfire_plan::{DataError, Pick, RenderedFields, RequestContext, RequestData, Varying};
use std::sync::Arc;

/// The requests of one class of a file.
#[derive(Clone, Debug)]
pub struct AmmoData {
    ammo: Arc<Ammo>,
    class: usize,
}

/// Says which class each arrival's entry belongs to: the n-th arrival takes the n-th entry, and the
/// file begins again after its last.
#[derive(Clone, Debug)]
pub struct AmmoPick(pub Arc<Ammo>);

impl AmmoData {
    /// The requests of the class with this place in [`Ammo::classes`].
    #[must_use]
    pub const fn new(ammo: Arc<Ammo>, class: usize) -> Self {
        Self { ammo, class }
    }

    fn row(&self, request: &RequestContext) -> u64 {
        request.arrival % self.ammo.rows()
    }
}

impl RequestData for AmmoData {
    fn varying(&self) -> Varying {
        let parts = self.ammo.classes()[self.class].parts;
        Varying {
            target: self.ammo.classes()[self.class].call.is_none(),
            host: parts.host,
            fields: parts.fields,
            body: parts.body,
        }
    }

    fn renders(&self, name: &str) -> bool {
        self.ammo.classes()[self.class].parts.renders(name)
    }

    fn notes(&self) -> Vec<String> {
        self.ammo.notes()
    }

    fn target(&self, request: &RequestContext, out: &mut String) -> Result<(), DataError> {
        let row = self.row(request);
        self.ammo
            .with_entry(row, |entry| out.push_str(entry.target))
    }

    fn fields(&self, request: &RequestContext, out: &mut RenderedFields) -> Result<(), DataError> {
        let classes = &self.ammo.classes;
        self.ammo.with_entry(self.row(request), |entry| {
            if let Some(host) = classes.host(entry) {
                out.push("Host", host)?;
            }
            let mut own = classes.own_fields(entry);
            own.try_for_each(|(name, value)| out.push(name, value))?;
            let mut planned = classes.planned_fields(entry);
            planned.try_for_each(|field| field.push(request, out))
        })?
    }

    fn message(
        &self,
        request: &RequestContext,
        _: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), DataError> {
        let row = self.row(request);
        self.ammo.with_entry(row, |entry| {
            out.extend_from_slice(entry.body.unwrap_or_default());
        })
    }
}

impl Pick for AmmoPick {
    fn pick(&self, arrival: u64) -> u32 {
        let row = arrival % self.0.rows();
        // A file that can't be read any more fails the request where it is rendered.
        self.0
            .with_entry(row, |entry| entry.class)
            .unwrap_or_default()
    }

    fn count(&self) -> u64 {
        self.0.rows()
    }
}
