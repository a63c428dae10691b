//! Pods of a group are judged together: why they wait, and what a fix does for the group.

use std::sync::Arc;

use super::{FixesReport, SchedulerComparer, why};
use crate::cluster::neighbors::Neighbors;
use crate::cluster::{Key, Kind, Object, Pod};
use crate::fixes::{self, Background, CutShort, GroupProof, Limits};
use crate::framework::PluginName;
use crate::limits::engine::STEPS_OF_MEMBER;
use crate::release::{Emulation, Gate};
use crate::scheduler::{Config, Operation, Options, Scheduler};
use crate::session::PodLocation;
use crate::trace::{CycleView, GroupOutcome, Outcome};

fn object(kind: Kind, yaml: &str) -> Object {
    let value: serde_yaml::Value = serde_yaml::from_str(yaml).unwrap();
    Object::deserialize_kind(kind, value).unwrap()
}

fn node(name: &str, cpu: u32) -> Object {
    node_with(name, cpu, "")
}

/// Makes a node of 10 cpus with a label.
pub(super) fn labelled(name: &str, label: &str) -> Object {
    node_with(name, 10, &format!(", {label}"))
}

fn node_with(name: &str, cpu: u32, labels: &str) -> Object {
    let labels = format!("labels: {{kubernetes.io/hostname: {name}{labels}}}");
    object(Kind::Node, &format!("{{metadata: {{name: {name}, {labels}}}, status: {{allocatable: {{cpu: {cpu}, pods: 10}}}}}}"))
}

pub(super) fn group(name: &str, min: u32) -> Object {
    let spec = format!("schedulingPolicy: {{gang: {{minCount: {min}}}}}");
    object(Kind::PodGroup, &format!("{{metadata: {{name: {name}, namespace: n, uid: {name}}}, spec: {{{spec}}}}}"))
}

/// Makes a pod of 1 cpu; `more` is added to its spec.
fn pod(name: &str, more: &str) -> Object {
    let yaml = format!(
        "{{metadata: {{name: {name}, namespace: n, uid: {name}, labels: {{app: {name}}}}}, spec: {{schedulerName: default-scheduler, \
         containers: [{{name: c, resources: {{requests: {{cpu: 1}}}}}}]{more}}}}}"
    );
    object(Kind::Pod, &yaml)
}

pub(super) fn member(name: &str, group: &str, more: &str) -> Object {
    pod(name, &format!(", schedulingGroup: {{podGroupName: {group}}}{more}"))
}

pub(super) fn scheduler(gates: bool, objects: Vec<Object>) -> Scheduler {
    let mut emulation = Emulation::default();
    for gate in [Gate::GenericWorkload, Gate::GangScheduling] {
        emulation.set(gate, gates);
    }
    Scheduler::new(Config::defaults(emulation), objects, Options::default())
}

pub(super) fn known(scheduler: &Scheduler, name: &str) -> Arc<Pod> {
    scheduler.state().cluster().pods.get(&Key::new("n", name)).unwrap().clone()
}

/// Returns the key and the words of what a pod waits for.
fn waits_for(scheduler: &Scheduler, name: &str) -> Option<(String, String)> {
    let found = SchedulerComparer::new(scheduler, &[]).decide(&known(scheduler, name));
    found.waits_for.map(|reason| (reason.key, reason.words))
}

pub(super) fn world() -> Vec<Object> {
    vec![
        node("n1", 3),
        group("gang", 4),
        group("few", 2),
        group("apart", 2),
        member("g0", "gang", ""),
        member("g1", "gang", ""),
        member("g2", "gang", ""),
        member("g3", "gang", ", nodeSelector: {disk: ssd}"),
        member("f0", "few", ""),
        member("a0", "apart", ", nodeSelector: {disk: ssd}"),
        member("a1", "apart", ""),
        member("m0", "absent", ""),
        pod("alone", ""),
    ]
}

#[test]
fn members_wait_for_what_their_group_waits_for() {
    let with = scheduler(true, world());
    let waits = |key: &str, words: &str| Some((key.to_owned(), words.to_owned()));
    let gang = "Pod group n/gang: Waits, because only 3 pods find a place, and 4 must have one at once";
    for name in ["g0", "g1", "g2", "g3"] {
        assert_eq!(waits_for(&with, name), waits("pod-group:n/gang:unschedulable", gang), "{name}");
    }
    let few = "Pod group n/few: Waits for one more pod: it has 1, and 2 must have a place at once";
    assert_eq!(waits_for(&with, "f0"), waits("pod-group:n/few:incomplete", few));
    let absent = "Pod group n/absent: Waits until there is a PodGroup of this name";
    assert_eq!(waits_for(&with, "m0"), waits("pod-group:n/absent:missing", absent));
    assert_eq!(waits_for(&with, "alone"), None);
    let without = scheduler(false, world());
    assert_eq!(waits_for(&without, "g0"), None, "without the gates a member is a pod like any other");
    assert!(waits_for(&without, "g3").is_some_and(|(key, _)| !key.starts_with("pod-group")));
}

/// Queues groups as one entry.
fn as_one(objects: Vec<Object>) -> Scheduler {
    let mut emulation: Emulation = crate::release::Profile::named("v1.37.0").unwrap().into();
    emulation.set(Gate::GenericWorkload, true);
    Scheduler::new(Config::defaults(emulation), objects, Options::default())
}

#[test]
fn a_group_that_is_queued_as_one_waits_for_its_gated_pod() {
    let gated = member("held", "two", ", schedulingGates: [{name: quota}]");
    let mut scheduler = as_one(vec![node("n1", 3), group("two", 2), gated, member("free", "two", ""), pod("alone", "")]);
    let free = known(&scheduler, "free");
    let view = scheduler.view_of(&free);
    assert_eq!(view.outcome, Some(Outcome::Gated));
    let sentence = why(&view);
    let held = "held back by its scheduling gate quota until it is removed";
    assert_eq!(sentence, format!("Held back with its pod group, of which pod n/held is {held}."));
    let words = format!("Pod group n/two: Waits with its pod n/held, which is {held}");
    assert_eq!(waits_for(&scheduler, "free"), Some(("pod-group:n/two:gated".to_owned(), words)));
    assert_eq!(scheduler.view_of(&known(&scheduler, "held")).outcome, Some(Outcome::Gated));
    assert_eq!(waits_for(&scheduler, "held").unwrap().0, "gated:SchedulingGates:quota");
    assert_eq!(waits_for(&scheduler, "alone"), None);
    let found = fixes::find(&scheduler, &free, Limits::of(1), Background::nothing(), &|_| true);
    assert_eq!(found.unproposed, [fixes::Unproposed::GroupGated(Key::new("n", "held"))]);
    assert!(found.fixes.is_empty());
    let place = |scheduler: &Scheduler| PodLocation::of(scheduler.state().cluster(), scheduler.state().queue().view(), &free.key());
    assert_eq!(place(&scheduler).to_string(), "gated with n/held by SchedulingGates");
    assert!(!place(&scheduler).is_pending());
    let gate = scheduler.state().queue().view().group_gate(&free).cloned();
    assert_eq!(gate.map(|gate| gate.plugin), Some(PluginName::SchedulingGates));
    let mut apart = scheduler.clone();
    // Without the group as one entry the others are tried.
    let mut before = scheduler.state().config().as_ref().clone();
    before.emulation = crate::release::Profile::named("v1.36.2").unwrap().into();
    let before = Scheduler::new(before, scheduler.state().cluster().objects().collect(), Options::default());
    assert_ne!(before.view_of(&free).outcome, Some(Outcome::Gated));
    scheduler.apply(Operation::Update { object: member("held", "two", "") });
    assert!(scheduler.state().queue().view().group_gates.is_empty());
    assert_eq!((place(&scheduler).to_string().as_str(), scheduler.view_of(&free).outcome), ("activeQ", Some(Outcome::Scheduled)));
    apart.apply(Operation::Delete { object: member("held", "two", "") });
    assert!(apart.state().queue().view().group_gates.is_empty());
    assert_eq!(waits_for(&apart, "free").unwrap().0, "pod-group:n/two:incomplete");
}

/// 1.37 counts the pods of a gang after each of them, and gives up once too few can have a place.
#[test]
fn a_later_release_says_how_many_pods_of_a_gang_have_a_place() {
    let decision = |objects: Vec<Object>| {
        let scheduler = as_one(objects);
        let events = scheduler.explain_group(&known(&scheduler, "g0")).unwrap();
        CycleView::of(&events).group.unwrap().decision.clone().unwrap()
    };
    let of_world = decision(world());
    assert_eq!((of_world.outcome, of_world.placed), (GroupOutcome::Unschedulable, 3));
    let text = of_world.status.message();
    let begins = "pod group is unschedulable, minCount (4) cannot be satisfied: 3 scheduled, 0 remaining";
    assert!(text.starts_with(begins), "{text}");
    let first_fails =
        decision(vec![node("n1", 3), group("gang", 2), member("g0", "gang", ", nodeSelector: {disk: ssd}"), member("g1", "gang", "")]);
    let text = first_fails.status.message();
    assert!(text.starts_with("pod group is unschedulable, minCount (2) cannot be satisfied: 0 scheduled, 1 remaining"), "{text}");
    let fits = decision(vec![node("n1", 3), group("gang", 2), member("g0", "gang", ""), member("g1", "gang", "")]);
    assert_eq!((fits.outcome, fits.placed), (GroupOutcome::Scheduled, 2));
}

#[test]
fn a_group_is_decided_the_same_without_a_record_of_nodes() {
    let loud = scheduler(true, world());
    let quiet = loud.clone().quietly();
    for name in ["g0", "a0"] {
        let [recorded, kept] = [&loud, &quiet].map(|scheduler| scheduler.explain_group(&known(scheduler, name)).unwrap());
        assert!(kept.len() < recorded.len());
        let [recorded, kept] = [recorded, kept].map(|events| CycleView::of(&events));
        assert_eq!(recorded.group.as_ref().unwrap().summary(), kept.group.as_ref().unwrap().summary(), "{name}");
        for pod in &recorded.group.as_ref().unwrap().start.pods {
            let of = |view: &CycleView| view.member(pod).map(|member| (member.outcome, member.failure.clone()));
            assert_eq!(of(&recorded), of(&kept), "{pod}");
            assert!(recorded.member(pod).is_some());
        }
    }
}

#[test]
fn attempts_of_a_large_group_end_before_the_search_does() {
    let with = scheduler(true, world());
    let find = |name: &str, group_steps: u64| {
        let limits = Limits { group_steps, ..Limits::of(1) };
        fixes::find(&with, &known(&with, name), limits, Background::nothing(), &|_| true)
    };
    let whole = find("g3", u64::MAX);
    let is_tried = |proof: &Option<GroupProof>| matches!(proof, Some(GroupProof::Tried(_)));
    assert!(whole.search.is_complete() && whole.fixes.iter().all(|fix| is_tried(&fix.group)), "{:?}", whole.search);
    // One node, and four members in each attempt.
    let attempts = 1 + whole.fixes.len() as u64;
    assert_eq!(whole.search.group_steps, attempts * 4 * STEPS_OF_MEMBER);
    let cut = find("g3", 4 * STEPS_OF_MEMBER - 1);
    assert_eq!((cut.search.group_steps, &cut.search.cut_short_by[..]), (4 * STEPS_OF_MEMBER, &[CutShort::GroupSteps][..]));
    assert_eq!(cut.fixes.len(), whole.fixes.len(), "changes are tried on");
    assert!(cut.fixes.iter().all(|fix| matches!(fix.group, Some(GroupProof::NotTried(_)))));
}

#[test]
fn a_fix_says_what_it_does_for_the_group() {
    let with = scheduler(true, world());
    let found = |scheduler: &Scheduler, name: &str| {
        fixes::find(scheduler, &known(scheduler, name), Limits::of(1), Background::nothing(), &|_| true)
    };
    let proofs = |name: &str| -> Vec<(Option<GroupOutcome>, bool)> {
        let tried = |proof: GroupProof| match proof {
            GroupProof::Tried(tried) => (tried.group.decision.as_ref().map(|decision| decision.outcome), tried.scheduled),
            GroupProof::NotTried(_) => (None, false),
        };
        found(&with, name).fixes.into_iter().filter_map(|fix| fix.group.map(tried)).collect()
    };
    // Without its selector the pod has a place, and so has the group.
    assert_eq!(proofs("a0").first(), Some(&(Some(GroupOutcome::Scheduled), true)));
    // Here it has one, and the group still lacks room.
    assert_eq!(proofs("g3").first(), Some(&(Some(GroupOutcome::Unschedulable), false)));
    let report = |name: &str| {
        FixesReport::new(&found(&with, name), with.state().cluster(), (&|_, _| None, &Neighbors::default()))
            .text()
            .iter()
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert!(report("a0").contains("it is scheduled with its pod group n/apart"), "{}", report("a0"));
    assert!(
        report("g3").contains("but its pod group n/gang is not scheduled: Waits, because only 3 pods find a place"),
        "{}",
        report("g3")
    );
    assert!(report("g0").contains("the pod would fit by itself; its pod group n/gang decides: Waits"), "{}", report("g0"));
    let without = scheduler(false, world());
    assert!(found(&without, "a0").fixes.iter().all(|fix| fix.group.is_none()));
    assert!(found(&without, "a0").group.is_none());
}

#[test]
fn terms_of_assumed_members_are_seen_where_the_node_is_listed_for_such_terms() {
    let apart = |from: &str| {
        let term = format!("{{labelSelector: {{matchLabels: {{app: {from}}}}}, topologyKey: kubernetes.io/hostname}}");
        format!("affinity: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{term}]}}}}")
    };
    let outcome = |more: Vec<Object>| {
        let members = vec![
            node("n1", 8),
            group("gang", 2),
            member("first", "gang", &format!(", priority: 10, {}", apart("second"))),
            member("second", "gang", ""),
        ];
        let scheduler = scheduler(true, members.into_iter().chain(more).collect());
        let events = scheduler.explain_group(&known(&scheduler, "second")).unwrap();
        CycleView::of(&events).group.unwrap().decision.as_ref().unwrap().outcome
    };
    // The snapshot's list of nodes is from before the first member was assumed.
    assert_eq!(outcome(Vec::new()), GroupOutcome::Scheduled);
    let listed = pod("running", &format!(", nodeName: n1, {}", apart("nothing")));
    assert_eq!(outcome(vec![listed]), GroupOutcome::Unschedulable);
}
