//! Access logs: the requested paths, and their frequencies.

use crate::exchange::{Exchange, ImportedRequests, Words, origin};
use drumfire_data::{LOG_FORMATS, LogLine, LogReader, LogRequest};
use drumfire_plan::{Method, percent};
use std::collections::{BTreeSet, HashMap};

/// The maximum number of different requests; the most frequent are used.
const REQUESTS_MAX: usize = 1_000;
/// The maximum number of hosts that a note lists.
const HOSTS_MAX: usize = 3;

/// Reads the lines of a log.
pub(crate) fn read(text: &str) -> Result<ImportedRequests, String> {
    let mut log = Log::default();
    let mut reader = LogReader::default();
    for (number, line) in (1..).zip(text.lines()) {
        match reader.read(line) {
            Ok(LogLine::Request(request)) => log.request(*request, number),
            Ok(LogLine::Broken) => log.broken.add(number),
            Ok(LogLine::Blank) => {}
            Err(why) => {
                log.wrong
                    .get_or_insert_with(|| format!("line {number}: {why}"));
                log.unread.add(number);
            }
        }
    }
    log.exchanges()
}

/// The lines read so far.
#[derive(Default)]
struct Log {
    /// The number of occurrences of each method and target.
    counts: HashMap<(String, String), u64>,
    hosts: BTreeSet<String>,
    unread: Left,
    broken: Left,
    with_body: Left,
    methodless: Left,
    /// The mistake in the first line that does not belong to a log.
    wrong: Option<String>,
}

/// Lines that are left out for the same reason.
#[derive(Default)]
struct Left {
    count: u64,
    /// The number of the first such line, from 1.
    line: u64,
}

impl Left {
    const fn add(&mut self, line: u64) {
        if self.count == 0 {
            self.line = line;
        }
        self.count += 1;
    }
}

impl Log {
    fn request(&mut self, request: LogRequest, line: u64) {
        if Method::announces_content(&request.method) {
            self.with_body.add(line);
            return;
        }
        if request.lacks_method {
            self.methodless.add(line);
        }
        self.hosts.extend(request.host);
        let target = match origin(&request.target) {
            Some((host, path)) => {
                let host = host.split("://").last().unwrap_or_default();
                self.hosts.insert(host.to_owned());
                path
            }
            None => request.target,
        };
        let target = percent::encoded_for_target(&target).into_owned();
        *self.counts.entry((request.method, target)).or_default() += 1;
    }

    fn exchanges(mut self) -> Result<ImportedRequests, String> {
        let is_log = !self.counts.is_empty() || self.with_body.count > 0;
        let broken = (self.broken.count > 0).then(|| {
            format!(
                "no entry has a request that can be sent ({}, first in line {})",
                self.broken.count, self.broken.line
            )
        });
        match self.wrong.take().or(broken) {
            Some(why) if !is_log && why.contains(LOG_FORMATS) => return Err(why),
            Some(why) if !is_log => return Err(format!("{why}; drumfire reads {LOG_FORMATS}")),
            _ => {}
        }
        let mut all = ImportedRequests::default();
        let counts = std::mem::take(&mut self.counts);
        let mut sorted: Vec<((String, String), u64)> = counts.into_iter().collect();
        sorted.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let rare = sorted.iter().skip(REQUESTS_MAX).map(|(_, count)| count);
        let rare: u64 = rare.sum();
        for ((method, target), count) in sorted.into_iter().take(REQUESTS_MAX) {
            let mut exchange = Exchange::new(&method, Words::Plain(target));
            exchange.method = method;
            exchange.weight = (count > 1).then_some(count);
            all.requests.push(exchange);
        }
        self.note(rare, &mut all);
        Ok(all)
    }

    /// Notes the lines that are left out.
    fn note(&self, rare: u64, all: &mut ImportedRequests) {
        for (left, what) in [
            (
                &self.unread,
                "lines that are not of an access log are left out",
            ),
            (
                &self.broken,
                "entries without a request that can be sent are left out",
            ),
            (
                &self.with_body,
                "requests whose method has a body are left out, because a log has no bodies",
            ),
            (&self.methodless, "entries without a method are sent as GET"),
        ] {
            if left.count > 0 {
                all.note(format!(
                    "{what} ({}, first in line {})",
                    left.count, left.line
                ));
            }
        }
        if rare > 0 {
            all.note(format!(
                "the rarest requests are left out, because such a plan has at most \
                 {REQUESTS_MAX} ({rare})"
            ));
        }
        if !self.hosts.is_empty() {
            let named: Vec<&str> = self
                .hosts
                .iter()
                .take(HOSTS_MAX)
                .map(String::as_str)
                .collect();
            let others = match self.hosts.len().saturating_sub(HOSTS_MAX) {
                0 => String::new(),
                others => format!(", and {others} more"),
            };
            all.note(format!(
                "hosts of the log are left out, because requests go to the target: {}{others}",
                named.join(", ")
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Form, Source, Wishes, import};
    use drumfire_data::LOG_FORMATS;

    #[test]
    fn logs_that_are_not_read_are_refused_with_the_formats_that_are() {
        let time = "[10/Oct/2023:13:55:36 +0000]";
        for (text, why) in [
            (
                "time=2023-10-10T13:55:36Z method=GET path=/x status=200".to_owned(),
                "line 1: the line is not an access log entry",
            ),
            (
                "2019-12-04\t21:02:31\tLAX1\t392\t192.0.2.100\tGET\td.test\t/a".to_owned(),
                "line 1: the line is not an access log entry",
            ),
            (
                "tls 2.0 2018-12-20T02:59:40 net/b/c g 72.21.218.154:51341 - 5 2 98 246".to_owned(),
                "line 1: the line is not an access log entry",
            ),
            (
                "\n2023/10/10 13:55:36 [error] 1#0: *1 open() \"/x\" failed, request: \"GET /x HTTP/1.1\""
                    .to_owned(),
                "line 2: `error` is not a time such as 10/Oct/2000:13:55:36 -0700",
            ),
            (
                "[GIN] 2023/10/10 - 13:55:36 | 200 | GET \"/x\"".to_owned(),
                "line 1: `GIN` is not a time",
            ),
            (
                "{\n  \"method\": \"GET\"\n}".to_owned(),
                "line 1: the line is not a JSON object; a log has a whole object in each line",
            ),
            (
                r#"{"msg": "started"}"#.to_owned(),
                "line 1: the line has neither a `request` nor a `method` with a `uri`",
            ),
            (
                format!("h - - {time} \"-\" 408 0\nh - - {time} \"-\" 408 0"),
                "no entry has a request that can be sent (2, first in line 1)",
            ),
        ] {
            let refused = import(Form::AccessLog, &Source::alone(&text), &Wishes::default());
            let error = refused.unwrap_err();
            assert!(error.starts_with(why), "{text}: {error}");
            assert_eq!(error.matches(LOG_FORMATS).count(), 1, "{text}: {error}");
        }
    }

    #[test]
    fn entries_without_a_method_are_counted() {
        let text = "{\"uri\": \"/a\"}\n{\"uri\": \"/a\"}\n{\"uri\": \"/a\", \"method\": \"GET\"}\n";
        let imported = import(Form::AccessLog, &Source::alone(text), &Wishes::default());
        assert_eq!(
            imported.unwrap().notes[0],
            "entries without a method are sent as GET (2, first in line 1)"
        );
    }
}
