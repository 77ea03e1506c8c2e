use serde::{Deserialize, Serialize};

/// Who the hero is. What is left open is chosen by the game from its seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Character {
    /// The hero's name: 1 to 31 letters, digits or `_`.
    pub name: String,
    /// The hero's role.
    pub role: Option<Role>,
    /// The hero's race.
    pub race: Option<Race>,
    /// The hero's gender.
    pub gender: Option<Gender>,
    /// The hero's alignment.
    pub alignment: Option<Alignment>,
}

/// Why a character can't be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CharacterError {
    /// The name has another form than the game can keep apart from its own marks.
    #[error("name {0:?} is not possible: give 1 to 31 letters, digits or underscores")]
    Name(String),
    /// A word that is no role, race, gender or alignment.
    #[error("{given:?} is no {what}: give one of {known}")]
    Unknown {
        /// What was asked for.
        what: &'static str,
        /// The word that was given.
        given: String,
        /// The words that are known, separated by commas.
        known: String,
    },
    /// The parts exclude each other.
    #[error("{} {given} is not possible in NetHack; possible are: {possible}", article(given))]
    Combination {
        /// The parts that were given.
        given: String,
        /// The combinations that keep the role (or, without one, the race), separated by commas.
        possible: String,
    },
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $what:literal { $($variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        #[expect(missing_docs, reason = "the names are NetHack's own")]
        pub enum $name { $($variant),+ }

        impl $name {
            /// All of them, in NetHack's order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// NetHack's word for it, in lower case.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }

        impl std::str::FromStr for $name {
            type Err = CharacterError;
            /// Takes the whole word or any beginning of at least three letters that fits just one, in any case.
            fn from_str(text: &str) -> Result<Self, CharacterError> {
                let wanted = text.to_ascii_lowercase();
                let mut fitting = Self::ALL.iter().filter(|known| {
                    known.word() == wanted || (wanted.len() >= 3 && known.word().starts_with(&wanted))
                });
                match (fitting.next(), fitting.next()) {
                    (Some(one), None) => Ok(*one),
                    _ => Err(CharacterError::Unknown {
                        what: $what,
                        given: text.chars().take(40).collect(),
                        known: list(Self::ALL.iter().map(|known| known.word().to_owned())),
                    }),
                }
            }
        }
    };
}

words!(
    /// The thirteen roles.
    Role, "role" {
        Archeologist = "archeologist", Barbarian = "barbarian", Caveman = "caveman", Healer = "healer",
        Knight = "knight", Monk = "monk", Priest = "priest", Rogue = "rogue", Ranger = "ranger",
        Samurai = "samurai", Tourist = "tourist", Valkyrie = "valkyrie", Wizard = "wizard",
    }
);
words!(
    /// The five races.
    Race, "race" { Human = "human", Elf = "elf", Dwarf = "dwarf", Gnome = "gnome", Orc = "orc" }
);
words!(
    /// The two genders that a hero can start with.
    Gender, "gender" { Male = "male", Female = "female" }
);
words!(
    /// The three alignments.
    Alignment, "alignment" { Lawful = "lawful", Neutral = "neutral", Chaotic = "chaotic" }
);

impl Role {
    fn races(self) -> &'static [Race] {
        use Race::{Dwarf, Elf, Gnome, Human, Orc};
        match self {
            Self::Archeologist | Self::Caveman => &[Human, Dwarf, Gnome],
            Self::Barbarian | Self::Rogue => &[Human, Orc],
            Self::Healer => &[Human, Gnome],
            Self::Knight | Self::Monk | Self::Samurai | Self::Tourist => &[Human],
            Self::Priest => &[Human, Elf],
            Self::Ranger | Self::Wizard => &[Human, Elf, Gnome, Orc],
            Self::Valkyrie => &[Human, Dwarf],
        }
    }

    fn genders(self) -> &'static [Gender] {
        match self {
            Self::Valkyrie => &[Gender::Female],
            _ => Gender::ALL,
        }
    }

    fn alignments(self) -> &'static [Alignment] {
        use Alignment::{Chaotic, Lawful, Neutral};
        match self {
            Self::Archeologist | Self::Caveman | Self::Valkyrie => &[Lawful, Neutral],
            Self::Barbarian | Self::Ranger | Self::Wizard => &[Neutral, Chaotic],
            Self::Healer | Self::Tourist => &[Neutral],
            Self::Knight | Self::Samurai => &[Lawful],
            Self::Monk | Self::Priest => Alignment::ALL,
            Self::Rogue => &[Chaotic],
        }
    }
}

impl Race {
    fn alignments(self) -> &'static [Alignment] {
        match self {
            Self::Human => Alignment::ALL,
            Self::Dwarf => &[Alignment::Lawful],
            Self::Gnome => &[Alignment::Neutral],
            Self::Elf | Self::Orc => &[Alignment::Chaotic],
        }
    }
}

type Whole = (Role, Race, Gender, Alignment);

fn all() -> impl Iterator<Item = Whole> {
    Role::ALL.iter().flat_map(|&role| {
        role.races().iter().flat_map(move |&race| {
            role.genders().iter().flat_map(move |&gender| {
                role.alignments()
                    .iter()
                    .filter(move |alignment| race.alignments().contains(alignment))
                    .map(move |&alignment| (role, race, gender, alignment))
            })
        })
    })
}

fn list(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

impl Default for Character {
    fn default() -> Self {
        Self { name: "Agent".to_owned(), role: None, race: None, gender: None, alignment: None }
    }
}

/// The indefinite article before a word of the game's.
fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" }
}

impl Character {
    /// Refuses a name that the game would read otherwise and a combination that it does not have.
    ///
    /// # Errors
    /// What is wrong and what would be possible.
    pub fn check(&self) -> Result<(), CharacterError> {
        let name_fits =
            (1..=31).contains(&self.name.len()) && self.name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !name_fits {
            return Err(CharacterError::Name(self.name.chars().take(40).collect()));
        }
        if all().any(|whole| self.fits(whole)) {
            return Ok(());
        }
        Err(CharacterError::Combination {
            given: self.words().join(" "),
            possible: list(
                all()
                    .filter(|(role, race, ..)| match self.role {
                        Some(wanted) => wanted == *role,
                        None => self.race.is_none_or(|wanted| wanted == *race),
                    })
                    .map(|(role, race, gender, alignment)| format!("{alignment} {gender} {race} {role}")),
            ),
        })
    }

    fn fits(&self, (role, race, gender, alignment): Whole) -> bool {
        self.role.is_none_or(|wanted| wanted == role)
            && self.race.is_none_or(|wanted| wanted == race)
            && self.gender.is_none_or(|wanted| wanted == gender)
            && self.alignment.is_none_or(|wanted| wanted == alignment)
    }

    fn words(&self) -> Vec<&'static str> {
        [
            self.alignment.map(Alignment::word),
            self.gender.map(Gender::word),
            self.race.map(Race::word),
            self.role.map(Role::word),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// The options that tell the game who the hero is, ending with a comma-free part.
    #[must_use]
    pub fn options(&self) -> String {
        let word = |part: Option<&'static str>| part.unwrap_or("random");
        format!(
            "name:{},role:{},race:{},gender:{},align:{}",
            self.name,
            word(self.role.map(Role::word)),
            word(self.race.map(Race::word)),
            word(self.gender.map(Gender::word)),
            word(self.alignment.map(Alignment::word)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_game_has_73_combinations() {
        assert_eq!(all().count(), 73);
    }

    #[test]
    fn a_combination_that_the_game_lacks_is_refused_with_what_is_possible() {
        let dwarf = Character { role: Some("sam".parse().unwrap()), race: Some(Race::Dwarf), ..Character::default() };
        let error = dwarf.check().unwrap_err().to_string();
        assert!(error.contains("lawful male human samurai"), "{error}");
        let samurai = |race| Character { role: Some(Role::Samurai), race: Some(race), ..Character::default() };
        let refused = |race| samurai(race).check().unwrap_err().to_string();
        assert!(refused(Race::Dwarf).starts_with("a dwarf samurai is"), "{}", refused(Race::Dwarf));
        assert!(refused(Race::Elf).starts_with("an elf samurai is"), "{}", refused(Race::Elf));
        let free = Character::default();
        assert_eq!(free.check(), Ok(()));
    }

    #[test]
    fn names_that_carry_marks_are_refused() {
        for name in ["", "Ann-val", "a,b", "a b", "a:b", "é", &"x".repeat(32)] {
            let character = Character { name: name.to_owned(), ..Character::default() };
            assert!(character.check().is_err(), "{name:?}");
        }
        assert!("ra".parse::<Role>().is_err());
        assert_eq!("RAN".parse::<Role>().unwrap(), Role::Ranger);
    }
}
