//! What a host believes of a report: a worker that runs a foreign ROM may send anything.

use machine::shared::SharedMemory;
use wire::{ASKED_BYTES_MAX, Frame, Hidden, HiddenPart, Texts};

use crate::FrameBytes;
use crate::frame_bytes::PACKED_BYTES_MAX;
use crate::protocol::{Drive, Kept, POLICY_BYTES_MAX, Piece, Report, Task};

/// The most blobs of a keyframe.
const BLOBS_MAX: usize = 128;

/// A report with its frame's bytes copied from the slot; `None` when it has other sizes than it must have.
pub(crate) fn with_frame_bytes(report: Report<Piece>, task: &Task, slot: &SharedMemory) -> Option<Report<FrameBytes>> {
    if !is_sound(&report, task, slot.capacity()) {
        return None;
    }
    let frame = match report.frame {
        Some(piece) => Some(FrameBytes(copy(piece, slot)?)),
        None => None,
    };
    Some(report.with_frame(frame))
}

/// A report with its frame read; `None` when that is no frame.
pub(crate) fn with_frame_read(report: Report<FrameBytes>) -> Option<Report<Frame>> {
    let frame = match &report.frame {
        Some(bytes) => Some(bytes.decode().ok()?),
        None => None,
    };
    Some(report.with_frame(frame))
}

impl<F> Report<F> {
    /// The same report with another frame.
    #[must_use]
    pub fn with_frame<G>(self, frame: Option<G>) -> Report<G> {
        let report = self;
        Report {
            inputs: report.inputs,
            checks: report.checks,
            keys_used: report.keys_used,
            stop: report.stop,
            turns: report.turns,
            ended: report.ended,
            pending: report.pending,
            turn: report.turn,
            play: report.play,
            state_digest: report.state_digest,
            frame,
            messages: report.messages,
            messages_truncated: report.messages_truncated,
            texts: report.texts,
            asked: report.asked,
            kept: report.kept,
            image_bytes: report.image_bytes,
            outcome: report.outcome,
            hidden: report.hidden,
        }
    }
}

fn copy(piece: Piece, slot: &SharedMemory) -> Option<Box<[u8]>> {
    let (offset, bytes) = (usize::try_from(piece.offset).ok()?, usize::try_from(piece.bytes).ok()?);
    slot.with_bytes(offset, bytes, |bytes| Box::from(bytes)).ok()
}

/// Whether a report has the sizes that it must have.
fn is_sound(report: &Report<Piece>, task: &Task, slot_bytes: usize) -> bool {
    let in_slot = |piece: &Piece| piece.offset.checked_add(piece.bytes).is_some_and(|end| end <= slot_bytes as u64);
    let keys_max = match &task.drive {
        Drive::Nothing => 0,
        Drive::Batch { batch, .. } => batch.len(),
        Drive::Policy { keys_max, .. } => *keys_max as usize,
    };
    let outcome_max = if matches!(task.drive, Drive::Policy { .. }) { POLICY_BYTES_MAX } else { 0 };
    let is_batch = matches!(task.drive, Drive::Batch { .. });
    let kept_is_sound = match &report.kept {
        None => true,
        Some(_) if task.want.keep.is_none() => false,
        Some(Kept::Keyframe { body, blobs }) => blobs.len() <= BLOBS_MAX && in_slot(body) && blobs.iter().all(in_slot),
        Some(Kept::Delta { bytes }) => {
            task.want.keep.is_some_and(|keep| keep.against.is_some() && bytes.bytes <= keep.delta_bytes_max)
                && in_slot(bytes)
        }
    };
    report.keys_used as usize <= keys_max
        && report.keys_used as usize <= report.inputs.len()
        && report.checks.len() == if task.want.checks { report.inputs.len() } else { 0 }
        && report.frame.is_some() == task.want.frame
        && report.frame.as_ref().is_none_or(|piece| piece.bytes <= PACKED_BYTES_MAX as u64 && in_slot(piece))
        && report.state_digest.is_some() == task.want.state_digest
        && report.ended.is_some() == report.pending.is_none()
        && report.outcome.len() <= outcome_max
        && report.texts.is_bounded()
        && (task.want.messages || report.texts == Texts::default())
        && report.asked.as_ref().is_none_or(|asked| is_batch && asked.prompt.len() <= ASKED_BYTES_MAX)
        && report.hidden.as_ref().map(part).is_none_or(|part| task.want.hidden == Some(part))
        && kept_is_sound
}

fn part(hidden: &Hidden) -> HiddenPart {
    match hidden {
        Hidden::Hero(_) => HiddenPart::Hero,
        Hidden::Level(_) => HiddenPart::Level,
        Hidden::Monsters(_) => HiddenPart::Monsters,
        Hidden::Objects(_) => HiddenPart::Objects,
        Hidden::Names(_) => HiddenPart::Names,
    }
}

#[cfg(test)]
mod tests {
    use wire::{Asked, Batch, Check, EndKind, Ended, Key, PendingKind, PlayDigest, StopReason};

    use super::*;
    use crate::StateId;
    use crate::protocol::{Keep, Start, Want};

    const SLOT_BYTES: u64 = 100;

    type Wrong = fn(&mut Report<Piece>);

    /// A task that wants everything, and a report that gives it.
    fn sound() -> (Task, Report<Piece>) {
        let keep = Some(Keep { against: Some(StateId([1; 16])), delta_bytes_max: 50 });
        let want = Want { checks: true, frame: true, keep, state_digest: false, messages: true, hidden: None };
        let drive = Drive::Batch { batch: Batch::forced(vec![Key::SPACE, Key::SPACE]), part: None };
        let task = Task { start: Start::Resident, event: None, drive, want };
        let report = Report {
            inputs: vec![Key::SPACE; 3],
            checks: vec![Check(1); 3],
            keys_used: 2,
            stop: StopReason::Ended,
            turns: 1,
            ended: Some(Ended { kind: EndKind::Quit, how: None, text: String::new(), xlog: None }),
            pending: None,
            turn: 2,
            play: PlayDigest([0; 16]),
            state_digest: None,
            frame: Some(Piece { offset: 50, bytes: 50 }),
            messages: Vec::new(),
            messages_truncated: false,
            texts: Texts::default(),
            asked: None,
            kept: Some(Kept::Delta { bytes: Piece { offset: 0, bytes: 50 } }),
            image_bytes: 1,
            outcome: Vec::new(),
            hidden: None,
        };
        (task, report)
    }

    #[test]
    fn only_reports_of_the_right_sizes_are_taken() {
        let (task, report) = sound();
        assert!(is_sound(&report, &task, 100));
        let piece = |offset, bytes| Piece { offset, bytes };
        let whole = Report {
            kept: Some(Kept::Keyframe { body: piece(0, 100), blobs: vec![piece(99, 1), piece(100, 0)] }),
            ..report.clone()
        };
        assert!(is_sound(&whole, &task, 100));
        let wrongs: [(&str, Wrong); 17] = [
            ("more keys than there were", |report| report.keys_used = 3),
            ("fewer inputs than keys", |report| report.inputs.truncate(1)),
            ("a check is missing", |report| report.checks.truncate(2)),
            ("no frame", |report| report.frame = None),
            ("a frame over the slot's end", |report| report.frame = Some(Piece { offset: 51, bytes: 50 })),
            ("a frame far outside", |report| report.frame = Some(Piece { offset: u64::MAX, bytes: 2 })),
            ("an unwanted digest", |report| report.state_digest = Some(wire::StateDigest([0; 32]))),
            ("a delta over the slot's end", |report| {
                report.kept = Some(Kept::Delta { bytes: Piece { offset: SLOT_BYTES, bytes: 1 } });
            }),
            ("a delta that is too long", |report| {
                report.kept = Some(Kept::Delta { bytes: Piece { offset: 0, bytes: 51 } });
            }),
            ("a body far outside", |report| {
                report.kept = Some(Kept::Keyframe { body: Piece { offset: u64::MAX, bytes: 1 }, blobs: Vec::new() });
            }),
            ("a blob outside", |report| {
                let body = Piece { offset: 0, bytes: 1 };
                let blobs = vec![Piece { offset: 1, bytes: SLOT_BYTES }];
                report.kept = Some(Kept::Keyframe { body, blobs });
            }),
            ("too many blobs", |report| {
                let nothing = Piece { offset: 0, bytes: 0 };
                report.kept = Some(Kept::Keyframe { body: nothing, blobs: vec![nothing; BLOBS_MAX + 1] });
            }),
            ("neither end nor prompt", |report| report.ended = None),
            ("an outcome of nothing", |report| report.outcome.push(1)),
            ("too much text", |report| {
                report.texts.windows.push_back(vec!["x".repeat(wire::TEXT_BYTES_MAX + 1)]);
            }),
            ("too long a question", |report| {
                let prompt = "x".repeat(ASKED_BYTES_MAX + 1);
                report.asked = Some(Asked { kind: PendingKind::Item, prompt, turn: 1, counting: false });
            }),
            ("an unwanted look", |report| report.hidden = Some(Hidden::Objects(Vec::new()))),
        ];
        for (name, wrong) in wrongs {
            let mut report = report.clone();
            wrong(&mut report);
            assert!(!is_sound(&report, &task, 100), "{name}");
        }
        let plain = Task { want: Want { keep: None, ..task.want }, ..task };
        assert!(!is_sound(&report, &plain, 100), "nothing was to be kept");
    }
}
