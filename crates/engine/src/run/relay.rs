//! A run that other processes carry out, on the side where it is observed and commanded.
//!
//! The body of [`super::Run::relayed`] has a [`Relay`]: it names the start of the run's clock by
//! [`Relay::begin`], publishes the run's events in their order, and looks now and then for what the
//! observers have asked of the run ([`Relay::commands`], [`Relay::halt`]), to pass it on.

use super::events::Hub;
use crate::Control;
use drumfire_measure::RunEvent;
use drumfire_net::Clock;
use drumfire_plan::{Command, StopReason};
use drumfire_units::Nanos;
use std::sync::Arc;

/// The near end of a run that goes on elsewhere.
#[derive(Debug)]
pub struct Relay<'a> {
    control: &'a Control,
    hub: &'a Hub,
}

impl<'a> Relay<'a> {
    pub(crate) const fn new(control: &'a Control, hub: &'a Hub) -> Self {
        Self { control, hub }
    }

    /// The run's control, as its observers have it.
    #[must_use]
    pub const fn control(&self) -> &'a Control {
        self.control
    }

    /// Names the time of a clock at which the run starts; commands need this lead from then on, and are
    /// stored when [`Self::keep`] says so.
    pub fn begin(&self, clock: Clock, start: Nanos, lead: Nanos) {
        self.control.set_lead(lead);
        self.control.outlives();
        self.control.started(clock, start);
    }

    /// Notes a command that the run was given before, which is among [`Self::commands`] from then on.
    pub fn restore(&self, command: &Command) {
        self.control.restore(command);
    }

    /// Notes that the next of the commands is stored, so that whoever goes on with the run knows it.
    pub fn keep(&self) {
        self.control.keep();
    }

    /// Publishes the next event.
    pub fn publish(&self, event: RunEvent) {
        self.hub.publish(event);
    }

    /// The commands that were given so far, from the one with this number on, each with the time
    /// from which it holds.
    #[must_use]
    pub fn commands(&self, from: usize) -> Vec<Arc<Command>> {
        self.control.commands(from)
    }

    /// The reason for which the run was stopped, if it was, and whether exchanges in flight are given
    /// up too.
    #[must_use]
    pub fn halt(&self) -> Option<(StopReason, bool)> {
        self.control.halt()
    }
}
