//! One thread of a server: its runtime, its listeners and its stalls.

use crate::clock;
use crate::connection;
use crate::fault::Stall;
use crate::hub::{Hub, WorkerSetup};
use crate::listener::{Door, Listener};
use crate::sleeps::Sleeps;
use drumfire_units::Nanos;
use std::io;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::thread;
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::Notify;
use tokio::task::spawn_local;

/// The pause after a failed accept for lack of descriptors or memory.
const ACCEPT_PAUSE: Nanos = Nanos::from_millis(50);

/// Serves on the calling thread until `stop` is notified. Reports on `ready` when clients can
/// connect, or why they can't.
pub(crate) fn run(
    setup: WorkerSetup,
    index: usize,
    listeners: &[Listener],
    stop: &Notify,
    ready: &SyncSender<io::Result<()>>,
) {
    let mut builder = Builder::new_current_thread();
    builder.enable_io();
    #[cfg(not(target_os = "linux"))]
    builder.enable_time();
    let runtime = match builder.build_local(LocalOptions::default()) {
        Ok(runtime) => runtime,
        Err(error) => return report(ready, Err(error)),
    };
    sharpen_timers();
    runtime.block_on(async {
        match open(setup, index, listeners) {
            Ok(()) => report(ready, Ok(())),
            Err(error) => return report(ready, Err(error)),
        }
        stop.notified().await;
    });
}

/// The thread that starts the server waits for the report, so sending succeeds.
fn report(ready: &SyncSender<io::Result<()>>, result: io::Result<()>) {
    let _ = ready.send(result);
}

/// Starts the tasks that run until the end of the server.
fn open(setup: WorkerSetup, index: usize, listeners: &[Listener]) -> io::Result<()> {
    let sleeps = Rc::new(Sleeps::new()?);
    let hub = Rc::new(Hub::new(setup, index, Rc::clone(&sleeps)));
    for listener in listeners {
        spawn_local(accept(Rc::clone(&hub), listener.door(index)?));
    }
    if let Some(stall) = hub.setup.options.stall {
        spawn_local(stand_still(hub, stall));
    }
    spawn_local(async move { sleeps.run().await });
    Ok(())
}

/// Accepts connections.
async fn accept(hub: Rc<Hub>, door: Door) {
    loop {
        match door.accept().await {
            Ok(socket) => {
                hub.desk.own().tallies.connections.add(1);
                spawn_local(connection::serve(Rc::clone(&hub), socket));
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(_) => {
                hub.desk.own().tallies.accept_failed.add(1);
                hub.sleeps.until(clock::now() + ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Blocks the thread during each stall, so that it accepts, reads and writes nothing. Ending the
/// server unparks the thread.
async fn stand_still(hub: Rc<Hub>, stall: Stall) {
    let started = hub.setup.started;
    loop {
        let next = stall.next(clock::now() - started);
        hub.sleeps.until(started + next.start).await;
        loop {
            let now = clock::now();
            if now >= started + next.end || hub.setup.shared.stopping.load(Ordering::Acquire) {
                break;
            }
            thread::park_timeout((started + next.end - now).as_duration());
        }
        if hub.setup.shared.stopping.load(Ordering::Acquire) {
            return;
        }
    }
}

/// Makes this thread's waits end on time: Linux's default slack is 50 µs.
fn sharpen_timers() {
    #[cfg(target_os = "linux")]
    {
        // If it fails, a stall ends up to 50 µs late.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    }
}
