use serde::{Deserialize, Serialize};

/// The status lines as typed fields, as of the instant at which the game last drew them. What the lines do not show is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Name and rank, as shown.
    pub title: String,
    /// Strength, 3 to 25, where 18/xx counts as 18.
    pub strength: i32,
    /// Strength as shown, `18/05` for example.
    pub strength_text: String,
    /// Dexterity.
    pub dexterity: i32,
    /// Constitution.
    pub constitution: i32,
    /// Intelligence.
    pub intelligence: i32,
    /// Wisdom.
    pub wisdom: i32,
    /// Charisma.
    pub charisma: i32,
    /// Alignment as shown: `Lawful`, `Neutral` or `Chaotic`.
    pub alignment: String,
    /// Points, where the option `showscore` is on.
    pub score: Option<i64>,
    /// The level as shown: `Dlvl:1`, `Home 1`, `Fort Ludios`, …
    pub level_text: String,
    /// Depth below the surface of the level that the hero is on.
    pub depth: i32,
    /// Gold carried in the open.
    pub gold: i64,
    /// Hit points.
    pub hp: i32,
    /// Most hit points.
    pub hp_max: i32,
    /// Magical energy.
    pub energy: i32,
    /// Most magical energy.
    pub energy_max: i32,
    /// Armour class; less is better.
    pub armor_class: i32,
    /// Experience level; absent while polymorphed, when `hit_dice` is shown.
    pub experience_level: Option<i32>,
    /// The level of the monster that the hero is polymorphed into.
    pub hit_dice: Option<i32>,
    /// Experience points, where the option `showexp` is on.
    pub experience: Option<i64>,
    /// Turn counter, where the option `time` is on.
    pub turn: Option<i64>,
    /// `Hungry`, `Weak`, `Satiated`, …; absent when not hungry.
    pub hunger: Option<String>,
    /// `Burdened`, `Stressed`, …; absent when unencumbered.
    pub burden: Option<String>,
    /// Conditions shown, in NetHack's order.
    pub conditions: Vec<Condition>,
}

/// The thirteen conditions that the status lines can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are NetHack's own")]
pub enum Condition {
    Stone,
    Slime,
    Strngl,
    FoodPois,
    TermIll,
    Blind,
    Deaf,
    Stun,
    Conf,
    Hallu,
    Lev,
    Fly,
    Ride,
}

impl Condition {
    /// All of them; the index of each is its bit in NetHack's mask.
    pub const ALL: [Self; 13] = [
        Self::Stone,
        Self::Slime,
        Self::Strngl,
        Self::FoodPois,
        Self::TermIll,
        Self::Blind,
        Self::Deaf,
        Self::Stun,
        Self::Conf,
        Self::Hallu,
        Self::Lev,
        Self::Fly,
        Self::Ride,
    ];

    /// Lists the conditions whose bits are set in NetHack's mask.
    pub fn read_mask(mask: u64, conditions: &mut Vec<Self>) {
        conditions.clear();
        let set = |bit: usize| mask >> bit & 1 == 1;
        conditions
            .extend(Self::ALL.into_iter().enumerate().filter(|(bit, _)| set(*bit)).map(|(_, condition)| condition));
    }
}
