//! The sources of templates: feeds, from files or from the plan itself.
//!
//! All feeds are read before any pool is compiled, and shared by all pools; the part of a feed that
//! a pool takes is dealt later ([`crate::dealer`]). `data` decides where rows are kept: it holds a
//! small file in memory, and reads the rows of a large file during the run when they are needed.
//! Two feeds that describe the same rows in the same way share them.
//!
//! A key that has no effect on a kind of rows is a mistake and is not ignored: a `delimiter` for
//! JSON shows that the user meant something else.
//!
//! A file of any size is read completely here, so that a missing column in the last line is a
//! mistake of the plan. Orders are rules over row numbers and cost nothing here.
//!
//! [`sources`] is the one entry. It reads the feeds in the order of the document and adds each to
//! the [`Sources`] with its order. A feed's keys are checked even if its rows can't be read. All
//! pools share the result, which never changes. A pool that needs more, such as a script's
//! functions, copies the table and shares the rows.

use crate::scope::Scope;
use drumfire_data::{
    AtEnd, CsvForm, Feed, FeedError, FeedFormat, FeedOrder, Generated, Kind, Order, Range, Sources,
    Strides,
};
use drumfire_document::{Document, Feed as Written, FeedRows, Field, Place, Step, Text};
use std::sync::Arc;

/// Every feed of a document, by name. Unreadable feeds are left out, and the mistakes of templates
/// that read them are dropped later.
pub(crate) fn sources(document: &Document, seed: u64, scope: &mut Scope<'_>) -> Arc<Sources> {
    let taken = document.setup.iter().flat_map(Step::requests);
    let taken = taken.flat_map(|request| &request.take);
    let named = |field: &Field, of: &str| {
        let name = field.name.value.clone();
        let reference = format!("${{{of}{name}}}");
        (name, reference)
    };
    let variables = document.vars.iter().map(|field| named(field, ""));
    // A variable overrides a value of the setup, whose reference is longer.
    let references = taken.map(|field| named(field, "setup:")).chain(variables);
    let mut sources = Sources::new().with_references(references.collect());
    let mut read: Vec<(&Written, Feed)> = Vec::new();
    for written in &document.feeds {
        check(written, scope);
        let order = order(written, scope);
        // Rows that several feeds share are read once.
        let known = read.iter().find(|(known, _)| is_same(known, written));
        let made = match known {
            Some((_, feed)) => Some(feed.clone()),
            None => feed(written, seed, scope),
        };
        if let Some(feed) = made {
            let added = sources.add(&written.name.value, feed.clone(), order);
            scope.found.ok(&written.name.place, added);
            read.push((written, feed));
        }
    }
    Arc::new(sources)
}

/// Whether two feeds have the same rows, written in the same way. Their orders may differ: each
/// feed has its own order, and only the rows are shared.
fn is_same(one: &Written, other: &Written) -> bool {
    one.rows == other.rows
        && one.fields == other.fields
        && one.delimiter == other.delimiter
        && one.quote == other.quote
        && one.header == other.header
        && one.count == other.count
        && one.seed == other.seed
}

/// The rows of a feed: from a file in one of four formats, written in the document, counted, or
/// generated.
fn feed(written: &Written, seed: u64, scope: &mut Scope<'_>) -> Option<Feed> {
    match &written.rows {
        FeedRows::Csv(file) => {
            let form = csv_form(written, file, scope)?;
            let feed = of_file(file, &FeedFormat::Csv(form), scope)?;
            check_first_row(written, &feed, scope);
            Some(feed)
        }
        FeedRows::Json(file) => of_file(file, &FeedFormat::Json, scope),
        FeedRows::JsonLines(file) => of_file(file, &FeedFormat::JsonLines, scope),
        FeedRows::Lines(file) => of_file(file, &FeedFormat::Lines, scope),
        FeedRows::Inline(rows) => {
            let fields: Vec<String> = names(&written.fields);
            scope
                .found
                .ok(&rows.place, Feed::from_inline(&rows.value, &fields))
        }
        FeedRows::Range(range) => {
            let range: Range = scope.found.parse(Some(range))?;
            Some(Feed::from_range(range))
        }
        FeedRows::Generated(columns) => generated(written, columns, seed, scope),
    }
}

/// The rows of a file, which is opened and not loaded into memory. A mistake is noted with the
/// file's line; the first mistake ends the reading.
fn of_file(file: &Text, format: &FeedFormat, scope: &mut Scope<'_>) -> Option<Feed> {
    let source = scope.open(file)?;
    let read = Feed::read(source, format).map_err(|error| in_file(file, &error));
    scope.found.ok(&file.place, read)
}

/// The message on a mistake, with its file and line. The advice names keys, which only a plan has.
fn in_file(file: &Text, error: &FeedError) -> String {
    let Text { value, place, .. } = file;
    let message = match error.line {
        0 => format!("{value}: {}", error.message),
        line => format!("{value}:{line}: {}", error.message),
    };
    match (error.advice.as_str(), place) {
        ("", _) | (_, Place::Dialect { .. }) => message,
        (advice, place) if place.is_flag() => {
            format!("{message}; {advice} (in a plan, which --print-plan prints)")
        }
        (advice, _) => format!("{message}; {advice}"),
    }
}

/// Refuses a first row that repeats the names in `fields`: it is the line of names of the file.
/// Pandora sends such a row.
fn check_first_row(written: &Written, feed: &Feed, scope: &mut Scope<'_>) {
    if let (Some(first), None) = (written.fields.first(), &written.header)
        && !matches!(first.place, Place::Dialect { .. })
        && feed.begins_with_names()
    {
        let message = "the first line of the file has these names, too, and would be a row of \
                       data; add `header: true` to skip it, or leave out `fields`";
        scope.found.add(&first.place, message);
    }
}

/// The names of columns, as texts.
fn names(texts: &[Text]) -> Vec<String> {
    texts.iter().map(|text| text.value.clone()).collect()
}

/// The form of a feed's CSV: delimiter, quote, header and column names. Returns `None` after a
/// mistake was noted.
///
/// The first line contains the names unless `fields` sets them. If both are set, `header: true`
/// skips the first line, for a file whose column names are unsuitable for templates.
fn csv_form(written: &Written, file: &Text, scope: &mut Scope<'_>) -> Option<CsvForm> {
    let usual = CsvForm::default();
    let fields = names(&written.fields);
    let header = match &written.header {
        None => fields.is_empty(),
        Some(header) => {
            let message = "CSV without a line of names needs `fields`, the names of its columns";
            if !header.value && fields.is_empty() {
                scope.found.add(&header.place, message);
                return None;
            }
            header.value
        }
    };
    let has_tabs = file.value.to_ascii_lowercase().ends_with(".tsv");
    let delimiter = match &written.delimiter {
        None if has_tabs => Some(b'\t'),
        None => Some(usual.delimiter),
        Some(text) => mark(text, &[("tab", b'\t'), ("\\t", b'\t')], scope),
    };
    let quote = match &written.quote {
        None => Some(usual.quote),
        Some(text) if text.value == "none" => Some(None),
        Some(text) => mark(text, &[], scope).map(Some),
    };
    let (delimiter, quote) = (delimiter?, quote?);
    if quote == Some(delimiter) {
        let text = written.delimiter.as_ref().or(written.quote.as_ref());
        let message = "the delimiter and the quote are the same character; change one of them";
        scope.found.add(&text.unwrap_or(file).place, message);
        return None;
    }
    Some(CsvForm {
        fields,
        delimiter,
        quote,
        header,
    })
}

/// An ASCII character, or the name of one. Line ends can be neither delimiter nor quote, because a
/// row would then have no end.
fn mark(text: &Text, names: &[(&str, u8)], scope: &mut Scope<'_>) -> Option<u8> {
    let named = names.iter().find(|(name, _)| *name == text.value);
    let mark = match (named, text.value.as_bytes()) {
        (Some((_, mark)), _) => Ok(*mark),
        (None, &[mark]) if mark.is_ascii() && mark != b'\n' && mark != b'\r' => Ok(mark),
        _ => {
            let shown = text.value.escape_debug();
            Err(format!("`{shown}` is not a single character such as `;`"))
        }
    };
    scope.found.ok(&text.place, mark)
}

/// Rows computed from the seed. Without a number of rows, there is a row for every request. The
/// seed is the plan's unless the feed sets one, so two feeds with the same columns and seed have
/// the same rows. Rows need no memory: a row is a function of its number.
fn generated(
    written: &Written,
    columns: &[Field],
    seed: u64,
    scope: &mut Scope<'_>,
) -> Option<Feed> {
    let mut kinds: Vec<(String, Kind)> = Vec::with_capacity(columns.len());
    for column in columns {
        let name = &column.name.value;
        if kinds.iter().any(|(known, _)| known == name) {
            let message = format!("two columns are named `{name}`");
            scope.found.add(&column.name.place, message);
        }
        let kind: Kind = scope.found.parse(Some(&column.value))?;
        kinds.push((name.clone(), kind));
    }
    let place = &written.name.place;
    let message = "generated rows need a column, such as `generated: { who: name }`";
    scope.found.add_if(kinds.is_empty(), place, message);
    let rows = written.count.as_ref();
    if let Some(rows) = rows {
        let message = "the feed has no rows; write 1 or more";
        scope.found.add_if(rows.value == 0, &rows.place, message);
    }
    let rows = rows.map_or(u64::MAX, |rows| rows.value.max(1));
    let seed = written.seed.as_ref().map_or(seed, |seed| seed.value);
    (!kinds.is_empty()).then(|| Feed::from_generated(Generated::new(kinds, rows, seed)))
}

/// Notes keys that have no effect on these rows. The table has a row for each key: its place,
/// whether these rows use it, and the kinds of rows that do.
fn check(written: &Written, scope: &mut Scope<'_>) {
    let is_csv = matches!(written.rows, FeedRows::Csv(_));
    let has_fields = is_csv || matches!(written.rows, FeedRows::Inline(_));
    let is_generated = matches!(written.rows, FeedRows::Generated(_));
    let text = |text: &Option<Text>| text.as_ref().map(|text| text.place.clone());
    let count =
        |count: &Option<drumfire_document::Count>| count.as_ref().map(|count| count.place.clone());
    let switch = |switch: &Option<drumfire_document::Switch>| {
        switch.as_ref().map(|switch| switch.place.clone())
    };
    let fields = written.fields.first().map(|field| field.place.clone());
    let keys: [(&str, Option<Place>, bool, &str); 6] = [
        ("fields", fields, has_fields, "`csv` and `inline`"),
        ("delimiter", text(&written.delimiter), is_csv, "`csv`"),
        ("quote", text(&written.quote), is_csv, "`csv`"),
        ("header", switch(&written.header), is_csv, "`csv`"),
        ("rows", count(&written.count), is_generated, "`generated`"),
        ("seed", count(&written.seed), is_generated, "`generated`"),
    ];
    for (key, place, has_effect, of) in keys {
        if let Some(place) = place.filter(|_| !has_effect) {
            scope
                .found
                .add(&place, format!("`{key}` is only for feeds of {of}"));
        }
    }
}

/// The order in which requests read a feed, and what happens to requests after its end.
///
/// Some combinations have no meaning: randomly drawn rows have no end, and a user that keeps a row
/// can't begin again. Such a combination is noted, and the order applies without it.
///
/// | order | without `at_end` | `wrap` | `stop` | `fail` |
/// |---|---|---|---|---|
/// | `in_order` | begins again | the same | ends the load | fails the request |
/// | `once` | ends the load | a mistake | ends the load | fails the request |
/// | `random` | has no end | the same | a mistake | a mistake |
/// | `unique` | fails the request | a mistake | a mistake | the same |
fn order(written: &Written, scope: &mut Scope<'_>) -> FeedOrder {
    #[derive(Clone, Copy)]
    enum End {
        Wrap,
        Stop,
        Fail,
    }
    let orders = [
        ("in_order", FeedOrder::InTurn),
        ("random", FeedOrder::Random),
        ("unique", FeedOrder::PerUser),
        ("once", FeedOrder::from(Order::OnceEach)),
    ];
    let ends = [
        ("wrap", End::Wrap),
        ("stop", End::Stop),
        ("fail", End::Fail),
    ];
    let order = match written.order.as_ref() {
        Some(text) if text.value.contains('(') => scope.found.ok(&text.place, strides(&text.value)),
        order => scope.word(order, &orders, "order"),
    };
    let order = order.unwrap_or_default();
    let end = scope.word(written.at_end.as_ref(), &ends, "action");
    let message = match (order, end) {
        (order, None) | (order @ FeedOrder::InTurn, Some(End::Wrap)) => return order,
        (FeedOrder::InTurn | FeedOrder::Once(_), Some(End::Stop)) => {
            return FeedOrder::Once(AtEnd::Stop);
        }
        (FeedOrder::InTurn | FeedOrder::Once(_), Some(End::Fail)) => {
            return FeedOrder::Once(AtEnd::Fail);
        }
        (FeedOrder::Strides(_), Some(End::Wrap)) | (FeedOrder::PerUser, Some(End::Fail)) => {
            return order;
        }
        (FeedOrder::Strides(_), Some(_)) => {
            "rows that are taken by strides always begin again; leave out `at_end`"
        }
        (FeedOrder::Random, Some(End::Wrap)) => return order,
        (FeedOrder::Random, Some(_)) => "a feed in random order has no end; leave out `at_end`",
        (FeedOrder::PerUser, Some(_)) => {
            "each user keeps its row, and a user without a row fails; write `at_end: fail`, or \
             leave it out"
        }
        (FeedOrder::Once(_), Some(End::Wrap)) => {
            "rows that are used once can't begin again; write `order: in_order`"
        }
    };
    if let Some(text) = &written.at_end {
        scope.found.add(&text.place, message);
    }
    order
}

/// `in_order(per, rows, each, first)`: rows in strides, for pandora's scenarios, in which each
/// instance takes separate rows. The four are whole numbers, and `per` is at least 1. Users have no
/// need to write them.
fn strides(text: &str) -> Result<FeedOrder, String> {
    let inner = text.trim().strip_prefix("in_order(");
    let inner = inner.and_then(|rest| rest.strip_suffix(')'));
    let numbers: Vec<&str> = inner
        .unwrap_or_default()
        .split(',')
        .map(str::trim)
        .collect();
    let read = || {
        let &[per, rows, each, first] = &numbers[..] else {
            return None;
        };
        let per = per.parse().ok().filter(|per| *per > 0)?;
        let (rows, each) = (rows.parse().ok()?, each.parse().ok()?);
        let first = first.parse().ok()?;
        Some(FeedOrder::Strides(Strides {
            per,
            rows,
            each,
            first,
        }))
    };
    read().ok_or_else(|| {
        let text = text.escape_debug();
        format!(
            "invalid order `{text}`; write four whole numbers, `in_order(PER, ROWS, EACH, FIRST)`"
        )
    })
}
