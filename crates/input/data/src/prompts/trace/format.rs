//! The formats of traces.

use crate::feed::{CsvForm, FeedFormat};

/// The formats of traces, by name.
pub const TRACE_FORMATS: [(&str, TraceFormat); 6] = [
    ("mooncake", TraceFormat::Mooncake),
    ("bailian", TraceFormat::Bailian),
    ("azure", TraceFormat::Azure),
    ("burstgpt", TraceFormat::BurstGpt),
    ("sharegpt", TraceFormat::ShareGpt),
    ("jsonl", TraceFormat::JsonLines),
];

/// The format of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFormat {
    /// Mooncake's traces: milliseconds, lengths, and the numbers of blocks of 512 tokens.
    Mooncake,
    /// Bailian's traces: seconds, lengths, and the numbers of blocks of 16 tokens.
    Bailian,
    /// Azure's traces of inference: dates and lengths, as CSV.
    Azure,
    /// BurstGPT: seconds and lengths, as CSV.
    BurstGpt,
    /// ShareGPT: an array of conversations.
    ShareGpt,
    /// JSON lines with prompts, messages or lengths.
    JsonLines,
}

/// What a column of a trace means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Time,
    Input,
    Output,
    Blocks,
    Session,
    Parent,
    Prompt,
    Messages,
    Conversation,
    /// The column has no effect.
    Unused,
}

impl TraceFormat {
    /// The name of the format.
    #[must_use]
    pub fn name(self) -> &'static str {
        let mut all = TRACE_FORMATS.iter();
        all.find(|(_, format)| *format == self)
            .map_or("", |(name, _)| name)
    }

    /// The format of a file that begins with these bytes; `None` if no format begins so.
    #[must_use]
    pub fn recognise(start: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(start);
        let line = text.trim_start_matches('\u{feff}').trim_start();
        let line = line.lines().next().unwrap_or_default().trim();
        let has = |name: &str| line.contains(&format!("\"{name}\""));
        match line {
            line if line.starts_with("TIMESTAMP,ContextTokens") => Some(Self::Azure),
            line if line.starts_with("Timestamp,Model,Request tokens") => Some(Self::BurstGpt),
            line if line.starts_with('[') => Some(Self::ShareGpt),
            line if !line.starts_with('{') => None,
            _ if has("hash_ids") && has("chat_id") => Some(Self::Bailian),
            _ if has("hash_ids") => Some(Self::Mooncake),
            _ => Some(Self::JsonLines),
        }
    }

    /// The form of the file.
    pub(super) fn feed_format(self) -> FeedFormat {
        match self {
            Self::Mooncake | Self::Bailian | Self::JsonLines => FeedFormat::JsonLines,
            Self::Azure | Self::BurstGpt => FeedFormat::Csv(CsvForm::default()),
            Self::ShareGpt => FeedFormat::Json,
        }
    }

    /// Whether each row is a line.
    pub(super) const fn has_lines(self) -> bool {
        !matches!(self, Self::ShareGpt)
    }

    /// Whether the first line contains the names of columns.
    pub(super) const fn has_names(self) -> bool {
        matches!(self, Self::Azure | Self::BurstGpt)
    }

    /// The tokens of a whole block.
    pub(super) const fn block_words(self) -> u64 {
        match self {
            Self::Mooncake => 512,
            _ => 16,
        }
    }

    /// Nanoseconds in the unit of times that are numbers.
    pub(super) const fn unit(self) -> f64 {
        match self {
            Self::Mooncake => 1e6,
            _ => 1e9,
        }
    }

    /// The columns of the format, with their meanings.
    pub(super) const fn columns(self) -> &'static [(&'static str, Role)] {
        match self {
            Self::Mooncake => &[
                ("timestamp", Role::Time),
                ("input_length", Role::Input),
                ("output_length", Role::Output),
                ("hash_ids", Role::Blocks),
            ],
            Self::Bailian => &[
                ("timestamp", Role::Time),
                ("input_length", Role::Input),
                ("output_length", Role::Output),
                ("hash_ids", Role::Blocks),
                ("chat_id", Role::Session),
                ("parent_chat_id", Role::Parent),
                ("turn", Role::Unused),
                ("type", Role::Unused),
            ],
            Self::Azure => &[
                ("TIMESTAMP", Role::Time),
                ("ContextTokens", Role::Input),
                ("GeneratedTokens", Role::Output),
            ],
            Self::BurstGpt => &[
                ("Timestamp", Role::Time),
                ("Model", Role::Unused),
                ("Request tokens", Role::Input),
                ("Response tokens", Role::Output),
                ("Total tokens", Role::Unused),
                ("Log Type", Role::Unused),
                ("Session ID", Role::Session),
                ("Elapsed time", Role::Unused),
            ],
            Self::ShareGpt => &[("id", Role::Unused), ("conversations", Role::Conversation)],
            Self::JsonLines => &[
                ("timestamp", Role::Time),
                ("at", Role::Time),
                ("prompt", Role::Prompt),
                ("messages", Role::Messages),
                ("input_length", Role::Input),
                ("output_length", Role::Output),
                ("output_tokens", Role::Output),
                ("max_tokens", Role::Output),
            ],
        }
    }
}
