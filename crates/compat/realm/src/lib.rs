//! One realm of JavaScript for a thread, in which many users run, each on its own stack.
//!
//! A script that is written as if each call blocked runs unchanged, because a host function can suspend the
//! stack of its user in the middle of any call, and continue it when the answer is there ([`Host::wait`]).
//! Users share the realm, the compiled script and the built-in objects of the language, so that a user costs
//! its own variables and the touched pages of its stack, and not a realm. [`Realm::changes`] finds scripts
//! that change what is shared; such a script needs a context for each user ([`Realm::isolated`]).
//!
//! This crate must not know what a script is for. Start reading at [`Realm`], then [`Fibre`]. The module
//! `state` has what QuickJS lacks for this.
#![expect(
    unsafe_code,
    reason = "stacks are mapped and switched, and QuickJS's state is exchanged with them"
)]

mod bytes;
mod fibre;
mod realm;
mod stack;
mod state;

pub use bytes::buffer_bytes;
pub use fibre::{Fibre, Host, Turn, UserId};
pub use realm::{Realm, RealmError, Usage};
pub use state::LayoutError;
