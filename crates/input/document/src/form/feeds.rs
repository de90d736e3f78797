//! Feeds: a mapping from user-defined names to the sources of their rows.

use crate::diagnostic::Findings;
use crate::keys::fields::{
    Entry, entries, fields_schema, items, read_fields, show_fields, table, text,
};
use crate::keys::node::Node;
use crate::keys::schema::{self, Definitions};
use crate::keys::tree::Tree;
use crate::keys::{Flag, Group, KeyValue};
use crate::{Count, Feed, FeedRows, Field, JsonText, Place, Placed, Switch, Text};
use serde_json::{Value, json};

table! {
    /// A feed's keys, as a mapping contains them.
    pub(crate) struct Keys [] {
        csv: Option<Text> =
            "File of comma-separated values; its first line contains the column names";
        json: Option<Text> = "File with an array of objects, or with objects one after another";
        jsonl: Option<Text> = "File with one JSON object per line";
        lines: Option<Text> = "File with one value per line; empty lines are skipped";
        inline: JsonText =
            "Rows in the plan itself: a list of objects, of values, or of lists whose columns are in `fields`";
        range: Option<Text> =
            "Whole numbers, with both ends, such as `1..1000`, `0..100 by 5` or `10..1`; `0001..1000` writes all of them with four digits";
        generated: Columns =
            "Generated values: a mapping of columns to kinds, such as `name`, `email` or `int 1..9`, or a list of kinds";
        fields: Vec<Text> =
            "Names of the columns of `csv` or `inline`; the first line of a CSV file is then a row of data";
        delimiter: Option<Text> = "Character between CSV values, or `tab`";
        quote: Option<Text> = "Character that quotes CSV values, or `none`";
        header: Option<Switch> = "With `fields`: skip the first line of the CSV file";
        rows: Option<Count> = "Maximum number of rows to generate";
        seed: Option<Count> = "Seed of the generated values, instead of the plan's";
        order: Option<Text> =
            "Which row an iteration takes: `in_order` (the default), `random`, `unique` or `once`",
            Flag::new(Group::Data, "--feed-order <ORDER>",
                "Order of the feeds' rows: turn, random, or once [default: turn]").needs("feed").choices(&["turn", "random", "once"]);
        at_end: Option<Text> =
            "What to do after the last row: `wrap` (the default), `stop` (the default for `once`) or `fail`";
    } []
}

/// The columns of generated rows: a mapping from names to kinds, or a list of kinds, each of which
/// is also the name of its column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Columns(Option<Vec<Field>>);

impl Entry for Columns {
    const VALUE: KeyValue = KeyValue::Mapping;

    fn read(node: &Placed<Node>, found: &mut Findings) -> Self {
        let mut fields = Vec::new();
        for item in items(node) {
            if matches!(item.value, Node::Map(_)) {
                fields.extend(Vec::<Field>::read(item, found));
            } else if let Some(kind) = text(item, found) {
                let name = kind.value.split(' ').next().unwrap_or_default();
                let name = Placed::new(name.to_owned(), kind.place.clone());
                fields.push(Field { name, value: kind });
            }
        }
        Self(Some(fields))
    }

    fn show(&self) -> Option<Tree> {
        let fields = self.0.as_ref()?;
        Some(fields.show().unwrap_or_else(|| Tree::Map(Vec::new())))
    }

    fn fill(&mut self, _: &Self) {}

    fn place(&self) -> Option<&Place> {
        self.0.as_ref().and_then(Entry::place)
    }

    fn schema(_: &mut Definitions) -> Value {
        schema::one_or_many(&json!({ "type": ["object", "string"] }))
    }
}

/// The keys for rows; a feed has exactly one of them.
const ROWS: [&str; 7] = [
    "csv",
    "json",
    "jsonl",
    "lines",
    "inline",
    "range",
    "generated",
];

impl Keys {
    /// The source of the rows, from the only such key.
    fn rows(&mut self, name: &Text, found: &mut Findings) -> Option<FeedRows> {
        let mut all = Vec::new();
        all.extend(self.csv.take().map(FeedRows::Csv));
        all.extend(self.json.take().map(FeedRows::Json));
        all.extend(self.jsonl.take().map(FeedRows::JsonLines));
        all.extend(self.lines.take().map(FeedRows::Lines));
        all.extend(self.inline.0.take().map(FeedRows::Inline));
        all.extend(self.range.take().map(FeedRows::Range));
        all.extend(self.generated.0.take().map(FeedRows::Generated));
        if all.len() != 1 {
            let message = "a feed needs exactly one of `csv`, `json`, `jsonl`, `lines`, `inline`, \
                           `range` and `generated`";
            found.add(&name.place, message);
            return None;
        }
        all.pop()
    }

    /// Builds the feed from the keys.
    fn feed(mut self, name: Text, found: &mut Findings) -> Option<Feed> {
        Some(Feed {
            rows: self.rows(&name, found)?,
            name,
            fields: self.fields,
            delimiter: self.delimiter,
            quote: self.quote,
            header: self.header,
            count: self.rows,
            seed: self.seed,
            order: self.order,
            at_end: self.at_end,
        })
    }

    /// The keys of a feed.
    fn from_feed(feed: &Feed) -> Self {
        let mut keys = Self {
            fields: feed.fields.clone(),
            delimiter: feed.delimiter.clone(),
            quote: feed.quote.clone(),
            header: feed.header.clone(),
            rows: feed.count.clone(),
            seed: feed.seed.clone(),
            order: feed.order.clone(),
            at_end: feed.at_end.clone(),
            ..Self::default()
        };
        match feed.rows.clone() {
            FeedRows::Csv(file) => keys.csv = Some(file),
            FeedRows::Json(file) => keys.json = Some(file),
            FeedRows::JsonLines(file) => keys.jsonl = Some(file),
            FeedRows::Lines(file) => keys.lines = Some(file),
            FeedRows::Inline(rows) => keys.inline = JsonText(Some(rows)),
            FeedRows::Range(range) => keys.range = Some(range),
            FeedRows::Generated(columns) => keys.generated = Columns(Some(columns)),
        }
        keys
    }
}

impl Entry for Vec<Feed> {
    const VALUE: KeyValue = KeyValue::NamedOf("feeds");

    fn read(node: &Placed<Node>, found: &mut Findings) -> Self {
        let mut feeds = Self::new();
        for (name, node) in entries(node, "`feeds`", found) {
            let keys: Keys = read_fields(node, "a feed", found);
            feeds.extend(keys.feed(name.clone(), found));
        }
        feeds
    }

    fn show(&self) -> Option<Tree> {
        let feeds = self.iter().filter_map(|feed| {
            show_fields(&Keys::from_feed(feed)).map(|tree| (feed.name.value.clone(), tree))
        });
        (!self.is_empty()).then(|| Tree::Map(feeds.collect()))
    }

    fn fill(&mut self, _: &Self) {}

    fn place(&self) -> Option<&Place> {
        self.first().map(|feed| &feed.name.place)
    }

    fn schema(definitions: &mut Definitions) -> Value {
        let feed = schema::with_one_of(fields_schema::<Keys>(definitions), &ROWS, &[]);
        schema::named(&feed)
    }
}
