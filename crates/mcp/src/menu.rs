use std::collections::BTreeMap;

use wire::{Key, Menu, MenuEntry, Pick};

use crate::accept::PAGING;
use crate::failure::{Code, Failure};

/// An entry to be picked, all of it or a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    pub(crate) entry_id: u64,
    pub(crate) count: Option<u64>,
}

/// The largest count that is typed.
pub(crate) const COUNT_MAX: u64 = 999_999;

/// The keys that leave a menu with exactly these entries picked, whatever is picked now. `counting`: a count may have
/// been begun, which the first key has to put aside.
///
/// # Errors
/// `INVALID_SELECTION`: an entry that is not there or can't be picked, an entry given twice, more than the menu takes.
pub(crate) fn plan(menu: &Menu, selections: &[Selection], counting: bool) -> Result<Vec<Key>, Failure> {
    let wanted = check(menu, selections)?;
    match menu.pick {
        Pick::None => {
            let pages_left = menu.pages.saturating_sub(menu.page);
            Ok(vec![Key::SPACE; pages_left as usize + 1])
        }
        Pick::One => Ok(plan_one(menu, &wanted, counting)),
        Pick::Any => Ok(plan_any(menu, &wanted, counting)),
    }
}

fn check<'a>(menu: &'a Menu, selections: &[Selection]) -> Result<Vec<(&'a MenuEntry, Option<u64>)>, Failure> {
    let refused = |message: String| Err(Failure::new(Code::InvalidSelection, message));
    let mut seen = BTreeMap::new();
    for (index, selection) in selections.iter().enumerate() {
        let Selection { entry_id, count } = *selection;
        let Some(entry) = menu.entries.iter().find(|entry| u64::from(entry.id) == entry_id) else {
            let last = menu.entries.last().map_or(0, |entry| entry.id);
            return refused(format!(
                "selections[{index}]: there is no entry {entry_id}; entries go from 0 to {last}; {}",
                some_to_pick(menu)
            ));
        };
        if menu.pick == Pick::None {
            return refused("nothing can be picked in this menu: give no selections to close it".to_owned());
        }
        let Some(accelerator) = entry.accelerator.filter(|_| entry.selectable) else {
            return refused(format!(
                "selections[{index}]: entry {entry_id} ({:?}) can't be picked; {}",
                entry.text,
                some_to_pick(menu)
            ));
        };
        let is_group_of_others = menu.entries.iter().any(|other| {
            other.selectable && other.group == Some(accelerator) && other.accelerator != Some(accelerator)
        });
        if is_group_of_others {
            return refused(format!(
                "selections[{index}]: the key {accelerator:?} of entry {entry_id} picks a whole group here"
            ));
        }
        if count.is_some_and(|count| !(1..=COUNT_MAX).contains(&count)) {
            return refused(format!("selections[{index}]: a count is a whole number from 1 to {COUNT_MAX}"));
        }
        if seen.insert(entry_id, (entry, count)).is_some() {
            return refused(format!("selections[{index}]: entry {entry_id} is given twice"));
        }
    }
    if menu.pick == Pick::One && seen.len() != 1 {
        return refused(format!("this menu takes one entry, not {}; give cancel to leave it", seen.len()));
    }
    Ok(seen.into_values().collect())
}

/// How many entries are named where another can't be picked.
const NAMED_MAX: usize = 5;

/// Entries that can be picked, some of them.
fn some_to_pick(menu: &Menu) -> String {
    let can = |entry: &&MenuEntry| entry.selectable && entry.accelerator.is_some();
    let all = menu.entries.iter().filter(can);
    let named: Vec<String> = all
        .clone()
        .take(NAMED_MAX)
        .map(|entry| format!("{} ({:?})", entry.id, entry.text.chars().take(40).collect::<String>()))
        .collect();
    let more = if all.count() > NAMED_MAX { ", …" } else { "" };
    if named.is_empty() { "none can".to_owned() } else { format!("these can: {}{more}", named.join(", ")) }
}

fn plan_one(menu: &Menu, wanted: &[(&MenuEntry, Option<u64>)], counting: bool) -> Vec<Key> {
    let Some((entry, count)) = wanted.first() else {
        return Vec::new();
    };
    let mut walk = Walk::begin(menu, counting);
    if entry.selected && count.is_none() {
        // Its own key would unpick it.
        walk.keys.push(Key::ENTER);
        return walk.keys;
    }
    walk.go(entry.page);
    walk.pick(entry, *count);
    walk.keys
}

fn plan_any(menu: &Menu, wanted: &[(&MenuEntry, Option<u64>)], counting: bool) -> Vec<Key> {
    let mut walk = Walk::begin(menu, counting);
    for entry in menu.entries.iter().filter(|entry| entry.selectable && entry.accelerator.is_some()) {
        let want = wanted.iter().find(|(wanted, _)| wanted.id == entry.id).map(|(_, count)| *count);
        let present = entry.count.and_then(|count| u64::try_from(count).ok());
        match want {
            None if entry.selected => {
                walk.go(entry.page);
                walk.pick(entry, None);
            }
            Some(count) if !entry.selected => {
                walk.go(entry.page);
                walk.pick(entry, count);
            }
            Some(Some(count)) if present != Some(count) => {
                walk.go(entry.page);
                walk.pick(entry, Some(count));
            }
            Some(None) if present.is_some() => {
                // Unpicking forgets the count.
                walk.go(entry.page);
                walk.pick(entry, None);
                walk.pick(entry, None);
            }
            _ => {}
        }
    }
    walk.keys.push(Key::ENTER);
    walk.keys
}

/// The keys so far and the page that they have led to.
struct Walk {
    page: u32,
    keys: Vec<Key>,
}

impl Walk {
    fn begin(menu: &Menu, counting: bool) -> Self {
        let [_, _, first, _] = PAGING.map(Key);
        if counting || menu.page > 1 {
            return Self { page: 1, keys: vec![first] };
        }
        Self { page: 1, keys: Vec::new() }
    }

    /// Turns to a page; entries stand in the order of their pages, so this only ever goes on.
    fn go(&mut self, page: u32) {
        let [next, ..] = PAGING.map(Key);
        while self.page < page {
            self.keys.push(next);
            self.page += 1;
        }
    }

    fn pick(&mut self, entry: &MenuEntry, count: Option<u64>) {
        if let Some(count) = count {
            self.keys.extend(count.to_string().bytes().map(Key));
        }
        self.keys.extend(entry.accelerator.and_then(|key| u8::try_from(key).ok()).map(Key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries as `page accelerator selected count`, `-` for a heading.
    fn menu(pick: Pick, page: u32, entries: &[&str]) -> Menu {
        let entry = |(id, text): (usize, &&str)| {
            let mut parts = text.split(' ');
            let page: u32 = parts.next().unwrap().parse().unwrap();
            let accelerator = parts.next().unwrap().chars().next().filter(|key| *key != '-');
            let selected = parts.next() == Some("x");
            MenuEntry {
                id: id as u32,
                accelerator,
                group: None,
                text: (*text).to_owned(),
                selectable: accelerator.is_some(),
                selected,
                count: parts.next().map(|count| count.parse().unwrap()),
                page,
            }
        };
        let entries: Vec<MenuEntry> = entries.iter().enumerate().map(entry).collect();
        Menu { title: String::new(), pick, page, pages: entries.iter().map(|entry| entry.page).max().unwrap(), entries }
    }

    fn selections(picks: &[(u64, Option<u64>)]) -> Vec<Selection> {
        picks.iter().map(|&(entry_id, count)| Selection { entry_id, count }).collect()
    }

    #[test]
    fn plans_toggle_only_what_differs() {
        let two_pages = ["1 -", "1 a", "1 b x", "1 c x 3", "2 -", "2 a", "2 b x"];
        let any = |page| menu(Pick::Any, page, &two_pages);
        let one = |page| menu(Pick::One, page, &["1 -", "1 a", "1 b x", "2 a"]);
        let read = |page| menu(Pick::None, page, &["1 -", "2 -", "3 -"]);
        for (menu, picks, counting, keys) in [
            // As it is.
            (any(1), vec![(2, None), (3, Some(3)), (6, None)], false, "ENTER"),
            // Nothing.
            (any(1), vec![], false, "b c > b ENTER"),
            // Another page, the order of selections doesn't matter.
            (any(1), vec![(5, None), (2, None), (6, None), (3, Some(3))], false, "> a ENTER"),
            (any(2), vec![(1, None), (2, None), (3, Some(3)), (6, None)], false, "^ a ENTER"),
            // Counts: new, other, none any more.
            (any(1), vec![(1, Some(12)), (2, None), (3, Some(4)), (6, None)], false, "1 2 a 4 c ENTER"),
            (any(1), vec![(2, Some(2)), (3, None), (6, None)], false, "2 b c c ENTER"),
            (any(1), vec![(2, None), (3, Some(3)), (6, None)], true, "^ ENTER"),
            (one(1), vec![(1, None)], false, "a"),
            (one(1), vec![(2, None)], false, "ENTER"),
            (one(1), vec![(3, None)], false, "> a"),
            (one(2), vec![(1, Some(5))], false, "^ 5 a"),
            (read(1), vec![], false, "SPACE SPACE SPACE"),
            (read(3), vec![], false, "SPACE"),
        ] {
            let planned = plan(&menu, &selections(&picks), counting).unwrap();
            let names: Vec<String> = planned.iter().map(|key| key.name()).collect();
            let names: Vec<&str> = names.iter().map(|name| if name == " " { "SPACE" } else { name }).collect();
            assert_eq!(names.join(" "), keys, "{picks:?} on page {}", menu.page);
        }
    }

    #[test]
    fn selections_that_cannot_be_are_refused() {
        let any = menu(Pick::Any, 1, &["1 -", "1 a", "1 b"]);
        let one = menu(Pick::One, 1, &["1 -", "1 a", "1 b"]);
        let read = menu(Pick::None, 1, &["1 -", "1 a"]);
        let mut grouped = any.clone();
        grouped.entries[2].group = Some('a');
        for (menu, picks, word) in [
            (&any, vec![(9, None)], "no entry 9"),
            (&any, vec![(0, None)], "can't be picked; these can: 1 (\"1 a\"), 2 (\"1 b\")"),
            (&any, vec![(9, None)], "these can: 1"),
            (&any, vec![(1, None), (1, Some(2))], "twice"),
            (&any, vec![(1, Some(0))], "count"),
            (&any, vec![(1, Some(COUNT_MAX + 1))], "count"),
            (&one, vec![], "takes one entry, not 0"),
            (&one, vec![(1, None), (2, None)], "takes one entry, not 2"),
            (&read, vec![(1, None)], "nothing can be picked"),
            (&grouped, vec![(1, None)], "whole group"),
        ] {
            let failure = plan(menu, &selections(&picks), false).unwrap_err();
            assert_eq!(failure.code, Code::InvalidSelection);
            assert!(failure.message.contains(word), "{picks:?}: {}", failure.message);
        }
    }
}
