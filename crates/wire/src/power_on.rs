use serde::{Deserialize, Serialize};

use crate::{Character, CharacterError, Clock, OptionsError, Seed, check_nle_options, check_options, nle_options_text};

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
    /// Options on top of the profile's, in NetHack's syntax, from an allow-list. NLE's profile takes them instead of its
    /// own, as NLE does, and where they name the hero (`name:…`), `character` must be left at its default.
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
    /// Those of NLE 1.3.0: the same games from the same seeds, options, clock and keys.
    #[serde(rename = "nle-1.3")]
    Nle13,
    /// As `Nle13` with NLE's `fix_moon_phase`: moon, Friday 13th, night and midnight come from the core seed.
    #[serde(rename = "nle-1.3-fix-moon-phase")]
    Nle13FixMoonPhase,
}

impl Profile {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Default, Self::Nle13, Self::Nle13FixMoonPhase];

    /// Its name in records and on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Nle13 => "nle-1.3",
            Self::Nle13FixMoonPhase => "nle-1.3-fix-moon-phase",
        }
    }

    /// Whether it has NLE's habits.
    #[must_use]
    pub fn is_nle(self) -> bool {
        self != Self::Default
    }
}

impl std::str::FromStr for Profile {
    type Err = PowerOnError;

    fn from_str(text: &str) -> Result<Self, PowerOnError> {
        let found = Self::ALL.iter().find(|profile| profile.word() == text);
        found.copied().ok_or_else(|| PowerOnError::Profile(text.chars().take(40).collect()))
    }
}

/// The options that the default profile sets where the record does not.
pub const DEFAULT_OPTIONS: &str = "!autopickup,color,showexp,time,number_pad:0,verbose,!splash_screen,!news,!legacy,\
     !tombstone,disclose:+i +a +v +g +c +o,mention_walls,runmode:teleport,!checkpoint,!bones,!mail,!sparkle,\
     !timed_delay,!perm_invent";

/// Why a power-on record is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PowerOnError {
    /// The game itself does not come up with it, for a value among the options that it does not take.
    #[error("{0}")]
    Game(String),
    /// The character can't be.
    #[error(transparent)]
    Character(#[from] CharacterError),
    /// The options are refused.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// A word that is no profile.
    #[error("{0:?} is no profile: give default, nle-1.3 or nle-1.3-fix-moon-phase")]
    Profile(String),
}

/// The option by which a game is begun in debug mode.
const DEBUG_OPTION: &str = "playmode:debug";

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
        if self.profile.is_nle() {
            check_nle_options(&self.options, &self.character, self.debug)?;
        } else {
            check_options(&self.options)?;
        }
        Ok(())
    }

    /// Takes debug mode out of the options and notes that it is allowed. Who asks for it must have leave.
    pub fn take_debug_option(&mut self) {
        let others: Vec<&str> = self.options.split(',').filter(|option| option.trim() != DEBUG_OPTION).collect();
        let others = others.join(",");
        if others != self.options {
            (self.options, self.debug) = (others, true);
        }
    }

    /// The options as somebody would give them, debug mode included.
    #[must_use]
    pub fn options_as_given(&self) -> String {
        match (self.debug, self.options.is_empty()) {
            (false, _) => self.options.clone(),
            (true, true) => DEBUG_OPTION.to_owned(),
            (true, false) => format!("{},{DEBUG_OPTION}", self.options),
        }
    }

    /// The whole options text that the game reads at power-on.
    #[must_use]
    pub fn options_text(&self) -> String {
        if self.profile.is_nle() {
            return nle_options_text(&self.options, &self.character, self.debug);
        }
        // NetHack reads a list from its end, so what stands first has the last word.
        let mut text = self.options.clone();
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(DEFAULT_OPTIONS);
        text.push(',');
        text.push_str(&self.character.options());
        if self.debug {
            text.push(',');
            text.push_str(DEBUG_OPTION);
        }
        text
    }
}
