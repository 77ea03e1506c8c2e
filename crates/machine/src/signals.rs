//! Faults of the game and the watchdog: both bring control back to the host, and the game is given up.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crate::{Machine, MachineError};

/// Faults that a broken game can raise.
const FAULTS: [i32; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL];
/// The watchdog's signal.
const TICK: i32 = libc::SIGVTALRM;
/// The handlers run on a stack of their own, since the game's may be what is broken.
const HANDLER_STACK_BYTES: usize = 64 << 10;

static IN_GAME: AtomicBool = AtomicBool::new(false);
static WATCHED: AtomicBool = AtomicBool::new(false);
static ABANDON: AtomicUsize = AtomicUsize::new(0);
static CAUGHT: AtomicI32 = AtomicI32::new(0);
static KEYS: AtomicU64 = AtomicU64::new(0);
static TICKED_KEY: AtomicU64 = AtomicU64::new(0);
static TICKS_EVER: AtomicU64 = AtomicU64::new(0);
static TICKS: AtomicU32 = AtomicU32::new(0);
static TICKS_MAX: AtomicU32 = AtomicU32::new(u32::MAX);

/// What stopped a game against its will.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caught {
    /// This signal.
    Fault(i32),
    /// The watchdog.
    Watchdog,
}

/// Runs the game once under the handlers.
pub(crate) fn run(resume: extern "C" fn()) -> Option<Caught> {
    CAUGHT.store(0, Ordering::Relaxed);
    KEYS.store(KEYS.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    IN_GAME.store(true, Ordering::SeqCst);
    resume();
    IN_GAME.store(false, Ordering::SeqCst);
    match CAUGHT.load(Ordering::Relaxed) {
        0 => None,
        TICK => Some(Caught::Watchdog),
        signal => Some(Caught::Fault(signal)),
    }
}

/// How often the watchdog has looked in this process.
pub(crate) fn ticks() -> u64 {
    TICKS_EVER.load(Ordering::Relaxed)
}

/// The host's own code under the watchdog, until this is dropped: also when it panics.
struct Watch;

impl Drop for Watch {
    fn drop(&mut self) {
        WATCHED.store(false, Ordering::SeqCst);
    }
}

impl Machine {
    /// The exit status of a process that [`Machine::watch`] has ended.
    pub const OVERTIME_STATUS: i32 = 124;

    /// Runs code that chooses keys. It may take as much CPU time as a key may; when it takes more, the process ends with
    /// [`Machine::OVERTIME_STATUS`], since nothing but its own code could unwind it.
    pub fn watch<T>(&self, work: impl FnOnce() -> T) -> T {
        KEYS.store(KEYS.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        WATCHED.store(true, Ordering::SeqCst);
        let _watch = Watch;
        work()
    }
}

/// Sends the interrupted game to the ROM's way back to the host.
fn abandon(signal: i32, context: *mut libc::c_void) {
    CAUGHT.store(signal, Ordering::Relaxed);
    let context = context.cast::<libc::ucontext_t>();
    // SAFETY: the kernel hands every SA_SIGINFO handler a valid context that nobody else uses.
    let context = unsafe { &mut *context };
    // The code there takes the stack pointer from the host's side, so whatever the game's is does no harm.
    context.uc_mcontext.gregs[libc::REG_RIP as usize] = ABANDON.load(Ordering::Relaxed) as i64;
}

extern "C" fn on_fault(signal: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    if IN_GAME.load(Ordering::SeqCst) {
        abandon(signal, context);
        return;
    }
    // The host's own fault: it happens again as soon as this returns, and then ends the process.
    // SAFETY: restoring the default action is allowed in a handler.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

extern "C" fn on_tick(signal: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    TICKS_EVER.fetch_add(1, Ordering::Relaxed);
    let key = KEYS.load(Ordering::Relaxed);
    let in_game = IN_GAME.load(Ordering::SeqCst);
    let counts = in_game || WATCHED.load(Ordering::SeqCst);
    if !counts || key != TICKED_KEY.load(Ordering::Relaxed) {
        TICKED_KEY.store(key, Ordering::Relaxed);
        TICKS.store(0, Ordering::Relaxed);
        return;
    }
    let ticks = TICKS.load(Ordering::Relaxed) + 1;
    TICKS.store(ticks, Ordering::Relaxed);
    if ticks >= TICKS_MAX.load(Ordering::Relaxed) {
        TICKS.store(0, Ordering::Relaxed);
        if !in_game {
            // SAFETY: ending the process at once is allowed in a handler.
            unsafe { libc::_exit(Machine::OVERTIME_STATUS) };
        }
        abandon(signal, context);
    }
}

/// The handlers of this process and the watchdog of this thread, taken back when dropped.
pub(crate) struct Handlers {
    before: Vec<(i32, libc::sigaction)>,
    stack_before: libc::stack_t,
    timer: libc::timer_t,
    _stack: Box<[u8]>,
}

fn system(what: &'static str) -> MachineError {
    MachineError::System { what, source: io::Error::last_os_error() }
}

type Handler = extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);

fn install(signal: i32, handler: Handler) -> Result<(i32, libc::sigaction), MachineError> {
    // SAFETY: all-zero bytes are a valid sigaction.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
    let mut before = action;
    // SAFETY: both pointers are to live values; the handler only touches atomics and its context.
    let failed = unsafe { libc::sigaction(signal, &raw const action, &raw mut before) };
    if failed == 0 { Ok((signal, before)) } else { Err(system("install a signal handler")) }
}

fn create_timer() -> Result<libc::timer_t, MachineError> {
    // SAFETY: all-zero bytes are a valid sigevent.
    let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
    event.sigev_notify = libc::SIGEV_THREAD_ID;
    event.sigev_signo = TICK;
    // SAFETY: gettid has no preconditions.
    event.sigev_notify_thread_id = unsafe { libc::gettid() };
    let mut timer = std::ptr::null_mut();
    // SAFETY: both pointers are to live values.
    let failed = unsafe { libc::timer_create(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut event, &raw mut timer) };
    if failed == 0 { Ok(timer) } else { Err(system("create the watchdog's timer")) }
}

impl Handlers {
    /// Installs the handlers; the watchdog counts the CPU time of the calling thread.
    pub(crate) fn install(abandon: usize, limit_ms: u64) -> Result<Self, MachineError> {
        ABANDON.store(abandon, Ordering::SeqCst);
        let mut stack = vec![0; HANDLER_STACK_BYTES].into_boxed_slice();
        let ours = libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: HANDLER_STACK_BYTES };
        let mut stack_before = ours;
        // SAFETY: the stack lives as long as the handlers do; both pointers are to live values.
        let failed = unsafe { libc::sigaltstack(&raw const ours, &raw mut stack_before) };
        if failed != 0 {
            return Err(system("set the handlers' stack"));
        }
        let mut before = Vec::new();
        for signal in FAULTS {
            before.push(install(signal, on_fault)?);
        }
        before.push(install(TICK, on_tick)?);
        let handlers = Self { before, stack_before, timer: create_timer()?, _stack: stack };
        handlers.set_limit(limit_ms)?;
        Ok(handlers)
    }

    /// Sets how much CPU time one key may take, in milliseconds; the watchdog looks four times in that time.
    pub(crate) fn set_limit(&self, limit_ms: u64) -> Result<(), MachineError> {
        let tick_ms = (limit_ms / 4).clamp(1, 1000);
        // The first tick of a key only notes it.
        let ticks = (limit_ms / tick_ms).clamp(1, u64::from(u32::MAX));
        TICKS_MAX.store(u32::try_from(ticks).unwrap_or(u32::MAX), Ordering::SeqCst);
        let interval = libc::timespec { tv_sec: (tick_ms / 1000) as i64, tv_nsec: (tick_ms % 1000 * 1_000_000) as i64 };
        let spec = libc::itimerspec { it_interval: interval, it_value: interval };
        // SAFETY: the timer is alive and the pointer is to a live value.
        let failed = unsafe { libc::timer_settime(self.timer, 0, &raw const spec, std::ptr::null_mut()) };
        if failed == 0 { Ok(()) } else { Err(system("set the watchdog's timer")) }
    }
}

impl Drop for Handlers {
    fn drop(&mut self) {
        // SAFETY: the timer is alive and not used again.
        let _ = unsafe { libc::timer_delete(self.timer) };
        for (signal, before) in &self.before {
            // SAFETY: what was in force before is valid to be in force again.
            let _ = unsafe { libc::sigaction(*signal, before, std::ptr::null_mut()) };
        }
        // SAFETY: the stack that was in force before belongs to the thread, which is alive.
        let _ = unsafe { libc::sigaltstack(&raw const self.stack_before, std::ptr::null_mut()) };
    }
}

/// The name of a fault.
pub(crate) fn name(signal: i32) -> &'static str {
    match signal {
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGILL => "SIGILL",
        _ => "a signal",
    }
}
