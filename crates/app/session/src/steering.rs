//! The load of a run after commands, for the answers to them.
//!
//! Each command is checked before it is sent ([`Steering::carry_out`]): a command that would change
//! nothing is not sent. A sent command is recorded ([`Steering::note`]), which returns the answer.
//!
//! The state follows the commands in the order in which its owner records them, not by the times at
//! which they take effect: a socket records every command that the run received, a screen every
//! change of the run. The state is only used for texts, for relative changes of the load
//! ([`Steering::scaled`]), and to detect commands without effect.

use drumfire_engine::Control;
use drumfire_measure::{AskedLoad, PoolInfo, RunInfo};
use drumfire_plan::{Change, Command, Sequence, UserSteps};
use drumfire_units::Nanos;

/// The load of each pool after the last commands.
#[derive(Debug)]
pub struct Steering {
    /// The run's id, for answers.
    run: String,
    pools: Vec<PoolLoad>,
}

/// The load of one pool, as shown in an answer.
#[derive(Debug)]
struct PoolLoad {
    /// The pool's name, for answers of a run with several pools.
    name: String,
    /// The rate or the number of users, or a law of either.
    law: String,
    /// Whether a command has paused the load.
    is_paused: bool,
}

impl Steering {
    /// The load of a run at its beginning, as in its plan.
    #[must_use]
    pub fn new(info: &RunInfo) -> Self {
        let pools = info.pools.iter().map(|pool| PoolLoad {
            name: pool.name.clone(),
            law: asked(pool),
            is_paused: false,
        });
        Self {
            run: info.id.clone(),
            pools: pools.collect(),
        }
    }

    /// Sends a command, unless it would change nothing. Returns the answer as text.
    ///
    /// # Errors
    /// If the run refuses the command; the text has the reason.
    pub fn carry_out(&mut self, command: &Command, control: &Control) -> Result<String, String> {
        if let Some(idle) = self.idle(command) {
            return Ok(idle);
        }
        let sent = control.send(command.clone());
        let at = sent.map_err(|error| error.to_string())?;
        Ok(self.note(command, at))
    }

    /// The answer to a command that changes nothing.
    fn idle(&self, command: &Command) -> Option<String> {
        let pools: Vec<&PoolLoad> = self.concerned(command).collect();
        let all = |is_so: &dyn Fn(&PoolLoad) -> bool| pools.iter().all(|pool| is_so(pool));
        let run = &self.run;
        let why = match &command.change {
            Change::Rate { law } => {
                let law = short(law);
                // Setting a law again restarts it; setting the same rate changes nothing.
                (!law.contains('(') && all(&|pool| pool.law == law))
                    .then(|| format!("the rate of run {run} is already {law}"))
            }
            Change::Users { law } => {
                let law = number(law)?;
                all(&|pool| pool.law == law).then(|| format!("run {run} already has {law} users"))
            }
            Change::Pause => {
                all(&|pool| pool.is_paused).then(|| format!("run {run} is already paused"))
            }
            Change::Resume => {
                all(&|pool| !pool.is_paused).then(|| format!("run {run} is not paused"))
            }
            Change::Mark { .. } | Change::Stop { .. } => None,
        };
        why.map(|why| format!("{why}: nothing changed"))
    }

    /// Records a command that takes effect at a time of the run. Returns the answer.
    pub fn note(&mut self, command: &Command, at: Nanos) -> String {
        let of = match command
            .pool
            .and_then(|pool| self.pools.get(usize::from(pool)))
        {
            Some(pool) if self.pools.len() > 1 => format!(" of {}", pool.name),
            _ => String::new(),
        };
        let before = self.concerned(command).next();
        let before = before.map_or_else(String::new, |pool| pool.law.clone());
        let at = format!("{:.1} s in run {}", at.as_secs_f64(), self.run);
        match &command.change {
            Change::Rate { law } => {
                let law = short(law);
                self.set(command, |pool| pool.law.clone_from(&law));
                format!("rate{of} {law} from {at}, was {before}")
            }
            Change::Users { law } => {
                let law = number(law).unwrap_or_else(|| "another law".to_owned());
                self.set(command, |pool| pool.law.clone_from(&law));
                format!("users{of} {law} from {at}, were {before}")
            }
            Change::Pause => {
                self.set(command, |pool| pool.is_paused = true);
                format!("load{of} paused from {at}")
            }
            Change::Resume => {
                self.set(command, |pool| pool.is_paused = false);
                format!("load{of} resumed from {at}")
            }
            Change::Mark { .. } => format!("marked at {at}"),
            Change::Stop { .. } => format!("load{of} ends at {at}"),
        }
    }

    /// The load of each pool, as text: `400/s`, `a: 5 users; b: paused, resumes with 20/s`.
    #[must_use]
    pub fn load(&self) -> String {
        let of_pool = |pool: &PoolLoad| {
            let name = match self.pools.len() {
                1 => String::new(),
                _ => format!("{}: ", pool.name),
            };
            let law = match pool.law.parse::<u32>() {
                Ok(1) => "1 user".to_owned(),
                Ok(users) => format!("{users} users"),
                Err(_) => pool.law.clone(),
            };
            match pool.is_paused {
                true => format!("{name}paused, resumes with {law}"),
                false => format!("{name}{law}"),
            }
        };
        let pools: Vec<String> = self.pools.iter().map(of_pool).collect();
        pools.join("; ")
    }

    /// Whether every pool is paused.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.pools.iter().all(|pool| pool.is_paused)
    }

    /// The commands that multiply the load of one pool, or of all pools, by a factor above 0. A
    /// number of users changes by at least one.
    ///
    /// # Errors
    /// If a load is not a single rate or number of users; the text has an alternative.
    pub fn scaled(&self, pool: Option<u16>, factor: f64) -> Result<Vec<Command>, String> {
        let pools = (0..).zip(&self.pools);
        let concerned = pools.filter(|(id, _)| pool.is_none_or(|only| only == *id));
        let scaled = concerned.map(|(id, load)| {
            Ok(Command {
                pool: Some(id),
                ..Command::soon(scaled(&load.law, factor)?)
            })
        });
        scaled.collect()
    }

    /// The pools that a command concerns: one, or all.
    fn concerned(&self, command: &Command) -> impl Iterator<Item = &PoolLoad> {
        let only = command.pool;
        let pools = (0..).zip(&self.pools);
        pools
            .filter(move |(id, _)| only.is_none_or(|only| only == *id))
            .map(|(_, pool)| pool)
    }

    /// Applies a change to the pools that a command concerns.
    fn set(&mut self, command: &Command, change: impl Fn(&mut PoolLoad)) {
        let only = command.pool;
        for (id, pool) in (0..).zip(&mut self.pools) {
            if only.is_none_or(|only| only == id) {
                change(pool);
            }
        }
    }
}

/// A load multiplied by a factor.
fn scaled(law: &str, factor: f64) -> Result<Change, String> {
    if let Ok(users) = law.parse::<u32>() {
        let scaled = (f64::from(users) * factor).round() as u32;
        let scaled = match factor > 1.0 {
            true => scaled.max(users.saturating_add(1)),
            false => scaled.min(users.saturating_sub(1)).max(1),
        };
        let law = UserSteps::constant(scaled);
        return Ok(Change::Users { law });
    }
    let wrong = || {
        format!(
            "the load is {law}, not a single rate or number of users; set one with `drumfire ctl`"
        )
    };
    let (number, per) = law.split_once('/').ok_or_else(wrong)?;
    let rate: f64 = number.replace(',', "").parse().map_err(|_| wrong())?;
    let scaled = match rate * factor {
        scaled if scaled >= 10.0 => scaled.round(),
        scaled => (scaled * 100.0).round().max(1.0) / 100.0,
    };
    let law = format!("{scaled}/{per}").parse();
    Ok(Change::Rate {
        law: law.map_err(|_| wrong())?,
    })
}

/// The load of a plan, as text for an answer.
fn asked(pool: &PoolInfo) -> String {
    match pool.asked.as_ref().map(|asked| &asked.load) {
        Some(AskedLoad::Open { law, .. }) => plain(&law.to_string()),
        Some(AskedLoad::Closed { users, .. } | AskedLoad::PerUser { users, .. }) => {
            users.to_string()
        }
        None => "the plan's load".to_owned(),
    }
}

/// A law as written in a plan.
fn short(law: &Sequence) -> String {
    plain(&law.to_string())
}

/// `300/s` for `const(300/s)`.
fn plain(law: &str) -> String {
    let inside = law.strip_prefix("const(");
    let inside = inside.and_then(|law| law.strip_suffix(')'));
    let rate = inside.filter(|inside| !inside.contains([',', '(', ')']));
    rate.unwrap_or(law).to_owned()
}

/// The number of users, if it is constant.
fn number(law: &UserSteps) -> Option<String> {
    match law.changes() {
        [(_, count)] => Some(count.to_string()),
        _ => None,
    }
}
