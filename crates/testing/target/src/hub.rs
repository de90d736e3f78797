//! The state that all connections of a worker share.

use crate::desk::Desk;
use crate::grpc::Grpc;
use crate::known::Known;
use crate::llm::{LlmDesk, StreamSeats};
use crate::options::ServerOptions;
use crate::shared::Shared;
use crate::shortcuts::Shortcuts;
use crate::sleeps::Sleeps;
use drumfire_units::Nanos;
use std::cell::RefCell;
use std::num::NonZeroU32;
use std::rc::Rc;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// The parts of a server that every worker receives.
#[derive(Clone)]
pub(crate) struct WorkerSetup {
    pub(crate) shared: Arc<Shared>,
    pub(crate) tls: Option<TlsAcceptor>,
    /// The gRPC services, if enabled.
    pub(crate) grpc: Option<Arc<Grpc>>,
    pub(crate) started: Nanos,
    pub(crate) options: Arc<ServerOptions>,
}

/// The state of one worker, which stays on its thread.
pub(crate) struct Hub {
    pub(crate) desk: Rc<Desk>,
    pub(crate) sleeps: Rc<Sleeps>,
    pub(crate) setup: WorkerSetup,
    /// The requests for tokens that decode or wait.
    pub(crate) batch: Rc<StreamSeats>,
    /// Constant answers over HTTP/2.
    pub(crate) known: RefCell<Known>,
    /// Constant answers over HTTP/1.
    pub(crate) shortcuts: RefCell<Shortcuts>,
}

impl Hub {
    /// Creates the state of the worker with this index.
    pub(crate) fn new(setup: WorkerSetup, index: usize, sleeps: Rc<Sleeps>) -> Self {
        let desk = Desk::new(&setup.options, Arc::clone(&setup.shared), index);
        let llm = setup.options.llm.as_ref();
        let capacity = llm.and_then(|llm| llm.capacity).map(NonZeroU32::get);
        let batch = StreamSeats::new(capacity, llm.and_then(|llm| llm.queue));
        Self {
            desk: Rc::new(desk),
            batch: Rc::new(batch),
            sleeps,
            setup,
            known: RefCell::default(),
            shortcuts: RefCell::default(),
        }
    }

    /// The parts that an answer with tokens uses.
    pub(crate) fn llm_desk(&self) -> LlmDesk<'_> {
        let own = &self.desk.own().llm;
        LlmDesk {
            sleeps: &self.sleeps,
            batch: &self.batch,
            law: self.setup.options.llm.as_ref().and_then(|llm| llm.batch),
            log: &own.log,
            metrics: &own.metrics,
        }
    }

    /// The number of answers after which a connection is closed.
    pub(crate) fn close_after(&self) -> Option<u32> {
        self.setup.options.behaviour.close_after
    }
}
