//! The facts of a run before it has agents.

use crate::attachments::Attachments;
use crate::on_loss::OnLoss;
use drumfire_plan::Plan;
use std::sync::Arc;

/// A run that is to be put together.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Its name.
    pub run: String,
    /// The version of this program, which agents must have too.
    pub program: String,
    /// The plan.
    pub plan: Arc<Plan>,
    /// The same as a text, without secrets.
    pub text: String,
    /// What travels beside it.
    pub attachments: Attachments,
    /// The number of agents.
    pub agents: usize,
    /// What the loss of one does.
    pub on_loss: OnLoss,
}
