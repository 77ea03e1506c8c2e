//! One script in one virtual machine, which goes away with it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::OnceLock;
use std::time::Duration;

use mlua::chunk::{ChunkMode, Compiler};
use mlua::{Function, Lua, LuaOptions, MultiValue, StdLib, Value as LuaValue, VmState};
use nix::time::ClockId;

use crate::limits::OUTPUT_BYTES_MAX;
use crate::offer::{Ask, offer};
use crate::protocol::{Done, Job, Sight};
use crate::to_json::{text_of, to_json};
use crate::{LimitKind, ScriptError};

/// The name by which errors call a script.
const NAME: &str = "script";
const PRELUDE: &str = include_str!("prelude.luau");
static PRELUDE_CODE: OnceLock<Vec<u8>> = OnceLock::new();
/// What the library calls it when memory runs out.
const NO_MEMORY: &str = "not enough memory";
/// How often the clock is looked at, in steps.
const LOOK_EVERY: u64 = 256;

/// What is spent, and what was printed.
struct Meter {
    steps: Cell<u64>,
    reached: Cell<Option<LimitKind>>,
    printed: RefCell<Vec<u8>>,
    printed_truncated: Cell<bool>,
}

/// Runs a script on a sight and gives its value.
pub(crate) fn evaluate(job: &Job, sight: Sight, ask: Rc<dyn Ask>) -> Result<Done, ScriptError> {
    let code = compile(&job.source)?;
    let vm = Vm::new(job)?;
    let value = vm.run(job, &code, sight, ask)?;
    let value = to_json(&value).map_err(ScriptError::Value)?;
    let printed = vm.printed();
    let value = Some(value).filter(|value| !value.is_null()).map(|value| value.to_string());
    Ok(Done { value, printed, printed_truncated: vm.meter.printed_truncated.get() })
}

/// A script that scores sights, each in a machine of its own and with limits of its own, so that no line's score depends
/// on others.
pub(crate) struct Scoring<'a> {
    job: &'a Job,
    code: Vec<u8>,
    ask: Rc<dyn Ask>,
}

impl<'a> Scoring<'a> {
    /// `ask` is where it asks what glyphs are called.
    pub(crate) fn new(job: &'a Job, ask: Rc<dyn Ask>) -> Result<Self, ScriptError> {
        Ok(Self { job, code: compile(&job.source)?, ask })
    }

    /// The number that it gives for a sight, or why there is none.
    pub(crate) fn score(&self, sight: Sight) -> Result<Result<f64, String>, ScriptError> {
        let vm = Vm::new(self.job)?;
        match vm.run(self.job, &self.code, sight, Rc::clone(&self.ask)) {
            Ok(value) => Ok(number(&value)),
            Err(error @ ScriptError::Runtime { .. }) => Ok(Err(error.to_string())),
            Err(error) => Err(error),
        }
    }
}

fn number(value: &LuaValue) -> Result<f64, String> {
    let number = match value {
        LuaValue::Integer(number) => *number as f64,
        LuaValue::Number(number) => *number,
        LuaValue::Boolean(flag) => f64::from(u8::from(*flag)),
        other => return Err(format!("the script gave a {}, not a number", other.type_name())),
    };
    if number.is_finite() { Ok(number) } else { Err(format!("the script gave {number}")) }
}

/// The CPU time of the one thread that there is: what else the computer does has no part in it.
fn cpu_time() -> Duration {
    ClockId::CLOCK_THREAD_CPUTIME_ID.now().map(Duration::from).unwrap_or_default()
}

struct Vm {
    lua: Lua,
    meter: Rc<Meter>,
    /// The library's own, out of reach of the script.
    pcall: Function,
    /// Makes a function that raises what another refuses.
    raising: Function,
    /// Whether memory ran out at any time.
    ran_out: Function,
}

impl Vm {
    fn new(job: &Job) -> Result<Self, ScriptError> {
        let meter = Rc::new(Meter {
            steps: Cell::new(0),
            reached: Cell::new(None),
            printed: RefCell::default(),
            printed_truncated: Cell::new(false),
        });
        let prepared = prepare(job, &meter);
        let (lua, [raising, ran_out], pcall) = prepared.map_err(|error| ScriptError::Lost(error.to_string()))?;
        Ok(Self { lua, meter, pcall, raising, ran_out })
    }

    fn run(&self, job: &Job, code: &[u8], sight: Sight, ask: Rc<dyn Ask>) -> Result<LuaValue, ScriptError> {
        let function = self.load(code).map_err(|error| self.runtime(&error.to_string()))?;
        let given = offer(&self.lua, &self.raising, sight, ask);
        given.map_err(|error| self.runtime(&error.to_string()))?;
        let deadline = cpu_time().saturating_add(job.stop_after);
        let (meter, steps) = (Rc::clone(&self.meter), job.limits.steps);
        self.lua.set_interrupt(move |_| meter.step(steps, deadline));
        let outcome = self.pcall.call::<MultiValue>(function);
        self.lua.remove_interrupt();
        if self.ran_out.call::<bool>(()).unwrap_or(true) {
            self.meter.reach(LimitKind::Memory);
        }
        if let Some(kind) = self.meter.reached.get() {
            return Err(self.limit(kind, job));
        }
        let mut values = match outcome {
            Ok(values) => values,
            Err(mlua::Error::MemoryError(_)) => return Err(self.limit(LimitKind::Memory, job)),
            Err(error) => return Err(self.runtime(&cause(&error))),
        };
        match (values.pop_front(), values.len()) {
            (Some(LuaValue::Boolean(true)), 0 | 1) => Ok(values.pop_front().unwrap_or(LuaValue::Nil)),
            (Some(LuaValue::Boolean(true)), count) => {
                Err(ScriptError::Value(format!("there are {count} of them: return one, a table for several")))
            }
            _ => Err(self.failed(&values.pop_front().unwrap_or(LuaValue::Nil), job)),
        }
    }

    fn load(&self, code: &[u8]) -> mlua::Result<Function> {
        self.lua.load(code).set_name(format!("={NAME}")).set_mode(ChunkMode::Binary).into_function()
    }

    fn printed(&self) -> String {
        text_of(&self.meter.printed.borrow())
    }

    fn limit(&self, kind: LimitKind, job: &Job) -> ScriptError {
        let max = match kind {
            LimitKind::Steps => job.limits.steps,
            LimitKind::Time => u64::try_from(job.limits.cpu.as_millis()).unwrap_or(u64::MAX),
            LimitKind::Memory => job.limits.memory_bytes as u64,
        };
        ScriptError::Limit { kind, max, printed: self.printed() }
    }

    fn runtime(&self, message: &str) -> ScriptError {
        let (line, message) = placed(message);
        ScriptError::Runtime { line, message, printed: self.printed() }
    }

    /// What a script has raised.
    fn failed(&self, raised: &LuaValue, job: &Job) -> ScriptError {
        match raised {
            LuaValue::String(text) if text.as_bytes() == NO_MEMORY => self.limit(LimitKind::Memory, job),
            LuaValue::String(text) => self.runtime(&text_of(&text.as_bytes())),
            LuaValue::Error(error) => self.runtime(&cause(error)),
            other => self.runtime(&format!("it raised a {}", other.type_name())),
        }
    }
}

impl Meter {
    /// A limit was reached; the first one counts.
    fn reach(&self, kind: LimitKind) {
        if self.reached.get().is_none() {
            self.reached.set(Some(kind));
        }
    }

    fn step(&self, steps_max: u64, deadline: Duration) -> mlua::Result<VmState> {
        let steps = self.steps.get() + 1;
        self.steps.set(steps);
        if steps > steps_max {
            self.reach(LimitKind::Steps);
        } else if steps.is_multiple_of(LOOK_EVERY) && cpu_time() >= deadline {
            self.reach(LimitKind::Time);
        }
        match self.reached.get() {
            None => Ok(VmState::Continue),
            // Raised again at each further step, so that no handler can go on; and the script's end does not hide it.
            Some(kind) => Err(mlua::Error::runtime(format!("the limit of {} was reached", kind.word()))),
        }
    }

    fn print(&self, text: &[u8]) {
        let mut printed = self.printed.borrow_mut();
        let room = OUTPUT_BYTES_MAX.saturating_sub(printed.len());
        let line = text.iter().copied().chain([b'\n']);
        printed.extend(line.take(room));
        if text.len() >= room {
            self.printed_truncated.set(true);
        }
    }
}

fn compiler() -> Compiler {
    // What is replaced must be called where it is named, not the library's own in its stead.
    let replaced = ["tostring", "print", "string.format", "string.rep", "table.move", "pcall", "xpcall"];
    // And what a script writes into its own `nh` is what it then reads there.
    let compiler = Compiler::new().set_disabled_builtins(replaced).set_mutable_globals(["nh"]);
    compiler.set_optimization_level(1).set_debug_level(1)
}

/// Code of our own compiler, the only one that is ever loaded: of an expression, if the text is one, else of a chunk.
fn compile(source: &str) -> Result<Vec<u8>, ScriptError> {
    let compiler = compiler();
    compiler.compile(format!("return {source}")).or_else(|of_expression| {
        compiler.compile(source).map_err(|error| {
            let error = if cause(&error).contains("Incomplete statement") { of_expression } else { error };
            let (line, message) = numbered(cause(&error).trim_start_matches(':'));
            ScriptError::Syntax { line, message }
        })
    })
}

fn prepare(job: &Job, meter: &Rc<Meter>) -> mlua::Result<(Lua, [Function; 2], Function)> {
    let libraries =
        StdLib::TABLE | StdLib::STRING | StdLib::MATH | StdLib::BIT | StdLib::UTF8 | StdLib::COROUTINE | StdLib::BUFFER;
    let lua = Lua::new_with(libraries, LuaOptions::new())?;
    lua.set_memory_limit(job.limits.memory_bytes)?;
    let printer = Rc::clone(meter);
    let emit = lua.create_function(move |_, text: mlua::LuaString| {
        printer.print(&text.as_bytes());
        Ok(())
    })?;
    let meter = Rc::clone(meter);
    let caught = lua.create_function(move |_, error: LuaValue| {
        let is_memory = is_memory(&error);
        if is_memory {
            meter.reach(LimitKind::Memory);
        }
        Ok(is_memory)
    })?;
    let pcall = lua.globals().raw_get("pcall")?;
    let prelude = match PRELUDE_CODE.get() {
        Some(code) => code,
        None => {
            let code = compiler().compile(PRELUDE)?;
            PRELUDE_CODE.get_or_init(|| code)
        }
    };
    let prelude = lua.load(prelude.as_slice()).set_name("=prelude").set_mode(ChunkMode::Binary);
    let (raising, ran_out) = prelude.call((emit, caught))?;
    lua.sandbox(true)?;
    Ok((lua, [raising, ran_out], pcall))
}

/// Whether what a script has caught says that memory ran out.
fn is_memory(error: &LuaValue) -> bool {
    fn is_memory(error: &mlua::Error) -> bool {
        match error {
            mlua::Error::MemoryError(_) => true,
            mlua::Error::CallbackError { cause, .. } | mlua::Error::WithContext { cause, .. } => is_memory(cause),
            _ => false,
        }
    }
    match error {
        LuaValue::String(text) => text.as_bytes() == NO_MEMORY,
        LuaValue::Error(error) => is_memory(error),
        _ => false,
    }
}

/// What lies under an error that has passed through functions of ours, without the calls that led there.
fn cause(error: &mlua::Error) -> String {
    match error {
        mlua::Error::CallbackError { cause: inner, .. } => cause(inner),
        mlua::Error::WithContext { cause: inner, .. } => cause(inner),
        mlua::Error::RuntimeError(text) => text.split("\nstack traceback:").next().unwrap_or_default().to_owned(),
        mlua::Error::SyntaxError { message, .. } => message.clone(),
        other => other.to_string(),
    }
}

/// A message of a script at work, and the line that it names.
fn placed(message: &str) -> (Option<u32>, String) {
    match message.strip_prefix(NAME).and_then(|rest| rest.strip_prefix(':')) {
        Some(rest) => numbered(rest),
        None => (None, shortened(message)),
    }
}

/// A text, and the line whose number stands before it.
fn numbered(text: &str) -> (Option<u32>, String) {
    let found = text.split_once(':').and_then(|(line, rest)| Some((line.parse().ok()?, rest)));
    match found {
        Some((line, rest)) => (Some(line), shortened(rest.trim_start())),
        None => (None, shortened(text)),
    }
}

fn shortened(text: &str) -> String {
    const MAX: usize = 2_000;
    if text.len() <= MAX { text.to_owned() } else { text.chars().take(MAX).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use wire::{Boundary, Frame};

    use super::*;
    use crate::ScriptLimits;
    use crate::offer::Nobody;

    /// Each limit holds by itself, whatever the host would do.
    #[test]
    fn a_script_is_stopped_by_the_limit_that_it_reaches_first() {
        let plenty = ScriptLimits { steps: 20_000_000, ..ScriptLimits::default() };
        let (soon, later) = (Duration::ZERO, Duration::from_secs(60));
        let filling = "local t = {} for i = 1, 100 do t[i] = ('x'):rep(100000) .. i end return #t";
        for (source, limits, stop_after, kind) in [
            ("while true do end", plenty, soon, LimitKind::Time),
            ("while true do end", ScriptLimits { steps: 5_000, ..plenty }, later, LimitKind::Steps),
            (filling, ScriptLimits { memory_bytes: 4 << 20, ..plenty }, later, LimitKind::Memory),
        ] {
            let job = Job { source: source.to_owned(), limits, stop_after };
            let sight = Sight { boundary: Boundary(0), frame: Frame::default(), ended: None };
            let stopped = evaluate(&job, sight, Rc::new(Nobody(|| None)));
            let reached = match &stopped {
                Err(ScriptError::Limit { kind, .. }) => Some(*kind),
                _ => None,
            };
            assert_eq!(reached, Some(kind), "{source}: {stopped:?}");
        }
    }
}
