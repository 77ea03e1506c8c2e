use std::convert::Infallible;

use wire::{Segment, Stage};

use super::*;

/// An engine of which each key moves on by one in a written list of prompts: `c`ommand, `m`ore, `w`indow, `t`ext,
/// `y` for a choice of y or n, `i`tem, `d`irection, `p`osition (`P` when the key before was none for it), `e`nded. A key
/// at a command takes a turn.
struct Script {
    prompts: &'static [u8],
    at: usize,
    turn: i64,
}

impl Engine for Script {
    type Error = Infallible;

    fn press(&mut self, _: Key) -> Result<(), Infallible> {
        self.turn += i64::from(self.pending_kind() == Some(PendingKind::Command));
        self.at += 1;
        Ok(())
    }

    fn has_ended(&self) -> bool {
        self.pending_kind().is_none()
    }

    fn pending_kind(&self) -> Option<PendingKind> {
        Some(match self.prompts.get(self.at)? {
            b'c' => PendingKind::Command,
            b'm' => PendingKind::More,
            b'w' => PendingKind::Window,
            b't' => PendingKind::Text,
            b'y' => PendingKind::Choice,
            b'i' => PendingKind::Item,
            b'd' => PendingKind::Direction,
            b'p' | b'P' => PendingKind::Position,
            _ => return None,
        })
    }

    fn pending(&self) -> Option<Pending> {
        self.pending_kind().map(|kind| Pending {
            kind,
            stage: Stage::Play,
            prompt: "What?".to_owned(),
            answers: if kind == PendingKind::Choice { "yn".to_owned() } else { String::new() },
            default: None,
            capacity: None,
            typed: String::new(),
        })
    }

    fn turn(&self) -> i64 {
        self.turn
    }

    fn check(&self) -> Check {
        Check(u32::try_from(self.at).unwrap())
    }

    fn messages_into(&self, messages: &mut Vec<Message>) -> bool {
        let id = self.at as u64;
        let text = match self.prompts.get(self.at) {
            Some(b'P') => "Unknown direction: 'z'".to_owned(),
            _ => "x".repeat(300),
        };
        messages.push(Message { id, turn: self.turn, text, shown: true });
        false
    }

    /// Windows that stand in a row are pages of one text.
    fn window(&self) -> Option<Vec<String>> {
        let first = (0..=self.at).rev().take_while(|&at| self.prompts[at] == b'w').last()?;
        Some(vec![format!("text {first}")])
    }
}

const ALL: Want = Want { checks: true, frame: false, keep: None, state_digest: false, messages: true, hidden: None };

/// Segments are written `kind:keys`, or only `keys`.
fn batch(segments: &[&str]) -> Batch {
    let segments = segments.iter().map(|text| {
        let (expect, keys) = text.split_once(':').map_or((None, *text), |(kind, keys)| {
            (PendingKind::ALL.into_iter().find(|known| known.word() == kind), keys)
        });
        Segment { expect, keys: keys.bytes().map(Key).collect() }
    });
    Batch { segments: segments.collect(), on_more: OnMore::Stop, force: false, turns_max: None }
}

fn run(prompts: &'static str, batch: &Batch, part: Option<Part>) -> (String, u32, StopReason) {
    let mut engine = Script { prompts: prompts.as_bytes(), at: 0, turn: 1 };
    let mut heard = 0;
    let Ok(run) = run_batch(&mut engine, (batch, part), ALL, &mut MessageLog::default(), &mut || heard += 1);
    assert_eq!(run.inputs.len(), heard);
    assert_eq!(run.checks, (1..=heard as u32).map(Check).collect::<Vec<_>>());
    assert_eq!(run.turns, engine.turn - 1);
    let pressed = run.inputs.iter().map(|key| if *key == Key::ENTER { '.' } else { char::from(key.0) });
    (pressed.collect(), run.keys_used, run.stop)
}

#[test]
fn keys_are_pressed_where_they_are_meant() {
    use StopReason::{Done, Ended, NotAccepted};
    for (prompts, segments, pressed, stop) in [
        ("ccccc", &["hjkl"][..], "hjkl", Done),
        ("ccecc", &["hjkl"], "hj", Ended),
        ("cce", &["hj"], "hj", Ended),
        ("e", &["h"], "", Ended),
        // Prompts that come up unasked hold keys back.
        ("ccmcc", &["hjkl"], "hj", NotAccepted),
        ("ccycc", &["hyyy"], "hy", NotAccepted),
        ("cctcc", &["hjkl"], "hj", NotAccepted),
        ("cmcc", &["h l"], "h l", Done),
        // Unless they are expected.
        ("ccycc", &["hy", "choice:y", "l"], "hyyl", Done),
        ("ccycc", &["hy", "choice:q"], "hy", NotAccepted),
        ("ctttcc", &["N", "text:abc", "h"], "Nabch", Done),
        ("cttcc", &["N", "text:abc"], "Nabc", Done),
        ("cttcy", &["N", "text:abcd"], "Nabc", NotAccepted),
        ("cctcc", &["h", "command:jkl"], "hj", NotAccepted),
        ("ccc", &["h", "choice:y"], "h", NotAccepted),
        ("cccc", &["command:hj", "k"], "hjk", Done),
    ] {
        let (inputs, used, why) = run(prompts, &batch(segments), None);
        assert_eq!((inputs.as_str(), why), (pressed, stop), "{prompts} {segments:?}");
        assert_eq!(used as usize, pressed.len(), "{prompts} {segments:?}");
    }
}

#[test]
fn force_presses_everything_until_the_end() {
    let forced = Batch { force: true, ..batch(&["hjkl", "choice:yy"]) };
    assert_eq!(run("cmtwyccc", &forced, None), ("hjklyy".to_owned(), 6, StopReason::Done));
    assert_eq!(run("cmte", &forced, None), ("hjk".to_owned(), 3, StopReason::Ended));
}

#[test]
fn prompts_are_dismissed_where_no_key_is_meant_for_them() {
    for (prompts, segments, pressed, used) in [
        ("cmmcwcc", &["hjk"][..], "h..j.k", 3),
        ("mcc", &["h"], ".h", 1),
        ("cmc", &["h"], "h.", 1),
        ("cmcmc", &["h", "more: ", "k"], "h k.", 3),
        ("cwmc", &["h", "more: "], "h. ", 2),
        // ESC would end the prompt too, but it is meant for what comes after.
        ("cmcc", &["h", "command:\u{7e}"], "h.~", 2),
    ] {
        let dismissing = Batch { on_more: OnMore::Dismiss, ..batch(segments) };
        assert_eq!(run(prompts, &dismissing, None), (pressed.to_owned(), used, StopReason::Done), "{prompts}");
    }
    let endless: &'static str = Box::leak("m".repeat(DISMISSALS_IN_A_ROW_MAX + 9).into_boxed_str());
    let dismissing = Batch { on_more: OnMore::Dismiss, ..batch(&["h"]) };
    let (inputs, used, stop) = run(endless, &dismissing, None);
    assert_eq!((inputs.len(), used, stop), (DISMISSALS_IN_A_ROW_MAX, 0, StopReason::NotAccepted));
    let ending = run("cme", &dismissing, None);
    assert_eq!(ending, ("h.".to_owned(), 1, StopReason::Ended));
}

#[test]
fn an_answer_that_the_game_refuses_stops_the_batch() {
    use StopReason::{Done, NotAccepted};
    for (prompts, segments, pressed, used, stop) in [
        ("ciccc", &["wabc"][..], "wabc", 4, Done),
        ("ciiccc", &["wzFh"], "wz", 2, NotAccepted),
        // Past what is dismissed, or read by keys of the batch.
        ("cimiccc", &["wzFh"], "wz.", 2, NotAccepted),
        ("cimmiccc", &["wz", "more:  ", "Fh"], "wz  ", 4, NotAccepted),
        ("cimic", &["wz"], "wz.", 2, NotAccepted),
        ("cimic", &["w", "item:z", "item:a"], "wz.", 2, NotAccepted),
        ("cimcc", &["wzF"], "wz.F", 3, Done),
        // The item's count, and what lists the items, are no answers; ESC leaves.
        ("ciiicc", &["d20ah"], "d20ah", 5, Done),
        ("ciicc", &["d?ah"], "d?ah", 4, Done),
        ("ciicc", &["d\u{1b}"], "d\u{1b}", 2, Done),
        ("cddcc", &["Fhh"], "Fh", 2, NotAccepted),
        ("cyycc", &["l", "choice:n", "choice:y"], "lny", 3, Done),
        ("cpppcc", &["_hj.h"], "_hj.h", 5, Done),
        ("cpPccc", &["_z.h"], "_z", 2, NotAccepted),
    ] {
        let dismissing = Batch { on_more: OnMore::Dismiss, ..batch(segments) };
        let told = (pressed.to_owned(), used, stop);
        assert_eq!(run(prompts, &dismissing, None), told, "{prompts} {dismissing:?}");
    }
    let forced = Batch { force: true, ..batch(&["wzFh"]) };
    assert_eq!(run("ciiccc", &forced, None), ("wzFh".to_owned(), 4, Done));
}

#[test]
fn texts_that_are_closed_are_told_once() {
    for (prompts, segments, want, told) in [
        ("cwwcwc", &["hj"][..], ALL, &["text 1", "text 4"][..]),
        ("cwmwc", &["h"], ALL, &["text 1", "text 3"]),
        ("cwcc", &["h", "window: ", "j"], ALL, &["text 1"]),
        ("cwc", &["h"], Want { messages: false, ..ALL }, &[]),
    ] {
        let dismissing = Batch { on_more: OnMore::Dismiss, ..batch(segments) };
        let mut engine = Script { prompts: prompts.as_bytes(), at: 0, turn: 1 };
        let mut log = MessageLog::default();
        let Ok(_) = run_batch(&mut engine, (&dismissing, None), want, &mut log, &mut || ());
        let texts: Vec<String> = log.into_parts().2.windows.into_iter().flatten().collect();
        assert_eq!(texts, told, "{prompts}");
    }
}

#[test]
fn turns_are_limited() {
    for (turns_max, pressed, stop) in
        [(0, "", StopReason::Turns), (2, "hj", StopReason::Turns), (4, "hjkl", StopReason::Done)]
    {
        let limited = Batch { turns_max: Some(turns_max), ..batch(&["hjkl"]) };
        assert_eq!(run("ccccc", &limited, None), (pressed.to_owned(), pressed.len() as u32, stop));
    }
}

#[test]
fn parts_do_what_the_whole_does() {
    for (prompts, segments) in [
        ("cmtttmccywcmmcc", &["N", "text:abc", "hj", "choice:y", "kl"][..]),
        ("ccimicccc", &["hwzFhjklnn"]),
        ("ccccccccimic", &["hjklhjkwz"]),
    ] {
        parts_do_what_the_whole_of(prompts, segments);
    }
}

fn parts_do_what_the_whole_of(prompts: &'static str, segments: &[&str]) {
    let whole = Batch { on_more: OnMore::Dismiss, ..batch(segments) };
    let keys = whole.len() as u32;
    let (inputs, used, stop) = run(prompts, &whole, None);
    for count in 1..10 {
        let mut engine = Script { prompts: prompts.as_bytes(), at: 0, turn: 1 };
        let (mut pressed, mut from, mut last, mut asked) = (Vec::new(), 0, StopReason::Done, None);
        while last == StopReason::Done && from < keys {
            let part = Some(Part { from, count, asked: asked.take() });
            let Ok(run) = run_batch(&mut engine, (&whole, part), ALL, &mut MessageLog::default(), &mut || ());
            pressed.extend(run.inputs);
            from += run.keys_used;
            (last, asked) = (run.stop, run.asked);
        }
        let pressed: String =
            pressed.iter().map(|key| if *key == Key::ENTER { '.' } else { char::from(key.0) }).collect();
        assert_eq!((&pressed, from, last), (&inputs, used, stop), "parts of {count}");
    }
}

#[test]
fn only_the_newest_messages_are_kept() {
    let mut engine = Script { prompts: b"c", at: 0, turn: 1 };
    let mut log = MessageLog::default();
    for at in 0..4_000 {
        engine.at = at;
        log.collect(&engine);
    }
    let (messages, truncated, _) = log.into_parts();
    assert_eq!((messages.len(), truncated), (MESSAGE_BYTES_MAX / 300, true));
    assert_eq!(messages.last().unwrap().id, 3_999);
    let mut log = MessageLog::default();
    log.collect(&engine);
    assert!(!log.into_parts().1);
}
