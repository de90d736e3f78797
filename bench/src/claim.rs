//! The figures that a tool prints, parsed from each tool's output.

use serde_json::Value;

/// The figures that a tool prints about its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Responses that the tool counts as good.
    pub requests: u64,
    /// All other responses and failures.
    pub failed: u64,
    /// Bytes of each request, if the tool prints them.
    pub request_bytes: Option<u64>,
}

impl Claim {
    /// A claim without the bytes.
    fn without_bytes(requests: u64, failed: u64) -> Self {
        Self {
            requests,
            failed,
            request_bytes: None,
        }
    }
}

/// drumfire's summary as JSON.
#[must_use]
pub fn drumfire(stdout: &str) -> Option<Claim> {
    let summary: Value = serde_json::from_str(stdout).ok()?;
    let requests = &summary["requests"];
    let sent = requests["sent"].as_u64()?;
    Some(Claim {
        requests: requests["ok"].as_u64()?,
        failed: requests["failed"].as_u64()?,
        request_bytes: summary["bytes"]["sent"].as_u64()?.checked_div(sent),
    })
}

/// Parses the floor's only line.
#[must_use]
pub fn floor(stdout: &str) -> Option<Claim> {
    let result: Value = serde_json::from_str(stdout).ok()?;
    Some(Claim {
        requests: result["requests"].as_u64()?,
        failed: 0,
        request_bytes: result["request_bytes"].as_u64(),
    })
}

/// Parses oha's JSON, by status.
#[must_use]
pub fn oha(stdout: &str) -> Option<Claim> {
    let result: Value = serde_json::from_str(stdout).ok()?;
    let codes = result["statusCodeDistribution"].as_object()?;
    let count = |ok: bool| {
        let of = |(code, n): (&String, &Value)| n.as_u64().filter(|_| code.starts_with('2') == ok);
        codes.iter().filter_map(of).sum()
    };
    Some(Claim::without_bytes(count(true), count(false)))
}

/// Parses wrk's output: requests in one line, and failures only if there are any.
#[must_use]
pub fn wrk(stdout: &str) -> Option<Claim> {
    let lines = || stdout.lines().map(str::trim);
    let all: u64 = lines()
        .find(|line| line.contains(" requests in "))
        .and_then(|line| line.split(' ').next()?.parse().ok())?;
    let numbers = |prefix: &str| -> u64 {
        let line = lines().find_map(|line| line.strip_prefix(prefix));
        let words = line.unwrap_or("").split([' ', ',']);
        words.filter_map(|word| word.parse::<u64>().ok()).sum()
    };
    let refused = numbers("Non-2xx or 3xx responses:");
    let failed = refused + numbers("Socket errors:");
    Some(Claim::without_bytes(all.saturating_sub(refused), failed))
}

/// Parses h2load's line of requests: `12 total, 15 started, 12 done, 12 succeeded, 0 failed, …`.
/// Requests started and not done are not failures: the time was up.
#[must_use]
pub fn h2load(stdout: &str) -> Option<Claim> {
    let line = stdout
        .lines()
        .find_map(|line| line.strip_prefix("requests: "))?;
    let count = |name: &str| -> Option<u64> {
        let entry = line.split(", ").find_map(|entry| entry.strip_suffix(name));
        entry?.trim().parse().ok()
    };
    // Errors and timeouts are included in `failed`.
    Some(Claim::without_bytes(count("succeeded")?, count("failed")?))
}

/// Parses ghz's summary: the number of calls, and the number with status OK.
#[must_use]
pub fn ghz(stdout: &str) -> Option<Claim> {
    let lines = || stdout.lines().map(str::trim);
    let count = |prefix: &str| -> Option<u64> {
        let line = lines().find_map(|line| line.strip_prefix(prefix))?;
        line.split_whitespace().next()?.parse().ok()
    };
    let all = count("Count:")?;
    let ok = count("[OK]").unwrap_or(0);
    Some(Claim::without_bytes(ok, all.saturating_sub(ok)))
}

#[cfg(test)]
mod tests {
    use super::{Claim, drumfire, floor, ghz, h2load, oha, wrk};

    #[test]
    fn each_tools_words_are_understood() {
        let claim = |requests, failed, request_bytes| {
            Some(Claim {
                requests,
                failed,
                request_bytes,
            })
        };
        let text = "Running 2s test\n  252811 requests in 2.04s, 40.02MB read\n\
                    Socket errors: connect 0, read 7, write 1, timeout 2\n\
                    Non-2xx or 3xx responses: 11\n";
        assert_eq!(wrk(text), claim(252_800, 21, None));
        assert_eq!(wrk("unable to connect"), None);
        let text = r#"{"requests":{"sent":10,"ok":9,"failed":1},"bytes":{"sent":690}}"#;
        assert_eq!(drumfire(text), claim(9, 1, Some(69)));
        let text = r#"{"requests":5,"request_bytes":69}"#;
        assert_eq!(floor(text), claim(5, 0, Some(69)));
        let text = r#"{"statusCodeDistribution":{"200":4,"503":2}}"#;
        assert_eq!(oha(text), claim(4, 2, None));
    }

    #[test]
    fn what_h2load_and_ghz_did_not_finish_is_no_failure_and_what_failed_is_one() {
        let text = "finished in 2.00s, 95 req/s, 9KB/s\n\
                    requests: 95 total, 99 started, 95 done, 90 succeeded, 5 failed, 3 errored, \
                    1 timeout\n\
                    status codes: 90 2xx, 0 3xx, 0 4xx, 1 5xx\n";
        let claim = h2load(text).unwrap();
        assert_eq!((claim.requests, claim.failed), (90, 5));
        assert_eq!(h2load("the protocol is not supported"), None);
        let text = "Summary:\n  Count:\t33\n  Total:\t1.00 s\n\n\
                    Status code distribution:\n  [OK]            31 responses\n\
                    \x20 [Unavailable]   2 responses\n";
        let claim = ghz(text).unwrap();
        assert_eq!((claim.requests, claim.failed), (31, 2));
    }
}
