//! The list of stored runs: a row for each, with the three answers.
//!
//! Rows are made from digests, so that a list of thousands reads no histogram. A run whose record
//! can't be read keeps its row, with the word `unreadable`. A page in a browser is in `html`.
//!
//! A terminal that is wide enough shows every column. A narrower one shows the compact table:
//! the beginning of the id, the age, and one column for the three answers and the rules.

use crate::grid::{Cell, Column, Grid, Row};
use crate::line::{Ink, Line};
use crate::plan_name::plan_name;
use crate::quantity::{latency, latency_at_least, share, share_of, span};
use crate::secret;
use crate::style::{Style, Unicode};
use crate::table;
use drumfire_measure::{
    Coverage, Digest, DigestTime, StoredState, TargetState, Unfinished, Validity,
};
use drumfire_units::Nanos;

/// The number of characters of a target for which other columns give way, on terminals of fewer
/// than [`MEDIUM`] columns and on others.
const TARGETS_LEAST: [usize; 2] = [18, 28];
/// The width of a terminal on which a longer target is worth more than further columns.
const MEDIUM: usize = 90;
/// The maximum number of characters of a target.
const TARGET_MOST: usize = 60;
/// Between the name of a plan and its target.
const BETWEEN: &str = " · ";
/// The minimum number of characters of a target beside the name of a plan.
const TARGET_BESIDE: usize = 14;
/// The minimum length of a shortened id.
const ID_LEAST: usize = 4;
/// The name for the newest run, which no shortened id may equal.
const LAST: &str = "last";

/// A run in a list: its digest, its labels, and the facts that only the folder of runs knows.
/// Record and labels are read apart, and either may be unreadable alone.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    /// The name by which commands know it.
    pub id: &'a str,
    /// The beginning, as clocks show it here; empty where it is not known.
    pub began: &'a str,
    /// Its tags and the note on it, or why they can't be read.
    pub labels: Result<Labelled<'a>, &'a str>,
    /// Its figures, or why its record can't be read.
    pub run: Result<&'a Digest, &'a str>,
    /// Its progress, if its record has no end.
    pub unfinished: Option<Unfinished>,
    /// The exit code that it ended with, `--strict` apart; `None` of a run without an end.
    pub exit: Option<u8>,
    /// Whether its directory lies outside of the folder of runs, by `-o`.
    pub is_elsewhere: bool,
}

/// The user's words on a run.
#[derive(Clone, Copy, Debug)]
pub struct Labelled<'a> {
    /// Words by which runs are found.
    pub tags: &'a [String],
    /// A text of any kind.
    pub note: &'a str,
}

/// The surroundings of a list on a terminal.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The current time, in nanoseconds since 1970-01-01 00:00 UTC.
    pub now_unix_ns: u64,
    /// The names of all stored runs, among which a shortened id is unique.
    pub ids: &'a [String],
}

/// The runs as a table on a terminal, in the given order: every column, or the compact table if
/// the page is too narrow. In both, the target takes the room that the other columns leave.
#[must_use]
pub fn page(runs: &[Listed<'_>], around: &Surroundings<'_>, style: &Style) -> String {
    let whole = |room| grid(runs, room);
    let least = TARGETS_LEAST[usize::from(style.width() >= MEDIUM)];
    let lines = match widest(&lines(&whole(least), usize::MAX, style)) <= style.width() {
        true => fitted(whole, least, runs, style),
        false => fitted(|room| compact(runs, around, room), least, runs, style),
    };
    let mut out = String::new();
    for line in lines {
        line.print(style, &mut out);
    }
    out
}

/// The lines of a table whose targets fill the page, and have at least `least` characters of room.
fn fitted(
    grid: impl Fn(usize) -> Grid,
    least: usize,
    runs: &[Listed<'_>],
    style: &Style,
) -> Vec<Line> {
    let targets = runs.iter().filter_map(|run| run.run.ok());
    let longest = targets
        .map(|run| what(run, usize::MAX).chars().count())
        .max();
    let left = style
        .width()
        .saturating_sub(widest(&lines(&grid(least), style.width(), style)));
    let room = (least + left).min(longest.unwrap_or(0).min(TARGET_MOST));
    lines(&grid(room.max(least)), style.width(), style)
}

fn lines(grid: &Grid, width: usize, style: &Style) -> Vec<Line> {
    table::lines(grid, Some("id"), width, style)
}

fn widest(lines: &[Line]) -> usize {
    lines.iter().map(Line::width).max().unwrap_or(0)
}

/// The compact table, with `room` characters for each target. The rate and a latency stay longest.
fn compact(runs: &[Listed<'_>], around: &Surroundings<'_>, room: usize) -> Grid {
    let columns = vec![
        Column::words("id", 0),
        Column::words("began", 3),
        Column::words("target", 0),
        Column::words("result", 0),
        Column::numbers("lasted", 6),
        Column::numbers("rate", 2),
        Column::numbers("failed", 4),
        Column::numbers("p99", 1),
        Column::words("tags", 7),
    ];
    let length = prefix(runs.iter().map(|run| run.id), around.ids);
    let rows = runs.iter().map(|listed| {
        let id: String = listed.id.chars().take(length).collect();
        let mut cells = vec![Cell::new(id).inked(Ink::Bold)];
        match listed.run {
            Ok(run) => {
                let age = Nanos(around.now_unix_ns.saturating_sub(run.started_at_unix_ns));
                cells.extend([
                    Cell::new(ago(age, listed.began)),
                    Cell::foreign(what(run, room)),
                    result(listed),
                    lasted(run, listed.unfinished.as_ref()),
                    rate(run),
                    failed(run),
                    best_time(run),
                ]);
            }
            Err(_) => {
                let empty = || Cell::new("");
                cells.extend([empty(), empty(), result(listed)]);
                cells.extend([empty(), empty(), empty(), empty()]);
            }
        }
        cells.push(labels(listed));
        Row::from(cells)
    });
    Grid::new(columns, rows)
}

/// The gravest finding about a run, with the number of further ones. The progress of a run has no
/// room beside it.
fn result(listed: &Listed<'_>) -> Cell {
    let mut findings = findings(listed);
    let further = findings.len().saturating_sub(1);
    findings.truncate(1);
    if further > 0 && listed.unfinished.is_none() {
        findings.push((format!(" +{further}"), Ink::Dim));
    }
    Cell::pieces(findings)
}

/// The number of characters at which each of these ids is unique among all.
fn prefix<'a>(shown: impl Iterator<Item = &'a str>, ids: &[String]) -> usize {
    let mut all: Vec<&str> = ids.iter().map(String::as_str).collect();
    all.sort_unstable();
    let common = |one: &str, other: &str| {
        let pairs = one.chars().zip(other.chars());
        pairs.take_while(|(a, b)| a == b).count()
    };
    let unique = |id: &str| {
        let at = all.partition_point(|other| *other < id);
        let before = at.checked_sub(1).map(|at| all[at]);
        let after = all[at..].iter().copied().find(|other| *other != id);
        let others = before.into_iter().chain(after).chain([LAST]);
        others.map(|other| common(id, other) + 1).max().unwrap_or(0)
    };
    shown.map(unique).max().unwrap_or(0).max(ID_LEAST)
}

/// The age of a run, in its largest unit; after a month, the date on which it began.
pub(crate) fn ago(age: Nanos, began: &str) -> String {
    let seconds = age.0 / 1_000_000_000;
    match seconds {
        0..60 => format!("{seconds} s ago"),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..86_400 => format!("{} h ago", seconds / 3_600),
        86_400..2_678_400 => format!("{} d ago", seconds / 86_400),
        _ => began.split(' ').next().unwrap_or_default().to_owned(),
    }
}

/// The findings about a run, the gravest first: its progress if it has no end, then everything that
/// is not as it should be; `ok` if there is nothing else.
pub(crate) fn findings(listed: &Listed<'_>) -> Vec<(String, Ink)> {
    let Ok(run) = listed.run else {
        return vec![("unreadable".to_owned(), Ink::Bad)];
    };
    let mut found = Vec::new();
    let mut note = |words: &str, ink| found.push((words.to_owned(), ink));
    if run.thresholds_failed > 0 {
        let of = format!("✗ {} of {} rules", run.thresholds_failed, run.thresholds);
        note(&of, Ink::Bad);
    }
    match run.target_state {
        TargetState::Ok => {}
        state => note(state.name(), target_ink(state)),
    }
    if run.load_kept == Some(false) {
        note(&format!("{} sent", share_of(run.sent_share)), Ink::Bad);
    }
    match run.validity {
        Validity::Valid => {}
        Validity::Suspect => note("suspect", Ink::Warn),
        Validity::Invalid => note("invalid", Ink::Bad),
    }
    if run.coverage == Coverage::Resumed {
        note("resumed", Ink::Dim);
    }
    let rank = |ink: Ink| match ink {
        Ink::Bad => 0,
        Ink::Warn => 1,
        _ => 2,
    };
    found.sort_by_key(|(_, ink)| rank(*ink));
    if let Some((words, ink)) = progress(listed.unfinished.as_ref()) {
        // The record of a run that was cut off makes the run suspect.
        let is_cut = ink == Ink::Warn;
        found.retain(|(words, _)| !(is_cut && words == "suspect"));
        found.insert(0, (words, ink));
    }
    if found.is_empty() {
        found.push(("ok".to_owned(), Ink::Good));
    }
    found
}

/// The progress of a run without an end: `running 14 s of 45 s`, `cut off`.
pub(crate) fn progress(unfinished: Option<&Unfinished>) -> Option<(String, Ink)> {
    match (Unfinished::state(unfinished), unfinished) {
        (StoredState::CutOff, _) => Some(("cut off".to_owned(), Ink::Warn)),
        (StoredState::Running, Some(progress)) => Some((
            running("running", progress.done, progress.planned),
            Ink::Bold,
        )),
        _ => None,
    }
}

/// The progress of an active run after a word: `running 14 s of 45 s`.
pub(crate) fn running(word: &str, done: Nanos, planned: Option<Nanos>) -> String {
    let span = |time: Nanos| match time {
        Nanos::ZERO => "0 s".to_owned(),
        time => span(time, Unicode::On),
    };
    match planned {
        Some(planned) if done <= planned => format!("{word} {} of {}", span(done), span(planned)),
        // A pause delays the end of the load, and the drain follows the load.
        _ => format!("{word} {}", span(done)),
    }
}

/// The table of every column, with `room` characters for each target.
fn grid(runs: &[Listed<'_>], room: usize) -> Grid {
    let columns = vec![
        Column::words("id", 0),
        Column::words("began", 0),
        Column::numbers("lasted", 0),
        Column::words("target", 0),
        Column::words("run", 0),
        Column::words("load", 0),
        Column::words("answers", 0),
        Column::words("rules", 0),
        Column::numbers("exit", 0),
        Column::numbers("rate", 0),
        Column::numbers("failed", 0),
        Column::numbers("p50", 0),
        Column::numbers("p99", 0),
        Column::words("tags", 0),
    ];
    let rows = runs.iter().map(|listed| {
        let mut cells = vec![
            Cell::new(listed.id).inked(Ink::Bold),
            Cell::new(listed.began),
        ];
        match listed.run {
            Ok(run) => cells.extend(figures(listed, run, room)),
            Err(_) => {
                let unreadable = Cell::new("unreadable").inked(Ink::Bad);
                let empty = || std::iter::repeat_with(|| Cell::new(""));
                cells.extend(empty().take(2).chain([unreadable]).chain(empty().take(8)));
            }
        }
        cells.push(labels(listed));
        Row::from(cells)
    });
    Grid::new(columns, rows)
}

/// The cells of a run's figures, from its length to its p99.
fn figures(listed: &Listed<'_>, run: &Digest, room: usize) -> [Cell; 11] {
    let (word, ink) = match run.validity {
        Validity::Valid => ("valid", Ink::Good),
        Validity::Suspect => ("suspect", Ink::Warn),
        Validity::Invalid => ("invalid", Ink::Bad),
    };
    let (validity, ink) = match (progress(listed.unfinished.as_ref()), run.coverage) {
        (Some(progress), _) => progress,
        (None, Coverage::Resumed) => (format!("{word} (resumed)"), ink),
        (None, Coverage::Whole | Coverage::Begun) => (word.to_owned(), ink),
    };
    let load = match run.load_kept {
        None => Cell::new("not judged").inked(Ink::Dim),
        Some(true) => Cell::new("kept").inked(Ink::Good),
        Some(false) => Cell::new(format!("{} sent", share_of(run.sent_share))).inked(Ink::Bad),
    };
    let rules = match (run.thresholds_failed, run.thresholds) {
        (_, 0) => Cell::new(""),
        (0, all) => Cell::new(format!("✓ {all}")).inked(Ink::Good),
        (failed, all) => Cell::new(format!("✗ {failed} of {all}")).inked(Ink::Bad),
    };
    let state = run.target_state;
    let exit = listed.exit;
    [
        lasted(run, listed.unfinished.as_ref()),
        Cell::foreign(what(run, room)),
        Cell::new(validity).inked(ink),
        load,
        Cell::new(state.name()).inked(target_ink(state)),
        rules,
        Cell::new(exit.map_or_else(String::new, |code| code.to_string())),
        rate(run),
        failed(run),
        Cell::new(run.latency.p50.map(time).unwrap_or_default()),
        Cell::new(run.latency.p99.map(time).unwrap_or_default()),
    ]
}

/// The colour of the state of a target.
pub(crate) const fn target_ink(state: TargetState) -> Ink {
    match state {
        TargetState::Ok => Ink::Good,
        TargetState::Unknown => Ink::Dim,
        TargetState::Behind | TargetState::Degraded => Ink::Warn,
        TargetState::Failed => Ink::Bad,
    }
}

/// The length of a run; the progress of an active run has it already.
fn lasted(run: &Digest, unfinished: Option<&Unfinished>) -> Cell {
    match unfinished {
        Some(progress) if progress.is_active => Cell::new(""),
        _ => Cell::span(run.duration),
    }
}

/// The minimum time and number of requests of a rate: below, it is that of a moment.
pub(crate) const RATE_FROM: (Nanos, u64) = (Nanos::from_secs(1), 10);

/// The achieved rate; missing for a run of a moment.
pub(crate) fn rate(run: &Digest) -> Cell {
    match run.duration >= RATE_FROM.0 && run.requests >= RATE_FROM.1 {
        true => Cell::rate(run.achieved_per_s),
        false => Cell::missing(),
    }
}

/// The share of requests that failed.
pub(crate) fn failed(run: &Digest) -> Cell {
    match run.failed {
        0 => Cell::new("0 %").inked(Ink::Dim),
        failed => Cell::new(share(failed, run.requests)).inked(Ink::Bad),
    }
}

/// A quantile, which may be a lower bound.
pub(crate) fn time(of: DigestTime) -> String {
    match of.is_at_least {
        true => latency_at_least(of.time, Unicode::On),
        false => latency(of.time, Unicode::On),
    }
}

/// p99, or p50 with its name if there are too few requests for p99.
fn best_time(run: &Digest) -> Cell {
    let named = || Some(format!("p50 {}", time(run.latency.p50?)));
    Cell::optional(run.latency.p99.map(time).or_else(named))
}

/// The name of a run's plan, if it has one, and the target.
pub(crate) fn subject(run: &Digest) -> String {
    let target = secret::url(&run.target);
    match plan_name(run.name.as_deref()) {
        Some(name) => {
            let bare = target.split_once("://").map_or(&*target, |(_, bare)| bare);
            format!("{name} · {bare}")
        }
        None => target,
    }
}

/// The name of a run's plan and the target, in at most `room` characters, which is at least 3. If
/// there is no room for both, the target is left out.
fn what(run: &Digest, room: usize) -> String {
    let url = secret::url(&run.target);
    let Some(name) = plan_name(run.name.as_deref()) else {
        return target(&url, room);
    };
    let left = room.saturating_sub(name.chars().count() + BETWEEN.chars().count());
    match left >= TARGET_BESIDE {
        true => format!("{name}{BETWEEN}{}", target(&url, left)),
        false => cut(&name, room),
    }
}

/// A target of at most `room` characters, which is at least 3. The scheme is cut first, then the
/// query, and then the middles of host and path, because targets differ most often in their paths.
pub(crate) fn target(url: &str, room: usize) -> String {
    let length = |text: &str| text.chars().count();
    if length(url) <= room {
        return url.to_owned();
    }
    let bare = url.split_once("://").map_or(url, |(_, bare)| bare);
    if length(bare) <= room {
        return bare.to_owned();
    }
    let (host, path) = bare.split_at(bare.find('/').unwrap_or(bare.len()));
    let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let before = length(host) + length(path);
    if !query.is_empty() && before + 2 <= room {
        return format!("{host}{path}{}", cut(query, room - before));
    }
    let host = cut(host, length(host).min((room / 3).max(1)));
    let left = room - length(&host);
    match length(path) {
        _ if query.is_empty() => format!("{host}{}", cut(path, left)),
        of if of < left => format!("{host}{path}{}", cut(query, left - of)),
        _ => format!("{host}{}…", cut(path, left.saturating_sub(1))),
    }
}

/// A text of at most `room` characters, whose middle gives way. A third of the room is for the
/// beginning.
fn cut(text: &str, room: usize) -> String {
    let length = text.chars().count();
    if length <= room {
        return text.to_owned();
    }
    let head = room.saturating_sub(1) / 3;
    let begin = text.chars().take(head);
    let end = text.chars().skip(length - room.saturating_sub(1 + head));
    begin.chain(['…']).chain(end).collect()
}

/// The tags, and the note in brackets. Labels are read separately from the record.
fn labels(listed: &Listed<'_>) -> Cell {
    let Ok(labels) = listed.labels else {
        return Cell::new("(labels unreadable)");
    };
    let note = labels.note.replace('\n', " ");
    let note = (!note.is_empty()).then(|| format!("({note})"));
    let words: Vec<String> = labels.tags.iter().cloned().chain(note).collect();
    Cell::new(words.join(" "))
}

/// The tags alone.
pub(crate) fn tags(listed: &Listed<'_>) -> Cell {
    let tags = listed.labels.map_or(&[][..], |labels| labels.tags);
    Cell::new(tags.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_cut_where_it_says_least() {
        let target = |room| target("http://127.0.0.1:8080/orders?delay=30ms", room);
        for (room, shown) in [
            (39, "http://127.0.0.1:8080/orders?delay=30ms"),
            (38, "127.0.0.1:8080/orders?delay=30ms"),
            (32, "127.0.0.1:8080/orders?delay=30ms"),
            (31, "127.0.0.1:8080/orders?de…y=30ms"),
            (24, "127.0.0.1:8080/orders…ms"),
            (22, "12…8080/orders?d…=30ms"),
            (16, "1…080/orders?…ms"),
            (3, "………"),
        ] {
            assert!(target(room).chars().count() <= room, "{room}");
            assert_eq!(target(room), shown, "{room}");
        }
        let hostile = Cell::foreign(super::target("http://h/\u{1b}[2J/abcdefghijkl", 12));
        assert_eq!(hostile.text(Unicode::On), "h/\\x1b[…fghijkl");
        assert_eq!(hostile.text(Unicode::Off), "h/\\x1b[~fghijkl");
    }

    #[test]
    fn a_shortened_id_is_unique() {
        let ids = [
            "6616299a85ceb-64d5",
            "6616299f240ef-669d",
            "661629a22",
            "lasting",
        ];
        let ids = ids.map(str::to_owned);
        for (shown, length) in [
            (&ids[..2], 8),
            (&ids[2..3], 7),
            (&ids[3..], 5),
            (&ids[..0], ID_LEAST),
        ] {
            let shown = shown.iter().map(String::as_str);
            assert_eq!(prefix(shown, &ids), length);
        }
    }

    #[test]
    fn an_age_has_one_unit() {
        for (seconds, text) in [
            (0, "0 s ago"),
            (59, "59 s ago"),
            (150, "2 min ago"),
            (7_300, "2 h ago"),
            (200_000, "2 d ago"),
            (3_000_000, "2026-11-02"),
        ] {
            let age = Nanos::from_secs(seconds);
            assert_eq!(ago(age, "2026-11-02 04:19:44 UTC"), text);
        }
    }
}
