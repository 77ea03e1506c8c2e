//! What scripts see and how they are heard.

use std::time::Duration;

use libtest_mimic::Trial;
use script::{ScriptError, ScriptLimits, Seen, view};
use serde_json::{Value, json};
use wire::{Boundary, EndKind, Ended};

use crate::support::{Game, eval, eval_on, frame, names, scripts, trial, value};

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        trial("an_expression_is_a_script_and_so_is_a_chunk", || {
            for (source, expected) in [
                ("nh.status.hp", json!(12)),
                ("-- a comment\nnh.turn", json!(300)),
                ("local hp = nh.status.hp\nreturn hp / nh.status.hp_max", json!(0.75)),
                ("nh.boundary == 300", json!(true)),
                ("local x = 1", Value::Null),
                ("", Value::Null),
                ("nil", Value::Null),
                ("nh.map.rows[4]", json!("          |.d@.|")),
                ("nh.screen[5]", json!("          |.d@.|")),
                ("#nh.screen", json!(24)),
                ("nh.hero", json!({"row": 4, "column": 13})),
                ("nh.pending.kind", json!("command")),
                ("nh.messages[1].text", json!("The jackal bites! (300)")),
                ("nh.inventory[2].class", json!("food")),
                ("nh.menu", Value::Null),
                ("nh.at(4, 12).kind", json!("monster")),
                ("nh.at(4, 13).kind", json!("hero")),
                ("nh.at(5, 14).kind", json!("pet")),
                (
                    "nh.at(3, 15)",
                    json!({"row": 3, "column": 15, "char": "+", "color": 8, "glyph": 2375, "kind": "closed_door"}),
                ),
                ("nh.at(22, 0).char", json!("A")),
                ("nh.at(22, 0).kind", Value::Null),
                ("nh.at(24, 0)", Value::Null),
                ("nh.at(-1, 0)", Value::Null),
                ("nh.cells()[1].char", json!("-")),
            ] {
                assert_eq!(value(source), expected, "{source}");
            }
        }),
        trial("what_scripts_find_is_the_view", || {
            let frame = frame(300);
            let mut expected = view(&Seen { boundary: Boundary(300), frame: &frame, ended: None });
            let found = value("local t = table.clone(nh) t.at, t.cells, t.frames, t.message_log = nil return t");
            crate::values::drop_nulls(&mut expected);
            assert_eq!(found, Value::Object(expected));
        }),
        trial("glyphs_are_called_by_names_that_are_asked_for_once_and_where_cells_are", || {
            let frame = frame(300);
            let mut seen = vec![Seen { boundary: Boundary(300), frame: &frame, ended: None }; 70];
            let limits = ScriptLimits::default();
            for (source, asked, found) in [
                ("nh.turn", 0, json!(300)),
                ("nh.at(4, 12).description", 1, json!("monster 12")),
                ("nh.at(5, 14).description", 1, json!("tame monster 12")),
                ("nh.at(4, 13).description", 1, json!("you (monster 330)")),
                ("nh.at(0, 0).description == nil and #nh.cells() > 5", 1, json!(true)),
                ("nh.frames(3)[1].at(4, 12).description .. nh.at(4, 12).kind", 1, json!("monster 12monster")),
            ] {
                let mut game = Game::default();
                let told = scripts().eval(source, &seen[0], &limits, &mut game, &|| false).unwrap();
                assert_eq!((told.value, game.named), (Some(found), asked), "{source}");
            }
            let score = "nh.at(4, 12).description == 'monster 12' and nh.cells()[1].row or 0";
            let mut asked = 0;
            let mut tell = || {
                asked += 1;
                Some(names())
            };
            seen.truncate(66);
            let scores = scripts().score(score, &seen, &limits, &mut tell, &|| false).unwrap();
            assert_eq!((scores, asked), (vec![Ok(3.0); 66], 1));
            let unknown = scripts().score("nh.at(4, 12).description == nil", &seen, &limits, &mut || None, &|| false);
            assert_eq!(unknown.unwrap(), vec![Ok(1.0); 66]);
        }),
        trial("an_end_is_seen", || {
            let ended = Ended { kind: EndKind::Died, how: Some(0), text: "killed by a jackal".to_owned(), xlog: None };
            let frame = frame(5);
            let seen = Seen { boundary: Boundary(5), frame: &frame, ended: Some(&ended) };
            let limits = ScriptLimits::default();
            let found = scripts().eval("nh.ended", &seen, &limits, &mut Game::default(), &|| false).unwrap();
            assert_eq!(found.value, Some(json!({"kind": "died", "how": 0, "text": "killed by a jackal"})));
            assert_eq!(
                scripts().score("nh.ended and -1 or 1", &[seen], &limits, &mut || None, &|| false).unwrap(),
                [Ok(-1.0)]
            );
        }),
        trial("earlier_frames_are_fetched_once_and_end_with_the_present", || {
            let (scripts, mut game) = (scripts(), Game::default());
            let source =
                "local f = nh.frames(3) return {f[1].boundary, f[3].boundary, f[1].at(4, 13).kind, #f, f[3] == nh}";
            let found = eval_on(&scripts, source, &mut game).unwrap();
            assert_eq!(found.value, Some(json!([298, 300, "hero", 3, true])));
            assert_eq!(game.asked, [(300, 16)]);
            let mut game = Game::default();
            let all = "local sum = 0 for n = 1, 200 do sum += nh.frames(n)[1].turn end return sum";
            assert_eq!(eval_on(&scripts, all, &mut game).unwrap().value, Some(json!((101..=300).sum::<i32>())));
            assert!(game.asked.len() <= 5, "{:?}", game.asked);
            assert_eq!(game.asked.iter().map(|(_, count)| count).sum::<usize>(), 200);
            for bad in
                ["nh.frames(201)", "nh.frames(0)", "nh.frames(-1)", "nh.frames(1.5)", "nh.frames()", "nh.frames('x')"]
            {
                let error = eval(bad).unwrap_err();
                assert!(matches!(&error, ScriptError::Runtime { .. }), "{bad}: {error:?}");
            }
            assert_eq!(value("#nh.message_log(40)"), json!(40));
            assert_eq!(value("nh.message_log(40)[40].turn"), json!(299));
        }),
        trial("a_game_at_its_beginning_has_few_frames", || {
            let frame = frame(2);
            let seen = Seen { boundary: Boundary(2), frame: &frame, ended: None };
            let (mut game, source) = (Game::default(), "return {#nh.frames(200), nh.frames(200)[1].boundary}");
            let found = scripts().eval(source, &seen, &ScriptLimits::default(), &mut game, &|| false).unwrap();
            assert_eq!((found.value, game.asked), (Some(json!([3, 0])), vec![(2, 2)]));
        }),
        trial("errors_name_their_line", || {
            for (source, line, word) in [
                ("local x = 1\n\nx.y.z = 2", 3, "attempt to index"),
                ("\nerror('on purpose')", 2, "on purpose"),
                ("\n\nlocal function f() error('deep') end\nf()", 3, "deep"),
                ("\nnh.frames(0)", 2, "whole number from 1 to 200"),
            ] {
                match eval(source) {
                    Err(ScriptError::Runtime { line: Some(at), message, .. }) if at == line => {
                        assert!(message.contains(word), "{source}: {message}");
                    }
                    other => panic!("{source}: {other:?}"),
                }
            }
            for (source, line) in [("local x = \nreturn )", 2), ("nh.status.hp +", 1), ("while true do", 1)] {
                let error = eval(source).unwrap_err();
                assert!(
                    matches!(error, ScriptError::Syntax { line: Some(at), .. } if at == line),
                    "{source}: {error:?}"
                );
            }
            let Err(ScriptError::Runtime { printed, .. }) = eval("print('so far') error('no')") else { panic!("none") };
            assert_eq!(printed, "so far\n");
        }),
        trial("each_frame_has_all_of_the_limits", || {
            let frames: Vec<_> = (0..150).map(frame).collect();
            let seen: Vec<_> =
                frames.iter().zip(0..).map(|(frame, at)| Seen { boundary: Boundary(at), frame, ended: None }).collect();
            // Together they take many times the CPU time and the steps that one may.
            let limits = ScriptLimits { steps: 60_000, cpu: Duration::from_millis(300), ..ScriptLimits::default() };
            let slow = "local s = ('x'):rep(20000) for i = 1, 50000 / 1000 do for j = 1, 20 do s:find('y' .. j, 1, true) end \
                        s:reverse() end for i = 1, 45000 do end return nh.turn";
            let scores = scripts().score(slow, &seen, &limits, &mut || None, &|| false).unwrap();
            assert_eq!(scores, (0..150).map(|turn| Ok(f64::from(turn))).collect::<Vec<_>>());
        }),
        trial("each_frame_is_scored_by_itself", || {
            let frames: Vec<_> = (0..150).map(frame).collect();
            let seen: Vec<_> =
                frames.iter().zip(0..).map(|(frame, at)| Seen { boundary: Boundary(at), frame, ended: None }).collect();
            let (scripts, limits) = (scripts(), ScriptLimits::default());
            let scores = scripts.score("nh.turn * 2", &seen, &limits, &mut || None, &|| false).unwrap();
            assert_eq!(scores, (0..150).map(|turn| Ok(f64::from(turn) * 2.0)).collect::<Vec<_>>());
            // Nothing is left from one frame to the next.
            let count = "seen = (seen or 0) + 1 nh.status.hp += 1 return seen * 100 + nh.status.hp";
            assert!(
                scripts
                    .score(count, &seen, &limits, &mut || None, &|| false)
                    .unwrap()
                    .iter()
                    .all(|score| *score == Ok(113.0))
            );
            let some = "if nh.turn == 70 then error('no') elseif nh.turn == 71 then return 'x' elseif nh.turn == 72 then \
                        return 0/0 elseif nh.turn == 73 then return nh.frames(2) end return 1";
            let scores = scripts.score(some, &seen, &limits, &mut || None, &|| false).unwrap();
            let bad: Vec<_> = scores.iter().filter_map(|score| score.as_ref().err()).collect();
            assert_eq!(bad[..3], ["line 1: no", "the script gave a string, not a number", "the script gave NaN"]);
            assert!(bad.len() == 4 && scores[74] == Ok(1.0), "{bad:?}");
            assert_eq!(scripts.score("1", &[], &limits, &mut || None, &|| false), Ok(vec![]));
            let hung = scripts.score("while nh.turn == 70 do end return 1", &seen, &limits, &mut || None, &|| false);
            assert!(matches!(hung, Err(ScriptError::Limit { .. })), "{hung:?}");
            assert_eq!(scripts.score("1", &seen, &limits, &mut || None, &|| true), Err(ScriptError::Cancelled));
            assert!(matches!(
                scripts.score("return )", &seen, &limits, &mut || None, &|| false),
                Err(ScriptError::Syntax { .. })
            ));
        }),
    ]
}
