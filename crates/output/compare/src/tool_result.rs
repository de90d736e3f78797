//! Results of other tools that load-test language models: vLLM, AIPerf and GuideLLM.
//!
//! The tools give one name to different figures. A [`ToolMeasure`] is a figure with one definition,
//! and each tool's reader maps only keys whose definition is that one. What a tool measures in
//! another way stays out of the comparison, and [`ToolComparison`] lists it with both definitions.
//! One result of each side has no spread, so that nothing is tested.

mod read;

use std::fmt;

/// A tool whose results are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// drumfire's own `--json`.
    Drumfire,
    /// `vllm bench serve --save-result`.
    Vllm,
    /// AIPerf's `profile_export_aiperf.json`.
    AiPerf,
    /// GuideLLM's JSON.
    GuideLlm,
}

impl Tool {
    /// The name of the tool.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Drumfire => "drumfire",
            Self::Vllm => "vLLM",
            Self::AiPerf => "AIPerf",
            Self::GuideLlm => "GuideLLM",
        }
    }

    /// From when to when the tool times a request.
    #[must_use]
    pub const fn clock(self) -> &'static str {
        match self {
            Self::Drumfire => {
                "from the first write of a request (waiting and connecting excluded) to the first \
                 token, and to the end of the HTTP response"
            }
            Self::Vllm => {
                "from when the client's limit let a request through (connecting included) to the \
                 first event, and to the last token"
            }
            Self::AiPerf => {
                "from when a worker handed a request to its HTTP client (connecting included) to \
                 the first and to the last response with content"
            }
            Self::GuideLlm => {
                "from the first write of a request (connecting excluded) to the first token, and \
                 to the end of the HTTP response"
            }
        }
    }

    /// How the tool computes percentiles.
    #[must_use]
    pub const fn percentiles(self) -> &'static str {
        match self {
            Self::Drumfire | Self::GuideLlm => "nearest rank",
            Self::Vllm | Self::AiPerf => "linear interpolation",
        }
    }

    /// How the tool computes a figure that another tool does not compute in the same way.
    const fn other(self, measure: ToolMeasure) -> &'static str {
        match (measure, self) {
            (ToolMeasure::PerToken, Self::AiPerf) => {
                "per request, from the counts of AIPerf's own tokenizer (unless the run used \
                 --use-server-token-count)"
            }
            (ToolMeasure::PerToken, Self::GuideLlm) => {
                "its time per output token includes the first token, and its ITL counts each \
                 request as often as it has tokens"
            }
            (ToolMeasure::Gap, Self::GuideLlm) => "not reported; its ITL is a mean of each request",
            _ => "not reported",
        }
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A figure with one definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolMeasure {
    /// Requests that succeeded, per second of the run.
    Requests,
    /// Generated tokens per second.
    Output,
    /// From the start of a request to its first token. See [`Tool::clock`].
    Ttft,
    /// From the start of a request to its end. See [`Tool::clock`].
    EndToEnd,
    /// (Last token − first token) ÷ (tokens − 1), one value for each request, by the server's count.
    PerToken,
    /// The gaps between events with tokens, of all requests together.
    Gap,
}

impl ToolMeasure {
    /// All measures, in the order of the table.
    pub const ALL: [Self; 6] = [
        Self::Requests,
        Self::Output,
        Self::Ttft,
        Self::EndToEnd,
        Self::PerToken,
        Self::Gap,
    ];

    /// The name in the table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Output => "output tokens",
            Self::Ttft => "ttft",
            Self::EndToEnd => "end to end",
            Self::PerToken => "time per token",
            Self::Gap => "gap",
        }
    }

    /// Whether the measure is a rate; if not, it is a time.
    #[must_use]
    pub const fn is_rate(self) -> bool {
        matches!(self, Self::Requests | Self::Output)
    }
}

/// A statistic of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolStatistic {
    /// The only value of a rate.
    Value,
    /// The mean.
    Mean,
    /// The median.
    Median,
    /// The 99th percentile.
    P99,
}

impl ToolStatistic {
    /// The name in the table; empty for a value.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Value => "",
            Self::Mean => "mean",
            Self::Median => "p50",
            Self::P99 => "p99",
        }
    }
}

/// A figure of a result: per second for a rate, in nanoseconds for a time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ToolFigure {
    measure: ToolMeasure,
    statistic: ToolStatistic,
    value: f64,
}

/// A result of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// The tool.
    pub tool: Tool,
    /// Requests that succeeded.
    pub completed: Option<u64>,
    /// Requests that failed.
    pub failed: Option<u64>,
    figures: Vec<ToolFigure>,
}

impl ToolResult {
    /// Reads the result of another tool. `None` if the JSON is not that of a known tool.
    ///
    /// # Errors
    /// If the JSON is that of a known tool, but has no figures or several results. The text
    /// continues a sentence that starts with the file name.
    #[must_use]
    pub fn of_other_tool(json: &[u8]) -> Option<Result<Self, String>> {
        read::other(json)
    }

    /// Reads drumfire's own result.
    ///
    /// # Errors
    /// If the JSON is not a summary, or has no answers of language models. The text continues a
    /// sentence that starts with the file name.
    pub fn of_drumfire(json: &[u8]) -> Result<Self, String> {
        read::drumfire(json)
    }

    fn value(&self, measure: ToolMeasure, statistic: ToolStatistic) -> Option<f64> {
        let mut figures = self.figures.iter();
        let found = figures.find(|of| of.measure == measure && of.statistic == statistic);
        found.map(|of| of.value)
    }
}

/// A figure that both results have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolRow {
    /// The measure.
    pub measure: ToolMeasure,
    /// Its statistic.
    pub statistic: ToolStatistic,
    /// The base and the candidate: per second for a rate, in nanoseconds for a time.
    pub values: [f64; 2],
}

impl ToolRow {
    /// candidate ÷ base − 1; `None` if the base is 0.
    #[must_use]
    pub fn shift(&self) -> Option<f64> {
        let [base, candidate] = self.values;
        (base > 0.0).then(|| candidate / base - 1.0)
    }
}

/// Two results beside each other.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolComparison {
    /// Both results: the base and the candidate.
    pub sides: [ToolResult; 2],
    /// The figures that both have.
    pub rows: Vec<ToolRow>,
    /// Where the results cannot be compared, or only with care: a sentence each.
    pub cautions: Vec<String>,
}

impl ToolComparison {
    /// Puts two results beside each other.
    #[must_use]
    pub fn new(base: ToolResult, candidate: ToolResult) -> Self {
        let statistics = [
            ToolStatistic::Value,
            ToolStatistic::Mean,
            ToolStatistic::Median,
            ToolStatistic::P99,
        ];
        let mut rows = Vec::new();
        for measure in ToolMeasure::ALL {
            for statistic in statistics {
                let value = |of: &ToolResult| of.value(measure, statistic);
                if let (Some(base), Some(candidate)) = (value(&base), value(&candidate)) {
                    rows.push(ToolRow {
                        measure,
                        statistic,
                        values: [base, candidate],
                    });
                }
            }
        }
        let sides = [base, candidate];
        Self {
            cautions: cautions(&sides, &rows),
            rows,
            sides,
        }
    }
}

fn cautions(sides: &[ToolResult; 2], rows: &[ToolRow]) -> Vec<String> {
    let mut out = Vec::new();
    let tools = sides.each_ref().map(|side| side.tool);
    for measure in ToolMeasure::ALL {
        let has = |side: &ToolResult| side.figures.iter().any(|of| of.measure == measure);
        if let [Some(with), None] | [None, Some(with)] =
            sides.each_ref().map(|side| has(side).then_some(side.tool))
        {
            let without = sides.iter().find(|side| !has(side));
            let without = without.map_or(with, |side| side.tool);
            let name = measure.name();
            let why = without.other(measure);
            out.push(format!("Not compared: {name} of {with}. {without}: {why}."));
        }
    }
    if tools[0] != tools[1] {
        for tool in tools {
            out.push(format!("{tool} times requests {}.", tool.clock()));
        }
        if tools[0].percentiles() != tools[1].percentiles() {
            out.push(format!(
                "Percentiles are by {} in {}, and by {} in {}.",
                tools[0].percentiles(),
                tools[0],
                tools[1].percentiles(),
                tools[1]
            ));
        }
    }
    let has_failed = sides.iter().any(|side| side.failed.is_some_and(|n| n > 0));
    if has_failed && tools.iter().any(|tool| *tool != Tool::Drumfire) {
        let text = "Other tools leave failed requests out of all figures, so that a server that \
                    fails fast looks fast.";
        out.push(text.to_owned());
    }
    if rows.is_empty() {
        out.push("The results have no figure with the same definition.".to_owned());
    }
    out
}
