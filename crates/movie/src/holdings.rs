use crate::format::Account;
use crate::movie::{MarkKind, Movie};

/// What a movie holds or claims beside plain play: what a verdict on its replay leaves unsaid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holdings {
    /// An operator's edits on the straight line. A replay makes them again.
    pub edits: u64,
    /// Reseeds on the straight line. A replay makes them again.
    pub reseeds: u64,
    /// Whether the power-on record lets debug and explore mode be entered.
    pub debug_mode: bool,
    /// Inputs of the straight line.
    pub inputs: u64,
    /// What the movie says of the way to it. No replay tells whether that is all.
    pub claimed: Account,
}

impl Holdings {
    /// What a movie holds.
    #[must_use]
    pub fn of(movie: &Movie) -> Self {
        Self {
            edits: movie.count(|kind| matches!(kind, MarkKind::Debug { .. })),
            reseeds: movie.count(|kind| matches!(kind, MarkKind::Reseed { .. })),
            debug_mode: movie.header.power_on.debug,
            inputs: movie.boundary().0,
            claimed: movie.account,
        }
    }

    /// All of it in one line of plain words; nothing where a game was only played.
    #[must_use]
    pub fn in_words(&self) -> Option<String> {
        let mut words = Vec::new();
        if self.edits > 0 {
            words.push(format!("an operator changed this game by hand {}", counted(self.edits, "time", "times")));
        }
        if self.reseeds > 0 {
            words.push(format!("its luck was set anew {}", counted(self.reseeds, "time", "times")));
        }
        if self.debug_mode {
            words.push("its power-on record allows debug mode".to_owned());
        }
        let claims = self.claims();
        if !claims.is_empty() {
            words.push(format!("claims: {}", claims.join(", ")));
        }
        (!words.is_empty()).then(|| words.join("; "))
    }

    /// What the account has beyond the straight line.
    fn claims(&self) -> Vec<String> {
        let Account { inputs, peeks, forks, lines, seeks, adoptions, reseeds, debugs, lost: _ } = self.claimed;
        let less = u64::saturating_sub;
        [
            (peeks, "look ahead", "looks ahead"),
            (forks, "fork", "forks"),
            (lines, "line tried", "lines tried"),
            (seeks, "seek", "seeks"),
            (adoptions, "fork adopted", "forks adopted"),
            (less(inputs, self.inputs), "input taken back", "inputs taken back"),
            (less(reseeds, self.reseeds), "reseed taken back", "reseeds taken back"),
            (less(debugs, self.edits), "edit taken back", "edits taken back"),
        ]
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| counted(count, one, many))
        .collect()
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_play_has_nothing_to_tell() {
        let claimed = Account { inputs: 40, lost: 2, ..Account::default() };
        assert_eq!(Holdings { inputs: 40, claimed, ..Holdings::default() }.in_words(), None);
        assert_eq!(Holdings::default().in_words(), None);
    }

    #[test]
    fn all_that_is_held_or_claimed_is_told() {
        let claimed = Account { inputs: 40, reseeds: 1, debugs: 6, ..Account::default() };
        let edited = Holdings { inputs: 40, edits: 6, reseeds: 1, debug_mode: true, claimed };
        assert_eq!(
            edited.in_words().unwrap(),
            "an operator changed this game by hand 6 times; its luck was set anew 1 time; its power-on record allows \
             debug mode"
        );
        let claimed = Account {
            inputs: 41,
            peeks: 2,
            forks: 3,
            lines: 60,
            seeks: 1,
            adoptions: 1,
            reseeds: 2,
            debugs: 1,
            lost: 0,
        };
        assert_eq!(
            Holdings { inputs: 20, claimed, ..Holdings::default() }.in_words().unwrap(),
            "claims: 2 looks ahead, 3 forks, 60 lines tried, 1 seek, 1 fork adopted, 21 inputs taken back, 2 reseeds \
             taken back, 1 edit taken back"
        );
    }
}
