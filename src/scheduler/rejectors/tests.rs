//! Tests of `rejectors`.

use super::*;
use crate::framework::PluginName;

/// Checks the plugin of one reason; `plugin` is empty for an unknown reason.
#[track_caller]
fn check(text: &str, plugin: &str) {
    for message in [
        format!("0/3 nodes are available: 3 {text}."),
        format!("0/3 nodes are available: {text}. not found"),
        format!("0/3 nodes are available: 3 {text}. preemption: 0/3 nodes are available: 3 Insufficient x, 1 Too many pods."),
        format!("0/3 nodes are available: 3 {text}. no new claims to deallocate, preemption: not eligible."),
    ] {
        let found = Rejectors::of(&message).unwrap();
        let names: Vec<&str> = found.plugins.iter().map(PluginName::as_str).collect();
        assert_eq!(names.join(" "), plugin, "{message}");
        assert_eq!(found.unknown, if plugin.is_empty() { vec![text.to_owned()] } else { Vec::new() }, "{message}");
    }
}

#[test]
fn every_text_has_its_plugin() {
    for (text, plugin) in [
        ("Insufficient cpu", "NodeResourcesFit"),
        ("Insufficient nvidia.com/gpu", "NodeResourcesFit"),
        ("Too many pods", "NodeResourcesFit"),
        ("node(s) had untolerated taint(s)", "TaintToleration"),
        ("node(s) had untolerated taint {dedicated: gpu}", "TaintToleration"),
        ("node(s) had taint {a: b}, that the pod didn't tolerate", "TaintToleration"),
        ("node(s) were unschedulable", "NodeUnschedulable"),
        ("node(s) didn't match Pod's node affinity/selector", "NodeAffinity"),
        ("node(s) didn't match scheduler-enforced node affinity", "NodeAffinity"),
        ("pod affinity terms conflict", "NodeAffinity"),
        ("node(s) didn't match the requested node name", "NodeName"),
        ("node(s) didn't have free ports for the requested pod ports", "NodePorts"),
        ("node(s) didn't match pod topology spread constraints", "PodTopologySpread"),
        ("node(s) didn't match pod topology spread constraints (missing required label)", "PodTopologySpread"),
        ("node(s) didn't match pod affinity rules", "InterPodAffinity"),
        ("node(s) didn't match pod anti-affinity rules", "InterPodAffinity"),
        ("node(s) didn't satisfy existing pods anti-affinity rules", "InterPodAffinity"),
        ("node(s) exceed max volume count", "NodeVolumeLimits"),
        ("ebs.csi.aws.com CSI driver is not installed on the node", "NodeVolumeLimits"),
        ("looking up PVC d/x: persistentvolumeclaim \"x\" not found", "NodeVolumeLimits"),
        ("node(s) had no available volume zone", "VolumeZone"),
        ("persistentvolume \"pv\" not found", "VolumeZone"),
        ("storageclass.storage.k8s.io \"x\" not found", "VolumeZone"),
        ("VolumeBindingMode not set for StorageClass \"x\"", "VolumeZone"),
        ("PersistentVolumeClaim had no name", "VolumeZone"),
        ("PersistentVolume had no name", "VolumeZone"),
        ("node(s) had no available disk", "VolumeRestrictions"),
        (
            "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
            "VolumeRestrictions",
        ),
        ("persistentvolumeclaim \"x\" not found", "VolumeRestrictions"),
        ("pod has unbound immediate PersistentVolumeClaims", "VolumeBinding"),
        ("waiting for ephemeral volume controller to create the persistentvolumeclaim \"x\"", "VolumeBinding"),
        ("PVC d/p-x was not created for pod d/p (pod is not owner)", "VolumeBinding"),
        ("persistentvolumeclaim \"x\" is being deleted", "VolumeBinding"),
        ("persistentvolumeclaim \"x\" bound to non-existent persistentvolume \"v\"", "VolumeBinding"),
        ("node(s) didn't find available persistent volumes to bind", "VolumeBinding"),
        ("node(s) didn't match PersistentVolume's node affinity", "VolumeBinding"),
        ("node(s) had volume node affinity conflict", "VolumeBinding"),
        ("node(s) did not have enough free storage", "VolumeBinding"),
        ("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)", "VolumeBinding"),
        ("node(s) didn't match Pod's required features", "NodeDeclaredFeatures"),
        ("cannot allocate all claims", "DynamicResources"),
        ("resourceclaim not available on the node", "DynamicResources"),
        ("cannot schedule extended resource claim", "DynamicResources"),
        ("cannot fit resource", "DynamicResources"),
        ("invalid resource pools were encountered", "DynamicResources"),
        ("could not find ResourceClaim \"d/x\"", "DynamicResources"),
        ("ResourceClaim d/x was not created for Pod d/p (Pod is not owner)", "DynamicResources"),
        ("resource claim d/x, request r: unknown request type", "DynamicResources"),
        ("request gpu: device class x does not exist", "DynamicResources"),
        ("node(s) didn't satisfy plugin(s) [NodeAffinity]", "NodeAffinity"),
        ("node(s) didn't satisfy plugin(s) [NodeAffinity VolumeBinding] simultaneously", "NodeAffinity VolumeBinding"),
        ("node(s) didn't satisfy plugin NodeAffinity", "NodeAffinity"),
        ("node(s) didn't satisfy plugin(s) [Coscheduling]", ""),
        ("the moon was in the wrong phase", ""),
    ] {
        check(text, plugin);
    }
}

#[test]
fn reasons_are_counted_from_each_other() {
    let read = |text: &str| {
        Rejectors::of(text).map(|r| (r.plugins.iter().map(PluginName::as_str).collect::<Vec<_>>().join(" "), r.unknown.join("|")))
    };
    let some = |plugins: &str, unknown: &str| Some((plugins.to_owned(), unknown.to_owned()));
    assert_eq!(
        read("0/9 nodes are available: 1 Insufficient cpu, 1 odd, very odd, 10 node(s) were unschedulable, 2 odd, very odd. odd"),
        some("NodeResourcesFit NodeUnschedulable", "odd, very odd")
    );
    assert_eq!(read("0/9 nodes are available: 9 Insufficient cp..."), some("NodeResourcesFit", ""));
    for nothing in ["", " preemption: not eligible due to preemptionPolicy=Never.", " no new claims to deallocate, preemption: none."] {
        assert_eq!(read(&format!("0/9 nodes are available:{nothing}")), some("", ""), "{nothing}");
    }
    for other in ["", "no nodes available to schedule pods", "1/9 nodes are available: 1 x.", "0/ nodes are available: 1 x.", "running x"] {
        assert_eq!(read(other), None, "{other}");
    }
}

#[test]
fn of_a_text_of_any_length_a_bounded_part_is_read() {
    let many: String = (0..100_000).map(|i| format!("1 Insufficient r{i}, 1 odd {i}, ")).collect();
    let found = Rejectors::of(&format!("0/9 nodes are available: 1 Too many pods, {many}1 node(s) were unschedulable.")).unwrap();
    let names: Vec<&str> = found.plugins.iter().map(PluginName::as_str).collect();
    assert_eq!(names, ["NodeResourcesFit"]);
    assert!((500..LONGEST_MESSAGE / 10).contains(&found.unknown.len()), "{}", found.unknown.len());
    let whole = |text: &String| text.strip_prefix("odd ").is_some_and(|number| number.parse::<u32>().is_ok());
    assert!(found.unknown.iter().all(whole), "no reason is cut: {:?}", found.unknown.last());
    // The limit may be within a character.
    assert!(Rejectors::of(&format!("0/9 nodes are available: 1 {}", "é".repeat(LONGEST_MESSAGE))).is_some());
}
