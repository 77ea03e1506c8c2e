//! Carrying a ROM.

use std::fs;

use crate::bed::Bed;

#[test]
fn an_exported_rom_is_the_same_engine_and_verifies_as_exact() {
    let bed = Bed::new();
    bed.record("game.movie", 3, 40);
    bed.expect(0, "rom export out.rom");
    let (own, carried) = (bed.expect(0, "rom --json").json(), bed.expect(0, "--rom out.rom rom --json").json());
    assert_eq!(own, carried);
    assert!(bed.expect(0, "--rom out.rom movie verify game.movie").out.contains("exact"));
    assert_eq!(bed.files(), ["game.movie", "out.rom"]);
}

#[test]
fn an_existing_file_is_never_touched() {
    let bed = Bed::new();
    fs::write(bed.path("taken"), "mine").expect("written");
    for arguments in ["rom export taken", "demo --out taken", "movie record --seed 1 --keys 5 -o taken"] {
        let ran = bed.expect(1, arguments);
        assert!(ran.err.contains("taken exists already: name another file"), "{arguments}: {}", ran.err);
    }
    assert_eq!(fs::read_to_string(bed.path("taken")).expect("read"), "mine");
    assert_eq!(bed.files(), ["taken"]);
}

#[test]
fn what_is_no_rom_is_refused() {
    let bed = Bed::new();
    fs::write(bed.path("text"), "not a ROM at all").expect("written");
    fs::copy("/proc/self/exe", bed.path("program")).expect("copied");
    for file in ["text", "program"] {
        let ran = bed.expect(2, &format!("--rom {file} rom"));
        assert!(ran.err.contains(file), "{}", ran.err);
    }
}
