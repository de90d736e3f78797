//! What QuickJS keeps per runtime for the code that runs, and the exchange of it at a switch of fibres.
//!
//! QuickJS has no accessor for its innermost frame and its list of jobs. Their places within `JSRuntime`
//! are found by observation: a runtime of our own is watched word by word while a function is called and
//! while jobs are queued. The result holds for all runtimes of this build, because a build has one
//! `JSRuntime`. If a version of QuickJS keeps its state in another way, [`Layout::find`] fails.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::fmt;
use std::ptr;
use std::sync::OnceLock;

use rquickjs::qjs;

const WORD: usize = size_of::<usize>();

/// The places, in words, of the engine's state within `JSRuntime`, and of the function within a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// `current_stack_frame`: the innermost frame, or null.
    frame: usize,
    /// `job_list`: two words, the head of a circular list.
    jobs: usize,
    /// `job_func` within a queued job.
    function: usize,
}

/// Why the state of this build of QuickJS was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayoutError {
    /// The state that was looked for.
    state: &'static str,
    /// The number of places that behave like it; one is right.
    places: usize,
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { state, places } = self;
        write!(
            f,
            "this build of QuickJS is unknown: {places} places look like its {state}"
        )
    }
}

impl std::error::Error for LayoutError {}

/// One user's part of the engine's state while another user runs.
///
/// The queued jobs form a chain whose ends still point to the head in the runtime. Nothing follows these
/// two pointers before [`Layout::put`] sets them again.
pub(crate) struct Saved {
    frame: usize,
    jobs: Option<Chain>,
}

#[derive(Clone, Copy)]
struct Chain {
    first: *mut [usize; 2],
    last: *mut [usize; 2],
}

impl Saved {
    /// Whether anything ran or was queued.
    pub(crate) fn is_used(&self) -> bool {
        self.frame != 0 || self.jobs.is_some()
    }
}

impl Layout {
    /// The layout of this build, found once per process.
    pub(crate) fn find() -> Result<Self, LayoutError> {
        static FOUND: OnceLock<Result<Layout, LayoutError>> = OnceLock::new();
        *FOUND.get_or_init(|| {
            WatchedRuntime::new()
                .ok_or_else(|| none("runtime"))?
                .layout()
        })
    }

    /// Take the state of the running code, and leave the state of a runtime in which nothing runs.
    ///
    /// # Safety
    ///
    /// `rt` is a live runtime of this thread.
    pub(crate) unsafe fn take(self, rt: *mut qjs::JSRuntime) -> Saved {
        let base = rt.cast::<usize>();
        // SAFETY: both places are within the runtime, as `find` has observed. A list that is not empty
        // has a first and a last entry, whose first two words are their links.
        unsafe {
            let frame = ptr::replace(base.add(self.frame), 0);
            let head = base.add(self.jobs).cast::<[usize; 2]>();
            // `list_head` is {prev, next}: the last entry, then the first.
            let [last, first] = *head;
            if first == head as usize {
                return Saved { frame, jobs: None };
            }
            *head = [head as usize; 2];
            Saved {
                frame,
                jobs: Some(Chain {
                    first: first as *mut _,
                    last: last as *mut _,
                }),
            }
        }
    }

    /// Restore a state that [`take`](Self::take) has saved.
    ///
    /// # Safety
    ///
    /// `rt` is the live runtime that `saved` was taken from, the code of `saved` runs next, and the
    /// runtime's own state was taken before, so that its list of jobs is empty.
    pub(crate) unsafe fn put(self, rt: *mut qjs::JSRuntime, saved: Saved) {
        let base = rt.cast::<usize>();
        // SAFETY: as in `take`; the entries of `saved` belong to nobody else, since a state is moved.
        unsafe {
            *base.add(self.frame) = saved.frame;
            let Some(Chain { first, last }) = saved.jobs else {
                return;
            };
            let head = base.add(self.jobs).cast::<[usize; 2]>();
            (*first)[0] = head as usize;
            (*last)[1] = head as usize;
            *head = [last as usize, first as usize];
        }
    }

    /// Free all queued jobs without running them.
    ///
    /// # Safety
    ///
    /// `rt` is a live runtime of this thread.
    pub(crate) unsafe fn discard_jobs(self, rt: *mut qjs::JSRuntime) {
        let base = rt.cast::<usize>();
        let nothing: unsafe extern "C" fn(_, _, _) -> _ = no_job;
        // SAFETY: every entry of the list is a job, which has its function at the observed place. A job
        // that returns undefined only frees its values.
        unsafe {
            let head = base.add(self.jobs);
            while *head.add(1) != head as usize {
                *(*head.add(1) as *mut usize).add(self.function) = nothing as usize;
                let mut ctx = ptr::null_mut();
                qjs::JS_ExecutePendingJob(rt, &raw mut ctx);
            }
        }
    }
}

fn none(state: &'static str) -> LayoutError {
    LayoutError { state, places: 0 }
}

unsafe extern "C" fn no_job(
    _: *mut qjs::JSContext,
    _: c_int,
    _: *mut qjs::JSValue,
) -> qjs::JSValue {
    qjs::JS_UNDEFINED
}

/// A runtime of our own that is watched.
struct WatchedRuntime {
    rt: *mut qjs::JSRuntime,
    ctx: *mut qjs::JSContext,
    words: usize,
}

/// What [`look`] sees from within calls.
struct Sight {
    /// The address above all frames of the calls.
    top: usize,
    /// For each call and each word of the runtime: the frames of the chain that begins there.
    calls: [Vec<usize>; 2],
    /// The number of calls until now.
    number: usize,
}

impl WatchedRuntime {
    fn new() -> Option<Self> {
        let functions = qjs::JSMallocFunctions {
            js_calloc: Some(calloc),
            js_malloc: Some(malloc),
            js_free: Some(free),
            js_realloc: Some(realloc),
            js_malloc_usable_size: None,
        };
        FIRST_SIZE.set(0);
        // SAFETY: the functions are those of the C library. JS_NewRuntime2 copies them.
        unsafe {
            let rt = qjs::JS_NewRuntime2(&raw const functions, ptr::null_mut());
            if rt.is_null() {
                return None;
            }
            let words = FIRST_SIZE.get() / WORD;
            let ctx = qjs::JS_NewContext(rt);
            if ctx.is_null() {
                qjs::JS_FreeRuntime(rt);
                return None;
            }
            Some(Self { rt, ctx, words })
        }
    }

    fn layout(&self) -> Result<Layout, LayoutError> {
        let frame = self.frame()?;
        let (jobs, function) = self.jobs()?;
        Ok(Layout {
            frame,
            jobs,
            function,
        })
    }

    fn word(&self, place: usize) -> usize {
        // SAFETY: the runtime has `words` words, was zeroed when it was made, and nothing runs in it.
        unsafe { *self.rt.cast::<usize>().add(place) }
    }

    /// The innermost frame is null while nothing runs, and otherwise begins a chain of as many frames as
    /// functions are active.
    fn frame(&self) -> Result<usize, LayoutError> {
        const STATE: &str = "frame";
        let resting = |place: &usize| self.word(*place) == 0;
        let before: Vec<usize> = (0..self.words).filter(resting).collect();
        let top = 0_u8;
        let mut sight = Sight {
            top: &raw const top as usize,
            calls: [vec![0; self.words], vec![0; self.words]],
            number: 0,
        };
        self.call(&mut sight).ok_or_else(|| none(STATE))?;
        let [outer, inner] = &sight.calls;
        let found: Vec<usize> = before
            .into_iter()
            .filter(resting)
            .filter(|&place| outer[place] == 2 && inner[place] == 3)
            .collect();
        one(STATE, &found)
    }

    /// Call [`look`] from a function, and from a function within it.
    fn call(&self, sight: &mut Sight) -> Option<()> {
        const SOURCE: &std::ffi::CStr = c"(function (look) { look(); (function () { look() })() })";
        let Self { rt, ctx, .. } = *self;
        // SAFETY: the runtime and the context are live and of this thread; each value is freed once;
        // `sight` outlives the call, after which the runtime no longer has it.
        unsafe {
            qjs::JS_SetRuntimeOpaque(rt, ptr::from_mut(sight).cast());
            let flags = qjs::JS_EVAL_TYPE_GLOBAL as c_int;
            let length = SOURCE.count_bytes() as _;
            let outer = qjs::JS_Eval(ctx, SOURCE.as_ptr(), length, c"watch".as_ptr(), flags);
            let generic = qjs::JSCFunctionEnum_JS_CFUNC_generic;
            let mut look = qjs::JS_NewCFunction2(ctx, Some(look), c"look".as_ptr(), 0, generic, 0);
            let result = qjs::JS_Call(ctx, outer, qjs::JS_UNDEFINED, 1, &raw mut look);
            let called = !qjs::JS_IsException(result);
            for value in [outer, look, result] {
                qjs::JS_FreeValue(ctx, value);
            }
            qjs::JS_SetRuntimeOpaque(rt, ptr::null_mut());
            (called && sight.number == 2).then_some(())
        }
    }

    /// The list of jobs points to itself while no job is queued, and otherwise to jobs that point back.
    fn jobs(&self) -> Result<(usize, usize), LayoutError> {
        const STATE: &str = "list of jobs";
        let address = |place: usize| self.rt as usize + place * WORD;
        let empty = |place: &usize| {
            self.word(*place) == address(*place) && self.word(*place + 1) == address(*place)
        };
        let before: Vec<usize> = (0..self.words - 1).filter(empty).collect();
        // SAFETY: the context is live, and the job has no values.
        let queued = unsafe { qjs::JS_EnqueueJob(self.ctx, Some(no_job), 0, ptr::null_mut()) } == 0;
        let found: Vec<usize> = before
            .into_iter()
            .filter(|&place| {
                let [last, first] = [self.word(place), self.word(place + 1)];
                let linked = first == last && first != address(place) && queued;
                // SAFETY: a list of one entry changed from empty: `first` is that entry.
                linked && unsafe { *(first as *const [usize; 2]) } == [address(place); 2]
            })
            .collect();
        let place = one(STATE, &found)?;
        let nothing: unsafe extern "C" fn(_, _, _) -> _ = no_job;
        let job = self.word(place + 1) as *const usize;
        // SAFETY: a job has five words at least: two links, its context, its function and the number of
        // its values.
        let function: Vec<usize> = (2..5)
            .filter(|&word| unsafe { *job.add(word) } == nothing as usize)
            .collect();
        let function = one("function of a job", &function)?;
        let mut ctx = ptr::null_mut();
        // SAFETY: the runtime is live; the queued job is `no_job`.
        let ran = unsafe { qjs::JS_ExecutePendingJob(self.rt, &raw mut ctx) } == 1;
        if ran && empty(&place) {
            Ok((place, function))
        } else {
            Err(none(STATE))
        }
    }
}

impl Drop for WatchedRuntime {
    fn drop(&mut self) {
        // SAFETY: both are live and freed once.
        unsafe {
            qjs::JS_FreeContext(self.ctx);
            qjs::JS_FreeRuntime(self.rt);
        }
    }
}

fn one(state: &'static str, found: &[usize]) -> Result<usize, LayoutError> {
    match found {
        [place] => Ok(*place),
        places => Err(LayoutError {
            state,
            places: places.len(),
        }),
    }
}

/// Note for each word of the runtime how many frames the chain has that begins there.
unsafe extern "C" fn look(
    ctx: *mut qjs::JSContext,
    _: qjs::JSValue,
    _: c_int,
    _: *mut qjs::JSValue,
) -> qjs::JSValue {
    let low = 0_u8;
    // SAFETY: QuickJS calls with a live context; the runtime's opaque value is the `Sight` of the caller,
    // which has a number for each word.
    unsafe {
        let rt = qjs::JS_GetRuntime(ctx);
        let sight = &mut *qjs::JS_GetRuntimeOpaque(rt).cast::<Sight>();
        let stack = (&raw const low as usize)..sight.top;
        if let Some(lengths) = sight.calls.get_mut(sight.number) {
            for (place, length) in lengths.iter_mut().enumerate() {
                *length = chain(*rt.cast::<usize>().add(place), &stack);
            }
        }
        sight.number += 1;
    }
    qjs::JS_UNDEFINED
}

/// The entries of a chain of addresses that grow within `stack` and end with null; 0 if it is none.
///
/// # Safety
///
/// `stack` is a part of this thread's stack that is in use.
unsafe fn chain(mut address: usize, stack: &std::ops::Range<usize>) -> usize {
    let mut entries = 0;
    while address != 0 {
        if !stack.contains(&address) || !address.is_multiple_of(WORD) {
            return 0;
        }
        // SAFETY: the address is within memory in use, and aligned.
        let next = unsafe { ptr::read_volatile(address as *const usize) };
        if next != 0 && next <= address {
            return 0;
        }
        address = next;
        entries += 1;
    }
    entries
}

thread_local! {
    /// The size of the first allocation since this was 0: that of the watched runtime.
    static FIRST_SIZE: Cell<usize> = const { Cell::new(0) };
}

unsafe extern "C" fn calloc(_: *mut c_void, count: qjs::size_t, size: qjs::size_t) -> *mut c_void {
    if FIRST_SIZE.get() == 0 {
        FIRST_SIZE.set(count as usize * size as usize);
    }
    // SAFETY: any sizes are allowed.
    unsafe { libc::calloc(count as _, size as _) }
}

unsafe extern "C" fn malloc(_: *mut c_void, size: qjs::size_t) -> *mut c_void {
    // SAFETY: any size is allowed.
    unsafe { libc::malloc(size as _) }
}

unsafe extern "C" fn free(_: *mut c_void, memory: *mut c_void) {
    // SAFETY: QuickJS frees what these functions have allocated, once.
    unsafe { libc::free(memory) }
}

unsafe extern "C" fn realloc(
    _: *mut c_void,
    memory: *mut c_void,
    size: qjs::size_t,
) -> *mut c_void {
    // SAFETY: QuickJS resizes what these functions have allocated.
    unsafe { libc::realloc(memory, size as _) }
}
