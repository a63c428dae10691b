//! Tests of NodeAffinity.

use super::super::helper::testing::{node, node_change, node_info, pod, pod_change, pod_info, with_context};
use super::*;
use crate::cluster::Cluster;
use crate::framework::Code;

const SSD: &str = "{metadata: {name: a, labels: {disk: ssd, zone: z1}}}";
const HDD: &str = "{metadata: {name: b, labels: {disk: hdd, zone: z1}}}";

/// A pod whose required affinity has these terms.
fn requiring(terms: &str) -> String {
    format!("{{spec: {{affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: {terms}}}}}}}}}}}")
}

/// A pod whose preferred affinity has these terms.
fn preferring(terms: &str) -> String {
    format!("{{spec: {{affinity: {{nodeAffinity: {{preferredDuringSchedulingIgnoredDuringExecution: {terms}}}}}}}}}")
}

fn disk(value: &str) -> String {
    format!("{{matchExpressions: [{{key: disk, operator: In, values: [{value}]}}]}}")
}

fn named(values: &str) -> String {
    format!("{{matchFields: [{{key: metadata.name, operator: In, values: [{values}]}}]}}")
}

fn plugin(args: &str) -> NodeAffinity {
    let args: NodeAffinityArgs = serde_yaml::from_str(args).unwrap();
    args.validate().unwrap();
    NodeAffinity::new(args)
}

fn adding_required(term: &str) -> NodeAffinity {
    plugin(&format!(
        "{{apiVersion: v1, kind: NodeAffinityArgs, addedAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{term}]}}}}}}"
    ))
}

#[test]
fn arguments_are_read_strictly() {
    assert_eq!(serde_yaml::from_str::<NodeAffinityArgs>("{}").unwrap(), NodeAffinityArgs::default());
    assert!(serde_yaml::from_str::<NodeAffinityArgs>("{added: 1}").is_err());
    for (added, refused) in [
        ("{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}]}}", false),
        ("{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In}]}]}}", true),
        ("{preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0, preference: {matchFields: [{operator: Gt}]}}]}", false),
        ("{preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchFields: [{operator: Gt}]}}]}", true),
    ] {
        let args: NodeAffinityArgs = serde_yaml::from_str(&format!("{{addedAffinity: {added}}}")).unwrap();
        assert_eq!(args.validate().is_err(), refused, "{added}");
    }
}

#[test]
fn pre_filter_skips_narrows_or_rejects() {
    let plain = NodeAffinity::default();
    let skip = || (None, Status::skip());
    let all = || (None, Status::success());
    let only = |names: &[&str]| (Some(names.iter().map(|n| Str::from(*n)).collect::<BTreeSet<_>>()), Status::success());
    let check = |plugin: &NodeAffinity, pod: &str, expected: (Option<BTreeSet<Str>>, Status)| {
        let (result, status) = with_context(&Cluster::default(), &[], |cx| {
            PreFilterPlugin::pre_filter(plugin, &cx, &mut CycleState::default(), &pod_info(pod))
        });
        assert_eq!((result.node_names, status), expected, "{pod}");
    };
    check(&plain, "{}", skip());
    check(&plain, &preferring("[]"), skip());
    check(&plain, "{spec: {nodeSelector: {}}}", all());
    check(&adding_required(&disk("ssd")), "{}", all());
    check(&plain, &requiring("[]"), all());
    check(&plain, &requiring(&format!("[{}]", disk("ssd"))), all());
    check(&plain, &requiring(&format!("[{}]", named("a"))), only(&["a"]));
    check(&plain, &requiring(&format!("[{}, {}]", named("b"), named("a"))), only(&["a", "b"]));
    check(&plain, &requiring(&format!("[{}, {}]", named("b"), disk("ssd"))), all());
    check(&plain, &requiring("[{matchFields: [{key: metadata.name, operator: NotIn, values: [a]}]}]"), all());
    let both = |x: &str, y: &str| {
        let field = |v: &str| format!("{{key: metadata.name, operator: In, values: [{v}]}}");
        requiring(&format!("[{{matchFields: [{}, {}]}}]", field(x), field(y)))
    };
    check(&plain, &both("a, b", "b, c"), only(&["b"]));
    check(&plain, &both("a", "b"), (None, Status::rejected(Reason::NodeAffinityConflict)));
}

const POD: &str = "node(s) didn't match Pod's node affinity/selector";
const ENFORCED: &str = "node(s) didn't match scheduler-enforced node affinity";

#[test]
fn what_a_node_lacks_is_named() {
    let check = |plugin: &NodeAffinity, pod: &str, on: &str, expected: Option<&str>| {
        let status = with_context(&Cluster::default(), &[], |cx| {
            FilterPlugin::filter(plugin, &cx, &CycleState::default(), &pod_info(pod), &node_info(on))
        });
        assert_eq!(status.fact().as_deref(), expected, "{pod} on {on}");
    };
    let plain = NodeAffinity::default();
    check(&plain, "{spec: {nodeSelector: {disk: ssd}}}", HDD, Some("has disk=hdd, not disk=ssd"));
    check(&plain, "{spec: {nodeSelector: {rack: r1}}}", HDD, Some("has no rack, not rack=r1"));
    let either = requiring(&format!("[{}, {}]", disk("nvme"), disk("ssd, ram")));
    check(&plain, &either, HDD, Some("has disk=hdd, not disk=nvme (nor 1 other terms)"));
    check(&plain, &requiring(&format!("[{}]", named("a"))), "{metadata: {name: b}}", Some("is b, not metadata.name=a"));
    check(&plain, &requiring("[]"), SSD, None);
    check(&adding_required(&disk("ssd")), "{}", HDD, Some("has disk=hdd, not disk=ssd"));
}

#[test]
fn filter_holds_selector_and_affinity_against_the_node() {
    let check = |plugin: &NodeAffinity, pod: &str, on: &str, expected: Option<&'static str>| {
        let (pod, mut state) = (pod_info(pod), CycleState::default());
        let node = node_info(on);
        with_context(&Cluster::default(), &[], |cx| {
            let expected = expected.map_or((Code::Success, ""), |text| (Code::UnschedulableAndUnresolvable, text));
            let check = |state: &CycleState| {
                let status = FilterPlugin::filter(plugin, &cx, state, &pod, &node);
                assert_eq!((status.code(), status.message().as_str()), expected, "on {on}");
            };
            check(&state);
            PreFilterPlugin::pre_filter(plugin, &cx, &mut state, &pod);
            check(&state);
        });
    };
    let plain = NodeAffinity::default();
    let selecting = "{spec: {nodeSelector: {disk: ssd}}}";
    check(&plain, selecting, SSD, None);
    check(&plain, selecting, HDD, Some(POD));
    check(&plain, "{spec: {nodeSelector: {}}}", HDD, None);
    check(&plain, &requiring("[]"), SSD, Some(POD));
    check(&plain, &requiring("[{}]"), SSD, Some(POD));
    let either = requiring(&format!("[{}, {}]", disk("nvme"), disk("ssd")));
    check(&plain, &either, SSD, None);
    check(&plain, &either, HDD, Some(POD));
    check(&plain, &requiring(&format!("[{}]", named("a"))), SSD, None);
    check(&plain, &requiring(&format!("[{}]", named("a"))), HDD, Some(POD));
    check(&plain, &requiring(&format!("[{}]", named("a"))), "{metadata: {labels: {x: y}}}", None);
    // An invalid term matches nothing and leaves the other terms in effect.
    let broken = "{matchExpressions: [{key: disk, operator: Like, values: [ssd]}]}";
    check(&plain, &requiring(&format!("[{broken}]")), SSD, Some(POD));
    check(&plain, &requiring(&format!("[{broken}, {}]", disk("ssd"))), SSD, None);
    let enforcing = adding_required(&disk("ssd"));
    check(&enforcing, "{}", SSD, None);
    check(&enforcing, "{}", HDD, Some(ENFORCED));
    check(&enforcing, "{spec: {nodeSelector: {zone: z2}}}", SSD, Some(POD));
    check(&enforcing, "{spec: {nodeSelector: {zone: z2}}}", HDD, Some(ENFORCED));
}

#[test]
fn matching_one_pod_and_one_node() {
    assert!(required_node_affinity_matches(&pod("{}"), &node(SSD)));
    assert!(!required_node_affinity_matches(&pod(&requiring(&format!("[{}]", disk("ssd")))), &node(HDD)));
    let required = RequiredNodeAffinity::of(&pod(&requiring("[{matchExpressions: [{key: disk, operator: In}]}]")));
    assert!(!required.matches(&node(SSD)) && required.try_matches(&node(SSD)).is_err());
}

#[test]
fn preferred_terms_add_up() {
    let nodes = [SSD, HDD].map(node_info);
    let check = |plugin: &NodeAffinity, pod: &str, expected: Option<([i64; 2], [i64; 2])>| {
        let (info, mut state) = (pod_info(pod), CycleState::default());
        with_context(&Cluster::default(), &nodes, |cx| {
            let raw = |state: &CycleState| nodes.each_ref().map(|n| ScorePlugin::score(plugin, &cx, state, &info, n).unwrap());
            let unprepared = raw(&state);
            let status = PreScorePlugin::pre_score(plugin, &cx, &mut state, &info, &cx.snapshot.nodes().to_vec());
            assert_eq!(status.is_skip(), expected.is_none(), "{pod}");
            let Some((expected, normal)) = expected else { return };
            let mut scores = raw(&state);
            assert_eq!((scores, unprepared), (expected, expected), "{pod}");
            assert!(plugin.normalize(&cx, &state, &info, &cx.snapshot.nodes().to_vec(), &mut scores).is_success());
            assert_eq!(scores, normal, "{pod}");
        });
    };
    let weighted = |weight: i32, term: &str| format!("{{weight: {weight}, preference: {term}}}");
    let plain = NodeAffinity::default();
    check(&plain, "{}", None);
    check(&plain, &requiring("[]"), None);
    check(&plain, &preferring("[]"), Some(([0, 0], [0, 0])));
    let two = preferring(&format!("[{}, {}]", weighted(3, &disk("ssd")), weighted(4, &disk("ssd, hdd"))));
    check(&plain, &two, Some(([7, 4], [100, 57])));
    // Terms without weight or content have no effect and may be invalid.
    let idle = preferring(&format!("[{}, {}]", weighted(5, "{}"), weighted(0, "{matchFields: [{operator: Gt}]}")));
    check(&plain, &idle, Some(([0, 0], [0, 0])));
    let adding =
        plugin(&format!("{{addedAffinity: {{preferredDuringSchedulingIgnoredDuringExecution: [{}]}}}}", weighted(10, &disk("hdd"))));
    check(&adding, "{}", Some(([0, 10], [0, 100])));
    check(&adding, &two, Some(([7, 14], [50, 100])));

    let broken = pod_info(&preferring(&format!("[{}]", weighted(1, "{matchFields: [{key: metadata.name, operator: Gt}]}"))));
    with_context(&Cluster::default(), &nodes, |cx| {
        let status = PreScorePlugin::pre_score(&plain, &cx, &mut CycleState::default(), &broken, &cx.snapshot.nodes().to_vec());
        assert!(status.is_error() && status.message().starts_with("[0].matchFields[0].operator: Unsupported value: \"Gt\""), "{status}");
        assert!(ScorePlugin::score(&plain, &cx, &CycleState::default(), &broken, &nodes[0]).unwrap_err().is_error());
    });
}

#[test]
fn a_node_that_comes_to_match_queues_the_pod() {
    use QueueingHint::{Queue, QueueSkip};
    let (plain, enforcing) = (NodeAffinity::default(), adding_required(&disk("ssd")));
    let selecting = pod("{spec: {nodeSelector: {disk: ssd}}}");
    for (plugin, pod, old, new, expected) in [
        (&plain, &selecting, None, SSD, Queue),
        (&plain, &selecting, None, HDD, QueueSkip),
        (&plain, &selecting, Some(HDD), SSD, Queue),
        (&plain, &selecting, Some(SSD), SSD, QueueSkip),
        (&plain, &selecting, Some(SSD), HDD, QueueSkip),
        (&enforcing, &pod("{}"), None, HDD, QueueSkip),
        (&enforcing, &pod("{}"), None, SSD, Queue),
        // Only the pod's own affinity is matched with the old node.
        (&enforcing, &pod("{}"), Some(HDD), SSD, QueueSkip),
    ] {
        assert_eq!(plugin.after_node_change(pod, &node_change(old, Some(new))), Ok(expected), "{old:?} {new}");
    }
    let broken = pod(&requiring("[{matchExpressions: [{key: disk, operator: In}]}]"));
    assert!(plain.after_node_change(&broken, &node_change(None, Some(SSD))).is_err());
    assert!(plain.after_node_change(&selecting, &pod_change(None, Some("{}"))).is_err());
}
