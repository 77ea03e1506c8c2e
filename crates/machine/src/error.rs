/// Why a machine refuses, or can't go on.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// Another machine lives in this process.
    #[error("this process already hosts a machine: a ROM has fixed addresses, so there can be one at a time")]
    Occupied,
    /// The addresses that a ROM needs are taken.
    #[error("can't map {what} at {address:#x}: {source}")]
    Map {
        /// What was to be mapped.
        what: &'static str,
        /// Where.
        address: usize,
        /// What the system said.
        source: std::io::Error,
    },
    /// The ROM is built for another version of this crate.
    #[error("the ROM does not fit this program: {0}")]
    Contract(String),
    /// The system refused something else.
    #[error("can't {what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// The power-on record is refused.
    #[error(transparent)]
    PowerOn(#[from] wire::PowerOnError),
    /// The game itself refuses a value among the options.
    #[error("the game refuses the options: {0}")]
    Options(String),
    /// The game stopped before it could be seeded.
    #[error("the game did not come up: {0}")]
    Boot(String),
    /// No game runs.
    #[error("the machine is not powered on")]
    Off,
    /// The game has ended.
    #[error("the game has ended: power on again or load a state")]
    Ended,
    /// The engine failed, and its memory with it.
    #[error("the engine failed at its last key; only power-on or loading a state helps")]
    Broken,
    /// An image that is none, or is damaged.
    #[error("not a state of this machine: {0}")]
    Image(&'static str),
    /// An image of another ROM.
    #[error("the state belongs to ROM {found}, this machine runs ROM {expected}")]
    ForeignRom {
        /// The ROM that the image names.
        found: String,
        /// The ROM that is mapped.
        expected: String,
    },
    /// An edit that can't be; nothing has changed.
    #[error(transparent)]
    Edit(#[from] wire::EditError),
    /// An edit that the game refuses; nothing has changed.
    #[error("the edit is refused: {0}")]
    EditRefused(String),
    /// Nothing hidden to tell of.
    #[error("the game has nothing to hide yet: {0}")]
    Hidden(String),
    /// A buffer that is too small for an image.
    #[error("an image of {needed} bytes does not fit into {given}")]
    Space {
        /// How many bytes the image has.
        needed: usize,
        /// How many there is room for.
        given: usize,
    },
}
