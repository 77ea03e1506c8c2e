//! The demo.

use crate::bed::Bed;

#[test]
fn it_tells_its_story_in_plain_text_and_leaves_one_file() {
    let bed = Bed::new();
    let ran = bed.expect(0, "demo");
    for part in ["Eight forks", "f8", "What differs", "Adopted", "exact, byte for byte", "desync: after input", "µs"] {
        assert!(ran.out.contains(part), "{part} is missing:\n{}", ran.out);
    }
    assert!(!ran.out.contains('\x1b'), "no colours where there is no terminal");
    let files = bed.files();
    assert_eq!(files.len(), 1, "{files:?}");
    assert!(ran.out.contains(&files[0]), "the movie is named");
    let widest = ran.out.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(82), "a line is {widest:?} columns wide:\n{}", ran.out);
    bed.expect(0, &format!("movie verify {}", files[0]));
    let claimed = bed.expect(0, &format!("movie info {} --json", files[0])).json()["claimed"].clone();
    let at_least = |count: &str, least| claimed[count].as_u64().is_some_and(|given| given >= least);
    assert!(at_least("forks", 8) && at_least("lines", 8) && at_least("adoptions", 1), "{claimed}");
}
