//! The messages of kube-scheduler that the reader understands. They are recognized by their text, since line numbers
//! change with every release.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A known message, with the function that logs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Message {
    /// `scheduler.addPodToSchedulingQueue`.
    PodAdded,
    /// `scheduler.deletePodFromSchedulingQueue`: deleted, or bound.
    PodDeleted,
    /// `ScheduleOne`: the pod was popped.
    Popped,
    /// `schedulingCycle` begins.
    AttemptStarted,
    /// `ScheduleOne` skips a pod that is being deleted or is assumed.
    Skipped,
    /// `bind` of the default binder.
    Binding,
    Bound,
    /// `handleSchedulingFailure`: no node fits.
    Unschedulable,
    /// `handleSchedulingFailure`: the cluster has no nodes.
    NoNodes,
    /// `handleSchedulingFailure`: an error.
    Error,
    /// `handleSchedulingFailure`: the pod is deleted, bound or recreated.
    NotRequeued,
    /// `unlockedPop` discards a pod that is still in flight (kubernetes issue 139186).
    Discarded,
    /// The scheduling queue moved a pod.
    Moved,
    /// As [`Self::Moved`], for a pod that PreEnqueue rejects.
    MovedGated,
    /// Follows the line of the move.
    MovedByUpdate,
    /// `runPreEnqueuePlugin`: the plugin that rejects the pod.
    PreEnqueue,
    /// `updatePod` in `handleSchedulingFailure`.
    Condition,
    Waiting,
    RejectedOnPermit,
    /// `selectVictimsOnNode` of DefaultPreemption.
    PotentialVictim,
    PreemptionNode,
    Victim,
    DryRun,
    NotEligible,
    PostFilter,
    Score,
    /// Remarks of the queue; they prove that the log's verbosity includes moves.
    QueueRemark,
    /// A pod on a node was seen, first or again after its binding.
    PodOnNode,
    /// A pod on a node was deleted.
    PodOffNode,
    /// A node came, went or changed.
    NodeChanged,
    /// A line that shows the verbosity and nothing else.
    Remark,
    /// `runtime.NewFramework`.
    Plugins,
    /// `options.LogOrWriteConfig`.
    Config,
    /// `app.Run`.
    Starting,
    Extender,
    NodeDump,
    QueueDump,
    CacheMismatch,
    NodeInTree,
    NodeOutOfTree,
    /// `FLAG: --name="value"`.
    Flag,
    LeaseWanted,
    LeaseHeld,
    LeaseLost,
    /// client-go's line for each request, which shows the verbosity.
    Response,
}

/// A message and the verbosity that its presence proves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    text: &'static str,
    pub(super) message: Message,
    /// The lowest verbosity at which any release logs it.
    pub(super) verbosity: u8,
}

const fn row(verbosity: u8, message: Message, text: &'static str) -> Row {
    Row { text, message, verbosity }
}

impl Message {
    /// Returns whether only kube-scheduler logs it. Other components have flags and leases too.
    pub(super) fn is_schedulers(self) -> bool {
        !matches!(self, Self::Flag | Self::LeaseWanted | Self::LeaseHeld | Self::LeaseLost | Self::Response)
    }

    /// Returns whether a scheduler logs it at its start.
    pub(super) fn is_start(self) -> bool {
        matches!(self, Self::Plugins | Self::Config | Self::Starting | Self::Flag)
    }
}

use Message as M;

#[rustfmt::skip]
const ROWS: &[Row] = &[
    row(3, M::PodAdded, "Add event for unscheduled pod"),
    row(3, M::PodDeleted, "Delete event for unscheduled pod"),
    row(4, M::Popped, "About to try and schedule pod"),
    row(3, M::AttemptStarted, "Attempting to schedule pod"),
    row(3, M::Skipped, "Skip schedule deleting pod"),
    row(3, M::Binding, "Attempting to bind pod to node"),
    row(0, M::Bound, "Successfully bound pod to node"),
    row(2, M::Unschedulable, "Unable to schedule pod; no fit; waiting"),
    row(2, M::Unschedulable, "Unable to schedule pod belonging to a pod group; waiting"),
    row(2, M::NoNodes, "Unable to schedule pod; no nodes are registered to the cluster; waiting"),
    row(2, M::Error, "Unable to schedule pod, possibly due to node not found; waiting"),
    row(0, M::Error, "Error scheduling pod; retrying"),
    row(0, M::NotRequeued, "Pod doesn't exist in informer cache"),
    row(0, M::NotRequeued, "Pod has been assigned to node. Abort adding it back to queue."),
    row(2, M::NotRequeued, "Pod was recreated while handling scheduling failure. Skip requeueing and status updates."),
    row(0, M::Discarded, "Discarding the popped pod"),
    row(0, M::Discarded, "The same pod is tracked in multiple places in the scheduler, and just discard it"),
    row(3, M::Moved, "Pod moved to an internal scheduling queue"),
    row(5, M::MovedGated, "Pod moved to an internal scheduling queue, because the pod is gated"),
    row(5, M::MovedByUpdate, "Pod moved to an internal scheduling queue because the Pod is updated"),
    row(0, M::PreEnqueue, "Status after running PreEnqueue plugin"),
    row(3, M::Condition, "Updating pod condition and nominated node name"),
    row(3, M::Condition, "Updating pod condition"),
    row(4, M::Waiting, "Pod waiting on permit"),
    row(4, M::RejectedOnPermit, "Pod rejected while waiting on permit"),
    row(5, M::PotentialVictim, "Pod is a potential preemption victim on node"),
    row(2, M::PreemptionNode, "the target node for the preemption is determined"),
    row(2, M::Victim, "Preemptor Pod preempted victim Pod"),
    row(2, M::Victim, "Victim Pod is already being deleted, skipping the API call for it"),
    row(2, M::Victim, "Victim Pod is already deleted, skipping the API call for it"),
    row(2, M::Victim, "Victim Pod is already deleted"),
    row(2, M::Victim, "Preemptor pod rejected a waiting pod"),
    row(2, M::Victim, "Preemptor preempted a waiting pod"),
    row(2, M::Victim, "Preemptor rejected a pod in preBind"),
    row(5, M::DryRun, "Dry run the preemption"),
    row(5, M::NotEligible, "Pod is not eligible for preemption"),
    row(5, M::NotEligible, "Pod is not eligible for more preemption"),
    row(5, M::NotEligible, "Pod is not eligible for preemption because it has a preemptionPolicy of Never"),
    row(0, M::PostFilter, "Status after running PostFilter plugins for pod"),
    row(10, M::Score, "Calculated node's final score for pod"),
    row(5, M::QueueRemark, "Event is not making pod schedulable"),
    row(5, M::QueueRemark, "Checking events for in-flight pod"),
    row(5, M::QueueRemark, "Checking event for in-flight pod"),
    row(5, M::QueueRemark, "Event received while pods are in flight"),
    row(6, M::QueueRemark, "receive an event that isn't interested by any enabled plugins"),
    row(3, M::PodOnNode, "Add event for scheduled pod"),
    row(3, M::PodOffNode, "Delete event for scheduled pod"),
    row(4, M::Remark, "Update event for unscheduled pod"),
    row(4, M::Remark, "Update event for scheduled pod"),
    row(3, M::NodeChanged, "Add event for node"),
    row(3, M::NodeChanged, "Delete event for node"),
    row(4, M::NodeChanged, "Update event for node"),
    row(5, M::Remark, "Check the potential node for preemption"),
    row(3, M::Remark, "Preemption will not help schedule pod on any node"),
    row(2, M::Remark, "No preemption candidate is found; preemption is not helpful for scheduling"),
    row(2, M::Remark, "Start the preemption asynchronously"),
    row(2, M::Remark, "Async Preemption finished completely"),
    row(5, M::Remark, "Status after running PreFilter plugins for pod"),
    row(10, M::Remark, "Plugin scored node for pod"),
    row(10, M::Remark, "Extender scored node for pod"),
    row(10, M::Remark, "Listed internal info for allocatable resources, requested resources and score"),
    row(2, M::Plugins, "the scheduler starts to work with those plugins"),
    row(2, M::Config, "Using component config"),
    row(0, M::Starting, "Starting Kubernetes Scheduler"),
    row(2, M::Extender, "Creating extender"),
    row(0, M::NodeDump, "Dump of cached NodeInfo"),
    row(0, M::QueueDump, "Dump of scheduling queue"),
    row(0, M::CacheMismatch, "Cache mismatch"),
    row(2, M::NodeInTree, "Added node to NodeTree"),
    row(2, M::NodeInTree, "Added node in listed group to NodeTree"),
    row(2, M::NodeOutOfTree, "Removed node from NodeTree"),
    row(2, M::NodeOutOfTree, "Removed node in listed group from NodeTree"),
    row(0, M::LeaseWanted, "Attempting to acquire leader lease..."),
    row(0, M::LeaseHeld, "Successfully acquired lease"),
    row(0, M::LeaseLost, "Leaderelection lost"),
    row(6, M::Response, "Response"),
];

static BY_TEXT: LazyLock<HashMap<&'static str, &'static Row>> = LazyLock::new(|| ROWS.iter().map(|row| (row.text, row)).collect());

/// Returns the row of a message; `None` if it is unknown.
pub(super) fn known(text: &str) -> Option<&'static Row> {
    BY_TEXT.get(text).copied()
}

/// A message whose values are in its text, with the values; older releases log these.
pub(super) type Inline<'a> = (Row, Vec<(&'static str, Cow<'a, str>)>);

const FLAG: Row = row(1, M::Flag, "FLAG: --");
const LEASE_WANTED: Row = row(0, M::LeaseWanted, "attempting to acquire leader lease ");
const LEASE_HELD: Row = row(0, M::LeaseHeld, "successfully acquired lease ");

/// Messages that end with a pod or node, as logged before structured logging.
#[rustfmt::skip]
const ENDING: &[(Row, &str)] = &[
    (row(3, M::PodAdded, "add event for unscheduled pod "), "pod"),
    (row(3, M::PodDeleted, "delete event for unscheduled pod "), "pod"),
    (row(3, M::PodOnNode, "add event for scheduled pod "), "pod"),
    (row(3, M::PodOffNode, "delete event for scheduled pod "), "pod"),
    (row(3, M::NodeChanged, "add event for node "), "node"),
    (row(3, M::Remark, "delete event for node "), "node"),
    (row(4, M::Popped, "About to try and schedule pod "), "pod"),
    (row(3, M::AttemptStarted, "Attempting to schedule pod: "), "pod"),
    (row(3, M::Skipped, "Skip schedule deleting pod: "), "pod"),
    (row(3, M::Condition, "Updating pod condition for "), "pod"),
];

/// Parses a message whose values are in its text; `None` if it is unknown.
pub(super) fn inline(text: &str) -> Option<Inline<'_>> {
    if let Some(rest) = text.strip_prefix(FLAG.text) {
        let (name, value) = rest.split_once('=')?;
        let value = value.strip_prefix('"').unwrap_or(value);
        let value = value.strip_suffix('"').unwrap_or(value);
        return Some((FLAG, vec![("name", name.into()), ("value", value.into())]));
    }
    if text.starts_with(LEASE_WANTED.text) {
        return Some((LEASE_WANTED, Vec::new()));
    }
    if text.starts_with(LEASE_HELD.text) {
        return Some((LEASE_HELD, Vec::new()));
    }
    if let Some(rest) = text.strip_prefix("Attempting to bind ")
        && let Some((pod, node)) = rest.split_once(" to ")
        && pod.contains('/')
    {
        return Some((row(3, M::Binding, ""), vec![("pod", pod.into()), ("node", node.into())]));
    }
    if let Some(rest) = text.strip_prefix("Unable to schedule ")
        && let Some((pod, why)) = rest.split_once(": ")
        && pod.contains('/')
    {
        let why = why.strip_suffix("; waiting").unwrap_or(why);
        return Some((row(2, M::Error, ""), vec![("pod", pod.into()), ("err", why.into())]));
    }
    if let Some(rest) = text.strip_prefix("Pod ")
        && let Some((pod, node)) = rest.split_once(" is a potential preemption victim on node ")
    {
        return Some((row(5, M::PotentialVictim, ""), vec![("pod", pod.into()), ("node", node.trim_end_matches('.').into())]));
    }
    if let Some(rest) = text.strip_prefix("Status after running PostFilter plugins for pod ")
        && let Some((pod, status)) = rest.split_once(": ")
    {
        return Some((row(5, M::PostFilter, ""), vec![("pod", pod.into()), ("status", status.into())]));
    }
    let (row, key) = ENDING.iter().find(|(row, _)| text.starts_with(row.text))?;
    let rest = &text[row.text.len()..];
    let name = rest.split(' ').next().unwrap_or(rest).trim_matches('"');
    (!name.is_empty()).then(|| (*row, vec![(*key, name.into())]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_there_once() {
        assert_eq!(BY_TEXT.len(), ROWS.len());
        assert_eq!(known("Attempting to schedule pod").map(|row| (row.message, row.verbosity)), Some((M::AttemptStarted, 3)));
        assert!(known("Attempting to schedule pod: a/b").is_none());
    }

    #[test]
    #[allow(clippy::type_complexity, reason = "a table of one test")]
    fn values_are_cut_out_of_older_messages() {
        let rows: [(&str, Option<(Message, &[(&str, &str)])>); 9] = [
            (r#"FLAG: --feature-gates="A=true,B=false""#, Some((M::Flag, &[("name", "feature-gates"), ("value", "A=true,B=false")]))),
            ("Attempting to schedule pod: shop/web", Some((M::AttemptStarted, &[("pod", "shop/web")]))),
            ("add event for scheduled pod shop/web ", Some((M::PodOnNode, &[("pod", "shop/web")]))),
            ("add event for node \"n-1\"", Some((M::NodeChanged, &[("node", "n-1")]))),
            ("Attempting to bind shop/web to n-1", Some((M::Binding, &[("pod", "shop/web"), ("node", "n-1")]))),
            (
                "Updating pod condition for shop/web to (PodScheduled==False, Reason=Unschedulable)",
                Some((M::Condition, &[("pod", "shop/web")])),
            ),
            ("Pod a/b is a potential preemption victim on node n.", Some((M::PotentialVictim, &[("pod", "a/b"), ("node", "n")]))),
            ("attempting to acquire leader lease kube-system/kube-scheduler...", Some((M::LeaseWanted, &[]))),
            ("Attempting to fly", None),
        ];
        for (text, expected) in rows {
            let found = inline(text);
            let found = found.as_ref().map(|(row, values)| (row.message, values.iter().map(|(k, v)| (*k, &**v)).collect::<Vec<_>>()));
            assert_eq!(found, expected.map(|(message, values)| (message, values.to_vec())), "{text}");
        }
    }
}
