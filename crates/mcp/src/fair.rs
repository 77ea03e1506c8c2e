use std::sync::{Mutex, PoisonError};

use lab::{Account, LabError, Lifecycle, Reopened, ResumeFrom, Resumed, Snapshot};
use serde_json::{Map, Value, json};
use wire::PowerOn;

use crate::failure::{Code, Failure};
use crate::options::ServeError;
use crate::output::sha256;
use crate::session::Session;

/// What a fair game allows of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stance {
    /// All of it.
    Open,
    /// All of it once the game is over.
    AfterEnd,
    /// Nothing, for this reason. It is not listed.
    Off(&'static str),
}

const AHEAD: Stance = Stance::Off("it looks ahead of the game");
const BACK: Stance = Stance::Off("it goes back, or to another game");
const HIDDEN: Stance = Stance::Off("it reads or changes what no player can");

/// Every tool, by name. One that is not here is off; a test finds it.
const TABLE: &[(&str, Stance)] = &[
    ("info", Stance::Open),
    ("new_game", Stance::Open),
    ("observe", Stance::Open),
    ("history", Stance::Open),
    ("press", Stance::Open),
    ("run", Stance::Open),
    ("select_menu", Stance::Open),
    ("respond", Stance::Open),
    ("breakpoint_add", Stance::Open),
    ("breakpoint_remove", Stance::Open),
    ("breakpoint_list", Stance::Open),
    ("screenshot", Stance::Open),
    ("lua_eval", Stance::Open),
    ("quit_game", Stance::Open),
    ("movie_export", Stance::AfterEnd),
    ("movie_verify", Stance::AfterEnd),
    ("fork_create", AHEAD),
    ("fork_run", AHEAD),
    ("fork_diff", AHEAD),
    ("fork_adopt", AHEAD),
    ("fork_delete", AHEAD),
    ("fork_list", AHEAD),
    ("try_lines", AHEAD),
    ("seek", BACK),
    ("reset", BACK),
    ("state_save", BACK),
    ("state_load", BACK),
    ("movie_open", BACK),
    ("debug_read", HIDDEN),
    ("debug_edit", HIDDEN),
];

/// What a fair game allows of the tool of a name.
pub(crate) fn stance(tool: &str) -> Stance {
    let found = TABLE.iter().find(|(name, _)| *name == tool);
    found.map_or(Stance::Off("it is not known to be fair"), |(_, stance)| *stance)
}

/// The name of the note that keeps the sealed text for a server after this one.
pub(crate) const NOTE: &str = "fair";
/// What stands in it instead, once a server that was not fair has gone on with the game.
const SPOILED: &str = "gone_on_unfairly";
/// What such a server says.
const NO_MORE: &str = "the game was played fairly (--fair) up to here, and from now on it is fair no more";

/// The seeds of a fair server's game, sealed until it is over.
#[derive(Default)]
pub(crate) struct Fair(Mutex<Option<Sealed>>);

#[derive(Clone, Debug)]
pub(crate) struct Sealed {
    /// What was committed to, to the byte.
    text: String,
    commitment: String,
}

impl Session {
    /// Refuses a tool that a fair game does not allow now.
    ///
    /// # Errors
    /// `DISABLED`.
    pub(crate) fn check_fair(&self, tool: &str) -> Result<(), Failure> {
        if self.fair.is_none() {
            return Ok(());
        }
        let disabled = |reason: &str| {
            let message = format!("{tool} is off: the game is played fairly (--fair), and {reason}");
            Failure::new(Code::Disabled, message).with("tool", tool)
        };
        match stance(tool) {
            Stance::Open => Ok(()),
            Stance::Off(reason) => Err(disabled(reason)),
            Stance::AfterEnd if self.is_main_over() => Ok(()),
            Stance::AfterEnd => Err(disabled("it would show the seeds before the game is over")),
        }
    }

    /// Refuses to look into a file where games are fair: it may be of one that is not over, here or on another server.
    ///
    /// # Errors
    /// `DISABLED`.
    pub(crate) fn check_fair_file(&self, tool: &str) -> Result<(), Failure> {
        if self.fair.is_none() {
            return Ok(());
        }
        let message =
            format!("{tool} takes no `name`: games are played fairly (--fair), and a file may be of another game");
        Err(Failure::new(Code::Disabled, message).with("tool", tool).with("field", "name"))
    }

    /// Refuses an argument that would choose the seeds of a fair game.
    ///
    /// # Errors
    /// `DISABLED`.
    pub(crate) fn check_fair_seed(&self, field: &str, is_given: bool) -> Result<(), Failure> {
        if self.fair.is_none() || !is_given {
            return Ok(());
        }
        let message = format!("argument `{field}`: the game is played fairly (--fair), so nobody who plays chooses it");
        Err(Failure::new(Code::Disabled, message).with("field", field))
    }

    fn is_main_over(&self) -> bool {
        let main = self.names().main();
        main.and_then(|main| self.lab.snapshot(main).ok()).is_some_and(|main| self.is_revealed(&main))
    }

    /// Whether a game is over for good, so that its seeds are no secret any more: a server after this one would find
    /// that it is over too.
    fn is_revealed(&self, snapshot: &Snapshot) -> bool {
        let is_over = snapshot.ended.is_some() || snapshot.lifecycle == Lifecycle::Aborted;
        is_over && self.lab.write_out(snapshot.machine).is_ok()
    }

    /// What is to be committed to of a game that begins, where games are fair.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub(crate) fn seal(&self, record: &PowerOn) -> Result<Option<Sealed>, LabError> {
        if self.fair.is_none() {
            return Ok(None);
        }
        let salt = getrandom::u64().and_then(|high| Ok((high, getrandom::u64()?)));
        let no_salt = |error| LabError::EngineFailure { reason: format!("no salt can be drawn: {error}"), lost: None };
        let info = self.lab.info();
        Ok(Some(Sealed::of(&info.engine_id, &info.rom_id, record, salt.map_err(no_salt)?)))
    }

    /// Commits to it.
    pub(crate) fn commit(&self, sealed: Option<Sealed>) {
        if let Some(fair) = &self.fair {
            *fair.0.lock().unwrap_or_else(PoisonError::into_inner) = sealed;
        }
    }

    /// Refuses to go on fairly from a movie: whoever has it knows its seeds.
    ///
    /// # Errors
    /// It is so.
    pub(crate) fn check_fair_start(&self, resumed: &Resumed) -> Result<(), ServeError> {
        match self.fair {
            Some(_) => Err(not_fair(resumed, A_MOVIE)),
            None => Ok(()),
        }
    }

    /// Refuses what resuming would refuse as not fair, before any file is changed.
    ///
    /// # Errors
    /// The game was not, or not always, played fairly, or that can't be told any more; its files can't be read.
    pub(crate) fn check_fair_resume(&self, from: &ResumeFrom) -> Result<(), ServeError> {
        if self.fair.is_none() {
            return Ok(());
        }
        let seen = match self.lab.foresee(from) {
            // There is nothing to resume then, which is the caller's to say.
            Err(LabError::NoJournal(_)) => return Ok(()),
            seen => seen?,
        };
        let not_fair = |reason: &str| ServeError::NotFair { journal: seen.journal.clone(), reason: reason.to_owned() };
        if seen.is_new {
            return Err(not_fair(A_MOVIE));
        }
        let kept = seen.notes.get(NOTE).map(String::as_str);
        let sealed = sealed_again(&seen.account, &seen.power_on, seen.damage.is_some(), kept);
        sealed.map(drop).map_err(not_fair)
    }

    /// Goes on with the commitment that a server before this one has made. A server that is not fair says instead that
    /// the game is fair no more, in the ledger and in what is given.
    ///
    /// # Errors
    /// The game was not, or not always, played fairly, or that can't be told any more; the ledger can't be written.
    pub(crate) fn resume_fairness(
        &self,
        resumed: &Resumed,
        reopened: &Reopened,
    ) -> Result<Option<&'static str>, ServeError> {
        let kept = reopened.ledger.note_of(NOTE);
        if self.fair.is_some() {
            let (account, record) = (&resumed.account, &resumed.snapshot.power_on);
            let sealed = sealed_again(account, record, reopened.damage.is_some(), kept.as_deref());
            self.commit(Some(sealed.map_err(|reason| not_fair(resumed, reason))?));
            return Ok(None);
        }
        match kept {
            // What is over can't be played on.
            Some(_) if !resumed.closed => {
                reopened.ledger.note(NOTE, &json!({ SPOILED: true }).to_string())?;
                tracing::warn!(journal = %resumed.journal.display(), "{NO_MORE}");
                Ok(Some(NO_MORE))
            }
            _ => Ok(None),
        }
    }

    /// What a game's results tell of its fairness: the commitment, and once the game is over what it is of.
    pub(crate) fn fair_note(&self, snapshot: &Snapshot) -> Value {
        let Some(fair) = &self.fair else { return Value::Null };
        let sealed = fair.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut note = Map::new();
        if let Some(sealed) = sealed {
            note.insert("commitment".to_owned(), json!(sealed.commitment));
            if self.is_revealed(snapshot) {
                note.insert("revealed".to_owned(), json!(sealed.text));
            }
        }
        Value::Object(note)
    }

    /// A machine's power-on record, as it may be shown now.
    pub(crate) fn shown_power_on(&self, snapshot: &Snapshot) -> Value {
        let mut shown = crate::game::power_on(&snapshot.power_on);
        if self.fair.is_some() && !self.is_revealed(snapshot) {
            for seed in ["seed", "display_seed", "level_seed"] {
                shown[seed] = Value::Null;
            }
        }
        shown
    }
}

/// Why a movie is no fair game.
const A_MOVIE: &str = "it is a movie, whose seeds and inputs are there to be read";

/// The commitment of a game that was played fairly so far.
fn sealed_again(
    account: &Account,
    record: &PowerOn,
    is_damaged: bool,
    kept: Option<&str>,
) -> Result<Sealed, &'static str> {
    let Account { forks, lines, seeks, adoptions, debugs, .. } = *account;
    if is_damaged {
        return Err("its ledger is damaged or gone, and with it the commitment or what was done to it");
    }
    let text = kept.ok_or("its ledger holds no commitment: it was not begun with --fair")?;
    let value: Value = serde_json::from_str(text).map_err(|_| "its ledger holds no commitment that can be read")?;
    if value.get(SPOILED).is_some() {
        return Err("a server without --fair has gone on with it");
    }
    if [forks, lines, seeks, adoptions, debugs].iter().any(|count| *count > 0) {
        return Err("somebody has looked ahead, gone back or edited in it, as its journal says");
    }
    let text = value.as_str().unwrap_or_default();
    Sealed::again(text, record).ok_or("the commitment in its ledger is of another game")
}

fn not_fair(resumed: &Resumed, reason: &str) -> ServeError {
    ServeError::NotFair { journal: resumed.journal.clone(), reason: reason.to_owned() }
}

impl Sealed {
    /// The text of the note that keeps it.
    pub(crate) fn note(&self) -> String {
        json!(self.text).to_string()
    }

    fn of(engine_id: &str, rom_id: &str, record: &PowerOn, (high, low): (u64, u64)) -> Self {
        // The order of the fields is part of what is committed to.
        let salt = format!("{high:016x}{low:016x}");
        let quoted = |text: &str| Value::from(text).to_string();
        let text = format!(
            "{{\"engine_id\":{},\"rom_id\":{},\"power_on\":{},\"salt\":\"{salt}\"}}",
            quoted(engine_id),
            quoted(rom_id),
            serde_json::to_string(record).unwrap_or_default(),
        );
        Self { commitment: sha256(text.as_bytes()), text }
    }

    /// A text that was committed to before, if it is of this record.
    fn again(text: &str, record: &PowerOn) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let same = value.get("power_on")? == &serde_json::to_value(record).ok()?;
        same.then(|| Self { text: text.to_owned(), commitment: sha256(text.as_bytes()) })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use wire::Seed;

    use super::*;

    #[test]
    fn every_tool_has_its_place_in_the_table() {
        let names: BTreeSet<&str> = TABLE.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), TABLE.len());
        for tool in crate::catalogue::tools(true) {
            assert!(names.contains(tool.name), "say in fair.rs what a fair game allows of {}", tool.name);
        }
        assert!(matches!(stance("a_new_tool"), Stance::Off(_)));
    }

    #[test]
    fn a_commitment_is_of_the_whole_record_and_its_salt() {
        let record = PowerOn::from_seed(Seed(7));
        let sealed = Sealed::of("e", "r", &record, (1, 2));
        assert_eq!(sealed.commitment, sha256(sealed.text.as_bytes()));
        let value: Value = serde_json::from_str(&sealed.text).unwrap();
        assert_eq!(value["salt"], json!("00000000000000010000000000000002"));
        assert_eq!(value["power_on"]["core_seed"], json!("7"));
        let others = [(PowerOn::from_seed(Seed(8)), (1, 2)), (record.clone(), (1, 3)), (record.clone(), (2, 2))];
        for (record, salt) in others {
            assert_ne!(Sealed::of("e", "r", &record, salt).commitment, sealed.commitment);
        }
        let again = Sealed::again(&sealed.text, &record).unwrap();
        assert_eq!((again.text, again.commitment), (sealed.text.clone(), sealed.commitment));
        assert!(Sealed::again(&sealed.text, &PowerOn::from_seed(Seed(8))).is_none());
        assert!(Sealed::again("no JSON", &record).is_none());
    }
}
