//! Bytes that nobody vouches for: a sound ROM is taken, anything else refused with
//! its reason, and nothing of either panics.

use rom::{ADDRESS_END, ADDRESS_MIN, Rom, Symbols, built_in};

const PAGE: usize = 4096;
const PROGRAM_HEADERS: usize = 64;
const ROM_HEADER: usize = PAGE;
const STRINGS: usize = PAGE + 64;

fn put(bytes: &mut [u8], offset: usize, value: &[u8]) {
    bytes[offset..offset + value.len()].copy_from_slice(value);
}

fn program_header(kind: u32, flags: u32, offset: u64, address: u64, in_file: u64, in_memory: u64) -> Vec<u8> {
    let words = [offset, address, address, in_file, in_memory, 4096];
    let head = [kind.to_le_bytes(), flags.to_le_bytes()].concat();
    head.into_iter().chain(words.into_iter().flat_map(u64::to_le_bytes)).collect()
}

/// The smallest ROM: one page of constants with the header, one page of variables.
fn small_rom() -> Vec<u8> {
    let mut bytes = vec![0; 2 * PAGE + 16];
    put(&mut bytes, 0, b"\x7fELF\x02\x01\x01");
    put(&mut bytes, 16, &[2, 0, 62, 0, 1, 0, 0, 0]);
    put(&mut bytes, 24, &ADDRESS_MIN.to_le_bytes());
    put(&mut bytes, 32, &(PROGRAM_HEADERS as u64).to_le_bytes());
    put(&mut bytes, 54, &[56, 0, 2, 0, 64, 0]);
    let page = PAGE as u64;
    put(&mut bytes, PROGRAM_HEADERS, &program_header(1, 4, page, ADDRESS_MIN, page, page));
    put(&mut bytes, PROGRAM_HEADERS + 56, &program_header(1, 6, 2 * page, ADDRESS_MIN + page, 16, 3 * page));
    put(&mut bytes, ROM_HEADER, b"NHLABROM\x03\0\0\0\x38\0\0\0");
    let strings = ["a".repeat(64), "3.6.7".into(), "b".repeat(64), "gcc, ld".into(), "-O2".into()];
    let mut place = STRINGS;
    for (index, text) in strings.iter().enumerate() {
        let address = ADDRESS_MIN + (place - PAGE) as u64;
        put(&mut bytes, ROM_HEADER + 16 + 8 * index, &address.to_le_bytes());
        put(&mut bytes, place, text.as_bytes());
        place += text.len() + 1;
    }
    bytes
}

/// What was accepted must be usable as it says.
fn check_usable(rom: &Rom) {
    let mut free_from = ADDRESS_MIN;
    for segment in rom.segments() {
        assert!(segment.address >= free_from && segment.address % 4096 == 0, "{segment:?}");
        free_from = segment.address + segment.memory_bytes;
        assert!(free_from <= ADDRESS_END, "{segment:?}");
        assert!(rom.segment_bytes(segment).len() as u64 <= segment.memory_bytes, "{segment:?}");
    }
    assert!(rom.header().len() >= 56);
    assert_eq!(rom.engine_id().len(), 64);
    assert_eq!(rom.rom_id().len(), 64);
    let _ = rom.symbols().iter().count();
    let _ = rom.read(u64::MAX, usize::MAX);
}

#[test]
fn a_sound_one_is_taken() {
    let rom = Rom::parse(small_rom()).expect("it is sound");
    check_usable(&rom);
    assert_eq!(rom.engine_id(), "a".repeat(64));
    assert_eq!(rom.nethack_version(), "3.6.7");
    assert_eq!(rom.segments().len(), 2);
    assert_eq!(rom.symbols().iter().count(), 0);
}

#[test]
fn every_fault_is_named() {
    let first = PROGRAM_HEADERS;
    let second = PROGRAM_HEADERS + 56;
    let below = (ADDRESS_MIN - 4096).to_le_bytes();
    let above = (ADDRESS_END - 4096).to_le_bytes();
    let same = ADDRESS_MIN.to_le_bytes();
    let far = u64::MAX.to_le_bytes();
    let rows: &[(usize, &[u8], &str)] = &[
        (0, b"MZ", "not an ELF file"),
        (4, &[1], "64-bit little-endian"),
        (5, &[2], "64-bit little-endian"),
        (16, &[3], "fixed addresses"),
        (18, &[183], "x86-64"),
        (32, &far, "program header table is cut short"),
        (54, &[57], "odd shape"),
        (56, &[17], "odd shape"),
        (56, &[0], "no segment"),
        (24, &far, "entry is not in the file"),
        (24, &[8], "does not hold a ROM header"),
        (first, &[2], "segment 0 of the ROM is refused: it asks for more than memory"),
        (first, &[3], "interpreter"),
        (second, &[7], "segment 1 of the ROM is refused: it asks for more than memory"),
        (first + 4, &[7], "access is neither"),
        (first + 4, &[2], "access is neither"),
        (first + 8, &far, "past the end of the file"),
        (first + 8, &[1], "does not begin on a page"),
        (first + 16, &[1], "does not begin on a page"),
        (first + 16, &below, "outside the room"),
        (first + 16, &above, "segment 1 of the ROM is refused: it overlaps"),
        (second + 16, &above, "outside the room"),
        (second + 16, &same, "overlaps"),
        (second + 32, &[0, 0, 1], "past the end of the file"),
        (second + 40, &far, "outside the room"),
        (second + 40, &[1, 0], "more bytes in the file than in memory"),
        (first + 40, &[1, 16], "zeroes that nobody could write"),
        (ROM_HEADER, b"X", "does not hold a ROM header"),
        (ROM_HEADER + 8, &[1], "contract 1, this program contract 3"),
        (ROM_HEADER + 12, &[55], "impossible size"),
        (ROM_HEADER + 12, &[1, 16], "impossible size"),
        (ROM_HEADER + 16, &far, "engine id is unreadable: it is not in the file"),
        (ROM_HEADER + 16, &[0x41], "engine id is unreadable: it is not a SHA-256"),
        (STRINGS, b"G", "engine id is unreadable: it is not a SHA-256"),
        (STRINGS + 64, b"a", "engine id is unreadable: it has no end"),
        (STRINGS + 65, &[0], "version is unreadable: it is empty"),
        (STRINGS + 65, &[0xff], "version is unreadable: it is empty or not printable"),
    ];
    for (offset, value, expected) in rows {
        let mut bytes = small_rom();
        put(&mut bytes, *offset, value);
        let error = Rom::parse(bytes).expect_err(&format!("{expected:?} was accepted")).to_string();
        assert!(error.contains(expected), "at {offset} expected {expected:?}, got {error:?}");
    }
}

#[test]
fn an_executable_stack_is_refused_and_a_plain_one_is_not() {
    for (flags, accepted) in [(6, true), (7, false)] {
        let mut bytes = small_rom();
        put(&mut bytes, 56, &[3]);
        put(&mut bytes, PROGRAM_HEADERS + 112, &program_header(0x6474_e551, flags, 0, 0, 0, 0));
        assert_eq!(Rom::parse(bytes).is_ok(), accepted, "flags {flags}");
    }
}

#[test]
fn cut_anywhere_it_is_refused() {
    let whole = small_rom();
    for length in 0..whole.len() {
        assert!(Rom::parse(whole[..length].to_vec()).is_err(), "cut at {length}");
    }
    let whole = built_in().bytes();
    let segments_end = built_in().segments().last().expect("it has segments").file.end;
    let spread = (0..64).map(|part| segments_end / 64 * part);
    for length in spread.chain(0..1024).chain(segments_end - 256..segments_end) {
        assert!(Rom::parse(whole[..length].to_vec()).is_err(), "cut at {length}");
    }
}

#[test]
fn without_its_symbol_table_it_still_works() {
    let whole = built_in().bytes();
    let segments_end = built_in().segments().last().expect("it has segments").file.end;
    for length in [segments_end, (segments_end + whole.len()) / 2, whole.len() - 1] {
        let rom = Rom::parse(whole[..length].to_vec()).expect("all that is mapped is there");
        check_usable(&rom);
        assert_eq!(rom.symbols().get("moveloop"), None);
    }
}

#[test]
fn a_bit_flipped_in_any_header_is_refused_or_harmless() {
    let whole = small_rom();
    let rom_id = Rom::parse(whole.clone()).expect("it is sound").rom_id().to_string();
    let headers = 0..PROGRAM_HEADERS + 3 * 56;
    let about = ROM_HEADER..STRINGS + 256;
    for bit in headers.chain(about).flat_map(|offset| offset * 8..offset * 8 + 8) {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        if let Ok(rom) = Rom::parse(bytes) {
            check_usable(&rom);
            assert_ne!(rom.rom_id(), rom_id, "bit {bit}");
        }
    }
}

#[test]
fn a_damaged_symbol_table_loses_symbols_only() {
    let mut bytes = built_in().bytes().to_vec();
    let section_headers = u64::from_le_bytes(bytes[40..48].try_into().expect("eight bytes"));
    let start = usize::try_from(section_headers).expect("it fits");
    for offset in (start..bytes.len()).step_by(3).chain(40..64) {
        bytes[offset] ^= 0xff;
        assert!(Symbols::parse(&bytes).iter().count() <= bytes.len() / 24, "byte {offset}");
        bytes[offset] ^= 0xff;
    }
    bytes[start..].fill(0xff);
    check_usable(&Rom::parse(bytes).expect("no segment is touched"));
}

#[test]
fn too_many_bytes_are_refused() {
    let error = Rom::parse(vec![0; (64 << 20) + 1]).expect_err("it is too large");
    assert!(error.to_string().contains("67108864"), "{error}");
}

#[test]
fn a_missing_file_is_named() {
    let error = Rom::from_file("no/such/file.rom".as_ref()).expect_err("there is none");
    assert!(error.to_string().contains("no/such/file.rom"), "{error}");
}
