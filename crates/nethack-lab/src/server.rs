//! `mcp`: the experiment server.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use lab::ResumeFrom;
use mcp::{McpLimits, McpOptions};

use crate::command_line;
use crate::log;
use crate::outcome::Usage;
use crate::setup::Setup;
use crate::viewer;

pub(crate) fn run(setup: &Setup, options: command_line::McpOptions) -> anyhow::Result<ExitCode> {
    if let Some(client) = options.print_config {
        return crate::client_config::print(client);
    }
    log::to_stderr();
    // Before anything is served: an address that can't be had is to be known at once.
    let bound = options.viewer.map(|address| spectator::bind(address, options.viewer_public)).transpose()?;
    let mut server = server_options(setup, options)?;
    // Kept until the server ends.
    let viewer = bound.map(viewer::of_server);
    server.viewer = viewer.as_ref().map(viewer::OfServer::start);
    Ok(mcp::serve_stdio(server)?)
}

fn server_options(setup: &Setup, options: command_line::McpOptions) -> anyhow::Result<McpOptions> {
    let given = options.limits;
    let mut lab = setup.lab_options()?;
    lab.movies = options.movies;
    lab.allow_debug = options.allow_debug;
    lab.key_cpu_ms = given.key_cpu_ms;
    lab.limits.inputs = given.inputs_max;
    lab.limits.store_bytes = given.store_mib.saturating_mul(1 << 20);
    // The forks, main, and the old tips that adoptions leave.
    lab.limits.machines = given.forks_max.saturating_add(64);
    if let Some(workers) = given.workers {
        if workers == 0 {
            return Err(Usage("--workers: at least 1".to_owned()).into());
        }
        lab.workers = workers;
    }
    let resume = options.resume.map(resume_from);
    if matches!(resume, Some(ResumeFrom::Latest)) && lab.movies.is_none() {
        return Err(Usage("--resume latest needs --movies DIR".to_owned()).into());
    }
    let mut server = McpOptions::new(lab);
    server.out_dir = options.out_dir;
    server.resume = resume;
    server.fair = options.fair;
    if options.power_on.is_given() {
        server.power_on = Some(options.power_on.power_on(options.allow_debug)?);
    }
    server.limits = McpLimits {
        forks: given.forks_max,
        run_keys: given.run_keys_max,
        fork_run_keys: given.fork_run_keys_max,
        lines: given.lines_max,
        message_bytes: given.message_kib.saturating_mul(1 << 10),
        wait: Duration::from_millis(given.wait_ms),
        ..McpLimits::default()
    };
    Ok(server)
}

fn resume_from(path: PathBuf) -> ResumeFrom {
    if path.as_os_str() == "latest" { ResumeFrom::Latest } else { ResumeFrom::File(path) }
}
