//! The metrics that every run has.

use super::Contains::{self, Data, Default, Time};
use crate::metric::Kind::{self, Counter, Gauge, Rate, Trend};

/// Names, kinds and contents.
pub(super) const METRICS: [(&str, Kind, Contains); 28] = [
    ("vus", Gauge, Default),
    ("vus_max", Gauge, Default),
    ("iterations", Counter, Default),
    ("iteration_duration", Trend, Time),
    ("dropped_iterations", Counter, Default),
    ("checks", Rate, Default),
    ("group_duration", Trend, Time),
    ("http_reqs", Counter, Default),
    ("http_req_failed", Rate, Default),
    ("http_req_duration", Trend, Time),
    ("http_req_blocked", Trend, Time),
    ("http_req_connecting", Trend, Time),
    ("http_req_tls_handshaking", Trend, Time),
    ("http_req_sending", Trend, Time),
    ("http_req_waiting", Trend, Time),
    ("http_req_receiving", Trend, Time),
    ("ws_sessions", Counter, Default),
    ("ws_msgs_sent", Counter, Default),
    ("ws_msgs_received", Counter, Default),
    ("ws_ping", Trend, Time),
    ("ws_session_duration", Trend, Time),
    ("ws_connecting", Trend, Time),
    ("grpc_req_duration", Trend, Time),
    ("grpc_streams", Counter, Default),
    ("grpc_streams_msgs_sent", Counter, Default),
    ("grpc_streams_msgs_received", Counter, Default),
    ("data_sent", Counter, Data),
    ("data_received", Counter, Data),
];
