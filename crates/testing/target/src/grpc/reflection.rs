//! grpc.reflection in versions v1 and v1alpha: the same messages with two names.

use super::call::Call;
use super::ended::Ended;
use crate::grpc_code::GrpcCode;
use prost::{Message, Oneof};
use prost_reflect::{DescriptorPool, FileDescriptor};

/// The services' full names, and their only method.
pub(crate) const V1: &str = "grpc.reflection.v1.ServerReflection";
pub(crate) const V1_ALPHA: &str = "grpc.reflection.v1alpha.ServerReflection";
pub(crate) const METHOD: &str = "ServerReflectionInfo";

#[derive(Clone, PartialEq, Message)]
struct Request {
    #[prost(string, tag = "1")]
    host: String,
    #[prost(oneof = "Question", tags = "3, 4, 5, 6, 7")]
    question: Option<Question>,
}

#[derive(Clone, PartialEq, Oneof)]
enum Question {
    #[prost(string, tag = "3")]
    FileByName(String),
    #[prost(string, tag = "4")]
    FileOfSymbol(String),
    #[prost(message, tag = "5")]
    FileOfExtension(Extension),
    #[prost(string, tag = "6")]
    ExtensionsOf(String),
    #[prost(string, tag = "7")]
    Services(String),
}

#[derive(Clone, PartialEq, Message)]
struct Extension {
    #[prost(string, tag = "1")]
    containing_type: String,
    #[prost(int32, tag = "2")]
    number: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Response {
    #[prost(string, tag = "1")]
    valid_host: String,
    #[prost(message, optional, tag = "2")]
    original_request: Option<Request>,
    #[prost(oneof = "Reply", tags = "4, 5, 6, 7")]
    reply: Option<Reply>,
}

#[derive(Clone, PartialEq, Oneof)]
enum Reply {
    #[prost(message, tag = "4")]
    Files(Files),
    #[prost(message, tag = "5")]
    Extensions(Extensions),
    #[prost(message, tag = "6")]
    Services(ReflectedServices),
    #[prost(message, tag = "7")]
    Error(Error),
}

#[derive(Clone, PartialEq, Message)]
struct Files {
    #[prost(bytes = "vec", repeated, tag = "1")]
    files: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct Extensions {
    #[prost(string, tag = "1")]
    base_type: String,
    #[prost(int32, repeated, tag = "2")]
    numbers: Vec<i32>,
}

#[derive(Clone, PartialEq, Message)]
struct ReflectedServices {
    #[prost(message, repeated, tag = "1")]
    services: Vec<Service>,
}

#[derive(Clone, PartialEq, Message)]
struct Service {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct Error {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

/// Answers one reflection request after the other.
pub(crate) async fn answer(call: &mut Call) -> Result<(), Ended> {
    while let Some(request) = call.inlet.next::<Request>().await? {
        let reply = reply(call.grpc.pool(), request.question.as_ref());
        let response = Response {
            valid_host: request.host.clone(),
            original_request: Some(request),
            reply: Some(reply),
        };
        call.send(&response).await?;
    }
    Ok(())
}

/// The answer to a reflection request. A file is sent without its imports, which a client requests
/// separately.
fn reply(pool: &DescriptorPool, question: Option<&Question>) -> Reply {
    match question {
        Some(Question::FileByName(name)) => file(pool.get_file_by_name(name), name),
        Some(Question::FileOfSymbol(symbol)) => file(of_symbol(pool, symbol), symbol),
        Some(Question::FileOfExtension(extension)) => {
            let number = u32::try_from(extension.number).unwrap_or(0);
            let message = pool.get_message_by_name(&extension.containing_type);
            let found = message.and_then(|message| message.get_extension(number));
            file(
                found.map(|found| found.parent_file()),
                &extension.containing_type,
            )
        }
        Some(Question::ExtensionsOf(name)) => match pool.get_message_by_name(name) {
            None => not_found(name),
            Some(message) => Reply::Extensions(Extensions {
                base_type: name.clone(),
                // Field numbers have 29 bits.
                numbers: message
                    .extensions()
                    .map(|field| field.number() as i32)
                    .collect(),
            }),
        },
        Some(Question::Services(_)) => {
            let name = |name: &str| Service {
                name: name.to_owned(),
            };
            let services = pool
                .services()
                .map(|service| name(service.full_name()))
                .collect();
            Reply::Services(ReflectedServices { services })
        }
        None => Reply::Error(Error {
            code: GrpcCode::INVALID_ARGUMENT.0.cast_signed(),
            message: "empty request".to_owned(),
        }),
    }
}

/// The file that contains a service, method, message, enum or field of this name.
fn of_symbol(pool: &DescriptorPool, symbol: &str) -> Option<FileDescriptor> {
    let of_service = |name: &str| {
        pool.get_service_by_name(name)
            .map(|found| found.parent_file())
    };
    let of_message = |name: &str| {
        pool.get_message_by_name(name)
            .map(|found| found.parent_file())
    };
    let of_enum = |name: &str| pool.get_enum_by_name(name).map(|found| found.parent_file());
    let of_extension = |name: &str| {
        pool.get_extension_by_name(name)
            .map(|found| found.parent_file())
    };
    let of_member = || {
        let (parent, member) = symbol.rsplit_once('.')?;
        let service = pool.get_service_by_name(parent);
        let method = service.and_then(|service| service.methods().find(|m| m.name() == member));
        let message = pool.get_message_by_name(parent);
        let field = message.and_then(|message| message.get_field_by_name(member));
        let method = method.map(|method| method.parent_service().parent_file());
        method.or_else(|| field.map(|field| field.parent_message().parent_file()))
    };
    of_service(symbol)
        .or_else(|| of_message(symbol))
        .or_else(|| of_enum(symbol))
        .or_else(|| of_extension(symbol))
        .or_else(of_member)
}

fn file(found: Option<FileDescriptor>, name: &str) -> Reply {
    match found {
        None => not_found(name),
        Some(file) => Reply::Files(Files {
            files: vec![file.encode_to_vec()],
        }),
    }
}

fn not_found(name: &str) -> Reply {
    Reply::Error(Error {
        code: 5,
        message: format!("unknown name `{name}`"),
    })
}
