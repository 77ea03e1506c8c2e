use wire::{Condition as Ailment, Cursor, InventoryItem, MAP_COLUMNS, MAP_ROWS, Message, Pending, Stage};

use super::*;

const STONE: i16 = 2359;

fn frame(change: impl FnOnce(&mut Frame)) -> Frame {
    let status = Status { hp: 12, hp_max: 12, depth: 1, level_text: "Dlvl:1".to_owned(), ..Status::default() };
    let mut frame = Frame {
        turn: 10,
        status: Some(status),
        glyphs: vec![STONE; MAP_ROWS * MAP_COLUMNS],
        hero: Some(Cursor { row: 5, column: 10 }),
        pending: Some(waits(PendingKind::Command)),
        ..Frame::default()
    };
    put(&mut frame, 5, 10, 340);
    change(&mut frame);
    frame
}

fn waits(kind: PendingKind) -> Pending {
    Pending {
        kind,
        stage: Stage::Play,
        prompt: String::new(),
        answers: String::new(),
        default: None,
        capacity: None,
        typed: String::new(),
    }
}

fn put(frame: &mut Frame, row: usize, column: usize, glyph: i16) {
    frame.glyphs[(row - 1) * MAP_COLUMNS + column] = glyph;
}

fn carry(frame: &mut Frame, items: &[(char, &str)]) {
    let item = |&(letter, text): &(char, &str)| InventoryItem { letter, text: text.to_owned(), class: 2, glyph: 2000 };
    frame.inventory = items.iter().map(item).collect();
}

fn say(frame: &mut Frame, text: &str) {
    frame.messages.push(Message { id: 7, turn: 10, text: text.to_owned(), shown: true });
}

fn status(frame: &mut Frame) -> &mut Status {
    frame.status.as_mut().unwrap()
}

/// What happened; null where the condition does not hold.
fn look(condition: Condition, before: &Frame, after: &Frame) -> Value {
    let sprung = Watch::new(vec![condition]).unwrap().look(before, after);
    sprung.map_or(Value::Null, |sprung| Value::Object(sprung.what))
}

fn message(pattern: &str, regex: bool) -> Condition {
    Condition::Message { pattern: pattern.to_owned(), regex }
}

#[test]
fn messages_are_searched_for_a_text_or_by_an_expression() {
    let quiet = frame(|_| {});
    let loud = frame(|frame| {
        say(frame, "You hear a door open.");
        say(frame, "The newt bites! (2 of 3)");
    });
    for (pattern, regex, holds) in [
        ("newt bites", false, true),
        ("Newt", false, false),
        ("(2 of 3)", false, true),
        (".", false, true),
        ("n.wt", false, false),
        ("n.wt", true, true),
        ("^The .* bites!", true, true),
        ("(?i)NEWT", true, true),
        ("^newt", true, false),
    ] {
        let told = look(message(pattern, regex), &quiet, &loud);
        assert_eq!(!told.is_null(), holds, "{pattern}");
        // What was there before the key is none of its doing.
        assert_eq!(look(message(pattern, regex), &loud, &quiet), Value::Null, "{pattern}");
    }
    let told = look(message("newt", false), &quiet, &loud);
    assert_eq!(told, json!({"on": "message", "message": "The newt bites! (2 of 3)", "message_id": 7}));
}

#[test]
fn expressions_are_bounded() {
    for pattern in
        ["(", "[a", "a{100000}", "(a{100}){100}", &"(".repeat(100), &format!("{}a{}", "(".repeat(40), ")".repeat(40))]
    {
        let (index, reason) = Watch::new(vec![Condition::NewMonster, message(pattern, true)]).unwrap_err();
        assert!(index == 1 && !reason.is_empty(), "{pattern}");
    }
    // The classic of those that backtrack for ever.
    let text = "a".repeat(2_000);
    let after = frame(|frame| say(frame, &text));
    assert!(!look(message("^(a+)+b", true), &frame(|_| {}), &after).is_object());
}

#[test]
fn hit_points_are_looked_at_when_they_fall_and_when_the_hero_is_free() {
    let hp = |hp: i32, kind: PendingKind| {
        frame(|frame| {
            status(frame).hp = hp;
            frame.pending = Some(waits(kind));
        })
    };
    use PendingKind::{Command, Count, More};
    for (before, after, holds) in [
        ((12, Command), (9, Command), true),
        ((12, Command), (9, More), true),
        ((12, Command), (10, Command), false),
        ((9, Command), (9, Command), true),
        ((9, Command), (9, Count), false),
        ((9, Count), (8, Count), true),
        ((5, More), (9, Command), true),
        ((5, Command), (12, Command), false),
    ] {
        let told = look(Condition::HpBelow(10), &hp(before.0, before.1), &hp(after.0, after.1));
        assert_eq!(!told.is_null(), holds, "{before:?} {after:?}");
    }
    assert_eq!(look(Condition::HpBelow(10), &Frame::default(), &Frame::default()), Value::Null);
}

#[test]
fn levels_and_turns_are_compared_with_those_before_the_key() {
    let first = frame(|_| {});
    let second = frame(|frame| {
        frame.turn = 15;
        (status(frame).depth, status(frame).level_text) = (2, "Dlvl:2".to_owned());
    });
    let fort = frame(|frame| status(frame).level_text = "Fort Ludios".to_owned());
    let told = json!({"on": "level_change", "level_text": "Dlvl:2", "level_before": "Dlvl:1"});
    assert_eq!(look(Condition::LevelChange, &first, &second), told);
    assert!(look(Condition::LevelChange, &first, &fort).is_object());
    assert_eq!(look(Condition::LevelChange, &second, &second), Value::Null);
    assert_eq!(look(Condition::LevelChange, &Frame::default(), &second), Value::Null);
    for (turn, holds) in [(10, false), (11, true), (15, true), (16, false)] {
        assert_eq!(look(Condition::Turn(turn), &first, &second).is_object(), holds, "{turn}");
        assert_eq!(look(Condition::Turn(turn), &second, &second), Value::Null, "{turn}");
    }
}

#[test]
fn prompts_hold_at_each_key() {
    let asks =
        frame(|frame| frame.pending = Some(Pending { prompt: "Really?".to_owned(), ..waits(PendingKind::Choice) }));
    let told = json!({"on": "pending", "kind": "choice", "prompt": "Really?"});
    assert_eq!(look(Condition::Pending(PendingKind::Choice), &asks, &asks), told);
    assert_eq!(look(Condition::Pending(PendingKind::Text), &asks, &asks), Value::Null);
    assert_eq!(look(Condition::Pending(PendingKind::Text), &asks, &Frame::default()), Value::Null);
}

#[test]
fn hunger_grows_or_becomes_what_is_named() {
    let hunger = |word: &str| frame(|frame| status(frame).hunger = (!word.is_empty()).then(|| word.to_owned()));
    for (before, after, grows, is_hungry) in [
        ("", "Hungry", true, true),
        ("Hungry", "Weak", true, false),
        ("Weak", "Hungry", false, true),
        ("Hungry", "Hungry", false, false),
        ("Satiated", "", false, false),
        ("", "Satiated", false, false),
        ("Weak", "Fainted", true, false),
        ("", "Peckish", false, false),
    ] {
        let (old, new) = (hunger(before), hunger(after));
        assert_eq!(look(Condition::Hunger(None), &old, &new).is_object(), grows, "{before} {after}");
        assert_eq!(
            look(Condition::Hunger(Some(Hunger::Hungry)), &old, &new).is_object(),
            is_hungry,
            "{before} {after}"
        );
    }
    let told = look(Condition::Hunger(None), &hunger(""), &hunger("Weak"));
    assert_eq!(told, json!({"on": "hunger", "hunger": "weak", "hunger_before": "not_hungry"}));
}

#[test]
fn a_monster_is_new_when_there_are_more_of_its_kind() {
    let with = |monsters: &[(usize, usize, i16)]| {
        frame(|frame| monsters.iter().for_each(|&(row, column, glyph)| put(frame, row, column, glyph)))
    };
    let (newt, pet, unseen, body, statue) = (318, 381 + 16, 762, 1144 + 16, 5600);
    for (before, after, holds) in [
        (vec![], vec![(3, 4, newt)], true),
        (vec![(3, 4, newt)], vec![(3, 5, newt)], false),
        (vec![(3, 4, newt)], vec![(3, 4, newt), (9, 9, newt)], true),
        (vec![(3, 4, newt)], vec![(3, 4, 16)], true),
        (vec![(3, 4, newt)], vec![], false),
        (vec![], vec![(3, 4, pet)], false),
        (vec![], vec![(3, 4, unseen)], true),
        (vec![], vec![(3, 4, body)], false),
        (vec![], vec![(3, 4, statue)], false),
    ] {
        let told = look(Condition::NewMonster, &with(&before), &with(&after));
        assert_eq!(told.is_object(), holds, "{before:?} {after:?}");
    }
    let told = look(Condition::NewMonster, &with(&[(3, 4, newt)]), &with(&[(2, 2, newt), (3, 4, newt)]));
    assert_eq!(told["monsters"], json!([{"glyph": newt, "char": " ", "row": 2, "column": 2}]));
    // The hero, who has moved, is none; on another level all are.
    let walked = frame(|frame| {
        put(frame, 5, 10, STONE);
        put(frame, 5, 11, 340);
        frame.hero = Some(Cursor { row: 5, column: 11 });
    });
    assert_eq!(look(Condition::NewMonster, &with(&[]), &walked), Value::Null);
    let below = frame(|frame| {
        put(frame, 3, 4, newt);
        status(frame).depth = 2;
    });
    assert!(look(Condition::NewMonster, &with(&[(3, 4, newt)]), &below).is_object());
    let raving = |glyph: i16| {
        frame(|frame| {
            put(frame, 3, 4, glyph);
            status(frame).conditions = vec![Ailment::Hallu];
        })
    };
    assert_eq!(look(Condition::NewMonster, &raving(newt), &raving(77)), Value::Null);
}

#[test]
fn an_item_is_picked_up_when_there_is_more() {
    let with = |items: &[(char, &str)]| frame(|frame| carry(frame, items));
    let start = [('a', "a dagger (weapon in hand)"), ('b', "2 food rations")];
    for (items, holds) in [
        (vec![('a', "a dagger (weapon in hand)"), ('b', "2 food rations"), ('c', "an apple")], true),
        (vec![('a', "a dagger (weapon in hand)"), ('b', "3 food rations")], true),
        (vec![('$', "12 gold pieces"), ('a', "a dagger"), ('b', "2 food rations")], true),
        (vec![('a', "a rusty dagger"), ('b', "2 food rations")], false),
        (vec![('a', "a dagger"), ('z', "2 food rations")], false),
        (vec![('a', "a dagger"), ('b', "a food ration"), ('c', "a food ration")], false),
        (vec![('a', "a dagger")], false),
    ] {
        let told = look(Condition::ItemPickedUp, &with(&start), &with(&items));
        assert_eq!(told.is_object(), holds, "{items:?}");
    }
    let told = look(Condition::ItemPickedUp, &with(&start), &with(&[start[0], ('b', "5 food rations")]));
    assert_eq!(told, json!({"on": "item_picked_up", "items": [{"letter": "b", "text": "5 food rations"}]}));
}

#[test]
fn the_first_of_several_is_told() {
    let before = frame(|_| {});
    let after = frame(|frame| {
        frame.turn = 12;
        status(frame).hp = 3;
    });
    let conditions = vec![Condition::LevelChange, Condition::HpBelow(5), Condition::Turn(11)];
    let sprung = Watch::new(conditions).unwrap().look(&before, &after).unwrap();
    assert_eq!((sprung.index, sprung.what["hp"].clone()), (1, json!(3)));
    assert!(Watch::default().look(&before, &after).is_none());
}
