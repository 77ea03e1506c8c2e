//! What strokes on a keyboard mean to the game.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use wire::Key;

/// A stroke that means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stroke {
    Key(Key),
    /// Ctrl-C: the game's, unless it is pressed twice.
    Interrupt,
    /// Ctrl-\: leaves at any time.
    Leave,
}

/// Reads a stroke. Arrows and the keys around them move, as with NetHack's letters.
pub(super) fn stroke(event: KeyEvent) -> Option<Stroke> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    let byte = match event.code {
        KeyCode::Char(letter) if event.modifiers.contains(KeyModifiers::CONTROL) => control(letter)?,
        KeyCode::Char(letter) => u8::try_from(letter).ok().filter(u8::is_ascii)?,
        KeyCode::Enter => b'\r',
        KeyCode::Esc => 0x1b,
        KeyCode::Tab => b'\t',
        KeyCode::Backspace => 0x08,
        KeyCode::Delete => 0x7f,
        KeyCode::Left => b'h',
        KeyCode::Down => b'j',
        KeyCode::Up => b'k',
        KeyCode::Right => b'l',
        KeyCode::Home => b'y',
        KeyCode::PageUp => b'u',
        KeyCode::End => b'b',
        KeyCode::PageDown => b'n',
        _ => return None,
    };
    Some(match byte {
        0x1c => Stroke::Leave,
        0x03 => Stroke::Interrupt,
        byte if event.modifiers.contains(KeyModifiers::ALT) => Stroke::Key(Key(byte | 0x80)),
        byte => Stroke::Key(Key(byte)),
    })
}

/// The control byte of a letter. Terminals send 0x1c to 0x1f for signs that are read back as the digits 4 to 7.
fn control(letter: char) -> Option<u8> {
    let byte = u8::try_from(letter).ok()?.to_ascii_uppercase();
    match byte {
        b'@'..=b'_' => Some(byte & 0x1f),
        b' ' => Some(0),
        b'4'..=b'7' => Some(byte - b'4' + 0x1c),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strokes_become_the_bytes_that_a_terminal_would_send() {
        let (none, control, alt) = (KeyModifiers::NONE, KeyModifiers::CONTROL, KeyModifiers::ALT);
        for (code, modifiers, expected) in [
            (KeyCode::Char('h'), none, Some(Stroke::Key(Key(b'h')))),
            (KeyCode::Char('H'), KeyModifiers::SHIFT, Some(Stroke::Key(Key(b'H')))),
            (KeyCode::Char('d'), control, Some(Stroke::Key(Key(4)))),
            (KeyCode::Char('c'), control, Some(Stroke::Interrupt)),
            (KeyCode::Char('4'), control, Some(Stroke::Leave)),
            (KeyCode::Char('\\'), control, Some(Stroke::Leave)),
            (KeyCode::Char('p'), alt, Some(Stroke::Key(Key(b'p' | 0x80)))),
            (KeyCode::Esc, none, Some(Stroke::Key(Key::ESC))),
            (KeyCode::Up, none, Some(Stroke::Key(Key(b'k')))),
            (KeyCode::Char('é'), none, None),
            (KeyCode::F(1), none, None),
        ] {
            assert_eq!(stroke(KeyEvent::new(code, modifiers)), expected, "{code:?} {modifiers:?}");
        }
    }
}
