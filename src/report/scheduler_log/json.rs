//! The log as JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::ser::{SerializeMap as _, SerializeSeq as _};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::analysis::{ComparedAttempt, ComparedNode, LogReport};
use crate::output::url_without_password;
use crate::scheduler::value_without_credentials;
use crate::scheduler_log::{Attempt, Cause, Certainty, Change, Clock, Dump, Place, Process, QueuedPod, Requeued, SchedulerLog};

impl Serialize for LogReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (process, log) = (self.process(), self.log);
        let (from, to) = self.span();
        let complete: Vec<&str> = process.complete().into_iter().map(Into::into).collect();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("from", &from)?;
        map.serialize_entry("to", &to)?;
        map.serialize_entry("clock", &clock(process.clock))?;
        map.serialize_entry("release", &self.release())?;
        map.serialize_entry("version", &process.version)?;
        map.serialize_entry("verbosity", &process.verbosity())?;
        map.serialize_entry("complete", &complete)?;
        if process.in_part {
            map.serialize_entry("inPart", &true)?;
        }
        map.serialize_entry("at", &self.at.map(|at| process.clock.show(at)))?;
        map.serialize_entry("queues", &QueuesJson(self))?;
        map.serialize_entry("attempts", &Attempts(self))?;
        if let Some((counts, not_compared)) = self.agreement() {
            let mut counts: serde_json::Map<String, Value> = counts.into_iter().map(|(kind, n)| (kind.to_string(), n.into())).collect();
            counts.insert("notCompared".to_owned(), not_compared.into());
            map.serialize_entry("agreement", &counts)?;
        }
        if let Some((at, nodes)) = self.comparison.as_ref().and_then(|comparison| comparison.cache.as_ref()) {
            let nodes: Vec<Value> = nodes.iter().map(compared_node).collect();
            map.serialize_entry("cache", &json!({"at": process.clock.show(*at), "nodes": nodes}))?;
        }
        map.serialize_entry("moves", &Moves(self))?;
        map.serialize_entry("dumps", &log.dumps.iter().map(|dump| self.dump(dump)).collect::<Vec<_>>())?;
        let pending = (!log.pending_pods.is_empty()).then_some(&log.pending_pods);
        map.serialize_entry("pendingPodsByMetrics", &pending)?;
        map.serialize_entry("configuration", &configuration(process.configuration.as_deref()))?;
        let flags: BTreeMap<&String, Cow<'_, str>> = process.flags.iter().map(|(name, value)| (name, shown(value))).collect();
        map.serialize_entry("flags", &flags)?;
        map.serialize_entry("featureGates", &process.feature_gates())?;
        let number = |index: usize| (log.processes.len() > 1).then_some(index);
        map.serialize_entry("process", &number(self.process))?;
        if log.processes.len() > 1 {
            map.serialize_entry("processes", &log.processes.iter().map(of_process).collect::<Vec<_>>())?;
        }
        map.serialize_entry("lines", &json!({"read": log.lines, "understood": log.understood}))?;
        let findings: Vec<Value> = log
            .findings
            .iter()
            .map(|finding| json!({"file": &*finding.file, "line": finding.line, "message": finding.kind.to_string()}))
            .collect();
        map.serialize_entry("findings", &findings)?;
        map.serialize_entry("moreFindings", &log.more_findings)?;
        map.end()
    }
}

fn clock(clock: Clock) -> Value {
    let zone = clock.offset.map(|seconds| match seconds {
        0 => "UTC".to_owned(),
        _ => format!("{}{:02}:{:02}", if seconds < 0 { '-' } else { '+' }, seconds.abs() / 3600, seconds.abs() / 60 % 60),
    });
    json!({"year": if clock.year { "known" } else { "unknown" }, "zone": zone.as_deref().unwrap_or("unknown")})
}

/// Returns the configuration as JSON, without credentials; a string that says so if it cannot be read, as its credentials cannot be found.
fn configuration(text: Option<&str>) -> Value {
    let Some(text) = text else { return Value::Null };
    value_without_credentials(text).unwrap_or_else(|| "[cannot be read, and is not shown]".into())
}

/// Returns the value of a flag without the passwords of a URL.
fn shown(value: &str) -> Cow<'_, str> {
    if value.contains("://") { url_without_password(value).into() } else { value.into() }
}

fn of_process(process: &Process) -> Value {
    json!({
        "source": &*process.source,
        "pid": process.pid,
        "started": process.started,
        "from": process.clock.show(process.from),
        "to": process.clock.show(process.to),
        "version": process.version,
        "verbosity": process.verbosity(),
        "leads": leads(process),
        "attempts": process.attempts,
    })
}

fn leads(process: &Process) -> Option<bool> {
    use crate::scheduler_log::Leadership;

    match process.leadership {
        Leadership::Unknown => (process.attempts > 0).then_some(true),
        Leadership::Leads => Some(true),
        Leadership::Waits | Leadership::Lost => Some(false),
    }
}

/// Serializes a sequence item by item: a long log needs no second copy.
fn sequence<S: Serializer, T: Serialize>(serializer: S, items: impl Iterator<Item = T>) -> Result<S::Ok, S::Error> {
    let mut sequence = serializer.serialize_seq(None)?;
    for item in items {
        sequence.serialize_element(&item)?;
    }
    sequence.end()
}

struct QueuesJson<'a>(&'a LogReport<'a>);

impl Serialize for QueuesJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (report, queues) = (self.0, &self.0.queues);
        let name = |pod: &QueuedPod| report.log.names.text(pod.pod).to_owned();
        let names = |pods: &Option<Vec<QueuedPod>>| pods.as_ref().map(|pods| pods.iter().map(name).collect::<Vec<_>>());
        let backoff = |pod: &QueuedPod| {
            let expires = pod.expires.map(|at| report.process().clock.show(at));
            json!({"pod": name(pod), "expires": expires})
        };
        let parked = |pod: &QueuedPod| {
            let gate = report.log.names.text(pod.gated_by);
            let plugins: Vec<&str> = report.log.plugins(pod.plugins).collect();
            json!({"pod": name(pod), "plugins": plugins, "gatedBy": (!gate.is_empty()).then_some(gate)})
        };
        let mut map = serializer.serialize_map(None)?;
        let certainty = match queues.certainty {
            Certainty::Exact => "exact",
            Certainty::SinceBegin => "podsMovedSinceTheLogBegins",
            Certainty::ParkedOrMovedSince => "parkedOrMovedSince",
            Certainty::InPart => "logInPart",
            Certainty::Unknown => "unknown",
        };
        map.serialize_entry("certainty", certainty)?;
        map.serialize_entry("active", &names(&queues.active))?;
        map.serialize_entry("backoff", &queues.backoff.as_ref().map(|pods| pods.iter().map(backoff).collect::<Vec<_>>()))?;
        map.serialize_entry("unschedulable", &queues.unschedulable.as_ref().map(|pods| pods.iter().map(parked).collect::<Vec<_>>()))?;
        map.serialize_entry("inFlight", &names(&queues.in_flight))?;
        map.serialize_entry("waitingOnPermit", &names(&queues.waiting_on_permit))?;
        map.serialize_entry("unplaced", &queues.unplaced.iter().map(name).collect::<Vec<_>>())?;
        map.end()
    }
}

fn compared_node(node: &ComparedNode) -> Value {
    let differences: Vec<String> = node.differences.iter().map(ToString::to_string).collect();
    json!({"node": node.node, "differences": differences})
}

struct Attempts<'a>(&'a LogReport<'a>);

impl Serialize for Attempts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        sequence(serializer, self.0.log.attempts.iter().enumerate().map(|(number, attempt)| AttemptJson(self.0, number, attempt)))
    }
}

struct AttemptJson<'a>(&'a LogReport<'a>, usize, &'a Attempt);

impl Serialize for AttemptJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(report, number, attempt) = *self;
        let log: &SchedulerLog = report.log;
        let some = |name| Some(log.names.text(name)).filter(|text| !text.is_empty());
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("at", &report.time(attempt.process, attempt.at))?;
        if !attempt.begin_logged {
            map.serialize_entry("beginLogged", &false)?;
        }
        map.serialize_entry("end", &attempt.end.map(|end| report.time(attempt.process, end)))?;
        map.serialize_entry("pod", log.names.text(attempt.pod))?;
        map.serialize_entry("outcome", <&str>::from(attempt.outcome))?;
        map.serialize_entry("node", &some(attempt.node))?;
        map.serialize_entry("message", &some(attempt.message))?;
        map.serialize_entry("nominated", &some(attempt.nominated))?;
        map.serialize_entry("preemptionNode", &some(attempt.preemption_node))?;
        map.serialize_entry("victims", &attempt.victims.iter().map(|victim| log.names.text(*victim)).collect::<Vec<_>>())?;
        let requeued = attempt.requeued.map(|Requeued { place, plugins }| {
            let plugins = plugins.map(|set| log.plugins(set).collect::<Vec<_>>());
            json!({"queue": place.to_string(), "plugins": plugins})
        });
        map.serialize_entry("requeued", &requeued)?;
        if let Some((evaluated, feasible)) = attempt.nodes {
            map.serialize_entry("evaluatedNodes", &evaluated)?;
            map.serialize_entry("feasibleNodes", &feasible)?;
        }
        if let Some(scores) = &attempt.scores {
            let tied: Vec<&str> = scores.tied.iter().map(|node| log.names.text(*node)).collect();
            map.serialize_entry("scores", &json!({"nodes": scores.nodes, "best": scores.best, "tied": tied, "ties": scores.ties}))?;
        }
        if log.processes.len() > 1 {
            map.serialize_entry("process", &attempt.process)?;
        }
        if let Some(comparison) = &report.comparison {
            let of = |comparison: &ComparedAttempt| {
                let gaps: Vec<String> = comparison.gaps.iter().map(ToString::to_string).collect();
                json!({"kind": comparison.kind.to_string(), "words": comparison.words, "unknown": gaps})
            };
            map.serialize_entry("beside", &comparison.attempts.get(&number).map(of))?;
        }
        map.end()
    }
}

struct Moves<'a>(&'a LogReport<'a>);

impl Serialize for Moves<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let moves = self.0.log.changes.iter().filter(|change| matches!(change.cause, Cause::Moved(_)));
        sequence(serializer, moves.map(|change| MoveJson(self.0, change)))
    }
}

struct MoveJson<'a>(&'a LogReport<'a>, &'a Change);

impl Serialize for MoveJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(report, change) = *self;
        let event = if let Cause::Moved(event) = change.cause { report.log.names.text(event) } else { "" };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("at", &report.time(change.process, change.at))?;
        map.serialize_entry("pod", report.log.names.text(change.pod))?;
        map.serialize_entry("event", event)?;
        map.serialize_entry("to", <&str>::from(change.place))?;
        let gate = report.log.names.text(change.gated_by);
        if !gate.is_empty() {
            map.serialize_entry("gatedBy", gate)?;
        }
        if report.log.processes.len() > 1 {
            map.serialize_entry("process", &change.process)?;
        }
        map.end()
    }
}

impl LogReport<'_> {
    fn dump(&self, dump: &Dump) -> Value {
        let [active, backoff, unschedulable] = dump.lengths;
        let mut rest = &dump.pods[..];
        let mut take = |length: usize| {
            let (these, others) = rest.split_at(length.min(rest.len()));
            rest = others;
            these.iter().map(|pod| self.log.names.text(*pod).to_owned()).collect::<Vec<_>>()
        };
        let queues = [Place::Active, Place::Backoff, Place::Unschedulable].into_iter().zip([active, backoff, unschedulable]);
        let queues: serde_json::Map<String, Value> = queues.map(|(place, length)| (place.to_string(), json!(take(length)))).collect();
        json!({
            "at": self.time(dump.process, dump.at),
            "queues": queues,
            "cachedNodes": (!dump.nodes.is_empty()).then_some(dump.nodes.len()),
            "podsElsewhere": dump.elsewhere,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The configuration in a log is read within bounds, and shown without credentials, as one in a file is.
    #[test]
    fn configurations_in_logs_are_read_within_bounds_and_shown_without_credentials() {
        let of = |text: &str| configuration(Some(text));
        let text = "parallelism: 16\nextenders:\n- urlPrefix: http://bob:hunter2@h/x?token=canary\n  tlsConfig: {keyData: a2V5}\n";
        assert_eq!(of(text), json!({"parallelism": 16, "extenders": [{"urlPrefix": "http://h/x", "tlsConfig": {}}]}));
        assert_eq!(configuration(None), Value::Null);
        let hidden = Value::from("[cannot be read, and is not shown]");
        let aliases = format!("a: &a [{}]\nb: [{}]\n", "x, ".repeat(2_000), "*a, ".repeat(2_000));
        for text in ["a: [hunter2", &"[".repeat(100_000), &"{".repeat(60_000), &aliases] {
            assert_eq!(of(text), hidden);
        }
        assert_eq!((shown("https://bob:hunter2@h"), shown("/etc/a?b")), ("https://h".into(), "/etc/a?b".into()));
    }
}
