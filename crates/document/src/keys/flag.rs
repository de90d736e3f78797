//! The flag that sets a key: its spelling, its help, and the commands that have it.

/// A flag of the command line, as part of a key's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag {
    /// The heading below which help lists it.
    pub group: Group,
    /// Its spelling in help: `-c, --connections <N>`. One without a value in angle brackets is a
    /// switch.
    pub usage: &'static str,
    /// Its description in help.
    pub help: &'static str,
    /// The commands that have it.
    pub on: On,
    /// The commands whose help leaves it out.
    pub hidden_on: On,
    /// Whether `-h` lists it, which has the flags of a first day.
    pub is_first: bool,
    /// The kind of its number, if its key is not a plain count.
    pub number: Number,
    /// Whether one value may list several, with commas between them.
    pub is_separated: bool,
    /// The value of a flag that may stand without one.
    pub without_value: Option<&'static str>,
    /// The value that a switch sets, if it is not `true`, or `false` for a `--no-…`.
    pub sets: Option<&'static str>,
    /// Another spelling, which help leaves out.
    pub alias: Option<&'static str>,
    /// The words that completions offer as values.
    pub choices: &'static [&'static str],
    /// The flag that it needs, by its long name.
    pub needs: Option<&'static str>,
    /// The flags that it contradicts, by their long names.
    pub excludes: &'static [&'static str],
}

/// Functions that give a flag with one more property.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($($value:ident: $type:ty)?): $field:ident = $of:expr;)*) => {
        $($(#[$doc])*
        pub(crate) const fn $name(self $(, $value: $type)?) -> Self {
            Self { $field: $of, ..self }
        })*
    };
}

impl Flag {
    /// A flag of the commands that usually have flags of this group.
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
        /// The flag of these commands.
        on(commands: On): on = commands;
        /// The flag without a line in the help of these commands.
        hidden(commands: On): hidden_on = commands;
        /// The flag as one that `-h` lists.
        first(): is_first = true;
        /// The flag with a number of this kind.
        number(kind: Number): number = kind;
        /// The flag with several values, with commas between them.
        separated(): is_separated = true;
        /// The flag that means this value without one.
        without_value(value: &'static str): without_value = Some(value);
        /// The switch that sets this value.
        sets(value: &'static str): sets = Some(value);
        /// The flag with another spelling.
        alias(long: &'static str): alias = Some(long);
        /// The flag whose value is one of these words.
        choices(words: &'static [&'static str]): choices = words;
        /// The flag that has no effect without another.
        needs(long: &'static str): needs = Some(long);
        /// The flag that contradicts others.
        excludes(longs: &'static [&'static str]): excludes = longs;
    }

    /// The flag in messages: its letter, if it has one.
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

/// The headings of help, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// The plan itself.
    Plan,
    /// Calls.
    Call,
    /// The schema of calls.
    Schema,
    /// The streams of calls.
    Streams,
    /// Requests.
    Request,
    /// Values that vary.
    Data,
    /// When requests start, how many, and for how long.
    Load,
    /// Connections.
    Connections,
    /// Limits in time.
    Timeouts,
    /// TLS.
    Tls,
    /// The way to the target.
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

    /// The commands that have its flags, unless a flag has others.
    const fn on(self) -> On {
        match self {
            Self::Plan => On::RUN,
            Self::Request => On::HTTP,
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
    /// `drumfire resume`, which has the flags of `drumfire report`, too.
    pub const RESUME: Self = Self(32);
    /// The commands whose flags describe requests.
    pub(crate) const SENDS: Self = Self::HTTP.and(Self::GRPC);
    /// The commands whose flags describe a load.
    pub(crate) const LOADS: Self = Self::SENDS.and(Self::RUN);
    /// The commands that run a plan from its start.
    pub(crate) const OUTPUTS: Self = Self::LOADS.and(Self::ATTACH);
    /// The commands during which a load runs.
    pub(crate) const RUNS: Self = Self::OUTPUTS.and(Self::RESUME);
    /// The commands that print results.
    pub(crate) const RESULTS: Self = Self::OUTPUTS.and(Self::REPORT);

    /// The commands of either set.
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
