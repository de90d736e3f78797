//! A script and its interpreters.
//!
//! Threads share a script; an interpreter belongs to the thread that created it. A call removes
//! this thread's interpreter from a list, or loads the script if the list does not contain one, and
//! puts it back after the call. The list has at most [`KEPT_MAX`] interpreters. An interpreter that
//! was stopped, or has exhausted its memory, is dropped, and the next call loads the script again.

use crate::ScriptError;
use crate::interpreter::{FailedCall, Interpreter};
use drumfire_plan::{CallSteps, DataError, Datum, PlanFunctions, RequestContext};
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The maximum number of interpreters of a thread; plans have few scripts.
const KEPT_MAX: usize = 8;

thread_local! {
    /// The interpreters of this thread, with the numbers of their scripts.
    static INTERPRETERS: RefCell<Vec<Loaded>> = const { RefCell::new(Vec::new()) };
}

struct Loaded {
    script: u64,
    interpreter: Interpreter,
}

/// A successfully loaded script. Each thread that calls it has a separate interpreter, created at
/// the first call.
#[derive(Clone)]
pub struct Script {
    name: Arc<str>,
    source: Arc<str>,
    number: u64,
}

/// Omits the source, which may be long.
impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Script({})", self.name)
    }
}

impl Script {
    /// Loads a script; `name` is used in messages.
    ///
    /// # Errors
    /// If the source is not valid JavaScript, or its top level fails.
    pub fn new(name: &str, source: &str) -> Result<Self, ScriptError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let script = Self {
            name: name.into(),
            source: source.into(),
            number: NEXT.fetch_add(1, Ordering::Relaxed),
        };
        script.with(|_| ())?;
        Ok(script)
    }

    /// Calls a function; `None` if the function returns nothing.
    ///
    /// # Errors
    /// If the function throws, or exceeds its steps or memory.
    pub fn call(
        &self,
        function: &str,
        arguments: &[Datum],
        request: &RequestContext,
        steps: CallSteps,
    ) -> Result<Option<Datum>, ScriptError> {
        let called = self.with(|interpreter| {
            if steps == CallSteps::Own {
                interpreter.grant_steps();
            }
            interpreter.call(function, arguments, request)
        })?;
        called.map_err(|FailedCall { error, is_spent }| {
            if is_spent {
                self.forget();
            }
            error
        })
    }

    /// Calls `act` with this thread's interpreter.
    fn with<T>(&self, act: impl FnOnce(&mut Interpreter) -> T) -> Result<T, ScriptError> {
        let taken = self.forget();
        let mut interpreter = match taken {
            Some(interpreter) => interpreter,
            None => Interpreter::new(&self.name, &self.source)?,
        };
        let result = act(&mut interpreter);
        INTERPRETERS.with_borrow_mut(|all| {
            if all.len() == KEPT_MAX {
                all.remove(0);
            }
            all.push(Loaded {
                script: self.number,
                interpreter,
            });
        });
        Ok(result)
    }

    /// Removes this thread's interpreter from the list.
    fn forget(&self) -> Option<Interpreter> {
        INTERPRETERS.with_borrow_mut(|all| {
            let at = all.iter().position(|loaded| loaded.script == self.number)?;
            Some(all.swap_remove(at).interpreter)
        })
    }
}

impl PlanFunctions for Script {
    fn has(&self, function: &str) -> bool {
        self.with(|interpreter| interpreter.has(function))
            .unwrap_or(false)
    }

    fn call(
        &self,
        function: &str,
        arguments: &[Datum],
        request: &RequestContext,
        steps: CallSteps,
    ) -> Result<Option<Datum>, DataError> {
        let called = Self::call(self, function, arguments, request, steps);
        called
            .map_err(|error| DataError::of_script(format!("{function} in {}: {error}", self.name)))
    }
}
