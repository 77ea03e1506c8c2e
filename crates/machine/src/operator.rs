//! What is told of a game beside its frames: what no player sees, for an operator; what glyphs are called. And the box
//! through which an operator's edits go.

use wire::{Hidden, HiddenPart};

use crate::contract::KEY_EDIT;
use crate::engine::Engine;
use crate::{Machine, MachineError, Stop, decode};

impl Machine {
    /// Tells a part of what no player sees, or what glyphs are called, without a change to the machine.
    ///
    /// # Errors
    /// A machine that is not at a boundary, or on which no game is under way.
    pub fn hidden(&self, part: HiddenPart) -> Result<Hidden, MachineError> {
        match self.stop() {
            Some(Stop::Boundary) => {}
            Some(Stop::Ended(_)) => return Err(MachineError::Ended),
            None => return Err(MachineError::Off),
        }
        let bytes = self.engine().hidden(part as u32);
        if bytes.is_empty() {
            return Err(MachineError::Hidden("no game is under way".to_owned()));
        }
        let read = match part {
            HiddenPart::Hero => serde_json::from_slice(&bytes).map(Hidden::Hero),
            HiddenPart::Level => serde_json::from_slice(&bytes).map(Hidden::Level),
            HiddenPart::Monsters => serde_json::from_slice(&bytes).map(Hidden::Monsters),
            HiddenPart::Objects => serde_json::from_slice(&bytes).map(Hidden::Objects),
            HiddenPart::Names => serde_json::from_slice(&bytes).map(Hidden::Names),
        };
        // Only a foreign state can lead to a text that its own ROM writes wrong.
        read.map_err(|error| MachineError::Hidden(error.to_string()))
    }
}

impl Engine {
    /// Lays an edit where the game reads it at its next run.
    pub(crate) fn put_edit(&mut self, text: &str) -> Result<(), MachineError> {
        let edit_box = self.edit_box_mut();
        edit_box.made = 0;
        edit_box.request.fill(0);
        edit_box.reason.fill(0);
        let room =
            edit_box.request.get_mut(..text.len()).filter(|room| room.len() < crate::contract::EDIT_REQUEST_BYTES);
        room.ok_or_else(|| MachineError::EditRefused("it is too long".to_owned()))?.copy_from_slice(text.as_bytes());
        self.mailbox_mut().key = KEY_EDIT;
        Ok(())
    }

    /// Whether the edit was made, else why not.
    pub(crate) fn take_edit(&mut self) -> Result<(), String> {
        let edit_box = self.edit_box_mut();
        if edit_box.made == 1 {
            return Ok(());
        }
        let end = edit_box.reason.iter().position(|byte| *byte == 0).unwrap_or(edit_box.reason.len());
        Err(decode::text(&edit_box.reason[..end]))
    }
}
