//! Flags that set keys of a document, as the rows of the keys describe them.

use super::number;
use clap::builder::{PossibleValuesParser, ValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use drumfire_document::flags::{self, Flag, FlagRow, Given, Number, On};
use drumfire_document::form::KeyValue;
use drumfire_document::{Diagnostic, Document};

/// Flags whose parsers report a number below 0, by their long names.
const SIGNED: [&str; 6] = [
    "rate",
    "connections",
    "users",
    "requests",
    "streams",
    "stream-count",
];

/// The flags of settings that were given to a command of the set `ON`.
#[derive(Clone, Debug)]
pub(crate) struct SettingFlags<const ON: u8>(Vec<Given>);

/// The settings of `drumfire http`.
pub(crate) type HttpSettings = SettingFlags<{ On::HTTP.0 }>;
/// The settings of `drumfire grpc`.
pub(crate) type GrpcSettings = SettingFlags<{ On::GRPC.0 }>;
/// The settings of `drumfire llm`.
pub(crate) type LlmFlagSettings = SettingFlags<{ On::LLM.0 }>;
/// The settings of `drumfire ws`.
pub(crate) type WsSettings = SettingFlags<{ On::WS.0 }>;
/// The settings of `drumfire run`.
pub(crate) type RunSettings = SettingFlags<{ On::RUN.0 }>;
/// The settings of `drumfire cluster attach`.
pub(crate) type AttachSettings = SettingFlags<{ On::ATTACH.0 }>;
/// The settings of `drumfire report`.
pub(crate) type ReportSettings = SettingFlags<{ On::REPORT.0 }>;
/// The settings that `drumfire resume` has in addition to [`ReportSettings`].
pub(crate) type ResumeSettings = SettingFlags<{ On::RESUME.0 }>;

impl<const ON: u8> SettingFlags<ON> {
    /// The given flags, in the order of the help.
    pub(crate) fn given(&self) -> &[Given] {
        &self.0
    }

    /// Whether a flag was given, by its long name.
    pub(crate) fn has(&self, long: &str) -> bool {
        self.find(long).is_some()
    }

    /// The last value of a flag.
    pub(crate) fn value(&self, long: &str) -> Option<&str> {
        self.values(long).last().map(String::as_str)
    }

    /// All values of a flag.
    pub(crate) fn values(&self, long: &str) -> &[String] {
        self.find(long).map_or(&[], |given| &given.values)
    }

    /// The document of the flags, without the special ones.
    ///
    /// # Errors
    /// The mistakes in their values.
    pub(crate) fn document(&self) -> Result<Document, Vec<Diagnostic>> {
        match flags::read(&self.0) {
            (document, found) if found.is_empty() => Ok(document),
            (_, found) => Err(found),
        }
    }

    fn find(&self, long: &str) -> Option<&Given> {
        let is_known = flags::of_command(On(ON))
            .iter()
            .any(|row| row.flag.long() == long);
        debug_assert!(is_known, "no row has the flag --{long}");
        self.0.iter().find(|given| given.row.flag.long() == long)
    }
}

impl<const ON: u8> Args for SettingFlags<ON> {
    fn augment_args(command: Command) -> Command {
        let rows = flags::of_command(On(ON));
        command.args(rows.iter().map(|row| {
            // A flag that another one excludes is not missing to clap, so that a flag which needs it
            // would be accepted without it.
            let needs = row.flag.needs;
            let is_rival = |excludes: &[&str]| needs.is_some_and(|it| excludes.contains(&it));
            let rivals = rows.iter().filter(|rival| is_rival(rival.flag.excludes));
            let arg =
                argument(row, On(ON)).conflicts_with_all(rivals.map(|rival| rival.flag.long()));
            // Another command has the flag without the one that it needs.
            let is_here = |long: &str| rows.iter().any(|other| other.flag.long() == long);
            match needs.filter(|long| is_here(long)) {
                Some(other) => arg.requires(other),
                None => arg,
            }
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const ON: u8> FromArgMatches for SettingFlags<ON> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let rows = flags::of_command(On(ON)).into_iter();
        let given = rows.filter_map(|row| {
            let id = row.flag.long();
            let is_given = matches.value_source(id) == Some(ValueSource::CommandLine);
            let values = match row.flag.value() {
                Some(_) => matches
                    .get_many::<String>(id)
                    .into_iter()
                    .flatten()
                    .cloned()
                    .collect(),
                None => Vec::new(),
            };
            is_given.then_some(Given { row, values })
        });
        Ok(Self(given.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The argument for a row, for the commands of a set.
fn argument(row: &FlagRow, on: On) -> Arg {
    let flag = row.flag;
    // Commands that only print results have one list of flags.
    let heading = match on == On::REPORT || on == On::RESUME {
        true => None,
        false => Some(flag.group.heading()),
    };
    let arg = Arg::new(flag.long())
        .long(flag.long())
        .help(flag.help)
        .help_heading(heading)
        .hide(flag.hidden_on.has(on))
        .conflicts_with_all(flag.excludes.iter().copied());
    let arg = match flag.short() {
        Some(letter) => arg.short(letter),
        None => arg,
    };
    let arg = match flag.alias {
        Some(alias) => arg.alias(alias),
        None => arg,
    };
    let Some(value) = flag.value() else {
        return arg.action(ArgAction::SetTrue);
    };
    let is_number = is_number(row);
    let arg = arg
        .value_name(value)
        .allow_negative_numbers(SIGNED.contains(&flag.long()))
        .action(match row.key.value {
            _ if row.is_special() && is_repeatable(flag) => ArgAction::Append,
            KeyValue::List | KeyValue::Mapping => ArgAction::Append,
            _ => ArgAction::Set,
        });
    let arg = match flag.without_value {
        Some(missing) => arg
            .num_args(0..=1)
            .require_equals(flag.needs_equals())
            .default_missing_value(missing),
        None => arg,
    };
    let arg = match flag.is_separated {
        true => arg.value_delimiter(','),
        false => arg,
    };
    match is_number {
        true => arg.value_parser(number_parser(flag.number)),
        false => arg,
    }
}

/// Whether a special flag may be given several times.
fn is_repeatable(flag: &Flag) -> bool {
    ["feed", "form"].contains(&flag.long())
}

fn is_number(row: &FlagRow) -> bool {
    row.key.value == KeyValue::Count || row.flag.number != Number::Plain
}

/// The parser of a number, which returns its digits.
fn number_parser(kind: Number) -> ValueParser {
    let parse: fn(&str) -> Result<String, String> = match kind {
        Number::Plain => |text| number::count(text).map(|number| number.to_string()),
        Number::Small => |text| number::small_count(text).map(|number| number.to_string()),
        Number::Failures => |text| number::failures(text).map(|number| number.to_string()),
        Number::Redirects => |text| number::redirects(text).map(|number| number.to_string()),
    };
    ValueParser::new(parse)
}

/// A command whose flags list their choices, for completions. A normal command parses choices as
/// plain text, because the compiler's messages name the key.
pub(crate) fn with_choices(command: Command) -> Command {
    let rows = flags::of_command(On(u8::MAX));
    let rows = rows.iter().filter(|row| !row.flag.choices.is_empty());
    rows.fold(command, |command, row| {
        let has_it = command
            .get_arguments()
            .any(|arg| arg.get_id() == row.flag.long());
        match has_it {
            true => command.mut_arg(row.flag.long(), |arg| {
                let words = PossibleValuesParser::new(row.flag.choices.iter().copied());
                arg.value_parser(words)
            }),
            false => command,
        }
    })
}

/// Whether `-h` lists the flag of a setting.
pub(crate) fn is_first(id: &str) -> bool {
    let rows = flags::of_command(On(u8::MAX));
    rows.iter()
        .any(|row| row.flag.is_first && row.flag.long() == id)
}

/// The flags of a load whose value is the file of a result, or `-` for standard output.
pub(crate) fn result_flags() -> impl Iterator<Item = &'static str> {
    let rows = flags::of_command(On::HTTP).into_iter();
    let rows = rows.filter(|row| row.flag.value() == Some("FILE") && !row.flag.needs_equals());
    rows.filter(|row| row.plan_key().starts_with("outputs."))
        .map(|row| row.flag.name())
}
