//! Writes the reference of all tools to standard output: `cargo run --release -p mcp --example reference > docs/tools.md`.

use std::io::Write;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(mcp::reference().as_bytes())
}
