//! The parts of go-wrk's requests other than the URL.

use super::args::Args;
use super::targets::Target;
use super::{PROGRAM, TOOL};
use drumfire_document::{Ask, Field, Request};
use drumfire_plan::{Header, HeaderError, Method};

/// The method and the fields of every request.
pub(super) struct RequestParts {
    method: Method,
    headers: Vec<Header>,
    /// Whether the user's fields close each connection after its response.
    closes: bool,
    /// Names of the user's fields that are omitted.
    left_out: Vec<String>,
}

impl RequestParts {
    /// Reads the parts from the command line.
    pub(super) fn from_args(args: &Args) -> Result<Self, HeaderError> {
        let method = match args.method.as_str() {
            "" => Method::get(),
            text => Method::parse(text)?,
        };
        let (mut headers, mut left_out) = (Vec::<Header>::new(), Vec::new());
        let mut closes = false;
        for line in &args.headers {
            let header = Header::parse(line)?;
            // Go's client does not send a name with white space around it.
            let name = line.split(':').next().unwrap_or_default();
            if name != header.name() {
                return Err(HeaderError::Name(name.to_owned()));
            }
            let value = header.value().trim_ascii();
            if header.is("Connection") && value.eq_ignore_ascii_case(b"close") {
                closes = true;
                continue;
            }
            // `-no-ka` contradicts the field and takes precedence.
            if header.is("Connection")
                && args.no_keep_alive
                && value.eq_ignore_ascii_case(b"keep-alive")
            {
                continue;
            }
            // Go's client generates these fields and ignores the user's.
            if Header::frames(header.name()) {
                left_out.push(header.name().to_owned());
                continue;
            }
            // go-wrk stores its headers in a map: of two fields with the same spelling, the last
            // one counts. A request has one Host, regardless of its spelling.
            let host = header.is("Host");
            headers
                .retain(|earlier| earlier.name() != header.name() && !(host && earlier.is("Host")));
            headers.push(header);
        }
        if !args.host.is_empty() {
            headers.retain(|header| !header.is("Host"));
            headers.insert(0, Header::new("Host", args.host.as_bytes())?);
        }
        if !headers.iter().any(|header| header.is("User-Agent")) {
            headers.push(Header::new("User-Agent", PROGRAM.as_bytes())?);
        }
        Ok(Self {
            method,
            headers,
            closes,
            left_out,
        })
    }

    /// Whether each request announces that its connection closes after the response.
    pub(super) const fn closes(&self, args: &Args) -> bool {
        self.closes || args.no_keep_alive
    }

    /// Names of the user's fields that are not sent.
    pub(super) fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Whether to request gzip. Like in Go's client, not if the user sets encodings or ranges, and
    /// not if the response has no body.
    pub(super) fn is_compressed(&self, args: &Args) -> bool {
        let spoken_of = |name: &str| self.headers.iter().any(|header| header.is(name));
        let bodiless = self.method.as_str() == "HEAD";
        !(args.no_compression || bodiless || spoken_of("Accept-Encoding") || spoken_of("Range"))
    }

    /// The fields of every request.
    pub(super) fn fields(&self) -> Vec<Field> {
        let text = |header: &Header| String::from_utf8_lossy(header.value()).into_owned();
        let field = |header: &Header| TOOL.field("-H", header.name(), &text(header));
        self.headers.iter().map(field).collect()
    }

    /// One request per URL, with the URL's text as the name of its step.
    pub(super) fn requests(&self, urls: &[Target]) -> Vec<Request> {
        let request = |target: &Target| Request {
            name: Some(TOOL.text("", &target.step)),
            ..Request::new(Ask::Url {
                method: TOOL.text("-M", &self.method.as_str()),
                url: TOOL.text("", &target.written),
            })
        };
        urls.iter().map(request).collect()
    }

    /// Whether an empty body is announced, as Go's client does for methods that usually have a
    /// body.
    pub(super) fn announces_body(&self) -> bool {
        Method::announces_content(self.method.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(headers: &[&str], host: &str) -> Vec<String> {
        let args = Args {
            headers: headers.iter().map(|&line| line.to_owned()).collect(),
            host: host.to_owned(),
            ..Args::default()
        };
        let parts = RequestParts::from_args(&args).unwrap();
        let line = |h: &Header| format!("{}: {}", h.name(), String::from_utf8_lossy(h.value()));
        parts.headers.iter().map(line).collect()
    }

    #[test]
    fn of_two_fields_with_one_spelling_the_last_counts() {
        assert_eq!(
            lines(&["A: 1", "a: 2", "A: 3"], ""),
            ["a: 2", "A: 3", "User-Agent: go-wrk"]
        );
    }

    #[test]
    fn a_field_may_close_connections() {
        let parts = |line: &str| {
            let args = Args {
                headers: vec![line.to_owned()],
                ..Args::default()
            };
            RequestParts::from_args(&args).map(|parts| parts.closes(&args))
        };
        assert_eq!(parts("Connection: close"), Ok(true));
        assert_eq!(parts("connection: Close "), Ok(true));
        assert_eq!(parts("Connection: keep-alive"), Ok(false));
        assert!(
            lines(&["Connection: close"], "").len() == 1,
            "the client writes it"
        );
        let args = Args {
            headers: vec!["Connection: Keep-Alive".to_owned()],
            no_keep_alive: true,
            ..Args::default()
        };
        let parts_of = RequestParts::from_args(&args).unwrap();
        assert!(
            parts_of
                .headers
                .iter()
                .all(|header| !header.is("Connection"))
        );
        for line in ["A : x", " A: x"] {
            assert!(parts(line).is_err(), "Go sends no such name");
        }
    }

    #[test]
    fn the_users_own_agent_and_host_count() {
        assert_eq!(
            lines(&["user-agent: mine", "Host: theirs"], ""),
            ["user-agent: mine", "Host: theirs"]
        );
        assert_eq!(
            lines(&["Host: a", "host: b"], ""),
            ["host: b", "User-Agent: go-wrk"]
        );
        assert_eq!(
            lines(&["host: theirs"], "ours"),
            ["Host: ours", "User-Agent: go-wrk"]
        );
    }

    #[test]
    fn gzip_is_asked_for_unless_the_user_speaks_of_it() {
        let asks = |headers: &[&str], method: &str| {
            let args = Args {
                headers: headers.iter().map(|&line| line.to_owned()).collect(),
                method: method.to_owned(),
                ..Args::default()
            };
            let parts = RequestParts::from_args(&args).unwrap();
            parts.is_compressed(&args)
        };
        assert!(asks(&[], "GET"));
        assert!(!asks(&["accept-encoding: br"], "GET"));
        assert!(!asks(&["Range: bytes=0-1"], "GET"));
        assert!(!asks(&[], "HEAD"));
    }
}
