//! Helpers of this folder's tests: small objects, and filters that count only CPU.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::cluster::{Cluster, Node, Object, Pod, PodDisruptionBudget};
use crate::framework::{
    Context, CycleState, DryRunPolicy, FilterRunner, NodeInfo, NodeToStatus, PodInfo, PodSums, PostFilterContext, Snapshot, Status,
    SumsTried,
};
use crate::release::Emulation;

/// Makes a pod in namespace `default`, bound if `node` is not empty, started `start` seconds after 1970.
pub(super) fn pod(name: &str, node: &str, priority: i32, milli_cpu: i64, start: Option<i64>) -> Pod {
    let json = serde_json::json!({
        "metadata": {"name": name, "namespace": "default", "uid": name},
        "spec": {"nodeName": node, "priority": priority, "containers": [{"resources": {"requests": {"cpu": format!("{milli_cpu}m")}}}]},
        "status": {"startTime": start.map(|s| jiff::Timestamp::from_second(s).unwrap())},
    });
    serde_json::from_value(json).unwrap()
}

/// Makes a pod in namespace `default` with one label, without priority or requests.
pub(super) fn labelled(name: &str, key: &str, value: &str) -> Pod {
    let mut pod = pod(name, "a", 0, 0, None);
    pod.metadata.labels = [(key, value.into())].into_iter().collect();
    pod
}

/// Makes a budget in namespace `default`.
pub(super) fn budget(name: &str, allowed: i32, selector: &str) -> PodDisruptionBudget {
    let selector: serde_json::Value = serde_json::from_str(selector).unwrap();
    let json = serde_json::json!({
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": selector},
        "status": {"disruptionsAllowed": allowed},
    });
    serde_json::from_value(json).unwrap()
}

/// Wraps a budget as an object of a cluster.
pub(super) fn object(budget: PodDisruptionBudget) -> Object {
    Object::PodDisruptionBudget(Arc::new(budget))
}

/// Makes a node with pods.
pub(super) fn node(name: &str, milli_cpu: i64, pods: &[Pod]) -> NodeInfo {
    let json = serde_json::json!({"metadata": {"name": name}, "status": {"allocatable": {"cpu": format!("{milli_cpu}m")}}});
    let mut info = NodeInfo::new(Arc::new(serde_json::from_value::<Node>(json).unwrap()));
    for pod in pods {
        info.add_pod(Arc::new(PodInfo::new(Arc::new(pod.clone()))));
    }
    info
}

/// Makes a `PostFilter` context in the year 9999, with default gates and policy.
pub(super) fn context<'a>(
    cluster: &'a Cluster,
    snapshot: &'a Snapshot,
    statuses: &'a NodeToStatus,
    runner: &'a CpuRunner,
) -> PostFilterContext<'a> {
    let cx = Context { cluster, snapshot, emulation: Emulation::default(), now: jiff::Timestamp::MAX };
    PostFilterContext { cx, runner, statuses, dry_run: DryRunPolicy::default(), quiet: false, extenders: None }
}

/// Filters that reject with `Insufficient cpu`.
#[derive(Default)]
pub(super) struct CpuRunner {
    nominated: BTreeMap<String, Vec<Arc<PodInfo>>>,
    /// Says that it looks at sums of the pods alone.
    pub(super) by_sums: AtomicBool,
    /// Rejects by sums first, and looks at the pods where they pass.
    pub(super) first_by_sums: AtomicBool,
    /// Makes every removal fail.
    pub(super) fail_remove: bool,
    /// Makes every addition fail.
    pub(super) fail_add: bool,
    /// Notes changes of pods on nodes that are not changed themselves; `None` if there must be none.
    pub(super) elsewhere: Option<Mutex<Vec<String>>>,
}

impl CpuRunner {
    pub(super) fn nominate(&mut self, node: &str, pod: Pod) {
        self.nominated.entry(node.to_owned()).or_default().push(Arc::new(PodInfo::new(Arc::new(pod))));
    }
}

impl CpuRunner {
    /// Notes a change of a pod on another node than the one named by the preemptor's label `tried`; returns whether it is one.
    fn note(&self, sign: char, preemptor: &PodInfo, pod: &PodInfo, node: &NodeInfo) -> bool {
        let Some(notes) = &self.elsewhere else { return false };
        let elsewhere = preemptor.pod.metadata.labels.get("tried").is_none_or(|tried| tried != node.name());
        if elsewhere {
            notes.lock().unwrap().push(format!("{sign}{}@{}", pod.pod.metadata.name, node.name()));
        }
        elsewhere
    }
}

fn follow(fail: bool, verb: &str, pod: &PodInfo) -> Status {
    if fail { Status::unschedulable(format!("{verb} {}", pod.pod.metadata.name)) } else { Status::success() }
}

impl FilterRunner for CpuRunner {
    fn filter_with_nominated_pods(&self, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        let nominated = self.nominated_sums(pod, node).map_or(0, |sums| sums.requested.milli_cpu);
        let wanted = node.requested.milli_cpu + nominated + pod.resource.resource.milli_cpu;
        if wanted <= node.allocatable.milli_cpu { Status::success() } else { Status::unschedulable("Insufficient cpu") }
    }

    fn depends_on_sums(&self) -> bool {
        self.by_sums.load(Ordering::Relaxed)
    }

    fn nominated_sums(&self, pod: &PodInfo, node: &NodeInfo) -> Option<PodSums> {
        let nominated = self.nominated_pods(node.name());
        let counted = nominated.iter().filter(|p| p.pod.priority() >= pod.pod.priority() && p.pod.metadata.uid != pod.pod.metadata.uid);
        let mut sums = PodSums::default();
        counted.for_each(|other| sums.add(other));
        Some(sums).filter(|sums| sums.pods > 0)
    }

    fn filter_sums(&self, tried: &SumsTried<'_>, sums: &PodSums, with_nominated: Option<&PodSums>, _again: bool) -> Status {
        let wanted = with_nominated.unwrap_or(sums).requested.milli_cpu + tried.pod.resource.resource.milli_cpu;
        if wanted <= tried.node.allocatable.milli_cpu { Status::success() } else { Status::unschedulable("Insufficient cpu") }
    }

    fn rejection_by_sums(&self, tried: &SumsTried<'_>, sums: &PodSums, with_nominated: Option<&PodSums>) -> Option<Status> {
        let asks = self.first_by_sums.load(Ordering::Relaxed);
        asks.then(|| self.filter_sums(tried, sums, with_nominated, false)).filter(|status| !status.is_success())
    }

    fn add_pod(&self, _state: &mut CycleState, pod: &PodInfo, added: &PodInfo, node: &NodeInfo) -> Status {
        self.note('+', pod, added, node);
        assert!(node.pods.iter().any(|p| p.key() == added.key()), "the node holds the pod already");
        follow(self.fail_add, "add", added)
    }

    fn remove_pod(&self, _state: &mut CycleState, pod: &PodInfo, removed: &PodInfo, node: &NodeInfo) -> Status {
        if self.note('-', pod, removed, node) {
            return Status::success();
        }
        assert!(!node.pods.iter().any(|p| p.key() == removed.key()), "the node no longer holds the pod");
        follow(self.fail_remove, "remove", removed)
    }

    fn nominated_pods(&self, node: &str) -> Vec<Arc<PodInfo>> {
        self.nominated.get(node).cloned().unwrap_or_default()
    }
}
