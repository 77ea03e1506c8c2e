//! What lines are worth.

use lab::MachineId;
use script::{SOURCE_BYTES_MAX, ScriptError, ScriptLimits, Seen};

use crate::failure::{Code, Failure};
use crate::reply::Call;
use crate::session::Session;

/// The worth of each, or why it has none.
pub(crate) type Scores = Vec<Result<f64, String>>;

/// Refuses a source that can't be one.
///
/// # Errors
/// `INVALID_ARGUMENT`, `LIMIT_EXCEEDED`.
pub(crate) fn check(source: &str) -> Result<(), Failure> {
    if source.trim().is_empty() {
        let message = "argument `score` is empty: give a Lua expression or chunk, as in \"nh.status.hp\"";
        return Err(Failure::argument("score", message));
    }
    if source.len() > SOURCE_BYTES_MAX {
        let message = format!("argument `score` has {} bytes: give at most {SOURCE_BYTES_MAX}", source.len());
        let failure = Failure::new(Code::LimitExceeded, message);
        return Err(failure.with("field", "score").with("limit", SOURCE_BYTES_MAX));
    }
    Ok(())
}

/// Has a script say what each frame is worth; nothing of any, once the call is cancelled. Glyphs are called as they are
/// on the machine that the lines begin at.
///
/// # Errors
/// `SCRIPT_FAILED`: no script, or a limit that was reached.
pub(crate) fn scores(
    (session, call): (&Session, &Call<'_>),
    from: MachineId,
    source: &str,
    seen: &[Seen<'_>],
) -> Result<Scores, Failure> {
    let mut names = || session.lab.names(from).ok();
    let unless = || call.cancel.is_cancelled();
    match session.scripts.score(source, seen, &ScriptLimits::default(), &mut names, &unless) {
        Err(ScriptError::Cancelled) => Ok(Vec::new()),
        told => told.map_err(Failure::from_script),
    }
}

/// A few numbers that say how many are spread.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) mean: f64,
    /// The least, the tenth and the half from below, the tenth from above, the most.
    pub(crate) quantiles: [f64; 5],
}

impl Spread {
    /// Of these numbers; nothing where there are none. A quantile is the number at that rank, the nearest below.
    pub(crate) fn of(mut numbers: Vec<f64>) -> Option<Self> {
        numbers.sort_by(f64::total_cmp);
        let last = numbers.len().checked_sub(1)?;
        let at = |tenths: usize| numbers.get(last * tenths / 10).copied().unwrap_or_default();
        // Means of halves don't overflow where a sum would.
        let count = numbers.len() as f64;
        let mean = numbers.iter().map(|number| number / count).sum();
        Some(Self { mean, quantiles: [at(0), at(1), at(5), at(9), at(10)] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spread() {
        assert_eq!(Spread::of(Vec::new()), None);
        assert_eq!(Spread::of(vec![4.0]), Some(Spread { mean: 4.0, quantiles: [4.0; 5] }));
        let spread = Spread::of((0..=20).rev().map(f64::from).collect()).unwrap();
        assert!((spread.mean - 10.0).abs() < 1e-9);
        assert_eq!(spread.quantiles, [0.0, 2.0, 10.0, 18.0, 20.0]);
        assert!(Spread::of(vec![f64::MAX, f64::MAX]).unwrap().mean.is_finite());
    }
}
