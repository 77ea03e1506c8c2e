use std::path::Path;
use std::sync::Arc;

use movie::{Account, Movie};
use wire::PowerOn;

use crate::journal::Journal;
use crate::lab::Inner;
use crate::line::Line;
use crate::messages::MessageLog;
use crate::replay::Replay;
use crate::slot::{Origin, Peeks, Slot, Tip};
use crate::task::{TRIES, Trouble};
use crate::{Control, GameId, Journalled, Lab, LabError, MachineId, Snapshot};

impl Lab {
    /// Powers on a machine. With `journalled`, all that happens to it goes to a new file in the movies directory.
    ///
    /// # Errors
    /// A record that can't be, limits, [`LabError::NoMovies`]; engine and journal failures. There is no machine then.
    pub fn new_game(&self, power_on: PowerOn, journalled: impl Into<Journalled>) -> Result<Snapshot, LabError> {
        let lab = &self.0;
        power_on.check()?;
        lab.check_machines(1)?;
        let journalled = journalled.into();
        lab.check_journalled(journalled)?;
        let tip = lab.power_on(&power_on)?;
        let game = lab.new_game_id();
        let account = lab.left.account(&power_on, Account::default());
        let journal = lab.begin_journal(journalled, |movies| {
            let (header, bytes_max) = (lab.header(&power_on), lab.limits().movie_bytes);
            let mut journal = if account == Account::default() {
                Journal::create(movies, &game, &header, bytes_max)?
            } else {
                let nothing = Movie { account, ..Movie::new(header.clone()) };
                Journal::continue_movie(movies, &game, &header, &nothing, bytes_max)?
            };
            if let Some(mark) = tip.line.last_mark() {
                journal.digests(&mark)?;
            }
            Ok(journal)
        })?;
        lab.admit(game, power_on, tip, journal, account)
    }

    /// Takes back a machine that was made just now and that nobody has come to know, and its journal.
    pub fn take_back(&self, machine: MachineId) {
        if let Some(slot) = self.0.awake(machine) {
            slot.discard_journal();
            self.0.remove(machine);
        }
    }
}

impl Inner {
    pub(crate) fn check_journalled(&self, journalled: Journalled) -> Result<(), LabError> {
        match journalled != Journalled::No && self.options.movies.is_none() {
            true => Err(LabError::NoMovies),
            false => Ok(()),
        }
    }

    /// The journal that `begin` begins in the movies directory, where there is to be one.
    pub(crate) fn begin_journal(
        &self,
        journalled: Journalled,
        begin: impl FnOnce(&Path) -> Result<Journal, LabError>,
    ) -> Result<Option<Journal>, LabError> {
        self.check_journalled(journalled)?;
        let Some(movies) = self.options.movies.as_ref().filter(|_| journalled != Journalled::No) else {
            return Ok(None);
        };
        let mut journal = begin(movies)?;
        if journalled == Journalled::Yes {
            journal.give_name()?;
        }
        Ok(Some(journal))
    }

    pub(crate) fn power_on(&self, record: &PowerOn) -> Result<Tip, LabError> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.try_power_on(record) {
                Err(Trouble::Lost(_)) if tries < TRIES => {}
                result => return result.map_err(Trouble::into_error),
            }
        }
    }

    fn try_power_on(&self, record: &PowerOn) -> Result<Tip, Trouble> {
        let (mut replay, mut report) = Replay::power_on(self, record, &Control::default(), true)?;
        let state = replay.keep(&report);
        if state.is_none() && report.ended.is_none() {
            return Err(Trouble::Fatal(self.store.full(0)));
        }
        Ok(self.tip_after(Line::default(), MessageLog::default(), &mut report, state))
    }

    /// Takes in a machine that goes back to its own power-on. `past` is what a movie says had happened before; a journal
    /// has it already.
    pub(crate) fn admit(
        &self,
        game: GameId,
        power_on: PowerOn,
        tip: Tip,
        journal: Option<Journal>,
        past: Account,
    ) -> Result<Snapshot, LabError> {
        let origin = Origin {
            id: self.new_machine(),
            game,
            power_on: Arc::new(power_on),
            lineage: None,
            peeks: Arc::new(Peeks::default()),
            past,
        };
        let slot = Arc::new(Slot::new(origin, self.new_revision(), tip, journal));
        match self.insert(vec![Arc::clone(&slot)]) {
            Ok(()) => Ok(slot.snapshot()),
            Err(error) => {
                // Whoever goes on with the latest journal must not find one of a machine that never was.
                slot.discard_journal();
                Err(error)
            }
        }
    }

    /// The header of a movie that this lab writes.
    pub(crate) fn header(&self, power_on: &PowerOn) -> movie::Header {
        let identity = self.engine.identity();
        movie::Header {
            engine_id: identity.engine_id.clone(),
            rom_id: identity.rom_id.clone(),
            nethack_version: identity.nethack_version.clone(),
            creator: self.options.creator.clone(),
            power_on: power_on.clone(),
        }
    }
}

/// What a movie of a machine says happened on the way: at least what its own line holds.
pub(crate) fn account_of(line: &Line, past: Account) -> Account {
    let (reseeds, edits) = line.counts_from(wire::Boundary(0));
    Account {
        inputs: past.inputs.max(line.end().0),
        reseeds: past.reseeds.max(reseeds),
        debugs: past.debugs.max(edits),
        ..past
    }
}
