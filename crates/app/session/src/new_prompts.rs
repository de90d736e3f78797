//! Whether new prompts were really new to the server.
//!
//! Prompts that are made up are new in each run, so that no prefix cache has them. If the answers
//! report cached tokens nevertheless, the figures are those of a warm cache, and the run is suspect.

use crate::server_metrics::CACHED_SHARE;
use crate::{Note, Observer};
use drumfire_measure::{LlmFigures, Summary};

/// The observer that compares new prompts with the cached tokens that answers report.
#[derive(Debug)]
pub struct NewPrompts {
    /// Whether the prompts of each pool are new, in the order of the plan.
    pools: Vec<bool>,
}

impl NewPrompts {
    /// The observer of a run whose pools send new prompts or others, in the order of the plan;
    /// `None` if none sends new ones.
    #[must_use]
    pub fn new(pools: Vec<bool>) -> Option<Self> {
        pools.contains(&true).then_some(Self { pools })
    }
}

impl Observer for NewPrompts {
    fn finish(self: Box<Self>, summary: &Summary) -> Vec<Note> {
        let is_single = self.pools.len() == 1;
        let pools = summary.pools().zip(self.pools);
        let new = pools.filter(|(_, is_new)| *is_new);
        let doubts = new.filter_map(|((pool, figures), _)| {
            let doubt = doubt(figures.llm()?)?;
            Some(match is_single {
                true => doubt,
                false => format!("{}: {doubt}", pool.name),
            })
        });
        doubts.map(Note::Doubt).collect()
    }
}

/// The doubt if too many tokens of new prompts were cached.
fn doubt(llm: &LlmFigures) -> Option<String> {
    let share = llm.cached as f64 / llm.input.max(1) as f64;
    (llm.cache_reports > 0 && share >= CACHED_SHARE).then(|| {
        let each = llm.cached as f64 / llm.cache_reports as f64;
        format!(
            "the server had {:.1} % of the new prompts' tokens in its prefix cache, {each:.0} of each \
             prompt, which makes answers faster",
            share * 100.0
        )
    })
}
