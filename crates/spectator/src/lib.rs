//! A read-only page over HTTP: games as they are played, the tree of their forks, and replays.
//!
//! The crate holds no machine and can press no key. It shows what a [`Source`] publishes: the executable implements one
//! over its lab. [`bind`] takes an address, [`Viewer::start`] serves on it from threads of its own, at a lower priority
//! than the machines', until the [`Viewer`] is dropped.
//!
//! | route | answers |
//! |---|---|
//! | `/` | the page |
//! | `/assets/…` | its parts, all of them in the executable |
//! | `/health` | `{"ok":true}` |
//! | `/api/machines` | all machines with their lineage |
//! | `/api/machines/<id>/state` | what a machine shows; `ETag` tells game, revision and lifecycle |
//! | `/api/machines/<id>/events` | the same as server-sent events, the newest only |
//! | `/api/machines/<id>/frames/<boundary>` | earlier frames: `?count=` at most 64 |
//! | `/api/machines/<id>/messages` | messages: `?after=` an id, `?limit=` |
//! | `/api/machines/<id>/index` | turns, levels and ends by boundary, where the source keeps them |
//! | `/g/<id>`, `/api/games/<id>/state` | reserved for many games: 404 |
//!
//! Everything else is 404 or 405. No route changes anything. Requests must name a loopback host or an address, so that
//! no foreign page reads a viewer through a name of its own; no answer permits another origin.
//!
//! What a machine shows is encoded once a change, however many watch. A viewer that is slow misses frames and never
//! makes others wait; a machine that nobody watches costs nothing.

mod source;

mod index;
mod view;

mod pace;
mod watch;

mod assets;
mod events;
mod guard;
mod routes;

mod crowd;
mod patience;
mod serve;

pub use render::Symbols;

pub use index::{Index, LevelChange};
pub use serve::{BindError, Bound, CONNECTIONS_MAX, Viewer, bind};
pub use source::{At, Kind, Lineage, Logged, Published, Refusal, Source, Waited};
