//! A machine of three numbers that stands in for the game, and journals of random play on it.

use movie::{Act, Finish, Header, JournalWriter, Judge, Mark, MarkKind, Movie, Recording, Step, Verdict, read};
use wire::{Boundary, Check, EndKind, Ended, Key, PlayDigest, PowerOn, Seed, StateDigest};

pub(crate) const ENGINE: &str = "toy-engine";
pub(crate) const ROM: &str = "toy-rom-1";
pub(crate) const OTHER_ROM: &str = "toy-rom-2";

pub(crate) fn header() -> Header {
    Header {
        engine_id: ENGINE.to_owned(),
        rom_id: ROM.to_owned(),
        nethack_version: "3.6.7".to_owned(),
        creator: "toy 1".to_owned(),
        power_on: PowerOn::from_seed(Seed(7)),
    }
}

/// Random numbers that are the same on every machine.
#[derive(Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0) % limit
    }
}

fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// `Y` does what `y` does; `d` and `e` differ only after the key that follows them; `Q` ends the game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Toy {
    play: u64,
    hidden: u64,
    rom: &'static str,
    ended: bool,
}

impl Toy {
    pub(crate) fn power_on(record: &PowerOn, rom: &'static str) -> Self {
        Self { play: mix(record.core_seed.0), hidden: 0, rom, ended: false }
    }

    pub(crate) fn press(&mut self, key: Key) -> Check {
        assert!(!self.ended, "the game is over");
        let (seen, hidden) = match key.0 {
            b'Y' => (b'y', 0),
            b'e' => (b'd', 1),
            byte => (byte, 0),
        };
        self.play = mix(self.play ^ u64::from(seen) ^ (self.hidden << 40));
        self.hidden = hidden;
        self.ended = key.0 == b'Q';
        self.play_digest().check()
    }

    pub(crate) fn reseed(&mut self, core: Seed, display: Seed) {
        self.play = mix(core.0 ^ mix(display.0));
    }

    pub(crate) fn play_digest(&self) -> PlayDigest {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&mix(self.play ^ 1).to_le_bytes());
        bytes[8..].copy_from_slice(&mix(self.play ^ 2).to_le_bytes());
        PlayDigest(bytes)
    }

    pub(crate) fn state_digest(&self) -> StateDigest {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&mix(self.play ^ 3).to_le_bytes());
        bytes[8..16].copy_from_slice(&self.hidden.to_le_bytes());
        bytes[16..16 + self.rom.len()].copy_from_slice(self.rom.as_bytes());
        StateDigest(bytes)
    }

    pub(crate) fn ended(&self) -> Option<Ended> {
        self.ended.then(|| Ended {
            kind: EndKind::Quit,
            how: Some(12),
            text: "quit".to_owned(),
            xlog: Some("points=0\tdeath=quit".to_owned()),
        })
    }
}

/// Replays as whoever verifies a movie does.
pub(crate) fn judge(recording: &Recording, rom: &'static str) -> Verdict {
    let mut judge = Judge::new(recording, ENGINE, rom);
    if judge.is_decided() {
        return judge.finish();
    }
    let mut toy = Toy::power_on(&recording.movie.header.power_on, rom);
    for act in recording.movie.acts(3) {
        match act {
            Act::Press { at, steps } => {
                assert_eq!(at, judge.boundary());
                for step in steps {
                    judge.check(toy.press(step.key));
                    if let Some(ended) = toy.ended() {
                        judge.ended(&ended);
                        break;
                    }
                }
            }
            Act::Reseed { core, display, .. } => toy.reseed(core, display),
            Act::Compare { .. } => {
                let state = judge.compares_states().then(|| toy.state_digest());
                judge.digests(toy.play_digest(), state);
            }
            Act::Debug { .. } => unreachable!("the judge has refused it"),
        }
        if judge.is_decided() {
            break;
        }
    }
    judge.finish()
}

/// The verdict on a file, read errors included.
pub(crate) fn verdict(bytes: &[u8], rom: &'static str) -> Verdict {
    read(bytes).map_or_else(Verdict::from, |recording| judge(&recording, rom))
}

/// A straight line with the machine as it first came to each of its boundaries.
#[derive(Clone)]
pub(crate) struct Line {
    pub(crate) movie: Movie,
    arrivals: Vec<Toy>,
    pub(crate) now: Toy,
}

impl Line {
    fn new() -> Self {
        let toy = Toy::power_on(&header().power_on, ROM);
        Self { movie: Movie::new(header()), arrivals: vec![toy.clone()], now: toy }
    }

    pub(crate) fn at(&self) -> Boundary {
        self.movie.boundary()
    }

    pub(crate) fn press(&mut self, key: Key) -> Check {
        let check = self.now.press(key);
        self.movie.steps.push(Step { key, check });
        self.arrivals.push(self.now.clone());
        check
    }

    pub(crate) fn mark(&mut self, kind: MarkKind) {
        if let MarkKind::Reseed { core, display } = &kind {
            self.now.reseed(*core, *display);
        }
        self.movie.marks.push(Mark { at: self.at(), kind });
    }

    fn seek(&mut self, to: usize) {
        self.movie.steps.truncate(to);
        self.arrivals.truncate(to + 1);
        self.now = self.arrivals[to].clone();
        let mut reseeded = false;
        self.movie.marks.retain(|mark| {
            let here = mark.at.0 == to as u64;
            reseeded |= here && !matches!(mark.kind, MarkKind::Digests { .. });
            mark.at.0 < to as u64 || (here && !reseeded)
        });
    }

    /// What of this line lies at and beyond a boundary.
    pub(crate) fn from(&self, base: usize) -> (&[Step], Vec<Mark>) {
        let marks = self.movie.marks.iter().filter(|mark| mark.at.0 >= base as u64);
        (&self.movie.steps[base..], marks.cloned().collect())
    }
}

/// A journal of random play, and what it should say at each length that it has had.
pub(crate) struct Play {
    random: Random,
    pub(crate) writer: JournalWriter<Vec<u8>>,
    pub(crate) line: Line,
    /// Length of the file after each call, and the straight line then.
    pub(crate) stages: Vec<(usize, Movie)>,
}

impl Play {
    pub(crate) fn new(seed: u64) -> Self {
        let mut play = Self {
            random: Random(seed),
            writer: JournalWriter::create(&header(), Vec::new()).unwrap(),
            line: Line::new(),
            stages: Vec::new(),
        };
        play.stage();
        play.digests();
        play
    }

    fn stage(&mut self) {
        let mut movie = self.line.movie.clone();
        movie.account = self.writer.account();
        self.stages.push((self.writer.bytes(), movie));
    }

    fn key(&mut self) -> Key {
        match self.random.below(10) {
            0 => Key(b'\x1b'),
            1 => Key(b'^'),
            2 => Key(0x80 | self.random.below(128) as u8),
            _ => Key(b"yYdehjkl"[self.random.below(8) as usize]),
        }
    }

    pub(crate) fn press(&mut self, keys: &[Key], pressed: &[Key]) {
        self.writer.send(keys).unwrap();
        self.stage();
        let checks: Vec<Check> = pressed.iter().map(|key| self.line.press(*key)).collect();
        self.writer.done(pressed, &checks).unwrap();
        self.stage();
    }

    pub(crate) fn digests(&mut self) {
        let (play, state) = (self.line.now.play_digest(), Some(self.line.now.state_digest()));
        self.writer.digests(play, state).unwrap();
        self.line.mark(MarkKind::Digests { play, state });
        self.stage();
    }

    fn reseed(&mut self) {
        let (core, display) = (Seed(self.random.below(u64::MAX)), Seed(self.random.below(9)));
        self.writer.reseed(core, display).unwrap();
        self.line.mark(MarkKind::Reseed { core, display });
        self.stage();
    }

    pub(crate) fn seek(&mut self) {
        let to = self.random.below(self.line.at().0 + 1) as usize;
        self.writer.seek(Boundary(to as u64)).unwrap();
        self.line.seek(to);
        self.stage();
    }

    pub(crate) fn adopt(&mut self) {
        let base = self.random.below(self.line.at().0 + 1) as usize;
        let mut fork = self.line.clone();
        fork.seek(base);
        for _ in 0..self.random.below(4) {
            if self.random.below(2) == 0 {
                let core = Seed(self.random.below(u64::MAX));
                fork.mark(MarkKind::Reseed { core, display: Seed(1) });
            }
            for _ in 0..self.random.below(5) {
                let key = self.key();
                fork.press(key);
            }
        }
        let (steps, marks) = fork.from(base);
        self.writer.adopt("f1", Boundary(base as u64), steps, &marks).unwrap();
        self.line = fork;
        self.stage();
    }

    /// One random thing.
    pub(crate) fn go(&mut self) {
        match self.random.below(20) {
            0 => self.seek(),
            1 => self.adopt(),
            2 => self.reseed(),
            3 => {
                self.writer.peek(self.random.below(9), 1).unwrap();
                self.stage();
            }
            4 => {
                let key = self.key();
                self.writer.lost(key).unwrap();
                self.stage();
            }
            5 | 6 => self.digests(),
            7 => {
                let keys: Vec<Key> = (0..3).map(|_| self.key()).collect();
                self.press(&keys, &[keys[0], Key::ENTER, Key::ENTER, keys[1], keys[2]]);
            }
            _ => {
                let keys: Vec<Key> = (0..=self.random.below(6)).map(|_| self.key()).collect();
                let pressed = self.random.below(keys.len() as u64 + 1) as usize;
                self.press(&keys, &keys[..pressed]);
            }
        }
    }

    pub(crate) fn end(&mut self) {
        self.digests();
        let finish = self.line.now.ended().map_or(Finish::Open, Finish::Ended);
        self.writer.end(finish.clone()).unwrap();
        self.line.movie.finish = finish;
        self.stage();
    }

    /// A closed journal of `things` random things.
    pub(crate) fn closed(seed: u64, things: usize) -> Self {
        let mut play = Self::new(seed);
        (0..things).for_each(|_| play.go());
        play.end();
        play
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.writer.get_ref()
    }
}
