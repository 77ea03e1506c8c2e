//! Journals of random play: cut anywhere, gone on with, exported.

use movie::{Finish, JournalWriter, ReadError, Verdict, export, read};
use wire::Key;

use crate::toy::{OTHER_ROM, Play, ROM, header, judge, verdict};

#[test]
fn a_journal_cut_at_any_byte_opens_and_verifies_to_its_last_whole_line() {
    for seed in 0..5 {
        let play = Play::closed(seed, 25);
        let bytes = play.bytes();
        for cut in 0..=bytes.len() {
            let whole = play.stages.iter().rev().find(|(length, _)| *length <= cut);
            let Some((length, movie)) = whole else {
                assert_eq!(read(&bytes[..cut]).unwrap_err(), ReadError::Empty, "seed {seed}, cut {cut}");
                continue;
            };
            let recording = read(&bytes[..cut]).unwrap();
            assert_eq!(recording.movie, *movie, "seed {seed}, cut {cut}");
            assert_eq!(recording.whole_bytes, *length, "seed {seed}, cut {cut}");
            assert_eq!(recording.torn_bytes, cut - length, "seed {seed}, cut {cut}");
            assert_eq!(recording.is_closed(), cut == bytes.len(), "seed {seed}, cut {cut}");
            assert_eq!(judge(&recording, ROM), Verdict::Exact, "seed {seed}, cut {cut}");
        }
    }
}

#[test]
fn a_journal_goes_on_after_any_cut() {
    for seed in 0..4 {
        let play = Play::closed(seed, 12);
        for cut in play.stages[0].0..play.bytes().len() {
            let recording = read(&play.bytes()[..cut]).unwrap();
            let kept = play.bytes()[..recording.whole_bytes].to_vec();
            let mut writer = JournalWriter::resume(&recording, kept).unwrap();
            assert_eq!((writer.boundary(), writer.account()), (recording.movie.boundary(), recording.movie.account));
            writer.lost(Key(b'!')).unwrap();
            writer.end(Finish::Open).unwrap();
            let again = read(writer.get_ref()).unwrap();
            assert!(again.is_closed() && again.torn_bytes == 0 && again.broken_chain.is_none());
            assert_eq!(again.movie.steps, recording.movie.steps, "seed {seed}, cut {cut}");
            assert_eq!(again.movie.account.lost, recording.movie.account.lost + 1);
            assert_eq!(judge(&again, ROM), Verdict::Exact, "seed {seed}, cut {cut}");
        }
        let closed = read(play.bytes()).unwrap();
        assert!(JournalWriter::resume(&closed, Vec::new()).is_err());
    }
}

#[test]
fn an_export_is_the_straight_line_and_exports_to_itself() {
    for seed in 0..200 {
        let play = Play::closed(seed, 40);
        let recording = read(play.bytes()).unwrap();
        let exported = recording.export().unwrap();
        let again = read(&exported).unwrap();
        assert_eq!(again.movie, recording.movie, "seed {seed}");
        assert_eq!(again.export().unwrap(), exported, "seed {seed}");
        assert_eq!(verdict(&exported, ROM), Verdict::Exact, "seed {seed}");
        assert_eq!(verdict(&exported, OTHER_ROM), Verdict::SamePlay, "seed {seed}");
        let text = String::from_utf8(exported).unwrap();
        for kind in ["send", "done", "lost", "seek", "adopt", "peek", "past"] {
            assert!(!text.contains(&format!("{{\"{kind}\":")), "seed {seed}: {kind}");
        }
    }
}

#[test]
fn a_movie_is_gone_on_with_and_keeps_its_account() {
    for seed in 0..50 {
        let recording = read(Play::closed(seed, 30).bytes()).unwrap();
        for rom in [ROM, OTHER_ROM] {
            let mut header = header();
            header.rom_id = rom.to_owned();
            let mut writer = JournalWriter::continue_movie(&header, &recording.movie, Vec::new()).unwrap();
            assert_eq!(writer.account(), recording.movie.account, "seed {seed}");
            writer.end(Finish::Open).unwrap();
            let bytes = writer.into_inner();
            let again = read(&bytes).unwrap();
            assert_eq!(again.movie.steps, recording.movie.steps, "seed {seed}");
            assert_eq!(again.movie.account, recording.movie.account, "seed {seed}");
            assert_eq!(verdict(&bytes, rom), Verdict::Exact, "seed {seed}");
            assert_eq!(read(&again.export().unwrap()).unwrap().movie, again.movie, "seed {seed}");
        }
    }
}

#[test]
fn acts_replay_a_movie_whatever_the_batch() {
    let recording = read(Play::closed(3, 60).bytes()).unwrap();
    let pressed = |keys_max| -> Vec<Key> {
        recording
            .movie
            .acts(keys_max)
            .flat_map(|act| match act {
                movie::Act::Press { steps, .. } => {
                    assert!((1..=keys_max.max(1)).contains(&steps.len()));
                    steps.iter().map(|step| step.key).collect()
                }
                _ => Vec::new(),
            })
            .collect()
    };
    let keys: Vec<Key> = recording.movie.steps.iter().map(|step| step.key).collect();
    for keys_max in [0, 1, 2, 7, 1_000_000] {
        assert_eq!(pressed(keys_max), keys);
    }
}

#[test]
fn a_hundred_thousand_keys_stay_under_a_megabyte() {
    let mut worst = Play::new(1);
    for index in 0..100_000_u64 {
        worst.line.press(Key(0x80 | (index % 128) as u8));
        if index % movie::DIGESTS_EVERY == 0 {
            worst.line.mark(movie::MarkKind::Digests {
                play: worst.line.now.play_digest(),
                state: Some(worst.line.now.state_digest()),
            });
        }
    }
    let mut movie = worst.line.movie.clone();
    movie.account.inputs = 100_000;
    let bytes = export(&movie).unwrap();
    assert!(bytes.len() < 1_000_000, "{} bytes", bytes.len());
    assert_eq!(verdict(&bytes, ROM), Verdict::Exact);
}
