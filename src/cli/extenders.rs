//! Which extenders a command asks, and what of it is written down.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::Value;

use super::Failure;
use super::args::{ExtenderArgs, SchedulerArgs};
use crate::cluster::{Key, Kind};
use crate::extender_client::HttpTransport;
use crate::extenders::{Asker, Destination, Extender, Originals, RecordedCall, Recorder};
use crate::limits::extenders::RECORDING;
use crate::output;
use crate::scheduler::Config;
use crate::source::{self, Report};

/// Why the recording of extenders ended too early.
static BROKEN: OnceLock<String> = OnceLock::new();

/// Returns why the recording of extenders is not whole; `None` if it is.
pub(super) fn broken_recording() -> Option<&'static str> {
    BROKEN.get().map(String::as_str)
}

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
        let words = "--ask-extenders: the configuration comes from the source, so its extenders are called only if you name their hosts: \
                     --ask-extenders=";
        let hosts: Vec<String> = config.extenders.list().iter().filter_map(host).collect();
        return Err(Failure::usage(format!("{words}{}", hosts.join(","))));
    }
    let transport = HttpTransport::start().map_err(|error| Failure::source(format!("cannot start a thread: {error}")))?;
    asker = asker.with_transport(Box::new(transport));
    if let Some(path) = record_extenders {
        asker = asker.with_recorder(recorder(path)?);
    }
    asker = asker.with_originals(Box::new(SourceObjects::new(report.clone())));
    Ok(config.asked_by(Arc::new(asker), |extender| hosts.is_empty() || is_named(extender)))
}

/// The objects of a source with the fields that scheduling does not read.
struct SourceObjects {
    report: Report,
    /// Read as a whole when the first node is needed: there are thousands in one file.
    nodes: OnceLock<HashMap<Key, Value>>,
    /// Pods without a node, read as a whole when the first one of a packed file is needed: each alone would be read from its start.
    pending: OnceLock<HashMap<Key, Value>>,
    /// Pods that were needed before.
    pods: Mutex<HashMap<Key, Option<Value>>>,
}

impl SourceObjects {
    fn new(report: Report) -> Self {
        Self { report, nodes: OnceLock::new(), pending: OnceLock::new(), pods: Mutex::default() }
    }

    fn read_nodes(&self) -> HashMap<Key, Value> {
        let mut nodes = HashMap::new();
        if let Some(live) = &self.report.again {
            let name = |node: &Value| Some(Key::new("", node.pointer("/metadata/name")?.as_str()?));
            match live.objects(Kind::Node) {
                Ok(list) => nodes.extend(list.into_iter().filter_map(|node| Some((name(&node)?, node)))),
                Err(error) => tracing::warn!(%error, "nodes are sent to extenders as far as scheduling reads them"),
            }
            return nodes;
        }
        let read = self.report.originals(Kind::Node, &mut |keys, text| {
            nodes.extend(keys.iter().filter_map(|key| Some((key.clone(), source::as_json(text, Kind::Node, key)?))));
        });
        if let Err(error) = read {
            tracing::warn!(%error, "nodes are sent to extenders as far as scheduling reads them");
        }
        nodes
    }

    fn read_pending(&self) -> HashMap<Key, Value> {
        let mut pods = HashMap::new();
        let is_pending = |pod: &Value| pod.pointer("/spec/nodeName").and_then(Value::as_str).is_none_or(str::is_empty);
        let read = self.report.originals(Kind::Pod, &mut |keys, text| {
            let found = keys.iter().filter_map(|key| Some((key.clone(), source::as_json(text, Kind::Pod, key)?)));
            pods.extend(found.filter(|(_, pod)| is_pending(pod)));
        });
        if let Err(error) = read {
            tracing::warn!(%error, "pods are sent to extenders as far as scheduling reads them");
        }
        pods
    }

    fn read_pod(&self, key: &Key) -> Option<Value> {
        let packed = self.report.is_packed(Kind::Pod, key);
        let pending = packed.then(|| self.pending.get_or_init(|| self.read_pending()).get(key)).flatten();
        let alone = || self.report.original(Kind::Pod, key).ok().flatten().and_then(|text| source::as_json(&text, Kind::Pod, key));
        pending.cloned().or_else(alone)
    }
}

impl Originals for SourceObjects {
    fn original(&self, kind: Kind, key: &Key) -> Option<Value> {
        if kind == Kind::Node {
            return self.nodes.get_or_init(|| self.read_nodes()).get(key).cloned();
        }
        let known = |pods: &HashMap<Key, Option<Value>>| pods.get(key).cloned();
        let lock = || self.pods.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pod) = known(&lock()) {
            return pod;
        }
        let pod = match &self.report.again {
            Some(live) => live.object(kind, key),
            None => self.read_pod(key),
        };
        lock().insert(key.clone(), pod.clone());
        pod
    }
}

/// The host of an extender, with its port where the URL has one.
fn host(extender: &Extender) -> Option<String> {
    Destination::parse(extender.url_prefix.expose()).ok().map(|destination| destination.authority)
}

/// Whether an extender is on a host, which is named with its port or without.
fn is_on(extender: &Extender, named: &str) -> bool {
    Destination::parse(extender.url_prefix.expose()).is_ok_and(|destination| destination.is_on(named))
}

/// Reads a recording.
fn recorded(path: &Path) -> Result<Vec<RecordedCall>, Failure> {
    let at = |error: &dyn std::fmt::Display| Failure::usage(format!("{}: {error}", path.display()));
    let about = std::fs::metadata(path).map_err(|error| at(&error))?;
    if !about.is_file() {
        return Err(at(&"is not a regular file"));
    }
    if about.len() > RECORDING {
        return Err(at(&format!("is longer than {} MiB", RECORDING >> 20)));
    }
    let file = File::open(path).map_err(|error| at(&error))?;
    let mut calls = Vec::new();
    for (number, line) in BufReader::new(file.take(RECORDING)).lines().enumerate() {
        let line = line.map_err(|error| at(&error))?;
        if !line.trim().is_empty() {
            calls.push(serde_json::from_str(&line).map_err(|error| at(&format!("line {}: {error}", number + 1)))?);
        }
    }
    Ok(calls)
}

/// Writes each call as a line as soon as it is over.
fn recorder(path: &Path) -> Result<Recorder, Failure> {
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
            let _ = BROKEN.set(format!("{name}: the recording of extenders is not whole: {error}"));
            tracing::error!(file = name, %error, "the recording of extenders ends");
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_that_never_ends_is_refused() {
        for path in ["/dev/zero", "/dev/null"] {
            let failure = recorded(Path::new(path)).unwrap_err();
            assert!(failure.message.to_string().contains("is not a regular file"));
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(RECORDING + 1).unwrap();
        assert!(recorded(file.path()).unwrap_err().message.to_string().contains("is longer than 256 MiB"));
    }
}
