use std::ffi::OsString;
use std::path::PathBuf;

/// How a lab is set up.
#[derive(Clone, Debug)]
pub struct LabOptions {
    /// The executable that serves as worker.
    pub program: PathBuf,
    /// The arguments that put it into its worker mode.
    pub arguments: Vec<OsString>,
    /// The bytes of another ROM than the executable's own.
    pub rom: Option<Vec<u8>>,
    /// The directory of journals. Absent: no machine is journalled.
    pub movies: Option<PathBuf>,
    /// The directory of a file for the states that memory has no room for. The file has no name and goes with the lab.
    /// Absent: there is only memory.
    pub spill: Option<PathBuf>,
    /// Who writes the movies: program and version.
    pub creator: String,
    /// How many workers there are for everything.
    pub workers: usize,
    /// How many more there are for interactive calls alone, so that long lines starve nobody.
    pub reserved: usize,
    /// CPU time that one key may take, in milliseconds, before the watchdog calls it hung. The same holds for each call of a
    /// policy's function.
    pub key_cpu_ms: u64,
    /// Whether an operator may look at what no player sees, edit machines, and go on from movies that hold edits.
    pub allow_debug: bool,
    /// What is refused.
    pub limits: Limits,
}

/// What a lab refuses by size or number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Machines at once, forks included.
    pub machines: usize,
    /// Inputs in one machine's line.
    pub inputs: u64,
    /// Bytes of all save states in memory together: a page at least, and 1 MiB with the spill file. When they are used
    /// up, states go to the spill file; when there is none or it is full too, as when its disk is, machines give up the
    /// states on their way that only make going back quick.
    pub store_bytes: u64,
    /// Bytes of the spill file, where there is one: a page at least. They take room on the disk only as they are used.
    pub spill_bytes: u64,
    /// Calls that may wait for one machine.
    pub queue: usize,
    /// Messages kept for one machine, the newest.
    pub messages: usize,
    /// Keys in one call.
    pub keys: usize,
    /// Lines tried in one call.
    pub lines: usize,
    /// Keys sent to a worker at once; progress, cancellation and published frames come between.
    pub chunk_keys: usize,
    /// Bytes of a movie that is read, and of a journal that is written.
    pub movie_bytes: usize,
}

impl LabOptions {
    /// The defaults, with `program worker` as the worker: as many workers as processor cores, at least two, and one
    /// more for interactive calls; no journals; 60 s of CPU time for a key.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            program: program.into(),
            arguments: vec!["worker".into()],
            rom: None,
            movies: None,
            spill: None,
            creator: concat!("nethack-lab ", env!("CARGO_PKG_VERSION")).to_owned(),
            workers: cores.max(2),
            reserved: 1,
            key_cpu_ms: 60_000,
            allow_debug: false,
            limits: Limits::default(),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            machines: 1_024,
            inputs: 1_000_000,
            store_bytes: 4 << 30,
            spill_bytes: 32 << 30,
            queue: 16,
            messages: 2_000,
            keys: wire::KEYS_MAX,
            lines: 32_768,
            chunk_keys: 512,
            movie_bytes: movie::FILE_BYTES_MAX,
        }
    }
}
