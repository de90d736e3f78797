//! Access logs, a request a line. An entry that is no request is left out and counted: servers
//! log broken ones, too.

use super::batch::Batch;
use super::step::{Step, line, text};
use super::target::start_entry;
use crate::access_log::{LogLine, LogRequest};
use crate::log_reader::LogReader;
use drumfire_plan::Method;

/// The next line.
pub(super) fn step(reader: &mut LogReader, window: &[u8], is_last: bool, out: &mut Batch) -> Step {
    let (line, bytes) = match line(window, is_last) {
        Ok(read) => read,
        Err(step) => return step,
    };
    let line = match text(line) {
        Ok(line) => line,
        Err(step) => return step,
    };
    let rows = match reader.read(line) {
        Ok(LogLine::Request(request)) => push_request(*request, out),
        Ok(LogLine::Broken) => {
            out.leave_out();
            0
        }
        Ok(LogLine::Blank) => 0,
        Err(message) => return Step::broken(message),
    };
    Step::Took { bytes, rows }
}

/// Adds a request, if its target can be sent; how many were added.
fn push_request(request: LogRequest, out: &mut Batch) -> usize {
    if start_entry(&request.method, &request.target, out).is_err() {
        out.leave_out();
        return 0;
    }
    out.time(request.time);
    let fields = [("Referer", request.referer), ("User-Agent", request.agent)];
    for (name, value) in fields {
        if let Some(value) = value {
            out.field(name, &value);
        }
    }
    if Method::announces_content(&request.method) {
        out.body(b"");
    }
    if let Some(host) = request.host {
        out.host(&host);
    }
    1
}
