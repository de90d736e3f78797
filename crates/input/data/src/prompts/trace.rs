//! Traces: files with the lengths, the texts or the times of requests to language models.
//!
//! A file is read once before the run, as the rows of a feed are. Of each request, its lengths and
//! its time stay in memory; texts and the numbers of blocks stay in the file if it is large, and are
//! read again when the request is sent.

mod format;
mod reuse;
mod row;

pub use format::{TRACE_FORMATS, TraceFormat};
pub(in crate::prompts) use reuse::Cache;
pub use reuse::TraceTotals;
pub(in crate::prompts) use row::{date, json_of};

use super::Prompts;
use crate::feed::Feed;
use crate::read_at::{ReadAt, read_full};
use crate::{FeedError, Random};
use drumfire_plan::DataError;
use drumfire_units::Nanos;
use minijinja::Value;
use row::{Columns, RowFacts};
use serde_json::Value as Json;
use std::collections::HashMap;
use std::sync::Arc;

/// The maximum number of rows of a file, each of which needs 20 bytes of memory if it is sent.
const ROWS_MAX: u64 = 50_000_000;
/// The share of a trace in full.
const WHOLE: f64 = 1.0;

/// How a trace is read.
#[derive(Clone, Copy, Debug)]
pub struct TraceOptions {
    /// The format of the file.
    pub format: TraceFormat,
    /// Leave out requests before this time of the trace.
    pub from: Nanos,
    /// Leave out requests from this time of the trace on.
    pub until: Nanos,
    /// The share of the requests to send, from 0 to 1.
    pub sample: f64,
    /// The seed of the sample.
    pub seed: u64,
}

impl TraceOptions {
    /// Whether each row needs a time.
    fn needs_times(&self) -> bool {
        self.from > Nanos::ZERO || self.until < Nanos::MAX
    }
}

/// The requests of a trace, in the order of their times.
#[derive(Debug)]
pub struct Trace {
    rows: Vec<TraceRow>,
    /// The times from `from` on; `None` if a row has none.
    times: Option<Vec<Nanos>>,
    content: Content,
    note: Option<String>,
}

/// A request of a trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct TraceRow {
    /// The number of the row in the file, from 0.
    row: u32,
    /// The length of the prompt in tokens; 0 if the file has its text.
    pub(super) input: u32,
    /// The length of the answer in tokens.
    pub(super) output: u32,
}

/// The texts of a trace's prompts.
#[derive(Debug)]
enum Content {
    /// The file has lengths only, and each prompt is unique.
    Lengths,
    /// The file has the numbers of blocks, in a column of its rows.
    Blocks {
        feed: Feed,
        column: usize,
        words: u64,
    },
    /// The file has texts.
    Texts { feed: Feed, columns: Columns },
}

impl Trace {
    /// Reads a trace.
    ///
    /// # Errors
    /// The first mistake, with its line: a row that the format does not have, or that lacks a value.
    pub fn read(source: Arc<dyn ReadAt>, options: &TraceOptions) -> Result<Self, FeedError> {
        let format = options.format;
        let feed = Feed::read(Arc::clone(&source), &format.feed_format())?;
        let columns = Columns::of(&feed, format)?;
        if feed.rows() > ROWS_MAX {
            let message = format!("the trace has more than {ROWS_MAX} rows; split the file");
            return Err(FeedError::at_line(0, message));
        }
        let mut picked = Picked::default();
        // The first session of each chain of sessions.
        let mut roots: HashMap<u64, u64> = HashMap::new();
        for row in 0..feed.rows() {
            let read = columns.facts(&feed, row, format);
            let mut facts = read.map_err(|message| at_row(&*source, format, row, message))?;
            if let Some(facts) = &mut facts
                && let Some(parent) = facts.parent
            {
                let root = roots.get(&parent).copied().unwrap_or(parent);
                roots.insert(facts.session, root);
                facts.session = root;
            }
            match facts {
                Some(facts) if is_in_sample(&facts, options) => picked.push(row, facts),
                Some(_) => {}
                None => picked.failed += 1,
            }
        }
        let (rows, times) = picked.finish(options)?;
        let content = match (columns.blocks(), columns.has_texts()) {
            (Some(column), _) => Content::Blocks {
                feed,
                column,
                words: format.block_words(),
            },
            (None, true) => Content::Texts { feed, columns },
            (None, false) => Content::Lengths,
        };
        Ok(Self {
            rows,
            times,
            content,
            note: picked.note(format),
        })
    }

    /// The requests.
    pub(super) fn rows(&self) -> &[TraceRow] {
        &self.rows
    }

    /// The request of a row of the table.
    pub(super) fn row(&self, row: u64) -> Option<TraceRow> {
        let row = usize::try_from(row).ok()?;
        self.rows.get(row).copied()
    }

    /// The times at which the requests are sent at this speed; `None` if a request has no time.
    #[must_use]
    pub fn times(&self, speed: f64) -> Option<Vec<Nanos>> {
        let times = self.times.as_ref()?.iter();
        let is_same = speed.to_bits() == WHOLE.to_bits();
        let scaled = times.map(|time| match is_same {
            true => *time,
            false => Nanos((time.0 as f64 / speed) as u64),
        });
        Some(scaled.collect())
    }

    /// The remark on requests that were left out.
    pub(super) fn note(&self) -> Option<String> {
        self.note.clone()
    }

    /// Whether a request is a list of messages, instead of a prompt.
    #[must_use]
    pub fn has_messages(&self) -> bool {
        matches!(&self.content, Content::Texts { columns, .. } if columns.has_messages())
    }

    /// Appends the prompt of a row of the table.
    pub(super) fn push_prompt(
        &self,
        row: u64,
        prompts: &Prompts,
        out: &mut String,
    ) -> Result<(), DataError> {
        let Some(own) = self.row(row) else {
            return Err(DataError::new("the trace has no such row"));
        };
        match &self.content {
            Content::Lengths => {
                let random = prompts.text_random(row, super::Stream::Text);
                super::push_words(random, own.input.into(), out);
            }
            Content::Blocks {
                feed,
                column,
                words,
            } => {
                let ids = feed.value(own.row.into(), *column)?;
                push_blocks(&ids, own.input.into(), *words, prompts, out)?;
            }
            Content::Texts { feed, columns } => {
                prompts.push_mark(out);
                out.push_str(&columns.prompt(feed, own.row.into())?);
            }
        }
        Ok(())
    }

    /// Appends the messages of a row of the table, if the file has messages. Returns whether it has.
    pub(super) fn push_messages(
        &self,
        row: u64,
        prompts: &Prompts,
        out: &mut String,
    ) -> Result<bool, DataError> {
        let (Content::Texts { feed, columns }, Some(own)) = (&self.content, self.row(row)) else {
            return Ok(false);
        };
        let Some(mut messages) = columns.messages(feed, own.row.into())? else {
            return Ok(false);
        };
        mark_first(&mut messages, prompts);
        out.push_str(&messages.to_string());
        Ok(true)
    }
}

/// Makes the first text of a list of messages new in this run.
fn mark_first(messages: &mut Json, prompts: &Prompts) {
    let mut texts = messages.as_array_mut().into_iter().flatten();
    let first = texts.find_map(|message| match message.get_mut("content") {
        Some(Json::String(text)) => Some(text),
        _ => None,
    });
    if let Some(text) = first {
        let mut marked = String::new();
        prompts.push_mark(&mut marked);
        marked.push_str(text);
        *text = marked;
    }
}

/// Appends the texts of blocks, of which the last may be in part.
fn push_blocks(
    ids: &Value,
    tokens: u64,
    words: u64,
    prompts: &Prompts,
    out: &mut String,
) -> Result<(), DataError> {
    let ids = ids.try_iter();
    let ids = ids.map_err(|_| DataError::new("`hash_ids` is not a list"))?;
    let mut rest = tokens;
    for id in ids {
        let count = rest.min(words);
        if count == 0 {
            break;
        }
        if rest < tokens {
            out.push(' ');
        }
        prompts.push_block(block_number(&id), count, out);
        rest -= count;
    }
    // A row may have fewer blocks than its length needs.
    Ok(())
}

/// The number of a block, which may be named by a number or a text.
fn block_number(id: &Value) -> u64 {
    match (id.as_i64(), id.as_str()) {
        (Some(number), _) => number as u64,
        (None, Some(text)) => hash(text.as_bytes()),
        (None, None) => hash(id.to_string().as_bytes()),
    }
}

/// A number for a text: FNV-1a, whose result is the seed of a better generator.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Whether a request belongs to the sample. Requests of one conversation belong to it together.
fn is_in_sample(facts: &RowFacts, options: &TraceOptions) -> bool {
    options.sample >= WHOLE
        || Random::new(options.seed, facts.session, super::LANE, 3).unit() < options.sample
}

/// A mistake in a row, with its line.
fn at_row(source: &dyn ReadAt, format: TraceFormat, row: u64, message: String) -> FeedError {
    match line_of(source, format, row) {
        Some(line) => FeedError::at_line(line, message),
        None => FeedError::at_line(0, format!("entry {}: {message}", row + 1)),
    }
}

/// The line of a row, from 1: the rows of these formats are the lines that are not blank, after the
/// line of names. `None` if rows are not lines.
fn line_of(source: &dyn ReadAt, format: TraceFormat, row: u64) -> Option<u64> {
    if !format.has_lines() {
        return None;
    }
    let wanted = row + u64::from(format.has_names());
    let (mut chunk, mut offset) = (vec![0; 64 << 10], 0);
    let (mut line, mut filled, mut is_blank) = (1, 0, true);
    loop {
        let count = read_full(source, offset, &mut chunk)
            .ok()
            .filter(|count| *count > 0)?;
        for byte in &chunk[..count] {
            if !byte.is_ascii_whitespace() && is_blank {
                is_blank = false;
                if filled == wanted {
                    return Some(line);
                }
                filled += 1;
            }
            if *byte == b'\n' {
                line += 1;
                is_blank = true;
            }
        }
        offset += count as u64;
    }
}

/// The rows of a file that are sent.
#[derive(Default)]
struct Picked {
    rows: Vec<TraceRow>,
    /// Nanoseconds on the trace's own clock; as long as `rows`, unless a row has no time.
    times: Vec<u64>,
    /// The number of rows of requests that failed when they were recorded.
    failed: u64,
}

impl Picked {
    fn push(&mut self, row: u64, facts: RowFacts) {
        let small = |length: u64| u32::try_from(length).unwrap_or(u32::MAX);
        self.rows.push(TraceRow {
            row: small(row),
            input: small(facts.input),
            output: small(facts.output),
        });
        self.times.extend(facts.at);
    }

    /// The rows within the options' times, in the order of their times, and these times.
    fn finish(
        &mut self,
        options: &TraceOptions,
    ) -> Result<(Vec<TraceRow>, Option<Vec<Nanos>>), FeedError> {
        let rows = std::mem::take(&mut self.rows);
        let times = std::mem::take(&mut self.times);
        if rows.is_empty() {
            return Err(FeedError::at_line(0, "the trace has no request to send"));
        }
        if times.len() < rows.len() {
            if options.needs_times() {
                let message = "the trace has no times, so a part of its time can't be selected";
                return Err(FeedError::at_line(0, message));
            }
            return Ok((rows, None));
        }
        let start = times.iter().min().copied().unwrap_or_default();
        let mut timed: Vec<(u64, TraceRow)> = times
            .into_iter()
            .map(|time| time - start)
            .zip(rows)
            .filter(|(time, _)| (options.from.0..options.until.0).contains(time))
            .collect();
        // Equal times keep the order of the file.
        timed.sort_by_key(|(time, _)| *time);
        if timed.is_empty() {
            let message = "the trace has no request in this part of its time";
            return Err(FeedError::at_line(0, message));
        }
        let (times, rows) = timed
            .into_iter()
            .map(|(time, row)| (Nanos(time - options.from.0), row))
            .unzip();
        Ok((rows, Some(times)))
    }

    /// The remark on requests that were left out.
    fn note(&self, format: TraceFormat) -> Option<String> {
        let name = format.name();
        (self.failed > 0).then(|| {
            let requests = crate::feed::counted(self.failed, "row");
            format!("{requests} of the {name} trace without a usable request were left out")
        })
    }
}
