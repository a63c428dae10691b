//! All pending pods as metrics for Prometheus, with labels of bounded number and length.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::{Agreements, CauseReport, MatchKind};
use crate::framework::PluginName;
use crate::limits::terminal::{METRIC_LABEL, METRIC_SERIES};
use crate::output::{MetricType, Metrics, Text, escape};

/// The label of what goes beyond the limit. No namespace and no cause is written so.
const OTHERS: &str = "(others)";

/// The end of a label that is cut.
const CUT: &str = "...";

/// Returns pending pods by namespace, cause, plugin and agreement, and what is unknown about them.
pub(super) fn metrics(found: &Agreements) -> Text {
    let mut out = Metrics::default();
    let about = "The program and the kube-scheduler that it emulates.";
    let labels = [("version", env!("CARGO_PKG_VERSION")), ("emulates", found.release.emulates.as_str())];
    out.family("schedscope_info", MetricType::Gauge, about).sample(&labels, 1_usize);

    let mut namespaces: BTreeMap<String, usize> = BTreeMap::new();
    let mut plugins: BTreeMap<PluginName, usize> = BTreeMap::new();
    let mut agreement: BTreeMap<MatchKind, usize> = BTreeMap::new();
    for pod in &found.pods {
        *namespaces.entry(pod.pod.namespace.to_string()).or_default() += 1;
        *agreement.entry(pod.accord).or_default() += 1;
        for plugin in pod.waits_for.iter().flat_map(|reason| reason.plugins.iter()) {
            *plugins.entry(plugin).or_default() += 1;
        }
    }
    for pod in &found.not_decided {
        *namespaces.entry(pod.namespace.to_string()).or_default() += 1;
    }
    let mut family = out.family("schedscope_pending_pods", MetricType::Gauge, "Pending pods by namespace.");
    for (namespace, pods) in bounded(namespaces) {
        family.sample(&[("namespace", &namespace)], pods);
    }

    let about = "Pending pods by cause: the kinds of reasons of all nodes together. Pods that fit have none.";
    let causes = |number: fn(&CauseReport) -> usize| {
        let all = found.causes.iter().map(|cause| (cause.cause.clone(), number(cause)));
        bounded(all.filter(|(_, pods)| *pods > 0).collect())
    };
    let mut family = out.family("schedscope_pending_pods_by_cause", MetricType::Gauge, about);
    for (cause, pods) in causes(|cause| cause.pods.len()) {
        family.sample(&[("cause", &cause)], pods);
    }
    let about = "Pods that workloads want and that do not exist, by cause.";
    let mut family = out.family("schedscope_missing_pods_by_cause", MetricType::Gauge, about);
    for (cause, pods) in causes(|cause| cause.missing) {
        family.sample(&[("cause", &cause)], pods);
    }

    let about = "Pending pods that the plugin rejects on one node or more; a pod counts for each of its plugins.";
    let mut family = out.family("schedscope_pending_pods_rejected_by", MetricType::Gauge, about);
    for (plugin, pods) in plugins {
        family.sample(&[("plugin", plugin.as_str())], pods);
    }

    let about = "Pending pods for which preemption finds a candidate.";
    let helped: usize = found.causes.iter().map(|cause| cause.helped).sum();
    out.family("schedscope_pending_pods_helped_by_preemption", MetricType::Gauge, about).sample(&[], helped);

    let about = "Pending pods that are not decided, as the decisions about the others took all steps; they may change the other numbers.";
    out.family("schedscope_pending_pods_not_decided", MetricType::Gauge, about).sample(&[], found.not_decided.len());

    let about = "Pending pods by how the decision compares with what the cluster's scheduler wrote.";
    let mut family = out.family("schedscope_pending_pods_compared", MetricType::Gauge, about);
    for (kind, pods) in agreement {
        family.sample(&[("result", kind.words())], pods);
    }

    let about = "Kinds that are unknown or known in part, which may change the other numbers.";
    let mut family = out.family("schedscope_unknown_kind", MetricType::Gauge, about);
    let kinds: BTreeSet<String> = found.missing.iter().map(|missing| missing.kind.to_string()).collect();
    for kind in kinds {
        family.sample(&[("kind", &kind)], 1_usize);
    }
    out.text()
}

/// Returns the largest numbers, by name, and the sum of the others. Names that are cut to the same label are added up.
fn bounded(numbers: BTreeMap<String, usize>) -> Vec<(String, usize)> {
    let mut labels: BTreeMap<String, usize> = BTreeMap::new();
    for (name, number) in numbers {
        *labels.entry(label(name)).or_default() += number;
    }
    let mut all: Vec<(String, usize)> = labels.into_iter().collect();
    if all.len() <= METRIC_SERIES {
        return all;
    }
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let others: usize = all.drain(METRIC_SERIES - 1..).map(|(_, number)| number).sum();
    all.sort();
    all.push((OTHERS.to_owned(), others));
    all
}

/// Returns a name whose escaped text is at most [`METRIC_LABEL`] long; a longer one is cut, and ends with [`CUT`].
fn label(mut name: String) -> String {
    if escape(&name).len() <= METRIC_LABEL {
        return name;
    }
    let mut length = 0;
    let end = name.char_indices().find_map(|(at, c)| {
        length += escape(c.encode_utf8(&mut [0; 4])).len();
        (length > METRIC_LABEL - CUT.len()).then_some(at)
    });
    name.truncate(end.unwrap_or(name.len()));
    name.push_str(CUT);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_beyond_the_length_are_cut_and_those_that_begin_alike_are_added_up() {
        let whole = "x".repeat(METRIC_LABEL);
        assert_eq!(label(whole.clone()), whole);
        let cut = format!("{}...", "x".repeat(METRIC_LABEL - 3));
        assert_eq!(label(format!("{whole}y")), cut);
        for text in ["\u{202e}", "é", "\u{1b}x"] {
            let label = label(text.repeat(METRIC_LABEL));
            let length = escape(&label).len();
            assert!((METRIC_LABEL - 12..=METRIC_LABEL).contains(&length) && label.ends_with(CUT), "{length} of {label:?}");
        }
        let numbers = BTreeMap::from([(format!("{whole}a"), 2), (format!("{whole}b"), 3), ("short".to_owned(), 1)]);
        assert_eq!(bounded(numbers), [("short".to_owned(), 1), (cut, 5)]);
    }

    #[test]
    fn series_beyond_the_limit_are_added_up() {
        let numbers = |n: usize| (0..n).map(|i| (format!("n{i:04}"), i + 1)).collect::<BTreeMap<_, _>>();
        assert_eq!(bounded(numbers(METRIC_SERIES)).len(), METRIC_SERIES);
        assert!(bounded(numbers(METRIC_SERIES)).iter().all(|(name, _)| name != OTHERS));
        let many = bounded(numbers(3 * METRIC_SERIES));
        assert_eq!(many.len(), METRIC_SERIES);
        let (all, most) = (3 * METRIC_SERIES, METRIC_SERIES - 1);
        let sum: usize = many.iter().map(|(_, number)| number).sum();
        assert_eq!(sum, all * (all + 1) / 2, "no pod is lost");
        assert_eq!(many.last(), Some(&(OTHERS.to_owned(), (1..=all - most).sum())));
        assert_eq!(many[0].0, format!("n{:04}", all - most), "the largest are kept");
    }
}
