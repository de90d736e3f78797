//! Flags of `drumfire http` that set no key. Spellings follow curl if curl has the flag.

use super::{HttpSettings, LoadFlags};
use clap::Args;

/// The arguments of `drumfire http`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  drumfire http localhost:8080                  10 requests/s for 10 s
  drumfire http -r 500/s -z 1m localhost:8080   500/s for a minute
  drumfire http -c 64 -z 30s localhost:8080     64 users, as fast as possible
  drumfire http --http2 -c 4 --streams 50 localhost:8080        200 users
  drumfire http -r 'line(5,200,60s) const(200,1m)' localhost:8080   a ramp
  drumfire http -r 100 --threshold 'p99<50ms' localhost:8080    99 if it fails
  drumfire http 'localhost:8080/?id={{uuid}}'   a new URL each time
  drumfire http -n 10k -c 8 @urls.txt           10,000 requests to a list
Without -r, -c, -u and -n the rate is 10/s.")]
#[command(disable_help_flag = true)]
pub(crate) struct HttpFlags {
    /// URLs to request in turn; @FILE reads a list, one per line, @- reads it from stdin; the
    /// default scheme is http://
    #[arg(required = true, value_name = "URL")]
    pub(crate) urls: Vec<String>,
    #[command(flatten)]
    pub(crate) load: LoadFlags<HttpSettings>,
}
