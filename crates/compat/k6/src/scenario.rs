//! Scenarios: executors with names.

use drumfire_units::Nanos;
use serde_json::{Map, Value};

use crate::error::OptionsError;
use crate::executor::{Executor, Stage, Users};

/// The time that iterations have after the regular duration, by default.
const GRACE: Nanos = Nanos(30_000_000_000);

/// A scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The name.
    pub name: String,
    /// How iterations start.
    pub executor: Executor,
    /// When the scenario starts, from the begin of the run.
    pub start: Nanos,
    /// The time that iterations have after the regular duration.
    pub graceful_stop: Nanos,
    /// The exported function that an iteration calls.
    pub exec: String,
    /// Environment variables of this scenario, above those of the run.
    pub env: Vec<(String, String)>,
    /// Tags of all samples of this scenario.
    pub tags: Vec<(String, String)>,
}

impl Scenario {
    /// A scenario with the options that an executor has if a shortcut made it.
    pub(crate) fn of_shortcut(executor: Executor) -> Self {
        Self {
            name: "default".to_owned(),
            executor,
            start: Nanos::ZERO,
            graceful_stop: GRACE,
            exec: "default".to_owned(),
            env: Vec::new(),
            tags: Vec::new(),
        }
    }

    /// Read a member of `scenarios`.
    pub(crate) fn parse(name: &str, value: &Value) -> Result<Self, OptionsError> {
        let allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
        if name.is_empty() || !name.chars().all(allowed) {
            return Err(OptionsError(format!(
                "invalid name `{name}` of a scenario; use letters, digits, `_` and `-`"
            )));
        }
        let Value::Object(map) = value else {
            return Err(OptionsError(format!("scenario {name} is not an object")));
        };
        let mut keys = Keys {
            of: name,
            map: map.clone(),
        };
        let executor = keys.executor()?;
        let scenario = Self {
            name: name.to_owned(),
            executor,
            start: keys.duration("startTime")?.unwrap_or(Nanos::ZERO),
            graceful_stop: keys.duration("gracefulStop")?.unwrap_or(GRACE),
            exec: keys.text("exec")?.unwrap_or_else(|| "default".to_owned()),
            env: keys.texts("env")?,
            tags: keys.texts("tags")?,
        };
        keys.finish()?;
        if scenario.executor.duration() < Nanos(1_000_000_000) {
            return Err(OptionsError(format!(
                "scenario {name}: the duration must be at least 1s"
            )));
        }
        Ok(scenario)
    }
}

/// The keys of a scenario that were not read yet.
struct Keys<'a> {
    of: &'a str,
    map: Map<String, Value>,
}

impl Keys<'_> {
    fn error(&self, message: &str) -> OptionsError {
        OptionsError(format!("scenario {}: {message}", self.of))
    }

    fn executor(&mut self) -> Result<Executor, OptionsError> {
        let name = self
            .text("executor")?
            .ok_or_else(|| self.error("`executor` is missing"))?;
        match name.as_str() {
            "shared-iterations" | "per-vu-iterations" => self.iterations(&name),
            "constant-vus" => Ok(Executor::ConstantUsers {
                users: self.positive("vus", 1)?,
                duration: self.required_duration("duration")?,
            }),
            "ramping-vus" => Ok(Executor::RampingUsers {
                start: self.number("startVUs")?.unwrap_or(1),
                stages: self.stages()?,
                graceful_ramp_down: self.duration("gracefulRampDown")?.unwrap_or(GRACE),
            }),
            "constant-arrival-rate" => Ok(Executor::ConstantArrivals {
                rate: self.number("rate")?.ok_or_else(|| self.error("`rate` is missing"))?,
                unit: self.unit()?,
                duration: self.required_duration("duration")?,
                users: self.users()?,
            }),
            "ramping-arrival-rate" => Ok(Executor::RampingArrivals {
                start: self.number("startRate")?.unwrap_or(0),
                unit: self.unit()?,
                stages: self.stages()?,
                users: self.users()?,
            }),
            "externally-controlled" => Err(self.error(
                "k6 removed the executor `externally-controlled` in v2.0; change a running load with drumfire ctl",
            )),
            name => Err(self.error(&format!(
                "unknown executor `{name}`; use shared-iterations, per-vu-iterations, constant-vus, ramping-vus, \
                 constant-arrival-rate or ramping-arrival-rate"
            ))),
        }
    }

    fn iterations(&mut self, name: &str) -> Result<Executor, OptionsError> {
        let users = self.positive("vus", 1)?;
        let iterations = self.positive("iterations", 1)?;
        let duration_max = self
            .duration("maxDuration")?
            .unwrap_or(Nanos(600_000_000_000));
        if name == "per-vu-iterations" {
            return Ok(Executor::PerUserIterations {
                users,
                iterations,
                duration_max,
            });
        }
        if iterations < users {
            return Err(self.error(&format!(
                "{iterations} iterations cannot be shared by {users} users; use at most as many `vus`"
            )));
        }
        Ok(Executor::SharedIterations {
            users,
            iterations,
            duration_max,
        })
    }

    fn users(&mut self) -> Result<Users, OptionsError> {
        let missing = |keys: &Self| keys.error("`preAllocatedVUs` is missing");
        let allocated = self
            .number("preAllocatedVUs")?
            .ok_or_else(|| missing(self))?;
        let max = self.number("maxVUs")?.unwrap_or(allocated);
        if max < allocated || max == 0 {
            return Err(self.error("`maxVUs` must be at least 1 and at least `preAllocatedVUs`"));
        }
        Ok(Users { allocated, max })
    }

    fn unit(&mut self) -> Result<Nanos, OptionsError> {
        let unit = self.duration("timeUnit")?.unwrap_or(Nanos(1_000_000_000));
        if unit == Nanos::ZERO {
            Err(self.error("`timeUnit` must be above 0"))
        } else {
            Ok(unit)
        }
    }

    fn stages(&mut self) -> Result<Vec<Stage>, OptionsError> {
        let value = self
            .map
            .remove("stages")
            .ok_or_else(|| self.error("`stages` is missing"))?;
        stages(&value).map_err(|message| self.error(&message))
    }

    fn number(&mut self, key: &str) -> Result<Option<u64>, OptionsError> {
        let Some(value) = self.map.remove(key).filter(|value| !value.is_null()) else {
            return Ok(None);
        };
        let number = whole(&value);
        number
            .map(Some)
            .ok_or_else(|| self.error(&format!("`{key}` must be a whole number from 0")))
    }

    fn positive(&mut self, key: &str, default: u64) -> Result<u64, OptionsError> {
        match self.number(key)?.unwrap_or(default) {
            0 => Err(self.error(&format!("`{key}` must be above 0"))),
            number => Ok(number),
        }
    }

    fn required_duration(&mut self, key: &str) -> Result<Nanos, OptionsError> {
        self.duration(key)?
            .ok_or_else(|| self.error(&format!("`{key}` is missing")))
    }

    fn duration(&mut self, key: &str) -> Result<Option<Nanos>, OptionsError> {
        let Some(value) = self.map.remove(key).filter(|value| !value.is_null()) else {
            return Ok(None);
        };
        duration(&value)
            .map(Some)
            .map_err(|message| self.error(&format!("`{key}`: {message}")))
    }

    fn text(&mut self, key: &str) -> Result<Option<String>, OptionsError> {
        match self.map.remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.error(&format!("`{key}` must be a text"))),
        }
    }

    fn texts(&mut self, key: &str) -> Result<Vec<(String, String)>, OptionsError> {
        match self.map.remove(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Object(map)) => Ok(map
                .into_iter()
                .map(|(name, value)| {
                    (
                        name,
                        value
                            .as_str()
                            .map_or_else(|| value.to_string(), str::to_owned),
                    )
                })
                .collect()),
            Some(_) => Err(self.error(&format!("`{key}` must be an object"))),
        }
    }

    fn finish(self) -> Result<(), OptionsError> {
        match self.map.keys().next() {
            None => Ok(()),
            Some(key) => Err(self.error(&format!("the executor has no key `{key}`"))),
        }
    }
}

/// A whole number, also one that is written as a text, as environment variables are.
pub(crate) fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// A duration: a number of milliseconds, or a text.
pub(crate) fn duration(value: &Value) -> Result<Nanos, String> {
    match value {
        Value::String(text) => crate::parse_duration(text),
        Value::Number(number) => crate::parse_duration(&number.to_string()),
        other => Err(format!(
            "invalid duration {other}; use a text such as \"30s\""
        )),
    }
}

/// Stages: objects with `duration` and `target`.
pub(crate) fn stages(value: &Value) -> Result<Vec<Stage>, String> {
    let Value::Array(list) = value else {
        return Err("`stages` must be a list".to_owned());
    };
    let stages = list.iter().enumerate().map(|(at, stage)| {
        let wrong = |message: String| format!("stage {}: {message}", at + 1);
        let part = |key: &str| stage.get(key).filter(|value| !value.is_null());
        let time = part("duration")
            .map_or(Ok(Nanos::ZERO), duration)
            .map_err(wrong)?;
        let target = part("target").map_or(Some(0), whole);
        let target =
            target.ok_or_else(|| wrong("`target` must be a whole number from 0".to_owned()))?;
        Ok(Stage {
            duration: time,
            target,
        })
    });
    stages.collect()
}
