//! What the judge says where the file itself is whole.

use movie::{CannotJudge, Difference, Finish, Judge, Mark, MarkKind, Movie, Recording, Verdict, export, read};
use wire::{Boundary, EndKind, Ended, Key, PlayDigest, StateDigest};

use crate::toy::{ENGINE, OTHER_ROM, Play, ROM, judge, verdict};

fn recording(keys: &[u8], change: impl FnOnce(&mut Movie)) -> Recording {
    let mut play = Play::new(1);
    let keys: Vec<Key> = keys.iter().copied().map(Key).collect();
    play.press(&keys, &keys);
    play.end();
    let mut movie = read(play.bytes()).unwrap().movie;
    change(&mut movie);
    read(&export(&movie).unwrap()).unwrap()
}

fn difference(verdict: &Verdict) -> (u64, &Difference) {
    match verdict {
        Verdict::Desync(desync) => (desync.boundary.0, &desync.difference),
        other => panic!("{other}"),
    }
}

#[test]
fn the_four_words_and_their_exit_codes() {
    let whole = recording(b"hjkl", |_| {});
    assert_eq!((judge(&whole, ROM).name(), judge(&whole, ROM).exit_code()), ("exact", 0));
    assert_eq!((judge(&whole, OTHER_ROM).name(), judge(&whole, OTHER_ROM).exit_code()), ("same-play", 0));
    let altered = Verdict::Altered { line: 3 };
    assert_eq!((altered.name(), altered.exit_code()), ("altered", 1));
    let forged = judge(&recording(b"hjkl", |movie| movie.steps[2].key = Key(b'y')), ROM);
    assert_eq!((forged.name(), forged.exit_code()), ("desync", 1));
    assert!(forged.to_string().starts_with("desync: after input 2 (y), at boundary 3, play differs"), "{forged}");
    let unmarked = |movie: &mut movie::Movie| {
        movie.steps[0].key = Key(b'y');
        movie.marks.clear();
    };
    let first = judge(&recording(b"hjkl", unmarked), ROM).to_string();
    assert!(first.contains("the power-on record, the engine or this input is another"), "{first}");
    // Only the first input tells of the power-on record, whatever digests there are.
    let later = |movie: &mut movie::Movie| {
        movie.steps[2].key = Key(b'y');
        movie.marks.clear();
    };
    assert!(matches!(difference(&judge(&recording(b"hjkl", later), ROM)), (3, Difference::Check { .. })));
    let unread = verdict(b"hello\n", ROM);
    assert_eq!((unread.name(), unread.exit_code()), ("cannot-judge", 3));
}

#[test]
fn another_engine_is_named_beside_ours() {
    let verdict = Judge::new(&recording(b"hj", |_| {}), "other-engine", ROM).finish();
    let expected = CannotJudge::OtherEngine { movie: ENGINE.to_owned(), ours: "other-engine".to_owned() };
    assert_eq!(verdict, Verdict::CannotJudge(expected));
    assert!(verdict.to_string().contains(ENGINE) && verdict.to_string().contains("other-engine"));
}

#[test]
fn a_record_that_no_engine_takes_and_an_edit_are_not_judged() {
    let refused = recording(b"hj", |movie| movie.header.power_on.options = "playmode:debug".to_owned());
    assert!(matches!(judge(&refused, ROM), Verdict::CannotJudge(CannotJudge::PowerOn(_))));
    let edited = recording(b"hj", |movie| {
        let at = Boundary(1);
        movie.marks.insert(1, Mark { at, kind: MarkKind::Debug { args: "{\"hp\":99}".to_owned() } });
        movie.account.debugs = 1;
    });
    assert_eq!(judge(&edited, ROM), Verdict::CannotJudge(CannotJudge::Debug(Boundary(1))));
}

#[test]
fn digests_differ_though_checks_agree() {
    let change = |movie: &mut Movie, play_bit: u8, state_bit: u8| {
        if let Some(MarkKind::Digests { play, state: Some(state) }) = movie.marks.last_mut().map(|mark| &mut mark.kind)
        {
            play.0[9] ^= play_bit;
            state.0[9] ^= state_bit;
        }
    };
    let play = recording(b"hjkl", |movie| change(movie, 1, 0));
    for rom in [ROM, OTHER_ROM] {
        assert!(matches!(difference(&judge(&play, rom)), (4, Difference::Play { .. })));
    }
    let at_once = recording(b"hjkl", |movie| {
        movie.marks.truncate(1);
        change(movie, 1, 0);
    });
    let text = judge(&at_once, ROM).to_string();
    assert!(text.starts_with("desync: at power-on, before any input, play differs"), "{text}");
    assert!(text.ends_with(": the power-on record or the engine is another"), "{text}");
    let state = recording(b"hjkl", |movie| change(movie, 0, 1));
    assert!(matches!(difference(&judge(&state, ROM)), (4, Difference::State { .. })));
    assert_eq!(judge(&state, OTHER_ROM), Verdict::SamePlay);
}

#[test]
fn a_game_ends_where_the_movie_says() {
    let ended = recording(b"hjQ", |_| {});
    assert_eq!(judge(&ended, ROM), Verdict::Exact);
    let unknown = recording(b"hjQ", |movie| movie.finish = Finish::Unknown);
    assert_eq!(judge(&unknown, ROM), Verdict::Exact);
    let open = recording(b"hjQ", |movie| movie.finish = Finish::Open);
    assert!(matches!(difference(&judge(&open, ROM)), (3, Difference::Finish { actual: Some(_), .. })));
    let early = recording(b"hj", |movie| movie.finish = ended.movie.finish.clone());
    assert!(matches!(difference(&judge(&early, ROM)), (2, Difference::Finish { actual: None, .. })));
    let otherwise = recording(b"hjQ", |movie| {
        if let Finish::Ended(ended) = &mut movie.finish {
            ended.text = "ascended".to_owned();
        }
    });
    assert!(matches!(difference(&judge(&otherwise, ROM)), (3, Difference::Finish { .. })));
    let goes_on = recording(b"hjQ", |movie| {
        let step = movie.steps[0];
        movie.steps.push(step);
        movie.account.inputs += 1;
        movie.finish = Finish::Open;
    });
    let verdict = judge(&goes_on, ROM);
    assert!(matches!(difference(&verdict), (3, Difference::EndedEarly { inputs_left: 1, .. })), "{verdict}");
}

#[test]
fn an_engine_fails_in_its_own_words() {
    let failed = |kind, text: &str| Ended { kind, how: None, text: text.to_owned(), xlog: None };
    let movie = recording(b"hj", |movie| movie.finish = Finish::Ended(failed(EndKind::Crashed, "signal 11")));
    let told = |ended: &Ended| {
        let mut judge = Judge::new(&movie, ENGINE, OTHER_ROM);
        judge.digests(digests(&movie, 0).0, None);
        movie.movie.steps.iter().for_each(|step| judge.check(step.check));
        judge.digests(digests(&movie, 1).0, None);
        judge.ended(ended);
        judge.finish()
    };
    assert_eq!(told(&failed(EndKind::Crashed, "signal 7")), Verdict::SamePlay);
    assert!(matches!(told(&failed(EndKind::Hung, "signal 11")), Verdict::Desync(_)));
}

fn digests(recording: &Recording, index: usize) -> (PlayDigest, Option<StateDigest>) {
    match &recording.movie.marks[index].kind {
        MarkKind::Digests { play, state } => (*play, *state),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_replay_that_leaves_something_out_proves_nothing() {
    let movie = recording(b"hj", |_| {});
    let [first, last] = [digests(&movie, 0), digests(&movie, 1)];
    let checks: Vec<_> = movie.movie.steps.iter().map(|step| step.check).collect();
    let cannot = |verdict| matches!(verdict, Verdict::CannotJudge(CannotJudge::Incomplete(_)));

    assert!(cannot(Judge::new(&movie, ENGINE, ROM).finish()));

    let mut no_digests = Judge::new(&movie, ENGINE, ROM);
    no_digests.check(checks[0]);
    assert!(cannot(no_digests.finish()));

    let mut no_state = Judge::new(&movie, ENGINE, ROM);
    no_state.digests(first.0, None);
    assert!(cannot(no_state.finish()));

    let mut no_last_input = Judge::new(&movie, ENGINE, ROM);
    no_last_input.digests(first.0, first.1);
    no_last_input.check(checks[0]);
    assert!(cannot(no_last_input.finish()));

    let mut no_last_digests = Judge::new(&movie, ENGINE, ROM);
    no_last_digests.digests(first.0, first.1);
    checks.iter().for_each(|check| no_last_digests.check(*check));
    assert!(cannot(no_last_digests.finish()));

    let mut one_more = Judge::new(&movie, ENGINE, ROM);
    one_more.digests(first.0, first.1);
    checks.iter().for_each(|check| one_more.check(*check));
    one_more.digests(last.0, last.1);
    one_more.check(checks[0]);
    assert!(cannot(one_more.finish()));

    let mut lost = Judge::new(&movie, ENGINE, ROM);
    lost.digests(first.0, first.1);
    lost.give_up("worker lost");
    assert!(matches!(lost.finish(), Verdict::CannotJudge(CannotJudge::Worker(_))));
}

#[test]
fn an_edit_that_is_refused_now_is_a_difference() {
    let movie = recording(b"hj", |_| {});
    let mut judge = Judge::new(&movie, ENGINE, ROM);
    judge.edit_refused("no such monster");
    assert!(judge.is_decided());
    let verdict = judge.finish();
    assert!(matches!(difference(&verdict), (0, Difference::Edit { .. })));
    assert!(verdict.to_string().contains("an operator's edit can't be made again: no such monster"), "{verdict}");
}

#[test]
fn the_judge_says_what_it_compared() {
    let movie = recording(b"hjk", |_| {});
    let mut judge = Judge::new(&movie, ENGINE, ROM);
    let (play, state) = digests(&movie, 0);
    judge.digests(play, state);
    movie.movie.steps.iter().for_each(|step| judge.check(step.check));
    let compared = judge.compared();
    assert_eq!((compared.checks, compared.play_digests, compared.state_digests), (3, 1, 1));
}
