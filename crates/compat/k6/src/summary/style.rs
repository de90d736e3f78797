//! Colours of the summary.

/// Whether the text has colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colors {
    /// For files and pipes.
    #[default]
    Off,
    /// For a terminal.
    On,
}

/// What a part of the text is.
#[derive(Clone, Copy)]
pub(super) enum SummaryInk {
    /// A name of a section.
    Bold,
    /// Text beside a mark.
    Plain,
    /// Dots between a name and its value.
    Dots,
    /// A value.
    Value,
    /// A value that explains another one.
    Extra,
    /// What holds.
    Good,
    /// What fails.
    Bad,
}

impl Colors {
    pub(super) fn paint(self, ink: SummaryInk, text: &str) -> String {
        let code = match ink {
            _ if self == Self::Off => return text.to_owned(),
            SummaryInk::Bold => "1",
            SummaryInk::Plain => "37",
            SummaryInk::Dots => "2;37",
            SummaryInk::Value => "36",
            SummaryInk::Extra => "2;36",
            SummaryInk::Good => "32",
            SummaryInk::Bad => "31",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// A mark with a text in one colour.
    pub(super) fn mark(self, is_good: bool, text: &str) -> String {
        let (mark, ink) = if is_good {
            ("✓", SummaryInk::Good)
        } else {
            ("✗", SummaryInk::Bad)
        };
        self.paint(ink, &format!("{mark}{text}"))
    }
}
