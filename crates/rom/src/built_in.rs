//! The ROM that the build made.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::rom::Rom;

// ROM_ID and the rest, as the build script found them.
mod identity {
    include!(concat!(env!("OUT_DIR"), "/identity.rs"));
}

static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/nethack.rom"));

/// The ROM that was built with this program.
///
/// # Panics
/// Never: the build has checked these very bytes.
#[must_use]
pub fn built_in() -> &'static Rom {
    static ROM: OnceLock<Rom> = OnceLock::new();
    ROM.get_or_init(|| {
        let rom = Rom::with_id(Cow::Borrowed(BYTES), |_| identity::ROM_ID.to_string());
        rom.expect("the build accepts only a sound ROM")
    })
}
