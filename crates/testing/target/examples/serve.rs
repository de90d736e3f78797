//! The smallest use of the library: `cargo run --example serve -- 127.0.0.1:8080 [tls]`. The server
//! includes gRPC services. It runs until its standard input ends, then prints its counters.
#![expect(clippy::print_stdout, reason = "an example talks to its terminal")]

use drumfire_target::{Listen, Server, ServerOptions, ServerTlsOptions, Services};
use std::error::Error;
use std::io::Read as _;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:0".into());
    let tls = arguments.next().map(|_| ServerTlsOptions::default());
    let running = Server::start(ServerOptions {
        listen: vec![Listen::Tcp(address.parse()?)],
        tls,
        services: Services::Grpc,
        ..ServerOptions::default()
    })?;
    for address in running.addresses() {
        println!("listening at {address}");
    }
    std::io::stdin().read_to_end(&mut Vec::new())?;
    println!("{:?}", running.stop());
    Ok(())
}
