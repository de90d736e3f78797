//! Requests with a traceparent each (W3C Trace Context), by which they can be found in the target's
//! traces.
//!
//! The field is rendered with the request's other data, from the request's context, so the ids of a
//! run follow from its seed.

use drumfire_document::Pool;
use drumfire_plan::{HttpRequest, TRACEPARENT, Traced};
use std::sync::Arc;

/// The requests of a pool, each with a traceparent if the pool sets it. A request that already has
/// a traceparent field keeps it.
pub(crate) fn traced(mut requests: Vec<HttpRequest>, pool: &Pool) -> Vec<HttpRequest> {
    let wanted = pool.settings.fields.traceparent.as_ref();
    if !wanted.is_some_and(|wanted| wanted.value) {
        return requests;
    }
    for request in &mut requests {
        let call = request.call.as_ref().map(|call| &call.data);
        let data = call.or(request.data.as_ref());
        let renders = data.is_some_and(|data| data.renders(TRACEPARENT));
        if renders || request.headers.iter().any(|field| field.is(TRACEPARENT)) {
            continue;
        }
        match &mut request.call {
            Some(call) => {
                let call = Arc::make_mut(call);
                call.data = Arc::new(Traced::beside(Some(Arc::clone(&call.data))));
            }
            None => request.data = Some(Arc::new(Traced::beside(request.data.take()))),
        }
    }
    requests
}
