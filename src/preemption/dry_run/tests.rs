use std::sync::atomic::Ordering;

use proptest::prelude::*;

use super::*;
use crate::cluster::{Cluster, Pod};
use crate::framework::{DryRunStep, NodeToStatus};
use crate::preemption::importance::rank;
use crate::preemption::testing::{CpuRunner, budget, context, labelled, node, pod};
use crate::release::{Emulation, Importance};

/// How a dry run looks at the pods of its node.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    ByPods,
    BySums,
    FirstBySums,
}

struct Setting {
    runner: CpuRunner,
    cluster: Cluster,
    preemptor: Pod,
}

impl Setting {
    fn new(priority: i32, milli_cpu: i64) -> Self {
        Self { runner: CpuRunner::default(), cluster: Cluster::default(), preemptor: pod("p", "", priority, milli_cpu, None) }
    }

    fn run_on(&self, node: &NodeInfo, quiet: bool, way: Way) -> NodeDryRun {
        self.runner.by_sums.store(way == Way::BySums, Ordering::Relaxed);
        self.runner.first_by_sums.store(way == Way::FirstBySums, Ordering::Relaxed);
        let node = &Arc::new(node.clone());
        let budgets = self.cluster.pod_disruption_budgets.iter().collect();
        let (snapshot, statuses) = (Snapshot::of([NodeInfo::clone(node)]).with_budgets(budgets), NodeToStatus::default());
        let post = PostFilterContext { quiet, ..context(&self.cluster, &snapshot, &statuses, &self.runner) };
        select_victims_on_node(
            &post,
            &CycleState::default(),
            &PodInfo::new(Arc::new(self.preemptor.clone())),
            node,
            &mut Scratch::new(&snapshot, Emulation::default().behaviour()),
        )
        .run
    }

    /// Runs with recording, and checks that a quiet run finds the same, and runs that look at sums alone as well.
    fn try_on(&self, node: &NodeInfo) -> NodeDryRun {
        let loud = self.run_on(node, false, Way::ByPods);
        let fails = self.runner.fail_add || self.runner.fail_remove;
        for way in [Way::ByPods, Way::BySums, Way::FirstBySums].into_iter().filter(|way| *way == Way::ByPods || !fails) {
            let quiet = self.run_on(node, true, way);
            assert!(quiet.is_empty());
            assert_eq!((&quiet.node, &quiet.status, &quiet.candidate), (&loud.node, &loud.status, &loud.candidate));
            assert_eq!(self.run_on(node, false, way), loud);
        }
        loud
    }
}

fn names(victims: &[Victim]) -> Vec<&str> {
    victims.iter().map(name).collect()
}

fn name(victim: &Victim) -> &str {
    &victim.pod().metadata.name
}

/// One word per step: `-` removed, `=` filtered with all removed, `+` reprieved, `!` put back and removed again.
fn story(run: &NodeDryRun) -> String {
    let words = run.steps().map(|step| match step {
        DryRunStep::Removed(pod) => format!("-{}", pod.metadata.name),
        DryRunStep::Filtered(s) => format!("={}", s.message()),
        DryRunStep::Reprieved(v) => format!("+{}", name(v)),
        DryRunStep::NotReprieved(v, s) => format!("!{}({})", name(v), s.message()),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn check(run: &NodeDryRun, story_want: &str, victims: &[&str], violations: i64) {
    assert_eq!(story(run), story_want);
    let candidate = run.candidate.as_ref().expect("a candidate");
    assert!(run.status.is_success());
    assert_eq!((names(&candidate.victims), candidate.pdb_violations), (victims.to_vec(), violations));
}

#[test]
fn without_weaker_pods_nothing_is_tried() {
    let run = Setting::new(5, 100).try_on(&node("a", 100, &[pod("same", "a", 5, 100, None), pod("more", "a", 6, 100, None)]));
    assert_eq!(run.status, Status::rejected(Reason::NoPreemptionVictims));
    assert!(run.is_empty() && run.candidate.is_none());
}

#[test]
fn where_all_weaker_pods_are_not_enough_the_filters_say_why() {
    let run = Setting::new(5, 300).try_on(&node("a", 400, &[pod("weak", "a", 1, 100, None), pod("strong", "a", 9, 200, None)]));
    assert_eq!(story(&run), "-weak =Insufficient cpu");
    assert_eq!(run.status, Status::unschedulable("Insufficient cpu"));
    assert!(run.candidate.is_none());
}

#[test]
fn the_most_important_are_put_back_first() {
    let pods = [
        pod("low", "a", 1, 100, Some(1)),
        pod("young", "a", 2, 100, Some(9)),
        pod("old", "a", 2, 100, Some(5)),
        pod("peer", "a", 10, 100, Some(1)),
    ];
    let run = Setting::new(10, 200).try_on(&node("a", 400, &pods));
    let want = "-low -young -old = +old !young(Insufficient cpu) !low(Insufficient cpu)";
    check(&run, want, &["young", "low"], 0);
}

#[test]
fn small_pods_may_go_instead_of_a_larger_more_important_one() {
    let pods = [pod("big", "a", 3, 300, None), pod("s1", "a", 1, 100, Some(1)), pod("s2", "a", 1, 100, Some(2))];
    check(
        &Setting::new(10, 200).try_on(&node("a", 500, &pods)),
        "-big -s1 -s2 = +big !s1(Insufficient cpu) !s2(Insufficient cpu)",
        &["s1", "s2"],
        0,
    );
}

#[test]
fn pods_that_would_violate_a_budget_are_put_back_before_the_others() {
    let mut setting = Setting::new(10, 200);
    setting.cluster = [budget("web", 0, r#"{"matchLabels":{"app":"web"}}"#)].into_iter().map(crate::preemption::testing::object).collect();
    let mut guarded = labelled("guarded", "app", "web");
    guarded.spec_mut().priority = Some(1);
    let free = pod("free", "a", 5, 100, None);
    let run = setting.try_on(&node("a", 300, &[free.clone(), with_cpu(guarded.clone(), 100)]));
    check(&run, "-free -guarded = +guarded !free(Insufficient cpu)", &["free"], 0);
    let run = setting.try_on(&node("a", 200, &[free, with_cpu(guarded, 100)]));
    check(&run, "-free -guarded = !guarded(Insufficient cpu) !free(Insufficient cpu)", &["free", "guarded"], 1);
    let violated = run.candidate.as_ref().unwrap().victims[1].violates().next().unwrap();
    assert_eq!((violated.budget.as_str(), violated.allowed, violated.left), ("web", 0, 0));
}

#[test]
fn equals_keep_their_order_and_those_that_violate_a_budget_come_first() {
    let mut setting = Setting::new(10, 400);
    let pods = ["d", "b", "c", "a"].map(|name| pod(name, "a", 1, 100, Some(7)));
    let all = |first: &str| format!("-d -b -c -a = {first} !d(Insufficient cpu) !b(Insufficient cpu) !a(Insufficient cpu)");
    let run = setting.try_on(&node("a", 400, &pods));
    assert_eq!(names(&run.candidate.unwrap().victims), ["d", "b", "c", "a"]);
    setting.cluster = [budget("web", 0, r#"{"matchLabels":{"app":"web"}}"#)].into_iter().map(crate::preemption::testing::object).collect();
    let mut guarded = pods;
    guarded[2].metadata.labels = [("app", "web".into())].into_iter().collect();
    check(&setting.try_on(&node("a", 400, &guarded)), &all("!c(Insufficient cpu)"), &["c", "d", "b", "a"], 1);
}

fn with_cpu(mut pod: Pod, milli_cpu: i64) -> Pod {
    pod.spec_mut().containers = crate::preemption::testing::pod("x", "", 0, milli_cpu, None).spec.containers.clone();
    pod
}

#[test]
fn nominated_pods_count_in_every_filter() {
    let mut setting = Setting::new(10, 100);
    setting.runner.nominate("a", pod("waits", "", 10, 100, None));
    setting.runner.nominate("a", pod("weaker", "", 9, 100, None));
    let run = setting.try_on(&node("a", 200, &[pod("v", "a", 1, 100, None)]));
    check(&run, "-v = !v(Insufficient cpu)", &["v"], 0);
}

#[test]
fn when_everyone_may_stay_something_is_wrong() {
    let run = Setting::new(10, 100).try_on(&node("a", 1000, &[pod("v", "a", 1, 100, None)]));
    assert_eq!(story(&run), "-v = +v");
    assert_eq!(run.status, Status::error("expected at least one victim pod on node \"a\""));
    assert!(run.candidate.is_none());
}

#[test]
fn a_plugin_that_cannot_follow_is_an_error_of_the_node() {
    let full = node("a", 100, &[pod("v", "a", 1, 100, None)]);
    let mut setting = Setting::new(10, 100);
    setting.runner.fail_remove = true;
    let run = setting.try_on(&full);
    assert_eq!((run.status.clone(), story(&run).as_str()), (Status::error("remove v"), ""));
    setting.runner.fail_remove = false;
    setting.runner.fail_add = true;
    let run = setting.try_on(&full);
    assert_eq!((run.status.clone(), story(&run).as_str()), (Status::error("add v"), "-v ="));
    assert!(run.candidate.is_none());
}

#[test]
fn the_node_in_the_snapshot_stays_as_it_was() {
    let before = node("a", 100, &[pod("v", "a", 1, 100, None)]);
    let after = before.clone();
    Setting::new(10, 100).try_on(&after);
    assert_eq!(before, after);
}

proptest! {
    /// Without the victims the pod fits, and with any one of them back it does not.
    #[test]
    fn victims_are_enough_and_none_is_needless(
        pods in prop::collection::vec((-2..6_i32, 0..5_i64, 0..4_i64, 0..3_u8), 1..12),
        spare in 0..3_i64,
        ask in 1..8_i64,
        allowed in 0..3_i32,
    ) {
        let pods: Vec<Pod> = pods.iter().enumerate().map(|(i, (priority, cpu, start, label))| {
            let mut pod = pod(&format!("v{i:02}"), "a", *priority, cpu * 100, (*start > 0).then_some(*start));
            if *label > 0 {
                pod.metadata.labels = [("app", if *label == 1 { "web" } else { "db" })].into_iter().map(|(k, v)| (k, v.into())).collect();
            }
            pod
        }).collect();
        let used: i64 = node("a", 0, &pods).requested.milli_cpu;
        let node = node("a", used + spare * 100, &pods);
        let mut setting = Setting::new(4, ask * 100);
        let budgets = ["web", "db"].map(|app| budget(app, allowed, &format!(r#"{{"matchLabels":{{"app":"{app}"}}}}"#)));
        setting.cluster = budgets.into_iter().map(crate::preemption::testing::object).collect();
        let run = setting.try_on(&node);

        let fits = |without: &dyn Fn(&Pod) -> bool| {
            let left: i64 = node.pods.iter().filter(|p| !without(&p.pod)).map(|p| p.resource.resource.milli_cpu).sum();
            left + ask * 100 <= node.allocatable.milli_cpu
        };
        let weaker = |p: &Pod| p.priority() < 4;
        match &run.candidate {
            Some(candidate) => {
                prop_assert!(!candidate.victims.is_empty());
                let is_victim = |p: &Pod| candidate.victims.iter().any(|v| v.key() == p.key());
                prop_assert!(fits(&is_victim));
                for back in &candidate.victims {
                    prop_assert!(back.priority() < 4);
                    prop_assert!(!fits(&|p| is_victim(p) && p.key() != back.key()), "{} need not go", back.key());
                }
                let violating = candidate.victims.iter().filter(|v| v.violates_any()).count();
                prop_assert_eq!(candidate.pdb_violations, i64::try_from(violating).unwrap());
                let now = i64::MAX;
                prop_assert!(candidate.victims.is_sorted_by_key(|v| rank(v.info(), now, Importance::PriorityAndStart)));
            }
            None if !pods.iter().any(weaker) => prop_assert!(run.is_empty()),
            None => prop_assert!(!fits(&weaker) || fits(&|_| false)),
        }
    }
}

/// Nodes `a` and `b`: on `a` a single pod, a pod of the group `g` that is disrupted as one, and one of `s` that is not; on `b`
/// another pod of `g`. Every pod takes 100m.
fn groups_setting(release: &str, gate: bool, priority_of_g: i32) -> (Setting, Snapshot, Emulation) {
    let mut emulation = Emulation::from(crate::release::Profile::named(release).unwrap());
    emulation.set(crate::release::Gate::GenericWorkload, gate);
    let of = |mut pod: Pod, group: &str| {
        let group = serde_json::from_value(serde_json::json!({"podGroupName": group})).unwrap();
        pod.spec_mut().scheduling_group = Some(group);
        pod
    };
    let here = [pod("alone", "a", 3, 100, Some(1)), of(pod("g1", "a", 1, 100, Some(5)), "g"), of(pod("s1", "a", 3, 100, Some(9)), "s")];
    let there = [of(pod("g2", "b", 1, 100, Some(2)), "g")];
    let group = |name: &str, priority: i32, mode: &str| -> crate::cluster::Object {
        let spec = serde_json::json!({"schedulingPolicy": {"gang": {"minCount": 1}}, "priority": priority, "disruptionMode": {mode: {}}});
        serde_json::from_value(serde_json::json!({"kind": "PodGroup", "metadata": {"name": name, "namespace": "default"}, "spec": spec}))
            .unwrap()
    };
    let mut setting = Setting::new(10, 100);
    setting.cluster = [group("g", priority_of_g, "all"), group("s", 3, "single")].into_iter().collect();
    setting.preemptor.metadata.labels = [("tried", "a".into())].into_iter().collect();
    setting.runner.elsewhere = Some(std::sync::Mutex::default());
    let mut states = crate::framework::PodGroupStates::default();
    here.iter().chain(&there).for_each(|pod| states.add(&Arc::new(pod.clone())));
    let snapshot = Snapshot::of([node("a", 300, &here), node("b", 100, &there)]).with_pod_groups(states);
    (setting, snapshot, emulation)
}

fn run_with_groups((setting, snapshot, emulation): &(Setting, Snapshot, Emulation)) -> NodeDryRun {
    let snapshot = snapshot.clone().with_budgets(setting.cluster.pod_disruption_budgets.iter().collect());
    let statuses = NodeToStatus::default();
    let mut post = context(&setting.cluster, &snapshot, &statuses, &setting.runner);
    post.cx.emulation = *emulation;
    let preemptor = PodInfo::new(Arc::new(setting.preemptor.clone()));
    let node = snapshot.get("a").unwrap();
    select_victims_on_node(&post, &CycleState::default(), &preemptor, node, &mut Scratch::new(&snapshot, emulation.behaviour())).run
}

#[test]
fn a_group_that_is_disrupted_as_one_goes_with_its_pods_on_all_nodes() {
    let short = "Insufficient cpu";
    let setting = groups_setting("v1.37.0", true, 1);
    let run = run_with_groups(&setting);
    // Of equal priority, a pod of a group is worth more than one of none.
    check(&run, &format!("-alone -g1 -g2 -s1 = +s1 +alone !g1({short}) !g2({short})"), &["g1", "g2"], 0);
    let groups: Vec<_> = run.candidate.unwrap().victims.iter().map(|victim| victim.group().map(|key| key.to_string())).collect();
    assert_eq!(groups, vec![Some("default/g".to_owned()); 2]);
    // Its pod elsewhere changes only what plugins keep in their state.
    assert_eq!(*setting.0.runner.elsewhere.unwrap().lock().unwrap(), ["-g2@b", "+g2@b", "-g2@b"]);
    for (release, gate) in [("v1.37.0", false), ("v1.36.2", true)] {
        let mut setting = groups_setting(release, gate, 1);
        setting.0.runner.elsewhere = None;
        let run = run_with_groups(&setting);
        check(&run, &format!("-alone -g1 -s1 = +alone +s1 !g1({short})"), &["g1"], 0);
        assert_eq!(run.candidate.unwrap().victims[0].group(), None, "{release}");
    }
}

#[test]
fn a_pod_is_evicted_by_the_priority_of_its_group() {
    let run = run_with_groups(&groups_setting("v1.37.0", true, 10));
    check(&run, "-alone -s1 = +s1 !alone(Insufficient cpu)", &["alone"], 0);
    let run = run_with_groups(&groups_setting("v1.37.0", true, 5));
    // The group is the most important one now, with the larger number of pods before the earlier start.
    check(&run, "-alone -g1 -g2 -s1 = +g1 +g2 +s1 !alone(Insufficient cpu)", &["alone"], 0);
    let run = run_with_groups(&groups_setting("v1.37.0", true, 3));
    check(&run, "-alone -g1 -g2 -s1 = +g1 +g2 +s1 !alone(Insufficient cpu)", &["alone"], 0);
}

#[test]
fn every_pod_of_a_group_counts_as_a_violation() {
    let with_budget = |allowed| {
        let mut setting = groups_setting("v1.37.0", true, 1);
        setting.0.preemptor = pod("p", "", 10, 300, None);
        setting.0.preemptor.metadata.labels = [("tried", "a".into())].into_iter().collect();
        let web = |node: &mut NodeInfo| {
            let pods: Vec<_> = node.pods.clone();
            for info in pods {
                let mut pod = (*info.pod).clone();
                pod.metadata.labels = [("app", "web".into())].into_iter().collect();
                node.remove(&info);
                node.add_pod(Arc::new(PodInfo::new(Arc::new(pod))));
            }
        };
        let nodes = ["a", "b"].map(|name| {
            let mut node = (**setting.1.get(name).unwrap()).clone();
            web(&mut node);
            node
        });
        setting.1 = Snapshot::of(nodes).with_pod_groups(setting.1.pod_groups().clone());
        setting.0.cluster.insert(crate::preemption::testing::object(budget("web", allowed, r#"{"matchLabels":{"app":"web"}}"#)));
        let candidate = run_with_groups(&setting).candidate.unwrap();
        (candidate.victims.len(), candidate.pdb_violations)
    };
    assert_eq!((with_budget(0), with_budget(2), with_budget(3), with_budget(4)), ((4, 4), (4, 2), (4, 1), (4, 0)));
}

#[test]
fn a_group_with_a_pod_on_an_unknown_node_ends_the_dry_run() {
    let mut setting = groups_setting("v1.37.0", true, 1);
    setting.1 = Snapshot::of([(**setting.1.get("a").unwrap()).clone()]).with_pod_groups(setting.1.pod_groups().clone());
    let run = run_with_groups(&setting);
    let error = r#"failed to get node info for node "b" from snapshot: nodeinfo not found for node name "b""#;
    assert_eq!((run.status, run.candidate), (Status::error(error), None));
}
