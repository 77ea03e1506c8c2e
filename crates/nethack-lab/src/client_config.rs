//! `mcp --print-config`: what goes into a client's configuration.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use serde_json::{Map, Value, json};

use crate::command_line::Client;
use crate::outcome::Usage;

/// What the server is called in a configuration.
const NAME: &str = "nethack";
/// Options whose value is a path, which a client starts from another directory.
const PATHS: [&str; 4] = ["--rom", "--movies", "--out-dir", "--resume"];
const OWN: &str = "--print-config";

/// Prints the configuration of a client, or of all, for the options that this process was given.
pub(crate) fn print(client: Client) -> anyhow::Result<ExitCode> {
    let program = std::env::current_exe().context("the place of this program can't be told")?;
    let here = std::env::current_dir().context("the current directory can't be told")?;
    let given = std::env::args_os().skip(1).map(OsString::into_string).collect::<Result<Vec<_>, _>>();
    let given = given.map_err(|text| Usage(format!("{text:?}: not UTF-8, which a configuration can't hold")))?;
    let program = program.to_str().map(str::to_owned);
    let program = program.ok_or_else(|| Usage("this program's path is not UTF-8".to_owned()))?;
    let text = serde_json::to_string_pretty(&config(client, &program, &arguments(&given, &here)))?;
    crate::out::outln!("{text}");
    Ok(ExitCode::SUCCESS)
}

/// The arguments that a client is to give: those of this process, with absolute paths and without the one that prints.
fn arguments(given: &[String], here: &Path) -> Vec<String> {
    let mut arguments = Vec::with_capacity(given.len());
    let mut rest = given.iter().peekable();
    while let Some(argument) = rest.next() {
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (argument.as_str(), None),
        };
        if name == OWN {
            if value.is_none() {
                rest.next_if(|next| <Client as clap::ValueEnum>::from_str(next, false).is_ok());
            }
        } else if !PATHS.contains(&name) {
            arguments.push(argument.clone());
        } else if let Some(value) = value {
            arguments.push(format!("{name}={}", absolute(value, here)));
        } else {
            arguments.push(name.to_owned());
            arguments.extend(rest.next().map(|value| absolute(value, here)));
        }
    }
    arguments
}

fn absolute(value: &str, here: &Path) -> String {
    if value == "latest" {
        return value.to_owned();
    }
    let path = here.join(value);
    let plain: PathBuf = path.components().filter(|part| !matches!(part, std::path::Component::CurDir)).collect();
    plain.to_str().unwrap_or(value).to_owned()
}

fn config(client: Client, program: &str, arguments: &[String]) -> Value {
    let plain = json!({"command": program, "args": arguments});
    let stdio = json!({"type": "stdio", "command": program, "args": arguments});
    match client {
        Client::ClaudeDesktop | Client::Cursor => json!({"mcpServers": {NAME: plain}}),
        Client::ClaudeCode => json!({"mcpServers": {NAME: stdio}}),
        Client::Vscode => json!({"servers": {NAME: stdio}}),
        Client::Generic => json!({"name": NAME, "transport": "stdio", "command": program, "args": arguments}),
        Client::All => {
            let named = [
                ("claude-desktop", Client::ClaudeDesktop),
                ("claude-code", Client::ClaudeCode),
                ("vscode", Client::Vscode),
                ("cursor", Client::Cursor),
                ("generic", Client::Generic),
            ];
            let one = |(name, client): (&str, Client)| (name.to_owned(), config(client, program, arguments));
            Value::Object(named.into_iter().map(one).collect::<Map<String, Value>>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_is_given_again() {
        let given = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (from, to) in [
            ("mcp --print-config", "mcp"),
            ("mcp --print-config cursor --fair", "mcp --fair"),
            ("mcp --print-config --fair", "mcp --fair"),
            ("mcp --print-config=vscode --seed 7", "mcp --seed 7"),
            ("mcp --movies ./m --resume latest", "mcp --movies /here/m --resume latest"),
            ("--rom a.rom mcp --out-dir=/b --name cursor", "--rom /here/a.rom mcp --out-dir=/b --name cursor"),
        ] {
            assert_eq!(arguments(&given(from), Path::new("/here")), given(to), "{from}");
        }
    }

    #[test]
    fn every_client_gets_the_command() {
        let arguments = ["mcp".to_owned()];
        let all = config(Client::All, "/p", &arguments);
        for (client, path) in [
            ("claude-desktop", "/mcpServers/nethack"),
            ("claude-code", "/mcpServers/nethack"),
            ("vscode", "/servers/nethack"),
            ("cursor", "/mcpServers/nethack"),
            ("generic", ""),
        ] {
            let server = all[client].pointer(path).unwrap();
            assert_eq!((&server["command"], &server["args"]), (&json!("/p"), &json!(["mcp"])), "{client}");
        }
    }
}
