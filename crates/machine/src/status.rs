//! The status lines as typed fields, from what the window port was told and the values behind it.

use wire::{Condition, Status};

use crate::decode::text_into;

/// NetHack's `MAXBLSTATS`.
pub(crate) const STATUS_FIELDS: usize = 23;
/// The values of NLE's blstats.
pub(crate) const STATUS_NUMBERS: usize = 27;

/// NetHack's numbers of status fields.
mod field {
    pub(super) const TITLE: usize = 0;
    pub(super) const STRENGTH: usize = 1;
    pub(super) const ALIGNMENT: usize = 7;
    pub(super) const SCORE: usize = 8;
    pub(super) const BURDEN: usize = 9;
    pub(super) const TIME: usize = 16;
    pub(super) const HUNGER: usize = 17;
    pub(super) const LEVEL: usize = 20;
    pub(super) const EXPERIENCE: usize = 21;
}

fn small(number: i64) -> i32 {
    i32::try_from(number).unwrap_or(if number < 0 { i32::MIN } else { i32::MAX })
}

/// What the window port was told of the status lines.
pub(crate) struct Shown<'a> {
    /// In the order of NLE's blstats.
    pub(crate) numbers: &'a [i64; STATUS_NUMBERS],
    /// By NetHack's number of the field.
    pub(crate) texts: &'a [&'a [u8]; STATUS_FIELDS],
    /// A bit for each field.
    pub(crate) enabled: i64,
    pub(crate) polymorphed: bool,
}

/// Strength without its hundredths: from 19 on NetHack counts those of 18 first, so 118 is 18/100 and 119 is 19.
fn strength(number: i64) -> i32 {
    small(match number {
        ..=18 => number,
        19..=118 => 18,
        _ => number - 100,
    })
}

impl Shown<'_> {
    fn text(&self, field: usize, text: &mut String) {
        text_into(self.texts[field].trim_ascii(), text);
    }

    fn text_if_any(&self, field: usize, text: &mut Option<String>) {
        if self.texts[field].trim_ascii().is_empty() {
            *text = None;
        } else {
            self.text(field, text.get_or_insert_default());
        }
    }

    /// Fills a status, reusing what it has allocated.
    pub(crate) fn read(&self, status: &mut Status) {
        let shown = |field: usize, number: i64| (self.enabled >> field & 1 == 1).then_some(number);
        let alive = |number: i64| (!self.polymorphed).then_some(number);
        let numbers = self.numbers;
        self.text(field::TITLE, &mut status.title);
        self.text(field::STRENGTH, &mut status.strength_text);
        self.text(field::ALIGNMENT, &mut status.alignment);
        self.text(field::LEVEL, &mut status.level_text);
        self.text_if_any(field::HUNGER, &mut status.hunger);
        self.text_if_any(field::BURDEN, &mut status.burden);
        status.strength = strength(numbers[3]);
        status.dexterity = small(numbers[4]);
        status.constitution = small(numbers[5]);
        status.intelligence = small(numbers[6]);
        status.wisdom = small(numbers[7]);
        status.charisma = small(numbers[8]);
        status.score = shown(field::SCORE, numbers[9]);
        status.hp = small(numbers[10].max(0));
        status.hp_max = small(numbers[11]);
        status.depth = small(numbers[12]);
        status.gold = numbers[13];
        status.energy = small(numbers[14]);
        status.energy_max = small(numbers[15]);
        status.armor_class = small(numbers[16]);
        status.hit_dice = self.polymorphed.then(|| small(numbers[17]));
        status.experience_level = alive(numbers[18]).map(small);
        status.experience = alive(numbers[19]).and_then(|number| shown(field::EXPERIENCE, number));
        status.turn = shown(field::TIME, numbers[20]);
        Condition::read_mask(numbers[25].unsigned_abs(), &mut status.conditions);
    }
}
