//! `drumfire grpc`.

use super::{document, once, payload};
use crate::exit::Failure;
use crate::flags::GrpcFlags;
use drumfire_document::{Document, Place, Placed};

/// The document of the flags. Without `--call`, the document has no request and only serves to
/// fetch a schema.
pub(crate) fn from_flags(flags: &GrpcFlags) -> Result<Document, Failure> {
    let mut document = document(&flags.settings)?;
    let data = flags
        .settings
        .value("data")
        .map(|data| payload("data", data));
    let data = data.transpose()?;
    for pool in &mut document.pools {
        pool.settings.reach.target = Some(Placed::new(flags.target.clone(), Place::Nowhere));
        for request in &mut pool.requests {
            request.data.payload.clone_from(&data);
        }
    }
    Ok(match flags.output.show {
        true => once(document),
        false => document,
    })
}
