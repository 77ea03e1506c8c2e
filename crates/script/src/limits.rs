use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The longest script, in bytes.
pub const SOURCE_BYTES_MAX: usize = 64 << 10;
/// What a script may print; what comes after is left out.
pub const OUTPUT_BYTES_MAX: usize = 64 << 10;
/// How many frames back `nh.frames` goes, the present one counted.
pub const FRAMES_MAX: usize = 200;
/// How many messages `nh.message_log` gives.
pub const MESSAGES_MAX: usize = 1_000;
/// How many entries a script's value may have, those of tables in tables counted.
pub const VALUE_ENTRIES_MAX: usize = 10_000;
/// How deep tables of a script's value may lie in each other.
pub const VALUE_DEPTH_MAX: usize = 32;
/// How many bytes the texts of a script's value may have, names of fields counted.
pub const VALUE_BYTES_MAX: usize = 1 << 20;

/// What one script may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptLimits {
    /// Turns of loops and calls of functions, which makes an end that comes at the same place on every machine.
    pub steps: u64,
    /// Bytes of the virtual machine's memory.
    pub memory_bytes: usize,
    /// The CPU time that it may use, for each frame that it scores anew. A script that runs on is stopped a little
    /// before; a process that does not stop is killed at this time. What else the computer does has no part in it.
    pub cpu: Duration,
    /// How long its process may stand still: one that is stopped, or that the system does not let run. It is killed then,
    /// and the script begun once more in another.
    pub wall: Duration,
}

impl Default for ScriptLimits {
    /// 5,000,000 steps, 64 MiB, 1.5 seconds of CPU time, 10 seconds of standing still.
    fn default() -> Self {
        Self {
            steps: 5_000_000,
            memory_bytes: 64 << 20,
            cpu: Duration::from_millis(1_500),
            wall: Duration::from_secs(10),
        }
    }
}
