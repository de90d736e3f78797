//! Parsers of load testers' output.
//!
//! A parser reads only the text that the tool prints for its user, or its JSON if it has one. A
//! figure that a tool does not print stays `None`: it is not computed from other figures.

use serde_json::Value;

/// The figures of a report. Times are in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reading {
    /// The median latency: from the intended start if the tool knows one.
    pub p50: Option<f64>,
    /// The median service time, if the tool distinguishes it.
    pub service: Option<f64>,
    /// The 90th percentile.
    pub p90: Option<f64>,
    /// The 99th percentile.
    pub p99: Option<f64>,
    /// The number of requests that failed, were due but not sent, or never ended.
    pub without_answer: Option<u64>,
    /// Whether the report warns that its results can't be trusted.
    pub doubts: bool,
    /// Whether the report shows that the target does not keep up.
    pub behind: bool,
    /// The requested and the answered requests per second, if the report has both.
    pub rates: Option<[f64; 2]>,
}

fn json(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

/// drumfire's summary.
#[must_use]
pub fn drumfire(text: &str) -> Option<Reading> {
    let summary = json(text)?;
    let quantiles = &summary["latency"]["response_time"]["quantiles"];
    let service = &summary["latency"]["service_time"]["quantiles"];
    let time = |q: &str| Some(quantiles[q].as_f64()? / 1e9);
    let count = |name: &str| summary["requests"][name].as_u64().unwrap_or_default();
    Some(Reading {
        p50: time("0.5"),
        service: service["0.5"].as_f64().map(|nanos| nanos / 1e9),
        p90: time("0.9"),
        p99: time("0.99"),
        without_answer: Some(
            count("failed") + count("dropped") + count("pending") + count("in_flight"),
        ),
        doubts: summary["verdict"]["validity"].as_str()? != "valid",
        behind: summary["target"]["state"] == "behind",
        ..Reading::default()
    })
}

/// oha's JSON.
#[must_use]
pub fn oha(text: &str) -> Option<Reading> {
    let summary = json(text)?;
    let time = |name: &str| summary["latencyPercentiles"][name].as_f64();
    let errors = summary["errorDistribution"].as_object();
    let errors = errors.map_or(0, |errors| errors.values().filter_map(Value::as_u64).sum());
    Some(Reading {
        p50: time("p50"),
        p90: time("p90"),
        p99: time("p99"),
        without_answer: Some(errors),
        ..Reading::default()
    })
}

/// vegeta's report as JSON.
#[must_use]
pub fn vegeta(text: &str) -> Option<Reading> {
    let report = json(text)?;
    let time = |name: &str| Some(report["latencies"][name].as_f64()? / 1e9);
    let codes = report["status_codes"].as_object()?;
    let failed = codes.iter().filter(|(code, _)| !code.starts_with('2'));
    Some(Reading {
        p50: time("50th"),
        p90: time("90th"),
        p99: time("99th"),
        without_answer: Some(failed.filter_map(|(_, count)| count.as_u64()).sum()),
        rates: rates(&report["rate"], &report["throughput"]),
        ..Reading::default()
    })
}

/// The requested and the answered rate, if a report has both.
fn rates(asked: &Value, answered: &Value) -> Option<[f64; 2]> {
    let rate = |value: &Value| {
        let text = value.as_str().and_then(|text| text.parse().ok());
        value.as_f64().or(text)
    };
    Some([rate(asked)?, rate(answered)?])
}

/// k6's exported summary.
#[must_use]
pub fn k6(text: &str) -> Option<Reading> {
    let summary = json(text)?;
    let metrics = &summary["metrics"];
    let time = |name: &str| Some(metrics["http_req_duration"][name].as_f64()? / 1e3);
    let failed = metrics["http_req_failed"]["passes"]
        .as_u64()
        .unwrap_or_default();
    let dropped = metrics["dropped_iterations"]["count"]
        .as_u64()
        .unwrap_or_default();
    Some(Reading {
        p50: time("med"),
        p90: time("p(90)"),
        p99: time("p(99)"),
        without_answer: Some(failed + dropped),
        // Dropped iterations are k6's only sign that it is late, or that a target is too slow.
        doubts: dropped > 0,
        behind: dropped > 0,
        ..Reading::default()
    })
}

/// fortio's JSON.
#[must_use]
pub fn fortio(text: &str) -> Option<Reading> {
    let result = json(text)?;
    let percentiles = result["DurationHistogram"]["Percentiles"].as_array()?;
    let time = |percentile: f64| {
        let entry = percentiles
            .iter()
            .find(|entry| entry["Percentile"].as_f64() == Some(percentile))?;
        entry["Value"].as_f64()
    };
    let codes = result["RetCodes"].as_object()?;
    let failed = codes.iter().filter(|(code, _)| *code != "200");
    Some(Reading {
        p50: time(50.0),
        p90: time(90.0),
        p99: time(99.0),
        without_answer: Some(failed.filter_map(|(_, count)| count.as_u64()).sum()),
        rates: rates(&result["RequestedQPS"], &result["ActualQPS"]),
        ..Reading::default()
    })
}

/// ghz's JSON.
#[must_use]
pub fn ghz(text: &str) -> Option<Reading> {
    let report = json(text)?;
    let percentiles = report["latencyDistribution"].as_array()?;
    let time = |percentage: u64| {
        let entry = percentiles
            .iter()
            .find(|entry| entry["percentage"].as_u64() == Some(percentage))?;
        Some(entry["latency"].as_f64()? / 1e9)
    };
    let codes = report["statusCodeDistribution"].as_object()?;
    let failed = codes.iter().filter(|(code, _)| *code != "OK");
    Some(Reading {
        p50: time(50),
        p90: time(90),
        p99: time(99),
        without_answer: Some(failed.filter_map(|(_, count)| count.as_u64()).sum()),
        rates: rates(&report["options"]["rps"], &report["rps"]),
        ..Reading::default()
    })
}

/// A time with its unit, as wrk and Go programs print it: `1.05s`, `700.12ms`, `2.1us`.
fn time(text: &str) -> Option<f64> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(digits);
    let scale = match unit.trim() {
        "s" => 1.0,
        "ms" => 1e-3,
        "us" | "µs" | "μs" => 1e-6,
        "ns" => 1e-9,
        "m" => 60.0,
        _ => return None,
    };
    Some(number.parse::<f64>().ok()? * scale)
}

/// The words of the first line that begins with `start`.
fn line<'t>(text: &'t str, start: &str) -> Option<Vec<&'t str>> {
    let line = text
        .lines()
        .find_map(|line| line.trim().strip_prefix(start))?;
    Some(line.split_whitespace().collect())
}

/// wrk's table with `--latency`.
#[must_use]
pub fn wrk(text: &str) -> Option<Reading> {
    let quantile = |name: &str| time(line(text, name)?.first()?);
    let numbers = line(text, "Socket errors:").unwrap_or_default();
    let sockets: u64 = numbers
        .iter()
        .filter_map(|word| word.trim_end_matches(',').parse::<u64>().ok())
        .sum();
    let statuses = line(text, "Non-2xx or 3xx responses:")
        .and_then(|words| words.first()?.parse::<u64>().ok());
    Some(Reading {
        p50: Some(quantile("50%")?),
        p90: quantile("90%"),
        p99: quantile("99%"),
        without_answer: Some(sockets + statuses.unwrap_or_default()),
        ..Reading::default()
    })
}

/// hey's table: `90% in 0.7010 secs`, and an error distribution of lines such as `[12] Get …`.
#[must_use]
pub fn hey(text: &str) -> Option<Reading> {
    // Some versions print the percent sign twice.
    let quantile = |name: &str| {
        let words =
            line(text, &format!("{name}%% in")).or_else(|| line(text, &format!("{name}% in")))?;
        words.first()?.parse::<f64>().ok()
    };
    let errors = text.split("Error distribution:").nth(1);
    let bracketed = |line: &str| -> Option<u64> {
        line.trim()
            .strip_prefix('[')?
            .split(']')
            .next()?
            .trim()
            .parse()
            .ok()
    };
    let errors: u64 = errors.map_or(0, |part| part.lines().filter_map(bracketed).sum());
    Some(Reading {
        p50: quantile("50"),
        p90: quantile("90"),
        p99: quantile("99"),
        without_answer: Some(errors),
        ..Reading::default()
    })
}

/// go-wrk's table: `50%: 2.1ms`, `Number of Errors: 3`.
#[must_use]
pub fn go_wrk(text: &str) -> Option<Reading> {
    let quantile = |name: &str| time(line(text, name)?.first()?);
    let errors = line(text, "Number of Errors:")?.first()?.parse().ok()?;
    Some(Reading {
        p50: quantile("50%:"),
        p90: None,
        p99: quantile("99%:"),
        without_answer: Some(errors),
        ..Reading::default()
    })
}

/// slow_cooker's last line: good/bad/failed, the goal, the time, and `min [p50 p95 p99 p999] max`
/// in milliseconds.
#[must_use]
pub fn slow_cooker(text: &str) -> Option<Reading> {
    let lines = text
        .lines()
        .filter(|line| line.contains('[') && line.contains('/'));
    let mut failures = 0;
    let mut last = None;
    for line in lines {
        let Some(counts) = line
            .split_whitespace()
            .find(|word| word.matches('/').count() == 2)
        else {
            continue;
        };
        let counts = counts.split('/').map(|count| count.parse::<u64>());
        let counts: Vec<u64> = counts.collect::<Result<_, _>>().ok()?;
        failures += counts[1] + counts[2];
        last = Some(line);
    }
    let inside = last?.split('[').nth(1)?.split(']').next()?;
    let times: Vec<f64> = inside
        .split_whitespace()
        .filter_map(|word| Some(word.parse::<f64>().ok()? / 1e3))
        .collect();
    // The answered share of the goal.
    let shares = last?.split_whitespace();
    let mut shares = shares.filter_map(|word| word.strip_suffix('%')?.parse::<f64>().ok());
    Some(Reading {
        p50: times.first().copied(),
        // The line has p95 instead.
        p90: None,
        p99: times.get(2).copied(),
        without_answer: Some(failures),
        behind: shares.next().is_some_and(|share| share < 90.0),
        ..Reading::default()
    })
}

/// h2load's table has a mean and a spread, and no quantiles.
#[must_use]
pub fn h2load(text: &str) -> Option<Reading> {
    let words = line(text, "requests:")?;
    let before = |name: &str| -> Option<u64> {
        let at = words
            .iter()
            .position(|word| word.trim_end_matches(',') == name)?;
        words.get(at.checked_sub(1)?)?.parse().ok()
    };
    Some(Reading {
        without_answer: Some(before("failed")? + before("errored")? + before("timeout")?),
        ..Reading::default()
    })
}

/// Pandora's phout: a row for each request, with the total time in microseconds in the third column
/// and the codes of the protocol and the network in the last two.
#[must_use]
pub fn phout(text: &str) -> Option<Reading> {
    let mut times = Vec::new();
    let mut failed = 0;
    for row in text.lines() {
        let columns: Vec<&str> = row.split('\t').collect();
        times.push(columns.get(2)?.parse::<f64>().ok()? / 1e6);
        let (net, protocol) = (columns.get(columns.len() - 2)?, columns.last()?);
        failed += u64::from(*net != "0" || !protocol.starts_with('2'));
    }
    times.sort_by(f64::total_cmp);
    let quantile = |q: f64| {
        let rank = (times.len() as f64 * q).ceil() as usize;
        times.get(rank.checked_sub(1)?).copied()
    };
    Some(Reading {
        p50: quantile(0.5),
        p90: quantile(0.9),
        p99: quantile(0.99),
        without_answer: Some(failed),
        ..Reading::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(figure: Option<f64>, expected: f64) {
        let figure = figure.expect("a figure");
        assert!(
            (figure / expected - 1.0).abs() < 1e-9,
            "{figure} {expected}"
        );
    }

    #[test]
    fn tables_of_wrk_and_go_wrk_are_read() {
        let text = "  Latency Distribution\n     50%    2.27ms\n     75%    2.40ms\n     90%    1.05s \n     99%  850.00us\n  \
                    1200 requests in 6.00s, 200KB read\n  Socket errors: connect 1, read 20, write 3, timeout 4\n  \
                    Non-2xx or 3xx responses: 5\n";
        let reading = wrk(text).expect("a table");
        near(reading.p50, 0.002_27);
        near(reading.p90, 1.05);
        near(reading.p99, 0.000_85);
        assert_eq!(reading.without_answer, Some(33));
        let text = "Number of Errors:\t7\n10%:\t\t1ms\n50%:\t\t2.5ms\n99%:\t\t71.25ms\n";
        let reading = go_wrk(text).expect("a table");
        near(reading.p50, 0.002_5);
        near(reading.p99, 0.071_25);
        assert_eq!((reading.p90, reading.without_answer), (None, Some(7)));
        assert_eq!(wrk("unable to connect"), None);
    }

    #[test]
    fn tables_of_hey_and_h2load_are_read() {
        let text = "  50%% in 0.0021 secs\n  90%% in 0.7010 secs\n  99%% in 0.9000 secs\n\nError distribution:\n  \
                    [12]\tGet \"http://x/\": EOF\n  [3]\tGet: reset\n";
        let reading = hey(text).expect("a table");
        near(reading.p90, 0.701);
        assert_eq!(reading.without_answer, Some(15));
        let text = "requests: 100 total, 100 started, 97 done, 95 succeeded, 2 failed, 3 errored, 1 timeout\n";
        assert_eq!(h2load(text).expect("a table").without_answer, Some(6));
    }

    #[test]
    fn rows_of_slow_cooker_and_pandora_are_read() {
        let text =
            "2026-01-31T23:59:59Z      3/1/2 1200 100% 6s   1 [  2   3  71 80 ]   90      0\n";
        let reading = slow_cooker(text).expect("a row");
        near(reading.p99, 0.071);
        assert_eq!(reading.without_answer, Some(3));
        let row = |micros: u32, net: u32, code: u32| {
            format!("1700000000.123\t#1\t{micros}\t0\t0\t0\t0\t0\t0\t0\t{net}\t{code}\n")
        };
        let text = row(2_000, 0, 200) + &row(4_000, 104, 0) + &row(3_000, 0, 503);
        let reading = phout(&text).expect("rows");
        near(reading.p50, 0.003);
        near(reading.p99, 0.004);
        assert_eq!(reading.without_answer, Some(2));
    }
}
