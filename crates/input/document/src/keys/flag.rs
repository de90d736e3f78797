//! The flag that sets a key: its spelling, its help, and the commands that have it.

/// A command-line flag, as part of a key's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag {
    /// The heading of the flag in the help.
    pub group: Group,
    /// The spelling in the help: `-c, --connections <N>`. A flag without a value in angle brackets
    /// is a switch.
    pub usage: &'static str,
    /// The description in the help.
    pub help: &'static str,
    /// The commands that have the flag.
    pub on: On,
    /// The commands whose help omits the flag.
    pub hidden_on: On,
    /// Whether `-h` lists the flag. `-h` shows the most common flags.
    pub is_first: bool,
    /// The kind of number, if the key is not a plain count.
    pub number: Number,
    /// Whether one value may contain several, separated by commas.
    pub is_separated: bool,
    /// The value of the flag if it is given without one.
    pub without_value: Option<&'static str>,
    /// The value that a switch sets, if it differs from `true`, or from `false` for a `--no-…`.
    pub sets: Option<&'static str>,
    /// Another spelling, which the help omits.
    pub alias: Option<&'static str>,
    /// The values that shell completions offer.
    pub choices: &'static [&'static str],
    /// The required other flag, by its long name.
    pub needs: Option<&'static str>,
    /// The contradicting flags, by their long names.
    pub excludes: &'static [&'static str],
}

/// Defines functions that return a flag with one additional property.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($($value:ident: $type:ty)?): $field:ident = $of:expr;)*) => {
        $($(#[$doc])*
        pub(crate) const fn $name(self $(, $value: $type)?) -> Self {
            Self { $field: $of, ..self }
        })*
    };
}

impl Flag {
    /// A flag for the default commands of its group.
    #[must_use]
    pub const fn new(group: Group, usage: &'static str, help: &'static str) -> Self {
        Self {
            group,
            usage,
            help,
            on: group.on(),
            hidden_on: On(0),
            is_first: false,
            number: Number::Plain,
            is_separated: false,
            without_value: None,
            sets: None,
            alias: None,
            choices: &[],
            needs: None,
            excludes: &[],
        }
    }

    setters! {
        /// Sets the commands of the flag.
        on(commands: On): on = commands;
        /// Omits the flag in the help of these commands.
        hidden(commands: On): hidden_on = commands;
        /// Lists the flag in `-h`.
        first(): is_first = true;
        /// Sets the kind of number.
        number(kind: Number): number = kind;
        /// Allows several values, separated by commas.
        separated(): is_separated = true;
        /// Sets the value for a flag without one.
        without_value(value: &'static str): without_value = Some(value);
        /// Sets the value of the switch.
        sets(value: &'static str): sets = Some(value);
        /// Adds another spelling.
        alias(long: &'static str): alias = Some(long);
        /// Sets the allowed words.
        choices(words: &'static [&'static str]): choices = words;
        /// Sets the other flag without which this flag has no effect.
        needs(long: &'static str): needs = Some(long);
        /// Sets the contradicting flags.
        excludes(longs: &'static [&'static str]): excludes = longs;
    }

    /// The name of the flag in messages: its letter, if it has one.
    #[must_use]
    pub fn name(&self) -> &'static str {
        let end = self.usage.find([',', ' ', '[']);
        &self.usage[..end.unwrap_or(self.usage.len())]
    }

    /// The letter, if it has one.
    #[must_use]
    pub fn short(&self) -> Option<char> {
        let letter = self.usage.split_once(',')?.0.strip_prefix('-')?;
        letter.chars().next()
    }

    /// The name after the two dashes.
    #[must_use]
    pub fn long(&self) -> &'static str {
        let long = self.usage.split_once("--").map_or("", |(_, long)| long);
        &long[..long.find([' ', '[']).unwrap_or(long.len())]
    }

    /// The name of the value in help; `None` for a switch.
    #[must_use]
    pub fn value(&self) -> Option<&'static str> {
        let (_, value) = self.usage.split_once('<')?;
        Some(value.split_once('>')?.0)
    }

    /// Whether a value is taken only after an equals sign.
    #[must_use]
    pub fn needs_equals(&self) -> bool {
        self.usage.contains("[=")
    }
}

/// The headings of the help, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// The plan itself.
    Plan,
    /// Prompts.
    Prompt,
    /// Calls.
    Call,
    /// The schema of calls.
    Schema,
    /// The streams of calls.
    Streams,
    /// Requests.
    Request,
    /// Varying values.
    Data,
    /// The start, number and duration of requests.
    Load,
    /// Connections.
    Connections,
    /// Timeouts.
    Timeouts,
    /// TLS.
    Tls,
    /// The network path to the target.
    Network,
    /// The results.
    Output,
}

impl Group {
    /// The heading.
    #[must_use]
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Plan => "Plan",
            Self::Prompt => "Prompt",
            Self::Request => "Request",
            Self::Call => "Call",
            Self::Schema => "Schema",
            Self::Streams => "Streams",
            Self::Data => "Data",
            Self::Load => "Load",
            Self::Connections => "Connections",
            Self::Timeouts => "Timeouts",
            Self::Tls => "TLS",
            Self::Network => "Network",
            Self::Output => "Output",
        }
    }

    /// The default commands of the group's flags.
    const fn on(self) -> On {
        match self {
            Self::Plan => On::RUN,
            Self::Prompt => On::LLM,
            Self::Request => On::HTTP.and(On::LLM),
            Self::Call | Self::Schema | Self::Streams => On::GRPC,
            Self::Data | Self::Connections | Self::Timeouts | Self::Tls | Self::Network => {
                On::SENDS
            }
            Self::Load => On::LOADS,
            Self::Output => On::OUTPUTS,
        }
    }
}

/// A set of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct On(pub u8);

impl On {
    /// `drumfire http` and `drumfire capacity`.
    pub const HTTP: Self = Self(1);
    /// `drumfire grpc`.
    pub const GRPC: Self = Self(2);
    /// `drumfire run` and `drumfire cluster run`.
    pub const RUN: Self = Self(4);
    /// `drumfire cluster attach`.
    pub const ATTACH: Self = Self(8);
    /// `drumfire report`.
    pub const REPORT: Self = Self(16);
    /// `drumfire resume`, which also has the flags of `drumfire report`.
    pub const RESUME: Self = Self(32);
    /// `drumfire llm`.
    pub const LLM: Self = Self(64);
    /// `drumfire ws`.
    pub const WS: Self = Self(128);
    /// The commands whose flags describe requests.
    pub(crate) const SENDS: Self = Self::HTTP.and(Self::GRPC).and(Self::LLM).and(Self::WS);
    /// The commands whose flags describe a load.
    pub(crate) const LOADS: Self = Self::SENDS.and(Self::RUN);
    /// The commands that run a plan from its start.
    pub(crate) const OUTPUTS: Self = Self::LOADS.and(Self::ATTACH);
    /// The commands during which a load runs.
    pub(crate) const RUNS: Self = Self::OUTPUTS.and(Self::RESUME);
    /// The commands that print results.
    pub(crate) const RESULTS: Self = Self::OUTPUTS.and(Self::REPORT);

    /// The union of two sets of commands.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the sets have a command in common.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// The kinds of numbers that a flag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// Any count, if the key is one; otherwise no number is required.
    Plain,
    /// A count of at most 32 bits.
    Small,
    /// A count of failed requests, which other tools take as a share.
    Failures,
    /// A count of redirects.
    Redirects,
}
