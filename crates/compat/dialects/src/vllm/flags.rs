//! The flags of `vllm bench serve`, one row each.

use std::fmt::Write as _;

/// The number of values that follow a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlagValues {
    /// None: a switch.
    Nothing,
    One,
    /// All words up to the next flag.
    Many,
}

/// Whether a flag has its meaning here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Support {
    Yes,
    /// The flag concerns work that drumfire does not do. A line on standard error says why.
    NoEffect(&'static str),
    /// The flag cannot be honoured. The text is the reason, and what to do instead.
    Refused(&'static str),
}

/// One flag.
#[derive(Debug)]
pub(super) struct Flag {
    /// The name without dashes.
    pub(super) name: &'static str,
    pub(super) takes: FlagValues,
    /// The default, as the help shows it; empty without one.
    pub(super) default: &'static str,
    /// The help text.
    pub(super) help: &'static str,
    pub(super) support: Support,
}

impl Flag {
    const fn one(name: &'static str, default: &'static str, help: &'static str) -> Self {
        Self {
            name,
            takes: FlagValues::One,
            default,
            help,
            support: Support::Yes,
        }
    }

    const fn many(name: &'static str, help: &'static str) -> Self {
        Self {
            takes: FlagValues::Many,
            ..Self::one(name, "", help)
        }
    }

    const fn switch(name: &'static str, help: &'static str) -> Self {
        Self {
            takes: FlagValues::Nothing,
            ..Self::one(name, "", help)
        }
    }

    const fn without_effect(self, why: &'static str) -> Self {
        Self {
            support: Support::NoEffect(why),
            ..self
        }
    }

    const fn refused(self, why: &'static str) -> Self {
        Self {
            support: Support::Refused(why),
            ..self
        }
    }
}

const NO_HUB: &str = "data sets are not downloaded; save its prompts as JSON lines and use \
                      --dataset-name custom --dataset-path FILE";
const NO_MEDIA: &str = "requests have text only";
const NO_PLOT: &str = "no plots are drawn; `drumfire llm --html FILE` writes a page with charts";
const NO_SONNET: &str = "use --dataset-name random with --random-prefix-len for a shared beginning";
const NO_LABEL: &str = "write the trace with vLLM's own names: timestamp, input_length, \
                        output_length and hash_ids";

/// Every flag, sorted by name.
#[rustfmt::skip]
pub(super) const FLAGS: &[Flag] = &[
    Flag::switch("append-result", "Append the result to the file of an earlier run"),
    Flag::one("asr-max-audio-len-sec", "inf", "Maximum length of audio").refused(NO_MEDIA),
    Flag::one("asr-min-audio-len-sec", "0", "Minimum length of audio").refused(NO_MEDIA),
    Flag::one("backend", "openai", "API: vllm or openai (completions), openai-chat, openai-responses, openai-embeddings, infinity-embeddings, vllm-pooling, vllm-rerank"),
    Flag::one("base-url", "", "URL of the server, instead of --host and --port"),
    Flag::many("bfcl-categories", "Categories of a data set").refused(NO_HUB),
    Flag::one("blazedit-max-distance", "1", "Maximum distance of edits").refused(NO_HUB),
    Flag::one("blazedit-min-distance", "0", "Minimum distance of edits").refused(NO_HUB),
    Flag::one("burstiness", "1.0", "Shape of the gaps between requests at a finite rate: 1 is a Poisson process, less comes in bursts"),
    Flag::one("chat-template-kwargs", "", "Arguments of the chat template").refused("prompts are not rendered here; let the server do it with --extra-body '{\"chat_template_kwargs\": {…}}'"),
    Flag::switch("custom-ensure-client-side-data", "Embed media in requests").refused(NO_MEDIA),
    Flag::one("custom-output-len", "256", "Maximum tokens of an answer to --dataset-name custom; -1: as in the file"),
    Flag::one("dataset-name", "random", "Prompts: random, prefix_repetition, random-rerank, sharegpt, custom, timed_trace, burstgpt"),
    Flag::one("dataset-path", "", "File of the prompts"),
    Flag::switch("disable-shuffle", "Send the prompts in the order of the file"),
    Flag::switch("disable-tqdm", "Show no progress bar"),
    Flag::switch("enable-multimodal-chat", "Send media in chats").refused(NO_MEDIA),
    Flag::one("endpoint", "", "Path of the API [default: that of the backend]"),
    Flag::one("extra-body", "", "JSON object whose members are added to each body"),
    Flag::one("frequency-penalty", "", "Sampling parameter"),
    Flag::many("goodput", "Limits of a good answer in milliseconds: ttft:VALUE tpot:VALUE e2el:VALUE"),
    Flag::many("header", "Header fields: NAME=VALUE …"),
    Flag::one("hf-name", "", "Name of a data set on the hub").refused(NO_HUB),
    Flag::one("hf-output-len", "", "Length of its answers").refused(NO_HUB),
    Flag::one("hf-split", "", "Part of it").refused(NO_HUB),
    Flag::one("hf-subset", "", "Part of it").refused(NO_HUB),
    Flag::one("host", "127.0.0.1", "Host of the server"),
    Flag::switch("ignore-eos", "Generate until the maximum length"),
    Flag::one("input-len", "", "Length of prompts, for any data set that has one"),
    Flag::switch("insecure", "Do not verify the server's certificate"),
    Flag::one("label", "", "Name of the result, instead of the backend"),
    Flag::one("logprobs", "", "Number of log probabilities for each token"),
    Flag::one("lora-assignment", "random", "How requests choose an adapter: random"),
    Flag::many("lora-modules", "Names of LoRA adapters"),
    Flag::one("max-concurrency", "", "Maximum number of requests at a time"),
    Flag::many("metadata", "Members of the result: KEY=VALUE …"),
    Flag::one("metric-percentiles", "99", "Percentiles of each time, such as 50,90,99.9"),
    Flag::one("min-p", "", "Sampling parameter"),
    Flag::one("model", "", "Name of the model"),
    Flag::switch("no-oversample", "Send each prompt of a file at most once"),
    Flag::switch("no-reranker", "Send no query with documents").refused("use --backend openai-embeddings with --dataset-name random"),
    Flag::switch("no-self-timed", "Send the requests of a timed trace at --request-rate"),
    Flag::switch("no-stream", "Load a data set as a whole").without_effect("no data set is downloaded"),
    Flag::one("num-prompts", "1000", "Number of requests"),
    Flag::one("num-warmups", "0", "Number of requests before the run"),
    Flag::one("output-len", "", "Length of answers, for any data set that has one"),
    Flag::one("percentile-metrics", "ttft,tpot,itl", "Times to report: ttft, tpot, itl, e2el, client_queue_time, e2el_including_client_queue"),
    Flag::switch("plot-dataset-stats", "Draw the lengths of the data set").refused(NO_PLOT),
    Flag::switch("plot-timeline", "Draw each request over time").refused(NO_PLOT),
    Flag::one("port", "8000", "Port of the server"),
    Flag::one("prefix-repetition-num-prefixes", "10", "Number of different beginnings"),
    Flag::one("prefix-repetition-output-len", "128", "Maximum tokens of an answer"),
    Flag::one("prefix-repetition-prefix-len", "256", "Length of a beginning"),
    Flag::one("prefix-repetition-suffix-len", "256", "Length of the rest of a prompt"),
    Flag::one("presence-penalty", "", "Sampling parameter"),
    Flag::one("probe-request-rate", "0", "Rate of small requests beside the load"),
    Flag::switch("profile", "Start the server's profiler before the run, and stop it afterwards"),
    Flag::one("ramp-up-end-rps", "", "Rate of the last request per second"),
    Flag::one("ramp-up-start-rps", "", "Rate of the first request per second"),
    Flag::one("ramp-up-strategy", "", "Change of the rate with the number of requests: linear or exponential"),
    Flag::one("random-batch-size", "1", "Number of prompts of a request"),
    Flag::one("random-input-len", "1024", "Length of prompts"),
    Flag::one("random-mm-base-items-per-request", "1", "Number of media").refused(NO_MEDIA),
    Flag::one("random-mm-bucket-config", "", "Sizes of media").refused(NO_MEDIA),
    Flag::one("random-mm-limit-mm-per-prompt", "", "Maximum number of media").refused(NO_MEDIA),
    Flag::one("random-mm-num-mm-items-range-ratio", "0.0", "Spread of the number of media").refused(NO_MEDIA),
    Flag::one("random-output-len", "128", "Maximum tokens of an answer"),
    Flag::one("random-prefix-len", "0", "Length of a beginning that all prompts share, in addition"),
    Flag::one("random-range-ratio", "0.0", "Spread of the lengths: r means from (1 - r) to (1 + r) times the length; or a JSON object with `input` and `output`"),
    Flag::one("ready-check-timeout-sec", "0", "Wait at most this time until the server answers; 0 does not wait"),
    Flag::one("repetition-penalty", "", "Sampling parameter"),
    Flag::one("request-id-prefix", "bench-XXXXXXXX-", "Beginning of the header field x-request-id"),
    Flag::one("request-rate", "inf", "Requests per second; inf sends all at once"),
    Flag::one("result-dir", ".", "Existing folder of the result"),
    Flag::one("result-filename", "", "Name of the result's file"),
    Flag::switch("save-detailed", "List every request in the result"),
    Flag::switch("save-result", "Write the result as JSON"),
    Flag::one("seed", "0", "Seed of all lengths and choices"),
    Flag::switch("self-timed", "Send the requests of a timed trace at their own times"),
    Flag::one("served-model-name", "", "Name of the model in requests"),
    Flag::one("sharegpt-output-len", "", "Maximum tokens of an answer, instead of the length in the file"),
    Flag::switch("skip-chat-template", "Do not render chats").without_effect("prompts are never rendered here"),
    Flag::switch("skip-tokenizer-init", "Report no figures in tokens"),
    Flag::one("sonnet-input-len", "550", "Length of prompts").refused(NO_SONNET),
    Flag::one("sonnet-output-len", "150", "Maximum tokens of an answer").refused(NO_SONNET),
    Flag::one("sonnet-prefix-len", "200", "Length of the beginning").refused(NO_SONNET),
    Flag::one("spec-bench-category", "", "Part of a data set").refused(NO_HUB),
    Flag::one("spec-bench-output-len", "256", "Length of its answers").refused(NO_HUB),
    Flag::one("speed-bench-category", "", "Part of a data set").refused(NO_HUB),
    Flag::one("speed-bench-dataset-subset", "qualitative", "Part of a data set").refused(NO_HUB),
    Flag::one("speed-bench-output-len", "4096", "Length of its answers").refused(NO_HUB),
    Flag::one("temperature", "", "Sampling parameter"),
    Flag::one("timed-trace-chunk-hash-size", "16", "Tokens of a block of the trace: 16 or 512"),
    Flag::one("timed-trace-label-hash-ids", "hash_ids", "Name of the blocks").refused(NO_LABEL),
    Flag::one("timed-trace-label-input-length", "input_length", "Name of the prompt's length").refused(NO_LABEL),
    Flag::one("timed-trace-label-output-length", "output_length", "Name of the answer's length").refused(NO_LABEL),
    Flag::one("timed-trace-label-timestamp", "timestamp", "Name of the time").refused(NO_LABEL),
    Flag::one("timed-trace-sec-multiplier", "1", "Seconds of the trace's unit of time: 1 or 0.001"),
    Flag::one("timeline-itl-thresholds", "25,50", "Limits in the plot").refused(NO_PLOT),
    Flag::one("tokenizer", "", "Name of the tokenizer in the result"),
    Flag::one("tokenizer-mode", "auto", "Kind of tokenizer").without_effect("lengths in tokens come from the server"),
    Flag::one("top-k", "", "Sampling parameter"),
    Flag::one("top-p", "", "Sampling parameter"),
    Flag::switch("trust-remote-code", "Run code of the tokenizer").without_effect("no tokenizer is loaded"),
    Flag::switch("use-beam-search", "Ask for a beam search"),
];

/// The flag with this name.
pub(super) fn find(name: &str) -> Option<&'static Flag> {
    FLAGS.iter().find(|flag| flag.name == name)
}

/// The help.
pub(super) fn help() -> String {
    let mut out = format!("usage: {} [options]\n\noptions:\n", super::COMMAND);
    for flag in FLAGS {
        let value = match flag.takes {
            FlagValues::Nothing => "",
            FlagValues::One => " VALUE",
            FlagValues::Many => " VALUE …",
        };
        // Writing to a String can't fail.
        let _ = write!(out, "  --{}{value}\n      {}", flag.name, flag.help);
        if !flag.default.is_empty() {
            let _ = write!(out, " [default: {}]", flag.default);
        }
        if let Support::Refused(_) = flag.support {
            out.push_str(" (not supported)");
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_by_name() {
        assert!(FLAGS.is_sorted_by_key(|flag| flag.name));
    }
}
