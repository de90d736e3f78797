//! The conversation of a WebSocket, over HTTP/1.1 and over HTTP/2.
//!
//! tungstenite reads and writes the headers of frames. Everything above a frame is done here, because
//! clients are tested with frames that no library sends: `pipe` is the bytes of one connection or
//! stream, `deflate` the compression of messages, and `session` the conversation.

mod deflate;
mod pipe;
mod session;

pub(crate) use pipe::SocketBytes;
pub(crate) use session::serve;
