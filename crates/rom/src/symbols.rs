//! The symbol table of a ROM, for tests and profilers. A ROM may lack one, and a
//! damaged one yields fewer symbols; play never depends on it.

use std::collections::BTreeMap;

use crate::elf::{u16_at, u32_at, u64_at, usize_at};

const SECTION_HEADER_BYTES: usize = 64;
const SYMBOL_BYTES: usize = 24;
const SYMBOL_TABLE: u32 = 2;
const NAME_BYTES_MAX: usize = 256;
const KIND_SECTION: u8 = 3;
const KIND_FILE: u8 = 4;

/// A named place in the ROM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbol {
    /// Where it begins.
    pub address: u64,
    /// Its size in bytes; 0 where the ROM doesn't say.
    pub bytes: u64,
    /// Whether its name is known in the whole ROM, not in one source file only.
    pub global: bool,
}

/// All symbols by name; a name that several files use for something of their own
/// has several entries.
#[derive(Debug, Clone, Default)]
pub struct Symbols {
    by_name: BTreeMap<String, Vec<Symbol>>,
    undefined: Vec<String>,
}

impl Symbols {
    /// Reads what is readable.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        let mut symbols = Self::default();
        if let Some((table, names)) = tables(bytes) {
            for entry in table.chunks_exact(SYMBOL_BYTES) {
                // Skipped as a whole: a symbol without a readable name is of no use.
                let _ = symbols.add(entry, names);
            }
        }
        symbols
    }

    /// The global symbol of that name, else the only local one.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Symbol> {
        let found = self.by_name.get(name)?;
        let global = found.iter().find(|symbol| symbol.global);
        global.or(if found.len() == 1 { found.first() } else { None }).copied()
    }

    /// Every symbol, in order of name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Symbol)> {
        self.by_name.iter().flat_map(|(name, found)| found.iter().map(|symbol| (name.as_str(), *symbol)))
    }

    /// Names that are used but not defined. A sound ROM has none.
    #[must_use]
    pub fn undefined(&self) -> &[String] {
        &self.undefined
    }

    fn add(&mut self, entry: &[u8], names: &[u8]) -> Option<()> {
        let name = string_at(names, u32_at(entry, 0)? as usize)?;
        let info = *entry.get(4)?;
        let section = u16_at(entry, 6)?;
        let symbol = Symbol { address: u64_at(entry, 8)?, bytes: u64_at(entry, 16)?, global: info >> 4 != 0 };
        if name.is_empty() || [KIND_SECTION, KIND_FILE].contains(&(info & 15)) {
            return None;
        }
        if section == 0 {
            self.undefined.push(name.to_string());
        } else {
            self.by_name.entry(name.to_string()).or_default().push(symbol);
        }
        Some(())
    }
}

/// The bytes of the symbol table and of the string table that it names.
fn tables(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let start = usize_at(bytes, 40)?;
    if usize::from(u16_at(bytes, 58)?) != SECTION_HEADER_BYTES {
        return None;
    }
    let count = usize::from(u16_at(bytes, 60)?);
    let headers = bytes.get(start..start.checked_add(count * SECTION_HEADER_BYTES)?)?;
    let header = |index: usize| headers.chunks_exact(SECTION_HEADER_BYTES).nth(index);
    let table = (0..count).filter_map(header).find(|header| u32_at(header, 4) == Some(SYMBOL_TABLE))?;
    let names = header(u32_at(table, 40)? as usize)?;
    let section = |header: &[u8]| {
        let start = usize_at(header, 24)?;
        bytes.get(start..start.checked_add(usize_at(header, 32)?)?)
    };
    Some((section(table)?, section(names)?))
}

fn string_at(bytes: &[u8], offset: usize) -> Option<&str> {
    let rest = bytes.get(offset..)?;
    let length = rest.iter().take(NAME_BYTES_MAX).position(|byte| *byte == 0)?;
    std::str::from_utf8(&rest[..length]).ok()
}
