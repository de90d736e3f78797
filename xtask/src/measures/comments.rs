//! The amount of comments in files, compared with their code.

use crate::RustFile;
use crate::rust_file::LineKind;

/// The numbers of comment lines and code lines, and the lengths of doc comments.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Comments {
    /// Lines with code.
    pub(super) code: usize,
    /// Lines with only a comment.
    pub(super) lines: usize,
    /// Doc comments: consecutive lines of documentation.
    docs: usize,
    /// Doc comments of one line.
    docs_short: usize,
    /// Doc comments of at least three lines.
    docs_long: usize,
}

impl Comments {
    /// Counts the lines of a file, without tests.
    pub(super) fn count(file: &RustFile) -> Self {
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

    /// Counts a doc comment of this many lines; zero lines are ignored.
    fn end_doc(&mut self, lines: usize) {
        self.docs += usize::from(lines > 0);
        self.docs_short += usize::from(lines == 1);
        self.docs_long += usize::from(lines >= 3);
    }

    /// Adds the counts of other files.
    pub(super) fn add(&mut self, other: &Self) {
        self.code += other.code;
        self.lines += other.lines;
        self.docs += other.docs;
        self.docs_short += other.docs_short;
        self.docs_long += other.docs_long;
    }

    /// The number of comment lines per thousand code lines.
    pub(super) fn ratio_milli(&self) -> usize {
        self.lines * 1000 / self.code.max(1)
    }

    /// The share of doc comments with one line, in percent.
    pub(super) fn short_percent(&self) -> usize {
        self.docs_short * 100 / self.docs.max(1)
    }

    /// The share of doc comments with at least three lines, in percent.
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
        let own = Comments::count(&RustFile::new("crates/x/src/a.rs", text));
        assert_eq!((own.code, own.lines), (5, 7));
        assert_eq!((own.docs, own.docs_short, own.docs_long), (3, 1, 1));
        assert_eq!((own.short_percent(), own.ratio_milli()), (33, 1400));
    }
}
