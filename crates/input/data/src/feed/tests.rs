use super::file_rows::read_with;
use super::stored_rows::RowIndex;
use super::{CsvForm, Feed, FeedError, FeedFormat, Generated, Kind, Range};
use crate::ReadAt;
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

fn table(feed: &Feed) -> Vec<Vec<String>> {
    let columns = feed.columns().count();
    let row = |row| {
        (0..columns)
            .map(|column| feed.value(row, column).unwrap().to_string())
            .collect()
    };
    (0..feed.rows()).map(row).collect()
}

fn csv(text: &[u8]) -> Result<Feed, FeedError> {
    Feed::from_csv(text, &CsvForm::default())
}

fn names(feed: &Feed) -> Vec<&str> {
    feed.columns().collect()
}

#[test]
fn csv_has_a_header_and_quotes() {
    let feed = csv(b"\xef\xbb\xbfname, age\r\n\"a \"\"b\"\"\n,c\",7\nd,\n").unwrap();
    assert_eq!(names(&feed), ["name", "age"]);
    assert_eq!(table(&feed), [["a \"b\"\n,c", "7"], ["d", ""]]);
}

/// A quote within a value is part of it, and noted, because other readers may refuse it.
#[test]
fn a_quote_within_a_value_is_noted() {
    let feed = csv(b"a,b\n1,x\n2,5\" pipe\n3,6\" pipe\n").unwrap();
    assert_eq!(table(&feed)[1], ["2", "5\" pipe"]);
    let note = feed.note().unwrap();
    assert!(
        note.starts_with("line 3 has a quote within a value"),
        "{note}"
    );
    for whole in [&b"a,b\n1,\"x \"\"y\"\"\"\n"[..], b"a\n1\n"] {
        assert_eq!(csv(whole).unwrap().note(), None);
    }
}

/// Each name is looked for once among those before it: a hundred thousand take no time to speak of.
#[test]
fn very_many_columns_are_looked_at_once() {
    let names: Vec<String> = (0..100_000).map(|n| format!("c{n}")).collect();
    let row = vec!["1"; names.len()].join(",");
    let text = format!("{}\n{row}\n", names.join(","));
    assert_eq!(csv(text.as_bytes()).unwrap().columns().count(), 100_000);
    let double = text.replacen("c99999", "c7", 1);
    let refused = csv(double.as_bytes()).map(drop).unwrap_err();
    assert_eq!(refused.to_string(), "line 1: two columns are named `c7`");
}

#[test]
fn csv_may_have_its_names_from_the_plan_and_other_marks() {
    let form = |header| CsvForm {
        fields: vec!["a".to_owned(), "b".to_owned()],
        delimiter: b';',
        quote: Some(b'\''),
        header,
    };
    let text = b"x;y\n'1;2';\"3\"\n";
    let feed = Feed::from_csv(text, &form(false)).unwrap();
    assert_eq!(names(&feed), ["a", "b"]);
    assert_eq!(table(&feed), [["x", "y"], ["1;2", "\"3\""]]);
    let feed = Feed::from_csv(text, &form(true)).unwrap();
    assert_eq!(table(&feed), [["1;2", "\"3\""]]);
    let no_quote = CsvForm {
        quote: None,
        ..form(false)
    };
    let feed = Feed::from_csv(text, &no_quote);
    let error = feed.map(drop).unwrap_err().to_string();
    assert_eq!(
        error,
        "line 2: the row has 3 values, but there are 2 columns"
    );
}

#[test]
fn json_keeps_types_and_may_lack_values() {
    let text = "{\"a\": 9007199254740993, \"b\": \"x\"}\n\n{\"c\": [1.5, null], \"a\": true}\n";
    let array = format!(
        "\n[{},\n {}]",
        text.lines().next().unwrap(),
        "{\"c\": [1.5, null], \"a\": true}"
    );
    for feed in [
        Feed::from_json_lines(text.as_bytes()).unwrap(),
        Feed::from_json(text.as_bytes()).unwrap(),
        Feed::from_json(array.as_bytes()).unwrap(),
    ] {
        assert_eq!(names(&feed), ["a", "b", "c"]);
        assert_eq!(
            table(&feed),
            [["9007199254740993", "x", ""], ["True", "", "[1.5, None]"]]
        );
        assert!(
            feed.value(1, 1).unwrap().is_undefined() && feed.value(9, 0).unwrap().is_undefined()
        );
    }
}

#[test]
fn values_without_names_are_one_column() {
    for feed in [
        Feed::from_lines(b"a b\r\n\n7\n").unwrap(),
        Feed::from_json_lines(b"\"a b\"\n7\n").unwrap(),
        Feed::from_json(b"[\"a b\", 7]").unwrap(),
        Feed::from_inline("[\"a b\", 7]", &[]).unwrap(),
    ] {
        assert!(feed.is_single());
        assert_eq!(table(&feed), [["a b"], ["7"]]);
    }
    let fields = ["x".to_owned(), "y".to_owned()];
    let feed = Feed::from_inline("[[1, 2], [3, \"4\"]]", &fields).unwrap();
    assert_eq!(
        (names(&feed), table(&feed)),
        (
            vec!["x", "y"],
            vec![
                vec!["1".to_owned(), "2".to_owned()],
                vec!["3".to_owned(), "4".to_owned()]
            ]
        )
    );
    let feed = Feed::from_inline("[{\"x\": 1}, {\"y\": 2}]", &[]).unwrap();
    assert_eq!(names(&feed), ["x", "y"]);
}

#[test]
fn computed_rows_need_no_memory() {
    let range: Range = "1..1000000000000".parse().unwrap();
    let feed = Feed::from_range(range);
    assert_eq!(feed.rows(), 1_000_000_000_000);
    assert_eq!(
        feed.value(999_999_999_999, 0).unwrap().to_string(),
        "1000000000000"
    );
    let columns = vec![("who".to_owned(), "name".parse::<Kind>().unwrap())];
    let feed = Feed::from_generated(Generated::new(columns, u64::MAX, 1));
    assert_eq!((names(&feed), feed.rows()), (vec!["who"], u64::MAX));
}

fn check(feed: Result<Feed, FeedError>, message: &str) {
    assert_eq!(feed.map(drop).unwrap_err().to_string(), message);
}

#[test]
fn mistakes_in_csv_have_their_line() {
    for (text, message) in [
        (
            "a,b\n1,2\n3\n",
            "line 3: the row has 1 value, but there are 2 columns",
        ),
        ("a,a\n1,2\n", "line 1: two columns are named `a`"),
        (",\n1,2\n", "line 1: no column has a name"),
        ("a,b\n", "the feed has no rows"),
        ("", "the feed has no rows"),
        (
            "a\n1\n\"2\n3\n",
            "line 3: a quote of the row that begins here is not closed",
        ),
        (
            "a,b\n\"1\"2,3\n",
            "line 2: value 1 has text after its closing quote; write a quote within a value twice, \
             or set `quote: none` if quotes are part of the values",
        ),
        (
            "a,b\n\"1\n2\n\", \"3\"\n",
            "line 4: value 2 has a blank before its opening quote; remove the blank, or set \
             `quote: none` if quotes are part of the values",
        ),
        (
            "\"a\"x,b\n1,2\n",
            "line 1: value 1 has text after its closing quote; write a quote within a value twice, \
             or set `quote: none` if quotes are part of the values",
        ),
        (
            "a\tb\n1\t2\n",
            "line 1: a column is named `a\\tb`; if the values have another delimiter, set \
             `delimiter: tab`; otherwise, name the columns with `fields` and set `header: true`",
        ),
        (
            "a;b\n1;2\n",
            "line 1: a column is named `a;b`; if the values have another delimiter, set \
             `delimiter: ';'`; otherwise, name the columns with `fields` and set `header: true`",
        ),
        (
            "x,a\tb\n1,2\n",
            "line 1: a column is named `a\\tb`; if the values have another delimiter, set \
             `delimiter: tab`; otherwise, name the columns with `fields` and set `header: true`",
        ),
        (
            "a,b\n1;2\n",
            "line 2: the row has 1 value, but there are 2 columns; if the values have another \
             delimiter, set `delimiter: ';'`",
        ),
        (
            "a b\n1\n1,2\n",
            "line 3: the row has 2 values, but there is 1 column",
        ),
    ] {
        check(csv(text.as_bytes()), message);
    }
    check(csv(b"a\n1\n\xff\n"), "line 3: the text is not UTF-8");
}

#[test]
fn mistakes_in_json_have_their_line() {
    let lines = |text: &[u8]| Feed::from_json_lines(text);
    check(
        lines(b"{}\n{\"a\":}\n"),
        "line 2: invalid JSON: expected value at column 6",
    );
    check(
        lines(b"{\"a\":1}\n[1]\n"),
        "line 2: a row must be an object here, not an array",
    );
    check(lines(b"{\"a\":1}\n\xff"), "line 2: the text is not UTF-8");
    check(lines(b"{}\n"), "the feed has no rows");
    for (text, message) in [
        (
            "[{\"a\":1},\n2]",
            "line 2: a row must be an object here, not a number",
        ),
        (
            "[{\"a\":1}\n{\"a\":2}]",
            "line 2: a comma or the end of the array is missing",
        ),
        ("[{\"a\":1},\n", "line 2: the array is not closed"),
        ("[{\"a\":\n1},\n{\"b\"", "line 3: the value is not closed"),
        (
            "[{\"a\":1}]\n\n7",
            "line 3: unexpected text after the end of the array",
        ),
        (
            "[1,\n{\"b\": 2}]",
            "line 2: a row must be a single value here, not an object",
        ),
        (
            "[{\"a\":1},\n{\"b\": x}]",
            "line 2: invalid JSON: expected value at column 7",
        ),
        ("[]", "the feed has no rows"),
        (" ", "the feed has no rows"),
        (
            "[{\"a\":1},\n{\"a\":1,\"b\":2,\"a\":3}]",
            "line 2: `a` is given twice; write it once",
        ),
        (
            "{\"a\":[{\"b\":1,\"c\":2,\"b\":3}]}",
            "line 1: `a[0].b` is given twice; write it once",
        ),
    ] {
        check(Feed::from_json(text.as_bytes()), message);
    }
}

#[test]
fn mistakes_in_a_plan_have_their_row() {
    let fields = ["a".to_owned(), "a".to_owned()];
    for (text, fields, message) in [
        ("{}", &[][..], "the rows must be a list"),
        ("[]", &[], "the feed has no rows"),
        (
            "[{\"a\":1}, 2]",
            &[],
            "row 2: a row must be an object here, not a number",
        ),
        ("[[1]]", &fields, "row 1 has 1 value, but `fields` has 2"),
        ("[[1, 2]]", &fields, "two columns are named `a`"),
        ("[1]", &fields, "`fields` is only for rows that are lists"),
    ] {
        check(Feed::from_inline(text, fields), message);
    }
}

/// A feed of a file whose rows stay there; its index has so many places at most.
fn stored(bytes: &[u8], format: &FeedFormat, places: usize) -> Result<Feed, FeedError> {
    let index = Some(RowIndex::bounded(places));
    read_with(Arc::new(bytes.to_vec()), format, index)
}

/// All values, and the texts of those in plain columns, from the last row to the first.
fn backwards(feed: &Feed) -> Vec<String> {
    let mut shown = Vec::new();
    for row in (0..feed.rows()).rev() {
        for column in 0..feed.columns().count() {
            let value = feed.value(row, column).unwrap();
            let mut text = String::new();
            if feed.is_plain(column) && !value.is_undefined() {
                feed.push(row, column, &mut text).unwrap();
            }
            shown.push(format!("{}: {value} <{text}>", value.kind()));
        }
    }
    shown
}

fn alike(bytes: &[u8], format: &FeedFormat, places: usize) {
    let small = read_with(Arc::new(bytes.to_vec()), format, None);
    match (small, stored(bytes, format, places)) {
        (Ok(small), Ok(large)) => {
            assert_eq!(names(&small), names(&large));
            assert_eq!(table(&small), table(&large));
            assert_eq!(backwards(&small), backwards(&large));
            for row in [0, large.rows() / 2, large.rows() - 1, 0] {
                assert_eq!(small.value(row, 0).unwrap(), large.value(row, 0).unwrap());
            }
        }
        (Err(small), Err(large)) => assert_eq!(small, large),
        (small, large) => panic!("{small:?} {large:?}"),
    }
}

#[test]
fn a_large_file_has_the_rows_of_a_small_one() {
    let csv = FeedFormat::Csv(CsvForm::default());
    let mut text = "\u{feff}a,b\r\n".to_owned();
    let mut json = "[".to_owned();
    for n in 0..3_000 {
        text.push_str(&format!("{n},\"x\"\"\n{}\"\r\n\r\n", "y".repeat(n % 90)));
        let comma = if n > 0 { "," } else { "" };
        json.push_str(&format!("{comma}\n {{\"a\": {n}, \"b\": \"]{n}\"}}"));
    }
    json.push(']');
    for places in [2, 64, 1 << 20] {
        alike(text.as_bytes(), &csv, places);
        alike(text.as_bytes(), &FeedFormat::Lines, places);
        alike(json.as_bytes(), &FeedFormat::Json, places);
        let lines = json.trim_matches(['[', ']']).replace(",\n", "\n");
        alike(lines.as_bytes(), &FeedFormat::Json, places);
        alike(lines.as_bytes(), &FeedFormat::JsonLines, places);
    }
}

#[test]
fn rows_of_json_that_stay_in_their_file_have_the_columns_and_the_mistakes_of_others() {
    let deep = format!("{{\"a\": {}1{}}}", "[".repeat(200), "]".repeat(200));
    for row in [
        "{\"a\": [{\"x\": \"y\"}], \"c\": true}",
        "{\"b\": null, \"a\": {\"a\": -1.5e300}}",
        "{\"a\": 1} 2",
        "{\"a\": \"\\ud800\"}",
        "{\"a\": 1,}",
        "{\"a\": 1, \"b\": 2, \"a\": 3}",
        "{\"a\": {\"x\": 1, \"y\": 2, \"x\": 3}}",
        "{\"a\": {\"x\": 1, \"y\": {\"x\": 3}}}",
        "{\"a\": \"\u{1}\"}",
        "7",
        "[]",
        &deep,
    ] {
        let text = format!("{{\"b\": 1, \"a\": 2}}\n{row}\n{{\"a\": \"x\"}}\n");
        alike(text.as_bytes(), &FeedFormat::JsonLines, 8);
        alike(text.as_bytes(), &FeedFormat::Json, 8);
    }
}

/// A file whose bytes are replaced while it is read.
#[derive(Debug)]
struct Changing(Mutex<Vec<u8>>);

impl ReadAt for Changing {
    fn size(&self) -> u64 {
        self.0.lock().unwrap().len() as u64
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().read_at(offset, into)
    }
}

#[test]
fn a_file_that_changes_fails_the_requests_that_need_it() {
    let format = FeedFormat::Csv(CsvForm::default());
    for (changed, works) in [
        (&b"a,b\n1,2\n3,4\n"[..], true),
        (b"a,b\n1,2\n5,6\n", false),
        (b"a,b\n7,8\n3,4\n", true),
        (b"a,b\n1,2\n5;6\n", false),
        (b"a,b\n1,2\n3,\xff\n", false),
        (b"a,b\n1,2\n\n\n\n\n", false),
        (b"a,b\n1,2\n3", false),
        (b"", false),
    ] {
        let file = Arc::new(Changing(Mutex::new(b"a,b\n1,2\n3,4\n".to_vec())));
        let source = Arc::clone(&file) as Arc<dyn ReadAt>;
        let feed = read_with(source, &format, Some(RowIndex::bounded(8))).unwrap();
        *file.0.lock().unwrap() = changed.to_vec();
        let mut text = String::new();
        match feed.push(1, 1, &mut text) {
            Ok(()) => assert!(works, "{changed:?}"),
            Err(error) => {
                assert!(!works, "{error}");
                assert_eq!(error.words, "the file has changed since the run began");
            }
        }
        *file.0.lock().unwrap() = b"a,b\n1,2\n3,4\n".to_vec();
        let mut text = String::new();
        feed.push(0, 1, &mut text).unwrap();
        assert_eq!(text, "2", "it can be read again");
    }
}

#[test]
fn files_that_are_no_text_are_refused() {
    for (bytes, message) in [
        (
            &b"\xff\xfea\0\n\0"[..],
            "the text is UTF-16; convert it to UTF-8",
        ),
        (
            b"\xfe\xff\0a\0\n",
            "the text is UTF-16; convert it to UTF-8",
        ),
        (
            b"a\0,\0b\0\n\x001\0,\x002\0\n",
            "line 1: the name of column 1 has a control character",
        ),
        (b"\xef\xbb\xbf", "the feed has no rows"),
        (b"\n\r\n\n", "the feed has no rows"),
    ] {
        check(csv(bytes), message);
    }
}

proptest! {
    /// Any bytes are rows or a mistake, in memory and in the file alike.
    #[test]
    fn any_file_is_read_alike_in_memory_and_stored(
        lines in prop::collection::vec(
            "([a-c]{0,2},){0,2}(\"[a,\n\"]{0,3}\"?)?|\\{\"[ab]\": ?(1|\"x\"|\\[2\\]|null)\\},?|[\\[\\]]|\u{e4}|\r?",
            0..12,
        ),
        which in 0_usize..5,
        places in 2_usize..6,
    ) {
        let form = CsvForm::default();
        let bare = CsvForm { fields: vec!["a".to_owned()], header: false, ..CsvForm::default() };
        let formats = [
            FeedFormat::Csv(form),
            FeedFormat::Csv(bare),
            FeedFormat::Json,
            FeedFormat::JsonLines,
            FeedFormat::Lines,
        ];
        let format = &formats[which];
        alike(lines.join("\n").as_bytes(), format, places);
    }
}

/// A case by which Pandora tests its source `file/csv`, and what becomes of it here.
struct PandoraCase {
    text: &'static str,
    /// With commas between.
    fields: &'static str,
    /// Whether the first line is no row.
    header: bool,
    delimiter: u8,
    /// The names and the rows, or the mistake.
    expected: &'static str,
}

const fn case(
    text: &'static str,
    fields: &'static str,
    header: bool,
    expected: &'static str,
) -> PandoraCase {
    PandoraCase {
        text,
        fields,
        header,
        delimiter: b',',
        expected,
    }
}

const USERS: &str = "USER_ID,NAME\n1,John\n2,Jack\n3,Jim\n";

/// A first line that names the columns is no row besides, as Pandora's documentation has it. Blanks
/// in names are kept, for templates read such a column as `f['user id']`; a column without a name
/// can't be read, where Pandora numbers it.
const PANDORA: [PandoraCase; 10] = [
    case(
        USERS,
        "user_id,name",
        false,
        "user_id,name|USER_ID,NAME|1,John|2,Jack|3,Jim",
    ),
    case(
        USERS,
        "user id,name name",
        false,
        "user id,name name|USER_ID,NAME|1,John|2,Jack|3,Jim",
    ),
    case(
        USERS,
        "user_id,name",
        true,
        "user_id,name|1,John|2,Jack|3,Jim",
    ),
    case(USERS, "", true, "USER_ID,NAME|1,John|2,Jack|3,Jim"),
    case(
        "USER ID,NAME NAME\n1,John\n2,Jack\n3,Jim\n",
        "",
        true,
        "USER ID,NAME NAME|1,John|2,Jack|3,Jim",
    ),
    case(
        ",NAME\n1,John\n2,Jack\n3,Jim\n",
        "",
        true,
        ",NAME|1,John|2,Jack|3,Jim",
    ),
    case(USERS, ",name", true, ",name|1,John|2,Jack|3,Jim"),
    PandoraCase {
        delimiter: b';',
        ..case(
            "USER_ID;NAME\n1;John\n2;Jack\n3;Jim\n",
            ",name",
            true,
            ",name|1,John|2,Jack|3,Jim",
        )
    },
    case(
        "USER_ID,NAME\n1,John\n2,Jack,skipthisvalue\n3\n",
        "",
        true,
        "line 3: the row has 3 values, but there are 2 columns",
    ),
    case(
        "USER_ID,NAME\n1,John\n2,Jack\n3\n",
        "",
        true,
        "line 4: the row has 1 value, but there are 2 columns",
    ),
];

#[test]
fn cases_of_pandora_have_rows_or_a_reason() {
    for case in PANDORA {
        let fields = case.fields.split(',').map(str::to_owned);
        let form = CsvForm {
            fields: fields.filter(|_| !case.fields.is_empty()).collect(),
            delimiter: case.delimiter,
            header: case.header,
            ..CsvForm::default()
        };
        let read = Feed::from_csv(case.text.as_bytes(), &form);
        let shown = read.map(|feed| {
            let names = names(&feed).join(",");
            let rows = table(&feed).into_iter().map(|row| row.join(","));
            let lines: Vec<String> = std::iter::once(names).chain(rows).collect();
            lines.join("|")
        });
        let shown = shown.unwrap_or_else(|error| error.to_string());
        assert_eq!(shown, case.expected, "{}", case.text);
    }
}
