//! The executable from outside: what it prints, leaves behind and exits with.

mod bed;
mod demo;
mod export;
mod movie;
mod play;
mod rom;
mod states;
mod usage;
mod watch;
