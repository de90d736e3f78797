//! The variables of a call, as in ghz.
//!
//! A template usually uses one or two variables, so each is computed on demand. All are functions
//! of the request's context; the time is the start of the call.

use super::UUID_PLACE;
use crate::Host;
use drumfire_data::Random;
use drumfire_gotemplate::{GoTime, Object, Value};
use drumfire_plan::RequestContext;
use std::fmt::Write as _;
use std::sync::Arc;

/// The facts about the called method that templates may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallNames {
    /// The service with its package: `hellohost.Greeter`.
    pub(crate) service: String,
    /// The method's own name.
    pub(crate) method: String,
    /// The request message's own name.
    pub(crate) input: String,
    /// The reply message's own name.
    pub(crate) output: String,
    /// Whether the client sends a stream.
    pub(crate) client_streams: bool,
    /// Whether the server sends a stream.
    pub(crate) server_streams: bool,
    /// The workers among which ghz would distribute the call.
    pub(crate) workers: Workers,
}

/// The workers that `{{.WorkerID}}` refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Workers {
    /// The prefix of each worker's name.
    pub(crate) name: Option<String>,
    /// The number of workers among which calls are distributed in turn; without it, the users are
    /// the workers.
    pub(crate) count: Option<u32>,
}

impl CallNames {
    /// The service's name without its package.
    fn short_service(&self) -> &str {
        self.service.rsplit('.').next().unwrap_or_default()
    }
}

/// The variables of one call and message.
#[derive(Debug)]
pub(super) struct CallVariables {
    pub(super) names: Arc<CallNames>,
    pub(super) host: Arc<dyn Host>,
    pub(super) call: RequestContext,
    pub(super) message: u64,
}

/// The variables' names.
const FIELDS: &[&str] = &[
    "WorkerID",
    "RequestNumber",
    "FullyQualifiedName",
    "MethodName",
    "ServiceName",
    "InputName",
    "OutputName",
    "IsClientStreaming",
    "IsServerStreaming",
    "Timestamp",
    "TimestampUnix",
    "TimestampUnixMilli",
    "TimestampUnixNano",
    "UUID",
];

impl CallVariables {
    /// `{{.WorkerID}}`: the prefix, the worker and the connection, as ghz writes them.
    fn worker(&self) -> Value {
        let workers = &self.names.workers;
        let mut id = String::with_capacity(16);
        if let Some(name) = &workers.name {
            id.push_str(name);
            id.push(':');
        }
        let worker = match workers.count {
            None => u64::from(self.call.user),
            Some(count) => self.call.number % u64::from(count.max(1)),
        };
        // Writing to a string cannot fail.
        let _ = write!(id, "g{worker}c{}", self.call.connection);
        id.into()
    }

    /// The time of the call since 1970, in units of `nanos_per_unit` nanoseconds.
    fn unix(&self, nanos_per_unit: u64) -> i64 {
        i64::try_from(self.call.now / nanos_per_unit).unwrap_or(i64::MAX)
    }

    /// The time of the call to the second, in the machine's time zone.
    fn timestamp(&self) -> Value {
        let seconds = self.unix(1_000_000_000);
        let zone = self.host.zone("Local", seconds);
        let moment = GoTime::shown(seconds, 0, zone);
        moment.format("2006-01-02T15:04:05Z07:00").into()
    }

    /// `{{.UUID}}`: the same for all texts of one call and message.
    fn uuid(&self) -> Value {
        let RequestContext { seed, number, .. } = self.call;
        let mut text = String::with_capacity(36);
        Random::new(seed, number, self.message, UUID_PLACE).uuid(&mut text);
        text.into()
    }
}

impl Object for CallVariables {
    fn type_name(&self) -> &str {
        "*runner.CallData"
    }

    fn field(&self, name: &str) -> Option<Value> {
        let names = &self.names;
        Some(match name {
            "WorkerID" => self.worker(),
            "RequestNumber" => Value::int64(i64::try_from(self.call.number).unwrap_or(i64::MAX)),
            "FullyQualifiedName" => format!("{}.{}", names.service, names.method).into(),
            "MethodName" => names.method.as_str().into(),
            "ServiceName" => names.short_service().into(),
            "InputName" => names.input.as_str().into(),
            "OutputName" => names.output.as_str().into(),
            "IsClientStreaming" => names.client_streams.into(),
            "IsServerStreaming" => names.server_streams.into(),
            "Timestamp" => self.timestamp(),
            "TimestampUnix" => Value::int64(self.unix(1_000_000_000)),
            "TimestampUnixMilli" => Value::int64(self.unix(1_000_000)),
            "TimestampUnixNano" => Value::int64(self.unix(1)),
            "UUID" => self.uuid(),
            _ => return None,
        })
    }

    fn field_names(&self) -> &[&str] {
        FIELDS
    }
}
