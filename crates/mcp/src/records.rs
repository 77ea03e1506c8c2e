//! What objects and lists in results hold, for the reference. Schemas leave it out: a list of tools is read whole.

use std::fmt::Write as _;

/// A field of a record, and what it says.
type Entry = (&'static str, &'static str);
/// A layer or a field of results, where it stands, and its own fields. `[]` stands for each item of a list.
type Record = (&'static str, &'static str, &'static [Entry]);

const PLACE: &[Entry] = &[("row", "From 0, as on the screen."), ("column", "From 0.")];

const RECORDS: &[Record] = &[
    ("cursor", "with the layer `screen`", PLACE),
    (
        "map",
        "layer of `observe`",
        &[
            ("first_row", "1: the screen's row that `rows[0]` is."),
            ("rows", "Texts without trailing blanks: map row r is `rows[r - 1]`."),
            ("hero", "`{row, column}`; absent where it is not known."),
            ("cursor", "`{row, column}`."),
            ("covered", "True while a menu or a text lies over the map; then there are no `rows`."),
        ],
    ),
    (
        "cells",
        "layer of `observe`; a page",
        &[
            ("covered", "True while a menu or a text lies over the map; then no cell has a glyph."),
            ("items", "The cells that aren't blank, row by row."),
            ("items[].row", "From 0, as on the screen."),
            ("items[].column", "From 0."),
            ("items[].char", "The character that stands there."),
            ("items[].color", "0 to 15 as NetHack numbers them; 8 is the terminal's own."),
            ("items[].attributes", "Bit 0 standout, 1 bold, 2 dim, 4 underline, 5 blink, 7 inverse; absent for none."),
            ("items[].glyph", "NetHack's number for what the map shows; only on the map."),
            ("items[].description", "What that is called, as in \"hill orc\"; the hero is \"you (dwarf)\"."),
            ("total", "How many there are in all."),
            ("offset", "How many were passed over; absent for none."),
            ("next_offset", "Give this as `offset` for the next page; absent on the last."),
        ],
    ),
    (
        "messages[]",
        "layer of `observe`",
        &[
            ("id", "Counts up in a game."),
            ("turn", "The turn it was given in."),
            ("text", "What it says."),
            ("shown", "False for one that ESC kept from the screen; else absent."),
        ],
    ),
    (
        "inventory[]",
        "layer of `observe`",
        &[
            ("letter", "What the game calls it by."),
            ("text", "As in \"a +1 long sword (weapon in hand)\"."),
            (
                "class",
                "`weapon` `armor` `ring` `amulet` `tool` `food` `potion` `scroll` `spellbook` `wand` `coin` `gem` `rock` …",
            ),
            ("glyph", "NetHack's number for its looks."),
        ],
    ),
    (
        "menu",
        "layer of `observe`; a page, over all pages of the screen",
        &[
            ("title", "The question above it, if any."),
            ("pick", "`none`, `one` or `any`: how many may be picked."),
            ("page", "The page that the screen shows, from 1."),
            ("pages", "How many pages of the screen it has."),
            ("entries", "Its lines, headings too."),
            ("entries[].id", "What `select_menu` takes as `entry_id`."),
            ("entries[].accelerator", "The key that picks it; absent for a heading."),
            ("entries[].group", "The key that picks all of its class."),
            ("entries[].text", "What it says."),
            ("entries[].selectable", "Whether it can be picked."),
            ("entries[].selected", "Whether it is picked now; absent where it can't be."),
            ("entries[].count", "How many of it are picked; absent for all."),
            ("entries[].page", "The page it stands on; absent where there is one page."),
            ("total", "How many entries there are in all."),
            ("offset", "As of `cells`."),
            ("next_offset", "As of `cells`."),
        ],
    ),
    (
        "window",
        "layer of `observe`; a page",
        &[
            ("lines", "The lines of an open text, of all its pages."),
            ("whole", "False where the game shows page by page as it writes: then only what is there so far."),
            ("total", "How many lines there are in all."),
            ("offset", "As of `cells`."),
            ("next_offset", "As of `cells`."),
        ],
    ),
    (
        "changes",
        "layer of `observe`, against `since_revision`",
        &[
            ("since", "The revision that it is counted from."),
            ("complete", "True where that frame is no longer kept: all rows and fields are told."),
            ("rows[].row", "A row of the screen that differs."),
            ("rows[].text", "What it shows now."),
            ("status", "The fields of the status that differ; \"\" for one that is gone."),
            ("cursor", "`{row, column}` where it has moved."),
            ("turns", "How many turns have passed."),
            ("inventory_changed", "Whether the inventory differs."),
            ("pending_changed", "Whether the game waits for something else."),
        ],
    ),
    (
        "breakpoint",
        "`run`, `fork_run`, each line of `try_lines`: what stopped it",
        &[
            ("id", "The breakpoint's, as in `b1`; or instead"),
            ("index", "the place in the call's own `stop`, from 0."),
            ("on", "The condition's word, which says what else is told:"),
            ("message", "`message`: the text that holds the pattern."),
            ("message_id", "`message`: its id."),
            ("hp", "`hp_below`: the hit points."),
            ("level_text", "`level_change`: the level, as in Dlvl:2."),
            ("level_before", "`level_change`: the one before."),
            ("turn", "`turn`: the turn that it is."),
            ("kind", "`pending`: what is waited for."),
            ("prompt", "`pending`: the question, if any."),
            ("hunger", "`hunger`: what it has become, as in `hungry`."),
            ("hunger_before", "`hunger`: what it was."),
            ("monsters[]", "`new_monster`: at most eight of `{row, column, char, glyph, description}`."),
            ("items[]", "`item_picked_up`: at most eight of `{letter, text}`."),
        ],
    ),
    (
        "parted",
        "`fork_adopt` with mode `replay`: where main no longer did what the fork had done",
        &[
            ("boundary", "Where it was seen."),
            ("key", "The key that came out otherwise."),
            ("expected_screen", "What the fork had shown after it."),
        ],
    ),
    (
        "ended",
        "every result about a machine whose game is over",
        &[
            (
                "kind",
                "`died` `escaped` `ascended` `quit` `saved`; `panicked` `crashed` `hung` `unsupported` `exited` where \
                 the engine failed.",
            ),
            ("how", "NetHack's number, 0 (killed) to 15 (ascended)."),
            ("text", "As in \"killed by a jackal\"."),
            ("xlog", "The record that the game wrote into xlogfile, fields separated by tabs."),
        ],
    ),
    (
        "lost",
        "`run`, `fork_run`: the key that killed its workers",
        &[("key", "Its name. It was not pressed."), ("reason", "How the workers ended.")],
    ),
];

/// The section of the reference that tells of them.
pub(crate) fn section() -> String {
    let mut text =
        "\n## Layers and records\n\nThe fields of what results show as an object or a list; each may be absent.\n\
        `status` and `pending` are told with [`observe`](#observe). A page has `limit` items from `offset` on.\n"
            .to_owned();
    for (name, stands, entries) in RECORDS {
        let _ = write!(text, "\n**`{name}`**: {stands}\n\n| field | |\n|---|---|\n");
        for (field, meaning) in *entries {
            let _ = writeln!(text, "| `{field}` | {meaning} |");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use serde_json::Value;
    use wire::{
        Cursor, EndKind, Ended, Frame, GlyphNames, InventoryItem, Menu, MenuEntry, Message, Pick, Status, Window,
    };

    use super::*;
    use crate::layers::{self, Layer, Want};
    use crate::reply;
    use crate::schema::drop_nulls;

    fn told(name: &str) -> BTreeSet<String> {
        let record = RECORDS.iter().find(|(of, ..)| of.trim_end_matches("[]") == name).unwrap();
        record.2.iter().map(|(field, _)| (*field).to_owned()).collect()
    }

    /// The names of the fields of a value, with those of a list's items where its record tells them.
    fn shown(value: &Value, known: &BTreeSet<String>) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let objects = value.as_array().map_or_else(|| vec![value], |items| items.iter().collect());
        for (name, inner) in objects.into_iter().filter_map(Value::as_object).flatten() {
            let items: Vec<&Value> = inner.as_array().into_iter().flatten().filter(|item| item.is_object()).collect();
            let item_names = items.iter().filter_map(|item| item.as_object()).flatten().map(|(field, _)| field);
            names.extend(item_names.map(|field| format!("{name}[].{field}")));
            if items.is_empty() || known.contains(name) {
                names.insert(name.clone());
            }
        }
        names
    }

    fn frames() -> [Frame; 2] {
        let glyphs = vec![2_359; wire::MAP_ROWS * wire::MAP_COLUMNS];
        let mut plain = Frame { turn: 5, hero: Some(Cursor { row: 4, column: 9 }), glyphs, ..Frame::default() };
        plain.status = Some(Status::default());
        for (index, byte) in b"|..@ a door |".iter().enumerate() {
            plain.screen.chars[4 * wire::COLUMNS + index] = *byte;
            plain.screen.attributes[4 * wire::COLUMNS + index] = 1;
        }
        plain.messages = vec![Message { id: 1, turn: 5, text: "You hear it.".to_owned(), shown: false }];
        plain.inventory = vec![InventoryItem { letter: 'a', text: "a dart".to_owned(), class: 2, glyph: 1_906 }];
        let entry = |id| MenuEntry {
            id,
            accelerator: Some('a'),
            group: Some(')'),
            text: "a dart".to_owned(),
            selectable: true,
            selected: true,
            count: Some(2),
            page: 1,
        };
        let entries = (0..9).map(entry).collect();
        let menu = Menu { title: "Pick up what?".to_owned(), pick: Pick::Any, page: 1, pages: 2, entries };
        let window = Window { lines: vec!["a line".to_owned(); 9], whole: true };
        let covered = Frame { menu: Some(menu), window: Some(window), ..plain.clone() };
        [plain, covered]
    }

    #[test]
    fn layers_have_the_fields_that_are_told() {
        use Layer::{Cells, Changes, Inventory, Map, Menu, Messages, Screen, Window};
        let layers = [Screen, Map, Cells, Messages, Inventory, Menu, Window, Changes];
        let [plain, covered] = frames();
        let ground = vec!["dark part of a room".to_owned(); 96];
        let names = Some(Arc::new(GlyphNames { symbols: ground, ..GlyphNames::default() }));
        let mut found: Vec<(String, Value)> = Vec::new();
        for (frame, before) in [(&plain, None), (&covered, Some(Arc::new(Frame::default())))] {
            let want = Want {
                since: Some((1, before)),
                names: names.clone(),
                offset: 1,
                limit: 3,
                ..Want::of(Some(layers.to_vec()))
            };
            let mut fields = Value::Object(layers::show(frame, &want));
            fields["messages"] = layers::messages(&frame.messages);
            drop_nulls(&mut fields);
            found.extend(fields.as_object().unwrap().clone());
        }
        let ended = Ended { kind: EndKind::Died, how: Some(0), text: "a newt".to_owned(), xlog: Some(String::new()) };
        found.push(("ended".to_owned(), reply::ended(&ended)));
        for name in ["cursor", "map", "cells", "messages", "inventory", "menu", "window", "changes", "ended"] {
            let known = told(name);
            let of = found.iter().filter(|(of, _)| of == name);
            let seen: BTreeSet<String> = of.flat_map(|(_, value)| shown(value, &known)).collect();
            assert_eq!(seen, known, "{name}");
        }
    }
}
