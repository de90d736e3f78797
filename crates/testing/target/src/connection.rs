//! One connection: TLS if the server uses it, then the protocol of the first bytes.

use crate::desk::Desk;
use crate::http1;
use crate::http2;
use crate::hub::Hub;
use crate::listener::Socket;
use crate::wire::{CountedSocket, Opening, Transport, Wire};
use std::io;
use std::rc::Rc;

/// Counts the end of a connection when dropped, however the connection ends.
struct Ending(Rc<Desk>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.own().tallies.connections_ended.add(1);
    }
}

/// Serves an accepted connection until its end.
pub(crate) fn serve(hub: Rc<Hub>, socket: Socket) -> impl Future<Output = ()> {
    let ending = Ending(Rc::clone(&hub.desk));
    async move {
        let desk = Rc::clone(&hub.desk);
        let transport = match socket {
            Socket::Tcp(socket) => seal(&hub, CountedSocket { socket, desk }).await,
            Socket::Unix(socket) => seal(&hub, CountedSocket { socket, desk }).await,
        };
        if let Some(transport) = transport {
            converse(&hub, Wire::new(transport)).await;
        }
        drop(ending);
    }
}

/// Does the TLS handshake, if the server uses TLS. A failed handshake is counted, and the client
/// gets an alert; a disconnected client does not count as a failure.
async fn seal<T: Transport + 'static>(hub: &Hub, transport: T) -> Option<Box<dyn Transport>> {
    let Some(acceptor) = &hub.setup.tls else {
        return Some(Box::new(transport));
    };
    match Box::pin(acceptor.accept(transport)).await {
        Ok(stream) => Some(Box::new(stream)),
        Err(error) => {
            if error.kind() == io::ErrorKind::InvalidData {
                hub.desk.own().tallies.tls_failed.add(1);
            }
            None
        }
    }
}

async fn converse(hub: &Rc<Hub>, mut wire: Wire) {
    match wire.opening().await {
        Ok(Opening::Http2) => Box::pin(http2::serve(hub, wire)).await,
        Ok(Opening::Other | Opening::Unclear) => http1::serve(hub, wire).await,
        // The client has disconnected.
        Err(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The size of the future that a function returns.
    fn size<A, B, F>(_: fn(A, B) -> F) -> usize {
        size_of::<F>()
    }

    /// Tens of thousands of connections may wait for their delays.
    #[test]
    fn a_connection_that_waits_is_small() {
        assert!(size(serve) <= 1_024, "{}", size(serve));
    }
}
