//! What no player sees, as the ROM tells it. Keep `bios/port/hidden*.c` in step.

use serde::{Deserialize, Serialize};

use crate::GlyphNames;

/// A part of what no player sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HiddenPart {
    /// [`HiddenHero`].
    Hero,
    /// [`HiddenLevel`].
    Level,
    /// [`HiddenMonster`]s.
    Monsters,
    /// [`HiddenObject`]s.
    Objects,
    /// [`GlyphNames`], which are no secret: whoever plays knows them.
    Names,
}

/// What no player sees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hidden {
    /// The hero.
    Hero(Box<HiddenHero>),
    /// The level that the hero is on.
    Level(Box<HiddenLevel>),
    /// The monsters of that level, those first that came last.
    Monsters(Vec<HiddenMonster>),
    /// The objects of that level: carried, on the floor, buried, with monsters; contents follow their container.
    Objects(Vec<HiddenObject>),
    /// What glyphs are called.
    Names(Box<GlyphNames>),
}

macro_rules! records {
    ($($(#[doc = $doc:literal])* $name:ident {
        $($(#[doc = $field_doc:literal])* $field:ident: $type:ty),* $(,)?
    })*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[doc = $field_doc])* pub $field: $type),*
        }
    )*};
}

records! {
    /// The hero. Places are the terminal's rows and columns.
    HiddenHero {
        /// Terminal row.
        row: i32,
        /// Terminal column.
        column: i32,
        /// Number of the dungeon.
        dungeon: i32,
        /// Number of the level in it.
        level: i32,
        /// Depth below the surface.
        depth: i32,
        /// Hit points of the hero's own form.
        hp: i32,
        /// Most hit points of it.
        hp_max: i32,
        /// Energy.
        energy: i32,
        /// Most energy.
        energy_max: i32,
        /// The monster whose form the hero has.
        form: Option<String>,
        /// Hit points of that form.
        form_hp: i32,
        /// Most hit points of it.
        form_hp_max: i32,
        /// Turns that it lasts.
        form_turns: i32,
        /// Experience level.
        experience_level: i32,
        /// Experience points.
        experience: i64,
        /// Gold carried openly.
        gold: i64,
        /// Nutrition.
        nutrition: i32,
        /// Luck without what items add.
        luck: i32,
        /// What items add to it.
        luck_bonus: i32,
        /// -1 chaotic, 0 neutral, 1 lawful; -128 none.
        alignment: i32,
        /// The alignment record.
        alignment_record: i32,
        /// Turns until prayer is safe.
        prayer_timeout: i32,
        /// How angry the god is.
        god_anger: i32,
        /// Inside a monster.
        swallowed: bool,
        /// How long a trap still holds.
        trapped_turns: u32,
        /// Strength (over 18: 18/01 is 19, 18/100 is 118), intelligence, wisdom, dexterity, constitution, charisma.
        attributes: Vec<i32>,
        /// The most that each has been.
        attributes_max: Vec<i32>,
        /// Properties that the hero has from anywhere.
        properties: Vec<HiddenProperty>,
    }

    /// A property of the hero.
    HiddenProperty {
        /// Its name.
        name: String,
        /// It is the hero's own: by race, experience, form, or gained.
        intrinsic: bool,
        /// An item gives it.
        worn: bool,
        /// Turns that it still lasts, where it passes; else 0.
        turns: i64,
        /// An item keeps it from working.
        blocked: bool,
    }

    /// A level as it is.
    HiddenLevel {
        /// Number of the dungeon.
        dungeon: i32,
        /// Number of the level in it.
        level: i32,
        /// Depth below the surface.
        depth: i32,
        /// Nobody can teleport here.
        no_teleport: bool,
        /// The floor can't be dug through.
        hard_floor: bool,
        /// Terrain: 21 rows of 79 characters, for terminal rows from 1 and columns from 0.
        rows: Vec<String>,
        /// Doors, secret ones too.
        doors: Vec<HiddenDoor>,
        /// Traps.
        traps: Vec<HiddenTrap>,
        /// Ways up and down.
        stairs: Vec<HiddenStairs>,
        /// Rooms.
        rooms: Vec<HiddenRoom>,
        /// The dungeons of the game.
        dungeons: Vec<HiddenDungeon>,
    }

    /// A door.
    HiddenDoor {
        /// Terminal row.
        row: i32,
        /// Terminal column.
        column: i32,
        /// `none`, `broken`, `open`, `closed`, `locked`.
        state: String,
        /// It looks like a wall.
        secret: bool,
        /// It explodes.
        trapped: bool,
    }

    /// A trap.
    HiddenTrap {
        /// Terminal row.
        row: i32,
        /// Terminal column.
        column: i32,
        /// Its kind.
        kind: String,
        /// The hero knows of it.
        seen: bool,
    }

    /// Stairs or a ladder.
    HiddenStairs {
        /// Terminal row.
        row: i32,
        /// Terminal column.
        column: i32,
        /// `stairs up`, `stairs down`, `ladder up`, `ladder down`, `branch up`, `branch down`.
        kind: String,
        /// The dungeon that they lead to.
        to_dungeon: i32,
        /// The level in it.
        to_level: i32,
    }

    /// A room, without its walls.
    HiddenRoom {
        /// Its first terminal row.
        top: i32,
        /// Its first terminal column.
        left: i32,
        /// Its last terminal row.
        bottom: i32,
        /// Its last terminal column.
        right: i32,
        /// Its kind.
        kind: String,
        /// Whether it is lit.
        lit: bool,
    }

    /// A dungeon.
    HiddenDungeon {
        /// Its number.
        dungeon: i32,
        /// Its name.
        name: String,
        /// How many levels it has.
        levels: i32,
        /// The depth of its first.
        first_depth: i32,
    }

    /// A monster.
    HiddenMonster {
        /// Its id, which it keeps.
        id: u32,
        /// Its kind.
        kind: String,
        /// Its given name.
        name: Option<String>,
        /// Terminal row.
        row: i32,
        /// Terminal column.
        column: i32,
        /// Hit points.
        hp: i32,
        /// Most hit points.
        hp_max: i32,
        /// Its level.
        level: i32,
        /// It sleeps.
        asleep: bool,
        /// It lets the hero be.
        peaceful: bool,
        /// How tame it is; 0 is wild.
        tameness: i32,
        /// It is invisible.
        invisible: bool,
        /// It hides.
        hiding: bool,
        /// Its magic is gone.
        cancelled: bool,
        /// It flees.
        fleeing: bool,
        /// It is not held or paralysed.
        can_move: bool,
        /// What it looks like, where that is another thing.
        disguise: Option<String>,
        /// What it is at heart, where it changes its shape.
        shapeshifter: Option<String>,
    }

    /// An object.
    HiddenObject {
        /// Its id, which it keeps.
        id: u32,
        /// Its true kind.
        kind: String,
        /// Its class.
        class: String,
        /// The monster that a corpse, statue, figurine, egg or tin is of.
        monster: Option<String>,
        /// Its given name, or an artifact's.
        name: Option<String>,
        /// It is an artifact.
        artifact: bool,
        /// How many there are.
        quantity: i64,
        /// `blessed`, `uncursed` or `cursed`.
        blessing: String,
        /// Its enchantment, where it has one.
        enchantment: Option<i32>,
        /// Its charges, where it has some.
        charges: Option<i32>,
        /// Rust or fire, and corrosion or rot: 0 to 3 each.
        erosion: Vec<i32>,
        /// It can't erode.
        erosion_proof: bool,
        /// It is greased.
        greased: bool,
        /// A locked box.
        locked: bool,
        /// A trapped box.
        trapped: bool,
        /// A poisoned weapon.
        poisoned: bool,
        /// The hero knows all of it.
        identified: bool,
        /// `inventory`, `floor`, `buried` or `monster`; contents are where their container is.
        r#where: String,
        /// Terminal row of it or of who has it.
        row: i32,
        /// Terminal column of it or of who has it.
        column: i32,
        /// Its letter in the inventory.
        letter: Option<String>,
        /// The id of the monster that has it.
        carrier: Option<u32>,
        /// The id of the container that it is in.
        container: Option<u32>,
        /// NetHack's mask of where it is worn or wielded; 0 is nowhere.
        worn: i64,
    }
}
