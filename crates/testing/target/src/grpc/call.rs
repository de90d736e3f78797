//! One call and the state of its answer.

use super::Grpc;
use super::ended::Ended;
use super::inlet::Inlet;
use super::outlet::CallOutlet;
use super::status::Status;
use crate::answer::{Afterwards, Counting, RawEnd};
use crate::clock;
use crate::desk::Desk;
use crate::grpc_code::GrpcCode;
use crate::planner::CallPlan;
use crate::shop::Shop;
use crate::sleeps::Sleeps;
use crate::visit::Visit;
use drumfire_units::Nanos;
use h2::Reason;
use http::HeaderMap;
use prost::Message;
use std::rc::Rc;
use std::sync::Arc;

/// The metadata key for the behaviour, in the form of a query: `delay=5ms&reset=0.1`.
const WORDS: &str = "x-drumfire";

/// A call in progress.
pub(crate) struct Call {
    pub(crate) grpc: Arc<Grpc>,
    pub(crate) inlet: Inlet,
    pub(crate) outlet: CallOutlet,
    pub(crate) metadata: HeaderMap,
    desk: Rc<Desk>,
    sleeps: Rc<Sleeps>,
    plan: CallPlan,
    /// Whether the plan's delay and faults were applied.
    begun: bool,
}

impl Call {
    /// Creates a call with this metadata.
    pub(crate) fn new(
        grpc: Arc<Grpc>,
        visit: &Visit,
        inlet: Inlet,
        outlet: CallOutlet,
        metadata: HeaderMap,
    ) -> Self {
        Self {
            grpc,
            inlet,
            outlet,
            metadata,
            desk: Rc::clone(&visit.desk),
            sleeps: Rc::clone(&visit.sleeps),
            plan: CallPlan::default(),
            begun: false,
        }
    }

    /// The delay and faults drawn for the call.
    pub(crate) fn plan(&self) -> &CallPlan {
        &self.plan
    }

    /// Sleeps for `time`.
    pub(crate) async fn pause(&mut self, time: Nanos) -> Result<(), Ended> {
        if time > Nanos::ZERO {
            let sleep = self.sleeps.until(clock::now() + time);
            self.outlet.wait(sleep).await?;
        }
        Ok(())
    }

    /// The time between messages that the flags set.
    pub(crate) fn gap(&self) -> Nanos {
        self.plan.gap
    }

    /// Sends a message; the first one after the plan's delay.
    pub(crate) async fn send(&mut self, message: &impl Message) -> Result<(), Ended> {
        self.apply_faults().await?;
        self.outlet.send(message).await
    }

    /// Sends an encoded message.
    pub(crate) async fn send_bytes(&mut self, message: &[u8]) -> Result<(), Ended> {
        self.apply_faults().await?;
        self.outlet.send_bytes(message).await
    }

    /// Draws the faults and delays of the flags and of the call's own parameters. Reflection is
    /// exempt.
    pub(crate) fn prepare(&mut self, counting: Counting) -> Result<(), Status> {
        if counting == Counting::Uncounted {
            self.begun = true;
            return Ok(());
        }
        let words = self.metadata.get(WORDS).map(|words| words.to_str());
        let Ok(words) = words.unwrap_or(Ok("")) else {
            return Err(Status::new(
                GrpcCode::INVALID_ARGUMENT,
                "x-drumfire: not ASCII",
            ));
        };
        let plan = self.desk.plan_call(words);
        self.plan = plan.map_err(|bad| Status::new(GrpcCode::INVALID_ARGUMENT, bad.0))?;
        Ok(())
    }

    /// Ends the call without a status at its due time.
    pub(crate) async fn fail(&mut self, end: RawEnd) {
        if let Some(due) = self.desk.due(self.plan.delay, Counting::Counted) {
            // A disconnected client needs no answer.
            let _ = self.outlet.wait(self.sleeps.until(due)).await;
        }
        if end == RawEnd::Reset {
            self.outlet.reset(Reason::INTERNAL_ERROR);
        }
    }

    /// The shop, if there is one.
    pub(crate) fn shop(&self) -> Option<&Shop> {
        self.desk.shop()
    }

    /// Applies the plan's delay and faults before anything is sent.
    pub(crate) async fn apply_faults(&mut self) -> Result<(), Ended> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        if let Some(due) = self.desk.due(self.plan.delay, Counting::Counted) {
            self.outlet.wait(self.sleeps.until(due)).await?;
        }
        if let Some(code) = self.plan.code {
            return Err(Status::new(code, "injected by the server").into());
        }
        self.outlet.cut = self.plan.afterwards == Afterwards::Cut;
        Ok(())
    }
}
