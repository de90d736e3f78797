//! A base and a candidate compared: whether the candidate is worse, better or equal, and by how much.
//!
//! [`Comparison::of`] refuses runs whose difference would say nothing about the target
//! (`likeness`), takes the same figures of each run (`figure`), and compares them in one of two
//! ways. Sets of runs are compared by ranks of whole runs (`sets`), and have an answer. One pair is
//! compared by blocks of its intervals (`pair`): its intervals hold what chance *within* the runs
//! can do, and not what makes two runs of one program differ, so that it never has an answer.
//!
//! A shift is a ratio, less 1, for times and rates, and a difference of shares for failures. A
//! positive shift of a time or of failures is a candidate that is worse; of a rate, one that is
//! better. `text` and `json` show what is here and compute nothing.

mod figure;
mod json;
mod likeness;
mod pair;
mod sets;
mod text;

use drumfire_measure::Summary;
use figure::Figure;

pub use json::SCHEMA;

/// The confidence of every interval.
const CONFIDENCE: f64 = 0.95;

/// The terms of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// The least shift that matters, as a share above 0: 0.02 is 2 %. A smaller one is equal.
    pub least: f64,
    /// Whether runs against different targets may be compared.
    pub any_target: bool,
}

/// A comparison that was made.
#[derive(Debug)]
pub struct Comparison {
    terms: Terms,
    base: Runs,
    candidate: Runs,
    rows: Vec<Row>,
    /// Why its answers say less than they seem to, in sentences.
    cautions: Vec<String>,
}

/// One side: its runs in the order of their time.
#[derive(Debug)]
struct Runs {
    ids: Vec<String>,
    target: String,
    /// The beginning of each, in nanoseconds of the Unix time.
    began: Vec<u64>,
}

/// A figure of both sides.
#[derive(Debug)]
struct Row {
    figure: Figure,
    /// The median over the runs of each side: base, candidate.
    medians: [f64; 2],
    /// The estimate of the shift and its interval.
    shift: f64,
    interval: Option<(f64, f64)>,
    /// The probability that equal sets differ as much, raised for the number of figures. `None`
    /// where there is one pair.
    p: Option<f64>,
    /// `None` where there is one pair.
    answer: Option<Answer>,
}

/// What a figure says of the candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Worse,
    Better,
    /// The whole interval is within the least shift that matters.
    Equal,
    /// Neither a shift nor its absence is shown.
    Open,
}

impl Comparison {
    /// Compares two sides of at least one run each.
    ///
    /// # Errors
    /// When a side is empty or too large, or when runs are not comparable; the text names the run
    /// and the reason.
    pub fn of(base: &[&Summary], candidate: &[&Summary], terms: Terms) -> Result<Self, String> {
        likeness::check(base, candidate, terms.any_target)?;
        let (rows, cautions) = match (base, candidate) {
            ([base], [candidate]) => pair::rows(base, candidate),
            _ => sets::rows(base, candidate, terms.least),
        };
        Ok(Self {
            terms,
            base: Runs::of(base),
            candidate: Runs::of(candidate),
            rows,
            cautions,
        })
    }

    /// Whether a figure of the candidate is worse. Never where there is one pair.
    #[must_use]
    pub fn is_worse(&self) -> bool {
        self.has(Answer::Worse)
    }

    fn is_pair(&self) -> bool {
        self.base.ids.len() == 1 && self.candidate.ids.len() == 1
    }

    fn has(&self, answer: Answer) -> bool {
        self.rows.iter().any(|row| row.answer == Some(answer))
    }
}

impl Runs {
    fn of(runs: &[&Summary]) -> Self {
        let mut ordered: Vec<&Summary> = runs.to_vec();
        ordered.sort_by_key(|run| run.info.started_at_unix_ns);
        Self {
            ids: ordered.iter().map(|run| run.info.id.clone()).collect(),
            target: ordered
                .first()
                .map(|run| run.info.target.clone())
                .unwrap_or_default(),
            began: ordered
                .iter()
                .map(|run| run.info.started_at_unix_ns)
                .collect(),
        }
    }
}
