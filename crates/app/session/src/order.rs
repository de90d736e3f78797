//! A command as a user writes it: an act, its argument and the pool's name, in `drumfire ctl` and
//! on the run's page.

use drumfire_measure::RunInfo;
use drumfire_plan::{Change, ChangeKind, Command, Sequence, StopReason, UserSteps, suggestion_of};

/// A command as a user writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order<'a> {
    /// The kind of change.
    pub act: ChangeKind,
    /// The rate or the number of users, a law of either, or the text of a mark; `None` means no
    /// argument.
    pub argument: Option<&'a str>,
    /// The pool's name; `None` means all pools.
    pub pool: Option<&'a str>,
}

impl Order<'_> {
    /// The command, for the run with these facts.
    ///
    /// # Errors
    /// If the command is invalid for that run. The text contains a correction, with the unescaped
    /// names of the run's pools.
    pub fn command(&self, info: &RunInfo) -> Result<Command, String> {
        let argument = self.checked_argument()?;
        let texts = [self.pool.unwrap_or_default(), argument];
        if texts.iter().any(|text| text.contains(['\t', '\n'])) {
            return Err("a pool name or a mark must be one line without tabs".to_owned());
        }
        let pool = self.pool.map(|name| pool_of(name, info)).transpose()?;
        Ok(Command {
            pool,
            ..Command::soon(change(self.act, argument)?)
        })
    }

    fn checked_argument(&self) -> Result<&str, String> {
        let missing = |what: &str| Err(what.to_owned());
        match (self.act, self.argument) {
            (ChangeKind::Rate, None) => missing("write the rate, such as 500/s"),
            (ChangeKind::Users, None) => missing("write the number of users, such as 50"),
            (ChangeKind::Mark, None) => missing("write the text of the mark"),
            (ChangeKind::Pause | ChangeKind::Resume | ChangeKind::Stop, Some(text)) => {
                let name = self.act.name();
                Err(format!("`{name}` takes no value; remove `{text}`"))
            }
            (_, argument) => Ok(argument.unwrap_or_default()),
        }
    }
}

/// The number of the pool with this name.
fn pool_of(name: &str, info: &RunInfo) -> Result<u16, String> {
    let found = (0..).zip(&info.pools).find(|(_, pool)| pool.name == name);
    found.map(|(number, _)| number).ok_or_else(|| {
        let names = info.pools.iter().map(|pool| pool.name.as_str());
        format!(
            "the run has no pool `{name}`{}",
            suggestion_of(name, names, "pools")
        )
    })
}

fn change(act: ChangeKind, argument: &str) -> Result<Change, String> {
    let law = || {
        let law = argument.parse::<Sequence>();
        // The text is short, so that a position in it is of no use.
        law.map_err(|error| error.message)
    };
    Ok(match act {
        ChangeKind::Rate if is_nothing(argument) => {
            return Err("a rate must be above 0; to stop arrivals, use `pause`".to_owned());
        }
        ChangeKind::Rate => Change::Rate { law: law()? },
        ChangeKind::Users => Change::Users {
            law: match argument.parse() {
                Ok(count) => UserSteps::constant(count),
                Err(_) => UserSteps::of_law(&law()?)?.0,
            },
        },
        ChangeKind::Pause => Change::Pause,
        ChangeKind::Resume => Change::Resume,
        // The text appears in a line of a report.
        ChangeKind::Mark => Change::Mark {
            text: argument.chars().filter(|c| !c.is_control()).collect(),
        },
        ChangeKind::Stop => Change::Stop {
            reason: StopReason::Command,
        },
    })
}

/// Whether a rate is zero.
fn is_nothing(rate: &str) -> bool {
    let number = rate
        .trim()
        .trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '/');
    number.parse() == Ok(0.0)
}

#[cfg(test)]
mod tests {
    use super::Order;
    use drumfire_measure::{Model, PoolInfo, RunInfo};
    use drumfire_plan::ChangeKind;

    #[test]
    fn a_mistake_has_no_position() {
        let info = RunInfo::new(vec![PoolInfo::new("main", Model::Open, ["GET /"])]);
        let order = Order {
            act: ChangeKind::Rate,
            argument: Some("5x/s"),
            pool: None,
        };
        let why = order.command(&info).expect_err("it is no rate");
        assert!(why.starts_with("`5x/s` is neither"), "{why}");
    }
}
