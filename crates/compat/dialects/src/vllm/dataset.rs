//! The prompts: made up by laws of lengths, or from a file.

use super::TOOL;
use super::args::{Args, mistake, parsed};
use super::backend::Backend;
use drumfire_document::{LlmSettings, LlmTrace};

/// The prompts of a command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Dataset {
    /// Lengths, prefixes or the trace; nothing else is set.
    pub(super) llm: LlmSettings,
    /// The number of requests.
    pub(super) count: u64,
    /// Whether answers must not end before their maximum length.
    pub(super) ignores_end: bool,
    /// Whether requests are sent at the times of a trace.
    pub(super) is_timed: bool,
    /// Whether the prompts come from a file, which may have fewer than were asked for.
    pub(super) is_file: bool,
    pub(super) notes: Vec<String>,
}

const FILES: &str =
    "random, prefix_repetition, random-rerank, sharegpt, custom, timed_trace or burstgpt";

impl Dataset {
    /// The prompts of a command line.
    ///
    /// # Errors
    /// If a value is invalid, or the data set is unknown or not supported.
    pub(super) fn from_args(args: &Args, backend: Backend) -> Result<Self, String> {
        let count = args.count("num-prompts")?;
        if count == 0 {
            return Err(mistake("num-prompts", "at least one request is needed"));
        }
        let of = Self {
            count,
            ..Self::default()
        };
        let name = args.or_default("dataset-name");
        match name {
            "random" => of.random(args, backend),
            "random-rerank" if backend.api == "rerank" => of.random(args, backend),
            "random-rerank" => Err(mistake(
                "dataset-name",
                "random-rerank needs --backend vllm-rerank",
            )),
            "prefix_repetition" => of.prefix_repetition(args, backend),
            "sharegpt" => of.file(args, "sharegpt", "sharegpt-output-len", backend),
            "custom" => of.file(args, "jsonl", "custom-output-len", backend),
            "burstgpt" => of.file(args, "burstgpt", "output-len", backend),
            "timed_trace" => of.timed(args, backend),
            "hf" | "spec_bench" | "speed_bench" | "sonnet" | "random-mm" | "custom_audio"
            | "custom_image" => {
                let why = "is not supported: data sets are not downloaded, and requests have text \
                           only; save its prompts as JSON lines and use --dataset-name custom \
                           --dataset-path FILE";
                Err(mistake("dataset-name", format!("`{name}` {why}")))
            }
            other => {
                let other = other.escape_debug();
                let why = format!("unknown data set `{other}`; use {FILES}");
                Err(mistake("dataset-name", why))
            }
        }
    }

    fn random(mut self, args: &Args, backend: Backend) -> Result<Self, String> {
        let batch = args.count("random-batch-size")?;
        if batch != 1 {
            let why = "a request has one prompt; use 1, and multiply --num-prompts";
            return Err(mistake("random-batch-size", why));
        }
        let spread = Spread::from_args(args)?;
        let input = length(args, "random-input-len", "input-len")?;
        let output = length(args, "random-output-len", "output-len")?;
        let prefix = args.count("random-prefix-len")?;
        self.llm.input = Some(TOOL.text("--random-input-len", &law(input, spread.input)));
        if prefix > 0 {
            let pool = format!("pool=1,tokens={prefix}");
            self.llm.prefix = Some(TOOL.text("--random-prefix-len", &pool));
        }
        if backend.generates() {
            self.llm.output = Some(TOOL.text("--random-output-len", &law(output, spread.output)));
            self.ignores_end = true;
        }
        Ok(self)
    }

    fn prefix_repetition(mut self, args: &Args, backend: Backend) -> Result<Self, String> {
        let prefixes = args.count("prefix-repetition-num-prefixes")?;
        let each = self.count.checked_div(prefixes).unwrap_or(0);
        if each == 0 {
            let why = "it must be from 1 to --num-prompts";
            return Err(mistake("prefix-repetition-num-prefixes", why));
        }
        self.count = prefixes * each;
        let tokens = args.count("prefix-repetition-prefix-len")?;
        let pool = format!("pool={prefixes},tokens={tokens},turn");
        let input = length(args, "prefix-repetition-suffix-len", "input-len")?;
        let output = length(args, "prefix-repetition-output-len", "output-len")?;
        self.llm.prefix = Some(TOOL.text("--prefix-repetition-num-prefixes", &pool));
        self.llm.input = Some(TOOL.text("--prefix-repetition-suffix-len", &input));
        if backend.generates() {
            self.llm.output = Some(TOOL.text("--prefix-repetition-output-len", &output));
        }
        Ok(self)
    }

    /// A file of a format, whose lengths of answers the flag `output` replaces.
    fn file(
        mut self,
        args: &Args,
        format: &str,
        output: &'static str,
        backend: Backend,
    ) -> Result<Self, String> {
        let path = args.text("dataset-path");
        let path = path.ok_or_else(|| mistake("dataset-path", "the data set needs a file"))?;
        self.is_file = true;
        self.llm.trace = LlmTrace {
            file: Some(TOOL.text("--dataset-path", &path)),
            format: Some(TOOL.text("--dataset-name", &format)),
            ..LlmTrace::default()
        };
        let given = args.text("output-len").or_else(|| args.text(output));
        let given =
            given.or_else(|| (output == "custom-output-len").then(|| args.or_default(output)));
        if let Some(given) = given.filter(|given| *given != "-1" && backend.generates()) {
            let length: u64 = parsed(
                output,
                given,
                "a number of tokens, or -1 for those of the file",
            )?;
            self.llm.output = Some(TOOL.text("--output-len", &length));
        }
        Ok(self)
    }

    fn timed(self, args: &Args, backend: Backend) -> Result<Self, String> {
        let block = args.count("timed-trace-chunk-hash-size")?;
        let unit = args.number("timed-trace-sec-multiplier")?;
        let format = match block {
            16 if unit == 1.0 => "bailian",
            512 if unit == 0.001 => "mooncake",
            _ => {
                let why = "supported are blocks of 16 tokens with times in seconds \
                           (--timed-trace-sec-multiplier 1), and blocks of 512 tokens with times in \
                           milliseconds (0.001)";
                return Err(mistake("timed-trace-chunk-hash-size", why));
            }
        };
        let mut read = self.file(args, format, "output-len", backend)?;
        read.ignores_end = backend.generates();
        read.is_timed = !args.has("no-self-timed");
        if read.is_timed {
            read.llm.trace.speed = Some(TOOL.text("--self-timed", &1));
        }
        Ok(read)
    }
}

/// How far lengths may deviate, as a share of them.
struct Spread {
    input: f64,
    output: f64,
}

impl Spread {
    fn from_args(args: &Args) -> Result<Self, String> {
        const NAME: &str = "random-range-ratio";
        let text = args.or_default(NAME).trim();
        let wanted = "a share from 0 to below 1, or {\"input\": SHARE, \"output\": SHARE}";
        let (input, output) = match text.starts_with('{') {
            false => {
                let share: f64 = parsed(NAME, text, wanted)?;
                (share, share)
            }
            true => {
                let read: serde_json::Value = parsed(NAME, text, wanted)?;
                let share = |key: &str| read.get(key).map_or(Some(0.0), serde_json::Value::as_f64);
                match (share("input"), share("output")) {
                    (Some(input), Some(output)) => (input, output),
                    _ => return Err(mistake(NAME, format!("it is not {wanted}"))),
                }
            }
        };
        match (0.0..1.0).contains(&input) && (0.0..1.0).contains(&output) {
            true => Ok(Self { input, output }),
            false => Err(mistake(NAME, format!("it is not {wanted}"))),
        }
    }
}

/// A length, which the flag `all` replaces; at least 1.
fn length(args: &Args, name: &'static str, all: &'static str) -> Result<u64, String> {
    let length = match args.given_count(all)? {
        Some(length) => length,
        None => args.count(name)?,
    };
    match length {
        0 => Err(mistake(name, "a length is at least 1")),
        length => Ok(length),
    }
}

/// The law of a length with this spread: whole numbers from ⌊L(1 − r)⌋, at least 1, to ⌈L(1 + r)⌉.
fn law(length: u64, spread: f64) -> String {
    let (low, high) = (
        length as f64 * (1.0 - spread),
        length as f64 * (1.0 + spread),
    );
    let (low, high) = ((low.floor() as u64).max(1), high.ceil() as u64);
    match low == high {
        true => low.to_string(),
        false => format!("uniform:{low},{high}"),
    }
}

#[cfg(test)]
mod tests {
    use super::law;

    #[test]
    fn lengths_spread_as_in_the_original() {
        assert_eq!(law(1024, 0.0), "1024");
        assert_eq!(law(10, 0.25), "uniform:7,13");
        assert_eq!(law(1, 0.5), "uniform:1,2");
    }
}
