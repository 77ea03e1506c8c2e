//! Nothing but a place for the outermost tests.
