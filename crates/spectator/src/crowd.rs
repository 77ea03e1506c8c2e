use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// How many there may be at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Connections.
    pub(crate) all: usize,
    /// Connections of one peer.
    pub(crate) of_peer: usize,
    /// Connections that are sent events.
    pub(crate) viewers: usize,
    /// Those of one peer.
    pub(crate) viewers_of_peer: usize,
}

impl Limits {
    /// For so many connections in all. Events leave some for pages and questions, and each peer leaves some for others.
    pub(crate) fn of(all: usize) -> Self {
        let all = all.max(8);
        Self { all, of_peer: all / 4 * 3, viewers: all / 8 * 7, viewers_of_peer: all / 8 * 5 }
    }
}

/// Who is connected. A newcomer is never turned away: where there is no place left, the peer that has the most gives one
/// up. Of its connections that is one which takes nothing of what it is sent, or else the oldest: a page that is cut
/// off comes back, and whoever only holds places has fewer each time.
pub(crate) struct Crowd {
    limits: Limits,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    next: u64,
    places: BTreeMap<u64, Place>,
}

struct Place {
    peer: IpAddr,
    views: bool,
    ties: Arc<Ties>,
}

/// What a connection's place and its task have in common.
#[derive(Default)]
struct Ties {
    cut: Notify,
    stalls: AtomicBool,
}

impl Crowd {
    pub(crate) fn new(limits: Limits) -> Arc<Self> {
        Arc::new(Self { limits, held: Mutex::default() })
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a connection its place, if need be that of another.
    pub(crate) fn enter(self: &Arc<Self>, from: IpAddr) -> Guest {
        let peer = peer_of(from);
        let mut held = self.held();
        held.make_room(peer, self.limits.all, self.limits.of_peer, |_| true);
        let id = held.next;
        held.next += 1;
        let ties = Arc::new(Ties::default());
        held.places.insert(id, Place { peer, views: false, ties: Arc::clone(&ties) });
        drop(held);
        Guest(Arc::new(Seat { crowd: Arc::clone(self), id, ties }))
    }
}

impl Held {
    /// Cuts connections of a kind until one more may come from a peer.
    fn make_room(&mut self, newcomer: IpAddr, all: usize, of_peer: usize, is_kind: impl Fn(&Place) -> bool) {
        loop {
            let mut counts: BTreeMap<IpAddr, usize> = BTreeMap::new();
            for place in self.places.values().filter(|place| is_kind(place)) {
                *counts.entry(place.peer).or_default() += 1;
            }
            let whose = if counts.get(&newcomer).is_some_and(|count| *count >= of_peer) {
                newcomer
            } else if counts.values().sum::<usize>() >= all {
                let most = counts.iter().max_by_key(|(_, count)| **count);
                most.map_or(newcomer, |(peer, _)| *peer)
            } else {
                return;
            };
            let theirs = self.places.iter().filter(|(_, place)| place.peer == whose && is_kind(place));
            let stalls = |place: &Place| place.ties.stalls.load(Ordering::Relaxed);
            let Some(id) = theirs.min_by_key(|(id, place)| (!stalls(place), **id)).map(|(id, _)| *id) else { return };
            if let Some(place) = self.places.remove(&id) {
                place.ties.cut.notify_one();
            }
        }
    }
}

/// A connection, for as long as it has its place.
#[derive(Clone)]
pub(crate) struct Guest(Arc<Seat>);

struct Seat {
    crowd: Arc<Crowd>,
    id: u64,
    ties: Arc<Ties>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.crowd.held().places.remove(&self.id);
    }
}

impl Guest {
    /// Ends when another has been given the place.
    pub(crate) async fn is_cut(&self) {
        self.0.ties.cut.notified().await;
    }

    /// Says whether the connection takes what it is sent.
    pub(crate) fn stalls(&self, stalls: bool) {
        self.0.ties.stalls.store(stalls, Ordering::Relaxed);
    }

    /// Has the connection count as one that is sent events, if need be instead of another.
    pub(crate) fn view(&self) -> Viewing {
        let Seat { crowd, id, .. } = &*self.0;
        let Limits { viewers, viewers_of_peer, .. } = crowd.limits;
        let mut held = crowd.held();
        if let Some(peer) = held.places.get(id).map(|place| place.peer) {
            held.make_room(peer, viewers, viewers_of_peer, |place| place.views);
        }
        held.set_views(*id, true);
        Viewing(self.clone())
    }
}

impl Held {
    fn set_views(&mut self, id: u64, views: bool) {
        if let Some(place) = self.places.get_mut(&id) {
            place.views = views;
        }
    }
}

/// A connection that is sent events.
pub(crate) struct Viewing(Guest);

impl Drop for Viewing {
    fn drop(&mut self) {
        let seat = &self.0.0;
        seat.crowd.held().set_views(seat.id, false);
    }
}

/// Who counts as one: this machine under all its names, and a whole network of version 6, of which one host has as many
/// addresses as it likes.
fn peer_of(address: IpAddr) -> IpAddr {
    let address = address.to_canonical();
    if address.is_loopback() {
        return IpAddr::V4(Ipv4Addr::LOCALHOST);
    }
    match address {
        IpAddr::V4(four) => IpAddr::V4(four),
        IpAddr::V6(six) => IpAddr::V6((six.to_bits() >> 64 << 64).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn crowd() -> Arc<Crowd> {
        Crowd::new(Limits { all: 8, of_peer: 6, viewers: 4, viewers_of_peer: 3 })
    }

    fn is_in(guest: &Guest) -> bool {
        guest.0.crowd.held().places.contains_key(&guest.0.id)
    }

    fn count(guests: &[Guest]) -> usize {
        guests.iter().filter(|guest| is_in(guest)).count()
    }

    #[test]
    fn one_peer_takes_no_place_from_another() {
        let crowd = crowd();
        let other = crowd.enter(address("10.0.0.2"));
        let hog: Vec<_> = (0..100).map(|_| crowd.enter(address("10.0.0.1"))).collect();
        assert!(is_in(&other) && count(&hog) == 6 && hog[94..].iter().all(is_in), "the newest are in");
        // The room is full with one more; then the peer that has the most makes way.
        let third = crowd.enter(address("10.0.0.3"));
        let fourth = crowd.enter(address("10.0.0.4"));
        assert!(is_in(&other) && is_in(&third) && is_in(&fourth) && count(&hog) == 5);
    }

    #[test]
    fn who_takes_nothing_goes_before_who_came_first() {
        let crowd = crowd();
        let guests: Vec<_> = (0..6).map(|_| crowd.enter(address("127.0.0.1"))).collect();
        guests[3].stalls(true);
        let late = crowd.enter(address("127.9.9.9"));
        assert!(is_in(&late) && !is_in(&guests[3]) && is_in(&guests[0]));
        let later = crowd.enter(address("::1"));
        assert!(is_in(&later) && !is_in(&guests[0]) && is_in(&guests[1]));
    }

    #[test]
    fn viewers_make_way_for_viewers_and_leave_places_for_questions() {
        let crowd = crowd();
        let asks = crowd.enter(address("10.0.0.1"));
        let guests: Vec<_> = (0..4).map(|_| crowd.enter(address("10.0.0.1"))).collect();
        let viewing: Vec<_> = guests.iter().map(Guest::view).collect();
        assert!(is_in(&asks) && !is_in(&guests[0]) && count(&guests) == 3);
        drop(viewing);
        let again: Vec<_> = guests[1..].iter().map(Guest::view).collect();
        assert_eq!((again.len(), count(&guests)), (3, 3), "who views no more counts no more");
    }

    #[test]
    fn who_leaves_gives_the_place_back_and_who_is_cut_is_told() {
        let crowd = crowd();
        let guests: Vec<_> = (0..6).map(|_| crowd.enter(address("::ffff:10.0.0.1"))).collect();
        drop(crowd.enter(address("10.0.0.1")));
        assert_eq!((count(&guests), crowd.held().places.len()), (5, 5));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(guests[0].is_cut());
        drop(guests);
        assert!(crowd.held().places.is_empty());
    }

    #[test]
    fn a_network_of_version_6_is_one_peer() {
        assert_eq!(peer_of(address("2001:db8::1")), peer_of(address("2001:db8::ffff:1")));
        assert_ne!(peer_of(address("2001:db8:0:1::1")), peer_of(address("2001:db8::1")));
        assert_ne!(peer_of(address("10.0.0.1")), peer_of(address("10.0.0.2")));
    }

    #[test]
    fn limits_leave_room() {
        for all in [0, 8, 100, 1_024] {
            let Limits { all, of_peer, viewers, viewers_of_peer } = Limits::of(all);
            assert!(0 < viewers_of_peer && viewers_of_peer < of_peer && of_peer < all && viewers < all, "{all}");
            assert!(viewers_of_peer < viewers, "{all}");
        }
        let usual = Limits { all: 1_024, of_peer: 768, viewers: 896, viewers_of_peer: 640 };
        assert_eq!(Limits::of(1_024), usual);
    }
}
