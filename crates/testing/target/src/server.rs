//! Starting and stopping.

use crate::clock;
use crate::counters::Counters;
use crate::error::StartError;
use crate::grpc::Grpc;
use crate::hub::WorkerSetup;
use crate::listener::Listener;
use crate::options::{Discipline, Listen, ServerOptions, Services};
use crate::shared::Shared;
use crate::tls::{self, ServerTlsMaterial};
use crate::worker;
use drumfire_units::Nanos;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

/// Starts servers.
#[derive(Debug)]
pub struct Server;

impl Server {
    /// Starts a server, which accepts connections when this function returns.
    ///
    /// Raises the process's soft limit of open descriptors to the hard limit.
    ///
    /// # Errors
    /// If an option is invalid, an address can't be bound, or the system refuses a thread.
    pub fn start(options: ServerOptions) -> Result<Running, StartError> {
        check(&options)?;
        raise_descriptor_limit();
        let (config, material) = match &options.tls {
            Some(tls) => {
                tls::configure(tls).map(|(config, material)| (Some(config), Some(material)))?
            }
            None => (None, None),
        };
        let grpc = match options.services {
            Services::None => None,
            Services::Grpc => Some(Arc::new(Grpc::new(options.storefront)?)),
        };
        let listeners = options
            .listen
            .iter()
            .map(|listen| Listener::open(listen, options.exposure, options.threads))
            .collect::<Result<Vec<_>, _>>()?;
        let listeners = Arc::new(listeners);
        let mut running = Running {
            addresses: listeners.iter().map(|l| l.listen.clone()).collect(),
            shared: Arc::new(Shared::new(&options)),
            material,
            workers: Vec::with_capacity(options.threads),
        };
        let setup = WorkerSetup {
            shared: Arc::clone(&running.shared),
            tls: config.map(TlsAcceptor::from),
            grpc,
            started: clock::now(),
            options: Arc::new(options),
        };
        for index in 0..setup.options.threads {
            // On an error, dropping `running` ends the workers that have started.
            running.workers.push(spawn(&setup, index, &listeners)?);
        }
        Ok(running)
    }
}

fn check(options: &ServerOptions) -> Result<(), StartError> {
    let threads = options.threads;
    if options.listen.is_empty() {
        return Err(StartError::NoAddress);
    }
    if !(1..=256).contains(&threads) {
        return Err(StartError::Threads { threads });
    }
    if options.discipline == Discipline::Serial && threads > 1 {
        return Err(StartError::SerialThreads { threads });
    }
    if let Some(llm) = &options.llm {
        if options.discipline == Discipline::Serial {
            return Err(StartError::SerialMock);
        }
        if llm.is_shared() && threads > 1 {
            return Err(StartError::BatchThreads { threads });
        }
    }
    Ok(())
}

fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    // If the limit can't be raised, fewer connections are possible, and the counters show it.
    let _ = setrlimit(Resource::Nofile, raised);
}

/// Starts a worker, and waits until it accepts connections.
fn spawn(
    setup: &WorkerSetup,
    index: usize,
    listeners: &Arc<Vec<Listener>>,
) -> Result<WorkerHandle, StartError> {
    let failed = |cause| StartError::Thread { cause };
    let (setup, listeners) = (setup.clone(), Arc::clone(listeners));
    let stop = Arc::new(Notify::new());
    let stopped = Arc::clone(&stop);
    let (ready, started) = sync_channel(1);
    let thread = std::thread::Builder::new()
        .name(format!("target-{index}"))
        .spawn(move || worker::run(setup, index, &listeners, &stopped, &ready))
        .map_err(failed)?;
    let handle = WorkerHandle { stop, thread };
    match started.recv() {
        Ok(Ok(())) => Ok(handle),
        Ok(Err(cause)) => Err(failed(cause)),
        Err(_) => Err(failed(io::Error::other("the worker ended at its start"))),
    }
}

/// A running server. Dropping it stops the server.
#[derive(Debug)]
pub struct Running {
    addresses: Vec<Listen>,
    shared: Arc<Shared>,
    material: Option<ServerTlsMaterial>,
    workers: Vec<WorkerHandle>,
}

#[derive(Debug)]
struct WorkerHandle {
    stop: Arc<Notify>,
    thread: JoinHandle<()>,
}

impl Running {
    /// The bound addresses, in the order of the options, with actual port numbers.
    #[must_use]
    pub fn addresses(&self) -> &[Listen] {
        &self.addresses
    }

    /// The first TCP address, if there is one.
    #[must_use]
    pub fn tcp(&self) -> Option<SocketAddr> {
        self.addresses.iter().find_map(|listen| match listen {
            Listen::Tcp(address) => Some(*address),
            Listen::Unix(_) => None,
        })
    }

    /// The certificates for clients, if the server uses TLS.
    #[must_use]
    pub fn tls(&self) -> Option<&ServerTlsMaterial> {
        self.material.as_ref()
    }

    /// The counters so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.shared.counters()
    }

    /// The arrival times of requests on the machine's monotonic clock (`CLOCK_MONOTONIC`), in
    /// order; empty unless [`ServerOptions::arrival_log`] records them.
    #[must_use]
    pub fn arrivals(&self) -> Vec<Nanos> {
        self.shared.arrivals()
    }

    /// The log of requests for tokens as lines of JSON, as `GET /llm/log` returns it; only the
    /// clocks unless [`ServerOptions::arrival_log`] records requests.
    #[must_use]
    pub fn llm_log(&self) -> String {
        self.shared.llm_log()
    }

    /// Closes all connections, stops the server, and returns the final counters.
    #[must_use = "the final count; drop the server to stop it without"]
    pub fn stop(mut self) -> Counters {
        self.stop_workers();
        self.shared.counters()
    }

    fn stop_workers(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        for worker in &self.workers {
            worker.stop.notify_one();
            worker.thread.thread().unpark();
        }
        for worker in self.workers.drain(..) {
            // A worker that panicked has also ended; its thread reported the panic.
            let _ = worker.thread.join();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop_workers();
    }
}
