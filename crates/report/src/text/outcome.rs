//! The ends of exchanges: counts, statuses, errors by blame, forgiven mistakes.
//!
//! Failures stand under the party to blame: a reader wants to know first whether it was the target,
//! the network, the plan or the generator. Within one they are ordered by frequency, and each kind
//! has its details, its bodies where an explanation is asked for, and its remedy.
//!
//! Counts come first and add up: everything that was due appears once in the line of requests.
//! Lists are bounded, and a last row says what was left out.
//!
//! The printers of this file stand at different places of the page, and each is called once:
//! [`print_requests`] under the plan, [`print_status`], [`print_errors`] and [`print_forgiven`]
//! near its end. The first also calls those of iterations and messages, whose counts have the same
//! form and follow from the same arrivals.
//!
//! A table gives its columns the same widths in all rows; what belongs to one row and is longer
//! than a cell (a message, a remedy, a body) is put below it by [`described`] and [`below`],
//! indented to the column in which the name begins.
//!
//! Errors go through three steps. `measure` has a row for each message of an outcome; [`kinds`]
//! gathers these to one [`FailureKind`] an outcome and puts them in the order of the page;
//! [`print_errors`] lays the heads out as one table, and [`kind_lines`] puts the details of each
//! kind under its head. The table must be laid out before, since the column in which names begin is
//! known only then.
//!
//! Messages and bodies come from servers. They are escaped here before their width is measured, and
//! bounded in number and in rows: of each kind of failure a page has a few lines, in however many
//! ways a target words it.

use super::{foreign, iteration, tally};
use crate::line::{Ink, Line, wrap};
use crate::page::Page;
use crate::quantity::{count, counted, rate, sent_or_begun, share, share_tenths};
use crate::remedy::{Naming, remedy_beside};
use crate::secret;
use crate::show::content;
use crate::status::reason_phrase;
use crate::style::{Style, Unicode};
use crate::table::{Column, Side, Table};
use drumfire_measure::{
    Blame, Closing, ErrorRow, FailedBody, GRPC_STATUS, Leniency, Outcome, Summary, status_name,
};
use drumfire_units::Nanos;
use std::borrow::Cow;
use std::cmp::Reverse;
use unicode_width::UnicodeWidthStr;

/// The most statuses that are shown; the rarest give way to one row with their sum.
const STATUS_MAX: usize = 12;
/// The most messages of one kind of failure that are shown; the rarest give way.
const MESSAGES_MAX: usize = 3;

/// The most rows of a body that are shown with an explanation: enough for the message of an error,
/// and little of a page's markup.
const BODY_LINES: usize = 12;

/// The most characters of a body of which one row is shown.
const EXAMPLE_MAX: usize = 400;

/// A column without a heading that never gives way: lists of a few cells have no headings, and each
/// of their cells is needed.
const fn column(side: Side) -> Column {
    Column {
        heading: "",
        side,
        dispensable: 0,
    }
}

/// Prints the number of requests by what became of them, and their rate; then iterations and
/// messages, where the run has any.
///
/// The counts that must always be there (sent, ok, failed, dropped, in flight) are printed with a
/// 0, dim; timed out and pending ones only where there are any. A colour marks each kind of loss,
/// and the sum is what was due.
pub(super) fn print_requests(summary: &Summary, page: &mut Page<'_>) {
    let counts = &summary.total.counts;
    let mut failed = format!("{} failed", count(counts.failed));
    if counts.failed > 0 {
        failed.push_str(&format!(" ({})", share(counts.failed, counts.sent)));
    }
    let unmade = summary.total.without_data();
    let begun = sent_or_begun(unmade);
    let mut items = vec![
        Line::of(format!("{} {begun}", count(counts.sent)), Ink::Bold),
        tally(format!("{} ok", count(counts.ok)), counts.ok, Ink::Plain),
        tally(failed, counts.failed, Ink::Bad),
    ];
    if counts.timed_out > 0 {
        let text = format!("{} of them timed out", count(counts.timed_out));
        items.push(Line::of(text, Ink::Bad));
    }
    if unmade > 0 {
        let text = format!("{} of them not sent for lack of data", count(unmade));
        items.push(Line::of(text, Ink::Bad));
    }
    let dropped = format!("{} dropped", count(counts.dropped));
    items.push(tally(dropped, counts.dropped, Ink::Warn));
    let in_flight = format!("{} in flight", count(counts.in_flight));
    items.push(tally(in_flight, counts.in_flight, Ink::Warn));
    if counts.pending > 0 {
        let text = format!("{} due but not sent", count(counts.pending));
        items.push(Line::of(text, Ink::Warn));
    }
    page.items("Requests", items);
    print_rate(summary, page);
    iteration::print(summary, page);
    print_messages(summary, page);
    page.explain(
        "Every due request counts exactly once: sent, dropped or never sent. Every sent request is \
         ok, failed or in flight.",
    );
}

/// Prints the rate at which requests ended, beside the share of the load that was sent.
///
/// Two shares could stand here, of counts and of rates. The one of counts is printed: the drain at
/// the end lengthens the measured span and would lower every rate a little, and a load that was
/// sent in full would read 99.8 %.
fn print_rate(summary: &Summary, page: &mut Page<'_>) {
    let achieved = summary.achieved_per_s();
    let mut items = vec![Line::of(format!("{} achieved", rate(achieved)), Ink::Bold)];
    // Where a rate asks for iterations, it asks for no number of requests: their line has the
    // share.
    let asked = match summary.total.iterations {
        Some(_) => None,
        None => summary.intended_per_s(),
    };
    if let Some(intended) = asked.filter(|intended| *intended > 0.0) {
        // By counts: the drain after the last request would lower a share of rates.
        let counts = &summary.total.counts;
        let sent = counts.sent.saturating_sub(summary.total.without_data());
        let part = share(sent, counts.intended);
        items.push(Line::plain(format!("{part} of {} sent", rate(intended))));
    }
    page.items("Rate", items);
}

/// Prints the numbers of messages that were sent and received, and their rates over the measured
/// span. An exchange of HTTP has none. Unsent messages are those that calls were to send and did
/// not.
fn print_messages(summary: &Summary, page: &mut Page<'_>) {
    let messages = &summary.total.messages;
    if !messages.any() {
        return;
    }
    let seconds = (summary.duration.0 as f64 / 1e9).max(1e-9);
    let line = |n: u64, what: &str| {
        let text = format!("{} {what} ({})", count(n), rate(n as f64 / seconds));
        Line::plain(text)
    };
    let mut items = vec![
        line(messages.sent, "sent"),
        line(messages.received, "received"),
    ];
    if messages.unsent > 0 {
        let text = format!("{} unsent", count(messages.unsent));
        items.push(Line::of(text, Ink::Warn));
    }
    page.items("Messages", items);
}

/// Prints the number of responses with each status, and a hint on redirects that were not followed.
///
/// Statuses beyond the most frequent ones share a row, with their number, so that the rows always
/// add up to the responses. A target that answers at random can't fill the page. The hint is there
/// only where the plan follows none at all: a run that follows some has its own failures for the
/// rest.
pub(super) fn print_status(summary: &Summary, page: &mut Page<'_>) {
    let mut statuses: Vec<(u16, u64)> = summary.total.status().collect();
    let whole = statuses.iter().map(|(_, n)| n).sum();
    statuses.sort_by_key(|&(status, n)| (Reverse(n), status));
    let hidden = statuses.split_off(statuses.len().min(STATUS_MAX));
    statuses.sort_unstable();
    let mut table = Table::new([Side::Left, Side::Right, Side::Right].map(column));
    for (status, n) in statuses {
        let ink = match status {
            100..400 | GRPC_STATUS => Ink::Plain,
            400..500 => Ink::Warn,
            _ => Ink::Bad,
        };
        table.row(vec![
            Line::of(status_name(status).into_owned(), ink),
            Line::plain(count(n)),
            Line::of(share_tenths(n, whole), Ink::Dim),
        ]);
    }
    if !hidden.is_empty() {
        let n = hidden.iter().map(|(_, n)| n).sum();
        table.row(vec![
            Line::plain(format!("{} others", hidden.len())),
            Line::plain(count(n)),
            Line::of(share_tenths(n, whole), Ink::Dim),
        ]);
    }
    let lines = table.lines(page.room());
    page.part("Status", lines);
    if whole > 0 {
        page.explain("The statuses of all responses, ok or failed.");
    }
    let redirects: u64 = summary
        .total
        .status()
        .filter(|(status, _)| matches!(status, 301 | 302 | 303 | 307 | 308))
        .map(|(_, n)| n)
        .sum();
    let mut plans = summary
        .info
        .pools
        .iter()
        .filter_map(|pool| pool.asked.as_ref());
    let follows = plans.any(|asked| asked.transport.redirects.is_some());
    if redirects > 0 && !follows {
        let follow = match page.style.naming {
            Naming::Flags => "-L N",
            Naming::Keys => "`redirects: N`",
        };
        let text = format!(
            "{} followed; use {follow} to follow up to N",
            match redirects {
                1 => "one redirect was not".to_owned(),
                n => format!("{} redirects were not", count(n)),
            }
        );
        page.aside(&text);
    }
}

/// Failures of one kind, with their details.
///
/// `measure` has a row for each message of a kind, and the page a block for each kind; this is the
/// sum of a kind's rows, made by [`kinds`] and printed by [`kind_lines`].
struct FailureKind {
    /// The outcome that all of them have.
    outcome: Outcome,
    /// The party to blame for it, by which the kinds are grouped.
    blame: Blame,
    /// The number of requests that ended so, over all messages.
    count: u64,
    /// The messages with their counts, in the order of `measure`: the most frequent first.
    messages: Vec<ErrorRow>,
    /// The statuses of responses that failed by them, the most frequent first.
    statuses: Vec<String>,
    /// Whether the server closed most connections after one request.
    closes_each: bool,
}

impl FailureKind {
    /// The remedy for failures of this kind: that of the most frequent message.
    fn remedy(&self, naming: Naming) -> Option<Cow<'static, str>> {
        let causes = self.messages.iter().map(|row| row.detail.cause);
        match self.outcome {
            Outcome::ClosedReused if self.closes_each => {
                let text = "the server closes its connections after one or two requests; use \
                            --no-keepalive";
                Some(naming.named(text))
            }
            outcome => remedy_beside(outcome, causes, naming),
        }
    }
}

/// The statuses from 400 on, in words, with their counts where there are several. Which statuses
/// fail is the plan's decision; these are the ones that a reader of `http_status` looks for.
fn failing_statuses(summary: &Summary, style: &Style) -> Vec<String> {
    let statuses = summary.total.status();
    let mut failing: Vec<(u16, u64)> = statuses
        .filter(|(status, _)| (400..600).contains(status))
        .collect();
    failing.sort_by_key(|&(status, n)| (Reverse(n), status));
    let times = style.glyph("×", "x");
    let several = failing.len() > 1;
    let shown = failing.into_iter().take(MESSAGES_MAX);
    shown
        .map(|(status, n)| {
            let words = match reason_phrase(status) {
                Some(phrase) => format!("{status} {phrase}"),
                None => status.to_string(),
            };
            match several {
                true => format!("{} {times} {words}", count(n)),
                false => words,
            }
        })
        .collect()
}

/// The kinds of failure by blame, and within a blame the most frequent first.
///
/// Rows of one outcome come with one message each and are gathered; a step's rows have none. Kinds
/// of equal blame and count keep the order in which `measure` has them. The statuses of failing
/// responses are looked up for one kind only, for the others have no response that could tell more.
fn kinds(summary: &Summary, style: &Style) -> Vec<FailureKind> {
    let mut kinds: Vec<FailureKind> = Vec::new();
    let connections = &summary.total.connections;
    let closed = connections.closed_by(Closing::Peer) + connections.closed_by(Closing::Reset);
    let carried = &connections.carried;
    let closes_each =
        closed.saturating_mul(2) > carried.count() && carried.quantile_unchecked(0.5) <= Nanos(2);
    for row in summary.total.errors() {
        match kinds.iter_mut().find(|kind| kind.outcome == row.outcome) {
            Some(kind) => {
                kind.count += row.count;
                kind.messages.push(row);
            }
            None => kinds.push(FailureKind {
                outcome: row.outcome,
                blame: row.blame,
                count: row.count,
                statuses: match row.outcome {
                    Outcome::HttpStatus => failing_statuses(summary, style),
                    _ => Vec::new(),
                },
                messages: vec![row],
                closes_each,
            }),
        }
    }
    kinds.sort_by_key(|kind| (kind.blame, Reverse(kind.count)));
    kinds
}

/// Prints each kind of failure under the party to blame, with its remedy; with explanations also
/// its bodies.
///
/// The heads of all kinds are laid out as one table first, so that counts and names line up, and
/// each head is then followed by the lines of its kind. A blame is named once, above the first of
/// its kinds.
pub(super) fn print_errors(summary: &Summary, page: &mut Page<'_>) {
    let kinds = kinds(summary, page.style);
    let mut table = Table::new([Side::Left, Side::Right, Side::Left].map(column));
    let mut blame = None;
    for kind in &kinds {
        let again = blame.replace(kind.blame) == Some(kind.blame);
        table.row(vec![
            Line::of(if again { "" } else { kind.blame.name() }, Ink::Bold),
            Line::of(count(kind.count), Ink::Bad),
            Line::plain(kind.outcome.name()),
        ]);
    }
    let heads = table.lines(page.room()).into_iter().zip(&kinds);
    let rows: Vec<_> = heads
        .flat_map(|(head, kind)| kind_lines(head, kind, page))
        .collect();
    page.part("Errors", rows);
    if page.explains() {
        print_bodies(summary, page);
    }
    if !kinds.is_empty() {
        page.explain(
            "Failures by cause: target, network, plan or generator. The name of each kind is \
             stable, so scripts can rely on it.",
        );
    }
}

/// Prints the first bodies of each kind of failure, each with the step that it answered.
///
/// A body is a stranger's text: it was cut and masked when it was kept, and is escaped, cut to rows
/// and masked once more here. The status tells bodies of failing statuses apart, the name all
/// others.
fn print_bodies(summary: &Summary, page: &mut Page<'_>) {
    let mut last: Option<&FailedBody> = None;
    for failed in summary.failed_bodies.iter() {
        let before = last
            .replace(failed)
            .filter(|last| (last.outcome, last.status) == (failed.outcome, failed.status));
        let which = match before {
            None => "first",
            Some(_) => "another",
        };
        let head = format!("{which} {}", body_name(failed, summary, page.style.unicode));
        let rows = content(&failed.body, &[], &[], page.style.unicode);
        let shown = rows.len().min(BODY_LINES);
        let more = rows.len() - shown;
        let rows = rows.into_iter().take(shown).map(|row| {
            let mut line = Line::new();
            line.space(2);
            line.with(row, Ink::Plain)
        });
        let more = (more > 0).then(|| {
            Line::of(
                format!("  ({})", counted(more as u64, "more line")),
                Ink::Dim,
            )
        });
        let lines = std::iter::once(Line::of(head, Ink::Dim))
            .chain(rows)
            .chain(more);
        page.part("", lines);
    }
}

/// The name of a failed body: its status or its outcome, and the step that it answered.
fn body_name(failed: &FailedBody, summary: &Summary, unicode: Unicode) -> String {
    let pool = summary.info.pools.get(failed.pool);
    let step = pool.and_then(|pool| pool.steps.get(usize::from(failed.step)));
    let step = step.map_or_else(String::new, |step| foreign(&secret::url(step), unicode));
    match failed.outcome {
        Outcome::HttpStatus => format!("{} of {step}", failed.status),
        outcome => format!("{} of {step}", outcome.name()),
    }
}

/// A row for each kind of failure that has a body: its name, and the first line of its first body.
/// The body is masked and escaped as it is where it is printed whole.
pub(crate) fn examples(summary: &Summary, style: &Style) -> Vec<Line> {
    let mut last = None;
    let mut rows = Vec::new();
    for failed in summary.failed_bodies.iter() {
        let kind = (failed.outcome, failed.status);
        if last.replace(kind) == Some(kind) {
            continue;
        }
        let lines = content(&failed.body, &[], &[], style.unicode).into_iter();
        let first = lines.map(|line| line.trim().to_owned());
        // JSON is indented, so that its first line would be a brace alone.
        let texts: Vec<String> = first.filter(|line| !line.is_empty()).collect();
        let first: String = texts.join(" ").chars().take(EXAMPLE_MAX).collect();
        let name = body_name(failed, summary, style.unicode);
        let mut row = Line::of(format!("{name}  "), Ink::Dim).with(first, Ink::Plain);
        row.clip(style.width(), style.glyph("…", "~"));
        rows.push(row);
    }
    rows
}

/// One kind of failure: its head, its details, and its remedy. One message stands beside the head
/// where it fits; of several, each has a line with its count, and those beyond [`MESSAGES_MAX`] are
/// summed up. Failing statuses are the details of their kind, which needs no remedy.
fn kind_lines(mut head: Line, kind: &FailureKind, page: &Page<'_>) -> Vec<Line> {
    let style = page.style;
    head.trim_end();
    let indent = head.width() - kind.outcome.name().len();
    let say = |row: &ErrorRow| foreign(&row.detail.to_string(), style.unicode);
    if kind.outcome == Outcome::HttpStatus && !kind.statuses.is_empty() {
        let text = kind.statuses.join(", ");
        let mut rows = described(head, indent, &text, Ink::Plain, page);
        let lacks = kind.messages.iter();
        let lacks = lacks.filter(|row| row.detail.text != kind.outcome.words());
        for row in lacks.take(MESSAGES_MAX) {
            let text = format!("{} with {}", count(row.count), say(row));
            rows.extend(below(&text, indent, "", Ink::Dim, page));
        }
        return rows;
    }
    let mut rows = match kind.messages.as_slice() {
        [only] => described(head, indent, &say(only), Ink::Plain, page),
        _ => vec![head],
    };
    if let [_, _, ..] = kind.messages.as_slice() {
        let times = style.glyph("×", "x");
        let (shown, hidden) = kind
            .messages
            .split_at(kind.messages.len().min(MESSAGES_MAX));
        for row in shown {
            let text = format!("{} {times} {}", count(row.count), say(row));
            rows.extend(below(&text, indent, "", Ink::Plain, page));
        }
        if !hidden.is_empty() {
            let n = hidden.iter().map(|row| row.count).sum();
            let others = counted(hidden.len() as u64, "other message");
            let text = format!("{} in {others}", count(n));
            rows.extend(below(&text, indent, "", Ink::Dim, page));
        }
    }
    if let Some(remedy) = kind.remedy(style.naming) {
        rows.extend(below(
            &remedy,
            indent,
            style.glyph("→ ", "-> "),
            Ink::Dim,
            page,
        ));
    }
    rows
}

/// A head with its text beside it where it fits, else in lines below, in the column in which the
/// name begins. A text is never cut: it may be the one fact that explains a failure.
fn described(mut head: Line, indent: usize, text: &str, ink: Ink, page: &Page<'_>) -> Vec<Line> {
    let beside = Line::of(format!("  {text}"), ink);
    if head.width() + beside.width() <= page.room() {
        head.append(beside);
        return vec![head];
    }
    let mut rows = vec![head];
    rows.extend(below(text, indent, "", ink, page));
    rows
}

/// A text in lines that are indented, the first behind a mark. The indent takes at most half of the
/// page, so that a narrow one still has room for words.
fn below(text: &str, indent: usize, mark: &str, ink: Ink, page: &Page<'_>) -> Vec<Line> {
    let indent = indent.min(page.room() / 2);
    let texts = wrap(text, page.room() - indent - mark.width());
    let blank = " ".repeat(mark.width());
    let lines = texts.into_iter().enumerate().map(|(index, text)| {
        let mut line = Line::new();
        line.space(indent);
        line.push(if index == 0 { mark } else { &blank }, ink);
        line.with(text, ink)
    });
    lines.collect()
}

/// Prints the leniencies that responses were granted, by name, with a sentence on each.
///
/// They stand apart from errors: such a response is ok, and the list is for those who write the
/// server. Nothing is printed of those that did not occur.
pub(super) fn print_forgiven(summary: &Summary, page: &mut Page<'_>) {
    let mut table = Table::new([Side::Right, Side::Left].map(column));
    let counts = summary.total.leniencies.iter().zip(Leniency::ALL);
    let forgiven: Vec<_> = counts.filter(|(n, _)| **n > 0).collect();
    for (n, leniency) in &forgiven {
        table.row(vec![
            Line::of(count(**n), Ink::Warn),
            Line::plain(leniency.name()),
        ]);
    }
    let heads = table.lines(page.room()).into_iter().zip(&forgiven);
    let rows: Vec<_> = heads
        .flat_map(|(mut head, (_, leniency))| {
            head.trim_end();
            let indent = head.width() - leniency.name().len();
            described(head, indent, leniency.words(), Ink::Dim, page)
        })
        .collect();
    page.part("Forgiven", rows);
    if !forgiven.is_empty() {
        page.explain("Harmless violations of the standard; these responses count as ok.");
    }
}
