//! Holds `docs/formats/state.md` against what is written and read.

use serde_json::Value;

use super::{power_on, run, toy};
use crate::{Control, Luck};

const DOCUMENT: &str = include_str!("../../../../docs/formats/state.md");

/// The JSON head of an envelope.
fn head(bytes: &[u8]) -> Value {
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    serde_json::from_slice(&bytes[24..24 + length]).unwrap()
}

fn fields(value: &Value) -> impl Iterator<Item = &String> {
    value.as_object().unwrap().keys()
}

#[test]
fn every_field_is_in_the_document() {
    let (lab, _) = toy::lab(None, |_| ());
    let game = lab.new_game(power_on(1), false).unwrap().machine;
    run(&lab, game, "abc");
    lab.fork(game, None, Luck::Same, 1).unwrap();
    let state = head(&lab.save_state(game, None, &Control::default()).unwrap());
    let tree = head(&lab.export_tree(None, Vec::new(), &Control::default()).unwrap());
    let fork = &tree["machines"][1];
    let inner = [&tree["machines"][0], &tree["states"][0], &fork["parent"], &fork["line"], &fork["state"]];
    for name in [&state, &tree].into_iter().chain(inner).flat_map(fields) {
        assert!(DOCUMENT.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn every_bound_is_in_the_document() {
    for (name, value) in [
        ("STATE_FILE_BYTES_MAX", crate::STATE_FILE_BYTES_MAX),
        ("TREE_FILE_BYTES_MAX", crate::TREE_FILE_BYTES_MAX),
        ("IMAGE_BYTES_MAX", crate::state_file::IMAGE_BYTES_MAX),
        ("BLOBS_MAX", crate::state_file::BLOBS_MAX as u64),
        ("CHAIN_MAX", crate::store::CHAIN_MAX.into()),
        ("LINES_BYTES_MAX", crate::tree_file::LINES_BYTES_MAX),
    ] {
        assert!(DOCUMENT.contains(&format!("| `{name}` | {value} |")), "{name} is {value}");
    }
    assert_eq!((crate::STATE_FILE_VERSION, crate::TREE_FILE_VERSION), (1, 1));
}
