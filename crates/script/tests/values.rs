//! How values and what is printed come back.

use libtest_mimic::Trial;
use script::{OUTPUT_BYTES_MAX, ScriptError};
use serde_json::{Map, Value, json};

use crate::support::{eval, trial, value};

pub(crate) fn drop_nulls(fields: &mut Map<String, Value>) {
    fields.retain(|_, value| !value.is_null());
    for value in fields.values_mut() {
        match value {
            Value::Object(fields) => drop_nulls(fields),
            Value::Array(items) => {
                items.iter_mut().filter_map(Value::as_object_mut).for_each(drop_nulls);
            }
            _ => {}
        }
    }
}

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        trial("tables_become_arrays_and_objects", || {
            for (source, expected) in [
                ("return {}", json!([])),
                ("return {1, 2, 'x'}", json!([1, 2, "x"])),
                ("return {a = 1, b = {true}}", json!({"a": 1, "b": [true]})),
                ("return {[5] = 'x', [-1] = 'y'}", json!({"5": "x", "-1": "y"})),
                ("return {1, nil, 3}", json!({"1": 1, "3": 3})),
                ("return {1, x = 2}", json!({"1": 1, "x": 2})),
                ("return 1.5", json!(1.5)),
                ("return 2^60", json!(1_152_921_504_606_846_976_i64)),
                ("return 'caf\u{e9} \\255\\xc3'", json!("caf\u{e9} \\xff\\xc3")),
                ("return '\\0\\27[31m'", json!("\0\u{1b}[31m")),
            ] {
                assert_eq!(value(source), expected, "{source}");
            }
        }),
        trial("what_json_has_no_word_for_is_told", || {
            for (source, word) in [
                ("local t = {} t.t = t return t", "in itself"),
                ("return print", "it is a function"),
                ("return {a = {print}}", "it.a[1] is a function"),
                ("return nh", "is a function"),
                ("return coroutine.create(print)", "thread"),
                ("return buffer.create(8)", "buffer"),
                ("local t = {} for i = 1, 1000000 do t[i] = i end return t", "more than 10000 entries"),
                ("return {x = 0/0}", "it.x is NaN"),
                ("return 1/0", "infinite"),
                ("return {[{}] = 1}", "key that is a table"),
                ("return {[1.5] = 1}", "key"),
                ("return {[1] = 1, ['1'] = 2, [3] = 4}", "both"),
                ("return string.rep('x', 2000000)", "bytes"),
                ("return 1, 2", "2 of them"),
            ] {
                let error = eval(source).unwrap_err();
                assert!(matches!(&error, ScriptError::Value(text) if text.contains(word)), "{source}: {error:?}");
            }
        }),
        trial("what_is_printed_comes_back_and_is_bounded", || {
            let told = eval("print('a', 1, nil, true, {}, print) print() print('\\255')").unwrap();
            assert_eq!(told.printed, "a\t1\tnil\ttrue\ttable\tfunction\n\n\\xff\n");
            assert!(!told.printed_truncated);
            let much = eval("for i = 1, 200000 do print('0123456789') end").unwrap();
            assert!(much.printed_truncated && much.printed.len() == OUTPUT_BYTES_MAX, "{}", much.printed.len());
            let exact = eval(&format!("print(string.rep('x', {}))", OUTPUT_BYTES_MAX - 1)).unwrap();
            assert!(!exact.printed_truncated && exact.printed.len() == OUTPUT_BYTES_MAX);
            let over = eval(&format!("print(string.rep('x', {OUTPUT_BYTES_MAX}))")).unwrap();
            assert!(over.printed_truncated && over.printed.len() == OUTPUT_BYTES_MAX);
        }),
        trial("no_address_is_told", || {
            for source in [
                "return tostring({})",
                "return tostring(print)",
                "return tostring(coroutine.create(print))",
                "return tostring(buffer.create(3))",
                "return string.format('%s %*', {}, print)",
                "return ('%s'):format({})",
                "return `{ {} } {print}`",
                "return select(2, pcall(error, {}))== nil",
                "return tostring(setmetatable({}, {}))",
                "return tostring(nh.at)",
                "return table.concat({tostring(string), tostring(_G)})",
            ] {
                let told = value(source).to_string();
                assert!(!told.contains("0x"), "{source}: {told}");
            }
            for source in ["error({})", "error(print)", "return {} .. 'x'", "return #print", "return nh < nh"] {
                let told = eval(source).unwrap_err().to_string();
                assert!(!told.contains("0x"), "{source}: {told}");
            }
        }),
        trial("what_a_script_may_use_still_works", || {
            for (source, expected) in [
                ("tostring(12)", json!("12")),
                ("tostring(setmetatable({}, {__tostring = function() return 'me' end}))", json!("me")),
                ("string.format('%5.1f|%-4s|%d|%q', 1.25, 'ab', 7, 'x')", json!("  1.2|ab  |7|\"x\"")),
                ("string.rep('ab', 3)", json!("ababab")),
                ("('x'):rep(0)", json!("")),
                ("table.move({1, 2, 3}, 1, 3, 2)", json!([1, 1, 2, 3])),
                ("{pcall(error, 'x')}", json!([false, "x"])),
                ("{select('#', nil, nil)}", json!([2])),
                ("math.floor(7.9)", json!(7)),
                ("('The jackal bites!'):match('(%a+) bites')", json!("jackal")),
                ("coroutine.wrap(function() coroutine.yield(5) end)()", json!(5)),
                ("bit32.band(12, 10)", json!(8)),
                ("utf8.len('\u{e9}')", json!(1)),
                ("string.split('a,b', ',')", json!(["a", "b"])),
                ("#nh.inventory + #`{nh.turn}`", json!(6)),
            ] {
                assert_eq!(value(source), expected, "{source}");
            }
        }),
    ]
}
