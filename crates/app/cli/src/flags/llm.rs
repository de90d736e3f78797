//! Flags of `drumfire llm` that set no key.

use super::{LlmFlagSettings, LoadFlags};
use clap::Args;

/// The arguments of `drumfire llm`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  drumfire llm -m M localhost:8000                 10 prompts, one at a time
  drumfire llm -m M -c 32 -n 1000 localhost:8000   32 at a time
  drumfire llm -m M -r 5/s --arrivals poisson -z 1m --input lognormal:800,0.6 \\
    --output 256 localhost:8000                    random arrivals and lengths
  drumfire llm -m M -p 'Name three rivers.' --show localhost:8000
  drumfire llm -m M --data trace.jsonl --speed 1 localhost:8000  a trace's times
  drumfire llm -m M -r 5 -z 1m localhost:8000 --print-plan > plan.yaml
Prompts are made up, and new in each run. Without -r, -c, -u, -z and -n,
10 requests are sent, one at a time.")]
#[command(disable_help_flag = true)]
pub(crate) struct LlmFlags {
    /// Server: http://HOST:PORT, a base such as http://HOST/v1, or the URL of an API such as
    /// http://HOST/v1/completions; the default scheme is http://
    #[arg(required = true, value_name = "URL")]
    pub(crate) url: String,
    #[command(flatten)]
    pub(crate) load: LoadFlags<LlmFlagSettings>,
    /// Limits that 99 % of the answers must meet, such as ttft=200ms,tpot=50ms, or those of a
    /// benchmark, such as mlperf/llama2-70b-interactive; repeatable
    #[arg(long, value_name = "LIMITS", help_heading = "Output")]
    pub(crate) slo: Vec<String>,
}
