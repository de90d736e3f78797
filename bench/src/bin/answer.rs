//! A server that gives every request the same answer, and prints its address.

use std::io::{Result, Write};
use std::net::TcpListener;

fn main() -> Result<()> {
    let address = std::env::args().nth(1);
    let listener = TcpListener::bind(address.as_deref().unwrap_or("127.0.0.1:0"))?;
    writeln!(std::io::stdout(), "http://{}/", listener.local_addr()?)?;
    drumfire_bench::answer::serve(listener)
}
