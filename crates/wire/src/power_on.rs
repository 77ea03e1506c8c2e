use serde::{Deserialize, Serialize};

use crate::{Character, CharacterError, Clock, OptionsError, Seed, check_options};

/// All that fixes a run under a given engine: seeds, clock, character, options. Equal records and equal inputs give equal bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerOn {
    /// Seeds the generator that decides play.
    pub core_seed: Seed,
    /// Seeds the generator that decides only what things look like.
    pub display_seed: Seed,
    /// Seeds the generators that make the levels, so that the dungeon is the same however it is played. Absent: the core generator makes them.
    pub level_seed: Option<Seed>,
    /// Whether the game seeds itself anew, from its first seeds, as it makes a level.
    pub reseed: bool,
    /// What time the game takes it to be.
    pub clock: Clock,
    /// Who the hero is.
    pub character: Character,
    /// Options on top of the profile's, in NetHack's syntax, from an allow-list.
    pub options: String,
    /// Whether debug and explore mode may be entered.
    pub debug: bool,
    /// Whose habits the machine has.
    pub profile: Profile,
}

/// Whose habits a machine has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Profile {
    /// This project's own.
    #[default]
    #[serde(rename = "default")]
    Default,
}

/// The options that the default profile sets before the user's own.
pub const DEFAULT_OPTIONS: &str = "!autopickup,color,showexp,time,number_pad:0,verbose,!splash_screen,!news,!legacy,\
     !tombstone,disclose:+i +a +v +g +c +o,mention_walls,runmode:teleport,!checkpoint,!bones,!mail,!sparkle,\
     !timed_delay,!perm_invent";

/// Why a power-on record is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PowerOnError {
    /// The character can't be.
    #[error(transparent)]
    Character(#[from] CharacterError),
    /// The options are refused.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// A part of the record that this engine has not got.
    #[error("{0} is not available in this version")]
    Unavailable(&'static str),
}

impl PowerOn {
    /// The default record with one seed for play and another, derived from it, for looks.
    #[must_use]
    pub fn from_seed(seed: Seed) -> Self {
        Self {
            core_seed: seed,
            display_seed: Self::display_seed_for(seed),
            level_seed: None,
            reseed: false,
            clock: Clock::default(),
            character: Character::default(),
            options: String::new(),
            debug: false,
            profile: Profile::Default,
        }
    }

    /// The display seed that goes with a core seed when none is given.
    #[must_use]
    pub fn display_seed_for(seed: Seed) -> Seed {
        Seed(seed.0 ^ 0x9e37_79b9_7f4a_7c15)
    }

    /// Refuses a record that the engine would read otherwise than it says.
    ///
    /// # Errors
    /// What is wrong and what would be right.
    pub fn check(&self) -> Result<(), PowerOnError> {
        self.character.check()?;
        check_options(&self.options)?;
        if self.level_seed.is_some() {
            return Err(PowerOnError::Unavailable("a level seed"));
        }
        if self.reseed {
            return Err(PowerOnError::Unavailable("reseed"));
        }
        Ok(())
    }

    /// The whole options text that the game reads at power-on.
    #[must_use]
    pub fn options_text(&self) -> String {
        let mut text = String::from(DEFAULT_OPTIONS);
        if !self.options.is_empty() {
            text.push(',');
            text.push_str(&self.options);
        }
        text.push(',');
        text.push_str(&self.character.options());
        if self.debug {
            text.push_str(",playmode:debug");
        }
        text
    }
}
