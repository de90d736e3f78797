//! One call that a method answers.

use super::Grpc;
use super::ended::Ended;
use super::inlet::Inlet;
use super::outlet::Outlet;
use super::status::Status;
use crate::answer::{Afterwards, Counting, RawEnd};
use crate::clock;
use crate::desk::Desk;
use crate::grpc_code::Code;
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

/// Metadata with the behaviour of the flags, in the form of a query: `delay=5ms&reset=0.1`.
const WORDS: &str = "x-drumfire";

/// A call that is being answered.
pub(crate) struct Call {
    pub(crate) grpc: Arc<Grpc>,
    pub(crate) inlet: Inlet,
    pub(crate) outlet: Outlet,
    pub(crate) metadata: HeaderMap,
    desk: Rc<Desk>,
    sleeps: Rc<Sleeps>,
    plan: CallPlan,
    /// Whether the plan's delay and faults were carried out.
    begun: bool,
}

impl Call {
    /// A call with this metadata, of which nothing was carried out yet.
    pub(crate) fn new(
        grpc: Arc<Grpc>,
        visit: &Visit,
        inlet: Inlet,
        outlet: Outlet,
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

    /// The faults that were drawn for it.
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

    /// The time that the flags wish for between messages.
    pub(crate) fn gap(&self) -> Nanos {
        self.plan.gap
    }

    /// Sends a message, the first of them when the plan's delay is over.
    pub(crate) async fn send(&mut self, message: &impl Message) -> Result<(), Ended> {
        self.begin().await?;
        self.outlet.send(message).await
    }

    /// Sends a message that is encoded already.
    pub(crate) async fn send_bytes(&mut self, message: &[u8]) -> Result<(), Ended> {
        self.begin().await?;
        self.outlet.send_bytes(message).await
    }

    /// Draws the faults and delays of the flags and of the call's own wishes. Reflection is exempt.
    pub(crate) fn prepare(&mut self, counting: Counting) -> Result<(), Status> {
        if counting == Counting::Uncounted {
            self.begun = true;
            return Ok(());
        }
        let words = self.metadata.get(WORDS).map(|words| words.to_str());
        let Ok(words) = words.unwrap_or(Ok("")) else {
            return Err(Status::new(Code::INVALID_ARGUMENT, "x-drumfire: not ASCII"));
        };
        let plan = self.desk.plan_call(words);
        self.plan = plan.map_err(|bad| Status::new(Code::INVALID_ARGUMENT, bad.0))?;
        Ok(())
    }

    /// Ends the call without a status, when it is due.
    pub(crate) async fn fail(&mut self, end: RawEnd) {
        if let Some(due) = self.desk.due(self.plan.delay, Counting::Counted) {
            // A client that is gone needs no answer.
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

    /// Carries the plan's delay and faults out, before anything is sent.
    pub(crate) async fn begin(&mut self) -> Result<(), Ended> {
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
