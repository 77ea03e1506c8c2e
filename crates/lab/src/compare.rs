use std::collections::BTreeMap;
use std::sync::Arc;

use wire::{COLUMNS, Ended, Frame, InventoryItem, MAP_COLUMNS, PlayDigest, Screen, StateDigest, Status, play_digest};

use crate::diff::{CellDiff, Diff, FieldDiff, GlyphDiff, ItemDiff};
use crate::lab::Inner;
use crate::slot::Tip;
use crate::store::Kept;
use crate::task::{Job, StartAt, TRIES, Trouble};
use crate::{Lab, LabError, MachineId, Urgency};

impl Lab {
    /// Compares two machines where they are now; where one runs just now, at its last boundary.
    ///
    /// # Errors
    /// [`LabError::UnknownMachine`]; engine failures.
    pub fn diff(&self, a: MachineId, b: MachineId) -> Result<Diff, LabError> {
        let lab = &self.0;
        let (slot_a, slot_b) = (lab.slot(a)?, lab.slot(b)?);
        let (tip_a, tip_b) = (slot_a.tip(), slot_b.tip());
        let play_same = tip_a.play == tip_b.play;
        let images_same = play_same && lab.same_image(&tip_a, &tip_b)?;
        let (frame_a, frame_b) = (tip_a.frame.as_ref(), tip_b.frame.as_ref());
        let visible_same = same_sight(frame_a, frame_b) && tip_a.ended == tip_b.ended;
        let said = tip_a.messages.common(&tip_b.messages);
        let (said_a, said_b) = (tip_a.messages.after(said), tip_b.messages.after(said));
        Ok(Diff {
            a,
            b,
            boundaries: (tip_a.line.end(), tip_b.line.end()),
            common: (slot_a.game == slot_b.game).then(|| tip_a.line.common(&tip_b.line)),
            cells: cells(&frame_a.screen, &frame_b.screen),
            cursor: different(cursor(frame_a), cursor(frame_b)),
            glyphs: glyphs(frame_a, frame_b),
            status: status(frame_a.status.as_ref(), frame_b.status.as_ref()),
            messages_truncated: said_a.truncated || said_b.truncated,
            messages_a: said_a.messages,
            messages_b: said_b.messages,
            inventory: inventory(&frame_a.inventory, &frame_b.inventory),
            pending: different(frame_a.pending.clone(), frame_b.pending.clone()).map(Box::new),
            turns: (frame_a.turn, frame_b.turn),
            ended: different(end_text(tip_a.ended.as_deref()), end_text(tip_b.ended.as_deref())),
            visible_same,
            play_same,
            images_same,
            only_random_state: visible_same && !play_same,
        })
    }
}

impl Inner {
    fn same_image(&self, a: &Tip, b: &Tip) -> Result<bool, LabError> {
        if let (Some(a), Some(b)) = (&a.state, &b.state)
            && a.id() == b.id()
        {
            return Ok(true);
        }
        Ok(match (self.state_digest(a)?, self.state_digest(b)?) {
            (Some(a), Some(b)) => a == b,
            _ => false,
        })
    }

    /// The digest of a tip's image; nothing where there is none, after some ends.
    pub(crate) fn state_digest(&self, tip: &Tip) -> Result<Option<StateDigest>, LabError> {
        if let Some(mark) = tip.line.last_mark()
            && mark.at == tip.line.end()
        {
            return Ok(Some(mark.state));
        }
        tip.state.as_ref().map_or(Ok(None), |state| self.kept_digest(state))
    }

    /// The digest of an image, made by a worker.
    pub(crate) fn kept_digest(&self, state: &Arc<Kept>) -> Result<Option<StateDigest>, LabError> {
        let job = Job { from: StartAt::State(state), event: None, batch: None, part: None, keep: None, digest: true };
        let mut tries = 0;
        loop {
            tries += 1;
            let result = self.lease(Some(state.id()), Urgency::Interactive).and_then(|mut hosted| {
                let report = job.run(hosted.as_mut())?;
                hosted.set_resident(Some(state.id()));
                Ok(report.state_digest)
            });
            match result {
                Err(Trouble::Lost(_)) if tries < TRIES => {}
                result => return result.map_err(Trouble::into_error),
            }
        }
    }
}

/// Digest of frame v1 alone: what the terminal shows, what kind of answer is waited for, and the turn.
pub(crate) fn frame_digest(frame: &Frame) -> PlayDigest {
    let Screen { chars, colors, attributes, cursor } = &frame.screen;
    let pending = frame.pending.as_ref().map_or(0, |pending| pending.kind as u8);
    play_digest([chars, colors, attributes], [cursor.row, cursor.column], pending, frame.turn, &[])
}

/// Whether two frames look the same. Messages are left out: they are of the last input, which need not be the same.
fn same_sight(a: &Frame, b: &Frame) -> bool {
    a.screen == b.screen
        && a.glyphs == b.glyphs
        && a.turn == b.turn
        && a.hero == b.hero
        && a.status == b.status
        && a.inventory == b.inventory
        && a.menu == b.menu
        && a.window == b.window
        && a.pending == b.pending
}

fn different<T: PartialEq>(a: T, b: T) -> Option<(T, T)> {
    (a != b).then_some((a, b))
}

fn cursor(frame: &Frame) -> (u8, u8) {
    (frame.screen.cursor.row, frame.screen.cursor.column)
}

fn end_text(ended: Option<&Ended>) -> Option<String> {
    ended.map(|ended| ended.text.clone())
}

/// Row and column of an index into a plane.
fn place(index: usize, columns: usize) -> (u8, u8) {
    let number = |value: usize| u8::try_from(value).unwrap_or(u8::MAX);
    (number(index / columns), number(index % columns))
}

fn cells(a: &Screen, b: &Screen) -> Vec<CellDiff> {
    let cell = |screen: &Screen, index: usize| {
        let (row, column) = (index / COLUMNS, index % COLUMNS);
        let at = |plane: &[u8]| plane.get(index).copied().unwrap_or_default();
        (screen.at(row, column), at(&screen.colors), at(&screen.attributes))
    };
    (0..a.chars.len().max(b.chars.len()))
        .filter_map(|index| {
            let (row, column) = place(index, COLUMNS);
            let (a, b) = different(cell(a, index), cell(b, index))?;
            Some(CellDiff { row, column, a, b })
        })
        .collect()
}

fn glyphs(a: &Frame, b: &Frame) -> Vec<GlyphDiff> {
    let pairs = a.glyphs.iter().zip(&b.glyphs).enumerate();
    pairs
        .filter(|(_, (a, b))| a != b)
        .map(|(index, (&a, &b))| {
            let (row, column) = place(index, MAP_COLUMNS);
            GlyphDiff { row, column, a, b }
        })
        .collect()
}

fn inventory(a: &[InventoryItem], b: &[InventoryItem]) -> Vec<ItemDiff> {
    let mut letters: BTreeMap<char, (Option<&InventoryItem>, Option<&InventoryItem>)> = BTreeMap::new();
    a.iter().for_each(|item| letters.entry(item.letter).or_default().0 = Some(item));
    b.iter().for_each(|item| letters.entry(item.letter).or_default().1 = Some(item));
    letters
        .into_iter()
        .filter(|(_, (a, b))| a != b)
        .map(|(letter, (a, b))| ItemDiff { letter, a: a.cloned(), b: b.cloned() })
        .collect()
}

/// A field as text and, where it is one, as a number.
type Field = (&'static str, Option<String>, Option<i64>);

fn status(a: Option<&Status>, b: Option<&Status>) -> Vec<FieldDiff> {
    let fields = |status: Option<&Status>| status.map(fields).unwrap_or_default();
    let (a, b) = (fields(a), fields(b));
    let names: Vec<&'static str> = if a.is_empty() { &b } else { &a }.iter().map(|field| field.0).collect();
    let value = |fields: &[Field], index: usize| {
        let field = fields.get(index);
        field.map_or((None, None), |(_, text, number)| (text.clone(), *number))
    };
    let differs = |(index, field): (usize, &&'static str)| {
        let ((text_a, number_a), (text_b, number_b)) = (value(&a, index), value(&b, index));
        (text_a != text_b).then(|| FieldDiff {
            field,
            delta: number_a.zip(number_b).map(|(a, b)| b.saturating_sub(a)),
            a: text_a,
            b: text_b,
        })
    };
    names.iter().enumerate().filter_map(differs).collect()
}

/// All fields of the status lines in their order; always as many.
fn fields(status: &Status) -> Vec<Field> {
    let Status {
        title,
        strength,
        strength_text,
        dexterity,
        constitution,
        intelligence,
        wisdom,
        charisma,
        alignment,
        score,
        level_text,
        depth,
        gold,
        hp,
        hp_max,
        energy,
        energy_max,
        armor_class,
        experience_level,
        hit_dice,
        experience,
        turn,
        hunger,
        burden,
        conditions,
    } = status;
    let text = |name, value: &str| (name, Some(value.to_owned()), None);
    let maybe = |name, value: Option<i64>| (name, value.map(|value| value.to_string()), value);
    let number = |name, value: i64| maybe(name, Some(value));
    vec![
        text("title", title),
        number("strength", i64::from(*strength)),
        text("strength_text", strength_text),
        number("dexterity", i64::from(*dexterity)),
        number("constitution", i64::from(*constitution)),
        number("intelligence", i64::from(*intelligence)),
        number("wisdom", i64::from(*wisdom)),
        number("charisma", i64::from(*charisma)),
        text("alignment", alignment),
        maybe("score", *score),
        text("level_text", level_text),
        number("depth", i64::from(*depth)),
        number("gold", *gold),
        number("hp", i64::from(*hp)),
        number("hp_max", i64::from(*hp_max)),
        number("energy", i64::from(*energy)),
        number("energy_max", i64::from(*energy_max)),
        number("armor_class", i64::from(*armor_class)),
        maybe("experience_level", experience_level.map(i64::from)),
        maybe("hit_dice", hit_dice.map(i64::from)),
        maybe("experience", *experience),
        maybe("turn", *turn),
        ("hunger", hunger.clone(), None),
        ("burden", burden.clone(), None),
        ("conditions", condition_text(conditions), None),
    ]
}

fn condition_text(conditions: &[wire::Condition]) -> Option<String> {
    let names: Vec<String> = conditions.iter().map(|condition| format!("{condition:?}")).collect();
    (!names.is_empty()).then(|| names.join(" "))
}
