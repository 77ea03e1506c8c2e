//! Forks that are kept in a file, so that another process brings them back.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use movie::{
    Account, LEDGER_FORKS_MAX, LedgerBase, LedgerFork, LedgerHeader, LedgerParent, LedgerRecord, LinePart, Mark,
    MarkKind, NOTE_BYTES_MAX, NOTES_MAX,
};
use wire::{Boundary, PowerOn};

use crate::disk;
use crate::journal::marks;
use crate::lab::Inner;
use crate::ledger_file::{Draft, LedgerFile, beside};
use crate::line::Line;
use crate::slot::Slot;
use crate::{GameId, Lab, LabError, Lineage, MachineId};

/// From how many bytes on a ledger is written anew when it has become twice as long as it was.
const REWRITE_BYTES: u64 = if cfg!(test) { 32 << 10 } else { 32 << 20 };
/// Room that a key may need.
const RESERVE_FOR_A_KEY: u64 = 64;

/// The forks beside a journalled machine, in a file beside its journal, for [`Lab::reopen_ledger`].
///
/// A machine that is kept ([`Ledger::keep`]) has a number of the caller's; from then on, whatever changes its line is in
/// the file before the call that did it returns, and so is its deletion. `docs/formats/ledger.md` is the norm.
#[derive(Clone)]
pub struct Ledger(pub(crate) Arc<Book>);

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Ledger").field(&self.path()).finish()
    }
}

pub(crate) struct Book {
    header: LedgerHeader,
    /// The machine of the journal.
    pub(crate) main: Arc<Slot>,
    pages: Mutex<Pages>,
}

/// What the file says.
pub(crate) struct Pages {
    pub(crate) file: LedgerFile,
    pub(crate) told: Told,
    /// When the file is written anew.
    rewrite_at: u64,
    /// Forks that could not be brought back, with the reason.
    lost: Vec<(u64, String)>,
}

/// What a ledger holds, without its file.
#[derive(Default)]
pub(crate) struct Told {
    last: u64,
    forks: BTreeMap<u64, Entered>,
    numbers: BTreeMap<MachineId, u64>,
    notes: BTreeMap<String, String>,
    /// Numbers that were taken for machines that are yet to be kept.
    reserved: BTreeSet<u64>,
}

/// A fork as the file has it.
#[derive(Clone)]
pub(crate) struct Entered {
    pub(crate) machine: MachineId,
    pub(crate) game: GameId,
    pub(crate) power_on: Arc<PowerOn>,
    pub(crate) lineage: Option<Lineage>,
    pub(crate) account: Account,
    pub(crate) line: Line,
    /// True where the machine has gone on and the file could not be told.
    pub(crate) behind: bool,
}

/// A line that others can be told from.
struct Base<'a> {
    name: LedgerBase,
    line: &'a Line,
    /// Up to where it can be relied on.
    end: Boundary,
}

/// What a new ledger begins with.
#[derive(Clone, Copy, Debug, Default)]
pub struct LedgerStart<'a> {
    /// No fork gets a number up to this one, but for those in `kept` and `reserved`.
    pub last: u64,
    /// Machines that are to be kept, with their numbers.
    pub kept: &'a [(u64, MachineId)],
    /// Numbers that were taken for machines that are yet to be kept.
    pub reserved: &'a [u64],
    /// Notes, by their names; an empty text takes away what `old` has.
    pub notes: &'a [(&'a str, &'a str)],
    /// The ledger that this one takes the place of: its notes go on here.
    pub old: Option<&'a Ledger>,
}

impl Lab {
    /// Begins the ledger of a journalled machine, in a new file beside its journal. Only then does a journal without a
    /// name get one: whoever goes on with the latest journal finds all that is kept, whenever this process is killed.
    /// What the old ledger kept of the machines that are to be kept is kept here from now on. Absent: the machine has no
    /// journal.
    ///
    /// # Errors
    /// [`LabError::UnknownMachine`], limits; [`LabError::Journal`] when a file can't be written. There is no new ledger
    /// then, and an old one goes on.
    pub fn begin_ledger(&self, main: MachineId, start: &LedgerStart<'_>) -> Result<Option<Ledger>, LabError> {
        let main = self.0.slot(main)?;
        let Some(journal) = main.journal_path().map(Path::to_owned) else { return Ok(None) };
        // Nothing is told to the old one meanwhile: once there is a new one, nobody would read it there.
        let old = start.old.map(|old| old.0.pages());
        let mut told = Told::new(start.last, old.as_ref().map(|old| old.told.notes.clone()).unwrap_or_default());
        told.reserved.extend(start.reserved);
        for (name, text) in start.notes {
            check_note(&told.notes, name, text)?;
            told.note(name, text);
        }
        for (number, machine) in start.kept {
            let asleep = self.0.asleep(*machine).map(|asleep| asleep.entered().clone());
            // One that is deleted meanwhile is not kept.
            let entered = asleep.or_else(|| Some(Entered::of(&*self.0.awake(*machine)?)));
            if let Some(entered) = entered {
                told.insert(*number, entered);
            }
        }
        let ledger = self.0.open_book(Arc::clone(&main), &journal, told)?;
        main.name_journal().inspect_err(|_| drop(disk::remove(&ledger.path())))?;
        for (number, machine) in start.kept {
            // Both files are there. What can't be told now is before the machine's next key.
            let _ = ledger.0.enter(&self.0, *number, *machine);
        }
        drop(old);
        Ok(Some(ledger))
    }
}

impl Inner {
    /// Writes a ledger with what is told, in the place of one that may be there.
    pub(crate) fn open_book(&self, main: Arc<Slot>, journal: &Path, told: Told) -> Result<Ledger, LabError> {
        let identity = self.engine.identity();
        let name = journal.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let header = LedgerHeader {
            engine_id: identity.engine_id.clone(),
            rom_id: identity.rom_id.clone(),
            creator: self.options.creator.clone(),
            journal: name.to_owned(),
        };
        let file = told.write(&main, Draft::begin(&beside(journal), &header)?)?;
        let pages = Pages { rewrite_at: rewrite_at(file.bytes()), file, told, lost: Vec::new() };
        Ok(Ledger(Arc::new(Book { header, main, pages: Mutex::new(pages) })))
    }
}

fn rewrite_at(bytes: u64) -> u64 {
    bytes.saturating_mul(2).max(REWRITE_BYTES)
}

impl Ledger {
    /// The file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.0.pages().file.path().to_owned()
    }

    /// Keeps a machine under a number from now on.
    ///
    /// # Errors
    /// A number that was given before, limits; [`LabError::Journal`] when it can't be written.
    pub fn keep(&self, lab: &Lab, number: u64, machine: MachineId) -> Result<(), LabError> {
        let slot = lab.0.slot(machine)?;
        let mut pages = self.0.pages();
        let max = LEDGER_FORKS_MAX as u64;
        let given = pages.told.forks.len() as u64 + 1;
        if given > max {
            return Err(LabError::LimitExceeded { what: "forks of a ledger", given, max });
        }
        if number <= pages.told.last && !pages.told.reserved.contains(&number) {
            let text = format!("number {number} was given before");
            return Err(crate::journal::failed(pages.file.path(), &text));
        }
        let entered = Entered::of(&slot);
        let record = pages.told.record_of(number, &entered, &self.0.main)?;
        pages.file.append(&record)?;
        pages.told.last = pages.told.last.max(number);
        pages.told.reserved.remove(&number);
        pages.told.insert(number, entered);
        drop(pages);
        slot.enter(Some((Arc::clone(&self.0), number)));
        Ok(())
    }

    /// Takes a number for a machine that there is not yet: whatever happens, no other gets it. Repeating it is harmless.
    ///
    /// # Errors
    /// A number that was given before; [`LabError::Journal`] when it can't be written.
    pub fn reserve(&self, number: u64) -> Result<(), LabError> {
        let mut pages = self.0.pages();
        if pages.told.reserved.contains(&number) {
            return Ok(());
        }
        if number <= pages.told.last {
            let text = format!("number {number} was given before");
            return Err(crate::journal::failed(pages.file.path(), &text));
        }
        pages.file.append(&LedgerRecord::Numbers { last: number })?;
        pages.told.last = number;
        pages.told.reserved.insert(number);
        Ok(())
    }

    /// Keeps a text for whoever asks for it by this name after a restart; an empty one takes it away.
    ///
    /// # Errors
    /// Limits; [`LabError::Journal`] when it can't be written.
    pub fn note(&self, name: &str, text: &str) -> Result<(), LabError> {
        let mut pages = self.0.pages();
        check_note(&pages.told.notes, name, text)?;
        pages.file.append(&LedgerRecord::Note { name: name.to_owned(), text: text.to_owned() })?;
        pages.told.note(name, text);
        Ok(())
    }

    /// The text that is kept under a name.
    #[must_use]
    pub fn note_of(&self, name: &str) -> Option<String> {
        self.0.pages().told.notes.get(name).cloned()
    }

    /// The forks that could not be brought back, by their numbers, with the reason.
    #[must_use]
    pub fn lost(&self) -> Vec<(u64, String)> {
        self.0.pages().lost.clone()
    }
}

impl Book {
    pub(crate) fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a machine that is told already tell this ledger of what becomes of it.
    fn enter(self: &Arc<Self>, lab: &Inner, number: u64, machine: MachineId) -> Result<(), LabError> {
        if lab.move_asleep(machine, self, number) {
            return Ok(());
        }
        let Some(slot) = lab.awake(machine) else { return self.forget(number) };
        slot.enter(Some((Arc::clone(self), number)));
        // It may have gone on since its line was written.
        self.tell(number, &slot.line())
    }

    /// Writes down what a fork's line has become.
    pub(crate) fn tell(&self, number: u64, line: &Line) -> Result<(), LabError> {
        let mut pages = self.pages();
        let Pages { file, told, .. } = &mut *pages;
        let Some(entered) = told.forks.get_mut(&number) else { return Ok(()) };
        let common = line.common(&entered.line);
        if common == line.end() && common == entered.line.end() && line.events() == entered.line.events() {
            entered.behind = false;
            return Ok(());
        }
        let part = part(line, &entered.line, common);
        entered.behind = true;
        file.append(&LedgerRecord::Line { fork: number, part })?;
        entered.behind = false;
        entered.line = line.clone();
        self.rewrite_if_due(&mut pages);
        Ok(())
    }

    /// Refuses keys on a fork of which the file could not be told, or might not be.
    pub(crate) fn check_room(&self, number: u64, line: &Line, keys: usize) -> Result<(), LabError> {
        let pages = self.pages();
        pages.file.check_room((keys as u64 + 64).saturating_mul(RESERVE_FOR_A_KEY))?;
        let behind = pages.told.forks.get(&number).is_some_and(|entered| entered.behind);
        drop(pages);
        if behind { self.tell(number, line) } else { Ok(()) }
    }

    /// Writes down that a fork is no more.
    pub(crate) fn forget(&self, number: u64) -> Result<(), LabError> {
        let mut pages = self.pages();
        if pages.told.forks.contains_key(&number) {
            pages.file.append(&LedgerRecord::Delete { fork: number })?;
            pages.told.remove(number);
            self.rewrite_if_due(&mut pages);
        }
        Ok(())
    }

    /// Notes that a fork could not be brought back.
    pub(crate) fn lose(&self, number: u64, reason: String) {
        // Where it can't be written, the next process finds the same.
        let _ = self.forget(number);
        self.pages().lost.push((number, reason));
    }

    /// Writes the file anew once most of it is of what is no more.
    fn rewrite_if_due(&self, pages: &mut Pages) {
        if pages.file.bytes() < pages.rewrite_at {
            return;
        }
        let draft = Draft::begin(pages.file.path(), &self.header);
        let written = draft.and_then(|draft| pages.told.write(&self.main, draft));
        // Where there is no room for both, the old one goes on.
        if let Ok(file) = written {
            pages.file = file;
        }
        pages.rewrite_at = rewrite_at(pages.file.bytes());
    }
}

impl Told {
    fn write(&self, main: &Slot, mut draft: Draft) -> Result<LedgerFile, LabError> {
        draft.push(&LedgerRecord::Numbers { last: self.last })?;
        for (name, text) in &self.notes {
            draft.push(&LedgerRecord::Note { name: name.clone(), text: text.clone() })?;
        }
        let mut before = Self::default();
        for (number, entered) in &self.forks {
            draft.push(&before.record_of(*number, entered, main)?)?;
            before.insert(*number, entered.clone());
        }
        draft.finish()
    }

    /// The record that begins a fork, told from the line that has most in common with it.
    fn record_of(&self, number: u64, entered: &Entered, main: &Slot) -> Result<LedgerRecord, LabError> {
        let journal = main.journal_place()?;
        let parent = entered.lineage.as_ref().map(|lineage| lineage.parent);
        let parent_number = parent.and_then(|parent| self.numbers.get(&parent).copied());
        let game = self.forks.iter().rev().find(|(_, other)| other.game == entered.game);
        let parent_fork = parent_number.and_then(|number| self.forks.get_key_value(&number));
        let forks = [parent_fork, game].into_iter().flatten().filter(|(_, other)| other.game == entered.game);
        let forks = forks.map(|(number, other)| Base {
            name: LedgerBase::Fork(*number),
            line: &other.line,
            end: other.line.end(),
        });
        let main_base = journal.as_ref().filter(|_| main.game == entered.game);
        let main_base =
            main_base.map(|((bytes, end), line)| Base { name: LedgerBase::Journal(*bytes), line, end: *end });
        let empty = Line::default();
        let nothing =
            Base { name: LedgerBase::PowerOn(Box::new((*entered.power_on).clone())), line: &empty, end: Boundary(0) };
        let bases = main_base.into_iter().chain(forks).map(|base| (base.end.min(entered.line.common(base.line)), base));
        // The first of those that have most in common: that of the journal where it is one of them.
        let best = bases.reduce(|best, next| if next.0 > best.0 { next } else { best });
        let (common, base) = best.unwrap_or((Boundary(0), nothing));
        Ok(LedgerRecord::Fork(Box::new(LedgerFork {
            number,
            game: entered.game.as_str().to_owned(),
            parent: entered.lineage.as_ref().map(|lineage| LedgerParent {
                fork: if lineage.parent == main.id { Some(0) } else { parent_number },
                base: lineage.base.0,
                luck: lineage.luck.seeds().map(|(core, display)| [core, display]),
            }),
            account: entered.account,
            part: part(&entered.line, base.line, common),
            base: base.name,
        })))
    }

    /// No forks yet.
    pub(crate) fn new(last: u64, notes: BTreeMap<String, String>) -> Self {
        Self { last, notes, ..Self::default() }
    }

    fn note(&mut self, name: &str, text: &str) {
        if text.is_empty() {
            self.notes.remove(name);
        } else {
            self.notes.insert(name.to_owned(), text.to_owned());
        }
    }

    /// Takes in a fork.
    pub(crate) fn insert(&mut self, number: u64, entered: Entered) {
        self.numbers.insert(entered.machine, number);
        self.forks.insert(number, entered);
    }

    fn remove(&mut self, number: u64) {
        if let Some(entered) = self.forks.remove(&number) {
            self.numbers.remove(&entered.machine);
        }
    }
}

/// Refuses a note that is too long, or one too many.
fn check_note(notes: &BTreeMap<String, String>, name: &str, text: &str) -> Result<(), LabError> {
    let limits = [
        ("bytes of a note", text.len(), NOTE_BYTES_MAX),
        ("notes", notes.len() + usize::from(!notes.contains_key(name)), NOTES_MAX),
    ];
    for (what, given, max) in limits {
        if given > max {
            return Err(LabError::LimitExceeded { what, given: given as u64, max: max as u64 });
        }
    }
    Ok(())
}

impl Entered {
    pub(crate) fn of(slot: &Slot) -> Self {
        Self {
            machine: slot.id,
            game: slot.game.clone(),
            power_on: Arc::clone(&slot.power_on),
            lineage: slot.lineage.clone(),
            account: slot.account(),
            line: slot.line(),
            behind: false,
        }
    }
}

/// What a line has beyond its first `common` inputs, which are the base's.
fn part(line: &Line, base: &Line, common: Boundary) -> LinePart {
    // Digests of the arrival there are the base's too.
    let known = |mark: &Mark| {
        mark.at == common
            && !line.happens_at(common)
            && matches!(mark.kind, MarkKind::Digests { .. })
            && base.prefix(common).mark_at(common).is_some()
    };
    LinePart {
        common,
        steps: line.steps_from(common).copied().collect(),
        marks: marks(line).into_iter().filter(|mark| mark.at >= common && !known(mark)).collect(),
    }
}
