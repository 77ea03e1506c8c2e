//! The command line and its help.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::LazyLock;

use clap::{Args, Parser, Subcommand, ValueEnum};
use wire::Seed;

use crate::power::PowerOnOptions;

const AFTER_HELP: &str = "\
Begin with:
  nethack-lab demo                       a game, eight forks of it, the best one adopted, the proof
  nethack-lab play --seed 42             play yourself; the game is recorded as a movie
  nethack-lab movie verify game.movie    replay a movie: is it the same, byte for byte?
  nethack-lab state save game.movie -o game.state
                                         keep where it led to: any process goes on from there at once
  nethack-lab mcp --movies ./movies      serve an agent over MCP on standard input and output

A seed, a character and the keys decide everything: equal inputs give equal bytes, on any day and any machine.

Exit status: 0 good; 1 desync, altered or failure; 2 usage; 3 cannot judge.";

/// The real NetHack 3.6.7 as a deterministic machine: seeded, forkable, and replayable to the byte.
#[derive(Parser, Debug)]
#[command(name = "nethack-lab", version = version(), after_help = AFTER_HELP, max_term_width = 100)]
pub(crate) struct Arguments {
    /// Run another ROM than the built-in one (see `rom export`); it runs in sandboxed workers only
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) rom: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Show what this is: a game, forks of it, their difference, an adoption, and the proof
    Demo(DemoOptions),
    /// Serve the experiment tools to an MCP client on standard input and output
    Mcp(Box<McpOptions>),
    /// Play in the terminal; the game is recorded as a movie
    Play(Box<PlayOptions>),
    /// Show a movie, or a journal that is still being written, as a page in a browser
    Watch(WatchOptions),
    /// Look at movies, check them, record one
    #[command(subcommand)]
    Movie(MovieCommand),
    /// Save states: files that hold a whole machine and the movie that led to it
    #[command(subcommand)]
    State(StateCommand),
    /// Trees: files that hold machines with their forks, lines and states
    #[command(subcommand)]
    Tree(TreeCommand),
    /// Recorded games of NLE: compare them with our own play, make movies of them
    #[command(subcommand)]
    Nle(crate::nle_games::NleCommand),
    /// Tell what the engine is, or write it to a file
    Rom(RomOptions),
    /// Measure keys, states, lines through workers and seeks, beside the peers; takes about a minute
    Bench(BenchOptions),
    /// Host a machine (internal)
    #[command(hide = true)]
    Worker,
    /// Run scripts (internal)
    #[command(hide = true)]
    Script,
}

/// `demo`
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  nethack-lab demo\n  nethack-lab demo --seed 7 --out experiment.movie\n  NO_COLOR=1 \
                        nethack-lab demo | less"
)]
pub(crate) struct DemoOptions {
    /// Seed of the game
    #[arg(long, value_name = "N", default_value = "146")]
    pub(crate) seed: Seed,
    /// Where the movie is written; an existing file is never touched [default: demo-SEED.movie here]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Do not show the game while it is played
    #[arg(long)]
    pub(crate) still: bool,
}

/// `mcp`
#[derive(Args, Debug)]
#[command(
    after_help = "An MCP client's configuration:\n  {\"mcpServers\": {\"nethack\": {\"command\": \"nethack-lab\", \
                        \"args\": [\"mcp\", \"--movies\", \"./movies\"]}}}\n\nAfter a crash or a restart:\n  nethack-lab \
                        mcp --movies ./movies --resume latest\n\nReady to paste, with this program's place:\n  \
                        nethack-lab mcp --movies ./movies --print-config claude-desktop"
)]
pub(crate) struct McpOptions {
    /// Keep the journal of each game in this directory; a killed server then loses nothing
    #[arg(long, value_name = "DIR")]
    pub(crate) movies: Option<PathBuf>,
    /// Write exported movies and save states to this directory, and read them there [default: none are written; movies are
    /// handed out inline]
    #[arg(long, value_name = "DIR")]
    pub(crate) out_dir: Option<PathBuf>,
    /// Show the games as a page in a browser; the address is told on standard error and by `info` [default address:
    /// 127.0.0.1 with a free port]
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "127.0.0.1:0", value_parser = address)]
    pub(crate) viewer: Option<SocketAddr>,
    /// Let --viewer take an address that other machines can reach: whoever can, may look on
    #[arg(long, requires = "viewer")]
    pub(crate) viewer_public: bool,
    /// Go on from a journal: `latest` of --movies, or a file
    #[arg(long, value_name = "latest|FILE", conflicts_with_all = ["seed", "display_seed", "level_seed", "reseed", "profile", "name", "role", "race", "gender", "alignment", "options", "clock"])]
    pub(crate) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) power_on: PowerOnOptions,
    #[command(flatten)]
    pub(crate) limits: McpLimitOptions,
    /// Allow the tools debug_read and debug_edit, which see and change what no player can, going on from movies that hold
    /// such edits, and `playmode:debug` among --options, NetHack's own debug mode; movies say what was used
    #[arg(long)]
    pub(crate) allow_debug: bool,
    /// Play fairly: seeds are withheld until a game is over, with a commitment from its beginning on; no forks, no lines
    /// tried, no going back, no loading. Keep --movies where whoever plays can't read it
    #[arg(long, conflicts_with = "allow_debug")]
    pub(crate) fair: bool,
    /// Print what goes into an MCP client's configuration for these options, and exit
    #[arg(long, value_name = "CLIENT", num_args = 0..=1, value_enum, default_missing_value = "all")]
    pub(crate) print_config: Option<Client>,
}

/// Whose configuration is printed
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    /// All of these, by name
    All,
    /// Claude Desktop
    ClaudeDesktop,
    /// Claude Code
    ClaudeCode,
    /// Visual Studio Code
    Vscode,
    /// Cursor
    Cursor,
    /// Any other: command and arguments
    Generic,
}

/// Limits of `mcp`
#[derive(Args, Debug)]
#[command(next_help_heading = "Limits")]
pub(crate) struct McpLimitOptions {
    /// Worker processes for everything, one more is kept for interactive calls [default: one a core]
    #[arg(long, value_name = "N")]
    pub(crate) workers: Option<usize>,
    /// Forks at once
    #[arg(long, value_name = "N", default_value_t = 1_024)]
    pub(crate) forks_max: usize,
    /// Keys in one `run`
    #[arg(long, value_name = "N", default_value_t = 3_600)]
    pub(crate) run_keys_max: usize,
    /// Keys in one `fork_run`
    #[arg(long, value_name = "N", default_value_t = 36_000)]
    pub(crate) fork_run_keys_max: usize,
    /// Lines in one `try_lines`
    #[arg(long, value_name = "N", default_value_t = 4_096)]
    pub(crate) lines_max: usize,
    /// Inputs in one machine's line
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub(crate) inputs_max: u64,
    /// MiB of all save states together
    #[arg(long, value_name = "MIB", default_value_t = 4_096)]
    pub(crate) store_mib: u64,
    /// KiB of one message from the client
    #[arg(long, value_name = "KIB", default_value_t = 1_024)]
    pub(crate) message_kib: usize,
    /// How long a call waits for its result before it answers that the work goes on
    #[arg(long, value_name = "MS", default_value_t = 10_000)]
    pub(crate) wait_ms: u64,
    /// CPU time that one key may take
    #[arg(long, value_name = "MS", default_value_t = 60_000)]
    pub(crate) key_cpu_ms: u64,
}

/// `watch`
#[derive(Args, Debug)]
#[command(after_help = "The first line that is printed is the page's address.\n\nExamples:\n  nethack-lab watch \
                        game.movie\n  nethack-lab watch movies/0001-g3f2a-1.movie --listen 127.0.0.1:8080")]
pub(crate) struct WatchOptions {
    /// A movie, or a journal: what is written to it meanwhile is shown too
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Where the page is served; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0", value_parser = address)]
    pub(crate) listen: SocketAddr,
    /// Let --listen take an address that other machines can reach: whoever can, may look on
    #[arg(long)]
    pub(crate) public: bool,
}

/// `play`
#[derive(Args, Debug)]
#[command(after_help = "Keys go to the game as they are; arrows move. Ctrl-\\ leaves at any time, and so does Ctrl-C \
                        pressed twice in a row; the movie is kept, and `--movie FILE` goes on from it.\n\nExamples:\n  \
                        nethack-lab play --seed 42 --role valkyrie --race dwarf --name Ann -o ann.movie\n  nethack-lab \
                        play --movie ann.movie -o ann-2.movie\n  nethack-lab play --movie ann.movie --at 120\n  \
                        nethack-lab play --from ann.state")]
pub(crate) struct PlayOptions {
    #[command(flatten)]
    pub(crate) power_on: PowerOnOptions,
    /// Go on from a movie
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seed", "display_seed", "level_seed", "reseed", "profile", "name", "role", "race", "gender", "alignment", "options", "clock"])]
    pub(crate) movie: Option<PathBuf>,
    /// Go on from this boundary of the movie, after so many inputs [default: its end]
    #[arg(long, value_name = "BOUNDARY", requires = "movie")]
    pub(crate) at: Option<u64>,
    /// Go on from a save state, at once (see `state save`)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["movie", "seed", "display_seed", "level_seed", "reseed", "profile", "name", "role", "race", "gender", "alignment", "options", "clock"])]
    pub(crate) from: Option<PathBuf>,
    /// Where the movie is written; an existing file is never touched [default: play-SEED.movie here, or the first of
    /// play-SEED-2.movie … that is free]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum MovieCommand {
    /// Tell what a movie holds, without running it
    Info(MovieFile),
    /// Replay a movie from power-on and compare every input; the verdict is exact, same-play, altered, desync or
    /// cannot-judge
    #[command(
        after_help = "Exit status: 0 exact or same-play; 1 altered or desync; 2 usage; 3 cannot judge.\n\nExample, a movie that \
                            was made with another build:\n  nethack-lab --rom old.rom movie verify old.movie"
    )]
    Verify(MovieFile),
    /// Show screens of a movie
    #[command(
        after_help = "Examples:\n  nethack-lab movie show game.movie             the last screen\n  nethack-lab movie \
                            show game.movie --at 120    the screen at boundary 120\n  nethack-lab movie show game.movie \
                            --every 50"
    )]
    Show(ShowOptions),
    /// Write a movie as a recording that terminal players play, as pictures or as text
    ///
    /// The movie is verified first; of one that does not replay here nothing is written.
    #[command(after_help = EXPORT_AFTER_HELP)]
    Export(Box<ExportOptions>),
    /// Tell the keys of a movie, by name, one line for each run at a boundary
    Keys(MovieFile),
    /// Record a game that the explorer plays
    #[command(after_help = "Example:\n  nethack-lab movie record --seed 7 --role samurai --keys 500 -o samurai.movie")]
    Record(Box<RecordOptions>),
}

/// A movie
#[derive(Args, Debug)]
pub(crate) struct MovieFile {
    /// The movie
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Answer with one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `movie show`
#[derive(Args, Debug)]
pub(crate) struct ShowOptions {
    /// The movie
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Show the screen at this boundary: after so many inputs
    #[arg(long, value_name = "BOUNDARY")]
    pub(crate) at: Option<u64>,
    /// Show the screen after every N inputs, and the last
    #[arg(long, value_name = "N", conflicts_with = "at", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) every: Option<u64>,
}

const EXPORT_AFTER_HELP: &str = "\
A file or directory that exists is never touched. Frames are those at multiples of --every, and the last.

Exit status: 0 written; 1 desync or failure; 2 usage; 3 cannot judge.

Examples:
  nethack-lab movie export game.movie --ttyrec game.ttyrec      play it with ttyplay
  nethack-lab movie export game.movie --cast game.cast          play it with asciinema
  nethack-lab movie export game.movie --png end.png             the last screen as a picture
  nethack-lab movie export game.movie --png shots --every 100   a directory of pictures";

/// `movie export`
#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("formats").required(true).multiple(true).args(["ttyrec", "cast", "png", "text"]))]
pub(crate) struct ExportOptions {
    /// The movie
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Write a ttyrec: every frame, for players of terminal recordings
    #[arg(long, value_name = "OUT")]
    pub(crate) ttyrec: Option<PathBuf>,
    /// Write an asciicast, version 2: every frame, for asciinema
    #[arg(long, value_name = "OUT")]
    pub(crate) cast: Option<PathBuf>,
    /// Write the last screen as a picture; with --every, a directory of pictures
    #[arg(long, value_name = "OUT")]
    pub(crate) png: Option<PathBuf>,
    /// Write the last screen as text; with --every, many screens
    #[arg(long, value_name = "OUT")]
    pub(crate) text: Option<PathBuf>,
    /// The picture or the text of this boundary: after so many inputs
    #[arg(long, value_name = "BOUNDARY", conflicts_with_all = ["ttyrec", "cast", "from", "to", "every"])]
    pub(crate) at: Option<u64>,
    /// Begin at this boundary: recordings, and what --every takes [default: 0]
    #[arg(long, value_name = "BOUNDARY")]
    pub(crate) from: Option<u64>,
    /// End at this boundary [default: the movie's last]
    #[arg(long, value_name = "BOUNDARY")]
    pub(crate) to: Option<u64>,
    /// Take every Nth boundary, and the last [default: all, or of pictures and texts the last alone]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) every: Option<u64>,
    /// Inputs in a second of a recording; a game has no time of its own
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) inputs_per_second: u32,
    /// Tell the keys too, in the asciicast (events of the kind "i")
    #[arg(long, requires = "cast")]
    pub(crate) keys: bool,
    /// Size of a picture: 1 is 640 x 384, 2 is 1280 x 768
    #[arg(long, value_name = "1|2", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=2))]
    pub(crate) scale: u8,
}

/// `movie record`
#[derive(Args, Debug)]
pub(crate) struct RecordOptions {
    /// Who plays
    #[arg(long, value_enum, default_value_t = Policy::Explore)]
    pub(crate) policy: Policy,
    #[command(flatten)]
    pub(crate) power_on: PowerOnOptions,
    /// How many keys; the game may end before
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) keys: u64,
    /// Seed of the player's own choices [default: that of the game]
    #[arg(long, value_name = "N")]
    pub(crate) player_seed: Option<Seed>,
    /// When the game ends too early, go back some keys and try again with other choices; the movie is the straight line
    #[arg(long)]
    pub(crate) survive: bool,
    /// Where the movie is written; an existing file is never touched
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

/// Who plays
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Policy {
    /// The explorer: looks around, fights, eats, prays, goes down
    Explore,
}

#[derive(Subcommand, Debug)]
pub(crate) enum StateCommand {
    /// Replay a movie or a journal, and save the state that it leads to
    #[command(
        after_help = "Examples:\n  nethack-lab state save game.movie -o game.state\n  nethack-lab state save game.movie \
                            --at 120 -o early.state"
    )]
    Save(StateSaveOptions),
    /// Tell what a save state is of, without loading it
    Info(StateFileOptions),
    /// Load a save state, show its screen, and go on from it
    #[command(
        after_help = "Keys are named as `movie keys` names them, with blanks between. A state runs in a sandboxed \
                            worker only, whoever made it.\n\nExamples:\n  nethack-lab state load game.state\n  \
                            nethack-lab state load game.state --keys \"2 0 s ENTER\" -o on.movie --save on.state\n  \
                            nethack-lab play --from game.state           play on in the terminal"
    )]
    Load(StateLoadOptions),
    /// Take the movie out of a save state, also out of a damaged one
    Movie(TakeMovieOptions),
}

/// `state save`
#[derive(Args, Debug)]
pub(crate) struct StateSaveOptions {
    /// The movie or journal
    #[arg(value_name = "MOVIE")]
    pub(crate) movie: PathBuf,
    /// Save the state at this boundary, after so many inputs [default: its end]
    #[arg(long, value_name = "BOUNDARY")]
    pub(crate) at: Option<u64>,
    /// Where the state is written; an existing file is never touched
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

/// A save state or a tree
#[derive(Args, Debug)]
pub(crate) struct StateFileOptions {
    /// The file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Answer with one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `state load`
#[derive(Args, Debug)]
pub(crate) struct StateLoadOptions {
    /// The save state
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Keys to press, by name, with blanks between
    #[arg(long, value_name = "KEYS", allow_hyphen_values = true)]
    pub(crate) keys: Option<String>,
    /// Where the movie of it all is written, from power-on; an existing file is never touched
    #[arg(long, short, value_name = "MOVIE")]
    pub(crate) out: Option<PathBuf>,
    /// Where the state after the keys is saved; an existing file is never touched
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Answer with one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `state movie`
#[derive(Args, Debug)]
pub(crate) struct TakeMovieOptions {
    /// The save state
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Where the movie is written; an existing file is never touched
    #[arg(long, short, value_name = "MOVIE")]
    pub(crate) out: PathBuf,
}

#[derive(Subcommand, Debug)]
pub(crate) enum TreeCommand {
    /// Replay a movie, and save it with forks at boundaries of it, so that any of them is gone on from at once
    #[command(after_help = "Example:\n  nethack-lab tree save game.movie --at 100 --at 200 -o game.tree")]
    Save(TreeSaveOptions),
    /// Tell what machines a tree holds, without loading it
    Info(StateFileOptions),
    /// Load a tree, so that each of its states is checked by a worker
    Check(StateFileOptions),
    /// Make a tree of another ROM of the same engine again, by replay, with states of this ROM
    Rebuild(TreeRebuildOptions),
    /// Take the movie of a machine out of a tree
    Movie(TreeMovieOptions),
}

/// `tree save`
#[derive(Args, Debug)]
pub(crate) struct TreeSaveOptions {
    /// The movie or journal
    #[arg(value_name = "MOVIE")]
    pub(crate) movie: PathBuf,
    /// Add a fork at this boundary; may be given many times
    #[arg(long, value_name = "BOUNDARY")]
    pub(crate) at: Vec<u64>,
    /// Where the tree is written; an existing file is never touched
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

/// `tree rebuild`
#[derive(Args, Debug)]
pub(crate) struct TreeRebuildOptions {
    /// The tree of the other ROM
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Where the new tree is written; an existing file is never touched
    #[arg(long, short, value_name = "TREE")]
    pub(crate) out: PathBuf,
}

/// `tree movie`
#[derive(Args, Debug)]
pub(crate) struct TreeMovieOptions {
    /// The tree
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Which machine, by the number that `tree info` tells
    #[arg(long, value_name = "N")]
    pub(crate) machine: u64,
    /// Where the movie is written; an existing file is never touched
    #[arg(long, short, value_name = "MOVIE")]
    pub(crate) out: PathBuf,
}

/// `rom`
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
#[command(
    after_help = "Example, to keep the engine that a movie was made with:\n  nethack-lab rom export nethack.rom\n  \
                        nethack-lab --rom nethack.rom movie verify game.movie"
)]
pub(crate) struct RomOptions {
    #[command(subcommand)]
    pub(crate) command: Option<RomCommand>,
    /// Answer with one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Subcommand, Debug)]
pub(crate) enum RomCommand {
    /// Write the ROM to a file; an existing file is never touched
    Export {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

/// `bench`
#[derive(Args, Debug)]
pub(crate) struct BenchOptions {
    /// Answer with one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// How many states the exploration keeps
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    pub(crate) states: u32,
    /// Length of the game in which earlier boundaries are sought, in inputs
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1_000..=500_000))]
    pub(crate) seek_inputs: u64,
    /// A Python that has the peers, the packages nle and ale-py
    #[arg(long, value_name = "PYTHON", default_value = "python3")]
    pub(crate) peers: PathBuf,
    /// Only try so many lines in this process and tell how many a second (internal)
    #[arg(long, hide = true, value_name = "LINES")]
    pub(crate) alone: Option<usize>,
    /// Only measure lines through the pool, and answer with JSON (internal)
    #[arg(long, hide = true)]
    pub(crate) pool: bool,
}

/// An address to serve on: `127.0.0.1:8080`, `localhost:8080`, `[::1]:8080`, or a port alone.
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost:").unwrap_or(text);
    let local = port.parse::<u16>().map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
    local.or_else(|_| text.parse()).map_err(|_| "give ADDRESS:PORT, as in 127.0.0.1:8080".to_owned())
}

/// The version, with the beginning of the engine id: engines that share it play alike.
fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        let engine = rom::built_in().engine_id();
        format!("{} (engine {})", env!("CARGO_PKG_VERSION"), engine.get(..12).unwrap_or(engine))
    });
    &VERSION
}
