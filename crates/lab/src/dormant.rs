//! Forks that came back from a ledger as a line, and become machines when somebody asks for them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wire::Boundary;

use crate::disk;
use crate::journal::failed;
use crate::lab::Inner;
use crate::ledger::{Book, Entered, Ledger, Told};
use crate::ledger_file::beside;
use crate::ledger_read::{self, Expected, ReadFork, ReadLedger};
use crate::messages::MessageLog;
use crate::slot::{Origin, Peeks, Slot};
use crate::{Control, GameId, Lab, LabError, Lineage, Luck, MachineId, Revision};

/// What a ledger brought back.
#[derive(Clone, Debug)]
pub struct Reopened {
    /// The ledger, which goes on.
    pub ledger: Ledger,
    /// Numbers up to this one were given before.
    pub last: u64,
    /// The forks by their numbers. Each is a line that was read, and is replayed when it is asked for.
    pub forks: Vec<(u64, MachineId)>,
    /// Forks that are told in the file and can't be brought back, with the reason.
    pub lost: Vec<(u64, String)>,
    /// Bytes of a torn last line, which were left out.
    pub torn_bytes: u64,
    /// What is wrong with the file, where it is not as it was written or not there. What stands before that was taken;
    /// `last` is beyond every number that may have been given.
    pub damage: Option<String>,
    /// Where a file that is not as it was written is kept.
    pub aside: Option<PathBuf>,
}

/// What is wrong where there is no ledger.
pub(crate) const NO_LEDGER: &str = "it is not there";

/// A fork that was not replayed yet.
#[derive(Clone, Debug)]
pub struct Asleep {
    /// Its id.
    pub machine: MachineId,
    /// Its game.
    pub game: GameId,
    /// Where it comes from.
    pub lineage: Option<Lineage>,
    /// How many inputs lie behind it.
    pub boundary: Boundary,
    /// The revision that it has, and will have when it is awake.
    pub revision: Revision,
}

pub(crate) struct Dormant {
    entered: Entered,
    peeks: Arc<Peeks>,
    revision: Revision,
    /// What is told of it, and under which number.
    book: Mutex<Option<(Arc<Book>, u64)>>,
    /// Held by whoever replays it.
    waking: Mutex<()>,
}

/// The forks that sleep.
#[derive(Default)]
pub(crate) struct Dormitory(Mutex<BTreeMap<MachineId, Arc<Dormant>>>);

impl Dormitory {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<MachineId, Arc<Dormant>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }
}

impl Dormant {
    fn book(&self) -> MutexGuard<'_, Option<(Arc<Book>, u64)>> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the ledger that keeps it, without a lock of its own: the ledger may wait for another to take its place.
    fn tell_book(&self, tell: impl FnOnce(&Book, u64) -> Result<(), LabError>) -> Result<(), LabError> {
        let book = self.book().clone();
        book.map_or(Ok(()), |(book, number)| tell(&book, number))
    }

    pub(crate) fn entered(&self) -> &Entered {
        &self.entered
    }
}

impl Lab {
    /// Opens the ledger beside the journal of a machine that was resumed, or begins one where there is none. Its forks
    /// come back asleep: each is replayed when it is first asked for, and one that does not replay is dropped
    /// ([`Ledger::lost`]).
    ///
    /// # Errors
    /// [`LabError::JournalInUse`], limits; the files can't be read or written.
    pub fn reopen_ledger(&self, main: MachineId, journal: &Path) -> Result<Reopened, LabError> {
        let lab = &self.0;
        let main = lab.slot(main)?;
        let journal_bytes = disk::open(journal, false).and_then(|mut file| {
            // It was read already, and is locked since.
            disk::read(&mut file, lab.limits().movie_bytes as u64)
        });
        let journal_bytes = journal_bytes.map_err(|error| failed(journal, &error))?;
        let path = beside(journal);
        let found = lab.read_ledger(journal, &journal_bytes)?;
        let is_there = found.is_some();
        let missing = || ReadLedger { damage: Some(NO_LEDGER.to_owned()), ..ReadLedger::default() };
        let mut read = found.unwrap_or_else(missing);
        // A fork that may not be gone on from is no reason to forget it: the whole is refused.
        let edits = read.forks.values().try_for_each(|fork| lab.check_edits(&fork.line));
        edits.map_err(|error| error.in_journal(&path))?;
        lab.check_machines(read.forks.len())?;
        let mut aside = None;
        if read.damage.is_some() {
            read.last = read.last.max(crate::lab::beyond_all());
            if is_there {
                // What can't be read is kept for whoever can.
                let kept = disk::keep_aside(&path, "ledger.damaged").map_err(|error| failed(&path, &error))?;
                aside = Some(kept);
            }
        }
        let mut lost = read.lost;
        let forks = lab.dormant_forks(&main, read.forks, &mut lost);
        let mut told = Told::new(read.last, read.notes);
        for (number, fork) in &forks {
            told.insert(*number, fork.entered.clone());
        }
        let ledger = lab.open_book(main, journal, told)?;
        let numbers = forks.iter().map(|(number, fork)| (*number, fork.entered.machine)).collect();
        for (number, fork) in forks {
            *fork.book() = Some((Arc::clone(&ledger.0), number));
            lab.dormitory.lock().insert(fork.entered.machine, Arc::new(fork));
        }
        let (torn_bytes, damage) = (read.torn_bytes, read.damage);
        Ok(Reopened { ledger, last: read.last, forks: numbers, lost, torn_bytes, damage, aside })
    }

    /// A fork that sleeps. Absent for all other machines.
    #[must_use]
    pub fn asleep(&self, machine: MachineId) -> Option<Asleep> {
        let dormant = self.0.asleep(machine)?;
        let entered = &dormant.entered;
        Some(Asleep {
            machine,
            game: entered.game.clone(),
            lineage: entered.lineage.clone(),
            boundary: entered.line.end(),
            revision: dormant.revision,
        })
    }

    /// Replays a fork that sleeps; every call that asks for it does so too.
    ///
    /// # Errors
    /// [`LabError::UnknownMachine`], [`LabError::Desync`]: it is dropped; [`LabError::Cancelled`], engine failures.
    pub fn wake(&self, machine: MachineId, control: &Control<'_>) -> Result<(), LabError> {
        self.0.slot_or_wake(machine, control).map(|_| ())
    }
}

impl Inner {
    /// Reads the ledger beside a journal, which stays as it is. Absent: there is none.
    pub(crate) fn read_ledger(&self, journal: &Path, journal_bytes: &[u8]) -> Result<Option<ReadLedger>, LabError> {
        let identity = self.engine.identity();
        let expected = Expected { engine_id: &identity.engine_id, rom_id: &identity.rom_id, journal, journal_bytes };
        ledger_read::read(&beside(journal), &expected)
    }

    /// The machines of forks that were read, by their numbers. One whose game has no power-on is lost.
    fn dormant_forks(
        &self,
        main: &Slot,
        read: BTreeMap<u64, ReadFork>,
        lost: &mut Vec<(u64, String)>,
    ) -> BTreeMap<u64, Dormant> {
        let mut ids: BTreeMap<u64, MachineId> = BTreeMap::from([(0, main.id)]);
        for number in read.keys() {
            ids.insert(*number, self.new_machine());
        }
        let mut games: BTreeMap<String, (GameId, Arc<Peeks>)> = BTreeMap::new();
        let mut forks = BTreeMap::new();
        for (number, ReadFork { head, power_on, line }) in read {
            let Some(machine) = ids.get(&number).copied() else { continue };
            let given = self.limits().inputs;
            if line.end().0 > given {
                lost.push((number, format!("it has more than {given} inputs")));
                continue;
            }
            // What goes on from the journal is of its game, whatever the game is called now.
            let (power_on, (game, peeks)) = match power_on {
                None => (Arc::clone(&main.power_on), (main.game.clone(), Arc::clone(&main.peeks))),
                Some(record) => {
                    let new = || (GameId(head.game.as_str().into()), Arc::default());
                    (Arc::new(record), games.entry(head.game.clone()).or_insert_with(new).clone())
                }
            };
            let lineage = head.parent.map(|parent| Lineage {
                // A parent that is no more keeps a name of its own, which no machine will have.
                parent: parent.fork.and_then(|fork| ids.get(&fork).copied()).unwrap_or_else(|| self.new_machine()),
                base: Boundary(parent.base),
                luck: parent.luck.map_or(Luck::Same, |[core, display]| Luck::Reseed { core, display }),
            });
            let entered = Entered { machine, game, power_on, lineage, account: head.account, line, behind: false };
            let (revision, book, waking) = (self.new_revision(), Mutex::default(), Mutex::default());
            forks.insert(number, Dormant { entered, peeks, revision, book, waking });
        }
        forks
    }

    pub(crate) fn asleep(&self, machine: MachineId) -> Option<Arc<Dormant>> {
        self.dormitory.lock().get(&machine).cloned()
    }

    /// Has a fork that sleeps tell another ledger of itself once it is awake. False when it does not sleep.
    pub(crate) fn move_asleep(&self, machine: MachineId, book: &Arc<Book>, number: u64) -> bool {
        let dormitory = self.dormitory.lock();
        let Some(dormant) = dormitory.get(&machine) else { return false };
        *dormant.book() = Some((Arc::clone(book), number));
        true
    }

    /// Deletes a fork that sleeps. False when it does not.
    pub(crate) fn delete_asleep(&self, machine: MachineId, expected: Option<Revision>) -> Result<bool, LabError> {
        let Some(dormant) = self.asleep(machine) else { return Ok(false) };
        if expected.is_some_and(|expected| expected != dormant.revision) {
            return Ok(false);
        }
        dormant.tell_book(Book::forget)?;
        // It may have been woken meanwhile.
        let was_asleep = self.dormitory.lock().remove(&machine).is_some();
        if was_asleep {
            // Another ledger may have begun to keep it. What it can't write down now the next process finds.
            let _ = dormant.tell_book(Book::forget);
        }
        Ok(was_asleep)
    }

    /// The machine of an id, which is replayed first where it sleeps.
    pub(crate) fn slot_or_wake(&self, machine: MachineId, control: &Control<'_>) -> Result<Arc<Slot>, LabError> {
        if let Some(slot) = self.awake(machine) {
            return Ok(slot);
        }
        if let Some(dormant) = self.asleep(machine) {
            let _waking = dormant.waking.lock().unwrap_or_else(PoisonError::into_inner);
            // Unless somebody else has done it meanwhile.
            if self.awake(machine).is_none() {
                self.wake_up(&dormant, control)?;
            }
        }
        self.awake(machine).ok_or(LabError::UnknownMachine(machine))
    }

    fn wake_up(&self, dormant: &Dormant, control: &Control<'_>) -> Result<(), LabError> {
        let entered = &dormant.entered;
        let main = dormant.book().as_ref().map(|(book, _)| Arc::clone(&book.main));
        let parent = entered.lineage.as_ref().and_then(|lineage| self.awake(lineage.parent));
        let mut line = entered.line.clone();
        let mut messages = MessageLog::default();
        // Whoever has come most of the way already has states and messages on it.
        let relatives = [main, parent].into_iter().flatten().filter(|slot| slot.game == entered.game);
        let relatives = relatives.map(|slot| slot.tip()).map(|tip| (line.common(&tip.line), tip));
        if let Some((common, tip)) = relatives.max_by_key(|(common, _)| *common) {
            line.share_trail(&tip.line, common);
            messages = tip.messages;
        }
        let rebuilt = self.rebuild(&entered.power_on, &line, &messages, control);
        if let Err(error @ LabError::Desync { .. }) = &rebuilt {
            self.dormitory.lock().remove(&entered.machine);
            let _ = dormant.tell_book(|book, number| {
                book.lose(number, error.to_string());
                Ok(())
            });
        }
        let tip = rebuilt?;
        let origin = Origin {
            id: entered.machine,
            game: entered.game.clone(),
            power_on: Arc::clone(&entered.power_on),
            lineage: entered.lineage.clone(),
            peeks: Arc::clone(&dormant.peeks),
            past: entered.account,
        };
        let slot = Arc::new(Slot::new(origin, dormant.revision, tip, None));
        let mut dormitory = self.dormitory.lock();
        // It may have been deleted, or have got another ledger, meanwhile.
        if dormitory.remove(&entered.machine).is_some() {
            slot.enter(dormant.book().clone());
            self.insert_always(slot);
        }
        Ok(())
    }
}
