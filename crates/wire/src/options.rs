/// Options that a user may switch on or off (`name` or `!name`), spelled as NetHack spells them.
pub(crate) const SWITCHES: &[&str] = &[
    "acoustics",
    "autodescribe",
    "autodig",
    "autoopen",
    "autopickup",
    "autoquiver",
    "clicklook",
    "cmdassist",
    "color",
    "confirm",
    "dark_room",
    "extmenu",
    "female",
    "fixinv",
    "force_invmenu",
    "goldX",
    "help",
    "herecmd_menu",
    "hilite_pet",
    "hilite_pile",
    "hitpointbar",
    "implicit_uncursed",
    "legacy",
    "lit_corridor",
    "lootabc",
    "male",
    "mention_walls",
    "menucolors",
    "menu_objsyms",
    "menu_overlay",
    "nudist",
    "pickup_thrown",
    "pushweapon",
    "rest_on_space",
    "safe_pet",
    "showexp",
    "showrace",
    "showscore",
    "silent",
    "sortpack",
    "sparkle",
    "splash_screen",
    "standout",
    "status_updates",
    "time",
    "tombstone",
    "travel",
    "use_darkgray",
    "use_inverse",
    "verbose",
    "whatis_menu",
    "whatis_moveskip",
    "wizweight",
];

/// Options that take a value (`name:value`), spelled as NetHack spells them.
pub(crate) const VALUES: &[&str] = &[
    "boulder",
    "catname",
    "disclose",
    "dogname",
    "fruit",
    "horsename",
    "menu_headings",
    "menustyle",
    "msghistory",
    "msg_window",
    "number_pad",
    "packorder",
    "paranoid_confirmation",
    "pettype",
    "pickup_burden",
    "pickup_types",
    "pile_limit",
    "runmode",
    "scores",
    "sortloot",
    "statushilites",
    "suppress_alert",
    "whatis_coord",
    "whatis_filter",
];

/// Options that the power-on record holds in fields of its own.
const FIELDS: &[&str] = &["name", "role", "character", "race", "gender", "align", "alignment"];

/// The longest options text that a user may give, in bytes.
const BYTES_MAX: usize = 512;

/// Why an options text is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// More than the game's own buffer takes.
    #[error("options of {0} bytes are too long: at most {1}")]
    Length(usize, usize),
    /// A byte that the game's parser would take for something else.
    #[error("options hold the byte {0:#04x}: only printable ASCII characters are taken")]
    Byte(u8),
    /// A field of the power-on record.
    #[error("option {0:?} has a field of its own: give the character there, not in the options")]
    Field(String),
    /// The hero is named twice.
    #[error("the options name the hero (name:…), so name, role, race, gender and alignment must be left open")]
    NamedTwice,
    /// Debug or explore mode without leave.
    #[error("option playmode needs debug to be allowed")]
    Debug,
    /// A switch with a value, or a value without one.
    #[error("option {name:?} is written {written}")]
    Form {
        /// The option.
        name: String,
        /// How it is written.
        written: String,
    },
    /// Not on the list.
    #[error("option {0:?} is not on the list of options that may be set (NetHack's full spelling is needed)")]
    Unknown(String),
}

/// Checks an options text: NetHack's own syntax, names from an allow-list, whole names only.
///
/// # Errors
/// The first option that is refused and why.
pub fn check_options(text: &str) -> Result<(), OptionsError> {
    if text.len() > BYTES_MAX {
        return Err(OptionsError::Length(text.len(), BYTES_MAX));
    }
    if let Some(byte) = text.bytes().find(|b| !(0x20..=0x7e).contains(b)) {
        return Err(OptionsError::Byte(byte));
    }
    text.split(',').map(str::trim).filter(|option| !option.is_empty()).try_for_each(check_option)
}

fn check_option(option: &str) -> Result<(), OptionsError> {
    let (negated, rest) = option.strip_prefix('!').map_or((false, option), |rest| (true, rest));
    let (name, value) = rest.split_once([':', '=']).map_or((rest, None), |(name, value)| (name, Some(value)));
    let form = |written: String| Err(OptionsError::Form { name: name.to_owned(), written });
    if FIELDS.contains(&name) {
        return Err(OptionsError::Field(name.to_owned()));
    }
    if SWITCHES.contains(&name) {
        return match value {
            None => Ok(()),
            Some(_) => form(format!("{name} or !{name}, without a value")),
        };
    }
    if VALUES.contains(&name) {
        return match value {
            Some(value) if !negated && !value.is_empty() => Ok(()),
            _ => form(format!("{name}:value")),
        };
    }
    Err(OptionsError::Unknown(name.chars().take(40).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_options_are_taken_and_others_refused() {
        for good in ["", "autopickup", "!color, fruit:melon", "pettype:none,runmode=walk", "a".get(1..).unwrap()] {
            assert_eq!(check_options(good), Ok(()), "{good:?}");
        }
        for bad in [
            "name:x",
            "playmode:debug",
            "wizard",
            "auto",
            "color:1",
            "fruit",
            "!fruit:x",
            "fruit:",
            "@file",
            "/etc/passwd",
            "bones",
            "checkpoint",
            "fruit:é",
            "fruit:a\nb",
            "windowtype:curses",
            "align:law",
            &"autopickup,".repeat(60),
        ] {
            assert!(check_options(bad).is_err(), "{bad:?}");
        }
    }
}
