//! NetHack's random generator, ISAAC-64 by R. J. Jenkins (1996), as far as it goes on by itself: its tables are a
//! function of a seed, or of earlier tables, and a count, which is far shorter than they are.

/// Words of each of the two tables.
const WORDS: usize = 256;
/// `isaac64_ctx`: how many results are left (4 bytes, 4 of padding), results, memory, `a`, `b`, `c`.
pub(crate) const CONTEXT_BYTES: usize = 8 + 2 * 8 * WORDS + 3 * 8;
/// The most refills that are worth counting: beyond, they take longer than the tables are worth.
pub(crate) const REFILLS_MAX: u64 = 4_096;
/// The golden ratio, from which every seeding starts.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c13;

/// The bytes of a generator in an image.
pub(crate) type ContextBytes = [u8; CONTEXT_BYTES];

/// How to get from one generator's bytes to another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Refilled so many times, then drawn down to so many results left.
    Refills { refills: u64, left: u32 },
    /// Seeded anew before that.
    Seeded { seed: u64, refills: u64, left: u32 },
}

#[derive(Clone)]
struct Generator {
    results: [u64; WORDS],
    memory: [u64; WORDS],
    a: u64,
    b: u64,
    c: u64,
}

fn word(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

fn read_table(bytes: &[u8]) -> [u64; WORDS] {
    let mut table = [0; WORDS];
    table.iter_mut().zip(bytes.chunks_exact(8)).for_each(|(to, from)| *to = word(from));
    table
}

/// What is left of a generator's results.
fn left(bytes: &ContextBytes) -> u32 {
    bytes.first_chunk().map_or(0, |word| u32::from_le_bytes(*word))
}

fn refill_count(bytes: &ContextBytes) -> u64 {
    word(&bytes[CONTEXT_BYTES - 8..])
}

impl Generator {
    fn read(bytes: &ContextBytes) -> Self {
        let (_, rest) = bytes.split_at(8);
        let (results, rest) = rest.split_at(8 * WORDS);
        let (memory, rest) = rest.split_at(8 * WORDS);
        let results = read_table(results);
        Self { results, memory: read_table(memory), a: word(rest), b: word(&rest[8..]), c: word(&rest[16..]) }
    }

    fn write(&self, left: u32, bytes: &mut ContextBytes) {
        let words =
            [u64::from(left)].into_iter().chain(self.results).chain(self.memory).chain([self.a, self.b, self.c]);
        bytes.chunks_exact_mut(8).zip(words).for_each(|(to, word)| to.copy_from_slice(&word.to_le_bytes()));
    }

    fn seeded(seed: u64) -> Self {
        let mut x = [GOLDEN; 8];
        (0..4).for_each(|_| mix(&mut x));
        let mut memory = [0; WORDS];
        let mut results = [0; WORDS];
        results[0] = seed;
        for (block, from) in memory.chunks_exact_mut(8).zip(results.chunks_exact(8)) {
            x.iter_mut().zip(from).for_each(|(x, word)| *x = x.wrapping_add(*word));
            mix(&mut x);
            block.copy_from_slice(&x);
        }
        for block in memory.chunks_exact_mut(8) {
            x.iter_mut().zip(&*block).for_each(|(x, word)| *x = x.wrapping_add(*word));
            mix(&mut x);
            block.copy_from_slice(&x);
        }
        let mut generator = Self { results, memory, a: 0, b: 0, c: 0 };
        generator.refill();
        generator
    }

    fn refill(&mut self) {
        self.c = self.c.wrapping_add(1);
        let (mut a, mut b) = (self.a, self.b.wrapping_add(self.c));
        let memory = &mut self.memory;
        for index in 0..WORDS {
            let mixed = match index % 4 {
                0 => !(a ^ a << 21),
                1 => a ^ a >> 5,
                2 => a ^ a << 12,
                _ => a ^ a >> 33,
            };
            a = mixed.wrapping_add(memory[(index + WORDS / 2) % WORDS]);
            let x = memory[index];
            let y = memory[(x >> 3) as usize % WORDS].wrapping_add(a).wrapping_add(b);
            memory[index] = y;
            b = memory[(y >> 11) as usize % WORDS].wrapping_add(x);
            self.results[index] = b;
        }
        (self.a, self.b) = (a, b);
    }
}

fn mix(x: &mut [u64; 8]) {
    const SHIFTS: [u32; 8] = [9, 9, 23, 15, 14, 20, 17, 14];
    for (index, shift) in SHIFTS.into_iter().enumerate() {
        let far = x[(index + 7) % 8];
        x[index] = x[index].wrapping_sub(x[(index + 4) % 8]);
        x[(index + 5) % 8] ^= if index % 2 == 0 { far >> shift } else { far << shift };
        x[(index + 7) % 8] = far.wrapping_add(x[index]);
    }
}

/// Finds the way from one generator's bytes to another's; `seed` is a seed that the other may have been given since.
pub(crate) fn way(from: &ContextBytes, to: &ContextBytes, seed: Option<u64>) -> Option<Way> {
    let left = left(to);
    let refills = refill_count(to).wrapping_sub(refill_count(from));
    let direct = Way::Refills { refills, left };
    if leads(from, to, direct) {
        return Some(direct);
    }
    // Seeding refills once.
    let seeded = Way::Seeded { seed: seed?, refills: refill_count(to).wrapping_sub(1), left };
    leads(from, to, seeded).then_some(seeded)
}

fn leads(from: &ContextBytes, to: &ContextBytes, way: Way) -> bool {
    let mut reached = *from;
    go(&mut reached, way) && reached == *to
}

/// Leads a generator's bytes on; false, and nothing is changed, for a way that is too long.
pub(crate) fn go(bytes: &mut ContextBytes, way: Way) -> bool {
    let (mut generator, refills, left) = match way {
        Way::Refills { refills: 0, left } => {
            bytes[..4].copy_from_slice(&left.to_le_bytes());
            return true;
        }
        Way::Refills { refills, .. } | Way::Seeded { refills, .. } if refills > REFILLS_MAX => return false,
        Way::Refills { refills, left } => (Generator::read(bytes), refills, left),
        Way::Seeded { seed, refills, left } => (Generator::seeded(seed), refills, left),
    };
    (0..refills).for_each(|_| generator.refill());
    generator.write(left, bytes);
    true
}

#[cfg(test)]
mod tests {
    use wire::{Key, PowerOn, Seed};

    use super::*;
    use crate::Machine;

    fn contexts(machine: &Machine) -> [ContextBytes; 2] {
        let globals = machine.engine().globals();
        machine.engine().contexts().map(|offset| *globals[offset..].first_chunk().unwrap())
    }

    /// The game's own generators are what is to be met.
    #[test]
    fn generators_go_on_as_the_games_own() {
        let mut machine = Machine::open(rom::built_in()).unwrap();
        machine.power_on(&PowerOn::from_seed(Seed(1))).unwrap();
        let start = machine.save().unwrap();
        for seed in [0, 1, 0xdead_beef, u64::MAX] {
            machine.load(&start).unwrap();
            let before = contexts(&machine);
            machine.reseed(Seed(seed), Seed(!seed)).unwrap();
            for (index, (before, after)) in before.iter().zip(contexts(&machine)).enumerate() {
                let given = [seed, !seed][index];
                let seeded = Way::Seeded { seed: given, refills: 0, left: 256 };
                assert_eq!(way(before, &after, Some(given)), Some(seeded), "seed {seed:#x}");
                assert_eq!(way(before, &after, Some(given ^ 1)), None, "another seed than {seed:#x}");
            }
            let seeded = contexts(&machine);
            let mut most = 0;
            for _ in 0..16 {
                for key in b"\x1b\x1b20s" {
                    machine.press(Key(*key)).unwrap();
                }
                let Some(Way::Refills { refills, .. }) = way(&seeded[0], &contexts(&machine)[0], None) else {
                    panic!("seed {seed:#x}: no way after {most} refills");
                };
                most = most.max(refills);
            }
            assert!(most > 0, "seed {seed:#x}: {most} refills");
        }
    }

    #[test]
    fn a_way_without_end_is_refused() {
        let mut bytes = [7; CONTEXT_BYTES];
        let before = bytes;
        for refills in [REFILLS_MAX + 1, u64::MAX] {
            assert!(!go(&mut bytes, Way::Refills { refills, left: 1 }) && bytes == before);
            assert!(!go(&mut bytes, Way::Seeded { seed: 1, refills, left: 1 }) && bytes == before);
        }
        assert!(go(&mut bytes, Way::Refills { refills: REFILLS_MAX, left: 1 }));
    }
}
