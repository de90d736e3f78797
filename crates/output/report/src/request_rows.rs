//! A row for each request: CSV (RFC 4180, with line feeds alone), or an object of JSON a line.
//! Times are nanoseconds; a failed request has the time until it was given up. In a run that reads
//! answers of language models, rows also have their times and tokens.
//!
//! A run may have many millions of rows. Names are masked and escaped once in [`RequestRows::new`],
//! and [`RequestRows::push`] appends a row to the caller's buffer, in any order. The caller masks
//! the detail of a failure.

use crate::csv::text_cell;
use crate::secret;
use drumfire_measure::{Kept, RunInfo};
use drumfire_plan::Finish;
use drumfire_units::Nanos;
use serde::Serialize;
use std::fmt::Write as _;

/// The form of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowForm {
    /// Cells, below a header.
    Csv,
    /// An object of JSON.
    JsonLine,
}

/// Whether rows have the times and tokens of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowAnswers {
    /// No response is read as an answer.
    Without,
    /// The columns of answers come before the detail; they are empty for other requests.
    With,
}

/// The rows of one run's requests, in one form.
#[derive(Debug)]
pub struct RequestRows {
    form: RowForm,
    /// Whether rows have the columns of answers.
    answers: RowAnswers,
    started_at_unix_ns: u64,
    pools: Vec<RowNames>,
}

/// The names of a pool and its steps in rows.
#[derive(Debug)]
struct RowNames {
    pool: String,
    steps: Vec<String>,
}

/// One request. The fields are in the order of the columns.
#[derive(Serialize)]
struct Row<'a> {
    /// The intended start, in nanoseconds since 1970.
    intended_unix_ns: u64,
    pool: &'a str,
    step: &'a str,
    outcome: &'static str,
    status: Option<u16>,
    response_time_ns: u64,
    service_time_ns: Option<u64>,
    waiting_ns: u64,
    lag_ns: u64,
    /// The time from sent to the first byte; absent without a response.
    first_byte_ns: Option<u64>,
    bytes_sent: u32,
    bytes_received: u64,
    #[serde(flatten)]
    answer: Option<AnswerCells>,
    /// The reason for a failure, beyond its outcome.
    detail: Option<&'a str>,
}

/// The columns of an answer. Those that are unknown, or that a failed answer did not reach, are
/// absent. Times to tokens count from the intended start.
#[derive(Default, Serialize)]
struct AnswerCells {
    ttft_ns: Option<u64>,
    ttfv_ns: Option<u64>,
    /// From the intended start to the last token.
    last_token_ns: Option<u64>,
    /// The time per token after the first event.
    tpot_ns: Option<u64>,
    /// The longest time between two events with tokens.
    stall_ns: Option<u64>,
    token_events: Option<u64>,
    tokens_in: Option<u32>,
    tokens_cached: Option<u32>,
    tokens_out: Option<u32>,
    tokens_reasoning: Option<u32>,
    tokens_asked: Option<u32>,
    finish: Option<&'static str>,
}

impl AnswerCells {
    const HEADER: &str = "ttft_ns,ttfv_ns,last_token_ns,tpot_ns,stall_ns,token_events,tokens_in,\
                          tokens_cached,tokens_out,tokens_reasoning,tokens_asked,finish,";

    fn of(kept: &Kept) -> Self {
        let Some(answer) = kept.answer.as_ref().map(|kept| kept.answer) else {
            return Self::default();
        };
        let since = |at: Option<Nanos>| at.map(|at| (at - kept.sample.intended).0);
        Self {
            ttft_ns: since(answer.first),
            ttfv_ns: since(answer.first_visible),
            last_token_ns: since(answer.last),
            tpot_ns: answer.tpot().map(|time| time.0),
            stall_ns: answer.stall.map(|time| time.0),
            token_events: Some(answer.token_events),
            tokens_in: answer.usage.input,
            tokens_cached: answer.usage.cached,
            tokens_out: answer.usage.output,
            tokens_reasoning: answer.usage.reasoning,
            tokens_asked: answer.asked,
            finish: answer.finish.map(Finish::name),
        }
    }

    /// Appends the cells, each with a comma behind it.
    fn push_cells(&self, out: &mut String) {
        let times = [
            self.ttft_ns,
            self.ttfv_ns,
            self.last_token_ns,
            self.tpot_ns,
            self.stall_ns,
            self.token_events,
        ];
        let tokens = [
            self.tokens_in,
            self.tokens_cached,
            self.tokens_out,
            self.tokens_reasoning,
            self.tokens_asked,
        ];
        let tokens = tokens.map(|count| count.map(u64::from));
        for number in times.into_iter().chain(tokens) {
            if let Some(number) = number {
                let written = write!(out, "{number}");
                debug_assert!(written.is_ok(), "a String takes any text");
            }
            out.push(',');
        }
        out.push_str(self.finish.unwrap_or_default());
        out.push(',');
    }
}

impl RequestRows {
    /// The rows of a run.
    #[must_use]
    pub fn new(info: &RunInfo, form: RowForm, answers: RowAnswers) -> Self {
        let cell = |text: &str| match form {
            RowForm::Csv => text_cell(text),
            RowForm::JsonLine => text.to_owned(),
        };
        let names = |pool: &drumfire_measure::PoolInfo| RowNames {
            pool: cell(&secret::setting("", &pool.name)),
            steps: pool
                .steps
                .iter()
                .map(|step| cell(&secret::url(step)))
                .collect(),
        };
        Self {
            form,
            answers,
            started_at_unix_ns: info.started_at_unix_ns,
            pools: info.pools.iter().map(names).collect(),
        }
    }

    /// The header above all rows.
    #[must_use]
    pub fn header(&self) -> String {
        const FIRST: &str = "intended_unix_ns,pool,step,outcome,status,response_time_ns,\
                             service_time_ns,waiting_ns,lag_ns,first_byte_ns,bytes_sent,\
                             bytes_received,";
        match (self.form, self.answers) {
            (RowForm::Csv, RowAnswers::Without) => format!("{FIRST}detail\n"),
            (RowForm::Csv, RowAnswers::With) => {
                format!("{FIRST}{}detail\n", AnswerCells::HEADER)
            }
            (RowForm::JsonLine, _) => String::new(),
        }
    }

    /// Appends the row of a request. `detail` explains a failure and must not contain secrets.
    pub fn push(&self, kept: &Kept, detail: Option<&str>, out: &mut String) {
        let row = self.row(kept, detail);
        match self.form {
            RowForm::Csv => row.push_cells(out),
            RowForm::JsonLine => {
                let json = serde_json::to_string(&row);
                out.push_str(&json.expect("numbers and texts are JSON"));
            }
        }
        out.push('\n');
    }

    /// The figures of a request. A request that was not sent has no service time, and one without a
    /// response has no first byte. A step that is unknown to the facts of the run has an empty
    /// name.
    fn row<'a>(&'a self, kept: &Kept, detail: Option<&'a str>) -> Row<'a> {
        let sample = &kept.sample;
        let names = self.pools.get(usize::from(kept.pool));
        let step = names.and_then(|names| names.steps.get(usize::from(sample.step)));
        let was_sent = sample.was_sent();
        let has_byte = was_sent && sample.first_byte != Nanos::MAX;
        Row {
            intended_unix_ns: self.started_at_unix_ns.saturating_add(sample.intended.0),
            pool: names.map_or("", |names| names.pool.as_str()),
            step: step.map_or("", String::as_str),
            outcome: sample.outcome.name(),
            status: (sample.status != 0).then_some(sample.status),
            response_time_ns: sample.response_time().0,
            service_time_ns: was_sent.then(|| sample.service_time().0),
            waiting_ns: sample.waiting().0,
            lag_ns: sample.lag().0,
            first_byte_ns: has_byte.then(|| (sample.first_byte - sample.sent).0),
            bytes_sent: sample.bytes_sent,
            bytes_received: sample.bytes_received,
            answer: match self.answers {
                RowAnswers::Without => None,
                RowAnswers::With => Some(AnswerCells::of(kept)),
            },
            detail,
        }
    }
}

impl Row<'_> {
    /// Appends the cells; an unknown value is empty. Only the detail is quoted here; names were
    /// quoted before.
    fn push_cells(&self, out: &mut String) {
        let mut push = |cell: std::fmt::Arguments<'_>| {
            let written = out.write_fmt(cell);
            debug_assert!(written.is_ok(), "a String takes any text");
        };
        push(format_args!(
            "{},{},{},{},",
            self.intended_unix_ns, self.pool, self.step, self.outcome
        ));
        if let Some(status) = self.status {
            push(format_args!("{status}"));
        }
        push(format_args!(",{},", self.response_time_ns));
        if let Some(time) = self.service_time_ns {
            push(format_args!("{time}"));
        }
        push(format_args!(",{},{},", self.waiting_ns, self.lag_ns));
        if let Some(time) = self.first_byte_ns {
            push(format_args!("{time}"));
        }
        push(format_args!(
            ",{},{},",
            self.bytes_sent, self.bytes_received
        ));
        if let Some(answer) = &self.answer {
            answer.push_cells(out);
        }
        if let Some(detail) = self.detail {
            out.push_str(&text_cell(detail));
        }
    }
}
