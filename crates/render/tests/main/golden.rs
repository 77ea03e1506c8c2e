//! Real games, frame by frame.

use machine::{Machine, Stop};
use render::{Cast, Pace, Painter, Symbols, Ttyrec};
use wire::Frame;

use crate::terminals::Terminals;

/// Inputs of each game that are looked at.
const INPUTS: usize = 700;

fn top() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates lies in the top").to_path_buf()
}

/// One test for all games, since a process holds one machine.
#[test]
fn terminals_show_every_frame_of_real_games() {
    let mut machine = Machine::open(rom::built_in()).expect("a machine");
    golden_movies(&mut machine);
    strange_writing(&mut machine);
}

/// A hero who writes what is no ASCII into the dust: bytes of 8 bits, markup, what a terminal would obey.
fn strange_writing(machine: &mut Machine) {
    machine.power_on(&wire::PowerOn::from_seed(wire::Seed(5))).expect("a game");
    let (mut painter, mut terminals) = (Painter::new(Symbols::Plain), Terminals::new());
    let keys = b"E-\r<b>Zo\xeb</b> \x9b31m\x90 \xc3\xa9\xff\xad%s\r";
    let (mut frame, mut strange) = (Frame::default(), 0);
    for (number, key) in keys.iter().enumerate() {
        machine.press(wire::Key(*key)).expect("a press");
        machine.frame_into(&mut frame);
        terminals.feed(painter.paint(&frame.screen).as_bytes());
        terminals.check(&frame.screen, Symbols::Plain, &format!("seed 5, key {number}"));
        strange = strange.max(frame.screen.chars.iter().filter(|byte| **byte > 0x7f).count());
    }
    assert!(strange >= 4, "{strange} bytes of 8 bits on the screen: {:?}", frame.screen);
}

fn golden_movies(machine: &mut Machine) {
    let mut decorated = 0;
    for name in ["healer", "samurai", "wizard", "long"] {
        let bytes = std::fs::read(top().join(format!("movies/{name}.movie"))).expect("a golden movie");
        let movie = movie::read(&bytes).expect("a movie").movie;
        machine.power_on(&movie.header.power_on).expect("a game");
        let symbols = Symbols::of(&movie.header.power_on);
        let (mut painter, mut terminals) = (Painter::new(symbols), Terminals::new());
        let (mut ttyrec, mut cast) = (Ttyrec::new(symbols, Pace::default()), Cast::new(symbols, Pace::default()));
        let (mut ttyrec_bytes, mut cast_bytes, mut inputs) = (0, 0, 0);
        let mut frame = Frame::default();
        for (boundary, step) in std::iter::once(None).chain(movie.steps.iter().map(Some)).take(INPUTS + 1).enumerate() {
            let what = format!("{name}.movie, boundary {boundary}");
            if let Some(step) = step {
                let stop = machine.press(step.key).expect("a press");
                assert_eq!(machine.play_digest().check(), step.check, "{what}");
                assert!(stop == Stop::Boundary || boundary == movie.steps.len(), "{what}: {stop:?}");
            }
            machine.frame_into(&mut frame);
            terminals.feed(painter.paint(&frame.screen).as_bytes());
            terminals.check(&frame.screen, symbols, &what);
            decorated += frame.screen.attributes.iter().filter(|bits| **bits != 0).count();
            ttyrec_bytes += ttyrec.frame(boundary as u64, &frame.screen).len();
            cast_bytes += cast.frame(boundary as u64, &frame.screen).len();
            inputs = boundary;
        }
        // Differences, not whole screens: well below the 1,920 bytes of a screen's letters alone.
        assert!(inputs > 100 && ttyrec_bytes / inputs < 400, "{name}: {ttyrec_bytes} bytes of {inputs} inputs");
        assert!(cast_bytes / inputs < 500, "{name}: {cast_bytes} bytes of {inputs} inputs");
    }
    assert!(decorated > 100, "some cells have attributes: {decorated}");
}
