//! The client that connectconformance runs. It reads calls from standard input, makes each call
//! with the machines of `http2` and `grpc`, and writes the results to standard output.
//!
//! Both streams contain protobuf messages, each after its length in four big-endian bytes. The
//! calls are concurrent, each on a separate connection.

mod call;
mod invocation;
mod message;
mod result;
mod script;
mod transport;

use message::{ClientCompatRequest, ClientCompatResponse, ClientErrorResult};
use prost::Message as _;
use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The number of concurrent calls.
const PARALLEL: usize = 8;
/// The maximum length of a message from the suite.
const REQUEST_BYTES: u32 = 64 * 1024 * 1024;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "conformance client: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Makes calls until the input ends.
fn run() -> io::Result<()> {
    let requests = Mutex::new(io::stdin());
    let responses = Mutex::new(io::stdout());
    thread::scope(|scope| {
        let serve = || -> io::Result<()> {
            while let Some(request) = read(&requests)? {
                write(&responses, &answer(&request))?;
            }
            Ok(())
        };
        let threads: Vec<_> = (0..PARALLEL).map(|_| scope.spawn(serve)).collect();
        let died = |_| Err(io::Error::other("a call's thread has died"));
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(died))
    })
}

/// The result of one call.
fn answer(request: &ClientCompatRequest) -> ClientCompatResponse {
    let mut answer = ClientCompatResponse {
        test_name: request.test_name.clone(),
        ..ClientCompatResponse::default()
    };
    match invocation::invoke(request) {
        Ok(response) => answer.response = Some(response),
        Err(message) => answer.error = Some(ClientErrorResult { message }),
    }
    answer
}

/// The next call; `None` at the end of the input.
fn read(requests: &Mutex<io::Stdin>) -> io::Result<Option<ClientCompatRequest>> {
    let guard = requests.lock().unwrap_or_else(PoisonError::into_inner);
    let mut input = guard.lock();
    let mut length = [0; 4];
    match input.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let length = u32::from_be_bytes(length);
    if length > REQUEST_BYTES {
        return Err(io::Error::other("a request that is too long"));
    }
    let mut bytes = vec![0; length as usize];
    input.read_exact(&mut bytes)?;
    let request = ClientCompatRequest::decode(bytes.as_slice()).map_err(io::Error::other)?;
    Ok(Some(request))
}

fn write(responses: &Mutex<io::Stdout>, response: &ClientCompatResponse) -> io::Result<()> {
    let bytes = response.encode_to_vec();
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    let guard = responses.lock().unwrap_or_else(PoisonError::into_inner);
    let mut output = guard.lock();
    output.write_all(&length.to_be_bytes())?;
    output.write_all(&bytes)?;
    output.flush()
}
