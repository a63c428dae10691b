//! Tests of `event_handlers`.

use std::sync::LazyLock;

use super::*;

static NO_OBJECTS: LazyLock<Cluster> = LazyLock::new(Cluster::default);

struct Env {
    assumed: bool,
    emulation: Emulation,
}

impl HandlerEnv for Env {
    fn handles_scheduler_name(&self, name: &Str) -> bool {
        name == "mine"
    }
    fn is_assumed_pod(&self, _pod: &Pod) -> bool {
        self.assumed
    }
    fn emulation(&self) -> Emulation {
        self.emulation
    }
    fn cluster(&self) -> &Cluster {
        &NO_OBJECTS
    }
}

fn read(kind: Kind, text: &str) -> Option<Object> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    (!text.is_empty()).then(|| Object::deserialize_kind(kind, &mut deserializer).unwrap())
}

fn words(step: &HandlerStep) -> String {
    match step {
        HandlerStep::CacheAddNode(_) => "cache+node".into(),
        HandlerStep::CacheUpdateNode { .. } => "cache~node".into(),
        HandlerStep::CacheRemoveNode(_) => "cache-node".into(),
        HandlerStep::CacheAddPod(_) => "cache+pod".into(),
        HandlerStep::CacheUpdatePod { .. } => "cache~pod".into(),
        HandlerStep::CacheRemovePod(_) => "cache-pod".into(),
        HandlerStep::QueueAdd(_) => "queue+".into(),
        HandlerStep::QueueUpdate { .. } => "queue~".into(),
        HandlerStep::QueueDelete(_) => "queue-".into(),
        HandlerStep::AssumedPodDeleted(_) => "assumed-".into(),
        HandlerStep::Move { event, change, whom } => {
            let side = [&change.old, &change.new].map(|o| if o.is_some() { "x" } else { "-" }).concat();
            let whom = match whom {
                PodFilter::All => String::new(),
                PodFilter::MaxPriority(priority) => format!(" <={priority}"),
                other => format!(" {other:?}"),
            };
            format!("{event} {side}{whom}")
        }
    }
}

/// Objects as JSON, the empty text for none.
#[track_caller]
fn check(kind: Kind, assumed: bool, old: &str, new: &str, expected: &[&str]) {
    let steps = handle_change(&Env { assumed, emulation: Emulation::default() }, read(kind, old).as_ref(), read(kind, new).as_ref());
    assert_eq!(steps.iter().map(words).collect::<Vec<_>>(), expected);
}

const BOUND: &str = r#"{"spec":{"nodeName":"n","schedulerName":"other"}}"#;
const PENDING: &str = r#"{"spec":{"schedulerName":"mine","priority":7}}"#;
const FOREIGN: &str = r#"{"spec":{"schedulerName":"other"}}"#;
const NOMINATED: &str = r#"{"spec":{"schedulerName":"mine","priority":7},"status":{"nominatedNodeName":"n"}}"#;
const TERMINATING: &str = r#"{"metadata":{"deletionTimestamp":"2026-11-20T00:00:00Z"},"spec":{"schedulerName":"mine","priority":7}}"#;
const SUCCEEDED: &str = r#"{"spec":{"nodeName":"n","schedulerName":"other"},"status":{"phase":"Succeeded"}}"#;
const FAILED: &str = r#"{"spec":{"schedulerName":"mine"},"status":{"phase":"Failed"}}"#;

#[test]
fn pods_with_a_node_concern_everybody_whoever_schedules_them() {
    check(Kind::Pod, false, "", BOUND, &["cache+pod", "AssignedPodAdd -x"]);
    check(Kind::Pod, false, BOUND, BOUND, &["cache~pod", "AssignedPodUpdate xx"]);
    let relabelled = r#"{"metadata":{"labels":{"a":"b"}},"spec":{"nodeName":"n","tolerations":[{"key":"k"}]}}"#;
    check(Kind::Pod, false, BOUND, relabelled, &["cache~pod", "AssignedPodUpdatePodLabel xx", "AssignedPodUpdatePodToleration xx"]);
    check(Kind::Pod, false, BOUND, "", &["cache-pod", "AssignedPodDelete x-"]);
}

#[test]
fn a_phase_that_ends_the_pod_is_a_deletion() {
    check(Kind::Pod, false, BOUND, SUCCEEDED, &["cache-pod", "AssignedPodDelete x-"]);
    check(Kind::Pod, false, PENDING, FAILED, &["queue-"]);
    check(Kind::Pod, false, "", SUCCEEDED, &[]);
    check(Kind::Pod, false, SUCCEEDED, SUCCEEDED, &[]);
    check(Kind::Pod, false, SUCCEEDED, "", &[]);
    check(Kind::Pod, false, SUCCEEDED, BOUND, &["cache+pod", "AssignedPodAdd -x"]);
}

#[test]
fn pending_pods_concern_the_queue_if_they_are_ours() {
    check(Kind::Pod, false, "", PENDING, &["queue+"]);
    check(Kind::Pod, false, PENDING, TERMINATING, &["queue~"]);
    check(Kind::Pod, false, PENDING, "", &["queue-"]);
    for (old, new) in [("", FOREIGN), (FOREIGN, PENDING), (FOREIGN, "")] {
        check(Kind::Pod, false, old, new, &[]);
    }
    check(Kind::Pod, false, PENDING, BOUND, &["cache+pod", "AssignedPodAdd -x", "queue-"]);
    check(Kind::Pod, false, FOREIGN, BOUND, &["cache+pod", "AssignedPodAdd -x"]);
}

#[test]
fn the_same_content_under_another_version_is_an_update() {
    let versioned = r#"{"metadata":{"resourceVersion":"2"},"spec":{"schedulerName":"mine","priority":7}}"#;
    check(Kind::Pod, false, PENDING, versioned, &["queue~"]);
    check(Kind::Pod, false, versioned, versioned, &[]);
    check(Kind::Pod, false, PENDING, PENDING, &["queue~"]);
}

#[test]
fn the_end_of_a_nomination_concerns_pods_of_no_higher_priority() {
    check(Kind::Pod, false, PENDING, NOMINATED, &["queue~"]);
    check(Kind::Pod, false, NOMINATED, PENDING, &["queue~", "AssignedPodDelete x- <=7"]);
    check(Kind::Pod, false, NOMINATED, &NOMINATED.replace("\"n\"", "\"m\""), &["queue~", "AssignedPodDelete x- <=7"]);
    check(Kind::Pod, false, NOMINATED, "", &["queue-", "AssignedPodDelete x- <=7"]);
}

#[test]
fn of_assumed_pods_only_the_deletion_counts() {
    check(Kind::Pod, true, NOMINATED, PENDING, &[]);
    check(Kind::Pod, true, PENDING, TERMINATING, &["assumed-"]);
    check(Kind::Pod, true, TERMINATING, &TERMINATING.replace("00Z", "01Z"), &[]);
    check(Kind::Pod, true, NOMINATED, "", &["queue-", "assumed-"]);
}

#[test]
fn the_cache_knows_of_a_node_first_and_loses_it_last() {
    check(Kind::Node, false, "", "{}", &["cache+node", "NodeAdd -x"]);
    check(Kind::Node, false, "{}", "{}", &["cache~node"]);
    let uncordoned = r#"{"spec":{"unschedulable":true,"taints":[{"key":"k"}]}}"#;
    check(Kind::Node, false, uncordoned, "{}", &["cache~node", "NodeUpdateNodeTaint xx", "NodeUpdateNodeTaint xx"]);
    check(Kind::Node, false, "{}", "", &["NodeDelete x-", "cache-node"]);
}

#[test]
fn the_deletion_of_a_node_is_an_event_from_1_32_on() {
    let node = read(Kind::Node, "{}");
    for (version, expected) in [("v1.31.14", &["cache-node"][..]), ("v1.32.2", &["NodeDelete x-", "cache-node"])] {
        let emulation = crate::release::Profile::named(version).expect("an emulated release").into();
        let steps = handle_change(&Env { assumed: false, emulation }, node.as_ref(), None);
        assert_eq!(steps.iter().map(words).collect::<Vec<_>>(), expected, "{version}");
    }
}

#[test]
fn other_kinds_are_one_event_or_none() {
    check(Kind::StorageClass, false, "", "{}", &["storage.k8s.io/StorageClassAdd -x"]);
    check(Kind::ResourceClaim, false, "{}", "{}", &["resource.k8s.io/ResourceClaimUpdate xx"]);
    check(Kind::VolumeAttachment, false, "{}", "", &["storage.k8s.io/VolumeAttachmentDelete x-"]);
    for kind in [Kind::PodDisruptionBudget, Kind::Namespace, Kind::PriorityClass, Kind::Service, Kind::ReplicaSet] {
        check(kind, false, "", "{}", &[]);
    }
    assert!(handle_change(&Env { assumed: false, emulation: Emulation::default() }, None, None).is_empty());
}

/// A scheduler of a release.
struct Earlier(&'static str);

impl HandlerEnv for Earlier {
    fn handles_scheduler_name(&self, _name: &Str) -> bool {
        true
    }
    fn is_assumed_pod(&self, _pod: &Pod) -> bool {
        false
    }
    fn emulation(&self) -> Emulation {
        crate::release::Profile::named(self.0).expect("an emulated release").into()
    }
    fn cluster(&self) -> &Cluster {
        &NO_OBJECTS
    }
}

#[test]
fn earlier_releases_look_at_fewer_pods_and_tell_of_other_ends() {
    let steps = |version, kind, old: &str, new: &str| {
        let steps = handle_change(&Earlier(version), read(kind, old).as_ref(), read(kind, new).as_ref());
        steps.iter().map(words).collect::<Vec<_>>().join(", ")
    };
    let pod = |node: &str, nominated: &str| {
        format!(r#"{{"metadata":{{"name":"p","uid":"p"}},"spec":{{"nodeName":"{node}"}},"status":{{"nominatedNodeName":"{nominated}"}}}}"#)
    };
    for (version, bound, gone) in [
        ("v1.30.1", "AssignedPodAdd -x WithAffinityTerm, queue-", "queue-"),
        ("v1.31.1", "AssignedPodAdd -x WithAffinityTermOrSpread, queue-", "queue-"),
        ("v1.34.1", "AssignedPodAdd -x, queue-, AssignedPodDelete x- <=0", "queue-, AssignedPodDelete x- <=0"),
        ("v1.35.2", "AssignedPodAdd -x, queue-", "queue-, AssignedPodDelete x- <=0"),
        ("v1.36.2", "AssignedPodAdd -x, queue-", "queue-, AssignedPodDelete x- <=0"),
    ] {
        assert_eq!(steps(version, Kind::Pod, &pod("", "n"), &pod("n", "")), format!("cache+pod, {bound}"), "{version}");
        assert_eq!(steps(version, Kind::Pod, &pod("", "n"), ""), gone, "{version}");
    }
    let node = r#"{"metadata":{"name":"n"}}"#;
    assert_eq!(steps("v1.31.1", Kind::Node, "", node), "cache+node, NodeAdd -x Admitted");
    assert_eq!(steps("v1.32.2", Kind::Node, "", node), "cache+node, NodeAdd -x");
    let class = |mode: &str| format!(r#"{{"metadata":{{"name":"c"}},"volumeBindingMode":"{mode}"}}"#);
    assert_eq!(steps("v1.31.1", Kind::StorageClass, "", &class("Immediate")), "");
    assert_eq!(steps("v1.31.1", Kind::StorageClass, "", &class("WaitForFirstConsumer")), "storage.k8s.io/StorageClassAdd -x");
    assert_eq!(steps("v1.32.2", Kind::StorageClass, "", &class("Immediate")), "storage.k8s.io/StorageClassAdd -x");
}

/// A scheduler of 1.37 with two slices of devices, one of them of driver `gpu`.
struct WithDevices(Cluster);

impl HandlerEnv for WithDevices {
    fn handles_scheduler_name(&self, _name: &Str) -> bool {
        true
    }
    fn is_assumed_pod(&self, _pod: &Pod) -> bool {
        false
    }
    fn emulation(&self) -> Emulation {
        crate::release::Profile::named("v1.37.0").expect("an emulated release").into()
    }
    fn cluster(&self) -> &Cluster {
        &self.0
    }
}

#[test]
fn a_rule_that_taints_devices_updates_their_slices() {
    let slice = |driver: &str| {
        let spec = format!(r#"{{"driver":"{driver}","pool":{{"name":"p"}},"allNodes":true,"devices":[{{"name":"a"}}]}}"#);
        read(Kind::ResourceSlice, &format!(r#"{{"metadata":{{"name":"{driver}"}},"spec":{spec}}}"#)).unwrap()
    };
    let env = WithDevices([slice("gpu"), slice("nic")].into_iter().collect());
    let rule = |selector: &str| {
        let spec = format!(r#"{{"deviceSelector":{selector},"taint":{{"key":"k","effect":"NoSchedule"}}}}"#);
        read(Kind::DeviceTaintRule, &format!(r#"{{"metadata":{{"name":"r"}},"spec":{spec}}}"#))
    };
    let (gpu, all) = (rule(r#"{"driver":"gpu"}"#), rule("{}"));
    let steps = |old: &Option<Object>, new: &Option<Object>| {
        let steps = handle_change(&env, old.as_ref(), new.as_ref());
        steps.iter().map(words).collect::<Vec<_>>().join(", ")
    };
    let update = "resource.k8s.io/ResourceSliceUpdate xx";
    assert_eq!(steps(&None, &gpu), update);
    assert_eq!(steps(&None, &all), format!("{update}, {update}"));
    assert_eq!(steps(&gpu, &all), update, "only the other slice changes");
    assert_eq!(steps(&gpu, &gpu), "");
    assert_eq!(steps(&all, &None), format!("{update}, {update}"));
}
