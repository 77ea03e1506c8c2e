use wire::{Boundary, Check, Key, PlayDigest, Seed, StateDigest};

use crate::format::{Account, Finish, Header};
use crate::rules::Refusal;

/// A straight line from power-on: what a replay must do and what it must find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Movie {
    /// What plays, and from where.
    pub header: Header,
    /// The inputs; the one at index `i` is pressed at boundary `i`.
    pub steps: Vec<Step>,
    /// What else happens or is known at boundaries: ordered by boundary, at one boundary in the order in which it happens.
    pub marks: Vec<Mark>,
    /// How it ends.
    pub finish: Finish,
    /// What happened on the way.
    pub account: Account,
}

/// One input and what play must be after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The key.
    pub key: Key,
    /// The play digest's first bits after it.
    pub check: Check,
}

/// What happens or is known at a boundary and consumes none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The boundary.
    pub at: Boundary,
    /// What it is.
    pub kind: MarkKind,
}

/// The kinds of mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// Both generators get new seeds.
    Reseed {
        /// For the generator that decides play.
        core: Seed,
        /// For the generator that decides looks.
        display: Seed,
    },
    /// An operator's edit; its text is that of a [`wire::Edit`].
    Debug {
        /// Its arguments.
        args: String,
    },
    /// What the machine is, after the marks before this one.
    Digests {
        /// Under any ROM.
        play: PlayDigest,
        /// Under the header's ROM.
        state: Option<StateDigest>,
    },
}

/// A key that killed its worker and so was never pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The boundary at which it was sent.
    pub at: Boundary,
    /// The key.
    pub key: Key,
}

/// Keys that were sent and of which nobody knows whether they were pressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unacknowledged {
    /// The boundary at which the first of them was sent.
    pub at: Boundary,
    /// The keys.
    pub keys: Vec<Key>,
}

/// One thing that a replay does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act<'a> {
    /// Press these keys, the first at boundary `at`; give every check to the judge.
    Press {
        /// Where the machine is.
        at: Boundary,
        /// The inputs.
        steps: &'a [Step],
    },
    /// Give both generators new seeds.
    Reseed {
        /// Where the machine is.
        at: Boundary,
        /// For the generator that decides play.
        core: Seed,
        /// For the generator that decides looks.
        display: Seed,
    },
    /// Make an operator's edit.
    Debug {
        /// Where the machine is.
        at: Boundary,
        /// Its arguments.
        args: &'a str,
    },
    /// Give the machine's digests to the judge.
    Compare {
        /// Where the machine is.
        at: Boundary,
    },
}

impl Mark {
    /// True for digests at boundary `at`. With no other marks before them, they are those of the arrival there.
    pub(crate) fn is_arrival(&self, at: Boundary) -> bool {
        self.at == at && matches!(self.kind, MarkKind::Digests { .. })
    }
}

impl Movie {
    /// A movie of nothing but power-on.
    #[must_use]
    pub fn new(header: Header) -> Self {
        Self { header, steps: Vec::new(), marks: Vec::new(), finish: Finish::Unknown, account: Account::default() }
    }

    /// How many inputs the straight line has: the boundary that it leads to.
    #[must_use]
    pub fn boundary(&self) -> Boundary {
        Boundary(self.steps.len() as u64)
    }

    /// What a replay from power-on does, in order, at most `keys_max` (at least 1) keys at a time.
    pub fn acts(&self, keys_max: usize) -> impl Iterator<Item = Act<'_>> {
        let mut steps = self.steps.as_slice();
        let mut marks = self.marks.iter().peekable();
        let mut at = Boundary(0);
        std::iter::from_fn(move || {
            if let Some(mark) = marks.next_if(|mark| mark.at <= at) {
                return Some(match &mark.kind {
                    MarkKind::Reseed { core, display } => Act::Reseed { at, core: *core, display: *display },
                    MarkKind::Debug { args } => Act::Debug { at, args },
                    MarkKind::Digests { .. } => Act::Compare { at },
                });
            }
            let free = marks.peek().map_or(u64::MAX, |mark| mark.at.0 - at.0);
            let count = usize::try_from(free).unwrap_or(usize::MAX).min(steps.len()).min(keys_max.max(1));
            let (now, rest) = steps.split_at(count);
            let from = at;
            at = Boundary(at.0 + count as u64);
            steps = rest;
            (count > 0).then_some(Act::Press { at: from, steps: now })
        })
    }

    /// The boundary of the last digests.
    pub(crate) fn digests_at(&self) -> Option<u64> {
        let digests = |mark: &&Mark| matches!(mark.kind, MarkKind::Digests { .. });
        self.marks.iter().rfind(digests).map(|mark| mark.at.0)
    }

    /// What happened beside the straight line: the account without what the line itself adds up to.
    pub(crate) fn past(&self) -> Result<Account, Refusal> {
        let reseeds = self.count(|kind| matches!(kind, MarkKind::Reseed { .. }));
        let debugs = self.count(|kind| matches!(kind, MarkKind::Debug { .. }));
        let less = |count: u64, part: u64| count.checked_sub(part).ok_or(Refusal::Account);
        Ok(Account {
            inputs: less(self.account.inputs, self.boundary().0)?,
            reseeds: less(self.account.reseeds, reseeds)?,
            debugs: less(self.account.debugs, debugs)?,
            ..self.account
        })
    }

    pub(crate) fn count(&self, is_counted: impl Fn(&MarkKind) -> bool) -> u64 {
        self.marks.iter().filter(|mark| is_counted(&mark.kind)).count() as u64
    }

    /// Drops what lies beyond boundary `to`: the machine is back where it first came to that boundary, so that marks
    /// at the boundary itself stay only where no reseed or edit lies before them.
    pub(crate) fn rewind(&mut self, to: Boundary) -> (Vec<Step>, Vec<Mark>) {
        let steps = usize::try_from(to.0).unwrap_or(usize::MAX).min(self.steps.len());
        let before = self.marks.partition_point(|mark| mark.at < to);
        let arrival = self.marks.iter().skip(before).take_while(|mark| mark.is_arrival(to)).count();
        (self.steps.split_off(steps), self.marks.split_off(before + arrival))
    }
}
