//! The comments of files beside their code.

use crate::RustFile;
use crate::rust_file::LineKind;

/// Lines of comments and of code, and how long the comments are that document an item.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Comments {
    /// Lines that have code.
    pub(super) code: usize,
    /// Lines that are comments and no more.
    pub(super) lines: usize,
    /// Comments that document an item: runs of lines without another between them.
    docs: usize,
    /// Those of one line.
    docs_short: usize,
    /// Those of three lines and more, a paragraph.
    docs_long: usize,
}

impl Comments {
    /// Counts the lines of a file that are no tests.
    pub(super) fn of(file: &RustFile) -> Self {
        let mut own = Self::default();
        let mut doc = 0;
        for kind in file.product_kinds() {
            if kind == LineKind::Doc {
                doc += 1;
            } else {
                own.end_doc(std::mem::take(&mut doc));
            }
            own.code += usize::from(kind == LineKind::Code);
            own.lines += usize::from(matches!(kind, LineKind::Doc | LineKind::Comment));
        }
        own.end_doc(doc);
        own
    }

    /// Counts a comment of this many lines; zero is none.
    fn end_doc(&mut self, lines: usize) {
        self.docs += usize::from(lines > 0);
        self.docs_short += usize::from(lines == 1);
        self.docs_long += usize::from(lines >= 3);
    }

    /// Counts those of other files as well.
    pub(super) fn add(&mut self, other: &Self) {
        self.code += other.code;
        self.lines += other.lines;
        self.docs += other.docs;
        self.docs_short += other.docs_short;
        self.docs_long += other.docs_long;
    }

    /// Lines of comments for each thousand lines of code.
    pub(super) fn ratio_milli(&self) -> usize {
        self.lines * 1000 / self.code.max(1)
    }

    /// The share of doc comments that have one line, in percent.
    pub(super) fn short_percent(&self) -> usize {
        self.docs_short * 100 / self.docs.max(1)
    }

    /// The share of doc comments that are a paragraph, in percent.
    pub(super) fn long_percent(&self) -> usize {
        self.docs_long * 100 / self.docs.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::Comments;
    use crate::RustFile;

    #[test]
    fn comments_are_told_from_code_and_tests() {
        let text = "//! One\n//! two\n//! three.\n\nuse a; // beside code\n// Why.\n/// One.\nfn f() {\n    \
                    \"a\n    b\"\n}\n#[cfg(test)]\nmod tests {\n    // Why.\n}\n/// Two\n/// lines.\n";
        let own = Comments::of(&RustFile::new("crates/x/src/a.rs", text));
        assert_eq!((own.code, own.lines), (5, 7));
        assert_eq!((own.docs, own.docs_short, own.docs_long), (3, 1, 1));
        assert_eq!((own.short_percent(), own.ratio_milli()), (33, 1400));
    }
}
