//! Options: of a file, of the script, of the environment and of the command line.

use std::fmt;

use drumfire_units::Nanos;
use serde_json::{Map, Value};

use crate::error::OptionsError;
use crate::executor::Executor;
use crate::scenario::{Scenario, duration, stages, whole};
use crate::threshold::{Selection, ThresholdRule};

/// Where options come from. A later one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The file of `-c`.
    File,
    /// The `options` that the script exports.
    Script,
    /// Environment variables.
    Environment,
    /// Flags.
    CommandLine,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "file",
            Self::Script => "script",
            Self::Environment => "env",
            Self::CommandLine => "cli",
        })
    }
}

/// The options of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The scenarios, in the order of their names.
    pub scenarios: Vec<Scenario>,
    /// The thresholds of each selection of samples.
    pub thresholds: Vec<(Selection, Vec<ThresholdRule>)>,
    /// All other options that are known, as they were written.
    pub others: Map<String, Value>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// The keys that decide how iterations start. A layer with one of them replaces all of lower layers.
const EXECUTION: [&str; 4] = ["duration", "iterations", "stages", "scenarios"];

/// The pairs of these keys that one layer may not have.
const CONFLICTS: [(&str, &str); 5] = [
    ("iterations", "stages"),
    ("iterations", "scenarios"),
    ("duration", "stages"),
    ("duration", "scenarios"),
    ("stages", "scenarios"),
];

/// The other keys.
const OTHERS: [&str; 43] = [
    "batch",
    "batchPerHost",
    "blacklistIPs",
    "blockHostnames",
    "cloud",
    "discardResponseBodies",
    "dns",
    "executionSegment",
    "executionSegmentSequence",
    "ext",
    "features",
    "handleSummaryTimeout",
    "hosts",
    "httpDebug",
    "insecureSkipTLSVerify",
    "maxRedirects",
    "metricSamplesBufferSize",
    "minIterationDuration",
    "noConnectionReuse",
    "noCookiesReset",
    "noSetup",
    "noTeardown",
    "noThresholds",
    "noVUConnectionReuse",
    "paused",
    "rps",
    "setupTimeout",
    "summaryTimeUnit",
    "summaryTrendStats",
    "systemTags",
    "tags",
    "teardownTimeout",
    "thresholds",
    "throw",
    "tlsAuth",
    "tlsCipherSuites",
    "tlsVersion",
    "userAgent",
    "vus",
    "consoleOutput",
    "localIPs",
    "linger",
    "address",
];

impl Options {
    /// The options of a run from its layers, the lowest first.
    ///
    /// # Errors
    ///
    /// The first mistake.
    pub fn consolidate(layers: &[(Layer, Map<String, Value>)]) -> Result<Self, OptionsError> {
        let mut merged = Map::new();
        let mut warnings = Vec::new();
        for (layer, values) in layers {
            merge(&mut merged, *layer, values, &mut warnings)?;
        }
        let scenarios = scenarios(&mut merged, &mut warnings)?;
        let thresholds = match merged.remove("thresholds") {
            None => Vec::new(),
            Some(value) => thresholds(&value, &mut warnings)?,
        };
        Ok(Self {
            scenarios,
            thresholds,
            others: merged,
            warnings,
        })
    }
}

fn merge(
    merged: &mut Map<String, Value>,
    layer: Layer,
    values: &Map<String, Value>,
    warnings: &mut Vec<String>,
) -> Result<(), OptionsError> {
    let is_set = |key: &str| values.get(key).is_some_and(|value| !value.is_null());
    if let Some((one, other)) = CONFLICTS
        .iter()
        .find(|(one, other)| is_set(one) && is_set(other))
    {
        return Err(OptionsError(format!(
            "using `{one}` and `{other}` options simultaneously is not allowed"
        )));
    }
    if EXECUTION.iter().any(|key| is_set(key)) {
        if merged.contains_key("scenarios") {
            warnings.push(format!(
                "\"{layer}\" level configuration overrode scenarios configuration entirely"
            ));
        }
        EXECUTION.iter().for_each(|key| drop(merged.remove(*key)));
    }
    for (key, value) in values {
        if !EXECUTION.contains(&key.as_str()) && !OTHERS.contains(&key.as_str()) {
            warnings.push(unknown(key));
        } else if !value.is_null() {
            merged.insert(key.clone(), value.clone());
        }
    }
    Ok(())
}

fn unknown(key: &str) -> String {
    let near = EXECUTION.iter().chain(&OTHERS).find(|known| {
        let same_letters = known.eq_ignore_ascii_case(key);
        same_letters
            || known
                .strip_prefix(key)
                .or_else(|| key.strip_prefix(*known))
                .is_some_and(|rest| rest.len() == 1)
    });
    match near {
        Some(known) => format!("options has no key `{key}`; did you mean `{known}`?"),
        None => format!("options has no key `{key}`"),
    }
}

/// The scenarios, or the one that the shortcuts mean.
fn scenarios(
    merged: &mut Map<String, Value>,
    warnings: &mut Vec<String>,
) -> Result<Vec<Scenario>, OptionsError> {
    let wrong = |key: &str, message: &str| OptionsError(format!("`{key}`: {message}"));
    let vus = merged
        .get("vus")
        .map(|value| whole(value).ok_or_else(|| wrong("vus", "use a whole number")));
    let vus = vus.transpose()?;
    let duration = merged
        .remove("duration")
        .map(|value| duration(&value))
        .transpose();
    let duration = duration.map_err(|message| wrong("duration", &message))?;
    let users = vus.unwrap_or(1);
    if let Some(iterations) = merged.remove("iterations") {
        let iterations =
            whole(&iterations).ok_or_else(|| wrong("iterations", "use a whole number"))?;
        if iterations < users {
            return Err(wrong(
                "iterations",
                &format!("{iterations} cannot be shared by {users} users"),
            ));
        }
        return Ok(vec![shared(users, iterations, duration)]);
    }
    if let Some(duration) = duration {
        return Ok(vec![Scenario::of_shortcut(Executor::ConstantUsers {
            users,
            duration,
        })]);
    }
    if let Some(value) = merged.remove("stages") {
        let stages = stages(&value).map_err(|message| wrong("stages", &message))?;
        let graceful_ramp_down = Nanos(30_000_000_000);
        let executor = Executor::RampingUsers {
            start: users,
            stages,
            graceful_ramp_down,
        };
        return Ok(vec![Scenario::of_shortcut(executor)]);
    }
    match (merged.remove("scenarios"), vus) {
        (Some(_), Some(vus)) => {
            warnings.push(format!("`vus={vus}` overrides scenarios configuration"));
            Ok(vec![shared(vus, vus, None)])
        }
        (Some(Value::Object(map)), None) if !map.is_empty() => map
            .iter()
            .map(|(name, value)| Scenario::parse(name, value))
            .collect(),
        (Some(_), None) => Err(wrong(
            "scenarios",
            "use an object with at least one scenario",
        )),
        (None, Some(vus)) => Ok(vec![shared(vus, vus, None)]),
        (None, None) => {
            let duration_max = Nanos(600_000_000_000);
            let executor = Executor::PerUserIterations {
                users: 1,
                iterations: 1,
                duration_max,
            };
            Ok(vec![Scenario::of_shortcut(executor)])
        }
    }
}

fn shared(users: u64, iterations: u64, duration: Option<Nanos>) -> Scenario {
    let duration_max = duration.unwrap_or(Nanos(600_000_000_000));
    Scenario::of_shortcut(Executor::SharedIterations {
        users,
        iterations,
        duration_max,
    })
}

/// The keys of a threshold that is an object.
const OF_THRESHOLD: [&str; 3] = ["threshold", "abortOnFail", "delayAbortEval"];

fn thresholds(
    value: &Value,
    warnings: &mut Vec<String>,
) -> Result<Vec<(Selection, Vec<ThresholdRule>)>, OptionsError> {
    let Value::Object(map) = value else {
        return Err(OptionsError(
            "`thresholds`: use an object of lists".to_owned(),
        ));
    };
    let rules = map.iter().map(|(key, list)| {
        let selection = Selection::parse(key).map_err(OptionsError)?;
        let objects = list.as_array().into_iter().flatten();
        let keys = objects.filter_map(Value::as_object).flat_map(Map::keys);
        for unknown in keys.filter(|key| !OF_THRESHOLD.contains(&key.as_str())) {
            warnings.push(format!(
                "a threshold of `{key}` has no key `{unknown}`; use threshold, abortOnFail or delayAbortEval"
            ));
        }
        let rules = match list {
            Value::Array(list) => list.iter().map(ThresholdRule::parse).collect(),
            _ => Err(format!(
                "thresholds of `{key}`: use a list, such as [\"p(95)<500\"]"
            )),
        };
        Ok((selection, rules.map_err(OptionsError)?))
    });
    rules.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::{Stage, Users};

    fn consolidate(layers: &[(Layer, &str)]) -> Result<Options, OptionsError> {
        let parse = |text: &str| serde_json::from_str::<Map<String, Value>>(text).expect(text);
        let layers: Vec<_> = layers
            .iter()
            .map(|(layer, text)| (*layer, parse(text)))
            .collect();
        Options::consolidate(&layers)
    }

    fn executor(layers: &[(Layer, &str)]) -> Executor {
        let options = consolidate(layers).expect("options");
        let [scenario] = options.scenarios.as_slice() else {
            panic!("{options:?}")
        };
        scenario.executor.clone()
    }

    const MINUTE: Nanos = Nanos(60_000_000_000);

    #[test]
    fn shortcuts_mean_scenarios() {
        let shared = |users, iterations, duration_max| Executor::SharedIterations {
            users,
            iterations,
            duration_max,
        };
        let ten = Nanos(600_000_000_000);
        for (text, expected) in [
            (
                "{}",
                Executor::PerUserIterations {
                    users: 1,
                    iterations: 1,
                    duration_max: ten,
                },
            ),
            (r#"{"vus":5}"#, shared(5, 5, ten)),
            (r#"{"vus":2,"iterations":9}"#, shared(2, 9, ten)),
            (
                r#"{"vus":2,"iterations":9,"duration":"1m"}"#,
                shared(2, 9, MINUTE),
            ),
            (
                r#"{"duration":"1m","vus":3}"#,
                Executor::ConstantUsers {
                    users: 3,
                    duration: MINUTE,
                },
            ),
            (
                r#"{"duration":60000}"#,
                Executor::ConstantUsers {
                    users: 1,
                    duration: MINUTE,
                },
            ),
            (
                r#"{"stages":[{"duration":"1m","target":10},{"target":0}]}"#,
                Executor::RampingUsers {
                    start: 1,
                    stages: vec![
                        Stage {
                            duration: MINUTE,
                            target: 10,
                        },
                        Stage {
                            duration: Nanos(0),
                            target: 0,
                        },
                    ],
                    graceful_ramp_down: Nanos(30_000_000_000),
                },
            ),
        ] {
            assert_eq!(executor(&[(Layer::Script, text)]), expected, "{text}");
        }
    }

    #[test]
    fn a_higher_layer_replaces_what_decides_the_load() {
        let script =
            r#"{"vus":7,"stages":[{"duration":"1m","target":10}],"userAgent":"a","throw":true}"#;
        let layers = [
            (Layer::Script, script),
            (Layer::Environment, r#"{"duration":"1m"}"#),
            (Layer::CommandLine, r#"{"userAgent":"b"}"#),
        ];
        assert_eq!(
            executor(&layers),
            Executor::ConstantUsers {
                users: 7,
                duration: MINUTE
            }
        );
        let options = consolidate(&layers).expect("options");
        assert_eq!(options.others["userAgent"], "b");
        assert_eq!(options.others["throw"], true);
        let scenarios = r#"{"scenarios":{"a":{"executor":"constant-vus","duration":"1m"}}}"#;
        let over = [
            (Layer::Script, scenarios),
            (Layer::CommandLine, r#"{"iterations":4}"#),
        ];
        let options = consolidate(&over).expect("options");
        assert_eq!(
            options.warnings,
            ["\"cli\" level configuration overrode scenarios configuration entirely"]
        );
        let vus = [
            (Layer::Script, scenarios),
            (Layer::CommandLine, r#"{"vus":2}"#),
        ];
        assert_eq!(
            consolidate(&vus).expect("options").warnings,
            ["`vus=2` overrides scenarios configuration"]
        );
    }

    #[test]
    fn scenarios_are_read_whole() {
        let text = r#"{"scenarios":{
            "arrive":{"executor":"ramping-arrival-rate","startRate":5,"timeUnit":"1m","preAllocatedVUs":10,"maxVUs":50,
                "stages":[{"duration":"1m","target":20}],"exec":"buy","startTime":"10s","gracefulStop":"0s",
                "env":{"A":"b","N":1},"tags":{"team":"x"}},
            "steady":{"executor":"constant-arrival-rate","rate":100,"duration":"1m","preAllocatedVUs":3}}}"#;
        let options = consolidate(&[(Layer::Script, text)]).expect("options");
        let [arrive, steady] = options.scenarios.as_slice() else {
            panic!("{options:?}")
        };
        assert_eq!(
            arrive.executor,
            Executor::RampingArrivals {
                start: 5,
                unit: MINUTE,
                stages: vec![Stage {
                    duration: MINUTE,
                    target: 20
                }],
                users: Users {
                    allocated: 10,
                    max: 50
                },
            }
        );
        assert_eq!(
            (arrive.exec.as_str(), arrive.start, arrive.graceful_stop),
            ("buy", Nanos(10_000_000_000), Nanos(0))
        );
        assert_eq!(
            arrive.env,
            [
                ("A".to_owned(), "b".to_owned()),
                ("N".to_owned(), "1".to_owned())
            ]
        );
        assert_eq!(arrive.tags, [("team".to_owned(), "x".to_owned())]);
        assert_eq!(steady.executor.users_max(), 3);
        assert_eq!(
            (arrive.executor.duration(), arrive.executor.users_max()),
            (MINUTE, 50)
        );
    }

    #[test]
    fn mistakes() {
        for (text, message) in [
            (
                r#"{"duration":"1s","stages":[]}"#,
                "using `duration` and `stages` options simultaneously is not allowed",
            ),
            (
                r#"{"vus":3,"iterations":2}"#,
                "`iterations`: 2 cannot be shared by 3 users",
            ),
            (
                r#"{"duration":"1 s"}"#,
                "`duration`: invalid duration `1 s`; use a number with a unit, such as `30s` or `1m30s`",
            ),
            (
                r#"{"scenarios":{"a b":{}}}"#,
                "invalid name `a b` of a scenario; use letters, digits, `_` and `-`",
            ),
            (
                r#"{"scenarios":{"a":{}}}"#,
                "scenario a: `executor` is missing",
            ),
            (
                r#"{"scenarios":{"a":{"executor":"constant-vus"}}}"#,
                "scenario a: `duration` is missing",
            ),
            (
                r#"{"scenarios":{"a":{"executor":"constant-vus","duration":"1m","rate":3}}}"#,
                "scenario a: the executor has no key `rate`",
            ),
            (
                r#"{"scenarios":{"a":{"executor":"constant-vus","duration":"10ms"}}}"#,
                "scenario a: the duration must be at least 1s",
            ),
            (
                r#"{"scenarios":{"a":{"executor":"externally-controlled"}}}"#,
                "scenario a: k6 removed the executor `externally-controlled` in v2.0; change a running load with drumfire ctl",
            ),
            (
                r#"{"scenarios":{"a":{"executor":"constant-arrival-rate","rate":1,"duration":"1s","preAllocatedVUs":2,"maxVUs":1}}}"#,
                "scenario a: `maxVUs` must be at least 1 and at least `preAllocatedVUs`",
            ),
            (
                r#"{"thresholds":{"checks":["rate~1"]}}"#,
                "invalid threshold `rate~1`: no relation; use `p(95)<500`",
            ),
            (
                r#"{"thresholds":{"checks":"rate>1"}}"#,
                "thresholds of `checks`: use a list, such as [\"p(95)<500\"]",
            ),
        ] {
            assert_eq!(
                consolidate(&[(Layer::Script, text)]),
                Err(OptionsError(message.to_owned())),
                "{text}"
            );
        }
    }

    #[test]
    fn thresholds_and_unknown_keys() {
        let text = r#"{"vuss":1,"thresholds":{"http_req_duration{name:A}":["p(95)<500",{"threshold":"avg<1","abortOnFail":true,"abortOnFial":true,"delayAbortEval":"10s"}]}}"#;
        let options = consolidate(&[(Layer::Script, text)]).expect("options");
        assert_eq!(
            options.warnings,
            [
                "options has no key `vuss`; did you mean `vus`?",
                "a threshold of `http_req_duration{name:A}` has no key `abortOnFial`; use threshold, abortOnFail or delayAbortEval"
            ]
        );
        let [(selection, rules)] = options.thresholds.as_slice() else {
            panic!("{options:?}")
        };
        assert_eq!(selection.to_string(), "http_req_duration{name:A}");
        assert!(!rules[0].abort_on_fail && rules[1].abort_on_fail);
        assert_eq!(rules[1].delay_abort, Nanos(10_000_000_000));
    }
}
