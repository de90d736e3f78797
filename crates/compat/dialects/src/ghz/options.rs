//! The options of ghz: the command line overrides the config file, which overrides the defaults.

use drumfire_units::Nanos;
use std::collections::BTreeMap;

/// Texts by name, sorted.
pub(super) type Texts = BTreeMap<String, String>;

/// Everything that a flag or a key of the config file sets.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "one field a flag, and many of ghz's flags are switches"
)]
pub(super) struct Options {
    pub(super) proto: String,
    pub(super) protoset: String,
    pub(super) call: String,
    pub(super) import_paths: Vec<String>,
    pub(super) reflect_metadata: Texts,
    pub(super) cacert: String,
    pub(super) cert: String,
    pub(super) key: String,
    pub(super) cname: String,
    pub(super) skip_tls: bool,
    pub(super) insecure: bool,
    pub(super) authority: String,
    pub(super) asynchronous: bool,
    /// Requests per second; 0 means as fast as the workers can.
    pub(super) rate: u64,
    pub(super) load: Schedule,
    pub(super) concurrency: u64,
    pub(super) workers: Schedule,
    /// The number of requests; 0 means unlimited within the duration.
    pub(super) total: u64,
    /// The timeout of a call; 0 means none.
    pub(super) timeout: Nanos,
    pub(super) duration: Nanos,
    pub(super) max_duration: Nanos,
    pub(super) duration_stop: String,
    pub(super) data: Option<String>,
    pub(super) data_file: String,
    pub(super) binary: bool,
    pub(super) binary_file: String,
    pub(super) metadata: Option<Texts>,
    pub(super) metadata_file: String,
    pub(super) stream_interval: Nanos,
    pub(super) stream_call_duration: Nanos,
    pub(super) stream_call_count: u64,
    pub(super) stream_dynamic: bool,
    pub(super) output: String,
    pub(super) formats: Vec<Format>,
    pub(super) skip_first: u64,
    pub(super) count_errors: bool,
    pub(super) connections: u64,
    pub(super) connect_timeout: Nanos,
    pub(super) keepalive: Nanos,
    pub(super) name: String,
    pub(super) tags: Texts,
    /// The number of cores to use; 0 means all.
    pub(super) cpus: u64,
    pub(super) debug: String,
    pub(super) compression: bool,
    pub(super) lb_strategy: String,
    pub(super) receive_limit: String,
    pub(super) send_limit: String,
    pub(super) no_functions: bool,
    pub(super) no_templates: bool,
    pub(super) host: String,
    pub(super) config: String,
    /// Rules that the result must satisfy. An addition to ghz's options.
    pub(super) thresholds: Vec<String>,
    pub(super) help: bool,
    pub(super) version: bool,
    /// Notes on the command line, the config file and the files of data.
    pub(super) notes: Vec<String>,
}

/// How a number changes during the run: the rate of requests, or the number of workers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    /// `const`, `step` or `line`.
    pub(super) kind: String,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) step: i64,
    pub(super) step_duration: Nanos,
    pub(super) max_duration: Nanos,
}

impl Schedule {
    const fn starting(kind: String, start: u64, step: i64) -> Self {
        Self {
            kind,
            start,
            end: 0,
            step,
            step_duration: Nanos::ZERO,
            max_duration: Nanos::ZERO,
        }
    }
}

/// A report format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Summary,
    Csv,
    Json,
    Pretty,
    Html,
    InfluxSummary,
    InfluxDetails,
    Prometheus,
    /// The log of `--debug`; not a format of `-O`.
    Log,
}

impl Format {
    /// Every format, as ghz lists them.
    pub(super) const ALL: [Self; 8] = [
        Self::Summary,
        Self::Csv,
        Self::Json,
        Self::Pretty,
        Self::Html,
        Self::InfluxSummary,
        Self::InfluxDetails,
        Self::Prometheus,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Pretty => "pretty",
            Self::Html => "html",
            Self::InfluxSummary => "influx-summary",
            Self::InfluxDetails => "influx-details",
            Self::Prometheus => "prometheus",
            Self::Log => "log",
        }
    }

    /// Whether the format has a row for every result.
    pub(super) const fn has_details(self) -> bool {
        match self {
            Self::Csv
            | Self::Json
            | Self::Pretty
            | Self::Html
            | Self::InfluxDetails
            | Self::Log => true,
            Self::Summary | Self::InfluxSummary | Self::Prometheus => false,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        let constant = || "const".to_owned();
        Self {
            proto: String::new(),
            protoset: String::new(),
            call: String::new(),
            import_paths: Vec::new(),
            reflect_metadata: Texts::new(),
            cacert: String::new(),
            cert: String::new(),
            key: String::new(),
            cname: String::new(),
            skip_tls: false,
            insecure: false,
            authority: String::new(),
            asynchronous: false,
            rate: 0,
            load: Schedule::starting(constant(), 0, 0),
            concurrency: 50,
            workers: Schedule::starting(constant(), 0, 1),
            total: 200,
            timeout: Nanos::from_secs(20),
            duration: Nanos::ZERO,
            max_duration: Nanos::ZERO,
            duration_stop: "close".to_owned(),
            data: None,
            data_file: String::new(),
            binary: false,
            binary_file: String::new(),
            metadata: None,
            metadata_file: String::new(),
            stream_interval: Nanos::ZERO,
            stream_call_duration: Nanos::ZERO,
            stream_call_count: 0,
            stream_dynamic: false,
            output: String::new(),
            formats: vec![Format::Summary],
            skip_first: 0,
            count_errors: false,
            connections: 1,
            connect_timeout: Nanos::from_secs(10),
            keepalive: Nanos::ZERO,
            name: String::new(),
            tags: Texts::new(),
            cpus: 0,
            debug: String::new(),
            compression: false,
            lb_strategy: String::new(),
            receive_limit: String::new(),
            send_limit: String::new(),
            no_functions: false,
            no_templates: false,
            host: String::new(),
            config: String::new(),
            thresholds: Vec::new(),
            help: false,
            version: false,
            notes: Vec::new(),
        }
    }
}

impl Options {
    /// The defaults with a config file: the schedule of the workers then has other defaults.
    pub(super) fn of_config() -> Self {
        let mut options = Self::default();
        options.workers.start = 1;
        options.workers.step = 0;
        options
    }
}
