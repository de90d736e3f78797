//! The facts of a run before it has agents.

use crate::attachments::Attachments;
use crate::on_loss::OnLoss;
use drumfire_plan::Plan;
use std::sync::Arc;

/// The description of a run for which agents are gathered.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The run's name.
    pub run: String,
    /// The version of this program; agents must have the same one.
    pub program: String,
    /// The plan.
    pub plan: Arc<Plan>,
    /// The plan as a text, without secrets.
    pub text: String,
    /// The files, folders and setup values of the plan.
    pub attachments: Attachments,
    /// The number of agents.
    pub agents: usize,
    /// The effect of a lost agent.
    pub on_loss: OnLoss,
}
