use std::sync::Arc;

use super::*;
use crate::cluster::{Key, Kind, MissingKinds, Str, Taint};
use crate::framework::{
    Candidate, Code, CoveringBudget, CoveringBudgets, NodeDryRun, PluginName, PluginSet, PodInfo, PortConflict, PreemptionRecord, Reason,
    Shortage, SpreadSkew, Victim,
};
use crate::trace::{
    AttemptFailure, CycleStart, Eviction, FailureCause, FailureReason, NodeScore, Part, PluginScore, PreemptionView, Row, Selection,
    SkipReason, Verdict,
};

/// Returns a pod that requests 6 cpu and 8Gi of memory, rejected by each plugin on the given number of nodes.
fn view(groups: &[(usize, PluginName, &[&'static str])]) -> CycleView {
    let mut view = CycleView { outcome: Some(Outcome::Unschedulable), ..CycleView::default() };
    for (count, plugin, reasons) in groups {
        for _ in 0..*count {
            let status = Status::new(Code::Unschedulable, reasons.iter().map(|text| reason(text))).with_plugin(*plugin);
            let name = Str::from(format!("n{:02}", view.filter.verdicts.len()));
            view.filter.verdicts.insert(name, Verdict { status, nominated: Vec::new().into() });
        }
    }
    let requests = vec![("cpu".into(), "6000m".to_owned()), ("memory".into(), "8Gi".to_owned())];
    view.start =
        Some(Arc::new(CycleStart { pod: Key::new("a", "p"), requests, nodes: view.filter.verdicts.len(), ..CycleStart::default() }));
    view
}

/// Returns the reason with a text; each node has 2 cpu and 3Gi of memory free.
fn reason(text: &str) -> Reason {
    let shortage =
        |resource: &str, requested, free| Reason::Insufficient(Shortage { resource: resource.into(), requested, used: 0, capacity: free });
    match text {
        "Insufficient cpu" => shortage("cpu", 6000, 2000),
        "Insufficient memory" => shortage("memory", 8 << 30, 3 << 30),
        "Insufficient example.com/gpu" => shortage("example.com/gpu", 2, 0),
        "Too many pods" => Reason::TooManyPods { pods: 9, allowed: 9 },
        "node(s) had untolerated taint(s)" => {
            let taint = Taint { key: "dedicated".into(), value: "db".into(), effect: "NoSchedule".into() };
            Reason::UntoleratedTaint { taint }
        }
        "node(s) were unschedulable" => Reason::NodeUnschedulable,
        "node(s) didn't match Pod's node affinity/selector" => Reason::NodeAffinityMismatch { unmet: None },
        "node(s) didn't match pod topology spread constraints" => Reason::TopologySpreadSkew(Box::new(SpreadSkew {
            topology_key: "zone".into(),
            domain: "a".into(),
            matching: 3,
            lowest: 1,
            max_skew: 1,
        })),
        "node(s) didn't have free ports for the requested pod ports" => {
            Reason::HostPortConflict(Box::new(PortConflict { port: 80, protocol: "TCP".into(), host_ip: Str::default(), with: None }))
        }
        other => other.to_owned().into(),
    }
}

const CPU: &[&str] = &["Insufficient cpu"];
const MEMORY: &[&str] = &["Insufficient memory"];
const BOTH: &[&str] = &["Insufficient cpu", "Insufficient memory"];
const TAINT: &[&str] = &["node(s) had untolerated taint(s)"];
const CORDON: &[&str] = &["node(s) were unschedulable"];
const AFFINITY: &[&str] = &["node(s) didn't match Pod's node affinity/selector"];
const SPREAD: &[&str] = &["node(s) didn't match pod topology spread constraints"];
const PORTS: &[&str] = &["node(s) didn't have free ports for the requested pod ports"];

use PluginName::{NodeAffinity, NodePorts, NodeResourcesFit as Fit, NodeUnschedulable, PodTopologySpread, TaintToleration};

#[test]
fn causes_are_named_with_the_figure_of_the_pod_and_the_number_of_nodes() {
    let check = |groups: &[(usize, PluginName, &[&'static str])], expected: &str| assert_eq!(why(&view(groups)), expected);
    check(&[(3, Fit, CPU)], "Pending because no node has 6 free cpu (at most 2 free).");
    check(&[(1, Fit, CPU)], "Pending because the only node has less than 6 cpu free (at most 2 free).");
    check(&[(3, Fit, BOTH)], "Pending because no node has 6 free cpu or 8Gi of free memory.");
    check(
        &[(2, Fit, CPU), (1, Fit, BOTH)],
        "Pending because no node has 6 free cpu (at most 2 free, 1 also has less than 8Gi of memory free).",
    );
    check(
        &[(2, Fit, CPU), (1, Fit, MEMORY)],
        "Pending because 2 of 3 nodes have less than 6 cpu free (at most 2 free) and 1 has less than 8Gi of memory free (at most 3Gi free).",
    );
    check(
        &[(1, Fit, CPU), (2, Fit, MEMORY), (1, Fit, BOTH)],
        "Pending because no node has all the resources it requests (3 have less than 8Gi of memory free, 2 have less than 6 cpu free).",
    );
    check(
        &[(8, Fit, CPU), (3, TaintToleration, TAINT), (1, NodeUnschedulable, CORDON)],
        "Pending because 8 of 12 nodes have less than 6 cpu free (at most 2 free), 3 have a taint it does not tolerate (dedicated=db:NoSchedule) and 1 is cordoned.",
    );
    check(&[(2, NodeUnschedulable, CORDON)], "Pending because both nodes are cordoned.");
    check(&[(5, NodeAffinity, AFFINITY)], "Pending because no node matches its node affinity or selector.");
    check(
        &[(2, Fit, &["Too many pods"]), (1, NodePorts, PORTS)],
        "Pending because 2 of 3 nodes have no room for one more pod and 1 has its host port taken (80/TCP).",
    );
    check(&[(2, Fit, &["Insufficient example.com/gpu"])], "Pending because no node has enough free example.com/gpu (none free).");
    check(
        &[(9, NodePorts, &["something new."]), (1, NodeUnschedulable, CORDON)],
        "Pending because 9 of 10 nodes are rejected by NodePorts (something new) and 1 is cordoned.",
    );
}

#[test]
fn what_does_not_fit_into_the_sentence_is_counted() {
    let groups: &[(usize, PluginName, &[&'static str])] = &[
        (6, Fit, CPU),
        (5, TaintToleration, TAINT),
        (4, NodeAffinity, AFFINITY),
        (3, PodTopologySpread, SPREAD),
        (2, NodePorts, PORTS),
        (1, NodeUnschedulable, CORDON),
    ];
    assert_eq!(
        why(&view(groups)),
        "Pending because 6 of 21 nodes have less than 6 cpu free, 5 have a taint it does not tolerate, 4 do not match its node affinity or selector, 3 \
         would break its topology spread and 3 are rejected for other reasons."
    );
    let mut long = view(groups);
    let record = PreemptionRecord { ineligible: Some(Status::unschedulable("x".repeat(80))), ..PreemptionRecord::default() };
    long.preemption = Some(PreemptionView::started(Arc::new(record)));
    let sentence = why(&long);
    assert!(sentence.contains("and 10 are rejected for other reasons; it may not preempt"), "{sentence}");
}

#[test]
fn nodes_that_are_too_small_or_left_out_are_distinguished_from_full_ones() {
    let mut small = view(&[(2, Fit, CPU)]);
    let never = Status::unresolvable(reason("Insufficient cpu")).with_plugin(Fit);
    small.filter.verdicts.insert("n00".into(), Verdict { status: never.clone(), nominated: Vec::new().into() });
    assert_eq!(why(&small), "Pending because no node has 6 free cpu (at most 2 free, 1 node too small).");
    small.filter.verdicts.insert("n01".into(), Verdict { status: never, nominated: vec![Key::new("a", "q")].into() });
    assert_eq!(why(&small), "Pending because no node is large enough for 6 cpu (at most 2 each).");
    let mut left_out = view(&[(1, Fit, CPU)]);
    Arc::make_mut(left_out.start.as_mut().unwrap()).nodes = 9;
    left_out.pre_filter.narrowed =
        Some((vec!["n00".into()].into(), Status::rejected(Reason::NotAmongNodes { plugins: vec![NodeAffinity].into() })));
    assert_eq!(
        why(&left_out),
        "Pending because 8 of 9 nodes are not among those its node affinity names and 1 has less than 6 cpu free (at most 2 free)."
    );
    let rejected = Status::rejected(Reason::ClaimNotFound { claim: "data".into() }).with_plugin(PluginName::VolumeRestrictions);
    left_out.pre_filter.narrowed = Some((Vec::new().into(), rejected));
    left_out.pre_filter.rejected = Some(crate::release::PreFilterRejection::Shared);
    assert_eq!(why(&left_out), "Pending because its claim \"data\" does not exist.");
}

fn victim(name: &str, priority: i32, violates: &[&str], terminating: bool) -> Victim {
    let violated: Arc<[CoveringBudget]> = violates.iter().map(|b| CoveringBudget { name: (*b).into(), allowed: 0 }).collect();
    let ends = if terminating { r#","deletionTimestamp":"2026-01-01T00:00:00Z""# } else { "" };
    let pod = format!(r#"{{"metadata":{{"name":"{name}","namespace":"a"{ends}}},"spec":{{"priority":{priority}}}}}"#);
    let budgets = (!violated.is_empty()).then(|| Arc::new(CoveringBudgets::new(Arc::clone(&violated), violated.iter().map(|_| Some(0)))));
    Victim::new(Arc::new(PodInfo::new(Arc::new(serde_json::from_str(&pod).unwrap()))), budgets)
}

/// Returns a preemption with these dry runs.
fn tried(runs: Vec<NodeDryRun>, best: &[&'static str]) -> PreemptionView {
    PreemptionView::whole(Arc::new(PreemptionRecord {
        potential_nodes: runs.iter().map(|run| run.node.clone()).collect(),
        dry_runs: runs.into_iter().map(Arc::new).collect::<Vec<_>>().into(),
        best: best.iter().map(|n| Str::from(*n)).collect(),
        ..PreemptionRecord::default()
    }))
}

/// Returns a view with a chosen candidate among equals.
fn preempting(victims: Vec<Victim>, equals: &[&'static str]) -> CycleView {
    let mut view = view(&[(2, Fit, CPU)]);
    let pdb_violations = victims.iter().filter(|v| v.violates_any()).count() as i64;
    let candidate = Candidate { node: "n00".into(), victims, pdb_violations };
    let run = NodeDryRun { node: "n00".into(), candidate: Some(candidate), ..NodeDryRun::default() };
    view.preemption = Some(tried(vec![run], equals));
    view
}

#[test]
fn victims_are_counted_with_their_priority_and_the_budgets_they_violate() {
    let check = |view: &CycleView, expected: &str| {
        assert_eq!(why(view), format!("Pending because no node has 6 free cpu (at most 2 free); {expected}."));
    };
    let two = || vec![victim("x", 5, &[], false), victim("y", 5, &[], false)];
    check(&preempting(two(), &["n00"]), "preempting 2 pods of priority 5 on n00 makes room and violates no budget");
    check(
        &preempting(two(), &["n00", "n01"]),
        "preempting 2 pods of priority 5 on n00 (1 of 2 equal candidates) makes room and violates no budget",
    );
    let mut view = preempting(two(), &["n00"]);
    Arc::make_mut(view.start.as_mut().unwrap()).budgets_unknown = true;
    check(&view, "preempting 2 pods of priority 5 on n00 makes room; whether that violates a budget is unknown");
    let mut view = preempting(vec![victim("x", 5, &["web"], false), victim("y", -1, &[], true)], &["n00"]);
    check(
        &view,
        "preempting 2 pods of priority 5 or less on n00 (1 of them already terminating) makes room and violates the budget web with 1 of them",
    );
    view.effects.evicted = vec![(Key::new("a", "x"), Eviction::Terminating)];
    check(
        &view,
        "it preempts 2 pods of priority 5 or less on n00 (1 of them already terminating), violates the budget web with 1 of them and waits \
         until they are gone",
    );
    view = preempting(vec![victim("x", 5, &["b", "a"], false)], &["n00"]);
    view.effects.evicted = vec![(Key::new("a", "x"), Eviction::Deleted)];
    check(&view, "it preempts 1 pod of priority 5 on n00 and violates the budgets a and b");
    let gone = preempting(vec![victim("x", 5, &[], true)], &["n00"]);
    check(&gone, "it waits until 1 pod of priority 5 on n00, already terminating, is gone and violates no budget");
}

#[test]
fn why_preemption_does_not_help_is_said() {
    let check = |preemption: PreemptionView, expected: &str| {
        let mut view = view(&[(2, Fit, CPU)]);
        Arc::make_mut(view.start.as_mut().unwrap()).nominated = "n01".into();
        view.preemption = Some(preemption);
        assert_eq!(why(&view), format!("Pending because no node has 6 free cpu (at most 2 free); {expected}."));
    };
    let ineligible = |reason: Reason| {
        PreemptionView::started(Arc::new(PreemptionRecord { ineligible: Some(Status::rejected(reason)), ..PreemptionRecord::default() }))
    };
    check(ineligible(Reason::PreemptionPolicyNever), "its preemptionPolicy is Never, so it evicts no pod");
    check(ineligible(Reason::TerminatingVictims), "it waits until pods evicted for it on n01 are gone");
    check(ineligible("for another reason.".into()), "it may not preempt (for another reason)");
    check(tried(Vec::new(), &[]), "evicting pods would not help");
    let on = |nodes: &[&'static str], filtered: Option<Status>| {
        let run = |node: &&'static str| NodeDryRun { node: Str::from(*node), filtered: filtered.clone(), ..NodeDryRun::default() };
        tried(nodes.iter().map(run).collect(), &[])
    };
    check(on(&["n00"], None), "the one node considered has no lower-priority pods to evict");
    check(on(&["n00", "n01"], None), "there are no lower-priority pods to evict");
    let in_vain = Some(Status::rejected(reason("Insufficient cpu")));
    check(on(&["n00", "n01"], in_vain), "even evicting every lower-priority pod would not help on the 2 nodes considered");
}

#[test]
fn a_node_is_chosen_for_a_reason() {
    let mut view = view(&[(3, Fit, CPU)]);
    view.outcome = Some(Outcome::Scheduled);
    view.scoring.selected = Some(("n00".into(), Selection::NominatedNode, Vec::new().into()));
    assert_eq!(why(&view), "Fits on n00, where it was nominated, so no other node was tried.");
    view.scoring.selected = Some(("n00".into(), Selection::OnlyFeasibleNode, Vec::new().into()));
    assert_eq!(why(&view), "Fits on n00, the only one of 3 nodes that fits.");
    view.effects.permit_waits = vec![PluginName::GangScheduling];
    assert_eq!(why(&view), "Fits on n00, the only one of 3 nodes that fits; it waits there until GangScheduling allows it.");
    view.effects.permit_waits.clear();
    for name in ["n00", "n01"] {
        view.filter.verdicts.insert(name.into(), Verdict { status: Status::success(), nominated: Vec::new().into() });
    }
    let score = |plugin, weighted| PluginScore { plugin, raw: weighted, normalized: 0, weighted };
    let scores = |winner: [i64; 2], other: [i64; 2]| {
        let table = [winner, other].into_iter().map(|[a, b]| [score(Fit, a), score(TaintToleration, b)].into_iter());
        let parts = Part::all(table, 2).zip(["n00", "n01"]);
        let rows = parts.map(|(plugins, node)| NodeScore { node: node.into(), total: plugins.iter().map(|p| p.weighted).sum(), plugins });
        Row::all(rows.collect()).map(|row| (row.node.clone(), row)).collect()
    };
    view.scoring.selected = Some(("n00".into(), Selection::HighestScore, vec!["n00".into()].into()));
    view.scoring.scores = scores([50, 100], [60, 70]);
    assert_eq!(why(&view), "Fits on 2 of 3 nodes; n00 scores highest with 150, 20 ahead of n01, thanks to TaintToleration.");
    view.scoring.scores = scores([80, 100], [60, 70]);
    assert_eq!(why(&view), "Fits on 2 of 3 nodes; n00 scores highest with 180, 50 ahead of n01.");
    view.scoring.selected = Some(("n00".into(), Selection::HighestScore, vec!["n00".into(), "n01".into()].into()));
    assert_eq!(why(&view), "Fits on 2 of 3 nodes; 2 tie for the highest score of 180, and any of them may win (n00 is the first by name).");
}

#[test]
fn what_is_held_back_goes_wrong_or_is_turned_back_is_said() {
    let ended = |outcome| CycleView { outcome: Some(outcome), ..CycleView::default() };
    let held = |status| why(&CycleView { pre_enqueue: Some(status), ..ended(Outcome::Gated) });
    let gates = |names: &[&str]| Status::rejected(Reason::SchedulingGates { gates: names.iter().map(|n| Str::from(*n)).collect() });
    assert_eq!(held(gates(&["a/b"])), "Held back by its scheduling gate a/b until it is removed.");
    assert_eq!(held(gates(&["a/b", "c"])), "Held back by its scheduling gates a/b and c until they are removed.");
    let kueue = ["kueue.x-k8s.io/admission", "kueue.x-k8s.io/topology"];
    assert_eq!(held(gates(&kueue[..1])), "Held back by its scheduling gate kueue.x-k8s.io/admission until Kueue removes it.");
    let both = "Held back by its scheduling gates kueue.x-k8s.io/admission and kueue.x-k8s.io/topology until Kueue removes them.";
    assert_eq!(held(gates(&kueue)), both);
    assert_eq!(
        held(gates(&[kueue[0], "mine"])),
        "Held back by its scheduling gates kueue.x-k8s.io/admission and mine until they are removed."
    );
    assert_eq!(held(Status::unresolvable("later.").with_plugin(PluginName::DynamicResources)), "Held back by DynamicResources: later.");
    let skipped = Some((Key::new("a", "p"), SkipReason::Deleting));
    assert_eq!(why(&CycleView { skipped, ..ended(Outcome::Error) }), "Not tried, because it is being deleted.");
    let failure = |cause, message: &str, plugins: &[PluginName]| {
        let plugins = plugins.iter().copied().collect::<PluginSet>();
        Some(Arc::new(AttemptFailure { reason: FailureReason::Unschedulable, cause, message: message.into(), plugins }))
    };
    let mut view = CycleView { failure: failure(FailureCause::NoFit, "not yet.", &[]), ..ended(Outcome::Unschedulable) };
    assert_eq!(why(&view), "Pending: not yet.");
    view.scoring.selected = Some(("n1".into(), Selection::OnlyFeasibleNode, Vec::new().into()));
    view.failure = failure(
        FailureCause::Rejected(Status::unschedulable("no room\nat all.")),
        "0/1 nodes are available: 1 no room\nat all.",
        &[PluginName::VolumeBinding],
    );
    assert_eq!(why(&view), "Pending although it was to run on n1: VolumeBinding: no room at all.");
    view.not_emulated = vec![("Other".into(), "x".into())];
    view.failure = failure(FailureCause::NoNodes, "no nodes available to schedule pods", &[]);
    view.scoring.selected = None;
    assert_eq!(why(&view), "Pending because there are no nodes; Other is not emulated and might decide differently.");
}

#[test]
fn a_cycle_under_way_says_how_far_it_is() {
    assert_eq!(so_far(&CycleView::default()), None);
    let mut view = view(&[(2, Fit, CPU)]);
    view.outcome = None;
    assert_eq!(why(&view), "");
    let said = |view: &CycleView| so_far(view).map_or_else(String::new, |sentence| sentence.to_string());
    Arc::make_mut(view.start.as_mut().unwrap()).nodes = 5;
    assert_eq!(said(&view), "Evaluated 2 of 5 nodes: none fits so far.");
    view.filter.verdicts.insert("x".into(), Verdict { status: Status::success(), nominated: Vec::new().into() });
    assert_eq!(said(&view), "Evaluated 3 of 5 nodes: 1 fits.");
    view.filter.verdicts.clear();
    assert_eq!(said(&view), "None of the 5 nodes is evaluated yet.");
    let mut view = super::tests::view(&[(2, Fit, CPU)]);
    view.outcome = None;
    let record = PreemptionRecord { potential_nodes: vec!["n00".into()].into(), ..PreemptionRecord::default() };
    view.preemption = Some(PreemptionView::started(Arc::new(record)));
    assert_eq!(
        said(&view),
        "Pending because no node has 6 free cpu (at most 2 free); preemption tried on 0 of 1 node, 0 candidates so far."
    );
}

#[test]
fn nodes_with_the_taint_of_a_condition_are_said_to_have_the_condition() {
    let mut view = view(&[(3, TaintToleration, TAINT)]);
    let taint = |key: &str| Taint { key: key.into(), effect: "NoSchedule".into(), ..Taint::default() };
    let mut check = |keys: &[&str], expected: &str| {
        for (verdict, key) in view.filter.verdicts.values_mut().zip(keys) {
            verdict.status = Status::rejected(Reason::UntoleratedTaint { taint: taint(key) }).with_plugin(TaintToleration);
        }
        assert_eq!(why(&view), expected);
    };
    let [not_ready, pressure] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/disk-pressure"];
    check(&[not_ready; 3], "Pending because no node is ready.");
    check(&[not_ready, not_ready, pressure], "Pending because 2 of 3 nodes are not ready and 1 is short of disk space.");
    check(
        &[not_ready, not_ready, "node.kubernetes.io/unschedulable"],
        "Pending because 2 of 3 nodes are not ready and 1 has a taint it does not tolerate (node.kubernetes.io/unschedulable:NoSchedule).",
    );
}

#[test]
fn words_about_several_pods_say_they() {
    let groups: &[(usize, PluginName, &[&'static str])] =
        &[(8, NodeAffinity, AFFINITY), (3, TaintToleration, TAINT), (1, NodePorts, &["it keeps its word"])];
    let ((one, several), shorter) = in_common(&view(groups));
    assert_eq!(
        one,
        "8 of 12 nodes do not match its node affinity or selector, 3 have a taint it does not tolerate and 1 is rejected by NodePorts (it keeps \
         its word)"
    );
    assert_eq!(
        several,
        "8 of 12 nodes do not match their node affinity or selector, 3 have a taint they do not tolerate and 1 is rejected by NodePorts (it \
         keeps its word)"
    );
    let of_several: Vec<&str> = shorter.iter().map(|(_, several)| several.as_str()).collect();
    assert_eq!(
        of_several,
        [
            "8 of 12 nodes do not match their node affinity or selector, 3 have a taint they do not tolerate, 1 other",
            "8 of 12 nodes do not match their node affinity or selector, 4 others"
        ]
    );
    let ((_, several), _) = in_common(&view(&[(1, Fit, CPU), (2, Fit, MEMORY), (1, Fit, BOTH), (1, NodeUnschedulable, CORDON)]));
    assert_eq!(several, "4 of 5 nodes lack some resource they request and 1 is cordoned");
}

/// A source without a kind is no proof that an object of it does not exist, wherever the reason comes from.
#[test]
fn what_a_source_without_a_kind_cannot_show_is_uncertain() {
    let unknown = |kind: Kind| MissingKinds { absent: [kind].into_iter().collect(), ..MissingKinds::default() };
    let said = |reason: Reason, kind: Kind| {
        let rejected = Status::rejected(reason);
        let of_all = words::no_node_at_all(&rejected, Number::One, unknown(kind));
        let of_gate = gated(Some(&rejected), Number::One, true, unknown(kind));
        for (text, known) in [
            (&of_all, words::no_node_at_all(&rejected, Number::One, MissingKinds::default())),
            (&of_gate, gated(Some(&rejected), Number::One, true, MissingKinds::default())),
        ] {
            assert!(text.contains("the source contains no ") && text.contains(" is unknown)"), "{text}");
            assert!(!known.contains("unknown"), "{known}");
        }
        of_all
    };
    let claims = said(Reason::UnboundImmediateClaims { claims: vec!["data".into()].into() }, Kind::StorageClass);
    assert!(!claims.contains("immediate"), "{claims}");
    let claim = || Key::new("shop", "gpu");
    said(Reason::ResourceClaimNotFound { claim: claim() }, Kind::ResourceClaim);
    said(Reason::DeviceClassNotFound { request: "r".into(), class: "gpu".into() }, Kind::DeviceClass);
    said(Reason::StorageClassNotFound { class: "fast".into() }, Kind::StorageClass);
    said(Reason::PodGroupMissing { group: "gang".into() }, Kind::PodGroup);
    said(Reason::EphemeralClaimPending { claim: "web-data".into() }, Kind::PersistentVolumeClaim);
    said(Reason::ClaimNotFound { claim: "data".into() }, Kind::PersistentVolumeClaim);
}
