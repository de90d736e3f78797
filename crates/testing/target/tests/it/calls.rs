//! A gRPC client that uses only reflection for its schema.

#![expect(clippy::unwrap_used, reason = "a client in a test")]

use crate::frames::{Client, Reply, request};
use drumfire_target::Running;
use flate2::read::GzDecoder;
use h2::Reason;
use http::Method;
use prost::Message;
use prost_reflect::prost_types::{FileDescriptorProto, FileDescriptorSet};
use prost_reflect::{DescriptorPool, DynamicMessage, MethodDescriptor};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read as _;

/// The result of a call.
#[derive(Debug)]
pub(crate) struct Called {
    pub(crate) reply: Reply,
    pub(crate) messages: Vec<Value>,
}

impl Called {
    /// The code of the status.
    pub(crate) fn code(&self) -> Option<u32> {
        self.reply.field("grpc-status")?.parse().ok()
    }

    pub(crate) fn field(&self, name: &str) -> &str {
        self.reply.field(name).unwrap_or_default()
    }
}

/// A connection, and the server's SETTINGS.
pub(crate) struct Caller {
    pub(crate) client: Client,
    pool: DescriptorPool,
}

#[derive(Clone, PartialEq, Message)]
struct Question {
    #[prost(string, optional, tag = "3")]
    file: Option<String>,
    #[prost(string, optional, tag = "4")]
    symbol: Option<String>,
    #[prost(string, optional, tag = "7")]
    services: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Answer {
    #[prost(message, optional, tag = "4")]
    files: Option<Blobs>,
    #[prost(message, optional, tag = "6")]
    services: Option<Names>,
    #[prost(message, optional, tag = "7")]
    error: Option<Mistake>,
}

#[derive(Clone, PartialEq, Message)]
struct Blobs {
    #[prost(bytes = "vec", repeated, tag = "1")]
    blobs: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct Names {
    #[prost(message, repeated, tag = "1")]
    names: Vec<Name>,
}

#[derive(Clone, PartialEq, Message)]
struct Name {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct Mistake {
    #[prost(int32, tag = "1")]
    code: i32,
}

impl Caller {
    /// Connects, and requests all schemas with a version of reflection.
    pub(crate) async fn connect(server: &Running, version: &str) -> Self {
        let mut client = Client::connect(server).await;
        let list = Question {
            services: Some(String::new()),
            ..Question::default()
        };
        let services = ask(&mut client, version, &list).await.services.unwrap();
        let mut files = BTreeMap::new();
        let mut wanted: Vec<Question> = services
            .names
            .into_iter()
            .map(|service| Question {
                symbol: Some(service.name),
                ..Question::default()
            })
            .collect();
        while let Some(question) = wanted.pop() {
            let answer = ask(&mut client, version, &question).await;
            for blob in answer.files.unwrap().blobs {
                let file = FileDescriptorProto::decode(&blob[..]).unwrap();
                for name in &file.dependency {
                    if !files.contains_key(name) {
                        wanted.push(Question {
                            file: Some(name.clone()),
                            ..Question::default()
                        });
                    }
                }
                files.insert(file.name().to_owned(), file);
            }
        }
        let set = FileDescriptorSet {
            file: files.into_values().collect(),
        };
        Self {
            client,
            pool: DescriptorPool::from_file_descriptor_set(set).unwrap(),
        }
    }

    /// The names of all services.
    pub(crate) fn services(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .pool
            .services()
            .map(|service| service.full_name().to_owned())
            .collect();
        names.sort();
        names
    }

    /// The code with which a version of reflection answers for an unknown symbol.
    pub(crate) async fn missing(&mut self, symbol: &str) -> Option<i32> {
        let question = Question {
            symbol: Some(symbol.to_owned()),
            ..Question::default()
        };
        let answer = ask(&mut self.client, "v1", &question).await;
        answer.error.map(|error| error.code)
    }

    fn method(&self, path: &str) -> MethodDescriptor {
        let (service, method) = path.split_once('/').unwrap();
        let service = self.pool.get_service_by_name(service).unwrap();
        service.methods().find(|m| m.name() == method).unwrap()
    }

    /// Calls a method with messages written as JSON.
    pub(crate) async fn call(&mut self, path: &str, messages: &[Value]) -> Called {
        self.call_with(path, messages, &[]).await.unwrap()
    }

    /// Calls a method with messages written as JSON, and with metadata. An error means that the
    /// stream was reset.
    pub(crate) async fn call_with(
        &mut self,
        path: &str,
        messages: &[Value],
        metadata: &[(&str, &str)],
    ) -> Result<Called, Option<Reason>> {
        let method = self.method(path);
        let mut body = Vec::new();
        for message in messages {
            let message = DynamicMessage::deserialize(method.input(), message).unwrap();
            frame(&mut body, 0, &message.encode_to_vec());
        }
        let reply = self.send(path, &body, metadata).await?;
        let mut left = &reply.body[..];
        let mut received = Vec::new();
        while let Some((head, rest)) = left.split_first_chunk::<5>() {
            let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
            if rest.len() < length || reply.field("content-type") != Some("application/grpc") {
                break;
            }
            let plain = match (head[0], reply.field("grpc-encoding")) {
                (0, _) => rest[..length].to_vec(),
                (_, Some("gzip")) => {
                    let mut plain = Vec::new();
                    GzDecoder::new(&rest[..length])
                        .read_to_end(&mut plain)
                        .unwrap();
                    plain
                }
                (_, Some("zstd")) => zstd::decode_all(&rest[..length]).unwrap(),
                _ => break,
            };
            let message = DynamicMessage::decode(method.output(), &plain[..]).unwrap();
            received.push(serde_json::to_value(message).unwrap());
            left = &rest[length..];
        }
        Ok(Called {
            messages: received,
            reply,
        })
    }

    /// Sends the literal bytes of a call.
    pub(crate) async fn send(
        &mut self,
        path: &str,
        body: &[u8],
        metadata: &[(&str, &str)],
    ) -> Result<Reply, Option<Reason>> {
        let mut request = request(Method::POST, &format!("/{path}"));
        let fields = [("content-type", "application/grpc"), ("te", "trailers")];
        for (name, value) in fields.iter().chain(metadata) {
            let name = http::HeaderName::from_bytes(name.as_bytes()).unwrap();
            request.headers_mut().append(name, value.parse().unwrap());
        }
        let reply = self.client.send(request, body).await;
        reply.map_err(|error| error.reason())
    }
}

/// Adds a message with its prefix.
pub(crate) fn frame(body: &mut Vec<u8>, flag: u8, message: &[u8]) {
    body.push(flag);
    body.extend_from_slice(&u32::try_from(message.len()).unwrap().to_be_bytes());
    body.extend_from_slice(message);
}

async fn ask(client: &mut Client, version: &str, question: &Question) -> Answer {
    let path = format!("/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo");
    let mut request = request(Method::POST, &path);
    let kind = "application/grpc".parse().unwrap();
    request.headers_mut().insert("content-type", kind);
    let mut body = Vec::new();
    frame(&mut body, 0, &question.encode_to_vec());
    let reply = client.send(request, &body).await.unwrap();
    assert_eq!(reply.field("grpc-status"), Some("0"));
    Answer::decode(&reply.body[5..]).unwrap()
}
