//! Standard output.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};

/// Writes to standard output, as `print!`.
macro_rules! out {
    ($($text:tt)*) => { $crate::out::write(format_args!($($text)*), "") };
}

/// Writes a line to standard output, as `println!`.
macro_rules! outln {
    ($($text:tt)*) => { $crate::out::write(format_args!($($text)*), "\n") };
}

pub(crate) use {out, outln};

/// Writes a text. A reader that has seen enough (`| head`) ends the program, and not as a failure.
pub(crate) fn write(text: Arguments<'_>, end: &str) {
    let text = format!("{text}{end}");
    let mut out = std::io::stdout().lock();
    let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) else { return };
    if error.kind() == ErrorKind::BrokenPipe {
        std::process::exit(0);
    }
    complain(&format!("standard output can't be written: {error}"));
    std::process::exit(1);
}

/// Says on standard error what went wrong. It may have gone as well, with the terminal.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "nethack-lab: {text}");
}
