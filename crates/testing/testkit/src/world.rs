//! Everything around the engine, as a script.

use crate::baton::{Baton, Runner};
use crate::driver::{Parts, SimIo};
use crate::hook::Hook;
use crate::log::Log;
use crate::server::Host;
use crate::{Client, Network, Server};
use drumfire_engine::{Control, Resolver};
use drumfire_net::{ResolveError, Resolved};
use drumfire_plan::StopReason;
use drumfire_units::{Nanos, Random};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// The time to live of the world's DNS records.
const TTL: Nanos = Nanos::from_secs(10);

/// Servers, network, the client's machine, and the schedule of events. Each worker has separate
/// servers and a separate network; all share the time.
#[derive(Clone)]
pub struct World {
    servers: Vec<Server>,
    addresses: Vec<(SocketAddr, usize)>,
    names: HashMap<String, Vec<SocketAddr>>,
    /// The names that have moved.
    moved: Arc<Mutex<HashMap<String, Vec<SocketAddr>>>>,
    network: Network,
    client: Client,
    hooks: Vec<Hook>,
    stop: Option<Nanos>,
    seed: u64,
    keeps: bool,
}

impl World {
    /// A world with one server at every address, and a network without delay.
    #[must_use]
    pub fn new(server: Server) -> Self {
        Self {
            servers: vec![server],
            addresses: Vec::new(),
            names: HashMap::new(),
            moved: Arc::default(),
            network: Network::instant(),
            client: Client::ideal(),
            hooks: Vec::new(),
            stop: None,
            seed: 1,
            keeps: false,
        }
    }

    /// Adds a server at this address.
    ///
    /// # Panics
    /// If the text is not an address with a port.
    #[must_use]
    pub fn host(mut self, address: &str, server: Server) -> Self {
        let address = parsed(address);
        self.addresses.push((address, self.servers.len()));
        self.servers.push(server);
        self
    }

    /// Sets the addresses of a name; any other name has an address of the first server.
    ///
    /// # Panics
    /// If a text is not an address with a port.
    #[must_use]
    pub fn name(mut self, name: &str, addresses: &[&str]) -> Self {
        let addresses = addresses.iter().map(|text| parsed(text)).collect();
        self.names.insert(name.to_owned(), addresses);
        self
    }

    /// Changes the addresses of a name from a time of the run on; the earlier ones stay reachable.
    /// Only for runs on one thread: each worker's world would move the name again.
    ///
    /// # Panics
    /// If a text is not an address with a port.
    #[must_use]
    pub fn moves(self, at: Nanos, name: &str, addresses: &[&str]) -> Self {
        let addresses: Vec<SocketAddr> = addresses.iter().map(|text| parsed(text)).collect();
        let (moved, name) = (Arc::clone(&self.moved), name.to_owned());
        self.at(at, move || {
            let mut moved = moved.lock().unwrap_or_else(PoisonError::into_inner);
            moved.insert(name.clone(), addresses.clone());
        })
    }

    /// Sets the network between client and servers.
    #[must_use]
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Sets the engine's machine.
    #[must_use]
    pub fn client(mut self, client: Client) -> Self {
        self.client = client;
        self
    }

    /// Calls `action` at a time of the run, in each worker's world.
    #[must_use]
    pub fn at(mut self, time: Nanos, action: impl Fn() + Send + Sync + 'static) -> Self {
        self.hooks.push(Hook {
            at: time,
            every: None,
            action: Arc::new(action),
        });
        self
    }

    /// Calls `action` after every `time` of the run, in each worker's world.
    #[must_use]
    pub fn every(mut self, time: Nanos, action: impl Fn() + Send + Sync + 'static) -> Self {
        self.hooks.push(Hook {
            at: time,
            every: Some(time),
            action: Arc::new(action),
        });
        self
    }

    /// Stops the run at this time.
    #[must_use]
    pub fn stopped_at(mut self, time: Nanos) -> Self {
        self.stop = Some(time);
        self
    }

    /// Sets the seed of the world's random numbers.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Keeps every request that a server receives.
    #[must_use]
    pub fn keeps_requests(mut self) -> Self {
        self.keeps = true;
        self
    }

    /// Looks up the world's names.
    pub(crate) fn resolver(&self) -> Arc<Resolver> {
        let (names, moved) = (self.names.clone(), Arc::clone(&self.moved));
        Arc::new(move |_, name, port, _| {
            let moved = moved.lock().unwrap_or_else(PoisonError::into_inner);
            let usual = || vec![SocketAddr::from(([10, 0, 0, 1], port))];
            let known = moved.get(name).or_else(|| names.get(name)).cloned();
            match known.unwrap_or_else(usual) {
                addresses if addresses.is_empty() => Err(ResolveError::NotFound),
                addresses => Resolved::from_addresses(addresses, Some(TTL)),
            }
        })
    }

    /// One worker's driver; the control can stop its run, and the log is stored at the end.
    pub(crate) fn driver(
        &self,
        worker: u32,
        control: &Control,
        baton: &Arc<Baton>,
    ) -> (SimIo, Arc<Mutex<Log>>) {
        let mut hooks = self.hooks.clone();
        if let Some(stop) = self.stop {
            let control = control.clone();
            hooks.push(Hook {
                at: stop,
                every: None,
                action: Arc::new(move || control.stop(StopReason::Signal)),
            });
        }
        let handed = Arc::new(Mutex::new(Log::default()));
        let io = SimIo::new(Parts {
            hosts: self.servers.iter().cloned().map(Host::new).collect(),
            addresses: self.addresses.clone(),
            hooks,
            network: self.network.clone(),
            client: self.client.clone(),
            random: Random::from_state(self.seed ^ u64::from(worker) << 32),
            keeps: self.keeps,
            handed: Arc::clone(&handed),
            runner: Runner::new(baton, worker as usize),
        });
        (io, handed)
    }
}

#[expect(
    clippy::panic,
    reason = "a script with a wrong address is a wrong test"
)]
fn parsed(address: &str) -> SocketAddr {
    match address.parse() {
        Ok(address) => address,
        Err(_) => panic!("`{address}` is not an address with a port"),
    }
}
