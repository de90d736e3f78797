//! Postman's generated values (`{{$randomInt}}`), and their equivalents in a plan: templates, and
//! columns of a feed of generated values.

use super::{Reader, TextUse};
use crate::exchange::placed;
use crate::shape::shown;
use drumfire_document::{Feed, FeedRows, Field};

/// The name of the feed.
const FEED: &str = "postman";

/// Values that a function of templates generates, a new one at each use.
const TEMPLATES: [(&str, &str); 15] = [
    ("$guid", "{{ new_uuid() }}"),
    ("$isoTimestamp", "{{ time }}"),
    ("$randomAlphaNumeric", "{{ random_string(1) }}"),
    ("$randomBankAccount", "{{ random_int(10000000, 99999999) }}"),
    ("$randomBoolean", "{{ choose(['true', 'false']) }}"),
    (
        "$randomIP",
        "{{ random_int(1, 223) }}.{{ random_int(0, 255) }}.{{ random_int(0, 255) }}.{{ random_int(1, 254) }}",
    ),
    ("$randomInt", "{{ random_int(0, 1000) }}"),
    (
        "$randomMonth",
        "{{ choose(['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December']) }}",
    ),
    ("$randomPassword", "{{ random_string(15) }}"),
    (
        "$randomPhoneNumber",
        "{{ random_int(200, 999) }}-{{ random_int(200, 999) }}-{{ random_int(1000, 9999) }}",
    ),
    ("$randomProtocol", "{{ choose(['http', 'https']) }}"),
    (
        "$randomSemver",
        "{{ random_int(0, 9) }}.{{ random_int(0, 9) }}.{{ random_int(0, 9) }}",
    ),
    ("$randomUUID", "{{ new_uuid() }}"),
    (
        "$randomWeekday",
        "{{ choose(['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']) }}",
    ),
    ("$timestamp", "{{ unix }}"),
];

/// A value that is a column of the feed.
struct Column {
    /// Postman's name.
    of: &'static str,
    name: &'static str,
    /// The kind of generated value.
    kind: &'static str,
    /// The filters of the column in a template.
    filter: &'static str,
}

const fn column(
    of: &'static str,
    name: &'static str,
    kind: &'static str,
    filter: &'static str,
) -> Column {
    Column {
        of,
        name,
        kind,
        filter,
    }
}

static COLUMNS: [Column; 21] = [
    column("$randomAdjective", "word", "words 1", ""),
    column("$randomCity", "city", "city", ""),
    column("$randomEmail", "email", "email", ""),
    column("$randomExampleEmail", "email", "email", ""),
    column("$randomFirstName", "name", "name", " | split(' ') | first"),
    column("$randomFullName", "name", "name", ""),
    column("$randomLastName", "name", "name", " | split(' ') | last"),
    column(
        "$randomLatitude",
        "latitude",
        "decimal -90.0000..90.0000",
        "",
    ),
    column(
        "$randomLongitude",
        "longitude",
        "decimal -180.0000..180.0000",
        "",
    ),
    column("$randomLoremSentence", "sentence", "words 8", ""),
    column(
        "$randomLoremSlug",
        "words",
        "words 3",
        " | replace(' ', '-')",
    ),
    column("$randomLoremText", "sentence", "words 8", ""),
    column("$randomLoremWord", "word", "words 1", ""),
    column("$randomLoremWords", "words", "words 3", ""),
    column("$randomNoun", "word", "words 1", ""),
    column("$randomPhrase", "sentence", "words 8", ""),
    column("$randomPrice", "price", "decimal 0.00..1000.00", ""),
    column("$randomUserName", "username", "username", ""),
    column("$randomVerb", "word", "words 1", ""),
    column("$randomWord", "word", "words 1", ""),
    column("$randomWords", "words", "words 3", ""),
];

impl Reader {
    /// The template for a generated value; `None` if a plan has no equivalent.
    pub(super) fn dynamic(&mut self, name: &str, purpose: TextUse) -> Option<String> {
        if let Some((_, template)) = TEMPLATES.iter().find(|(known, _)| *known == name) {
            return Some((*template).to_owned());
        }
        let column = COLUMNS.iter().find(|column| column.of == name)?;
        self.add_column(column);
        let used = (column.name, column.filter);
        if !self.columns.contains(&used) {
            self.columns.push(used);
        } else {
            let finding = format!(
                "`{{{{{name}}}}}` has one value in a request; Postman generates another at each use"
            );
            let place = shown(&self.place);
            self.all.notes.add_at(finding, || place);
        }
        let escape = if purpose == TextUse::Url {
            " | urlescape"
        } else {
            ""
        };
        let Column { name, filter, .. } = column;
        Some(format!("{{{{ {FEED}.{name}{filter}{escape} }}}}"))
    }

    /// Adds a column to the feed of the document.
    fn add_column(&mut self, column: &Column) {
        let feeds = &mut self.all.document.feeds;
        if feeds.is_empty() {
            feeds.push(Feed {
                name: placed(FEED.to_owned()),
                ..Feed::default()
            });
        }
        for feed in feeds {
            let FeedRows::Generated(columns) = &mut feed.rows else {
                continue;
            };
            if !columns.iter().any(|known| known.name.value == column.name) {
                columns.push(Field {
                    name: placed(column.name.to_owned()),
                    value: placed(column.kind.to_owned()),
                });
            }
        }
    }
}
