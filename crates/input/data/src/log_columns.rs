//! The columns of W3C extended logs, as IIS and CloudFront write them.

use crate::access_log::{LogLine, LogRequest};
use crate::log_time;
use drumfire_plan::percent;

/// A directive with the names of the columns begins with this.
const FIELDS: &str = "#fields:";
const METHODS: [&str; 1] = ["cs-method"];
const PATHS: [&str; 3] = ["cs-uri-stem", "cs-uri-path", "cs-uri"];
const QUERIES: [&str; 1] = ["cs-uri-query"];
/// CloudFront has its own name in `cs(host)`, and the client's field in `x-host-header`.
const HOSTS: [&str; 3] = ["x-host-header", "cs-host", "cs(host)"];
const REFERERS: [&str; 1] = ["cs(referer)"];
const AGENTS: [&str; 1] = ["cs(user-agent)"];

/// Positions of the values in a line, counted from 0.
#[derive(Clone, Debug)]
pub(crate) struct LogColumns {
    count: usize,
    method: usize,
    path: usize,
    query: Option<usize>,
    host: Option<usize>,
    referer: Option<usize>,
    agent: Option<usize>,
    date: Option<usize>,
    time: Option<usize>,
}

impl LogColumns {
    /// Reads a `#Fields` directive; `None` if the line is something else.
    ///
    /// # Errors
    /// If the directive has no method or no path.
    pub(crate) fn parse(line: &str) -> Option<Result<Self, String>> {
        let head = line.get(..FIELDS.len())?;
        if !head.eq_ignore_ascii_case(FIELDS) {
            return None;
        }
        let names: Vec<String> = line[FIELDS.len()..]
            .split_ascii_whitespace()
            .map(str::to_ascii_lowercase)
            .collect();
        let find = |known: &[&str]| {
            let mut places = known
                .iter()
                .map(|name| names.iter().position(|n| n == name));
            places.find_map(|place| place)
        };
        let (Some(method), Some(path)) = (find(&METHODS), find(&PATHS)) else {
            let missing = match find(&METHODS) {
                None => METHODS[0],
                Some(_) => PATHS[0],
            };
            return Some(Err(format!(
                "the `#Fields` line has no {missing}; add this field to the server's log"
            )));
        };
        Some(Ok(Self {
            count: names.len(),
            method,
            path,
            query: find(&QUERIES),
            host: find(&HOSTS),
            referer: find(&REFERERS),
            agent: find(&AGENTS),
            date: find(&["date"]),
            time: find(&["time"]),
        }))
    }

    /// Reads a line of values.
    ///
    /// # Errors
    /// If the line has another number of values, or a time that is invalid.
    pub(crate) fn read(&self, line: &str) -> Result<LogLine, String> {
        // Only CloudFront separates values by tabs.
        let is_tabbed = line.contains('\t');
        let values = match is_tabbed {
            true => line
                .split('\t')
                .map(|value| value.trim().to_owned())
                .collect(),
            false => split(line),
        };
        if values.len() != self.count {
            return Err(format!(
                "the line has {} values, but the `#Fields` line has {} names",
                values.len(),
                self.count
            ));
        }
        let value = |column: Option<usize>| {
            let value = column.map(|column| values[column].as_str());
            value.filter(|value| !matches!(*value, "" | "-"))
        };
        let mut target = values[self.path].clone();
        if let Some(query) = value(self.query).filter(|_| !target.contains('?')) {
            target.push('?');
            target.push_str(query);
        }
        let Some(request) = LogRequest::parse(&format!("{} {target}", values[self.method])) else {
            return Ok(LogLine::Broken);
        };
        let time = match (value(self.date), value(self.time)) {
            (Some(date), Some(time)) => Some(moment(date, time)?),
            _ => None,
        };
        // CloudFront encodes blanks, IIS writes them as plus signs, and Tomcat quotes the value.
        let text = |column| {
            value(column).map(|value| match (is_tabbed, value.contains(' ')) {
                (true, _) => percent::decoded(value).into_owned(),
                (false, false) => value.replace('+', " "),
                (false, true) => value.to_owned(),
            })
        };
        let referer = value(self.referer).map(str::to_owned);
        let host = value(self.host).map(str::to_owned);
        let request = request.with(host, referer, text(self.agent));
        Ok(LogLine::Request(Box::new(LogRequest { time, ..request })))
    }
}

/// A moment of UTC.
fn moment(date: &str, time: &str) -> Result<u64, String> {
    log_time::any(&format!("{date}T{time}Z")).ok_or_else(|| {
        let (date, time) = (date.escape_default(), time.escape_default());
        format!("`{date} {time}` is not a time such as 2000-10-10 13:55:36")
    })
}

/// The values of a line with blanks between them. A value in quotes may contain blanks, and two
/// quotes within it stand for one (Tomcat writes such values).
fn split(line: &str) -> Vec<String> {
    let mut values = Vec::new();
    let mut rest = line.trim_ascii();
    while !rest.is_empty() {
        let (value, behind) = match rest.strip_prefix('"').and_then(unquoted) {
            Some(read) => read,
            None => {
                let (value, behind) = rest.split_once(' ').unwrap_or((rest, ""));
                (value.to_owned(), behind)
            }
        };
        values.push(value);
        rest = behind.trim_ascii_start();
    }
    values
}

/// A value up to its closing quote, and what follows; `None` if it has none.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut rest = text;
    loop {
        let (part, behind) = rest.split_once('"')?;
        value.push_str(part);
        match behind.strip_prefix('"') {
            Some(more) => {
                value.push('"');
                rest = more;
            }
            None => return Some((value, behind)),
        }
    }
}
