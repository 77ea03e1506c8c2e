use wire::Message;

use crate::MessagePage;
use crate::chunked::Chunked;

/// The messages of a machine since power-on, the newest of them. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct MessageLog {
    older: Chunked<Message>,
    newer: Chunked<Message>,
    /// The id up to which messages are known to be missing, where it holds none.
    missing: u64,
}

impl MessageLog {
    /// Appends messages in the order of their ids and drops old ones once there are more than twice `keep`, so that at
    /// least `keep` stay. Messages that it has already are passed over.
    pub(crate) fn extend(&mut self, messages: &[Message], keep: usize) {
        for message in messages {
            let last = self.last_id();
            if message.id <= last {
                continue;
            }
            if message.id != last + 1 {
                // What was lost between can't be told from what never was, so the log begins anew.
                *self = Self::default();
            }
            if self.newer.len() >= keep.max(1) {
                self.older = std::mem::take(&mut self.newer);
            }
            self.newer.push(message.clone());
        }
    }

    /// The messages after an id.
    pub(crate) fn after(&self, id: u64) -> MessagePage {
        MessagePage {
            messages: self.all().filter(|message| message.id > id).cloned().collect(),
            truncated: self.first_id().unwrap_or(self.missing + 1) > id.saturating_add(1),
        }
    }

    /// The log as it was when the message of this id was the newest, as far as it is kept.
    pub(crate) fn until(&self, id: u64) -> Self {
        let first = self.first_id().unwrap_or(u64::MAX);
        let count = usize::try_from(id.saturating_add(1).saturating_sub(first)).unwrap_or(usize::MAX);
        Self {
            older: self.older.prefix(count),
            newer: self.newer.prefix(count.saturating_sub(self.older.len())),
            missing: if count == 0 { id } else { 0 },
        }
    }

    fn all(&self) -> impl Iterator<Item = &Message> {
        self.older.from(0).chain(self.newer.from(0))
    }

    fn first_id(&self) -> Option<u64> {
        self.all().next().map(|message| message.id)
    }

    /// The newest id; 0 before the first message.
    pub(crate) fn last_id(&self) -> u64 {
        let last = |log: &Chunked<Message>| Some(log.get(log.len().checked_sub(1)?)?.id);
        last(&self.newer).or_else(|| last(&self.older)).unwrap_or(self.missing)
    }

    /// The id up to which two logs tell the same.
    pub(crate) fn common(&self, other: &Self) -> u64 {
        let first = self.first_id().max(other.first_id()).unwrap_or(0);
        let from = |log: &Self| log.after(first.saturating_sub(1)).messages;
        let (a, b) = (from(self), from(other));
        let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count() as u64;
        (first + same).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(id: u64) -> Message {
        Message { id, turn: 1, text: format!("message {id}"), shown: true }
    }

    fn log(ids: std::ops::RangeInclusive<u64>, keep: usize) -> MessageLog {
        let mut log = MessageLog::default();
        log.extend(&ids.map(message).collect::<Vec<_>>(), keep);
        log
    }

    #[test]
    fn it_keeps_the_newest_and_says_what_is_missing() {
        let log = log(1..=25, 10);
        let page = log.after(0);
        assert!(page.truncated && page.messages.len() >= 10);
        assert_eq!(page.messages.last(), Some(&message(25)));
        assert_eq!(log.after(24).messages, [message(25)]);
        assert!(!log.after(24).truncated && !log.after(25).truncated);
        assert!(log.after(u64::MAX).messages.is_empty());
        assert!(!MessageLog::default().after(0).truncated);
    }

    #[test]
    fn a_gap_begins_the_log_anew_and_repeats_are_passed_over() {
        let mut log = log(1..=3, 10);
        log.extend(&[message(3), message(9)], 10);
        assert_eq!(log.after(0).messages, [message(9)]);
        assert!(log.after(0).truncated);
    }

    #[test]
    fn an_earlier_log_goes_on_as_the_whole_one_did() {
        let whole = log(1..=25, 10);
        let first = whole.after(0).messages[0].id;
        for id in 0..=25 {
            let mut early = whole.until(id);
            assert_eq!(early.last_id(), id);
            assert!(early.after(0).messages.iter().eq(whole.after(0).messages.iter().filter(|one| one.id <= id)));
            assert_eq!(early.after(0).truncated, id > 0, "{id} of {first}");
            assert!(!early.after(id).truncated);
            early.extend(&(id + 1..=25).map(message).collect::<Vec<_>>(), 100);
            assert_eq!(early.after(id).messages.len() as u64, 25 - id);
        }
        assert_eq!(MessageLog::default().until(7).last_id(), 7);
    }

    #[test]
    fn logs_part_at_the_first_message_that_differs() {
        let base = log(1..=5, 100);
        let (mut a, mut b) = (base.clone(), base.clone());
        a.extend(&[message(6)], 100);
        b.extend(&[Message { text: "other".into(), ..message(6) }], 100);
        assert_eq!(a.common(&b), 5);
        assert_eq!(a.common(&base), 5);
        assert_eq!(base.common(&base), 5);
        assert_eq!(MessageLog::default().common(&base), 0);
    }
}
