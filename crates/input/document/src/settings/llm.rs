//! The prompts of a pool that load-tests a language model.

use crate::keys::fields::{nested, table};
use crate::keys::{Flag, Group};
use crate::{Count, JsonText, Switch, Text};

table! {
    /// The requests that a pool's `llm` steps send to an inference server.
    pub struct LlmSettings [] {
        api: Option<Text> =
            "API of the server: `chat` (the default), `completions`, `responses`, `messages`, `embeddings` or `rerank`",
            Flag::new(Group::Prompt, "--api <API>",
                "API: chat, completions, responses, messages, embeddings or rerank [default: from the URL's path, else chat]")
                .choices(&["chat", "completions", "responses", "messages", "embeddings", "rerank"]);
        path: Option<Text> = "Path of the API on the target, by default the usual one, such as `/v1/chat/completions`";
        model: Option<Text> = "Model, or several with weights, such as `small:3,large:1`",
            Flag::new(Group::Prompt, "-m, --model <MODEL>",
                "Model, or several with weights, such as small:3,large:1").first();
        key: Option<Text> = "API key, such as `${secret:env:OPENAI_API_KEY}`; masked in all outputs",
            Flag::new(Group::Prompt, "--api-key <KEY>",
                "API key; better, set the environment variable OPENAI_API_KEY (ANTHROPIC_API_KEY for messages), which is used without this flag");
        input: Option<Text> =
            "Length of made-up prompts in words, each about a token: `128` (the default), `uniform:512,1536`, `normal:550,100` or `lognormal:800,0.6`",
            Flag::new(Group::Prompt, "--input <LAW>",
                "Words of a made-up prompt, each about a token: 1024, uniform:512,1536, normal:550,100 or lognormal:800,0.6 [default: 128]").first();
        output: Option<Text> =
            "Maximum number of tokens of an answer: a number or a law as for `input`, by default `128`; `free` leaves it to the server",
            Flag::new(Group::Prompt, "--output <LAW>",
                "Maximum tokens of an answer: a number or a law as for --input; free leaves it to the server [default: 128]").first();
        prefix: Option<Text> =
            "Beginnings that prompts share, such as `pool=10,tokens=256,zipf=1.1`: one of 10 beginnings of 256 words before each prompt, chosen evenly, or with `zipf` the first ones more often",
            Flag::new(Group::Prompt, "--prefix <POOL>",
                "Shared beginnings before the prompts, such as pool=10,tokens=256,zipf=1.1");
        prompt: Option<Text> = "Prompt instead of made-up ones; a template",
            Flag::new(Group::Prompt, "-p, --prompt <TEXT>",
                "Prompt instead of made-up ones, a template such as 'Say {{uuid}}'; @FILE reads a file").first();
        messages: JsonText = "Messages of a chat instead of a prompt, as a list; their texts are templates",
            Flag::new(Group::Prompt, "--messages <JSON>",
                "Messages of a chat instead of a prompt, as a JSON list; @FILE reads a file").excludes(&["prompt"]);
        same_prompts: Option<Switch> =
            "Send the same made-up prompts in every run of a seed. By default they are new in each run, so that no answer comes from a cache of an earlier run",
            Flag::new(Group::Prompt, "--same-prompts",
                "Send the same made-up prompts in every run, which a server may have cached");
        exact_output: Option<Switch> =
            "Request answers of exactly the `output` length (`ignore_eos` and `min_tokens`, which vLLM and SGLang know and OpenAI refuses)",
            Flag::new(Group::Prompt, "--exact-output",
                "Request answers of exactly --output tokens; vLLM and SGLang can, OpenAI refuses it");
        stream: Option<Switch> = "Whether answers are streamed, by default `true`",
            Flag::new(Group::Prompt, "--no-stream",
                "Request each answer as a whole: only whole times are then known");
        continuous_usage: Option<Switch> =
            "Request the token counts in each event of a stream (`continuous_usage_stats`, which vLLM knows and OpenAI refuses)",
            Flag::new(Group::Prompt, "--continuous-usage",
                "Request token counts in each event of a stream; vLLM can, OpenAI refuses it");
        extra: JsonText = "Members to add to each request's body, as a mapping; they replace drumfire's own",
            Flag::new(Group::Prompt, "--extra <JSON>",
                "Members to add to each body, such as '{\"temperature\": 0}'; they replace drumfire's own");
        budget_tokens: Option<Count> =
            "End the load before the requests' words and requested tokens exceed this number together",
            Flag::new(Group::Prompt, "--budget-tokens <N>",
                "Stop before the words of the prompts and the requested tokens exceed N together, such as 100000");
        turns: Option<Text> =
            "Number of turns in each session, or a law as for `input`; by default each request is a session",
            Flag::new(Group::Prompt, "--turns <LAW>",
                "Turns of each session: a number or a law as for --input; each turn repeats the messages before it [default: 1]");
        turn_delay: Option<Text> =
            "Pause of a session between an answer and the next turn, such as `2s`, `1s..5s` or `lognormal(3s,0.5)`; replaces the times of a trace",
            Flag::new(Group::Prompt, "--turn-delay <TIME>",
                "Pause between an answer and the next turn, such as 2s or 1s..5s [default: none, or the trace's]");
        context: Option<Text> =
            "The answers that later turns repeat: `live`, those that were received (the default), or `recorded`, those of the trace; traces with whole prompts have `whole`",
            Flag::new(Group::Prompt, "--context <CONTEXT>",
                "Answers that later turns repeat: live (those received) or recorded (the trace's); whole for traces with whole prompts [default: live]")
                .choices(&["live", "recorded", "whole"]);
        tools: JsonText = "Tools that the model may call, as a list in the form of its API; their results are made up, and the model is asked again",
            Flag::new(Group::Prompt, "--tools <JSON>",
                "Tools that the model may call, as a JSON list; results are made up, and the model is asked again; @FILE reads a file");
        tool_output: Option<Text> = "Length of a tool's made-up result in words, as for `input`; by default `64`",
            Flag::new(Group::Prompt, "--tool-output <LAW>",
                "Words of a tool's made-up result, as for --input [default: 64]").needs("tools");
        tool_time: Option<Text> = "Time that the tools of an answer take together, such as `500ms` or `exponential(1s)`; by default none",
            Flag::new(Group::Prompt, "--tool-time <TIME>",
                "Time that the tools of an answer take together, such as 500ms [default: none]").needs("tools");
        trace: LlmTrace = "File with the requests to send: lengths, texts and times";
    } []
}

table! {
    /// A recorded or public trace of requests.
    pub struct LlmTrace [] {
        file: Option<Text> = "File of the trace",
            Flag::new(Group::Prompt, "--data <FILE>",
                "Send the requests of a trace or a data set").excludes(&["prompt", "messages"]);
        format: Option<Text> =
            "Format of the file: `mooncake`, `bailian`, `azure`, `burstgpt`, `sharegpt`, `jsonl`, `sessions`, `weka` or `copilot`; by default recognised by its beginning",
            Flag::new(Group::Prompt, "--format <FORMAT>",
                "Format of --data: mooncake, bailian, azure, burstgpt, sharegpt, jsonl, sessions, weka or copilot [default: by its beginning]")
                .needs("data").choices(&["mooncake", "bailian", "azure", "burstgpt", "sharegpt", "jsonl", "sessions", "weka", "copilot"]);
        speed: Option<Text> = "Send the requests at their recorded times: `1`, or `2` for twice as fast",
            Flag::new(Group::Prompt, "--speed <FACTOR>",
                "Send the requests of --data at their recorded times: 1, or 2 for twice as fast [default: by -r or -c]")
                .needs("data").excludes(&["rate", "users"]);
        from: Option<Text> = "Leave out the requests before this time of the trace, such as `10m`",
            Flag::new(Group::Prompt, "--from <TIME>",
                "Leave out the requests of --data before this time of the trace, such as 10m").needs("data");
        until: Option<Text> = "Leave out the requests from this time of the trace on",
            Flag::new(Group::Prompt, "--until <TIME>",
                "Leave out the requests of --data from this time of the trace on").needs("data");
        sample: Option<Text> = "Send this share of the requests, such as `10%`, at their own times",
            Flag::new(Group::Prompt, "--sample <SHARE>",
                "Send a random share of the requests of --data, such as 10%").needs("data");
    } []
}

nested!(LlmSettings => "llm", LlmTrace => "trace");
