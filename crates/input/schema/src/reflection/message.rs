//! The messages of the reflection service, for both of its versions, without unused parts.

use prost::{Message, Oneof};

/// `ServerReflectionRequest`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Request {
    #[prost(oneof = "Question", tags = "3, 4, 7")]
    pub(crate) question: Option<Question>,
}

/// The question in a request.
#[derive(Clone, PartialEq, Eq, Oneof)]
pub(crate) enum Question {
    #[prost(string, tag = "3")]
    FileByFilename(String),
    #[prost(string, tag = "4")]
    FileContainingSymbol(String),
    #[prost(string, tag = "7")]
    ListServices(String),
}

impl Request {
    pub(crate) const fn new(question: Question) -> Self {
        Self {
            question: Some(question),
        }
    }
}

/// `ServerReflectionResponse`. Its fields form a oneof; the last one in the message counts.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Response {
    #[prost(message, optional, tag = "4")]
    pub(crate) files: Option<FileDescriptorResponse>,
    #[prost(message, optional, tag = "6")]
    pub(crate) services: Option<ListServiceResponse>,
    #[prost(message, optional, tag = "7")]
    pub(crate) error: Option<ErrorResponse>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct FileDescriptorResponse {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub(crate) file_descriptor_proto: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ListServiceResponse {
    #[prost(message, repeated, tag = "1")]
    pub(crate) service: Vec<ServiceResponse>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ServiceResponse {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ErrorResponse {
    #[prost(int32, tag = "1")]
    pub(crate) error_code: i32,
    #[prost(string, tag = "2")]
    pub(crate) error_message: String,
}
