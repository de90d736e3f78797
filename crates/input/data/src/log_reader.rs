//! Access logs, line by line.

use crate::access_log::{LogLine, log_line};
use crate::log_columns::LogColumns;
use std::sync::Arc;

/// Reads the lines of an access log, in their order.
///
/// In W3C extended logs, a `#Fields` line has the names of the values in all lines that follow. The
/// other formats need no line before theirs.
#[derive(Clone, Debug, Default)]
pub struct LogReader {
    columns: Option<Arc<LogColumns>>,
}

impl LogReader {
    /// Reads the next line.
    ///
    /// # Errors
    /// In words, if the line is not part of an access log.
    pub fn read(&mut self, line: &str) -> Result<LogLine, String> {
        let line = line.trim();
        if let Some(columns) = LogColumns::parse(line) {
            self.columns = Some(Arc::new(columns?));
            return Ok(LogLine::Blank);
        }
        match &self.columns {
            Some(columns) if !line.is_empty() && !line.starts_with('#') => columns.read(line),
            _ => log_line(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LogReader;
    use crate::access_log::LogLine;

    /// What a reader makes of lines: each request with its time, host, referer and agent.
    fn shown(text: &str) -> Vec<String> {
        let mut reader = LogReader::default();
        let lines = text.lines().map(|line| match reader.read(line) {
            Ok(LogLine::Request(it)) => {
                let seconds = it.time.map(|time| (time / 1_000_000_000).to_string());
                let fields = [seconds, it.host, it.referer, it.agent];
                let fields = fields.map(|field| field.unwrap_or_else(|| "-".to_owned()));
                format!("{} {} | {}", it.method, it.target, fields.join(" | "))
            }
            Ok(other) => format!("{other:?}"),
            Err(error) => error,
        });
        lines.collect()
    }

    #[test]
    fn fields_of_iis_are_read_by_their_names() {
        let log = "#Software: Microsoft Internet Information Services 10.0\n\
            #Version: 1.0\n\
            #Date: 2000-10-10 20:55:36\n\
            #Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status time-taken\n\
            2000-10-10 20:55:36 ::1 GET /a/é x=1&y=2 80 - ::1 Mozilla/5.0+(Windows+NT) http://r.test/?a+b 200 0 0 15\n\
            2000-10-10 20:55:37 ::1 POST /b - 80 - ::1 - - 204 0 0 15\n\
            \n\
            2000-10-10 20:55:37 ::1 - - - 80 - ::1 - - 400 0 0 15\n\
            #Fields: time cs-method cs-uri-stem cs-host\n\
            20:55:38 GET /c shop.test\n\
            20:55:38 GET /c\n";
        assert_eq!(
            shown(log),
            [
                "Blank",
                "Blank",
                "Blank",
                "Blank",
                "GET /a/é?x=1&y=2 | 971211336 | - | http://r.test/?a+b | Mozilla/5.0 (Windows NT)",
                "POST /b | 971211337 | - | - | -",
                "Blank",
                "Broken",
                "Blank",
                "GET /c | - | shop.test | - | -",
                "the line has 3 values, but the `#Fields` line has 4 names",
            ]
        );
    }

    #[test]
    fn values_between_tabs_and_in_quotes_are_read() {
        let cloudfront = "#Version: 1.0\n\
            #Fields: date time x-edge-location cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query x-host-header\n\
            2000-10-10\t20:55:36\tFRA2\tGET\td1.cloudfront.net\t/v%20w\t200\t-\tMozilla/5.0%20(X11)\ta=%2F\twww.test\n";
        let tomcat = "#Fields: cs-method cs-uri cs(User-Agent) cs(Referer)\n\
            GET /t?q=1 \"bot (+http://b.test) \"\"x\"\"\" -\n";
        for (log, request) in [
            (
                cloudfront,
                "GET /v%20w?a=%2F | 971211336 | www.test | - | Mozilla/5.0 (X11)",
            ),
            (
                tomcat,
                "GET /t?q=1 | - | - | - | bot (+http://b.test) \"x\"",
            ),
        ] {
            assert_eq!(shown(log).last().map(String::as_str), Some(request));
        }
    }
}
