//! A run that other processes carry out, in the process that observes and commands it.
//!
//! The body of [`super::Run::relayed`] receives a [`Relay`]. The body sets the start of the run's
//! clock with [`Relay::set_start`], publishes the run's events in order, and regularly reads the
//! observers' requests ([`Relay::commands`], [`Relay::halt`]) to pass them on.

use super::events::EventHub;
use crate::Control;
use drumfire_measure::RunEvent;
use drumfire_net::Clock;
use drumfire_plan::{Command, StopReason};
use drumfire_units::Nanos;
use std::sync::Arc;

/// The local end of a run that other processes carry out.
#[derive(Debug)]
pub struct Relay<'a> {
    control: &'a Control,
    hub: &'a EventHub,
}

impl<'a> Relay<'a> {
    pub(crate) const fn new(control: &'a Control, hub: &'a EventHub) -> Self {
        Self { control, hub }
    }

    /// The run's control, which its observers use.
    #[must_use]
    pub const fn control(&self) -> &'a Control {
        self.control
    }

    /// Sets the time on a clock at which the run starts. From then on commands need this lead, and
    /// count as stored after [`Self::keep`].
    pub fn set_start(&self, clock: Clock, start: Nanos, lead: Nanos) {
        self.control.set_lead(lead);
        self.control.outlives();
        self.control.started(clock, start);
    }

    /// Adds a command that the run received earlier; [`Self::commands`] includes it from then on.
    pub fn restore(&self, command: &Command) {
        self.control.restore(command);
    }

    /// Notes that the next command is stored, so that a process that continues the run knows it.
    pub fn keep(&self) {
        self.control.keep();
    }

    /// Publishes the next event.
    pub fn publish(&self, event: RunEvent) {
        self.hub.publish(event);
    }

    /// The commands given so far, from the one with number `from` on, each with the time at which
    /// it takes effect.
    #[must_use]
    pub fn commands(&self, from: usize) -> Vec<Arc<Command>> {
        self.control.commands(from)
    }

    /// The reason why the run was stopped, if it was, and whether exchanges in flight are given up
    /// too.
    #[must_use]
    pub fn halt(&self) -> Option<(StopReason, bool)> {
        self.control.halt()
    }
}
