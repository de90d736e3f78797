//! Sessions of a pool: the steps that send the turns of a session one after the other.
//!
//! A session is an iteration. Its turns are requests in loops over the turns of the feed's row
//! ([`drumfire_data::Sessions`]), with a loop for each group of turns that has figures of its own
//! ([`TURN_GROUPS`]). A variable of the user contains the messages so far as JSON, and each request
//! repeats them: the prompts, and the answers that were received (`context: live`) or that the trace
//! contains (`context: recorded`). If an answer calls tools, their results are added, and the model
//! is asked again. A failed request ends the session.

use super::body::{SessionBody, Templates};
use drumfire_data::TURN_GROUPS;
use drumfire_document::{Branch, Field, Loop, Place, Request, RequestStep, Step, Text};
use drumfire_plan::LlmApi;

/// The maximum number of answers in a turn, so that a model that always calls tools ends.
const ROUNDS_MAX: u32 = 20;
/// Keeps the results of tools in different turns apart.
const RESULTS_PER_TURN: u32 = 4_096;
/// The results of one answer.
const RESULTS_PER_ROUND: u32 = 128;

/// The messages that a turn has before its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TurnContext {
    /// The prompts so far, and the answers that were received.
    Live,
    /// The prompts so far, and the answers that the trace contains, or made-up ones.
    Recorded,
    /// None: the trace has the whole prompt of each turn.
    Whole,
}

/// The words of contexts.
pub(super) const CONTEXTS: [(&str, TurnContext); 3] = [
    ("live", TurnContext::Live),
    ("recorded", TurnContext::Recorded),
    ("whole", TurnContext::Whole),
];

/// What the steps of a session are made of.
pub(super) struct SessionParts<'a> {
    pub(super) api: LlmApi,
    pub(super) context: TurnContext,
    /// The name of the feed, with which the names of all variables begin.
    pub(super) feed: &'a str,
    /// The maximum number of turns.
    pub(super) turns_max: u64,
    /// Whether turns wait for their recorded times.
    pub(super) has_times: bool,
    /// The template of each prompt, instead of those of the feed.
    pub(super) prompt: Option<&'a Text>,
    /// Whether that prompt is a template.
    pub(super) templates: Templates,
    /// The time of a call of tools, if the session has tools.
    pub(super) tool_time: Option<Text>,
    /// The place of the step that is replaced.
    pub(super) place: &'a Place,
}

/// The number of a turn, as expressions in the steps of its group.
#[derive(Clone, Debug)]
struct Turn {
    /// The number from 0.
    number: String,
    is_first: bool,
}

impl SessionParts<'_> {
    fn made(&self, text: impl Into<String>) -> Text {
        Text::new(text.into(), self.place.clone())
    }

    /// The name of a variable.
    fn variable(&self, name: &str) -> String {
        format!("{}_{name}", self.feed)
    }

    /// The expression of a turn's value in a column of the feed.
    fn column(&self, name: &str, turn: &Turn) -> String {
        format!("{{{{{}.{name}[{}]}}}}", self.feed, turn.number)
    }

    fn set(&self, name: &str, value: impl Into<String>) -> Step {
        Step::Set(vec![Field {
            name: self.made(self.variable(name)),
            value: self.made(value),
        }])
    }

    /// The steps of the session. `request` makes the request of a turn, with these messages and this
    /// limit of its answer, as templates.
    pub(super) fn steps(
        &self,
        mut request: impl FnMut(SessionBody) -> Option<Request>,
    ) -> Option<Vec<Step>> {
        let mut steps = Vec::new();
        for (number, group) in TURN_GROUPS.iter().enumerate() {
            if group.start >= self.turns_max {
                break;
            }
            let index = self.variable("turn");
            let turn = Turn {
                number: match group.start {
                    0 => "0".to_owned(),
                    start => format!("{index} + {start}"),
                },
                is_first: group.start == 0,
            };
            let name = self.name(group.start, group.end.min(self.turns_max));
            let of_turn = self.turn(&turn, name.as_deref(), &mut request)?;
            if turn.is_first {
                steps.extend(of_turn);
                continue;
            }
            steps.push(Step::Repeat(Loop {
                passes: self.made(format!("{{{{{}.passes[{number}]}}}}", self.feed)),
                index: Some(self.made(index)),
                until: None,
                steps: of_turn,
            }));
        }
        Some(steps)
    }

    /// The name under which a group of turns is reported; `None` if sessions have one turn.
    fn name(&self, start: u64, end: u64) -> Option<String> {
        let is_last = end == self.turns_max;
        (self.turns_max > 1).then(|| match (end - start, is_last) {
            (1, _) => format!("turn {}", start + 1),
            (_, true) if start >= 10 => format!("turns {}+", start + 1),
            _ => format!("turns {}-{end}", start + 1),
        })
    }

    /// The steps of a turn.
    fn turn(
        &self,
        turn: &Turn,
        name: Option<&str>,
        request: &mut impl FnMut(SessionBody) -> Option<Request>,
    ) -> Option<Vec<Step>> {
        let mut steps = Vec::new();
        if !turn.is_first {
            steps.push(Step::Pause(self.made(self.column("delay", turn))));
            if self.has_times {
                steps.push(Step::Pause(self.made(self.column("until", turn))));
            }
        }
        let messages = match self.context {
            TurnContext::Whole => format!("[{}]", self.column("message", turn)),
            TurnContext::Live | TurnContext::Recorded => {
                steps.extend(self.ask(turn));
                format!("[{{{{{}}}}}]", self.variable("history"))
            }
        };
        let body = SessionBody {
            messages,
            text: self.column("text", turn),
            limit: self.column("limit", turn),
        };
        let mut made = request(body)?;
        if let Some(name) = name {
            let own = made.name.as_ref().map(|own| format!("{} ", own.value));
            made.name = Some(self.made(format!("{}{name}", own.unwrap_or_default())));
        }
        steps.extend(self.exchange(turn, made));
        Some(steps)
    }

    /// The steps that add a turn's prompt to the messages.
    fn ask(&self, turn: &Turn) -> Vec<Step> {
        let mut steps = Vec::new();
        let message = match (self.prompt, self.templates) {
            (None, _) => self.column("message", turn),
            (Some(prompt), Templates::Literal) => {
                let text = Templates::Literal.text(&prompt.value);
                format!("{{\"role\":\"user\",\"content\":{text}}}")
            }
            (Some(prompt), Templates::Expanded) => {
                steps.push(Step::Set(vec![Field {
                    name: self.made(self.variable("text")),
                    value: prompt.clone(),
                }]));
                let text = self.variable("text");
                format!("{{\"role\":\"user\",\"content\":{{{{{text}|string|tojson}}}}}}")
            }
        };
        let history = match turn.is_first {
            true => message,
            false => format!("{},{message}", self.history()),
        };
        steps.push(self.set("history", history));
        steps
    }

    fn history(&self) -> String {
        format!("{{{{{}}}}}", self.variable("history"))
    }

    /// The steps that send a request and add its answer to the messages.
    fn exchange(&self, turn: &Turn, mut request: Request) -> Vec<Step> {
        let takes = |name: &str, part: &str| Field {
            name: self.made(self.variable(name)),
            value: self.made(part),
        };
        let answer = match self.context {
            TurnContext::Whole => None,
            TurnContext::Recorded => Some(self.column("answer", turn)),
            TurnContext::Live => {
                request.take.push(takes("answer", "answer message"));
                Some(format!("{{{{{}}}}}", self.variable("answer")))
            }
        };
        if self.tool_time.is_some() {
            request.take.push(takes("calls", "answer calls"));
        }
        let mut steps = vec![Step::Request(Box::new(RequestStep {
            request,
            on_fail: Some(self.made("end_iteration")),
        }))];
        if let Some(answer) = answer {
            let history = format!("{},{answer}", self.history());
            steps.push(self.set("history", history));
        }
        match &self.tool_time {
            None => steps,
            Some(time) => vec![self.rounds(turn, time, steps)],
        }
    }

    /// The loop that repeats a request while its answer calls tools. Before each repetition, the
    /// tools have taken their time, and their results are added to the messages.
    fn rounds(&self, turn: &Turn, time: &Text, mut steps: Vec<Step>) -> Step {
        let calls = self.variable("calls");
        steps.push(Step::If(Branch {
            condition: self.made(format!("{calls}|length > 0")),
            steps: vec![
                Step::Pause(time.clone()),
                self.set(
                    "history",
                    format!("{}{}", self.history(), self.results(turn)),
                ),
            ],
            otherwise: Vec::new(),
        }));
        Step::Repeat(Loop {
            passes: self.made(ROUNDS_MAX.to_string()),
            index: Some(self.made(self.variable("round"))),
            until: Some(self.made(format!("{calls}|length == 0"))),
            steps,
        })
    }

    /// The template of the messages with the results of the tools that an answer calls, each after a
    /// comma.
    fn results(&self, turn: &Turn) -> String {
        let (feed, calls, round) = (self.feed, self.variable("calls"), self.variable("round"));
        let number = format!(
            "({}) * {RESULTS_PER_TURN} + {round} * {RESULTS_PER_ROUND} + loop.index0",
            turn.number
        );
        let result = format!("\"{{{{{feed}.result[{number}]}}}}\"");
        let each = format!("{{% for call in {calls} %}}");
        match self.api {
            LlmApi::Messages => format!(
                ",{{\"role\":\"user\",\"content\":[{each}{{% if not loop.first %}},{{% endif \
                 %}}{{\"type\":\"tool_result\",\"tool_use_id\":{{{{call.id|tojson}}}},\"content\":\
                 {result}}}{{% endfor %}}]}}"
            ),
            LlmApi::Responses => format!(
                "{each},{{\"type\":\"function_call_output\",\"call_id\":{{{{call.id|tojson}}}},\
                 \"output\":{result}}}{{% endfor %}}"
            ),
            _ => format!(
                "{each},{{\"role\":\"tool\",\"tool_call_id\":{{{{call.id|tojson}}}},\"content\":\
                 {result}}}{{% endfor %}}"
            ),
        }
    }
}
