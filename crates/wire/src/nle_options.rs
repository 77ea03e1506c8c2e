//! Options as NLE writes them: one whole text, which names the hero as well.

use crate::options::{SWITCHES, VALUES};
use crate::{Character, OptionsError};

/// The options that NLE 1.3.0 sets when none are given.
pub const NLE_OPTIONS: &str = "autopickup,color,disclose:+i +a +v +g +c +o,mention_walls,nobones,nocmdassist,nolegacy,\
     nosparkle,pickup_burden:unencumbered,pickup_types:$?!/,runmode:teleport,showexp,showscore,time";

/// Switches that our own profile keeps to itself.
const MORE_SWITCHES: &[&str] = &[
    "altmeta",
    "ascii_map",
    "blind",
    "bones",
    "checkpoint",
    "eight_bit_tty",
    "fullscreen",
    "guicolor",
    "ignintr",
    "large_font",
    "mail",
    "menu_tab_sep",
    "monpolycontrol",
    "news",
    "null",
    "perm_invent",
    "popup_dialog",
    "preload_tiles",
    "rlecomp",
    "sanity_check",
    "selectsaved",
    "softkeyboard",
    "tiled_map",
    "timed_delay",
    "toptenwin",
    "travel_debug",
    "wraptext",
    "zerocomp",
];

/// Values that our own profile keeps to itself.
const MORE_VALUES: &[&str] = &[
    "DECgraphics",
    "IBMgraphics",
    "align",
    "align_message",
    "align_status",
    "character",
    "dungeon",
    "effects",
    "gender",
    "map_mode",
    "menu_deselect_all",
    "menu_deselect_page",
    "menu_first_page",
    "menu_invert_all",
    "menu_invert_page",
    "menu_last_page",
    "menu_next_page",
    "menu_previous_page",
    "menu_search",
    "menu_select_all",
    "menu_select_page",
    "menucolor",
    "monsters",
    "mouse_support",
    "msgtype",
    "name",
    "objects",
    "palette",
    "petattr",
    "player_selection",
    "playmode",
    "race",
    "role",
    "roguesymset",
    "scroll_amount",
    "scroll_margin",
    "statuslines",
    "symset",
    "traps",
    "vary_msgcount",
    "windowtype",
];

/// The longest text, in bytes: the game's buffer less what may be added to it.
const BYTES_MAX: usize = 900;

fn parts(text: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    text.split(',')
        .map(str::trim)
        .filter(|option| !option.is_empty())
        .map(|option| option.split_once([':', '=']).map_or((option, None), |(name, value)| (name, Some(value))))
}

fn value<'a>(text: &'a str, wanted: &str) -> Option<&'a str> {
    parts(text).filter(|(name, _)| *name == wanted).find_map(|(_, value)| value)
}

/// Checks an options text of NLE's profile: NetHack's names, whole, switched off with `!` or `no`.
///
/// # Errors
/// The first option that is refused and why.
pub fn check_nle_options(text: &str, character: &Character, debug: bool) -> Result<(), OptionsError> {
    if text.len() > BYTES_MAX {
        return Err(OptionsError::Length(text.len(), BYTES_MAX));
    }
    if let Some(byte) = text.bytes().find(|byte| !(0x20..=0x7e).contains(byte)) {
        return Err(OptionsError::Byte(byte));
    }
    for (name, value) in parts(text) {
        check_option(name, value)?;
    }
    if value(text, "name").is_some() && *character != Character::default() {
        return Err(OptionsError::NamedTwice);
    }
    if value(text, "playmode").is_some_and(|mode| mode != "normal") && !debug {
        return Err(OptionsError::Debug);
    }
    Ok(())
}

fn check_option(name: &str, value: Option<&str>) -> Result<(), OptionsError> {
    let listed = |lists: [&[&str]; 2], name: &str| lists.iter().any(|list| list.contains(&name));
    let switches = [SWITCHES, MORE_SWITCHES];
    let values = [VALUES, MORE_VALUES];
    let form = |written: String| Err(OptionsError::Form { name: name.to_owned(), written });
    let plain = name.strip_prefix('!').or_else(|| name.strip_prefix("no")).filter(|_| !listed(values, name));
    let plain = plain.unwrap_or(name);
    if listed(switches, name) || listed(switches, plain) {
        return match value {
            None => Ok(()),
            Some(_) => form(format!("{name} or !{name}, without a value")),
        };
    }
    match value {
        _ if !listed(values, plain) => Err(OptionsError::Unknown(name.chars().take(40).collect())),
        Some("rl") | None if plain == "windowtype" => Ok(()),
        Some(_) if plain == "windowtype" => form("windowtype:rl".to_owned()),
        Some("") => form(format!("{name}:value")),
        _ => Ok(()),
    }
}

/// The options text that the game reads at power-on in NLE's profile.
#[must_use]
pub fn nle_options_text(text: &str, character: &Character, debug: bool) -> String {
    let mut whole = String::from(if text.is_empty() { NLE_OPTIONS } else { text });
    if value(&whole, "name").is_none() {
        whole.push(',');
        whole.push_str(&hero(character));
    }
    if debug && value(&whole, "playmode").is_none() {
        whole.push_str(",playmode:debug");
    }
    whole
}

/// The hero as NLE names one: `Agent-val-dwa-law-fem`, or `Agent-@` for one that is left to the game.
fn hero(character: &Character) -> String {
    let word = |word: &'static str| word.get(..3).unwrap_or(word);
    let name = &character.name;
    match (character.role, character.race, character.gender, character.alignment) {
        (Some(role), Some(race), Some(gender), Some(alignment)) => format!(
            "name:{name}-{}-{}-{}-{}",
            word(role.word()),
            word(race.word()),
            word(alignment.word()),
            word(gender.word())
        ),
        (None, None, None, None) => format!("name:{name}-@,race:random,gender:random,align:random"),
        _ => character.options(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Alignment, Gender, Race, Role};

    fn monk() -> Character {
        Character {
            role: Some(Role::Monk),
            race: Some(Race::Human),
            gender: Some(Gender::Male),
            alignment: Some(Alignment::Neutral),
            ..Character::default()
        }
    }

    #[test]
    fn texts_of_nle_are_taken_as_they_are() {
        let text = format!("{NLE_OPTIONS},name:Agent-mon-hum-neu-mal");
        assert_eq!(check_nle_options(&text, &Character::default(), false), Ok(()));
        assert_eq!(nle_options_text(&text, &Character::default(), false), text);
        assert_eq!(nle_options_text("", &monk(), false), text);
        assert_eq!(check_nle_options(&text, &monk(), false), Err(OptionsError::NamedTwice));
    }

    #[test]
    fn the_hero_is_named_as_nle_does() {
        let text = nle_options_text("time", &Character::default(), true);
        assert_eq!(text, "time,name:Agent-@,race:random,gender:random,align:random,playmode:debug");
        let part = Character { role: Some(Role::Samurai), ..Character::default() };
        assert!(
            nle_options_text("time", &part, false).ends_with("role:samurai,race:random,gender:random,align:random")
        );
    }

    #[test]
    fn other_texts_are_refused() {
        let check = |text: &str| check_nle_options(text, &Character::default(), false);
        for good in ["nobones", "!bones", "bones", "windowtype:rl", "playmode:normal", "number_pad:0", "nonumber_pad"] {
            assert_eq!(check(good), Ok(()), "{good:?}");
        }
        for bad in [
            "playmode:debug",
            "playmode:explore",
            "windowtype:tty",
            "name:",
            "time:1",
            "nofruits",
            "nonews:x",
            "é",
            "@file",
        ] {
            assert!(check(bad).is_err(), "{bad:?}");
        }
        assert_eq!(check_nle_options("playmode:debug", &Character::default(), true), Ok(()));
        assert!(matches!(check(&"time,".repeat(200)), Err(OptionsError::Length(1000, 900))));
    }
}
