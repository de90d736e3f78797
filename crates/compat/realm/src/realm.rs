//! The realm of a thread: runtime, contexts, and what users must not change.

use std::{fmt, io};

use rquickjs::context::intrinsic;
use rquickjs::{Context, Ctx, Function, Persistent, Runtime};

use crate::fibre::{Fibre, Host, UserId};
use crate::stack::Stacks;
use crate::state::{Layout, LayoutError};

/// The stack that QuickJS may use outside of fibres.
const OUTSIDE: usize = 256 * 1024;

/// What scripts have of the language. Without `WeakRef` and `FinalizationRegistry`: their callbacks would
/// run as jobs of whichever user runs when memory is collected.
type ScriptLanguage = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
);

/// Why a realm or a fibre could not be made.
#[derive(Debug)]
pub enum RealmError {
    /// QuickJS keeps its state in an unknown way.
    Layout(LayoutError),
    /// QuickJS's own error, such as a lack of memory.
    Engine(rquickjs::Error),
    /// The system refused memory for a stack.
    Stack(io::Error),
}

impl fmt::Display for RealmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Layout(error) => error.fmt(f),
            Self::Engine(error) => error.fmt(f),
            Self::Stack(error) => write!(f, "no memory for the stack of a user: {error}"),
        }
    }
}

impl std::error::Error for RealmError {}

impl From<rquickjs::Error> for RealmError {
    fn from(error: rquickjs::Error) -> Self {
        Self::Engine(error)
    }
}

/// What a realm holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Bytes that QuickJS has allocated.
    pub bytes: u64,
    /// Objects of JavaScript.
    pub objects: u64,
}

/// The JavaScript of one thread. `Q` is a call that users wait for, and `A` its answer.
pub struct Realm<Q: 'static, A: 'static> {
    // Dropped in this order: a value of JavaScript must not outlive its runtime.
    watch: Option<Persistent<Function<'static>>>,
    context: Context,
    runtime: Runtime,
    host: Host<Q, A>,
    stacks: Stacks,
}

impl<Q: 'static, A: 'static> Realm<Q, A> {
    /// A realm with the language and nothing else.
    ///
    /// # Errors
    ///
    /// [`RealmError::Layout`] if this build of QuickJS is unknown, or QuickJS's error.
    pub fn new() -> Result<Self, RealmError> {
        let layout = Layout::find().map_err(RealmError::Layout)?;
        let runtime = Runtime::new()?;
        let context = language(&runtime)?;
        let host = Host::new(context.get_runtime_ptr(), layout);
        Ok(Self {
            watch: None,
            context,
            runtime,
            host,
            stacks: Stacks::default(),
        })
    }

    /// What host functions need.
    pub fn host(&self) -> &Host<Q, A> {
        &self.host
    }

    /// The context that users share.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// A context for one user, whose built-in objects are its own. It takes some 50 kB.
    ///
    /// # Errors
    ///
    /// QuickJS's error.
    pub fn isolated(&self) -> Result<Context, RealmError> {
        self.limit_stack();
        language(&self.runtime)
    }

    /// Let QuickJS use the stack of the caller, unless a fibre runs, which has its own limit.
    fn limit_stack(&self) {
        let here = 0_u8;
        if self.host.user().is_none() {
            self.host
                .limit_stack((&raw const here as usize).saturating_sub(OUTSIDE));
        }
    }

    /// Run code outside of any fibre, on the stack of the caller. Host functions cannot wait there.
    pub fn enter<R>(&self, context: &Context, run: impl FnOnce(Ctx<'_>) -> R) -> R {
        self.limit_stack();
        context.with(run)
    }

    /// A fibre of `user` that runs `task` in `context`. It begins with [`Fibre::begin`].
    ///
    /// # Errors
    ///
    /// [`RealmError::Stack`]
    ///
    /// # Panics
    ///
    /// If the context is not one of this realm.
    pub fn fibre<R, F>(
        &self,
        context: &Context,
        user: UserId,
        task: F,
    ) -> Result<Fibre<Q, A, R>, RealmError>
    where
        F: for<'js> FnOnce(Ctx<'js>) -> R + 'static,
    {
        let own = self.context.get_runtime_ptr();
        assert_eq!(context.get_runtime_ptr(), own, "a context of another realm");
        let stack = self.stacks.take().map_err(RealmError::Stack)?;
        Ok(Fibre::new(
            self.host.clone(),
            context.clone(),
            user,
            stack,
            task,
        ))
    }

    /// Remember the global object and all built-in objects of the shared context, as they are now.
    ///
    /// # Errors
    ///
    /// QuickJS's error.
    pub fn watch(&mut self) -> Result<(), RealmError> {
        let watch = self.enter(&self.context, |ctx| {
            let watch: Function<'_> = ctx.eval(include_str!("watch.js"))?;
            Ok::<_, RealmError>(Persistent::save(&ctx, watch))
        })?;
        self.watch = Some(watch);
        Ok(())
    }

    /// The places, such as `Array.prototype.last`, that differ from what [`watch`](Self::watch) remembers:
    /// code of one user has changed what other users see. Empty without `watch`.
    ///
    /// # Errors
    ///
    /// QuickJS's error.
    pub fn changes(&self) -> Result<Vec<String>, RealmError> {
        let Some(watch) = self.watch.clone() else {
            return Ok(Vec::new());
        };
        self.enter(&self.context, |ctx| Ok(watch.restore(&ctx)?.call(())?))
    }

    /// Free the objects that only refer to each other.
    pub fn collect(&self) {
        self.runtime.run_gc();
    }

    /// What the realm holds.
    pub fn usage(&self) -> Usage {
        let usage = self.runtime.memory_usage();
        let count = |number: i64| u64::try_from(number).unwrap_or(0);
        Usage {
            bytes: count(usage.malloc_size),
            objects: count(usage.obj_count),
        }
    }
}

/// A context with the language.
fn language(runtime: &Runtime) -> Result<Context, RealmError> {
    let context = Context::custom::<ScriptLanguage>(runtime)?;
    context.with(|ctx| {
        // Both are called, or read, in the middle of making an error, where no fibre may wait. Threads do
        // not share memory.
        ctx.eval::<(), _>(
            "delete Error.prepareStackTrace; delete Error.stackTraceLimit;
             delete globalThis.SharedArrayBuffer; delete globalThis.Atomics",
        )
    })?;
    Ok(context)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rquickjs::qjs;

    /// If this fails after an update of rquickjs, QuickJS keeps its frames or its jobs in another way:
    /// compare `JSRuntime`, `JSStackFrame` and `JSJobEntry` in its `quickjs.c` with `state.rs`.
    #[test]
    fn the_state_of_this_build_is_found() {
        Layout::find().expect("one place for each state");
    }

    /// The version that `state.rs` was read against, beside which state of the running code was looked for:
    /// a new version can keep more of it in `JSRuntime` or `JSContext`.
    #[test]
    fn the_version_was_read() {
        // SAFETY: a constant text.
        let version = unsafe { std::ffi::CStr::from_ptr(qjs::JS_GetVersion()) };
        assert_eq!(version.to_str(), Ok("0.16.2"));
    }
}
