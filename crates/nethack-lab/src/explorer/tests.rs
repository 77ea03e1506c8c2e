use machine::{Machine, Stop};
use wire::{Frame, Key, Pending, PendingKind, PowerOn, Role, Seed, Stage};

use super::{Explorer, items};

fn asked(kind: PendingKind, prompt: &str) -> Frame {
    let pending = Pending {
        kind,
        stage: Stage::Play,
        prompt: prompt.to_owned(),
        answers: String::new(),
        default: None,
        capacity: None,
        typed: String::new(),
    };
    Frame { pending: Some(pending), ..Frame::default() }
}

#[test]
fn prompts_that_come_unasked_are_answered_or_backed_out_of() {
    for (kind, prompt, expected) in [
        (PendingKind::More, "", Key::ENTER),
        (PendingKind::Window, "", Key::ENTER),
        (PendingKind::Choice, "Really attack the gnome lord?", Key::ESC),
        (PendingKind::Choice, "Are you sure you want to pray?", Key(b'y')),
        (PendingKind::Choice, "There are 2 food rations here; eat one?", Key(b'y')),
        (PendingKind::Choice, "There is a jackal corpse here; eat it?", Key(b'n')),
        (PendingKind::Choice, "You're having a hard time getting all of it down. Stop eating?", Key(b'y')),
        (PendingKind::Text, "\"Hello stranger, who are you?\"", Key(b'C')),
        (PendingKind::Text, "What do you want to call it?", Key::ESC),
        (PendingKind::Menu, "", Key::ESC),
        (PendingKind::Item, "What do you want to wield?", Key::ESC),
        (PendingKind::Direction, "In what direction?", Key::ESC),
        (PendingKind::Position, "", Key::ESC),
        (PendingKind::Extended, "", Key::ESC),
        (PendingKind::Key, "", Key::ESC),
    ] {
        assert_eq!(Explorer::new(Seed(1)).next_key(&asked(kind, prompt)), expected, "{kind}: {prompt}");
    }
}

#[test]
fn corpses_are_told_by_their_names() {
    for (text, safe) in [
        ("There is a jackal corpse here; eat it?", true),
        ("You see here a partly eaten newt corpse.", true),
        ("There is an acid blob corpse here; eat it?", true),
        ("You see here a cockatrice corpse.", false),
        ("You see here a kobold corpse.", false),
        ("There is a newt corpse (for sale, 5 zorkmids) here; eat it?", false),
        ("You see here a newt.", false),
    ] {
        assert_eq!(items::is_safe_corpse(text), safe, "{text}");
    }
}

/// What came of a game: its keys, the deepest level, and the longest run of inputs in which no turn passed.
#[derive(Debug, PartialEq, Eq)]
struct Played {
    keys: Vec<Key>,
    depth: i32,
    idle: usize,
}

fn play(machine: &mut Machine, seed: u64, role: Role, keys_max: usize) -> Played {
    let mut record = PowerOn::from_seed(Seed(seed));
    record.character.role = Some(role);
    let mut explorer = Explorer::new(Seed(seed));
    let mut stop = machine.power_on(&record).expect("a game");
    let mut frame = Frame::default();
    let mut played = Played { keys: Vec::new(), depth: 0, idle: 0 };
    let (mut turn, mut idle) = (0, 0);
    while stop == Stop::Boundary && played.keys.len() < keys_max {
        machine.frame_into(&mut frame);
        idle = if frame.turn == turn { idle + 1 } else { 0 };
        turn = frame.turn;
        played.idle = played.idle.max(idle);
        played.depth = played.depth.max(frame.status.as_ref().map_or(0, |status| status.depth));
        let key = explorer.next_key(&frame);
        played.keys.push(key);
        stop = machine.press(key).expect("a key");
    }
    played
}

/// One test, since there is one machine in a process.
#[test]
fn games_go_down_never_stand_still_and_repeat() {
    let mut machine = Machine::open(rom::built_in()).expect("a machine");
    let mut depths = 0;
    for (&role, seed) in Role::ALL.iter().zip(1..) {
        let played = play(&mut machine, seed, role, 1_500);
        assert!(played.idle <= 120, "seed {seed}, {role}: {} inputs without a turn", played.idle);
        depths += played.depth;
        if seed <= 3 {
            assert_eq!(play(&mut machine, seed, role, 1_500), played, "seed {seed}, {role}");
        }
    }
    assert!(depths >= 2 * 13, "13 games of 1,500 keys came to depths of {depths} in all");
}
