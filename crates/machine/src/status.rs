//! The status lines as typed fields, from what the window port was told and the values behind it.

use wire::{Condition, Status};

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

/// The status behind `numbers` (in the order of NLE's blstats) and the fields' texts; `enabled` has a bit for each field.
pub(crate) fn status(
    numbers: &[i64; STATUS_NUMBERS],
    texts: &[String; STATUS_FIELDS],
    enabled: i64,
    polymorphed: bool,
) -> Status {
    let shown = |field: usize| enabled >> field & 1 == 1;
    let text = |field: usize| texts[field].trim().to_owned();
    let unless_empty = |field: usize| Some(text(field)).filter(|text| !text.is_empty());
    let [
        _,
        _,
        _,
        strength,
        dexterity,
        constitution,
        intelligence,
        wisdom,
        charisma,
        score,
        hp,
        hp_max,
        depth,
        gold,
        energy,
        energy_max,
        armor_class,
        hit_dice,
        level,
        experience,
        turn,
        ..,
        conditions,
        _,
    ] = *numbers;
    Status {
        title: text(field::TITLE),
        // From 19 on NetHack counts hundredths of 18 first: 118 is 18/100, and 119 is 19.
        strength: small(match strength {
            ..=18 => strength,
            19..=118 => 18,
            _ => strength - 100,
        }),
        strength_text: text(field::STRENGTH),
        dexterity: small(dexterity),
        constitution: small(constitution),
        intelligence: small(intelligence),
        wisdom: small(wisdom),
        charisma: small(charisma),
        alignment: text(field::ALIGNMENT),
        score: shown(field::SCORE).then_some(score),
        level_text: text(field::LEVEL),
        depth: small(depth),
        gold,
        hp: small(hp.max(0)),
        hp_max: small(hp_max),
        energy: small(energy),
        energy_max: small(energy_max),
        armor_class: small(armor_class),
        experience_level: (!polymorphed).then(|| small(level)),
        hit_dice: polymorphed.then(|| small(hit_dice)),
        experience: (!polymorphed && shown(field::EXPERIENCE)).then_some(experience),
        turn: shown(field::TIME).then_some(turn),
        hunger: unless_empty(field::HUNGER),
        burden: unless_empty(field::BURDEN),
        conditions: Condition::from_mask(conditions.unsigned_abs()),
    }
}
