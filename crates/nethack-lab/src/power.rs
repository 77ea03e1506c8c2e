//! Options that make a power-on record.

use clap::Args;
use wire::{Alignment, Clock, Gender, PowerOn, Profile, Race, Role, Seed};

use crate::outcome::Usage;

/// Who the hero is and from which seeds the game runs.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "The game")]
pub(crate) struct PowerOnOptions {
    /// Seed of the game: decimal or 0x…, 0 to 2^64-1 [default: drawn from the system, and shown]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<Seed>,
    /// Seed of the generator that decides only looks [default: follows from --seed]
    #[arg(long, value_name = "N")]
    pub(crate) display_seed: Option<Seed>,
    /// Seed of the dungeon alone, so that its levels are the same however they are played
    #[arg(long, value_name = "N")]
    pub(crate) level_seed: Option<Seed>,
    /// Let the game seed itself anew, from its first seeds, as it makes a level
    #[arg(long)]
    pub(crate) reseed: bool,
    /// Whose habits the game has: default, nle-1.3, nle-1.3-fix-moon-phase [default: default]
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Option<Profile>,
    /// The hero's name: 1 to 31 letters, digits or underscores [default: Agent]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Role, or a beginning of three letters: archeologist, barbarian, caveman, healer, knight, monk, priest, rogue,
    /// ranger, samurai, tourist, valkyrie, wizard [default: the game draws it, as all that is left open]
    #[arg(long, value_name = "ROLE")]
    pub(crate) role: Option<Role>,
    /// Race: human, elf, dwarf, gnome, orc
    #[arg(long, value_name = "RACE")]
    pub(crate) race: Option<Race>,
    /// Gender: male, female
    #[arg(long, value_name = "GENDER")]
    pub(crate) gender: Option<Gender>,
    /// Alignment: lawful, neutral, chaotic
    #[arg(long, value_name = "ALIGNMENT")]
    pub(crate) alignment: Option<Alignment>,
    /// NetHack options, in its own spelling, such as `autopickup,pickup_types:$`
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    pub(crate) options: Option<String>,
    /// The moment that the game takes for now, in seconds since 1970-01-01 UTC [default: 2001-01-02 12:00 or so]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) clock: Option<i64>,
}

impl PowerOnOptions {
    /// Whether anything was asked for.
    pub(crate) fn is_given(&self) -> bool {
        let Self {
            seed,
            display_seed,
            level_seed,
            reseed,
            profile,
            name,
            role,
            race,
            gender,
            alignment,
            options,
            clock,
        } = self;
        seed.is_some()
            || display_seed.is_some()
            || level_seed.is_some()
            || *reseed
            || profile.is_some()
            || name.is_some()
            || role.is_some()
            || race.is_some()
            || gender.is_some()
            || alignment.is_some()
            || options.is_some()
            || clock.is_some()
    }

    /// The record, with a seed from the system where none was given. With `allow_debug`, the options may ask for debug
    /// mode.
    pub(crate) fn power_on(&self, allow_debug: bool) -> anyhow::Result<PowerOn> {
        let seed = match self.seed {
            Some(seed) => seed,
            None => drawn_seed()?,
        };
        let mut record = PowerOn::from_seed(seed);
        if let Some(seed) = self.display_seed {
            record.display_seed = seed;
        }
        record.level_seed = self.level_seed;
        record.reseed = self.reseed;
        record.profile = self.profile.unwrap_or_default();
        if let Some(name) = &self.name {
            record.character.name.clone_from(name);
        }
        record.character.role = self.role;
        record.character.race = self.race;
        record.character.gender = self.gender;
        record.character.alignment = self.alignment;
        if let Some(options) = &self.options {
            record.options.clone_from(options);
        }
        if allow_debug {
            record.take_debug_option();
        }
        if let Some(seconds) = self.clock {
            record.clock = Clock::new(seconds).map_err(|error| Usage(format!("--clock: {error}")))?;
        }
        record.check().map_err(|error| Usage(error.to_string()))?;
        Ok(record)
    }
}

/// A seed from the system. Of all that there are: whoever sees a game must not find its seed by trying them.
fn drawn_seed() -> anyhow::Result<Seed> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("the system gives no random seed: {error}"))?;
    Ok(Seed(u64::from_le_bytes(bytes)))
}
