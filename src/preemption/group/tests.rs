//! Tests of `group`.

use super::*;
use crate::cluster::Object;
use crate::framework::NodeInfo;
use crate::preemption::testing::budget;

/// A running pod: its name, priority, group, and start in seconds.
type Running<'a> = (&'a str, i32, &'a str, i64);

fn pod((name, priority, group, start): Running<'_>) -> Arc<PodInfo> {
    let group = if group.is_empty() { String::new() } else { format!(r#","schedulingGroup":{{"podGroupName":"{group}"}}"#) };
    let start = Timestamp::from_second(start).unwrap();
    let text = format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"d","uid":"{name}","labels":{{"app":"web"}}}},
            "spec":{{"nodeName":"n","priority":{priority}{group}}},"status":{{"startTime":"{start}"}}}}"#
    );
    Arc::new(PodInfo::new(Arc::new(serde_json::from_str(&text).unwrap())))
}

fn group(name: &str, rest: &str) -> PodGroup {
    serde_json::from_str(&format!(r#"{{"metadata":{{"name":"{name}","namespace":"d"}},"spec":{{{rest}}}}}"#)).unwrap()
}

/// A trial in which the group fits if at most `at_most` pods run.
struct Room {
    running: usize,
    at_most: usize,
    tries: usize,
}

impl GroupTrial for Room {
    fn remove(&mut self, pods: &[Arc<PodInfo>]) {
        self.running -= pods.len();
    }
    fn add(&mut self, pods: &[Arc<PodInfo>]) {
        self.running += pods.len();
    }
    fn schedule(&mut self) -> Status {
        self.tries += 1;
        if self.running <= self.at_most { Status::success() } else { Status::rejected(Reason::GroupUnschedulable) }
    }
}

#[track_caller]
fn check(running: &[Running<'_>], groups: &[&str], allowed: Option<i32>, at_most: usize, expected: &str) {
    check_by(GroupRule::Permit, running, groups, allowed, at_most, expected);
}

#[track_caller]
fn check_by(rule: GroupRule, running: &[Running<'_>], groups: &[&str], allowed: Option<i32>, at_most: usize, expected: &str) {
    let mut node = NodeInfo::new(Arc::new(serde_json::from_str(r#"{"metadata":{"name":"n"}}"#).unwrap()));
    for of in running {
        node.add_pod(pod(*of));
    }
    let budget = allowed.map(|allowed| Arc::new(budget("b", allowed, r#"{"matchLabels":{"app":"web"}}"#)));
    let budget = budget.map(|mut b| {
        Arc::make_mut(&mut b).metadata.namespace = "d".into();
        b
    });
    let snapshot = Snapshot::of([node]).with_budgets(budget.iter().collect());
    let as_one = |name: &&str| Object::PodGroup(Arc::new(group(name, r#""priority":1,"disruptionMode":"PodGroup""#)));
    let cluster: Cluster = groups.iter().map(as_one).collect();
    let preemptor = group("p", r#""priority":9"#);
    let waiting = [pod(("w", 0, "p", 0))];
    let mut room = Room { running: running.len(), at_most, tries: 0 };
    let record = GroupPreemptor { group: &preemptor, pods: &waiting, rule }.preempt(&cluster, &snapshot, Timestamp::UNIX_EPOCH, &mut room);
    let names = |pods: Vec<&Arc<PodInfo>>| pods.iter().map(|p| p.pod.metadata.name.to_string()).collect::<Vec<_>>().join(" ");
    let got = if record.status.is_success() { names(record.victims().collect()) } else { record.status.message() };
    assert_eq!(got, expected);
}

#[test]
fn the_least_important_units_go() {
    let pods = [("new", 1, "", 9), ("old", 1, "", 5), ("low", 0, "", 1), ("equal", 9, "", 1), ("of-group", 1, "g", 99)];
    check(&pods, &[], None, 3, "new low");
    check(&pods, &[], None, 2, "old new low");
    // A pod of a group, even a single one, is worth more than one of none.
    check(&pods, &[], None, 1, "of-group old new low");
    check(&pods, &[], None, 0, "pod group is unschedulable");
    check(&pods[3..4], &[], None, 0, "No preemption victims found for incoming preemptor");
}

#[test]
fn a_group_goes_as_one() {
    let pods = [("g1", 50, "g", 3), ("a", 1, "", 1), ("g2", 50, "g", 1), ("b", 1, "", 2)];
    // The priority of the group counts, not that of its pods.
    check(&pods, &["g"], None, 2, "a b");
    check(&pods, &["g"], None, 1, "g1 g2 b");
}

#[test]
fn what_violates_a_budget_is_put_back_first() {
    let pods = [("a", 3, "", 1), ("b", 2, "", 1), ("c", 1, "", 1)];
    check(&pods, &[], Some(1), 1, "a c");
    check(&pods, &[], Some(0), 1, "b c");
    check(&pods, &[], None, 1, "b c");
}

#[test]
fn a_member_that_never_preempts_speaks_for_all() {
    let mut never = Arc::unwrap_or_clone(pod(("w", 0, "p", 0)));
    Arc::make_mut(&mut never.pod).spec_mut().preemption_policy = Some("Never".into());
    let (preemptor, snapshot, pods) = (group("p", r#""priority":9"#), Snapshot::default(), [Arc::new(never)]);
    let mut room = Room { running: 0, at_most: 0, tries: 0 };
    let by = GroupPreemptor { group: &preemptor, pods: &pods, rule: GroupRule::Permit };
    let record = by.preempt(&Cluster::default(), &snapshot, Timestamp::UNIX_EPOCH, &mut room);
    assert_eq!((record.status.message().as_str(), room.tries), ("not eligible due to preemptionPolicy=Never.", 0));
}

#[test]
fn later_releases_count_a_pod_with_the_priority_of_its_group() {
    use GroupRule::{Feasible, Permit};
    // A pod of a group counts with the priority of the group, which is 1 here.
    let pods = [("of-group", 50, "g", 1), ("a", 2, "", 1)];
    let single = [r#""priority":1"#];
    let by = |rule, at_most| {
        let mut node = NodeInfo::new(Arc::new(serde_json::from_str(r#"{"metadata":{"name":"n"}}"#).unwrap()));
        for of in pods {
            node.add_pod(pod(of));
        }
        let snapshot = Snapshot::of([node]);
        let cluster: Cluster = single.iter().map(|spec| Object::PodGroup(Arc::new(group("g", spec)))).collect();
        let (preemptor, waiting) = (group("p", r#""priority":9"#), [pod(("w", 9, "p", 0))]);
        let mut room = Room { running: pods.len(), at_most, tries: 0 };
        let record =
            GroupPreemptor { group: &preemptor, pods: &waiting, rule }.preempt(&cluster, &snapshot, Timestamp::UNIX_EPOCH, &mut room);
        record.victims().map(|p| p.pod.metadata.name.to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!((by(Permit, 1), by(Feasible, 1)), ("a".into(), "of-group".into()));
    assert_eq!((by(Permit, 0), by(Feasible, 0)), (String::new(), "a of-group".into()));
}

#[test]
fn a_group_waits_for_victims_that_are_still_on_its_nominated_nodes() {
    let going = r#"[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"}]"#;
    let preempt = |rule, nominated: &str, deleted: bool, conditions: &str| {
        let mut victim = Arc::unwrap_or_clone(pod(("v", 1, "", 1)));
        let changed = Arc::make_mut(&mut victim.pod);
        changed.metadata.deletion_timestamp = deleted.then_some(Timestamp::UNIX_EPOCH);
        changed.status.conditions = serde_json::from_str(conditions).unwrap();
        let mut node = NodeInfo::new(Arc::new(serde_json::from_str(r#"{"metadata":{"name":"n"}}"#).unwrap()));
        node.add_pod(Arc::new(victim));
        let mut waiting = Arc::unwrap_or_clone(pod(("w", 9, "p", 0)));
        Arc::make_mut(&mut waiting.pod).status.nominated_node_name = nominated.into();
        let mut room = Room { running: 1, at_most: 0, tries: 0 };
        let (preemptor, waiting) = (group("p", r#""priority":9"#), [Arc::new(waiting)]);
        let by = GroupPreemptor { group: &preemptor, pods: &waiting, rule };
        let record = by.preempt(&Cluster::default(), &Snapshot::of([node]), Timestamp::UNIX_EPOCH, &mut room);
        let nominated = record.nominated.iter().map(|(pod, node)| format!(" {pod}>{node}")).collect::<String>();
        format!("{} {}{nominated}", record.status.message(), record.victims().count())
    };
    let again = "found a placement for podgroup, preempting 1 victims 1";
    assert_eq!(preempt(GroupRule::Feasible, "n", true, going), "ongoing preemption on nominated nodes 0 d/w>n");
    assert_eq!(preempt(GroupRule::Feasible, "", true, going), again);
    assert_eq!(preempt(GroupRule::Feasible, "n", false, going), again);
    assert_eq!(preempt(GroupRule::Feasible, "n", true, "[]"), again);
    assert_eq!(preempt(GroupRule::Permit, "n", true, going), " 1", "earlier releases preempt again");
}
