//! The crate table of `docs/architecture.md` is what cargo sees.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

type Table = BTreeMap<String, BTreeSet<String>>;

fn documented() -> Table {
    let text = std::fs::read_to_string(crate::top().join("docs/architecture.md")).expect("the document is there");
    let rows = text.lines().skip_while(|line| !line.starts_with("| crate |")).skip(2);
    rows.take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
            let uses = cells[2].split_whitespace().map(str::to_owned).collect();
            (cells[0].trim_matches('`').to_owned(), uses)
        })
        .collect()
}

fn actual() -> Table {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version=1", "--offline"])
        .current_dir(crate::top())
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let names: BTreeSet<_> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    let mut table = Table::new();
    for package in packages.iter().filter(|package| package["name"] != "outermost") {
        let uses = package["dependencies"].as_array().expect("dependencies").iter();
        let uses = uses.filter(|dependency| dependency["kind"].is_null() && !dependency["path"].is_null());
        let uses = uses.filter_map(|dependency| dependency["name"].as_str()).filter(|name| names.contains(name));
        table.insert(package["name"].as_str().expect("a name").to_owned(), uses.map(str::to_owned).collect());
    }
    table
}

#[test]
fn the_crate_table_is_true() {
    let (documented, actual) = (documented(), actual());
    assert_eq!(documented, actual, "mend the table in docs/architecture.md (left), or the manifests (right)");
}

#[test]
fn the_crate_table_is_in_order() {
    let text = std::fs::read_to_string(crate::top().join("docs/architecture.md")).expect("the document is there");
    let mut above = BTreeSet::new();
    for line in
        text.lines().skip_while(|line| !line.starts_with("| crate |")).skip(2).take_while(|line| line.starts_with('|'))
    {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        for used in cells[2].split_whitespace() {
            assert!(above.contains(used), "{} uses {used}, which does not stand above it", cells[0]);
        }
        above.insert(cells[0].trim_matches('`').to_owned());
    }
}
