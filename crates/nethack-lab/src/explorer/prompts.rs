//! Answers to whatever the game asks beside commands.

use wire::{Frame, Key, Menu, Pending, PendingKind, Pick, Stage};

use super::Explorer;
use super::items;

/// How long a kind of monster is believed to be peaceful, in turns.
const PEACE_TURNS: i64 = 150;

impl Explorer {
    /// The key for a prompt that no plan was made for.
    pub(super) fn answer(&mut self, frame: &Frame, pending: &Pending) -> Key {
        match pending.kind {
            PendingKind::More | PendingKind::Window => Key::ENTER,
            PendingKind::Choice if pending.stage == Stage::Play => self.choose(pending),
            PendingKind::Text if pending.prompt.contains("who are you") => {
                // The one name that makes a vault's guard go away.
                let rest = b"roesus\r".iter().map(|byte| (PendingKind::Text, Key(*byte)));
                self.plan.extend(rest);
                Key(b'C')
            }
            PendingKind::Menu => pick(frame),
            _ => Key::ESC,
        }
    }

    fn choose(&mut self, pending: &Pending) -> Key {
        let prompt = pending.prompt.as_str();
        let says = |text: &str| prompt.contains(text);
        if says("Really attack") {
            if let Some((_, Some(kind))) = self.attacked.take() {
                self.peaceful.insert(kind, self.turn + PEACE_TURNS);
            } else if let Some((from, direction)) = self.step.take() {
                self.keep_off(from.step(direction));
            }
            return Key::ESC;
        }
        if says("eat it?") || says("eat one?") {
            let corpse = items::is_safe_corpse(prompt) && self.has_fresh_corpse_here();
            return if corpse || items::is_meal(prompt) { Key(b'y') } else { Key(b'n') };
        }
        if says("Are you sure you want to pray") || says("Stop eating") {
            return Key(b'y');
        }
        if says("Do you want to add to the current engraving") {
            return Key(b'n');
        }
        Key::ESC
    }

    /// A peaceful creature was walked into: remembers its kind.
    fn keep_off(&mut self, place: Option<super::Place>) {
        let Some(place) = place else { return };
        let turn = self.turn;
        let level = &mut self.levels[self.here];
        level.shun(place, turn + 10);
        if let super::Seen::Monster(kind) = level.shown(place) {
            self.peaceful.insert(kind, turn + PEACE_TURNS);
        }
    }
}

/// Marks what is wanted of a heap, one key at a time, and closes every other menu.
fn pick(frame: &Frame) -> Key {
    let Some(menu) = &frame.menu else { return Key::ESC };
    if menu.pick != Pick::Any || !menu.title.contains("Pick up what") {
        return Key::ESC;
    }
    next_entry(menu).unwrap_or(if menu.page < menu.pages { Key(b'>') } else { Key::ENTER })
}

fn next_entry(menu: &Menu) -> Option<Key> {
    let here = menu.entries.iter().filter(|entry| entry.page == menu.page && entry.selectable && !entry.selected);
    here.filter(|entry| items::is_wanted(&entry.text))
        .find_map(|entry| entry.accelerator)
        .and_then(|letter| u8::try_from(letter).ok())
        .map(Key)
}
