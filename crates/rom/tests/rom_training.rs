//! The lists that the training run is made of and leaves behind.

use std::path::Path;

#[path = "../build/counts.rs"]
mod counts;
#[path = "../build/games.rs"]
mod games;

fn record(tag: u32, length: i32, body: &[u64]) -> Vec<u8> {
    let mut bytes = [tag.to_le_bytes(), length.to_le_bytes()].concat();
    bytes.extend(body.iter().flat_map(|number| number.to_le_bytes()));
    bytes
}

fn file(records: &[Vec<u8>]) -> Vec<u8> {
    [b"adcg0123456789ab".to_vec(), records.concat()].concat()
}

#[test]
fn the_summary_tells_the_highest_count() {
    let counted = file(&[
        record(0x0100_0000, 8, &[7]),
        record(0x01a1_0000, 24, &[3, 900, 5]),
        // As many zeroes that are left out, and counts of another kind.
        record(0x01a1_0000, -64, &[]),
        record(0x01af_0000, 8, &[5000]),
    ]);
    assert_eq!(counts::most(&counted).unwrap(), 900);
    let summed = counts::with_summary(&counted, 900).unwrap();
    assert_eq!(summed[16..32], [0xa100_0000_u32, 8, 1, 900].map(u32::to_le_bytes).concat());
    assert_eq!((&summed[..16], &summed[32..]), (&counted[..16], &counted[16..]));
    assert!(counts::most(&summed).unwrap_err().to_string().contains("already"));
}

#[test]
fn counts_that_are_none_are_refused() {
    let cut = file(&[record(0x01a1_0000, 16, &[1])]);
    assert!(counts::most(&cut).unwrap_err().to_string().contains("cut short"));
    assert!(counts::most(&cut[..10]).is_err());
    assert!(counts::most(b"oncg0123456789ab").is_err());
    assert!(counts::with_summary(b"adcg", 1).is_err());
}

#[test]
fn the_list_of_games_is_read_and_is_of_some_size() {
    let list = games::read_games(&Path::new(env!("CARGO_MANIFEST_DIR")).join(games::GAMES)).unwrap();
    assert!(list.len() > 50_000, "only {} bytes", list.len());
    // The first game's flags are none, and it has keys.
    let word = |at: usize| u32::from_le_bytes(list[at..at + 4].try_into().unwrap());
    assert_eq!(word(24), 0);
    assert!(word(32) > 100, "{} keys", word(32));
}

#[test]
fn a_line_out_of_place_is_named() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("games.txt");
    for (text, complaint) in [
        ("keys abc\n", "line 1"),
        ("game 1 2 3 0\nkeys ^\n", "line 2"),
        ("game 1 2 3\n", "line 1"),
        ("# none\n", "no games"),
    ] {
        std::fs::write(&path, text).unwrap();
        let error = format!("{:#}", games::read_games(&path).unwrap_err());
        assert!(error.contains(complaint), "{text:?}: {error}");
    }
    std::fs::write(&path, "game 1 2 3 0\noptions a b\nkeys h^M^x5e^?\n").unwrap();
    assert!(games::read_games(&path).unwrap().ends_with(b"a bh\x0d^\x7f"));
}
