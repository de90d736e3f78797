//! The settings of a pool's requests to language models: which of them fit together, and what they
//! determine of sessions.

use super::FREE;
use super::api::{has_messages, has_stream_options};
use super::body::Templates;
use super::is_streamed;
use super::session::{CONTEXTS, SessionParts, TurnContext};
use super::trace::Turns;
use crate::scope::Scope;
use drumfire_data::{
    AtEnd, FeedOrder, Lengths, Prompts, SessionOptions, SessionTrace, Sessions, TURNS_MAX,
};
use drumfire_document::{LlmSettings, LlmTrace, Place, Switch, Text};
use drumfire_plan::{LlmApi, Pause};

/// The default length of a tool's result.
const TOOL_OUTPUT_DEFAULT: Lengths = Lengths::Fixed(64);

/// Whether a trace is read with all turns of its sessions.
pub(super) const fn turns_of_trace(settings: &LlmSettings) -> Turns {
    match &settings.context {
        Some(_) => Turns::All,
        None => Turns::First,
    }
}

/// What the settings of a pool determine of its sessions.
pub(super) struct SessionPlan {
    context: TurnContext,
    /// The maximum number of turns.
    turns_max: u64,
    options: SessionOptions,
    trace: Option<SessionTrace>,
    /// The time that tools take, if sessions have tools.
    tool_time: Option<Text>,
}

impl SessionPlan {
    /// Reads the settings of sessions. Returns `None` if requests are no turns of sessions, or after
    /// a mistake was noted.
    pub(super) fn compile(
        settings: &LlmSettings,
        api: LlmApi,
        trace: Option<SessionTrace>,
        speed: Option<f64>,
        scope: &mut Scope<'_>,
    ) -> Option<Self> {
        let turns: Option<Lengths> = scope.found.parse(settings.turns.as_ref());
        let context = scope.word(settings.context.as_ref(), &CONTEXTS, "context");
        let tools = settings.tools.0.as_ref();
        if turns.is_none() && trace.is_none() && tools.is_none() {
            note_without_turns(settings, scope);
            return None;
        }
        let turns = turns.unwrap_or(Lengths::Fixed(1));
        let turns_max = match (&trace, turns) {
            (Some(trace), _) => trace.turns_max(),
            (None, Lengths::Fixed(turns) | Lengths::Uniform { to: turns, .. }) => turns,
            (None, _) => TURNS_MAX,
        };
        if let Some(text) = settings.turns.as_ref().filter(|_| turns_max > TURNS_MAX) {
            let message = format!("a session has at most {TURNS_MAX} turns");
            scope.found.add(&text.place, message);
        }
        let is_whole = trace.as_ref().is_some_and(SessionTrace::is_whole);
        let context = context_of(settings, context, is_whole, scope);
        let place = [&settings.turns, &settings.context];
        let place = place.into_iter().flatten().next().map(|text| &text.place);
        let place = place.or_else(|| tools.map(|text| &text.place));
        let place = place.or_else(|| settings.trace.file.as_ref().map(|text| &text.place));
        if let Some(place) = place.filter(|_| context != TurnContext::Whole && !has_messages(api)) {
            let message = "sessions repeat messages, which only the APIs `chat`, `responses` and \
                           `messages` have";
            scope.found.add(place, message);
        }
        let tool_time = tools.map(|tools| match &settings.tool_time {
            Some(time) => time.clone(),
            None => Text::new("0".to_owned(), tools.place.clone()),
        });
        let tool_output = scope.found.parse(settings.tool_output.as_ref());
        Some(Self {
            context,
            turns_max,
            options: SessionOptions {
                turns,
                delay: scope.found.parse::<Pause>(settings.turn_delay.as_ref()),
                tool_output: tool_output.unwrap_or(TOOL_OUTPUT_DEFAULT),
                speed,
            },
            trace,
            tool_time,
        })
    }

    /// What the steps of a session are made of.
    pub(super) fn parts<'a>(
        &self,
        api: LlmApi,
        feed: &'a str,
        settings: &'a LlmSettings,
        templates: Templates,
        place: &'a Place,
    ) -> SessionParts<'a> {
        SessionParts {
            api,
            context: self.context,
            feed,
            turns_max: self.turns_max,
            has_times: self.options.speed.is_some(),
            prompt: settings.prompt.as_ref(),
            templates,
            tool_time: self.tool_time.clone(),
            place,
        }
    }

    /// The table of the sessions, and the order of its rows.
    pub(super) fn sessions(&mut self, prompts: Prompts) -> (Sessions, FeedOrder) {
        let trace = self.trace.take();
        let order = match &trace {
            Some(_) => FeedOrder::Once(AtEnd::Stop),
            None => FeedOrder::InTurn,
        };
        (Sessions::new(prompts, self.options, trace), order)
    }
}

/// The context of sessions, of which traces with whole prompts have none.
fn context_of(
    settings: &LlmSettings,
    given: Option<TurnContext>,
    is_whole: bool,
    scope: &mut Scope<'_>,
) -> TurnContext {
    let context = given.unwrap_or(match is_whole {
        true => TurnContext::Whole,
        false => TurnContext::Live,
    });
    if let Some(text) = &settings.context {
        let message = match is_whole {
            true => "each turn of the trace has its whole prompt; use `whole`",
            false => {
                "only traces with whole prompts (`weka`, `copilot`) have `whole`; use `live` \
                      or `recorded`"
            }
        };
        let is_wrong = (context == TurnContext::Whole) != is_whole;
        scope.found.add_if(is_wrong, &text.place, message);
    }
    if let Some(tools) = settings
        .tools
        .0
        .as_ref()
        .filter(|_| context != TurnContext::Live)
    {
        let message = "the results of tools follow the answers that were received; use the context \
                       `live`";
        scope.found.add(&tools.place, message);
    }
    context
}

/// Notes settings that only sessions have.
fn note_without_turns(settings: &LlmSettings, scope: &mut Scope<'_>) {
    let message = "this has no effect without `turns` or a trace of sessions";
    for text in [&settings.turn_delay, &settings.context]
        .into_iter()
        .flatten()
    {
        scope.found.add(&text.place, message);
    }
}

/// The settings of sessions.
fn session_cases(settings: &LlmSettings, api: LlmApi) -> Vec<Case> {
    let has_trace = settings.trace.file.is_some();
    let turns = || text_place(&settings.turns);
    let tools = || text_place(&settings.tools.0);
    let messages = || text_place(&settings.messages.0);
    let budget = settings.budget_tokens.as_ref();
    let budget = budget.map(|budget| budget.place.clone());
    let is_session = turns().is_some() || tools().is_some();
    let own = "a trace has its own turns; leave this out";
    let given = "sessions begin with a prompt; use `prompt` instead of `messages`";
    let no_tools = "tools need the API `chat`, `responses` or `messages`; leave this out";
    let rounds = "a budget can't be counted before the run if answers call tools; leave one out";
    let without = "this has no effect without `tools`";
    vec![
        (turns(), has_trace, own),
        (messages(), is_session, given),
        (tools(), !has_messages(api), no_tools),
        (budget, tools().is_some(), rounds),
        (
            text_place(&settings.tool_output),
            tools().is_none(),
            without,
        ),
        (text_place(&settings.tool_time), tools().is_none(), without),
    ]
}

/// A written setting, whether it is wrong, and why.
type Case = (Option<Place>, bool, &'static str);

/// Notes settings without an effect, and those that contradict each other.
pub(super) fn check(settings: &LlmSettings, api: LlmApi, scope: &mut Scope<'_>) {
    let cases = prompt_cases(settings, api).into_iter();
    let cases = cases.chain(trace_cases(settings));
    let cases = cases.chain(session_cases(settings, api));
    for (place, is_wrong, message) in cases.chain(answer_cases(settings, api)) {
        if let Some(place) = place.filter(|_| is_wrong) {
            scope.found.add(&place, message);
        }
    }
}

fn text_place(text: &Option<Text>) -> Option<Place> {
    text.as_ref().map(|text| text.place.clone())
}

/// The place of a switch that is on.
fn on_place(switch: &Option<Switch>) -> Option<Place> {
    let on = switch.as_ref().filter(|switch| switch.value);
    on.map(|switch| switch.place.clone())
}

/// The settings of prompts.
fn prompt_cases(settings: &LlmSettings, api: LlmApi) -> Vec<Case> {
    let has_trace = settings.trace.file.is_some();
    let messages = || text_place(&settings.messages.0);
    let is_given = settings.prompt.is_some() || messages().is_some();
    let input = || text_place(&settings.input);
    let prompt = || text_place(&settings.prompt);
    let given = "the prompt is given, so that this has no effect; leave one of them out";
    let same = "a given prompt is the same in every run; leave `same_prompts` out";
    let own = "a trace has its own prompts; leave one of them out";
    let lengths = "the trace has the lengths of its prompts; leave one of them out";
    let one = "use only one of `prompt` and `messages`";
    let no_messages =
        "only the APIs `chat`, `responses` and `messages` have messages; use `prompt`";
    vec![
        (input(), is_given, given),
        (text_place(&settings.prefix), is_given, given),
        (on_place(&settings.same_prompts), is_given, same),
        (input(), has_trace, lengths),
        (prompt(), has_trace, own),
        (prompt(), messages().is_some(), one),
        (messages(), has_trace, own),
        (messages(), !has_messages(api), no_messages),
    ]
}

/// The settings of a trace, which need its file.
fn trace_cases(settings: &LlmSettings) -> Vec<Case> {
    let LlmTrace {
        file,
        format,
        speed,
        from,
        until,
        sample,
    } = &settings.trace;
    let message = "this has no effect without the file of a trace";
    let cases = [format, speed, from, until, sample];
    let cases = cases.map(|text| (text_place(text), file.is_none(), message));
    cases.into()
}

/// The settings of answers.
fn answer_cases(settings: &LlmSettings, api: LlmApi) -> Vec<Case> {
    let output = || text_place(&settings.output);
    let exact = || on_place(&settings.exact_output);
    let continuous = || on_place(&settings.continuous_usage);
    let budget = settings.budget_tokens.as_ref();
    let budget = budget.map(|budget| budget.place.clone());
    let is_free = settings
        .output
        .as_ref()
        .is_some_and(|output| output.value == FREE);
    let is_whole = !api.streams() || !is_streamed(settings);
    let has_text = api.streams();
    let length = "an exact length of answers needs a number of tokens in `output`";
    let maximum = "the API `messages` requires a maximum of tokens; write a number";
    let no_text = "the API has no answers of tokens; leave this out";
    let usage = "token counts in each event need streamed answers; leave this out";
    let always = "the API always reports its token counts itself; leave this out";
    let free = "a budget needs a maximum of tokens in `output`";
    vec![
        (exact(), is_free, length),
        (exact(), !has_text, no_text),
        (output(), !has_text, no_text),
        (output(), is_free && api == LlmApi::Messages, maximum),
        (continuous(), is_whole, usage),
        (continuous(), !is_whole && !has_stream_options(api), always),
        (budget, is_free, free),
    ]
}
