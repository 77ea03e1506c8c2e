//! Pressing the keys of a batch, as long as the game takes each of them as what it was meant to be.

use std::collections::VecDeque;

use wire::{Asked, Batch, Check, Key, Message, OnMore, Pending, PendingKind, StopReason, Texts, accepts};

use crate::protocol::{Part, Want};

/// The most prompts in a row that are dismissed before the batch stops at one.
const DISMISSALS_IN_A_ROW_MAX: usize = 256;
/// The most prompts that are dismissed in one task.
const DISMISSALS_MAX: usize = wire::KEYS_MAX;
/// For how many inputs there is room before the first of them.
const INPUTS_AHEAD: usize = 256;
/// The most messages kept, and their most bytes.
const MESSAGES_MAX: usize = 4_096;
const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// What a batch needs of a machine.
pub(crate) trait Engine {
    /// Why a key could not be pressed.
    type Error;
    /// Presses a key.
    fn press(&mut self, key: Key) -> Result<(), Self::Error>;
    /// True when the game has ended.
    fn has_ended(&self) -> bool;
    /// What kind of answer the game waits for; absent when it has ended.
    fn pending_kind(&self) -> Option<PendingKind>;
    /// What the game waits for; absent when it has ended.
    fn pending(&self) -> Option<Pending>;
    /// The turn counter.
    fn turn(&self) -> i64;
    /// The check of this boundary.
    fn check(&self) -> Check;
    /// Appends the messages of the last key; true when there were more.
    fn messages_into(&self, messages: &mut Vec<Message>) -> bool;
    /// The lines of the text that is open.
    fn window(&self) -> Option<Vec<String>>;
}

/// What came of pressing a batch.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) inputs: Vec<Key>,
    pub(crate) checks: Vec<Check>,
    pub(crate) keys_used: u32,
    pub(crate) stop: StopReason,
    pub(crate) turns: i64,
    pub(crate) asked: Option<Asked>,
}

impl Run {
    /// Nothing pressed.
    pub(crate) fn nothing(stop: StopReason) -> Self {
        Self { inputs: Vec::new(), checks: Vec::new(), keys_used: 0, stop, turns: 0, asked: None }
    }
}

/// The newest messages of a task, and the texts that were closed in it.
#[derive(Debug, Default)]
pub(crate) struct MessageLog {
    messages: VecDeque<Message>,
    bytes: usize,
    truncated: bool,
    fresh: Vec<Message>,
    texts: Texts,
    /// The lines of the text of which the last key has turned a page or closed the last one.
    page: Option<Vec<String>>,
}

impl MessageLog {
    /// Takes over the messages of the engine's last key.
    pub(crate) fn collect<E: Engine>(&mut self, engine: &E) {
        self.truncated |= engine.messages_into(&mut self.fresh);
        for message in self.fresh.drain(..) {
            self.bytes += message.text.len();
            self.messages.push_back(message);
        }
        while self.messages.len() > MESSAGES_MAX || self.bytes > MESSAGE_BYTES_MAX {
            let Some(oldest) = self.messages.pop_front() else { break };
            self.bytes -= oldest.text.len();
            self.truncated = true;
        }
    }

    /// Takes over the text that the engine's next key will close. Further pages of the same text are not taken again.
    pub(crate) fn closing<E: Engine>(&mut self, engine: &E) {
        let before = self.page.take();
        if engine.pending_kind() == Some(PendingKind::Window) {
            self.page = engine.window();
            if let Some(lines) = self.page.clone().filter(|_| self.page != before) {
                self.texts.push(lines);
            }
        }
    }

    /// The messages, oldest first, whether there were more, and the texts.
    pub(crate) fn into_parts(self) -> (Vec<Message>, bool, Texts) {
        (self.messages.into(), self.truncated, self.texts)
    }
}

/// A key of a batch with what its segment says of it.
#[derive(Clone, Copy)]
struct Step {
    key: Key,
    expect: Option<PendingKind>,
    first_of_segment: bool,
}

struct Runner<'a, E: Engine> {
    engine: &'a mut E,
    batch: &'a Batch,
    want: Want,
    log: &'a mut MessageLog,
    pressed: &'a mut dyn FnMut(),
    run: Run,
    dismissals: usize,
    turn_before: i64,
}

/// Presses a batch, or a part of it, until it is done or must stop. `pressed` is called after each input; the log takes
/// the messages of each, where they are wanted.
///
/// # Errors
/// The engine's, at the first key that it can't press.
pub(crate) fn run_batch<E: Engine>(
    engine: &mut E,
    (batch, part): (&Batch, Option<Part>),
    want: Want,
    log: &mut MessageLog,
    pressed: &mut dyn FnMut(),
) -> Result<Run, E::Error> {
    let turn_before = engine.turn();
    let mut run = Run::nothing(StopReason::Done);
    run.asked = part.as_ref().and_then(|part| part.asked.clone());
    run.inputs.reserve(batch.len().min(INPUTS_AHEAD));
    let mut runner = Runner { engine, batch, want, log, pressed, run, dismissals: 0, turn_before };
    runner.run.stop = runner.press_all(part)?;
    runner.run.turns = runner.turns();
    Ok(runner.run)
}

impl<E: Engine> Runner<'_, E> {
    fn press_all(&mut self, part: Option<Part>) -> Result<StopReason, E::Error> {
        let batch = self.batch;
        let part = part.unwrap_or(Part { from: 0, count: u32::MAX, asked: None });
        let steps = batch.segments.iter().flat_map(|segment| {
            segment.keys.iter().enumerate().map(|(index, &key)| Step {
                key,
                expect: segment.expect,
                first_of_segment: index == 0,
            })
        });
        for step in steps.skip(part.from as usize).take(part.count as usize) {
            if let Some(stop) = self.step(step)? {
                return Ok(stop);
            }
        }
        let whole = part.from as usize + part.count as usize >= batch.len();
        if whole {
            self.dismiss(None)?;
        }
        Ok(match () {
            () if self.engine.has_ended() => StopReason::Ended,
            () if whole && self.is_refused() => StopReason::NotAccepted,
            () => StopReason::Done,
        })
    }

    /// Presses one key of the batch, or tells why not.
    fn step(&mut self, step: Step) -> Result<Option<StopReason>, E::Error> {
        if let Some(stop) = self.limit() {
            return Ok(Some(stop));
        }
        self.dismiss(step.expect)?;
        // A dismissed prompt may have been the game's last, or let turns pass.
        if let Some(stop) = self.limit() {
            return Ok(Some(stop));
        }
        if self.batch.force {
            self.press(step.key)?;
        } else if self.is_refused() || !self.press_meant(step)? {
            return Ok(Some(StopReason::NotAccepted));
        }
        self.run.keys_used += 1;
        Ok(None)
    }

    fn limit(&self) -> Option<StopReason> {
        if self.engine.has_ended() {
            return Some(StopReason::Ended);
        }
        let max = self.batch.turns_max?;
        (u64::try_from(self.turns()).unwrap_or(0) >= max).then_some(StopReason::Turns)
    }

    /// Presses a key where the game takes it for what it is meant as; false where it doesn't.
    fn press_meant(&mut self, Step { key, expect, first_of_segment }: Step) -> Result<bool, E::Error> {
        let Some(kind) = self.engine.pending_kind() else { return Ok(false) };
        let expected = expect == Some(kind);
        if first_of_segment && expect.is_some() && !expected {
            return Ok(false);
        }
        // The two kinds that take every key are nearly all there are, and asking for the whole prompt costs more.
        if matches!(kind, PendingKind::Command | PendingKind::Key) {
            self.run.asked = None;
            self.press(key)?;
            return Ok(true);
        }
        let Some(pending) = self.engine.pending().filter(|pending| accepts(pending, key, expected)) else {
            return Ok(false);
        };
        self.run.asked = Asked::after(self.run.asked.take(), &pending, key, self.engine.turn());
        self.press(key)?;
        if kind == PendingKind::Position {
            let mut said = Vec::new();
            self.engine.messages_into(&mut said);
            let said = || said.iter().map(|message| message.text.as_str());
            self.run.asked = self.run.asked.take().filter(|asked| asked.is_refused_by(said()));
        }
        Ok(true)
    }

    /// Whether the game still asks what the last key was to answer.
    fn is_refused(&self) -> bool {
        let Some(asked) = &self.run.asked else { return false };
        self.engine.pending_kind() == Some(asked.kind)
            && self.engine.pending().is_some_and(|pending| asked.stands_again(&pending, self.engine.turn()))
    }

    /// Dismisses prompts where the batch says so, but never one that the next key is meant for.
    fn dismiss(&mut self, expect: Option<PendingKind>) -> Result<(), E::Error> {
        if self.batch.on_more != OnMore::Dismiss {
            return Ok(());
        }
        for _ in 0..DISMISSALS_IN_A_ROW_MAX {
            let kind = self.engine.pending_kind();
            let is_open = matches!(kind, Some(PendingKind::More | PendingKind::Window));
            if !is_open || kind == expect || self.dismissals == DISMISSALS_MAX {
                break;
            }
            self.press(Key::ENTER)?;
            self.dismissals += 1;
        }
        Ok(())
    }

    fn press(&mut self, key: Key) -> Result<(), E::Error> {
        if self.want.messages {
            self.log.closing(self.engine);
        }
        self.engine.press(key)?;
        self.run.inputs.push(key);
        if self.want.checks {
            self.run.checks.push(self.engine.check());
        }
        if self.want.messages {
            self.log.collect(self.engine);
        }
        (self.pressed)();
        Ok(())
    }

    fn turns(&self) -> i64 {
        self.engine.turn() - self.turn_before
    }
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
