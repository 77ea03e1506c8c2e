//! What a recording shows is what the game showed: asked of two terminal emulators that others wrote, and of a PNG
//! reader.

mod generated;
mod golden;
mod pictures;
mod recordings;
mod terminals;
