//! The messages of `proto/`, field for field; the tests check them against the schema.

use bytes::Bytes;
use prost::Message;
use prost_reflect::prost_types::{Any, Duration};

/// The request: a name to greet.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct HelloRequest {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
}

/// The greeting.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct HelloReply {
    #[prost(string, tag = "1")]
    pub(crate) message: String,
}

/// A request of the test service.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Request {
    #[prost(message, optional, tag = "1")]
    pub(crate) wish: Option<Wish>,
    #[prost(string, tag = "2")]
    pub(crate) text: String,
    #[prost(bytes = "bytes", tag = "3")]
    pub(crate) payload: Bytes,
}

/// The wanted answer.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Wish {
    #[prost(message, optional, tag = "1")]
    pub(crate) delay: Option<Duration>,
    #[prost(uint32, optional, tag = "2")]
    pub(crate) count: Option<u32>,
    #[prost(uint32, tag = "3")]
    pub(crate) size: u32,
    #[prost(message, optional, tag = "4")]
    pub(crate) gap: Option<Duration>,
    #[prost(message, optional, tag = "5")]
    pub(crate) status: Option<RpcStatus>,
    #[prost(bool, tag = "6")]
    pub(crate) echo_metadata: bool,
    #[prost(string, tag = "7")]
    pub(crate) encoding: String,
    #[prost(enumeration = "Oddity", tag = "8")]
    pub(crate) oddity: i32,
    #[prost(uint32, tag = "9")]
    pub(crate) oddity_code: u32,
}

/// A status with details, like google.rpc.Status.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RpcStatus {
    #[prost(uint32, tag = "1")]
    pub(crate) code: u32,
    #[prost(string, tag = "2")]
    pub(crate) message: String,
    #[prost(message, repeated, tag = "3")]
    pub(crate) details: Vec<Any>,
}

/// The fault at the end of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub(crate) enum Oddity {
    Unspecified = 0,
    HeadersFirst = 1,
    NoStatus = 2,
    BadStatus = 3,
    Http = 4,
    ContentType = 5,
    Reset = 6,
    HalfMessage = 7,
    CompressedFlag = 8,
    Hang = 9,
}

/// A response of the test service.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Response {
    #[prost(uint64, tag = "1")]
    pub(crate) number: u64,
    #[prost(uint64, tag = "2")]
    pub(crate) request: u64,
    #[prost(string, tag = "3")]
    pub(crate) text: String,
    #[prost(bytes = "bytes", tag = "4")]
    pub(crate) payload: Bytes,
    #[prost(uint64, tag = "5")]
    pub(crate) clock_ns: u64,
    #[prost(message, repeated, tag = "6")]
    pub(crate) metadata: Vec<Metadata>,
}

/// A summary of a client's stream.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Summary {
    #[prost(uint64, tag = "1")]
    pub(crate) messages: u64,
    #[prost(uint64, tag = "2")]
    pub(crate) payload_bytes: u64,
    #[prost(string, tag = "3")]
    pub(crate) text: String,
    #[prost(bytes = "bytes", tag = "4")]
    pub(crate) payload: Bytes,
    #[prost(uint64, repeated, tag = "5")]
    pub(crate) clock_ns: Vec<u64>,
    #[prost(message, repeated, tag = "6")]
    pub(crate) metadata: Vec<Metadata>,
}

/// One entry of a call's metadata.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Metadata {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(bytes = "bytes", tag = "2")]
    pub(crate) value: Bytes,
}

/// Opens a session of the shop.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct LoginRequest {
    #[prost(string, tag = "1")]
    pub(crate) user: String,
    #[prost(string, tag = "2")]
    pub(crate) password: String,
}

/// The proof of a session.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct LoginReply {
    #[prost(string, tag = "1")]
    pub(crate) token: String,
}

/// Adds to a cart.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct AddRequest {
    #[prost(uint64, tag = "1")]
    pub(crate) product: u64,
    #[prost(uint64, optional, tag = "2")]
    pub(crate) count: Option<u64>,
}

/// A cart's contents, summed up.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct CartMessage {
    #[prost(uint64, tag = "1")]
    pub(crate) count: u64,
    #[prost(uint64, tag = "2")]
    pub(crate) total: u64,
}

/// Pays a cart.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct PlaceRequest {
    #[prost(uint64, optional, tag = "1")]
    pub(crate) amount: Option<u64>,
}

/// A paid cart.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Order {
    #[prost(uint64, tag = "1")]
    pub(crate) id: u64,
    #[prost(uint64, tag = "2")]
    pub(crate) total: u64,
}

/// Ends a session.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct LogoutRequest {}

/// The session has ended.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct LogoutReply {}
