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

/// Where the example scripts stand, in the place of a machine.
const LUA: &str = "lua";
const LUA_TYPE: &str = "text/x-lua";

/// The example scripts for lua_eval: name, what it tells, source.
const SCRIPTS: [(&str, &str, &str); 5] = [
    ("threat_map", "Monsters in sight, nearest first", include_str!("../../../lua/threat_map.lua")),
    ("unexplored_exits", "Ways that lead on, nearest first", include_str!("../../../lua/unexplored_exits.lua")),
    ("inventory_by_class", "The inventory by class", include_str!("../../../lua/inventory_by_class.lua")),
    ("hp_trend", "How the hit points go", include_str!("../../../lua/hp_trend.lua")),
    ("message_search", "A search in the messages", include_str!("../../../lua/message_search.lua")),
];

/// The resources that there are now: the example scripts, and those of the main machine. Forks have templates.
pub(crate) fn list(session: &Session) -> Vec<Resource> {
    let scripts = SCRIPTS.iter().map(|(name, title, _)| {
        Resource::new(format!("{SCHEME}{LUA}/{name}"), format!("{LUA}-{name}"))
            .with_title(format!("Script for lua_eval: {title}"))
            .with_mime_type(LUA_TYPE)
    });
    let mut listed = of_main(session);
    listed.extend(scripts);
    listed
}

fn of_main(session: &Session) -> Vec<Resource> {
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

fn script(uri: &str) -> Option<&'static str> {
    let name = uri.strip_prefix(SCHEME)?.strip_prefix(LUA)?.strip_prefix('/')?;
    SCRIPTS.iter().find(|(of, ..)| *of == name).map(|(.., source)| *source)
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
    if let Some(source) = script(uri) {
        return Ok(ResourceContents::text(source, uri).with_mime_type(LUA_TYPE));
    }
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
