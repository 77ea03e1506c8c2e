//! The MCP server of NetHack Lab: a catalogue of tools over one [`lab::Lab`], on standard input and output.
//!
//! [`serve_stdio`] is all there is to call. Below it, [`rmcp`] speaks the protocol, behind a gate of our own that bounds
//! the messages; every tool is a struct of arguments with a `call` that blocks on the lab, on a thread of its own. No
//! tool knows the transport.
//!
//! What every call keeps to:
//!
//! - Arguments are closed and checked here: what is missing, unknown, null, of another type or out of bounds is a result
//!   with `isError` that names it, and nothing has happened.
//! - A call that changes a machine names the revision that it was decided on, or is `STALE`.
//! - Results are one object, as structured content and as the first text; a field that isn't shown is absent.
//! - A call that takes longer than ten seconds answers with an operation's id, and the work goes on.
//!
//! # What is sent at which prompt
//!
//! | pending | `press` sends | `run` sends a key | with `expect` of that kind | `force` |
//! |---|---|---|---|---|
//! | `command`, `key` | any key | any key | any key | any key |
//! | `count` | any but NUL | any but NUL | any but NUL | any key |
//! | `direction` | `hjklyubn` and capitals, `.` `s` `<` `>`, ESC; any key where it is the rest of a command that began with a prefix (no prompt) | the same | the same | any key |
//! | `item` | letters, digits, `?` `*` `,` `$` `-`, suggested keys, ESC | the same | the same | any key |
//! | `position` | printable characters, ESC | the same | the same | any key |
//! | `extended` | printable characters, ENTER, BACKSPACE, DELETE, ESC | the same | the same | any key |
//! | `more` | ENTER, SPACE, newline, ESC | the same, or `on_more: dismiss` | the same | any key |
//! | `window` | ENTER, SPACE, newline, ESC | the same, or `on_more: dismiss` | any key | any key |
//! | `choice` | the answers it names (any, where it names none), ESC | ESC | the answers, ESC | any key |
//! | `text` | printable characters, ENTER, newline, BACKSPACE, DELETE, CTRL_U, ESC | ESC | any but NUL | any key |
//! | `menu` | accelerators of the page, groups, digits, `, \ @ . - ~ :`, paging, ENTER, newline, SPACE, ESC | ESC | any key | any key |
//!
//! What `press` doesn't send is refused as `WRONG_PENDING`; what `run` doesn't send ends it with `not_accepted`, and
//! so does an answer that the game refuses: the same question stands again within the turn.
//! `respond` and `select_menu` turn an answer into keys, each of which is sent only while its prompt is open.

mod options;
mod serve;

mod gate;
mod handler;
mod scan;
mod shape;

mod catalogue;
mod guides;
mod resources;
mod tool;

mod breakpoints;
mod compare;
mod debug;
mod export;
mod forks;
mod game;
mod jumps;
mod look;
mod lua;
mod movies;
mod play;
mod prompts;
mod screenshot;
mod states;
mod tries;

mod accept;
mod answer;
mod batch;
mod condition;
mod menu;
mod rank;
mod sighting;
mod stops;
mod tried;
mod tries_run;
mod watched;

mod changes;
mod layers;
mod reply;

mod arguments;
mod failure;
mod fair;
mod files;
mod keeping;
mod names;
mod operations;
mod output;
mod records;
mod reference;
mod roster;
mod schema;
mod session;
mod turn;

pub use options::{Begin, McpLimits, McpOptions, ServeError, StartViewer};
pub use reference::reference;
pub use roster::Roster;
pub use serve::serve_stdio;

/// What the server's workers must have: the executable that serves as one passes them to `worker_main`, and makes them
/// for nothing else.
#[must_use]
pub fn policies() -> Vec<Box<dyn lab::Policy>> {
    vec![Box::new(watched::Watched::new())]
}
