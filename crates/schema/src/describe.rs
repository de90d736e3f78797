//! Symbols as a `.proto` file would have them.

use crate::{SchemaError, lookup};
use prost_reflect::{
    Cardinality, DescriptorPool, EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor,
    MethodDescriptor, ServiceDescriptor, Syntax,
};
use std::fmt::Write;

/// Every service with its methods, sorted.
pub(crate) fn list(pool: &DescriptorPool) -> String {
    let mut lines: Vec<String> = pool
        .services()
        .flat_map(|service| service.methods().collect::<Vec<_>>())
        .map(|method| {
            let service = method.parent_service().full_name().to_owned();
            format!("{service}/{}\n", signature(&method))
        })
        .collect();
    lines.sort();
    lines.concat()
}

/// A service, method, message or enum.
pub(crate) fn describe(pool: &DescriptorPool, symbol: &str) -> Result<String, SchemaError> {
    let name = symbol.strip_prefix('.').unwrap_or(symbol);
    let mut out = String::new();
    if let Some(service) = pool.get_service_by_name(name) {
        write_service(&service, &mut out);
    } else if let Some(message) = pool.get_message_by_name(name) {
        write_message(&message, 0, &mut out);
    } else if let Some(found) = pool.get_enum_by_name(name) {
        write_enum(&found, 0, &mut out);
    } else if let Some(method) = find_method(pool, name) {
        let _ = writeln!(out, "rpc {};", signature(&method));
    } else {
        return Err(no_symbol(pool, name));
    }
    Ok(out)
}

fn find_method(pool: &DescriptorPool, name: &str) -> Option<MethodDescriptor> {
    let (service, method) = lookup::parse(name).ok()?;
    let service = pool.get_service_by_name(service)?;
    service.methods().find(|known| known.name() == method)
}

/// The full names of all services, messages and enums, but for the entries of maps.
pub(crate) fn symbols(pool: &DescriptorPool) -> Vec<String> {
    let messages = pool
        .all_messages()
        .filter(|message| !message.is_map_entry());
    let mut known: Vec<String> = pool.services().map(|s| s.full_name().to_owned()).collect();
    known.extend(messages.map(|m| m.full_name().to_owned()));
    known.extend(pool.all_enums().map(|e| e.full_name().to_owned()));
    known
}

fn no_symbol(pool: &DescriptorPool, name: &str) -> SchemaError {
    let known = symbols(pool);
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let near = lookup::near_symbol(name, &known);
    SchemaError(format!("cannot find symbol {name:?}{near}"))
}

/// `Name(stream Input) returns (Output)`.
fn signature(method: &MethodDescriptor) -> String {
    let stream = |yes| if yes { "stream " } else { "" };
    format!(
        "{}({}{}) returns ({}{})",
        method.name(),
        stream(method.is_client_streaming()),
        method.input().full_name(),
        stream(method.is_server_streaming()),
        method.output().full_name()
    )
}

// Writing to a string does not fail, so what `writeln!` says is passed over below.

fn write_service(service: &ServiceDescriptor, out: &mut String) {
    let _ = writeln!(out, "service {} {{", service.full_name());
    for method in service.methods() {
        let _ = writeln!(out, "  rpc {};", signature(&method));
    }
    out.push_str("}\n");
}

/// A message with the messages and enums inside it. Decoding has bounded how deep they lie.
fn write_message(message: &MessageDescriptor, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    let name = if depth == 0 {
        message.full_name()
    } else {
        message.name()
    };
    let _ = writeln!(out, "{indent}message {name} {{");
    for inner in message
        .child_messages()
        .filter(|inner| !inner.is_map_entry())
    {
        write_message(&inner, depth + 1, out);
    }
    for inner in message.child_enums() {
        write_enum(&inner, depth + 1, out);
    }
    let mut choices = Vec::new();
    for field in message.fields() {
        match field
            .containing_oneof()
            .filter(|oneof| !oneof.is_synthetic())
        {
            None => write_field(&field, depth + 1, out),
            Some(oneof) if choices.iter().any(|seen| *seen == oneof.full_name()) => {}
            Some(oneof) => {
                let _ = writeln!(out, "{indent}  oneof {} {{", oneof.name());
                for field in oneof.fields() {
                    write_field(&field, depth + 2, out);
                }
                let _ = writeln!(out, "{indent}  }}");
                choices.push(oneof.full_name().to_owned());
            }
        }
    }
    let _ = writeln!(out, "{indent}}}");
}

fn write_field(field: &FieldDescriptor, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    let _ = writeln!(
        out,
        "{indent}{}{} {} = {};",
        label(field),
        type_name(field),
        field.name(),
        field.number()
    );
}

fn label(field: &FieldDescriptor) -> &'static str {
    let in_oneof = field
        .containing_oneof()
        .is_some_and(|oneof| !oneof.is_synthetic());
    match field.cardinality() {
        _ if field.is_map() || in_oneof => "",
        Cardinality::Repeated => "repeated ",
        Cardinality::Required => "required ",
        Cardinality::Optional if field.parent_file().syntax() == Syntax::Proto2 => "optional ",
        Cardinality::Optional if field.containing_oneof().is_some() => "optional ",
        Cardinality::Optional => "",
    }
}

fn type_name(field: &FieldDescriptor) -> String {
    let kind = field.kind();
    match &kind {
        Kind::Message(entry) if field.is_map() => {
            let of = |number| {
                entry
                    .get_field(number)
                    .map(|field| kind_name(&field.kind()))
            };
            let (key, value) = (of(1).unwrap_or_default(), of(2).unwrap_or_default());
            format!("map<{key}, {value}>")
        }
        kind => kind_name(kind),
    }
}

fn kind_name(kind: &Kind) -> String {
    match kind {
        Kind::Message(message) => message.full_name().to_owned(),
        Kind::Enum(of) => of.full_name().to_owned(),
        scalar => format!("{scalar:?}").to_lowercase(),
    }
}

fn write_enum(found: &EnumDescriptor, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    let name = if depth == 0 {
        found.full_name()
    } else {
        found.name()
    };
    let _ = writeln!(out, "{indent}enum {name} {{");
    for value in found.values() {
        let _ = writeln!(out, "{indent}  {} = {};", value.name(), value.number());
    }
    let _ = writeln!(out, "{indent}}}");
}
