//! The destinations of results.

use crate::keys::fields::{nested, table};
use crate::keys::{Flag, Group, On};
use crate::{Field, Switch, Text};

table! {
    /// The destinations of results, and the way in which they are shown.
    pub struct Outputs [] {
        json: Option<Text> = "File for the result as JSON; `-` is standard output",
            Flag::new(Group::Output, "--json [<FILE>]",
                "Write the summary as JSON; without FILE or with -, to stdout instead of the text report").on(On::RESULTS).first().without_value("-");
        csv: Option<Text> = "File for the histogram buckets as CSV; `-` is standard output",
            Flag::new(Group::Output, "--csv <FILE>",
                "Write the histogram buckets as CSV; - is stdout, instead of the text report").on(On::RESULTS);
        html: Option<Text> = "File for the run as an HTML page; `-` is standard output",
            Flag::new(Group::Output, "--html <FILE>",
                "Write the run as an HTML page with charts; - is stdout, instead of the text report").on(On::RESULTS);
        markdown: Option<Text> = "File for the result as Markdown; `-` is standard output",
            Flag::new(Group::Output, "--markdown <FILE>",
                "Write the summary as Markdown; - is stdout, instead of the text report").on(On::RESULTS);
        junit: Option<Text> =
            "File for the three answers and the thresholds as JUnit XML; `-` is standard output",
            Flag::new(Group::Output, "--junit <FILE>",
                "Write the verdict and the thresholds as JUnit XML; - is stdout, instead of the text report").on(On::RESULTS);
        hlog: Option<Text> =
            "File for the histogram of each interval as an HdrHistogram log; `-` is standard output",
            Flag::new(Group::Output, "--hlog <FILE>",
                "Write the histogram of each interval as an HdrHistogram log; - is stdout, instead of the text report").on(On::RESULTS);
        svg: Option<Text> = "New or empty folder for the pictures, each an SVG file",
            Flag::new(Group::Output, "--svg <DIR>",
                "Write each chart as an SVG file into this directory, which must be new or empty").on(On::RESULTS);
        baseline: Option<Text> =
            "Run to compare this one with: its name, `last`, `tag:NAME`, its directory, or its JSON file",
            Flag::new(Group::Output, "--baseline <RUN>",
                "Compare the run with this one in all outputs: its id, last, tag:NAME, its directory, or a --json file").on(On::RESULTS);
        lines: Option<Text> =
            "Where to write a line of figures for each interval: `stderr`, `-` for standard output, or a file",
            Flag::new(Group::Output, "--lines[=<FILE>]",
                "Print a line for each --interval: to stderr, to stdout above the text report (=-), or to a file (=FILE)").on(On::RESULTS).without_value("stderr");
        json_lines: Option<Text> =
            "File for each interval as a line of JSON; `-` is standard output",
            Flag::new(Group::Output, "--json-lines <FILE>",
                "Write each interval as a line of JSON; - is stdout, instead of the text report").on(On::RESULTS);
        csv_intervals: Option<Text> =
            "File for each interval as a row of CSV; `-` is standard output",
            Flag::new(Group::Output, "--csv-intervals <FILE>",
                "Write each interval as a row of CSV; - is stdout, instead of the text report").on(On::RESULTS);
        rows: Option<Text> =
            "File for each request as a row of CSV, or of JSON if the name ends in `.jsonl`; `-` is standard output",
            Flag::new(Group::Output, "--rows <FILE>",
                "Write a row for each request, as CSV, or as JSON if the name ends in .jsonl; - is stdout");
        vllm_json: Option<Text> =
            "File for the answers of language models in the JSON form of `vllm bench serve`, with that tool's definitions; `-` is standard output",
            Flag::new(Group::Output, "--vllm-json <FILE>",
                "Write the result in the JSON form of `vllm bench serve --save-result`, by that tool's definitions; - is stdout, instead of the text report").on(On::LLM.and(On::RUN));
        explain: Option<Switch> =
            "Explain each part of the report and show the first body of each kind of failure",
            Flag::new(Group::Output, "--explain",
                "Explain each part of the summary").on(On::RESULTS).first();
        brief: Option<Switch> = "Print the report as one line",
            Flag::new(Group::Output, "--brief",
                "Print the summary on one line").on(On::RESULTS).excludes(&["explain"]);
        live: Option<Text> =
            "How to show the run: `screen` (the terminal screen if it fits, else a line), `line` or `none`",
            Flag::new(Group::Output, "--live <FORM>",
                "Show the run on the whole screen, as one line, or not: screen, line or none [default: screen, if it fits]").on(On::RUNS).choices(&["screen", "line", "none"]);
        tui: Option<Switch> = "Whether the run is shown; the flag sets `false`, which means `live: none`",
            Flag::new(Group::Output, "--no-tui", "Disable the live display, as --live none").on(On::RUNS).excludes(&["live"]);
        stay: Option<Switch> = "Keep the screen after the end of the run until `q` is pressed",
            Flag::new(Group::Output, "--stay",
                "Keep the screen after the end of the run until q is pressed").on(On::RUNS);
        github: Option<Switch> =
            "In GitHub Actions, show the result on the job's page and as annotations; the flag sets `false`",
            Flag::new(Group::Output, "--no-github",
                "In GitHub Actions, write no job summary and no annotations").on(On::RUNS);
        quiet: Option<Switch> = "Print no report",
            Flag::new(Group::Output, "-q, --quiet", "Print only the result").on(On::RUNS);
        strict: Option<Switch> = "Fail a suspect run, too",
            Flag::new(Group::Output, "--strict",
                "Exit with code 3 unless the run is valid and kept its load").on(On::RESULTS);
    } [
        /// The figures for monitoring during the run.
        monitoring: Monitoring,
    ]
}

table! {
    /// The servers and receivers of a run's figures during the run.
    pub struct Monitoring [] {
        metrics: Option<Text> =
            "Address that serves live metrics to Prometheus, as `HOST:PORT` or `:PORT`",
            Flag::new(Group::Output, "--metrics <ADDR>",
                "Serve live metrics to Prometheus at http://ADDR/metrics; ADDR is HOST:PORT or :PORT").on(On::RUNS);
        metrics_linger: Option<Text> =
            "How long to serve the metrics after the end, for a last scrape, such as `20s`",
            Flag::new(Group::Output, "--metrics-linger <TIME>",
                "After the run, serve the metrics until they are scraped, for at most this time").on(On::RUNS);
        metrics_from: Option<Text> =
            "URL of the metrics of an inference server, such as `http://HOST:8000/metrics`, which are read before, during and after the load; the report has its queue, its KV cache and its own times",
            Flag::new(Group::Output, "--metrics-from <URL>",
                "Read the server's own metrics before and after the load, and note what vLLM counted, such as hits of its prefix cache").on(On::LLM.and(On::RUN));
        ui: Option<Text> =
            "Local address that serves the run's page during the run, as `HOST:PORT` or `:PORT`",
            Flag::new(Group::Output, "--ui <ADDR>",
                "Serve a live page of the run, with figures and controls; ADDR must be on loopback").on(On::RUNS);
        remote_write: Option<Text> = "URL to send live metrics to, by Prometheus remote write",
            Flag::new(Group::Output, "--remote-write <URL>",
                "Push live metrics to this URL by Prometheus remote write").on(On::RUNS);
        influx: Option<Text> = "URL to send live metrics to, in InfluxDB line protocol",
            Flag::new(Group::Output, "--influx <URL>",
                "Push live metrics in InfluxDB's line protocol to this URL, such as http://HOST:8086/DATABASE").on(On::RUNS);
        otlp: Option<Text> = "URL to send live metrics to, by the OpenTelemetry protocol",
            Flag::new(Group::Output, "--otlp <URL>",
                "Push live metrics by OpenTelemetry's OTLP over HTTP to this URL, such as http://HOST:4318").on(On::RUNS);
        push_headers: Vec<Field> = "Header fields to send to these receivers",
            Flag::new(Group::Output, "--push-header <NAME: VALUE>",
                "Header to send with pushed metrics; repeatable").on(On::RUNS);
    } []
}

nested!(Outputs => "outputs");
