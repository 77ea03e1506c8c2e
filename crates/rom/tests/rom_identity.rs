//! The built-in ROM is what it says it is.

use rom::{Access, CONTRACT, MAGIC, Rom, built_in};
use sha2::{Digest, Sha256};

const CONTRACT_H: &str = include_str!("../bios/contract.h");

#[test]
fn rom_id_is_the_digest_of_its_bytes() {
    let rom = built_in();
    let digest: String = Sha256::digest(rom.bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(rom.rom_id(), digest);
}

#[test]
fn it_names_the_release_and_the_compiler() {
    let about = built_in().about();
    assert_eq!(about.nethack_version, "3.6.7");
    assert_eq!(about.tarball_sha256, "98cf67df6debf9668a61745aa84c09bcab362e5d33f5b944ec5155d44d2aacb2");
    assert_eq!(about.engine_id.len(), 64);
    assert_ne!(about.engine_id, built_in().rom_id());
    assert!(about.compiler.contains(", "), "compiler and linker: {}", about.compiler);
    for flag in ["-std=gnu99", "-DNOMAIL", "-O2", "-ffp-contract=off"] {
        assert!(about.flags.split(' ').any(|given| given == flag), "{flag} is missing in {}", about.flags);
    }
}

#[test]
fn reading_the_file_back_gives_the_same_rom() {
    let folder = std::env::temp_dir().join(format!("nethack-lab-rom-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the folder for temporary files is writable");
    let path = folder.join("nethack.rom");
    std::fs::write(&path, built_in().bytes()).expect("the file is writable");
    let read = Rom::from_file(&path);
    std::fs::remove_dir_all(&folder).expect("it was just made");
    let read = read.expect("an exported ROM is sound");
    assert_eq!(read.rom_id(), built_in().rom_id());
    assert_eq!(read.about(), built_in().about());
    assert_eq!(read.segments(), built_in().segments());
}

#[test]
fn no_path_of_this_machine_is_in_it() {
    let bytes = built_in().bytes();
    for path in [env!("CARGO_MANIFEST_DIR"), env!("OUT_DIR"), "/home/", "/usr/", "/tmp/"] {
        let found = bytes.windows(path.len()).position(|window| window == path.as_bytes());
        assert_eq!(found, None, "the ROM holds {path}");
    }
}

#[test]
fn the_contract_is_the_one_of_the_bios() {
    let define = |name: &str| {
        let line = CONTRACT_H.lines().find_map(|line| line.strip_prefix(&format!("#define {name} ")));
        line.unwrap_or_else(|| panic!("contract.h defines no {name}")).trim()
    };
    assert_eq!(define("ROM_CONTRACT"), CONTRACT.to_string());
    assert_eq!(define("ROM_MAGIC").trim_matches('"').as_bytes(), MAGIC);
    assert!(built_in().header().starts_with(MAGIC));
}

#[test]
fn variables_lie_between_the_marks_and_the_host_side_outside() {
    let rom = built_in();
    let address = |name: &str| rom.symbols().get(name).unwrap_or_else(|| panic!("no symbol {name}")).address;
    let (start, data_end, end) = (address("rom_globals_start"), address("rom_data_end"), address("rom_globals_end"));
    assert!(start < data_end && data_end < end, "{start:#x} {data_end:#x} {end:#x}");
    assert_eq!((start % 4096, end % 4096), (0, 0));
    for (name, inside) in [("u", true), ("moves", true), ("mailbox", true), ("host_stack_pointer", false)] {
        let place = address(name);
        assert_eq!((start..end).contains(&place), inside, "{name} at {place:#x}");
    }
    // Whatever can be written is either in the image or the host's one page.
    let writable: Vec<_> = rom.segments().iter().filter(|segment| segment.access == Access::ReadWrite).collect();
    assert_eq!(writable.len(), 2);
    assert_eq!(writable[0].memory_bytes, 4096);
    assert_eq!((writable[1].address, writable[1].address + writable[1].memory_bytes), (start, end));
    // What lies past the initialised data is zero, so an image starts from the file.
    let past = rom.read(data_end, 1);
    assert!(past.is_none_or(|bytes| bytes == [0]), "data goes on after rom_data_end: {past:?}");
}

#[test]
fn the_data_is_in_it() {
    let rom = built_in();
    let data = |name: &str| {
        let symbol = rom.symbols().get(name).unwrap_or_else(|| panic!("no symbol {name}"));
        rom.read(symbol.address, usize::try_from(symbol.bytes).expect("it fits")).expect("it is in the file")
    };
    let contains = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    for (name, text) in [
        ("rom_data_license", "NETHACK GENERAL PUBLIC LICENSE"),
        ("rom_data_symbols", "DECgraphics"),
        ("rom_data_nhdat", "medusa-4.lev"),
        ("rom_data_nhdat", "Options compiled into this edition"),
    ] {
        assert!(contains(data(name), text), "{name} holds no {text:?}");
    }
    for absent in ["compress", "mail daemon"] {
        assert!(!contains(data("rom_data_nhdat"), &format!("\n    {absent}")), "the options text tells of {absent}");
    }
}

#[test]
fn symbols_are_found_by_name() {
    let symbols = built_in().symbols();
    let moveloop = symbols.get("moveloop").expect("the game has a main loop");
    assert!(moveloop.global && moveloop.bytes > 100);
    assert_eq!(symbols.get("no_such_name"), None);
    assert_eq!(symbols.undefined(), [] as [String; 0]);
    assert!(symbols.iter().count() > 3000);
}
