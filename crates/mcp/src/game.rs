use std::path::PathBuf;

use lab::{LabError, LabInfo, Lifecycle, Revision, Snapshot};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use wire::{Character, CharacterError, Clock, PowerOn, Seed};

use crate::arguments::{Nothing, SeedArgument};
use crate::failure::{Code, Failure};
use crate::layers::Want;
use crate::reply::{self, Call, LAYERS, RUNNING, Reply, STANDING};
use crate::schema::{Field, Kind};
use crate::session::Session;
use crate::tool::{Effect, ToolArguments};

/// `info`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Info(Nothing);

const INFO: &[Field] = &[
    ("server", Kind::Object, ""),
    ("nethack_version", Kind::Text, ""),
    ("engine_id", Kind::Text, ""),
    ("rom_id", Kind::Text, ""),
    ("main", Kind::Object, ""),
    ("power_on", Kind::Object, "What the main machine was powered on with; new_game takes these again."),
    FAIR,
    ("journal", Kind::Text, ""),
    ("forks", Kind::Integer, ""),
    ("breakpoints", Kind::Integer, ""),
    ("movies_dir", Kind::Text, ""),
    ("out_dir", Kind::Text, "Where exports and save states are."),
    ("resumed", Kind::Object, "What a server before this one has left."),
    ("ledger", Kind::Object, "Where the forks are kept."),
    ("allow_debug", Kind::Flag, "debug_read and debug_edit are there."),
    ("viewer", Kind::Text, "The address of a page that shows the machines."),
    ("workers", Kind::Object, ""),
    ("store", Kind::Record(STORE), "The save states that are held."),
    ("limits", Kind::Object, ""),
];

/// What a fair game tells of its seeds.
const FAIR: Field = ("fair", Kind::Object, "With --fair: the commitment; revealed at the end.");

/// What the save states take.
const STORE: &[Field] = &[
    ("states", Kind::Integer, ""),
    ("keyframes", Kind::Integer, "Whole."),
    ("deltas", Kind::Integer, "As what changed."),
    ("blobs", Kind::Integer, "Files that they share."),
    ("bytes", Kind::Integer, "In memory."),
    ("bytes_max", Kind::Integer, ""),
    ("spill_bytes", Kind::Integer, ""),
];

impl ToolArguments for Info {
    const NAME: &'static str = "info";
    const TITLE: &'static str = "About the lab and its game";
    const TEXT: &'static str = "The engine (ROM id, NetHack version), the main machine with its power-on record, \
        boundary, turn, pending and journal file, the number of forks, the states held, and the limits.";
    const EFFECT: Effect = Effect::Reads;
    const RESULT: &'static [&'static [Field]] = &[INFO];

    fn call(self, session: &Session, _: &Call<'_>) -> Result<Reply, Failure> {
        let lab = session.lab.info();
        let store = store(&lab);
        // A snapshot that fails asks for the names itself.
        let main = session.names().main();
        let main = main.map(|machine| session.snapshot(machine)).transpose()?;
        let limits = &session.limits;
        let ledger = session.ledger_note();
        let forks = session.names().fork_count();
        // The journal holds the seeds, so a fair game doesn't say where it is.
        let shown =
            |path: Option<&PathBuf>| path.filter(|_| session.fair.is_none()).map(|path| path.display().to_string());
        let reply = Reply::default()
            .with("server", json!({"name": "nethack-lab", "version": env!("CARGO_PKG_VERSION")}))
            .with("nethack_version", lab.nethack_version)
            .with("engine_id", lab.engine_id)
            .with("rom_id", lab.rom_id)
            .with("main", main.as_ref().map_or(Value::Null, |main| short(session, main)))
            .with("power_on", main.as_ref().map_or(Value::Null, |main| session.shown_power_on(main)))
            .with("fair", main.as_ref().map_or(Value::Null, |main| session.fair_note(main)))
            .with("journal", shown(main.as_ref().and_then(|main| main.journal.as_ref())))
            .with("forks", forks)
            .with("breakpoints", session.breakpoints().count())
            .with("movies_dir", shown(session.movies.as_ref()))
            .with("out_dir", session.out_dir.as_ref().map(|path| path.display().to_string()))
            .with("resumed", session.resumed.clone())
            .with("ledger", ledger)
            .with("allow_debug", session.allow_debug)
            .with("viewer", session.viewer.get().cloned())
            .with("workers", json!({"count": lab.workers, "lost": lab.workers_lost}))
            .with("store", store)
            .with(
                "limits",
                json!({
                    "forks": limits.forks,
                    "run_keys": limits.run_keys,
                    "fork_run_keys": limits.fork_run_keys,
                    "lines": limits.lines,
                    "inputs_per_machine": lab.limits.inputs,
                    "movie_bytes": lab.limits.movie_bytes,
                    "state_bytes": lab::STATE_FILE_BYTES_MAX,
                    "message_bytes": limits.message_bytes,
                    "wait_ms": u64::try_from(limits.wait.as_millis()).unwrap_or(u64::MAX),
                    "queue": lab.limits.queue,
                }),
            );
        Ok(reply)
    }
}

fn store(lab: &LabInfo) -> Value {
    json!({
        "states": lab.store_states,
        "keyframes": lab.store_keyframes,
        "deltas": lab.store_deltas,
        "blobs": lab.store_blobs,
        "bytes": lab.store_bytes,
        "bytes_max": lab.limits.store_bytes,
        "spill_bytes": lab.spill_bytes,
    })
}

/// A machine in a few fields.
pub(crate) fn short(session: &Session, snapshot: &Snapshot) -> Value {
    let mut fields = reply::standing(session, snapshot);
    fields.insert("turn".to_owned(), json!(snapshot.frame.turn));
    let pending = snapshot.pending_kind().filter(|_| !reply::is_quit(snapshot));
    fields.insert("pending".to_owned(), pending.map_or(Value::Null, |kind| json!(kind.word())));
    Value::Object(fields)
}

/// A power-on record by the names that `new_game` takes.
pub(crate) fn power_on(record: &PowerOn) -> Value {
    let character = &record.character;
    json!({
        "seed": record.core_seed,
        "display_seed": record.display_seed,
        "level_seed": record.level_seed,
        "reseed": record.reseed,
        "profile": record.profile,
        "name": character.name,
        "role": character.role,
        "race": character.race,
        "gender": character.gender,
        "alignment": character.alignment,
        "options": record.options_as_given(),
        "clock": record.clock,
    })
}

/// `new_game`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewGame {
    /// Decides play. Without one, the system draws one, and the result tells it; what else is left out is then as the
    /// server was started.
    seed: Option<SeedArgument>,
    /// Decides only what things look like. Without one, it follows from the seed.
    display_seed: Option<SeedArgument>,
    /// Decides the levels, so that the dungeon is the same however it is played. Without one, the seed makes them.
    level_seed: Option<SeedArgument>,
    /// True: the game seeds itself anew, from its first seeds, as it makes a level. False without it.
    reseed: Option<bool>,
    /// Whose habits the machine has: default, nle-1.3 or nle-1.3-fix-moon-phase.
    profile: Option<String>,
    /// The hero's name: 1 to 31 letters, digits or underscores.
    name: Option<String>,
    /// archeologist, barbarian, caveman, healer, knight, monk, priest, rogue, ranger, samurai, tourist, valkyrie, wizard.
    role: Option<String>,
    /// human, elf, dwarf, gnome or orc.
    race: Option<String>,
    /// male or female.
    gender: Option<String>,
    /// lawful, neutral or chaotic.
    alignment: Option<String>,
    /// NetHack options in its own syntax, as in "fruit:melon,!autodig"; only harmless ones are taken.
    options: Option<String>,
    /// What time the game takes it to be, in seconds since 1970 UTC.
    clock: Option<i64>,
}

impl ToolArguments for NewGame {
    const NAME: &'static str = "new_game";
    const TITLE: &'static str = "Begin a game";
    const TEXT: &'static str = "Powers on the main machine with a new game. Refused while a game runs (GAME_ACTIVE): \
        quit_game first, or reset. What is left open is chosen by the game from its seed; a combination that NetHack lacks is \
        refused with what would be possible. Seeds are strings, decimal or 0x…, up to 2^64-1, or integers up to 2^53-1. The same power_on gives the same game again. \
        Forks of the old game stay.";
    const EFFECT: Effect = Effect::Adds;
    const RESULT: &'static [&'static [Field]] = BEGUN;

    fn call(self, session: &Session, call: &Call<'_>) -> Result<Reply, Failure> {
        for (field, given) in
            [("seed", &self.seed), ("display_seed", &self.display_seed), ("level_seed", &self.level_seed)]
        {
            session.check_fair_seed(field, given.is_some())?;
        }
        let record = self.record(session)?;
        record.check().map_err(|error| Failure::new(Code::InvalidArgument, error.to_string()))?;
        let begins = || session.lab.new_game(record, session.journalled());
        let succession = succeed(session, call, Heir::OfNone, begins)?;
        Ok(begun(session, call, &succession.snapshot))
    }
}

impl NewGame {
    /// The record that is asked for. A game that is drawn has the server's own character and options where none are
    /// given; one of a given seed has what is given, so that it is the same game under every server.
    fn record(self, session: &Session) -> Result<PowerOn, Failure> {
        let seed =
            |given: &Option<SeedArgument>, field: &str| given.as_ref().map(|given| given.seed(field)).transpose();
        let mut record = match seed(&self.seed, "seed")? {
            Some(seed) => PowerOn::from_seed(seed),
            None => drawn(session.defaults.as_ref())?,
        };
        if let Some(seed) = seed(&self.display_seed, "display_seed")? {
            record.display_seed = seed;
        }
        record.level_seed = seed(&self.level_seed, "level_seed")?;
        record.reseed = self.reseed.unwrap_or(record.reseed);
        if let Some(profile) = &self.profile {
            record.profile = profile.parse().map_err(|error: wire::PowerOnError| {
                Failure::argument("profile", format!("argument `profile`: {error}"))
            })?;
        }
        record.character = Character {
            name: self.name.unwrap_or(record.character.name),
            role: word(self.role.as_deref(), "role")?.or(record.character.role),
            race: word(self.race.as_deref(), "race")?.or(record.character.race),
            gender: word(self.gender.as_deref(), "gender")?.or(record.character.gender),
            alignment: word(self.alignment.as_deref(), "alignment")?.or(record.character.alignment),
        };
        record.options = self.options.unwrap_or(record.options);
        if session.allow_debug {
            record.take_debug_option();
        }
        if let Some(seconds) = self.clock {
            record.clock = Clock::new(seconds).map_err(|error| Failure::argument("clock", error.to_string()))?;
        }
        Ok(record)
    }
}

/// A record with new seeds, and for the rest the server's own.
fn drawn(defaults: Option<&PowerOn>) -> Result<PowerOn, Failure> {
    let drawn = PowerOn::from_seed(drawn_seed()?);
    Ok(match defaults {
        Some(defaults) => PowerOn {
            core_seed: drawn.core_seed,
            display_seed: drawn.display_seed,
            level_seed: drawn.level_seed,
            ..defaults.clone()
        },
        None => drawn,
    })
}

fn word<T: std::str::FromStr<Err = CharacterError>>(given: Option<&str>, field: &str) -> Result<Option<T>, Failure> {
    let parsed = given.map(str::parse).transpose();
    parsed.map_err(|error| Failure::argument(field, format!("argument `{field}`: {error}")))
}

/// A seed from the system.
///
/// # Errors
/// The system gives no random bytes.
pub(crate) fn drawn_seed() -> Result<Seed, Failure> {
    let drawn = getrandom::u64();
    drawn.map(Seed).map_err(|error| Failure::new(Code::EngineFailure, format!("no seed can be drawn: {error}")))
}

/// What a call tells that makes a machine anew.
pub(crate) const BEGUN: &[&[Field]] = &[
    STANDING,
    LAYERS,
    &[("power_on", Kind::Object, "All that fixes this game; new_game takes it again."), FAIR],
    RUNNING,
];

/// A machine that a call has made anew.
pub(crate) fn begun(session: &Session, call: &Call<'_>, snapshot: &Snapshot) -> Reply {
    call.works_on(session, snapshot.machine);
    reply::view(session, snapshot, &Want::of(None), &snapshot.frame.messages)
        .with("power_on", session.shown_power_on(snapshot))
        .with("fair", session.fair_note(snapshot))
}

/// Whose place a new main machine takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Heir {
    /// Nobody's, or that of one whose game is over.
    OfNone,
    /// That of one which is at this revision, over or not. Its tip may stay as a fork.
    At { revision: u64, keeps_tip: bool },
}

/// A new main machine.
pub(crate) struct Succession {
    pub(crate) snapshot: Snapshot,
    /// What the fork that holds the old one's tip is called.
    pub(crate) old_tip: Option<String>,
}

/// Puts the machine that `make` makes in main's place. The old one's journal gets its last line, and its forks stay.
/// Where anything is refused or fails, main stays as it was.
///
/// # Errors
/// `GAME_ACTIVE`, `STALE`; what `make` fails with.
pub(crate) fn succeed(
    session: &Session,
    call: &Call<'_>,
    heir: Heir,
    make: impl FnOnce() -> Result<Snapshot, LabError>,
) -> Result<Succession, Failure> {
    let beginning = session.beginning.take(|| call.cancel.is_cancelled());
    let _beginning = beginning.ok_or_else(|| session.failure(LabError::Cancelled, None))?;
    // Named before the old one goes, so that there is a main machine at every moment.
    let mut tip_name = None;
    let make = |tip| {
        if call.cancel.is_cancelled() {
            return Err(LabError::Cancelled);
        }
        let new = make()?;
        tip_name = session.set_main(new.machine, tip).inspect_err(|_| session.lab.take_back(new.machine))?;
        Ok(new)
    };
    let Some(old) = session.names().main() else {
        let snapshot = make(None).map_err(|error| session.failure(error, None))?;
        return Ok(Succession { snapshot, old_tip: None });
    };
    let replaced = match heir {
        Heir::OfNone => {
            let snapshot = session.snapshot(old)?;
            if !is_over(&snapshot) {
                let message = "a game runs on the main machine: quit_game ends it";
                return Err(Failure::new(Code::GameActive, message).at(crate::names::MAIN, &snapshot));
            }
            session.lab.replace(old, None, false, |_| match session.lab.snapshot(old)? {
                // It may have gone back since, before its end.
                snapshot if is_over(&snapshot) => make(None),
                _ => Err(LabError::GameActive(old)),
            })
        }
        Heir::At { revision, keeps_tip } => session.lab.replace(old, Some(Revision(revision)), keeps_tip, make),
    };
    let replaced = replaced.map_err(|error| session.failure(error, Some(old)))?;
    if let Some(error) = replaced.unended {
        tracing::warn!(%error, "the old game's journal did not get its last line");
    }
    Ok(Succession { snapshot: replaced.snapshot, old_tip: tip_name })
}

/// Whether a game is over, in whichever way.
pub(crate) fn is_over(snapshot: &Snapshot) -> bool {
    matches!(snapshot.lifecycle, Lifecycle::Ended | Lifecycle::Aborted | Lifecycle::Failed) || snapshot.ended.is_some()
}

/// `quit_game`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuitGame {
    /// The main machine's: anything that has happened since is STALE. Calls under way then go on.
    revision: Option<u64>,
    /// The `game` that is to end: another one is not touched (STALE).
    game: Option<String>,
}

impl ToolArguments for QuitGame {
    const NAME: &'static str = "quit_game";
    const TITLE: &'static str = "End the game";
    const TEXT: &'static str = "Ends the main machine's game now, whatever it waits for; calls that run on it stop. Its \
        last frame stays readable, and its movie can still be exported and verified until the next new_game. Give \
        game, or revision, so that a late or repeated call can't end another game; without them, whatever game is \
        current ends. Repeating it is harmless.";
    const EFFECT: Effect = Effect::Ends;
    const RESULT: &'static [&'static [Field]] = &[STANDING, LAYERS, &[FAIR], RUNNING];

    fn call(self, session: &Session, _: &Call<'_>) -> Result<Reply, Failure> {
        let main = session.machine(None)?;
        // A machine's game never changes: another game is another machine, whose revision and turn are others.
        let now = session.snapshot(main)?;
        if self.game.is_some_and(|game| game != now.game.as_str()) {
            return Err(Failure::another_game(&now));
        }
        if let Some(revision) = self.revision {
            session.current(main, revision)?;
        } else {
            // Calls that run on it are part of what is to end, so the game is closed at whatever revision they leave it.
            session.cancel_calls_on(main);
        }
        let closed = session.lab.close(main, self.revision.map(Revision));
        let snapshot = closed.map_err(|error| session.failure(error, Some(main)))?;
        Ok(Reply::default().with("fair", session.fair_note(&snapshot)).extend(view_fields(session, &snapshot)))
    }
}

fn view_fields(session: &Session, snapshot: &Snapshot) -> Map<String, Value> {
    reply::view(session, &reply::settled(snapshot), &Want::of(None), &snapshot.frame.messages).fields
}
