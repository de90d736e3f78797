//! Arbitrary bytes as a file of rows: each format gives the same rows in memory and from the file,
//! in all orders, or the same mistake.

#![no_main]

use drumfire_data::{
    CsvForm, Feed, FeedFormat, Order, ReadAt, Sources, Template, Text, TextTemplate,
};
use drumfire_plan::RequestContext;
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

/// A file that claims to be too large for memory.
#[derive(Debug)]
struct LargeFeed(Vec<u8>);

impl ReadAt for LargeFeed {
    fn size(&self) -> u64 {
        u64::MAX
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> std::io::Result<usize> {
        // Return short reads, as files may.
        let most = into.len().min(1000);
        self.0.read_at(offset, &mut into[..most])
    }
}

fn format(choice: u8) -> FeedFormat {
    let csv = |delimiter, quote| {
        FeedFormat::Csv(CsvForm {
            fields: Vec::new(),
            delimiter,
            quote,
            header: true,
        })
    };
    match choice % 6 {
        0 => FeedFormat::Json,
        1 => FeedFormat::JsonLines,
        2 => FeedFormat::Lines,
        3 => csv(b',', Some(b'"')),
        4 => csv(b';', None),
        _ => FeedFormat::Csv(CsvForm {
            fields: vec!["a".to_owned(), "b".to_owned()],
            header: false,
            ..CsvForm::default()
        }),
    }
}

/// The texts of a row's first columns, rendered by templates without and with an interpreter.
fn shown(feed: Feed) -> Vec<[Result<String, String>; 2]> {
    let rows = feed.rows();
    let column = feed.columns().next().unwrap_or_default().to_owned();
    let mut sources = Sources::new();
    sources.add("f", feed, Order::InTurn).expect("a name");
    let sources = Arc::new(sources);
    let plain = column.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let sources = &sources;
    let texts = match plain
        && column
            .as_bytes()
            .first()
            .is_some_and(u8::is_ascii_alphabetic)
    {
        true => [
            format!("{{{{ f.{column} }}}}"),
            format!("{{{{ f['{column}'] | upper }}}}"),
        ],
        false => [String::new(), String::new()],
    };
    // Words of the language are not valid names.
    let templates = texts.map(|text| Template::compile(&text, Text::Plain, sources).ok());
    let row = |row| {
        let call = RequestContext {
            arrival: row,
            ..RequestContext::default()
        };
        templates.each_ref().map(|template| {
            let mut out = String::new();
            let rendered = template
                .as_ref()
                .map_or(Ok(()), |template| template.render(&call, 0, &mut out));
            rendered.map(|()| out).map_err(|error| error.to_string())
        })
    };
    (0..rows.min(64))
        .rev()
        .chain(rows.saturating_sub(3)..rows)
        .map(row)
        .collect()
}

fuzz_target!(|input: &[u8]| {
    let Some((choice, file)) = input.split_first() else {
        return;
    };
    let format = format(*choice);
    let small = Feed::read(Arc::new(file.to_vec()), &format);
    let large = Feed::read(Arc::new(LargeFeed(file.to_vec())), &format);
    match (small, large) {
        (Err(small), Err(large)) => {
            assert_eq!(small, large);
            assert!(!small.message.contains(char::is_control), "{small}");
        }
        (Ok(small), Ok(large)) => {
            assert_eq!(small.rows(), large.rows());
            assert!(small.columns().eq(large.columns()));
            assert_eq!(shown(small), shown(large));
        }
        (small, large) => panic!("{:?} {:?}", small.is_ok(), large.is_ok()),
    }
});
