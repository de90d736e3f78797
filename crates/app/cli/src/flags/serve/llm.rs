//! Flags of the mock of servers for language models.

use crate::exit::Failure;
use crate::flags::number::{small_count, small_positive};
use clap::Args;
use drumfire_target::{LlmBehaviour, LlmOptions};
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

/// The flags of the mock. All but the first require it.
#[derive(Args, Debug)]
#[command(next_help_heading = "Language model mock")]
pub(crate) struct LlmMockFlags {
    /// Mock a server for language models: chat, completions, responses, messages, embeddings, rerank
    #[arg(long)]
    llm: bool,
    /// Time to the first token: 50ms, lognormal:50ms,0.5, prefill:20ms+0.1ms/token
    #[arg(long, value_name = "LAW", requires = "llm")]
    ttft: Option<String>,
    /// Time between two tokens: const:10ms, exp:10ms
    #[arg(long, value_name = "LAW", requires = "llm")]
    itl: Option<String>,
    /// Length of an answer, up to the limit of its request: 200, uniform:50,300
    #[arg(long, value_name = "LAW", requires = "llm")]
    output_tokens: Option<String>,
    /// Tokens in each event: 4, uniform:1,8
    #[arg(long, value_name = "LAW", requires = "llm")]
    tokens_per_event: Option<String>,
    /// Events in each write
    #[arg(long, value_name = "N", requires = "llm")]
    events_per_write: Option<String>,
    /// Cut writes after this many bytes
    #[arg(long, value_name = "N", requires = "llm")]
    cut_bytes: Option<String>,
    /// The first N tokens are reasoning
    #[arg(long, value_name = "N", requires = "llm")]
    reasoning: Option<String>,
    /// Field of reasoning in chats: reasoning_content, reasoning or both
    #[arg(long, value_name = "NAME", requires = "llm")]
    reasoning_field: Option<String>,
    /// Probability that an answer calls a tool
    #[arg(long, value_name = "P", requires = "llm")]
    tool_calls: Option<String>,
    /// When the head and the role are sent: now, first (with the first token) or none
    #[arg(long, value_name = "TIME", requires = "llm")]
    role_chunk: Option<String>,
    /// Where the usage is sent: last, each, with-finish or none [default: as requested]
    #[arg(long, value_name = "PLACE", requires = "llm")]
    usage: Option<String>,
    /// Whether [DONE] ends a stream: yes, no or bare (without its empty line)
    #[arg(long, value_name = "MARK", requires = "llm")]
    done: Option<String>,
    /// Line ends of streams: lf, crlf or cr
    #[arg(long, value_name = "END", requires = "llm")]
    line: Option<String>,
    /// Begin streams with a byte order mark
    #[arg(long, requires = "llm")]
    bom: bool,
    /// Send comments at this interval
    #[arg(long, value_name = "TIME", requires = "llm")]
    ping: Option<String>,
    /// Name the events of chat and completions
    #[arg(long, requires = "llm")]
    event_names: bool,
    /// Fail within a stream: cut, close, reset, error, stall or bad-json, as in cut:10%@5; repeatable
    #[arg(long, value_name = "KIND:P@TOKEN", requires = "llm")]
    stream_fault: Vec<String>,
    /// Maximum number of requests that decode at a time; others wait
    #[arg(long, value_name = "N", requires = "llm", value_parser = small_positive)]
    capacity: Option<u32>,
    /// Maximum number of waiting requests; others get 503
    #[arg(long, value_name = "N", requires = "capacity", value_parser = small_count)]
    queue: Option<u32>,
    /// Time between tokens by the requests that decode: itl=10ms+0.05ms*n
    #[arg(long, value_name = "LAW", requires = "llm", conflicts_with = "itl")]
    batch: Option<String>,
    /// Cache the beginnings of prompts in blocks of 16 tokens: 100000, or with another size 1000,512
    #[arg(long, value_name = "BLOCKS[,SIZE]", requires = "llm")]
    prefix_cache: Option<String>,
}

impl LlmMockFlags {
    /// The options of the mock, if it is wanted.
    pub(crate) fn options(&self) -> Result<Option<LlmOptions>, Failure> {
        if !self.llm {
            return Ok(None);
        }
        Ok(Some(LlmOptions {
            behaviour: self.behaviour()?,
            capacity: self.capacity.and_then(NonZeroU32::new),
            queue: self.queue,
            batch: parsed("--batch", self.batch.as_deref())?,
            prefix_cache: parsed("--prefix-cache", self.prefix_cache.as_deref())?,
        }))
    }

    fn behaviour(&self) -> Result<LlmBehaviour, Failure> {
        let switch = |is_on: bool| is_on.then_some("yes");
        let single = [
            ("ttft", self.ttft.as_deref()),
            ("itl", self.itl.as_deref()),
            ("output-tokens", self.output_tokens.as_deref()),
            ("tokens-per-event", self.tokens_per_event.as_deref()),
            ("events-per-write", self.events_per_write.as_deref()),
            ("cut-bytes", self.cut_bytes.as_deref()),
            ("reasoning", self.reasoning.as_deref()),
            ("reasoning-field", self.reasoning_field.as_deref()),
            ("tool-calls", self.tool_calls.as_deref()),
            ("role-chunk", self.role_chunk.as_deref()),
            ("usage", self.usage.as_deref()),
            ("done", self.done.as_deref()),
            ("line", self.line.as_deref()),
            ("bom", switch(self.bom)),
            ("ping", self.ping.as_deref()),
            ("event-names", switch(self.event_names)),
        ];
        let given = single
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        let faults = self
            .stream_fault
            .iter()
            .map(|fault| ("stream-fault", &**fault));
        let mut behaviour = LlmBehaviour::default();
        for (name, value) in given.chain(faults) {
            behaviour
                .set(name, value)
                .map_err(|error| Failure::usage(format!("--{name}: {error}")))?;
        }
        Ok(behaviour)
    }
}

/// The parsed value of a flag, if it is given.
pub(crate) fn parsed<T: FromStr<Err: fmt::Display>>(
    flag: &str,
    text: Option<&str>,
) -> Result<Option<T>, Failure> {
    text.map(|text| {
        text.parse()
            .map_err(|error| Failure::usage(format!("{flag}: {error}")))
    })
    .transpose()
}
