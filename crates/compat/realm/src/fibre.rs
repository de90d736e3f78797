//! Fibres: users of one thread, each with its own stack, of which one runs at a time.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::rc::Rc;

use corosensei::{Coroutine, CoroutineResult, Yielder};
use rquickjs::function::Rest;
use rquickjs::{Context, Ctx, Error, Exception, Function, Value, qjs};

use crate::stack::{Stack, release_below};
use crate::state::{Layout, Saved};

type Panic = Box<dyn Any + Send>;

/// The number of a user, as the caller counts.
pub type UserId = u32;

/// What a fibre is resumed with.
enum FibreWake<A> {
    Begin,
    Answer(A),
    Kill,
}

/// What a fibre did until it gave the thread back.
#[derive(Debug, PartialEq, Eq)]
pub enum Turn<Q, R> {
    /// A host function made this call, and waits for the answer.
    Waits(Q),
    /// The task returned.
    Ended(R),
}

/// The part of a fibre that host functions reach.
struct Seat<Q, A> {
    user: UserId,
    yielder: Cell<*const Yielder<FibreWake<A>, Q>>,
    floor: usize,
    killed: Cell<bool>,
    panic: RefCell<Option<Panic>>,
}

/// What host functions need: which user calls, and a way to wait for an answer.
///
/// `Q` is a call that a user waits for, and `A` the answer.
pub struct Host<Q, A>(Rc<HostState<Q, A>>);

struct HostState<Q, A> {
    rt: *mut qjs::JSRuntime,
    layout: Layout,
    current: RefCell<Option<Rc<Seat<Q, A>>>>,
}

impl<Q, A> Clone for Host<Q, A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<Q: 'static, A: 'static> Host<Q, A> {
    /// The host of one runtime. Its functions may run only while the runtime is alive, which is so for
    /// values of JavaScript.
    pub(crate) fn new(rt: *mut qjs::JSRuntime, layout: Layout) -> Self {
        Self(Rc::new(HostState {
            rt,
            layout,
            current: RefCell::new(None),
        }))
    }

    fn seat(&self) -> Option<Rc<Seat<Q, A>>> {
        self.0.current.borrow().clone()
    }

    /// The user whose fibre runs, if one does.
    #[must_use]
    pub fn user(&self) -> Option<UserId> {
        self.0.current.borrow().as_ref().map(|seat| seat.user)
    }

    /// Suspend the running fibre until its call is answered. Other users run meanwhile.
    ///
    /// # Errors
    ///
    /// A TypeError if no fibre runs. If the fibre was killed, an error that JavaScript cannot catch: every
    /// function returns at once, without its `catch` and `finally`.
    pub fn wait(&self, ctx: &Ctx<'_>, call: Q) -> rquickjs::Result<A> {
        let Some(seat) = self.seat() else {
            return Err(Exception::throw_type(
                ctx,
                "this function waits, which only a user can do",
            ));
        };
        if seat.killed.get() {
            return Err(interrupted(ctx));
        }
        let pending = ctx.has_exception().then(|| ctx.catch());
        // SAFETY: the seat is the running fibre's, so its yielder is that of the stack that runs, and the
        // runtime is live: it called. The state is restored before the fibre's code continues.
        let wake = unsafe {
            let state = self.0.layout.take(self.0.rt);
            let wake = (*seat.yielder.get()).suspend(call);
            self.0.layout.put(self.0.rt, state);
            wake
        };
        self.limit_stack(seat.floor);
        if let Some(value) = pending {
            ctx.throw(value);
        }
        match wake {
            FibreWake::Answer(answer) => Ok(answer),
            FibreWake::Begin | FibreWake::Kill => Err(interrupted(ctx)),
        }
    }

    /// Return the memory of earlier, deeper calls of the running fibre to the system, before a long wait. It costs
    /// a call of the system, and a page fault for each page that is touched again.
    pub fn release_stack(&self) {
        if let Some(seat) = self.seat() {
            release_below(seat.floor);
        }
    }

    /// A function of JavaScript that calls `f` with its arguments. If `f` panics, the fibre ends, and the
    /// panic continues where the fibre was resumed; no panic passes through a frame of C.
    ///
    /// # Errors
    ///
    /// QuickJS's, if it is out of memory.
    pub fn function<'js, F>(
        &self,
        ctx: &Ctx<'js>,
        name: &str,
        f: F,
    ) -> rquickjs::Result<Function<'js>>
    where
        F: Fn(&Ctx<'js>, &[Value<'js>]) -> rquickjs::Result<Value<'js>> + 'js,
        Q: 'js,
        A: 'js,
    {
        let host = self.clone();
        let call = move |ctx: Ctx<'js>, arguments: Rest<Value<'js>>| {
            let run = || f(&ctx, &arguments.0);
            match (catch_unwind(AssertUnwindSafe(run)), host.seat()) {
                (Ok(result), _) => result,
                (Err(panic), Some(seat)) => {
                    seat.killed.set(true);
                    seat.panic.replace(Some(panic));
                    Err(interrupted(&ctx))
                }
                // Outside of a fibre, rquickjs carries the panic over the frames of C.
                (Err(panic), None) => resume_unwind(panic),
            }
        };
        Function::new(ctx.clone(), call)?.with_name(name)
    }

    /// Run the queued jobs of the running user until none is left: reactions of promises.
    ///
    /// # Errors
    ///
    /// The error of a killed fibre. Errors of jobs themselves reject promises, and are not errors here.
    pub fn run_jobs(&self, ctx: &Ctx<'_>) -> rquickjs::Result<()> {
        loop {
            if self.seat().is_some_and(|seat| seat.killed.get()) {
                return Err(interrupted(ctx));
            }
            let mut of = ptr::null_mut();
            // SAFETY: `ctx` is of the runtime, so the runtime is live.
            match unsafe { qjs::JS_ExecutePendingJob(self.0.rt, &raw mut of) } {
                0 => return Ok(()),
                1 => {}
                _ => drop(ctx.catch()),
            }
        }
    }

    /// Set the depth at which QuickJS refuses calls, for the stack that runs now.
    pub(crate) fn limit_stack(&self, floor: usize) {
        let here = 0_u8;
        let depth = (&raw const here as usize).saturating_sub(floor).max(1);
        // SAFETY: the runtime is live: its code runs next. The limit is `floor` less the bytes between this
        // frame and that of `JS_UpdateStackTop`, some hundred.
        unsafe {
            qjs::JS_UpdateStackTop(self.0.rt);
            qjs::JS_SetMaxStackSize(self.0.rt, depth as _);
        }
    }

    /// Let the fibre of `seat` have the runtime until the result is dropped.
    fn lend(&self, seat: &Rc<Seat<Q, A>>) -> Lent<'_, Q, A> {
        // SAFETY: the coroutine of the fibre holds a context, which keeps the runtime.
        let state = unsafe { self.0.layout.take(self.0.rt) };
        let before = self.0.current.replace(Some(seat.clone()));
        Lent {
            host: self,
            state: Some(state),
            before,
        }
    }
}

/// The runtime's state before a fibre ran.
struct Lent<'a, Q, A> {
    host: &'a Host<Q, A>,
    state: Option<Saved>,
    before: Option<Rc<Seat<Q, A>>>,
}

impl<Q, A> Drop for Lent<'_, Q, A> {
    fn drop(&mut self) {
        let inner = &self.host.0;
        *inner.current.borrow_mut() = self.before.take();
        if let Some(state) = self.state.take().filter(Saved::is_used) {
            // SAFETY: the fibre has taken its state, or has ended without jobs, so the list is empty. A
            // state that is used belongs to code that has called from a live runtime.
            unsafe { inner.layout.put(inner.rt, state) };
        }
    }
}

/// Throw an error that JavaScript cannot catch.
fn interrupted(ctx: &Ctx<'_>) -> Error {
    match Exception::from_message(ctx.clone(), "interrupted") {
        Ok(error) => {
            // SAFETY: the value is an error of the live context.
            unsafe { qjs::JS_SetUncatchableError(ctx.as_raw().as_ptr(), error.as_raw()) };
            ctx.throw(error.into_value())
        }
        Err(error) => error,
    }
}

/// A task of one user, which runs on its own stack and can wait in the middle of any call.
///
/// A fibre that is dropped while it waits is killed: its functions return at once, without running any
/// code of the script, and its queued jobs are freed.
pub struct Fibre<Q: 'static, A: 'static, R: 'static> {
    coroutine: Coroutine<FibreWake<A>, Q, R, Stack>,
    seat: Rc<Seat<Q, A>>,
    host: Host<Q, A>,
}

impl<Q: 'static, A: 'static, R: 'static> Fibre<Q, A, R> {
    pub(crate) fn new<F>(
        host: Host<Q, A>,
        context: Context,
        user: UserId,
        stack: Stack,
        task: F,
    ) -> Self
    where
        F: for<'js> FnOnce(Ctx<'js>) -> R + 'static,
    {
        let seat = Rc::new(Seat {
            user,
            yielder: Cell::new(ptr::null()),
            floor: stack.floor(),
            killed: Cell::new(false),
            panic: RefCell::new(None),
        });
        let (own, of) = (seat.clone(), host.clone());
        let coroutine = Coroutine::with_stack(stack, move |yielder, _| {
            own.yielder.set(yielder);
            of.limit_stack(own.floor);
            let result = run(&of, &context, task);
            drop(context);
            match (own.panic.take(), result) {
                (Some(panic), _) | (None, Err(panic)) => resume_unwind(panic),
                (None, Ok(result)) => result,
            }
        });
        Self {
            coroutine,
            seat,
            host,
        }
    }

    /// The user of this fibre.
    #[must_use]
    pub fn user(&self) -> UserId {
        self.seat.user
    }

    /// Run the task until it waits or ends. A panic of the task or of its host functions continues here.
    ///
    /// # Panics
    ///
    /// If the fibre has begun before, or has ended.
    pub fn begin(&mut self) -> Turn<Q, R> {
        assert!(!self.coroutine.started(), "a fibre begins once");
        self.switch(FibreWake::Begin)
    }

    /// Answer the call that the fibre waits for, and continue until the fibre waits again or ends.
    ///
    /// # Panics
    ///
    /// If the fibre does not wait.
    pub fn resume(&mut self, answer: A) -> Turn<Q, R> {
        assert!(self.waits(), "only a fibre that waits can be resumed");
        self.switch(FibreWake::Answer(answer))
    }

    fn waits(&self) -> bool {
        self.coroutine.started() && !self.coroutine.done()
    }

    fn switch(&mut self, wake: FibreWake<A>) -> Turn<Q, R> {
        let _lent = self.host.lend(&self.seat);
        match self.coroutine.resume(wake) {
            CoroutineResult::Yield(call) => Turn::Waits(call),
            CoroutineResult::Return(result) => Turn::Ended(result),
        }
    }
}

/// Run a task, and leave nothing of it in the runtime.
fn run<Q: 'static, A: 'static, R, F>(
    host: &Host<Q, A>,
    context: &Context,
    task: F,
) -> Result<R, Panic>
where
    F: for<'js> FnOnce(Ctx<'js>) -> R,
{
    // SAFETY: `context` outlives the result of `task`, which has no lifetime of JavaScript.
    let ctx = unsafe { Ctx::from_raw(context.as_raw()) };
    let inner = ctx.clone();
    let result = catch_unwind(AssertUnwindSafe(|| task(inner)));
    if ctx.has_exception() {
        drop(ctx.catch());
    }
    // SAFETY: the runtime is that of `context`.
    unsafe { host.0.layout.discard_jobs(host.0.rt) };
    result
}

impl<Q: 'static, A: 'static, R: 'static> Drop for Fibre<Q, A, R> {
    fn drop(&mut self) {
        self.seat.killed.set(true);
        // A killed fibre cannot wait, so that one turn ends it, unless the task itself swallows errors.
        while self.waits() {
            self.switch(FibreWake::Kill);
        }
    }
}
