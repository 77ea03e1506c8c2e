use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use movie::Account;
use wire::PowerOn;

use crate::lab::Inner;
use crate::slot::Slot;

/// Power-on records of which it is known what came of them; the one that was left longest ago is forgotten first.
const LEFT_MAX: usize = 1_024;

/// What had happened to the games whose machines others have replaced, by what they were powered on with. Whoever begins
/// such a game again, or goes back to a movie or a state of it, knows what lies ahead: the account goes on.
#[derive(Debug, Default)]
pub(crate) struct Left(Mutex<VecDeque<(PowerOn, Account)>>);

impl Inner {
    /// Keeps what has happened to a machine that is about to be replaced.
    pub(crate) fn leave(&self, slot: &Slot) {
        self.left.leave(&slot.power_on, slot.account());
    }
}

impl Left {
    fn leave(&self, power_on: &PowerOn, account: Account) {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = left.iter().position(|(known, _)| known == power_on);
        let known = place.and_then(|place| left.remove(place)).map_or_else(Account::default, |(_, known)| known);
        left.push_back((power_on.clone(), known.or_more(&account)));
        if left.len() > LEFT_MAX {
            left.pop_front();
        }
    }

    /// The account of a machine that is made anew, of whose way a movie says `told`. Where more had been played of the
    /// game that was left, that is a seek: the machine goes back before it.
    pub(crate) fn account(&self, power_on: &PowerOn, told: Account) -> Account {
        let left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((_, known)) = left.iter().find(|(known, _)| known == power_on) else {
            return told;
        };
        let mut account = known.or_more(&told);
        let goes_back = (account.inputs, account.reseeds, account.debugs) != (told.inputs, told.reseeds, told.debugs);
        account.seeks += u64::from(goes_back);
        account
    }
}

#[cfg(test)]
mod tests {
    use wire::Seed;

    use super::*;

    #[test]
    fn the_account_goes_on_and_going_back_is_a_seek() {
        let left = Left::default();
        let (one, two) = (PowerOn::from_seed(Seed(1)), PowerOn::from_seed(Seed(2)));
        let told = Account { inputs: 10, forks: 2, ..Account::default() };
        assert_eq!(left.account(&one, told), told);
        left.leave(&one, Account { inputs: 10, lines: 3, ..Account::default() });
        assert_eq!(left.account(&two, told), told);
        // It stands where it stood.
        assert_eq!(left.account(&one, told), Account { lines: 3, ..told });
        left.leave(&one, Account { inputs: 30, ..Account::default() });
        assert_eq!(left.account(&one, told), Account { inputs: 30, lines: 3, seeks: 1, ..told });
        // Of another server's movie that had seen more, what it had seen.
        let more = Account { inputs: 90, seeks: 5, ..Account::default() };
        assert_eq!(left.account(&one, more), Account { lines: 3, ..more });
        left.leave(&one, Account { inputs: 30, debugs: 1, ..Account::default() });
        assert_eq!(left.account(&one, Account { inputs: 30, ..told }).seeks, 1);
    }

    #[test]
    fn what_was_left_longest_ago_is_forgotten_first() {
        let left = Left::default();
        let account = Account { inputs: 1, ..Account::default() };
        let known = |seed| left.account(&PowerOn::from_seed(Seed(seed)), Account::default()).inputs == 1;
        for seed in 0..LEFT_MAX as u64 {
            left.leave(&PowerOn::from_seed(Seed(seed)), account);
        }
        left.leave(&PowerOn::from_seed(Seed(0)), account);
        left.leave(&PowerOn::from_seed(Seed(u64::MAX)), account);
        assert!(known(0) && !known(1) && known(2) && known(u64::MAX));
    }
}
