//! grpc-go's interoperability server.

use super::certificates::Identity;
use super::folder::Folder;
use super::lab;
use super::patience::wait_until;
use super::process::Process;
use std::net::TcpStream;
use std::process::{Command, Stdio};

/// grpc-go's server, with the definition of its service.
#[derive(Debug)]
pub(crate) struct Interop {
    /// `None` while the server is down.
    pub(crate) process: Option<Process>,
    pub(crate) port: u16,
    pub(crate) folder: Folder,
    identity: Option<Identity>,
}

impl Interop {
    /// Starts the server, over TLS if an identity is given; `None` if it is not installed.
    pub(crate) fn new(identity: Option<Identity>) -> Option<Self> {
        lab::suite("grpc-interop-server")?;
        let folder = Folder::new();
        folder.write("test.proto", PROTO);
        let mut server = Self {
            process: None,
            port: lab::port(),
            folder,
            identity,
        };
        server.start();
        Some(server)
    }

    /// Starts the server again.
    pub(crate) fn start(&mut self) {
        let mut command = Command::new(lab::suite("grpc-interop-server").unwrap());
        command.args(["-port", &self.port.to_string()]);
        if let Some(Identity { certificate, key }) = &self.identity {
            command.args([
                "-use_tls",
                "-tls_cert_file",
                certificate,
                "-tls_key_file",
                key,
            ]);
        }
        let process = Process::start(command.stdin(Stdio::null()));
        wait_until("grpc-go's server listens", || {
            TcpStream::connect(("127.0.0.1", self.port)).is_ok()
        });
        self.process = Some(process);
    }

    /// The flags that every call of the service needs.
    pub(crate) fn line(&self, method: &str, flags: &str) -> String {
        let tls = if self.identity.is_some() {
            ""
        } else {
            "--plaintext"
        };
        format!(
            "localhost:{} {tls} --proto {} --call grpc.testing.TestService/{method} {flags}",
            self.port,
            self.folder.at("test.proto")
        )
    }
}

/// The used part of the interoperability service's definition, which the server does not offer
/// through reflection.
const PROTO: &str = r#"
syntax = "proto3";
package grpc.testing;
message Empty {}
message Payload { int32 type = 1; bytes body = 2; }
message EchoStatus { int32 code = 1; string message = 2; }
message SimpleRequest {
  int32 response_size = 2;
  Payload payload = 3;
  EchoStatus response_status = 7;
}
message SimpleResponse { Payload payload = 1; }
message StreamingInputCallRequest { Payload payload = 1; }
message StreamingInputCallResponse { int32 aggregated_payload_size = 1; }
message ResponseParameters { int32 size = 1; int32 interval_us = 2; }
message StreamingOutputCallRequest {
  repeated ResponseParameters response_parameters = 2;
  Payload payload = 3;
  EchoStatus response_status = 7;
}
message StreamingOutputCallResponse { Payload payload = 1; }
service TestService {
  rpc EmptyCall(Empty) returns (Empty);
  rpc UnaryCall(SimpleRequest) returns (SimpleResponse);
  rpc StreamingOutputCall(StreamingOutputCallRequest) returns (stream StreamingOutputCallResponse);
  rpc StreamingInputCall(stream StreamingInputCallRequest) returns (StreamingInputCallResponse);
  rpc FullDuplexCall(stream StreamingOutputCallRequest) returns (stream StreamingOutputCallResponse);
  rpc UnimplementedCall(Empty) returns (Empty);
}
service Missing { rpc UnaryCall(SimpleRequest) returns (SimpleResponse); }
"#;
