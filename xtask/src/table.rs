//! Tables in Markdown pages that a check reads.

/// A row of a table: its cells, trimmed, and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row<'a> {
    /// The line in the page, from 1.
    pub(crate) line: usize,
    cells: Vec<&'a str>,
}

impl<'a> Row<'a> {
    /// The cell of a column; empty if the row is too short.
    pub(crate) fn cell(&self, column: usize) -> &'a str {
        self.cells.get(column).copied().unwrap_or("")
    }

    /// The words between backticks in a cell.
    pub(crate) fn code(&self, column: usize) -> Vec<&'a str> {
        self.cell(column).split('`').skip(1).step_by(2).collect()
    }
}

/// The rows of the tables whose header starts with these columns. Several tables with such a header
/// on a page count as one.
pub(crate) fn rows<'a>(page: &'a str, header: &[&str]) -> Vec<Row<'a>> {
    let mut found = Vec::new();
    let mut inside = false;
    for (index, line) in page.lines().enumerate() {
        let Some(cells) = cells(line) else {
            inside = false;
            continue;
        };
        if inside {
            let ruler = cells
                .iter()
                .all(|cell| cell.bytes().all(|b| b"-:".contains(&b)));
            if !ruler {
                found.push(Row {
                    line: index + 1,
                    cells,
                });
            }
        } else {
            inside = cells.starts_with(header);
        }
    }
    found
}

/// The cells of a table's line; `None` for any other line.
fn cells(line: &str) -> Option<Vec<&str>> {
    let inside = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(inside.split('|').map(str::trim).collect())
}

#[cfg(test)]
mod tests {
    use super::rows;

    #[test]
    fn reads_only_the_table_that_is_asked_for() {
        let page = "| a | b |\n|---|:-:|\n| `x` `y` | 1 |\n\ntext\n| c |\n|---|\n| z |\n";
        let found = rows(page, &["a"]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].line, found[0].cell(1)), (3, "1"));
        assert_eq!(found[0].code(0), ["x", "y"]);
        assert!(rows(page, &["b"]).is_empty());
    }
}
