use std::time::Duration;

/// The shortest time between two frames.
const LEAST: Duration = Duration::from_millis(20);
/// The longest, however many watch.
const MOST: Duration = Duration::from_secs(5);
/// What one frame costs for each viewer, in microseconds, apart from its bytes.
const EACH_US: u64 = 100;
/// Bytes that all viewers together are sent in a second, about.
const BYTES_PER_S: u64 = 100 << 20;

/// How long to wait after a frame before the next, so that many viewers take no more than a share of a processor from
/// whoever plays.
pub(crate) fn pause(bytes: usize, viewers: usize) -> Duration {
    let (bytes, viewers) = (bytes as u64, viewers as u64);
    let sent = bytes.saturating_mul(viewers);
    let us = viewers.saturating_mul(EACH_US).saturating_add(sent.saturating_mul(1_000_000) / BYTES_PER_S);
    (LEAST + Duration::from_micros(us)).min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_viewer_sees_all_and_many_see_less_often() {
        assert!(pause(6_000, 1) < Duration::from_millis(25));
        let crowd = pause(6_000, 500);
        assert!(crowd > Duration::from_millis(60) && crowd < Duration::from_millis(150), "{crowd:?}");
        assert_eq!(pause(usize::MAX, usize::MAX), MOST);
    }
}
