//! Workloads that are short of pods which do not exist, as causes of the overview.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{Cause, CauseReport, FixSearch, PreemptionHelp};
use crate::analysis::workload::{ShortWords, short_words};
use crate::workload::ShortWorkload;

/// Groups short workloads by cause, most pods first.
pub fn short_causes(found: &[ShortWorkload], now: Option<Timestamp>) -> Vec<Cause> {
    let mut groups: BTreeMap<String, Vec<&ShortWorkload>> = BTreeMap::new();
    for short in found {
        let by = short.cause.by.as_ref().map(|by| format!(":{}/{}", by.key.namespace, by.key.name)).unwrap_or_default();
        groups.entry(format!("not-created:{}{by}", short.cause.key())).or_default().push(short);
    }
    let mut causes: Vec<Cause> = groups.into_iter().map(|(key, found)| cause(key, &found, now)).collect();
    causes.sort_by(|a, b| b.count().cmp(&a.count()).then_with(|| a.key.cmp(&b.key)));
    causes
}

fn cause(key: String, found: &[&ShortWorkload], now: Option<Timestamp>) -> Cause {
    let ShortWords { cause: first, fix, commands } = found.first().map(|short| short_words(short, now)).unwrap_or_default();
    let differ = found.iter().skip(1).any(|short| short_words(short, now).cause != first);
    let differ = if differ { " (details differ by workload)" } else { "" };
    let verb = if found.iter().map(|short| short.cause.count).sum::<usize>() == 1 { "is" } else { "are" };
    let (fix, commands) = match found.len() {
        0 | 1 => (fix, commands),
        _ => (format!("see each workload: schedscope explain {}", named(found)), Vec::new()),
    };
    Cause {
        key,
        sentence: format!("{verb} not created: {first}{differ}"),
        shorter: Vec::new(),
        pods: Vec::new(),
        missing: found.iter().map(|short| short.cause.count).sum(),
        workloads: found.iter().map(|short| short.workload.clone()).collect(),
        nodes: BTreeMap::new(),
        main_reasons: Vec::new(),
        preemption: PreemptionHelp::NotRun,
        helped: 0,
        helped_pods: Vec::new(),
        fix: FixSearch::Said(fix, commands),
    }
}

/// Returns the arguments that explain the first of some workloads.
fn named(found: &[&ShortWorkload]) -> String {
    found.first().map(|short| format!("{} -n {}", short.workload, short.workload.key.namespace)).unwrap_or_default()
}

/// Adds causes of short workloads to those of pending pods, and sorts all by the number of their pods.
pub fn with_short(mut causes: Vec<CauseReport>, short: Vec<Cause>) -> Vec<CauseReport> {
    causes.extend(short.into_iter().map(CauseReport::of));
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.count()));
    causes
}
