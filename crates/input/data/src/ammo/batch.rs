//! Decoded entries, one behind the other in memory that is used again.

use super::remark::Remark;
use std::ops::Range;
use std::sync::Arc;

/// Decoded entries.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    bytes: Vec<u8>,
    fields: Vec<Field>,
    rows: Vec<Row>,
    shared: Option<Shared>,
    /// Memory for a body while it is made.
    scratch: Vec<u8>,
    /// What has no effect in the entries.
    remarks: Vec<Remark>,
    /// Entries that have no request that can be sent.
    left_out: u64,
}

/// Header fields that stand in a file, each as name and value, for the entries behind them.
pub(super) type StandingHeaders = Arc<[(String, String)]>;

/// Fields that entries have in common.
#[derive(Clone, Debug)]
struct Shared {
    standing: StandingHeaders,
    fields: Range<usize>,
}

/// Where a header field lies.
#[derive(Clone, Debug)]
struct Field {
    name: Range<usize>,
    value: Range<usize>,
}

/// Where the parts of an entry lie.
#[derive(Clone, Debug, Default)]
struct Row {
    method: Range<usize>,
    target: Range<usize>,
    host: Range<usize>,
    tag: Range<usize>,
    fields: Range<usize>,
    body: Option<Range<usize>>,
    time: Option<u64>,
    class: u32,
}

/// An entry: a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    pub(super) batch: &'a Batch,
    pub(super) method: &'a str,
    /// Path and query.
    pub(super) target: &'a str,
    /// Empty where the entry has none.
    pub(super) host: &'a str,
    /// Empty where the entry has none.
    pub(super) tag: &'a str,
    fields: (usize, usize),
    pub(super) body: Option<&'a [u8]>,
    /// Nanoseconds since the Unix epoch.
    pub(super) time: Option<u64>,
    pub(super) class: u32,
}

impl<'a> Entry<'a> {
    /// The header fields in their order.
    pub(super) fn fields(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let batch = self.batch;
        let fields = &batch.fields[self.fields.0..self.fields.1];
        let pair = move |field: &Field| (batch.text(&field.name), batch.text(&field.value));
        fields.iter().map(pair)
    }

    /// The host that it is sent to by name: of its URL, or of its field.
    pub(super) fn named_host(self) -> Option<&'a str> {
        let mut fields = self.fields();
        let mut field = || fields.find(|(name, _)| name.eq_ignore_ascii_case("host"));
        match self.host {
            "" => field().map(|(_, value)| value),
            host => Some(host),
        }
    }

    /// Whether it has a field with this name.
    pub(super) fn has(self, name: &str) -> bool {
        self.fields()
            .any(|(known, _)| known.eq_ignore_ascii_case(name))
    }
}

impl Batch {
    pub(super) const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Forgets all entries; the memory stays.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.fields.clear();
        self.rows.clear();
        self.remarks.clear();
        self.shared = None;
    }

    /// The entries that follow have these fields, and none of their own.
    pub(super) fn share(&mut self, standing: &StandingHeaders) {
        let known = self.shared.as_ref();
        if known.is_some_and(|shared| Arc::ptr_eq(&shared.standing, standing)) {
            return;
        }
        let start = self.fields.len();
        for (name, value) in standing.iter() {
            let (name, value) = (
                self.push_bytes(name.as_bytes()),
                self.push_bytes(value.as_bytes()),
            );
            self.fields.push(Field { name, value });
        }
        self.shared = Some(Shared {
            standing: Arc::clone(standing),
            fields: start..self.fields.len(),
        });
    }

    fn text(&self, range: &Range<usize>) -> &str {
        // What is put in is text, but for bodies.
        std::str::from_utf8(&self.bytes[range.clone()]).unwrap_or_default()
    }

    fn push_bytes(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len()
    }

    /// Begins an entry, of which nothing is known but its method and target.
    pub(super) fn start_entry(&mut self, method: &str, target: &str) {
        let none = self.fields.len()..self.fields.len();
        let shared = self.shared.as_ref();
        let row = Row {
            fields: shared.map_or(none, |shared| shared.fields.clone()),
            method: self.push_bytes(method.as_bytes()),
            target: self.push_bytes(target.as_bytes()),
            ..Row::default()
        };
        self.rows.push(row);
    }

    /// Notes what has no effect in the last entry.
    pub(super) fn remark(&mut self, remarks: impl IntoIterator<Item = Remark>) {
        self.remarks.extend(remarks);
    }

    /// The remarks since the last call.
    pub(super) fn take_remarks(&mut self) -> Vec<Remark> {
        std::mem::take(&mut self.remarks)
    }

    /// Counts an entry that has no request that can be sent.
    pub(super) const fn leave_out(&mut self) {
        self.left_out += 1;
    }

    /// How many entries were left out since the last call.
    pub(super) fn take_left_out(&mut self) -> u64 {
        std::mem::take(&mut self.left_out)
    }

    /// Gives the last entry a tag.
    pub(super) fn tag(&mut self, tag: &str) {
        let tag = self.push_bytes(tag.as_bytes());
        self.with_last(|row| row.tag = tag);
    }

    /// Gives the last entry a host.
    pub(super) fn host(&mut self, host: &str) {
        let host = self.push_bytes(host.as_bytes());
        self.with_last(|row| row.host = host);
    }

    /// Gives the last entry a body.
    pub(super) fn body(&mut self, body: &[u8]) {
        let body = self.push_bytes(body);
        self.with_last(|row| row.body = Some(body));
    }

    /// Gives the last entry another body; `make` appends it, and gets the one that it had.
    pub(super) fn remake_body(
        &mut self,
        make: impl FnOnce(Entry<'_>, &mut Vec<u8>) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut made = std::mem::take(&mut self.scratch);
        made.clear();
        let result = make(self.last(), &mut made);
        // The body was put last, so that its memory is used again.
        let old = self.rows.last().and_then(|row| row.body.clone());
        if let Some(old) = old.filter(|old| old.end == self.bytes.len()) {
            self.bytes.truncate(old.start);
        }
        self.body(&made);
        self.scratch = made;
        result
    }

    /// Gives the last entry a moment.
    pub(super) fn time(&mut self, time: Option<u64>) {
        self.with_last(|row| row.time = time);
    }

    /// Gives the last entry a class.
    pub(super) fn set_class(&mut self, class: u32) {
        self.with_last(|row| row.class = class);
    }

    /// Gives the last entry one more field.
    pub(super) fn field(&mut self, name: &str, value: &str) {
        let (name, value) = (
            self.push_bytes(name.as_bytes()),
            self.push_bytes(value.as_bytes()),
        );
        self.fields.push(Field { name, value });
        let end = self.fields.len();
        self.with_last(|row| row.fields.end = end);
    }

    fn with_last(&mut self, change: impl FnOnce(&mut Row)) {
        if let Some(row) = self.rows.last_mut() {
            change(row);
        }
    }

    /// The last entry, which there is.
    pub(super) fn last(&self) -> Entry<'_> {
        self.entry(self.rows.len().saturating_sub(1))
    }

    /// Takes the last entry out again.
    pub(super) fn pop(&mut self) {
        if let Some(row) = self.rows.pop() {
            self.bytes.truncate(row.method.start);
            if self.shared.is_none() {
                self.fields.truncate(row.fields.start);
            }
        }
    }

    /// The n-th entry, which there is.
    pub(super) fn entry(&self, n: usize) -> Entry<'_> {
        let row = &self.rows[n];
        Entry {
            batch: self,
            method: self.text(&row.method),
            target: self.text(&row.target),
            host: self.text(&row.host),
            tag: self.text(&row.tag),
            fields: (row.fields.start, row.fields.end),
            body: row.body.as_ref().map(|body| &self.bytes[body.clone()]),
            time: row.time,
            class: row.class,
        }
    }

    /// Appends an entry of another batch.
    pub(super) fn copy(&mut self, from: &Self, n: usize) {
        let entry = from.entry(n);
        self.start_entry(entry.method, entry.target);
        self.tag(entry.tag);
        self.host(entry.host);
        for (name, value) in entry.fields() {
            self.field(name, value);
        }
        if let Some(body) = entry.body {
            self.body(body);
        }
        self.time(entry.time);
    }

    /// Puts entries into the order of their moments.
    pub(super) fn sort_by_time(&mut self) {
        self.rows.sort_by_key(|row| row.time);
    }
}
