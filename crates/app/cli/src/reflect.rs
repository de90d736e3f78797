//! Fetches a server's schema through gRPC reflection.

use crate::exit::Failure;
use crate::output::Output;
use crate::{names, session, terminal};
use drumfire_compile::SchemaQuestion;
use drumfire_engine::{ConversationError, PrepareError, Speaker, converse};
use drumfire_measure::Outcome;
use drumfire_net::{Clock, Native, NativeOptions, Stamping, Waiting};
use drumfire_plan::{Inquiry, Plan, Scheme};
use drumfire_report::Naming;
use drumfire_report::style::Unicode;
use drumfire_report::untrusted::Untrusted;
use drumfire_schema::Schema;
use drumfire_schema::reflection::Session;
use drumfire_session::Console as _;
use drumfire_units::Nanos;

/// The status of a server without the reflection service.
const UNIMPLEMENTED: &str = "UNIMPLEMENTED";

/// Drives a reflection session on a stream.
struct ReflectionDriver<'a> {
    session: &'a mut Session,
    sends_one: bool,
}

impl Speaker for ReflectionDriver<'_> {
    fn next(&mut self) -> Option<Vec<u8>> {
        self.session.next_request()
    }

    fn is_done(&self) -> bool {
        self.session.is_complete()
    }

    fn sends_one(&self) -> bool {
        self.sends_one
    }

    fn on_message(&mut self, message: &[u8]) -> Result<(), String> {
        self.session
            .handle_response(message)
            .map_err(|error| error.to_string())
    }
}

/// Fetches the schema of a server. A terminal shows the server's place meanwhile.
pub(crate) fn schema(question: &SchemaQuestion<'_>, output: &Output) -> Result<Schema, Failure> {
    if !terminal::is_live() {
        return asked(question);
    }
    let place = place(question.server);
    output.replace_line(&format!("fetching the schema from {place}"));
    let schema = asked(question);
    output.replace_line("");
    schema
}

/// Exchanges messages with a server until the schema is complete.
fn asked(question: &SchemaQuestion<'_>) -> Result<Schema, Failure> {
    let server = question.server;
    let mut session = Session::new(question.wanted.clone());
    // A server that ends one stream after a response ends every stream so, and each stream takes
    // one request.
    let mut sends_one = false;
    loop {
        let io = native()?;
        let path = session.version().path();
        let asked = converse(
            io,
            server,
            &names::resolve,
            (path, question.metadata),
            question.limit,
            &mut ReflectionDriver {
                session: &mut session,
                sends_one,
            },
        );
        match asked {
            Ok(()) if !session.is_complete() && session.is_answered() => sends_one = true,
            Ok(()) => {
                return session
                    .finish()
                    .map_err(|error| failed(server, &error.to_string()));
            }
            Err(ConversationError::Status(code, said)) if code.name() == UNIMPLEMENTED => {
                if !session.handle_unimplemented() {
                    return Err(unsupported(&said));
                }
            }
            Err(error) => {
                return Err(failed(server, &error.to_string()).with_remedy(advice(server, &error)));
            }
        }
    }
}

/// The failure for a server without reflection; `said` is the server's message.
fn unsupported(said: &str) -> Failure {
    let said = match said {
        "" => String::new(),
        said => format!(" ({})", Untrusted::new(said).escaped(Unicode::On)),
    };
    Failure::failed(format!(
        "the server does not support reflection{said}; use --proto or --protoset"
    ))
}

/// Whether the target of a plan's first request selects HTTP/2 when TLS offers it.
pub(crate) fn chooses_http2(plan: &Plan, limit: Nanos) -> Result<bool, Failure> {
    Ok(drumfire_engine::chooses_http2(
        native()?,
        plan,
        &names::resolve,
        limit,
    ))
}

/// The driver for conversations with the target before the run.
fn native() -> Result<Native, Failure> {
    let options = NativeOptions {
        clock: Clock::start(),
        waiting: Waiting::Sleep,
        stamping: Stamping::Off,
        tls: Vec::new(),
    };
    Native::new(&options)
        .map_err(|error| Failure::failed(format!("can't set up the event loop: {error}")))
}

/// A remedy, if one is known.
fn advice(server: &Inquiry, error: &ConversationError) -> String {
    let outcome = match error {
        ConversationError::Failed(outcome, _) => *outcome,
        ConversationError::Prepare(PrepareError::Resolve { .. }) => {
            return session::RESOLVE.to_owned();
        }
        ConversationError::TimedOut => {
            return "; check that this is a gRPC server; if it has no reflection, use --proto or \
                    --protoset"
                .to_owned();
        }
        ConversationError::Silent => {
            return "; check the port, and leave out --plaintext if the server expects TLS"
                .to_owned();
        }
        _ => return String::new(),
    };
    let scheme = server.request().url.origin.scheme;
    let special = match (scheme, outcome) {
        (Scheme::Https, Outcome::TlsProtocol) => {
            Some("use --plaintext if the server does not use TLS".into())
        }
        (
            Scheme::Http,
            Outcome::Closed | Outcome::Reset | Outcome::ConnectReset | Outcome::ProtoNotHttp2,
        ) => Some("leave out --plaintext if the server expects TLS".into()),
        _ => drumfire_report::remedy(outcome, Naming::Flags),
    };
    special.map_or_else(String::new, |remedy| format!("; {remedy}"))
}

/// The failure to fetch a schema, with the server's place.
fn failed(server: &Inquiry, reason: &str) -> Failure {
    let place = place(server);
    // The reason may contain text from the server.
    let reason = Untrusted::new(reason).escaped(Unicode::On);
    Failure::failed(format!("could not fetch the schema from {place}: {reason}"))
}

/// The place of a server, for messages.
fn place(server: &Inquiry) -> String {
    match &server.pool().reach.unix_socket {
        Some(socket) => format!("the socket {}", socket.display()),
        None => {
            let origin = &server.request().url.origin;
            format!("{}:{}", origin.host, origin.port)
        }
    }
}
