//! Scripts that mean no good: each ends in time, with a clear error or a harmless value.

use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use script::{Evaluated, LimitKind, ScriptError, ScriptLimits, Seen};
use serde_json::{Value, json};
use wire::Boundary;

use crate::support::{Game, eval, eval_on, frame, scripts, trial, value};

#[expect(clippy::disallowed_methods, reason = "that scripts end in time is what is tested")]
fn timed(source: &str) -> Result<Evaluated, ScriptError> {
    let scripts = scripts();
    // A process that is there already: how long one takes to start is another matter.
    eval_on(&scripts, "1", &mut Game::default()).unwrap();
    let start = Instant::now();
    let outcome = eval_on(&scripts, source, &mut Game::default());
    let took = start.elapsed();
    // Its CPU time is what bounds it; how long that takes is a matter of what else runs.
    assert!(took < Duration::from_secs(60), "{source}: {took:?}");
    outcome
}

fn is_limited(source: &str, kinds: &[LimitKind]) {
    match timed(source) {
        // On a slow machine any of them may run out of time first.
        Err(ScriptError::Limit { kind, .. }) if kind == LimitKind::Time || kinds.contains(&kind) => {}
        other => panic!("{source}: {other:?}"),
    }
}

/// It is stopped in its machine, at a step that is the same everywhere: nothing hides the limit from it.
fn is_stopped(source: &str) {
    let (frame, limits) = (frame(300), ScriptLimits { steps: 50_000, ..ScriptLimits::default() });
    let seen = Seen { boundary: Boundary(300), frame: &frame, ended: None };
    let outcome = scripts().eval(source, &seen, &limits, &mut Game::default(), &|| false);
    assert!(matches!(outcome, Err(ScriptError::Limit { kind: LimitKind::Steps, .. })), "{source}: {outcome:?}");
}

fn is_error(source: &str, word: &str) {
    match timed(source) {
        Err(ScriptError::Runtime { message, .. }) => assert!(message.contains(word), "{source}: {message}"),
        other => panic!("{source}: {other:?}"),
    }
}

pub(crate) fn tests() -> Vec<Trial> {
    use LimitKind::{Memory, Steps};
    vec![
        trial("loops_end_whatever_swallows_their_errors", || {
            for source in [
                "while true do end",
                "coroutine.wrap(function() while true do end end)()",
                "local co = coroutine.create(function() while true do end end) while true do coroutine.resume(co) end",
                "coroutine.wrap(function() coroutine.wrap(function() while true do end end)() end)()",
                "while true do pcall(function() while true do end end) end",
                "pcall(function() while true do end end) return 1",
                "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
                "xpcall(error, function() while true do end end)",
                "xpcall(function() while true do end end, function() while true do end end) return 1",
                "repeat until false",
                "for i = 1, math.huge do end",
                "setmetatable({}, {__index = function(t, k) while true do end end}).x = nil \
                 return setmetatable({}, {__index = function() while true do end end}).x",
                "for _ in function() return 1 end do end",
                "goto_ = 1 while true do local ok = pcall(pcall, pcall, error) end",
            ] {
                is_limited(source, &[Steps]);
                is_stopped(source);
            }
        }),
        trial("patterns_and_callbacks_end", || {
            is_limited("(('a'):rep(30)):find(('.-'):rep(15) .. 'b')", &[Steps]);
            is_limited("(('a'):rep(30)):find(('a*'):rep(30) .. 'b')", &[Steps]);
            is_limited("(('a'):rep(30)):gsub('a', function() while true do end end)", &[Steps]);
            is_limited("(('a'):rep(8000000)):find(('a'):rep(4000000) .. 'b', 1, true)", &[Steps]);
            is_limited("local s = {3, 1, 2, 5, 4} table.sort(s, function() while true do end end)", &[Steps]);
        }),
        trial("memory_is_bounded", || {
            is_limited("local s = 'x' while true do s = s .. s end", &[Memory]);
            is_limited("local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end", &[Memory, Steps]);
            is_limited("return table.create(10000000, 1)", &[Memory]);
            is_error("return table.create(100000000, 1)", "table overflow");
            is_limited("return buffer.create(1000000000)", &[Memory]);
            is_error("return ('x'):rep(1024):rep(1000000)", "string.rep");
            assert_eq!(timed("return (''):rep(1000000000)").unwrap().value, Some(json!("")));
            assert_eq!(timed("return string.rep('x', -5)").unwrap().value, Some(json!("")));
        }),
        trial("memory_that_ran_out_ends_a_script_whatever_it_catches", || {
            let fill =
                "local t, s = {}, ('x'):rep(1000000) local function fill() while true do t[#t + 1] = s .. #t end end ";
            for swallow in [
                "pcall(fill) return 7",
                "pcall(fill) t = nil while true do end",
                "pcall(fill) t = nil for i = 1, 10 do pcall(print, i) end return 7",
                "while true do pcall(fill) end",
                "xpcall(fill, function(text) return 'quiet' end) return 7",
                "xpcall(fill, function() error('other') end) return 7",
                "xpcall(fill, fill) return 7",
                "xpcall(error, fill) return 7",
                "xpcall(error, function() pcall(fill) end) return 7",
                "pcall(pcall, fill) return 7",
                "coroutine.resume(coroutine.create(fill)) return 7",
                "pcall(coroutine.wrap(fill)) return 7",
                "pcall(coroutine.wrap(function() coroutine.yield(pcall(fill)) end)) return 7",
                "local co = coroutine.create(fill) coroutine.resume(co) coroutine.close(co) return 7",
                "pcall(table.sort, {1, 2, 3}, fill) return 7",
                "pcall(string.gsub, 'abc', 'b', fill) return 7",
                "pcall(function() return setmetatable({}, {__index = fill}).x end) return 7",
                "pcall(buffer.create, 1000000000) return 7",
                "pcall(table.create, 30000000, 1) return 7",
                "pcall(function() fill() end) error('hidden')",
                "pcall(fill) return {fill}",
            ] {
                for _ in 0..2 {
                    let outcome = timed(&format!("{fill}{swallow}"));
                    let is_memory = matches!(outcome, Err(ScriptError::Limit { kind: Memory, max: 67_108_864, .. }));
                    assert!(is_memory, "{swallow}: {outcome:?}");
                }
            }
            // What only looks alike is the script's own; a coroutine's error names both places.
            let own = "local ok, text = pcall(error, 'out of memory') return {ok, text}";
            assert_eq!(timed(own).unwrap().value, Some(json!([false, "out of memory"])));
            let inner = "local ok, text = pcall(coroutine.wrap(function() error('no') end)) return text";
            assert_eq!(timed(inner).unwrap().value, Some(json!("script:1: no")));
            for (source, word) in [
                ("pcall()", "argument #1"),
                ("xpcall(print)", "xpcall"),
                ("coroutine.wrap(1)", "wrap"),
                ("coroutine.resume(1)", "resume"),
            ] {
                let outcome = timed(source);
                let is_named = matches!(&outcome, Err(ScriptError::Runtime { line: Some(1), message, .. })
                    if message.contains(word));
                assert!(is_named, "{source}: {outcome:?}");
            }
            let values = "local f = coroutine.wrap(function(a, ...) local b = coroutine.yield(a, ...) return b end) \
                          local a, b = f(1, nil, 3) return {a, select('#', pcall(f, 4)), (xpcall(function(x) return x end, print, 5))}";
            assert_eq!(timed(values).unwrap().value, Some(json!([1, 2, true])));
        }),
        trial("bulk_functions_are_bounded", || {
            is_error("return table.move({1}, 1, 1000000000, 1, {})", "table.move");
            is_error("return table.move({1}, -9007199254740991, 9007199254740991, 1, {})", "table.move");
            is_error("return table.move({1}, 1, 0/0, 1, {})", "table.move");
            is_error("return table.unpack({}, 1, 100000000)", "unpack");
            is_error("return string.format('%999999999d', 1)", "format");
            is_error("return string.byte(('x'):rep(10000000), 1, -1)", "too long");
            is_error("return table.concat({}, 'x', 1, 1000000000)", "concat");
            is_limited("local t = table.create(1000000, 1) while true do table.insert(t, 1, 1) end", &[Steps, Memory]);
            is_limited("local b = buffer.create(30000000) while true do buffer.fill(b, 0, 1) end", &[Steps]);
            is_limited("local s = ('x'):rep(16000000) while true do local _ = s:reverse() end", &[Steps, Memory]);
            is_limited("while true do nh.cells() end", &[Steps, Memory]);
            is_limited("while true do nh.frames(200) end", &[Steps, Memory]);
            is_limited("while true do nh.message_log(1000) end", &[Steps, Memory]);
        }),
        trial("recursion_ends", || {
            for source in [
                "local function f() return f() end f()",
                "local function f() return 1 + f() end return f()",
                "local t = setmetatable({}, {}) getmetatable(t).__index = function(_, k) return t[k .. 'x'] end return t.x",
                "local t = setmetatable({}, {}) getmetatable(t).__index = t return t.x",
                "local t = setmetatable({}, {__tostring = function(t) return tostring(t) end}) return tostring(t)",
                "local t = setmetatable({}, {__concat = function(a, b) return a .. b end}) return t .. t",
                "local t = setmetatable({}, {__eq = function(a, b) return a == b end}) return t == setmetatable({}, getmetatable(t))",
                "local t = setmetatable({}, {__call = function(self) return self() + 1 end}) return t()",
                "local function f() return coroutine.wrap(f)() end return f()",
                "local function f() return pcall(f) end return (f())",
            ] {
                match timed(source) {
                    Ok(_) | Err(ScriptError::Runtime { .. } | ScriptError::Limit { .. }) => {}
                    other => panic!("{source}: {other:?}"),
                }
            }
            // Deep texts, which the compiler must refuse or survive.
            for source in [
                format!("return {}1{}", "(".repeat(30_000), ")".repeat(30_000)),
                format!("return {}{}", "{".repeat(30_000), "}".repeat(30_000)),
                format!("return {}1", "-".repeat(2).repeat(0) + &"not ".repeat(15_000)),
                "do ".repeat(20_000),
                format!("return 1{}", "..1".repeat(20_000)),
                format!("local x: {}number", "(".repeat(60_000)),
                "x = function() ".repeat(4_000),
                "\u{0}".repeat(60_000),
                "if x then else".repeat(4_000),
            ] {
                match timed(&source) {
                    Ok(_)
                    | Err(ScriptError::Syntax { .. } | ScriptError::Runtime { .. } | ScriptError::Limit { .. }) => {}
                    other => panic!("{}…: {other:?}", &source[..30]),
                }
            }
        }),
        trial("there_is_no_way_to_the_host", || {
            for name in [
                "io",
                "os",
                "package",
                "require",
                "load",
                "loadstring",
                "loadfile",
                "dofile",
                "debug",
                "collectgarbage",
                "newproxy",
                "getfenv",
                "setfenv",
                "gcinfo",
                "math.random",
                "math.randomseed",
                "math.noise",
                "vector",
                "string.dump",
                "table.foo",
                "integer",
                "rawiter",
            ] {
                assert_eq!(value(&format!("type({name})")), json!("nil"), "{name}");
            }
            let names = value("local n = {} for k in pairs(_G) do n[#n + 1] = k end table.sort(n) return n");
            let expected = [
                "_G",
                "_VERSION",
                "assert",
                "bit32",
                "buffer",
                "coroutine",
                "error",
                "getmetatable",
                "ipairs",
                "math",
                "next",
                "pairs",
                "pcall",
                "print",
                "rawequal",
                "rawget",
                "rawlen",
                "rawset",
                "select",
                "setmetatable",
                "string",
                "table",
                "tonumber",
                "tostring",
                "type",
                "typeof",
                "unpack",
                "utf8",
                "xpcall",
            ];
            assert_eq!(names, json!(expected));
            for source in [
                "getmetatable('').__index = {}",
                "getmetatable('').x = 1",
                "setmetatable('', {})",
                "string.format = nil",
                "table.insert = print",
                "rawset(string, 'x', 1)",
                "_G.print = nil",
                "rawset(_G, 'print', nil)",
                "setmetatable(_G, {})",
                "setmetatable(string, {})",
                "loadstring('\\27Lua')()",
                "nh.press('h')",
                "return nh.lab.x",
            ] {
                assert!(matches!(timed(source), Err(ScriptError::Runtime { .. })), "{source}: {:?}", timed(source));
            }
            assert!(matches!(eval("\u{1b}LuaQ\u{0}"), Err(ScriptError::Syntax { .. })));
            assert!(matches!(eval("\u{6}\u{3}\u{1}x"), Err(ScriptError::Syntax { .. })));
        }),
        trial("nothing_that_is_written_stays", || {
            let scripts = scripts();
            let write = "nh.status.hp = 999 nh.screen[1] = 'gone' nh.hero.row = 0 nh.inventory = nil nh.new = {1} \
                         nh.at = nil nh.frames(2)[1].turn = -1 table.clear(nh.map.rows) print = nil pcall = nil \
                         mine = 5 nh.messages[1].text = 'no' \
                         return {nh.status.hp, nh.new[1], nh.frames(2)[1].turn}";
            let read = "return {nh.status.hp, nh.screen[5], nh.hero.row, #nh.inventory, type(nh.new), type(nh.at), \
                        nh.frames(2)[1].turn, #nh.map.rows, type(print), type(mine), nh.messages[1].text, type(pcall)}";
            let before = eval_on(&scripts, read, &mut Game::default()).unwrap();
            let written = eval_on(&scripts, write, &mut Game::default()).unwrap();
            assert_eq!(written.value, Some(json!([999, 1, -1])));
            let after = eval_on(&scripts, read, &mut Game::default()).unwrap();
            assert_eq!(before, after);
            assert_ne!(after.value, Some(Value::Null));
            assert!(eval_on(&scripts, "setmetatable(nh, {__index = error}) nh = nil", &mut Game::default()).is_ok());
            assert_eq!(eval_on(&scripts, read, &mut Game::default()).unwrap(), before);
        }),
    ]
}
