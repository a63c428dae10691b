//! Which extenders a command asks, and what of it is written down.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use super::Failure;
use super::args::{ExtenderArgs, SchedulerArgs};
use crate::extender_client::HttpTransport;
use crate::extenders::{Asker, Extender, RecordedCall};
use crate::output;
use crate::scheduler::Config;
use crate::source::Report;

/// Bytes of a recording that are read.
const LARGEST_RECORDING: u64 = 1 << 30;

/// Lets the extenders of a configuration be asked as the arguments say.
pub(super) fn asked(args: &SchedulerArgs, config: Config, report: &Report) -> Result<Config, Failure> {
    let ExtenderArgs { ask_extenders, record_extenders, extender_answers } = &args.extenders;
    if ask_extenders.is_none() && extender_answers.is_none() {
        return Ok(config);
    }
    if config.extenders.list().is_empty() {
        return Err(Failure::usage("--ask-extenders and --extender-answers: the configuration has no extenders"));
    }
    let known = extender_answers.as_deref().map(recorded).transpose()?.unwrap_or_default();
    let mut asker = Asker::of_recording(known);
    let Some(hosts) = ask_extenders else { return Ok(config.asked_by(Arc::new(asker), |_| true)) };
    let hosts: Vec<&str> = hosts.split(',').map(str::trim).filter(|host| !host.is_empty()).collect();
    let from_source = args.config_from_dump || args.config_from_log;
    let is_named = |extender: &Extender| hosts.iter().any(|host| is_on(extender, host));
    for host in &hosts {
        if !config.extenders.list().iter().any(|extender| is_on(extender, host)) {
            return Err(Failure::usage(format!("--ask-extenders: no extender of the configuration is on {host}")));
        }
    }
    if from_source && hosts.is_empty() {
        let words = "--ask-extenders: the configuration comes from the source, so that its extenders are asked only where their host is \
                     named, as --ask-extenders=";
        let hosts: Vec<&str> = config.extenders.list().iter().map(host).collect();
        return Err(Failure::usage(format!("{words}{}", hosts.join(","))));
    }
    let transport = HttpTransport::start().map_err(|error| Failure::source(format!("no thread can be started: {error}")))?;
    asker = asker.with_transport(Box::new(transport));
    if let Some(path) = record_extenders {
        asker = asker.with_recorder(recorder(path)?);
    }
    let _ = report;
    Ok(config.asked_by(Arc::new(asker), |extender| hosts.is_empty() || is_named(extender)))
}

/// The host of an extender, with its port where the URL has one.
fn host(extender: &Extender) -> &str {
    let url = extender.name.url.as_str();
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

/// Whether an extender is on a host, which is named with its port or without.
fn is_on(extender: &Extender, named: &str) -> bool {
    let host = host(extender);
    let without_port = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = |text: &str| text.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    bare(host) == bare(named) || bare(without_port) == bare(named)
}

/// Reads a recording.
fn recorded(path: &Path) -> Result<Vec<RecordedCall>, Failure> {
    let at = |error: &dyn std::fmt::Display| Failure::usage(format!("{}: {error}", path.display()));
    let file = File::open(path).map_err(|error| at(&error))?;
    let mut calls = Vec::new();
    for (number, line) in BufReader::new(file.take(LARGEST_RECORDING)).lines().enumerate() {
        let line = line.map_err(|error| at(&error))?;
        if !line.trim().is_empty() {
            calls.push(serde_json::from_str(&line).map_err(|error| at(&format!("line {}: {error}", number + 1)))?);
        }
    }
    Ok(calls)
}

/// Writes each call as a line as soon as it is over.
fn recorder(path: &Path) -> Result<Box<dyn FnMut(&RecordedCall) + Send>, Failure> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let mut file = output::create_new(path).map_err(|error| Failure::usage(failed(&error)))?;
    let name = path.display().to_string();
    let mut broken = false;
    Ok(Box::new(move |call| {
        if broken {
            return;
        }
        let written = serde_json::to_string(call).map_err(std::io::Error::from).and_then(|mut line| {
            line.push('\n');
            file.write_all(line.as_bytes())
        });
        if let Err(error) = written {
            broken = true;
            tracing::error!(file = name, %error, "the recording of extenders ends");
        }
    }))
}
