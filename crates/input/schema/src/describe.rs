//! Symbols in the form of a `.proto` file, line by line. The names in a line come from the schema,
//! unescaped.

use crate::{SchemaError, lookup};
use prost_reflect::{
    Cardinality, DescriptorPool, EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor,
    MethodDescriptor, ServiceDescriptor, Syntax,
};
use std::collections::BTreeSet;

/// Every service with its methods, sorted.
pub(crate) fn list(pool: &DescriptorPool) -> Vec<String> {
    let mut lines: Vec<String> = pool
        .services()
        .flat_map(|service| service.methods().collect::<Vec<_>>())
        .map(|method| {
            let service = method.parent_service().full_name().to_owned();
            format!("{service}/{}", signature(&method))
        })
        .collect();
    lines.sort();
    lines
}

/// A service, method, message or enum.
pub(crate) fn describe(pool: &DescriptorPool, symbol: &str) -> Result<Vec<String>, SchemaError> {
    let name = symbol.strip_prefix('.').unwrap_or(symbol);
    let mut out = Vec::new();
    if let Some(service) = pool.get_service_by_name(name) {
        write_service(&service, &mut out);
    } else if let Some(message) = pool.get_message_by_name(name) {
        write_message(&message, 0, &mut out);
    } else if let Some(found) = pool.get_enum_by_name(name) {
        write_enum(&found, 0, &mut out);
    } else if let Some(method) = find_method(pool, name) {
        out.push(format!("rpc {};", signature(&method)));
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

/// The full names of all services, messages and enums, except map entries.
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

fn write_service(service: &ServiceDescriptor, out: &mut Vec<String>) {
    out.push(format!("service {} {{", service.full_name()));
    for method in service.methods() {
        out.push(format!("  rpc {};", signature(&method)));
    }
    out.push("}".to_owned());
}

/// A message with its nested messages and enums. Decoding has bounded their depth.
fn write_message(message: &MessageDescriptor, depth: usize, out: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    let name = if depth == 0 {
        message.full_name()
    } else {
        message.name()
    };
    out.push(format!("{indent}message {name} {{"));
    for inner in message
        .child_messages()
        .filter(|inner| !inner.is_map_entry())
    {
        write_message(&inner, depth + 1, out);
    }
    for inner in message.child_enums() {
        write_enum(&inner, depth + 1, out);
    }
    let mut choices = BTreeSet::new();
    for field in message.fields() {
        match field
            .containing_oneof()
            .filter(|oneof| !oneof.is_synthetic())
        {
            None => write_field(&field, depth + 1, out),
            Some(oneof) if !choices.insert(oneof.full_name().to_owned()) => {}
            Some(oneof) => {
                out.push(format!("{indent}  oneof {} {{", oneof.name()));
                for field in oneof.fields() {
                    write_field(&field, depth + 2, out);
                }
                out.push(format!("{indent}  }}"));
            }
        }
    }
    out.push(format!("{indent}}}"));
}

fn write_field(field: &FieldDescriptor, depth: usize, out: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    out.push(format!(
        "{indent}{}{} {} = {};",
        label(field),
        type_name(field),
        field.name(),
        field.number()
    ));
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

fn write_enum(found: &EnumDescriptor, depth: usize, out: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    let name = if depth == 0 {
        found.full_name()
    } else {
        found.name()
    };
    out.push(format!("{indent}enum {name} {{"));
    for value in found.values() {
        out.push(format!("{indent}  {} = {};", value.name(), value.number()));
    }
    out.push(format!("{indent}}}"));
}
