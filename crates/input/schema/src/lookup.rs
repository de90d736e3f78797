//! Look-up of services, methods and symbols by name.

use crate::{Method, SchemaError};
use drumfire_plan::{nearest, suggestion};
use prost_reflect::{DescriptorPool, MethodDescriptor, ServiceDescriptor};

/// The maximum number of names that are listed if no name is similar.
const LISTED: usize = 5;

/// A call's service and method: `pkg.Service/Method` or `pkg.Service.Method`, optionally with a
/// leading dot.
pub(crate) fn parse(call: &str) -> Result<(&str, &str), SchemaError> {
    let name = call.strip_prefix(['.', '/']).unwrap_or(call);
    let parts = name.split_once('/').or_else(|| name.rsplit_once('.'));
    match parts.filter(|(service, method)| {
        !service.is_empty() && !method.is_empty() && !method.contains(['/', '.'])
    }) {
        Some(parts) => Ok(parts),
        None => Err(SchemaError(format!(
            "method name must be package.Service.Method or package.Service/Method: {call:?}"
        ))),
    }
}

/// The method of a call.
pub(crate) fn method(pool: &DescriptorPool, call: &str) -> Result<Method, SchemaError> {
    let (service, method) = parse(call)?;
    let Some(service) = pool.get_service_by_name(service) else {
        return Err(no_service(
            service,
            pool.services().map(|s| s.full_name().to_owned()),
        ));
    };
    find(&service, method).map(Method::new)
}

fn find(service: &ServiceDescriptor, name: &str) -> Result<MethodDescriptor, SchemaError> {
    if let Some(method) = service.methods().find(|method| method.name() == name) {
        return Ok(method);
    }
    let methods: Vec<MethodDescriptor> = service.methods().collect();
    let names: Vec<&str> = methods.iter().map(MethodDescriptor::name).collect();
    let mut hint = suggestion(name, names.iter().copied());
    if hint.is_empty() {
        hint = listed("its methods are", &names);
    }
    let service = service.full_name();
    Err(SchemaError(format!(
        "service {service:?} does not include a method named {name:?}{hint}"
    )))
}

/// The error for an unknown service, with the most similar known one.
pub(crate) fn no_service(name: &str, known: impl Iterator<Item = String>) -> SchemaError {
    let known: Vec<String> = known.collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let hint = near_symbol(name, &known);
    let hint = if hint.is_empty() {
        listed("the services are", &known)
    } else {
        hint
    };
    SchemaError(format!("cannot find service {name:?}{hint}"))
}

/// `; did you mean …?` for full names: compares whole names, or otherwise their last parts, because
/// packages are often omitted.
pub(crate) fn near_symbol(name: &str, known: &[&str]) -> String {
    let whole = suggestion(name, known.iter().copied());
    if !whole.is_empty() {
        return whole;
    }
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let lasts: Vec<String> = known.iter().map(|name| last(name)).collect();
    let near = nearest(&last(name), lasts.iter().map(String::as_str));
    let at = near.and_then(|near| lasts.iter().position(|last| last == near));
    at.map_or_else(String::new, |at| format!("; did you mean `{}`?", known[at]))
}

/// `; it has a, b and 3 more`; empty without names.
pub(crate) fn listed(verb: &str, names: &[&str]) -> String {
    let shown = names[..names.len().min(LISTED)].join(", ");
    match names.len().saturating_sub(LISTED) {
        _ if names.is_empty() => String::new(),
        0 => format!("; {verb} {shown}"),
        more => format!("; {verb} {shown} and {more} more"),
    }
}
