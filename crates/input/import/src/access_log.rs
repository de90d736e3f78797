//! Access logs: the requested paths, and their frequencies.

use crate::exchange::{Exchange, Exchanges, Words, origin};
use drumfire_data::{LogLine, LogReader, LogRequest};
use drumfire_plan::{Method, percent};
use std::collections::{BTreeSet, HashMap};

/// The maximum number of different requests; the most frequent are used.
const REQUESTS_MAX: usize = 1_000;
/// The maximum number of hosts that a note lists.
const HOSTS_MAX: usize = 3;

/// Reads the lines of a log.
pub(crate) fn read(text: &str) -> Result<Exchanges, String> {
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

    fn exchanges(mut self) -> Result<Exchanges, String> {
        let is_log = !self.counts.is_empty() || self.with_body.count > 0;
        if let Some(wrong) = self.wrong.take().filter(|_| !is_log) {
            return Err(wrong);
        }
        let mut all = Exchanges::default();
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
    fn note(&self, rare: u64, all: &mut Exchanges) {
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
