//! Findings that need both sides: the pod and its decision, and the words of others.

use jiff::Timestamp;

use super::funnel::WorkloadInput;
use super::queues::{QueueQuota, quota_of};
use super::voices::{Meaning, Voice};
use crate::cluster::neighbors::{About, NeighborKind};
use crate::cluster::{Pod, Str};

/// The priority below which cluster-autoscaler ignores pods by default (`--expendable-pods-priority-cutoff`).
const EXPENDABLE: i32 = -10;

/// A finding that needs both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Joint {
    /// The autoscaler waits for a node since this moment.
    NodeComing(Option<Timestamp>),
    /// The coming node of Karpenter: its NodeClaim, and the first condition that is not true.
    Claim(About, Option<Str>),
    /// Karpenter adds no node while the pod is nominated to this one.
    Nominated(Str),
    /// The autoscaler says nothing about pods of so low a priority.
    BelowCutoff(i32),
    /// The autoscaler speaks of other pods, and not of this one.
    NoWord,
    /// The pod is rejected before any node is tried, so more nodes would not help.
    NotForNodes,
    /// The quota that Kueue waits for.
    Quota(QueueQuota),
}

/// Returns the findings about a pending pod. `is_rejected` says whether it is rejected before any node is tried.
pub fn joint(input: &WorkloadInput<'_>, pod: &Pod, voices: &[Voice], is_rejected: bool) -> Vec<Joint> {
    let mut found = Vec::new();
    let about = &About::new("Pod", pod.key());
    let own = || voices.iter().filter(|voice| voice.about == *about);
    let newest = own().find(|voice| matches!(voice.means, Some(Meaning::ScaleUp(_) | Meaning::NoScaleUp(_))));
    if let Some(voice) = newest.filter(|voice| matches!(voice.means, Some(Meaning::ScaleUp(_)))) {
        found.push(Joint::NodeComing(voice.last));
    }
    found.extend(own().find_map(|voice| claim(input, voice)));
    let mut quotas = voices.iter().filter_map(|voice| {
        let (resource, flavor) = voice.means.as_ref()?.lacking_quota()?;
        quota_of(input, &voice.about, resource, flavor)
    });
    found.extend(quotas.next().map(Joint::Quota));
    let speaks = |name: &str| input.speaks(name);
    let nominated = &pod.status.nominated_node_name;
    let has_karpenter = speaks("karpenter") || input.neighbors.of_kind(NeighborKind::NodePool).next().is_some();
    if has_karpenter && !nominated.is_empty() {
        found.push(Joint::Nominated(nominated.clone()));
    }
    if speaks("cluster-autoscaler") && own().all(|voice| voice.speaker != "cluster-autoscaler") {
        found.push(if pod.priority() < EXPENDABLE { Joint::BelowCutoff(pod.priority()) } else { Joint::NoWord });
    }
    if is_rejected && (has_karpenter || speaks("cluster-autoscaler")) {
        found.push(Joint::NotForNodes);
    }
    found
}

/// Returns the NodeClaim that Karpenter plans for the pod, with the first step that it has not done.
fn claim(input: &WorkloadInput<'_>, voice: &Voice) -> Option<Joint> {
    let Some(Meaning::Nominated(node)) = &voice.means else { return None };
    let name = node.split(", ").find_map(|part| part.strip_prefix("nodeclaim/"))?;
    let claim = input.neighbors.of_kind(NeighborKind::NodeClaim).find(|claim| claim.metadata.name == name)?;
    let conditions = claim.conditions();
    let is_done = |step: &&&str| conditions.iter().any(|c| c.kind == **step && c.status == "True");
    let lacks = ["Launched", "Registered", "Initialized"].iter().find(|step| !is_done(step)).map(|step| Str::from(*step));
    Some(Joint::Claim(About::new("NodeClaim", claim.metadata.key()), lacks))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::neighbors::{Neighbors, OtherEvent};
    use crate::cluster::{Cluster, Key};
    use crate::workload::voices_of_pod;

    fn pod(text: &str) -> Pod {
        serde_json::from_str(text).unwrap()
    }

    fn event(name: &str, speaker: &str, reason: &str, text: &str) -> OtherEvent {
        let about = About::new("Pod", Key::new("shop", name));
        OtherEvent { about, speaker: speaker.into(), reason: reason.into(), text: text.into(), ..OtherEvent::default() }
    }

    fn found(pod: &Pod, events: Vec<OtherEvent>, is_rejected: bool) -> Vec<Joint> {
        let (cluster, mut neighbors) = (Cluster::default(), Neighbors::default());
        neighbors.events = events;
        let input = WorkloadInput::of_events(&cluster, &neighbors);
        joint(&input, pod, &voices_of_pod(&input, pod, None).voices, is_rejected)
    }

    #[test]
    fn silence_of_an_autoscaler_that_speaks_elsewhere_has_a_reason() {
        let other = || event("other", "cluster-autoscaler", "NotTriggerScaleUp", "pod didn't trigger scale-up: x");
        let low = pod(r#"{"metadata":{"name":"web","namespace":"shop"},"spec":{"priority":-20}}"#);
        assert_eq!(found(&low, vec![other()], false), [Joint::BelowCutoff(-20)]);
        let plain = pod(r#"{"metadata":{"name":"web","namespace":"shop"},"spec":{}}"#);
        assert_eq!(found(&plain, vec![other()], true), [Joint::NoWord, Joint::NotForNodes]);
        assert_eq!(found(&plain, Vec::new(), true), []);
    }

    #[test]
    fn a_nomination_keeps_karpenter_away_and_a_scale_up_is_waited_for() {
        let nominated = pod(r#"{"metadata":{"name":"web","namespace":"shop"},"status":{"nominatedNodeName":"worker-a2"}}"#);
        let karpenter = event("web", "karpenter", "FailedScheduling", "Failed to schedule pod, x");
        assert_eq!(found(&nominated, vec![karpenter], false), [Joint::Nominated("worker-a2".into())]);
        let plain = pod(r#"{"metadata":{"name":"web","namespace":"shop"}}"#);
        let up = event("web", "cluster-autoscaler", "TriggeredScaleUp", "pod triggered scale-up: [{pool-a 1->2 (max: 3)}]");
        assert_eq!(found(&plain, vec![up], false), [Joint::NodeComing(None)]);
    }
}
