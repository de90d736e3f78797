//! Rows of results: phout's twelve columns, also as JSON.

use crate::grpc_code;
use drumfire_measure::{Kept, Outcome, Sample};
use drumfire_units::Nanos;
use serde_json::json;
use std::io::Write as _;

/// The code of failures without an error number of the operating system.
const OTHER: u32 = 999;

/// Which columns are filled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    pub(super) sizes: bool,
    pub(super) phases: bool,
    pub(super) status: Status,
}

/// The content of the last column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// The HTTP status.
    Http,
    /// The HTTP status that corresponds to the gRPC status.
    Grpc,
}

impl Status {
    /// Whether a step of a scenario has failed. A call to which the server answers with an error
    /// has not.
    pub(super) fn is_failed(self, sample: &Sample) -> bool {
        use Outcome as O;
        match (self, sample.outcome) {
            (_, O::Ok) => false,
            (Self::Http, _) => true,
            (Self::Grpc, outcome) => matches!(
                outcome,
                O::AssertHeader
                    | O::AssertBody
                    | O::AssertTime
                    | O::ExtractMissing
                    | O::Script
                    | O::BadData
            ),
        }
    }
}

/// One row. All times except the first are in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Row<'a> {
    /// The time of sending, in nanoseconds since 1970.
    sent: u64,
    /// The time of the end, in nanoseconds since 1970.
    pub(super) end: u64,
    tag: &'a str,
    real: u64,
    /// The time since the request was due.
    response: u64,
    connect: u64,
    send: u64,
    latency: u64,
    receive: u64,
    size_out: u64,
    size_in: u64,
    net: u32,
    proto: u32,
    error: &'a str,
}

impl<'a> Row<'a> {
    /// The row of a sample of a run that started at `started_at`, in nanoseconds since 1970.
    pub(super) fn from_sample(
        kept: &'a Kept,
        started_at: u64,
        tag: &'a str,
        columns: Columns,
    ) -> Self {
        let sample = &kept.sample;
        let error = match sample.outcome {
            Outcome::Ok => "",
            outcome => match &kept.detail {
                Some(detail) => &detail.text,
                None => outcome.words(),
            },
        };
        let began = kept.particulars.began.min(sample.sent);
        let mut row = Self {
            sent: started_at + began.0,
            end: started_at + sample.end.0,
            tag,
            real: micros(sample.end - began),
            response: micros(sample.response_time()),
            net: net_code(sample),
            proto: match columns.status {
                Status::Http => u32::from(sample.status),
                Status::Grpc => of_grpc(sample),
            },
            error,
            ..Self::default()
        };
        // Go's client treats too many redirects, and a redirect that it can't follow, as its own
        // failure, and an unrequested upgrade as an answer.
        match sample.outcome {
            Outcome::RedirectLimit | Outcome::RedirectBlocked => (row.net, row.proto) = (OTHER, 0),
            Outcome::ProtoUnexpected101 => (row.net, row.proto) = (0, 101),
            _ => {}
        }
        if columns.phases && sample.first_byte != Nanos::MAX {
            // A server may answer before it has read the whole request.
            let written = kept
                .particulars
                .written
                .min(sample.first_byte)
                .max(sample.sent);
            row.connect = micros(sample.sent - began);
            row.send = micros(written - sample.sent);
            row.latency = micros(sample.first_byte - written);
            row.receive = micros(sample.end - sample.first_byte);
        }
        if columns.sizes {
            row.size_out = u64::from(sample.bytes_sent);
            row.size_in = sample.bytes_received;
        }
        row
    }

    /// Sets the codes of a step that failed because of its answer, as if no answer had come.
    pub(super) const fn mark_failed_step(&mut self) {
        if !self.error.is_empty() {
            self.proto = 0;
            if self.net == 0 {
                self.net = OTHER;
            }
        }
    }

    /// The row of a request that was never sent.
    pub(super) fn without_times(at: u64, tag: &'a str, net: u32) -> Self {
        Self {
            sent: at,
            end: at,
            tag,
            net,
            ..Self::default()
        }
    }

    /// Appends the columns, with the number after the tag.
    pub(super) fn print(&self, id: Option<u64>, out: &mut Vec<u8>) {
        let (seconds, millis) = (self.sent / 1_000_000_000, self.sent / 1_000_000 % 1_000);
        // Tabs and line ends would end a column.
        let tag = self.tag.replace(['\t', '\n', '\r'], " ");
        // Writing to a Vec can't fail.
        let _ = write!(out, "{seconds}.{millis:03}\t{tag}");
        if let Some(id) = id {
            let _ = write!(out, "#{id}");
        }
        let _ = write!(
            out,
            "\t{}\t{}\t{}\t{}\t{}\t0\t{}\t{}\t{}\t{}",
            self.real,
            self.connect,
            self.send,
            self.latency,
            self.receive,
            self.size_out,
            self.size_in,
            self.net,
            self.proto
        );
    }

    /// Appends the row as a JSON object, and a line end.
    pub(super) fn print_json(&self, pool: &str, out: &mut Vec<u8>) {
        let object = json!({
            "time": self.sent as f64 / 1e9,
            "pool": pool,
            "tag": self.tag,
            "interval_real": self.real,
            "response_time": self.response,
            "connect_time": self.connect,
            "send_time": self.send,
            "latency": self.latency,
            "receive_time": self.receive,
            "size_out": self.size_out,
            "size_in": self.size_in,
            "net_code": self.net,
            "proto_code": self.proto,
            "error": self.error,
        });
        let _ = writeln!(out, "{object}");
    }
}

fn of_grpc(sample: &Sample) -> u32 {
    grpc_code::OF_HTTP
        .get(usize::from(grpc_code::from_sample(sample)))
        .copied()
        .unwrap_or(500)
}

fn micros(span: Nanos) -> u64 {
    span.0 / 1_000
}

/// The error number of the operating system for a transport failure; 0 without one. A response that
/// fails a check counts as received.
fn net_code(sample: &Sample) -> u32 {
    use Outcome as O;
    match sample.outcome {
        O::Ok
        | O::HttpStatus
        | O::AssertHeader
        | O::AssertBody
        | O::AssertTime
        | O::ExtractMissing => 0,
        outcome if outcome.is_timeout() => 110,
        O::ConnectTimeout => 110,
        O::ConnectRefused => 111,
        O::ConnectReset | O::Reset => 104,
        O::ConnectUnreachable => 101,
        O::LocalDescriptors => 24,
        O::LocalPorts => 99,
        O::LocalMemory => 12,
        O::Send => 32,
        outcome if outcome.name().starts_with("grpc:") => 0,
        _ => OTHER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_measure::Particulars;

    fn sample(outcome: Outcome) -> Sample {
        Sample {
            intended: Nanos::from_millis(1),
            due: Nanos::from_millis(1),
            sent: Nanos::from_millis(2),
            first_byte: Nanos::from_millis(5),
            end: Nanos::from_millis(335),
            bytes_sent: 12,
            outcome,
            leniencies: drumfire_measure::Leniencies::default(),
            bytes_received: 34,
            status: 200,
            step: 0,
        }
    }

    fn printed(outcome: Outcome, columns: Columns, id: Option<u64>) -> String {
        let kept = Kept {
            sample: sample(outcome),
            particulars: Particulars {
                arrival: 41,
                began: Nanos::from_micros(1_900),
                written: Nanos::from_micros(2_050),
            },
            detail: None,
            answer: None,
            pool: 0,
        };
        let row = Row::from_sample(&kept, 1_484_660_999_000_000_000, "tag1|tag2", columns);
        let mut out = Vec::new();
        row.print(id, &mut out);
        String::from_utf8(out).unwrap()
    }

    const NONE: Columns = Columns {
        sizes: false,
        phases: false,
        status: Status::Http,
    };

    /// The rows of Pandora's own test (`netsample/phout_test.go`), without values that only its
    /// test sets.
    #[test]
    fn rows_have_pandoras_columns() {
        for (outcome, columns, id, wanted) in [
            (
                Outcome::Ok,
                NONE,
                None,
                "1484660999.001\ttag1|tag2\t333100\t0\t0\t0\t0\t0\t0\t0\t0\t200",
            ),
            (
                Outcome::ProtoHeader,
                NONE,
                Some(42),
                "1484660999.001\ttag1|tag2#42\t333100\t0\t0\t0\t0\t0\t0\t0\t999\t200",
            ),
            (
                Outcome::TimeoutHead,
                Columns {
                    sizes: true,
                    phases: true,
                    status: Status::Http,
                },
                None,
                "1484660999.001\ttag1|tag2\t333100\t100\t50\t2950\t330000\t0\t12\t34\t110\t200",
            ),
            (
                Outcome::ConnectRefused,
                NONE,
                None,
                "1484660999.001\ttag1|tag2\t333100\t0\t0\t0\t0\t0\t0\t0\t111\t200",
            ),
        ] {
            assert_eq!(printed(outcome, columns, id), wanted);
        }
    }

    #[test]
    fn a_tag_stays_in_its_column() {
        let mut out = Vec::new();
        Row::without_times(1_000_000_000, "a\tb\nc", DISCARDED).print(None, &mut out);
        assert_eq!(out, b"1.000\ta b c\t0\t0\t0\t0\t0\t0\t0\t0\t777\t0");
    }

    const DISCARDED: u32 = 777;
}
