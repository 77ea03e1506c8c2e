use base64::Engine;
use lab::MachineId;
use render::{Scale, Symbols};
use rmcp::model::{ErrorData, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;

use crate::failure::{Code, Failure};
use crate::names::MAIN;
use crate::session::Session;

/// What there is of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    Screen,
    Screenshot,
    Movie,
}

const VIEWS: [View; 3] = [View::Screen, View::Screenshot, View::Movie];
const SCHEME: &str = "nethack://";
/// The longest movie that is handed out as a resource.
const MOVIE_BYTES_MAX: usize = 4 << 20;

impl View {
    fn word(self) -> &'static str {
        match self {
            Self::Screen => "screen",
            Self::Screenshot => "screenshot",
            Self::Movie => "movie",
        }
    }

    fn media_type(self) -> &'static str {
        match self {
            Self::Screen => "text/plain",
            Self::Screenshot => "image/png",
            Self::Movie => "application/x-ndjson",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Screen => "Screen as text",
            Self::Screenshot => "Screen as picture",
            Self::Movie => "Movie from power-on",
        }
    }
}

/// The resources that there are now: those of the main machine. Forks have templates.
pub(crate) fn list(session: &Session) -> Vec<Resource> {
    if session.names().main().is_none() {
        return Vec::new();
    }
    let shown = VIEWS.into_iter().filter(|view| check(session, *view).is_ok());
    let resource = |view: View| {
        Resource::new(uri(MAIN, view), format!("main-{}", view.word()))
            .with_title(format!("main: {}", view.title()))
            .with_mime_type(view.media_type())
    };
    shown.map(resource).collect()
}

/// The templates of the resources of every machine.
pub(crate) fn templates(session: &Session) -> Vec<ResourceTemplate> {
    if session.fair.is_some() {
        return Vec::new();
    }
    let template = |view: View| {
        ResourceTemplate::new(uri("{machine}", view), format!("machine-{}", view.word()))
            .with_title(view.title())
            .with_description("machine is \"main\" or a fork's id")
            .with_mime_type(view.media_type())
    };
    VIEWS.map(template).to_vec()
}

fn uri(machine: &str, view: View) -> String {
    format!("{SCHEME}{machine}/{}", view.word())
}

fn parse(uri: &str) -> Option<(&str, View)> {
    let (machine, word) = uri.strip_prefix(SCHEME)?.split_once('/')?;
    Some((machine, VIEWS.into_iter().find(|view| view.word() == word)?))
}

/// A movie holds the seeds.
fn check(session: &Session, view: View) -> Result<(), Failure> {
    if view == View::Movie { session.check_fair("movie_export") } else { Ok(()) }
}

/// Reads one. No machine changes.
///
/// # Errors
/// There is no such resource; it may not be read, or is too long.
pub(crate) fn read(session: &Session, uri: &str) -> Result<ResourceContents, ErrorData> {
    let Some((name, view)) = parse(uri) else {
        let shown: String = uri.chars().take(80).collect();
        return Err(ErrorData::resource_not_found(format!("there is no resource {shown:?}"), None));
    };
    let found = check(session, view).and_then(|()| session.machine(Some(name)));
    let contents = found.and_then(|machine| contents(session, machine, uri, view));
    contents.map(|contents| contents.with_mime_type(view.media_type())).map_err(refusal)
}

fn contents(session: &Session, machine: MachineId, uri: &str, view: View) -> Result<ResourceContents, Failure> {
    let snapshot = session.snapshot(machine)?;
    let symbols = Symbols::of(&snapshot.power_on);
    match view {
        View::Screen => Ok(ResourceContents::text(render::text(&snapshot.frame.screen, symbols), uri)),
        View::Screenshot => {
            let png = render::png(&snapshot.frame.screen, symbols, Scale::Two);
            let png = png.map_err(|error| Failure::new(Code::EngineFailure, error.to_string()))?;
            Ok(ResourceContents::blob(base64::engine::general_purpose::STANDARD.encode(png), uri))
        }
        View::Movie => {
            let movie = session.lab.movie(machine).map_err(|error| session.failure(error, Some(machine)))?;
            if movie.len() > MOVIE_BYTES_MAX {
                let message = format!(
                    "the movie has {} bytes, at most {MOVIE_BYTES_MAX} are handed out here: movie_export writes a file",
                    movie.len()
                );
                return Err(Failure::new(Code::LimitExceeded, message).with("limit", MOVIE_BYTES_MAX));
            }
            // A movie is ASCII.
            Ok(ResourceContents::text(String::from_utf8_lossy(&movie), uri))
        }
    }
}

/// A failure outside of a tool's result.
pub(crate) fn refusal(failure: Failure) -> ErrorData {
    let (message, code) = (failure.message.clone(), failure.code);
    let data = Some(json!({"error": failure.into_value()}));
    match code {
        Code::UnknownMachine | Code::NoGame => ErrorData::resource_not_found(message, data),
        Code::EngineFailure => ErrorData::internal_error(message, data),
        _ => ErrorData::invalid_params(message, data),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_are_spelled_one_way() {
        for view in VIEWS {
            for machine in [MAIN, "f12"] {
                assert_eq!(parse(&uri(machine, view)), Some((machine, view)));
            }
        }
        for other in [
            "",
            "nethack://",
            "nethack://main",
            "nethack://main/",
            "nethack://main/screen/",
            "nethack:main/screen",
            "file:///etc/passwd",
            "NETHACK://main/screen",
            "nethack://main/Screen",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
