//! Pod groups in the queues and at the cursor.

use serde_json::{Value, json};

use super::*;
use crate::release::Gate;
use crate::ui::model::list::RowId;
use crate::ui::model::rows::QueueRow;

/// Three nodes with one cpu each. Of four pods of the group `train`, four must have a place; `eval` lacks a pod; `web` has
/// no group.
fn objects() -> Vec<Value> {
    let node = |name: &str| {
        json!({
            "apiVersion": "v1", "kind": "Node", "metadata": { "name": name },
            "status": { "allocatable": { "cpu": "1", "memory": "4Gi", "pods": "20" } },
        })
    };
    let group = |name: &str, min: usize| {
        json!({
            "apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", "metadata": { "namespace": "ml", "name": name },
            "spec": { "schedulingPolicy": { "gang": { "minCount": min } } },
        })
    };
    let pod = |name: &str, group: Option<&str>| {
        let mut pod = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": { "namespace": "ml", "name": name },
            "spec": { "schedulerName": "default-scheduler", "containers": [{ "name": "c", "resources": { "requests": { "cpu": "1" } } }] },
        });
        if let Some(group) = group {
            pod["spec"]["schedulingGroup"] = json!({ "podGroupName": group });
        }
        pod
    };
    let nodes = ["node-a", "node-b", "node-c"].map(node);
    let pods = ["train-0", "train-1", "train-2", "train-3"].map(|name| pod(name, Some("train")));
    let others = [pod("eval-0", Some("eval")), pod("web", None)];
    nodes.into_iter().chain([group("train", 4), group("eval", 2)]).chain(pods).chain(others).collect()
}

fn screen(gates: bool, width: u16, height: u16) -> Screen {
    let text = json!({ "apiVersion": "v1", "kind": "List", "items": objects() }).to_string();
    let loaded = source::load(&[Input::Bytes { name: "list.json".into(), bytes: text.into_bytes().into() }]);
    assert_eq!(loaded.objects.len(), objects().len());
    let start = "2026-11-20T18:26:12Z".parse().unwrap();
    let mut emulation = Emulation::default();
    for gate in [Gate::GenericWorkload, Gate::GangScheduling] {
        emulation.set(gate, gates);
    }
    let options = Options { start, evictions: Evictions::AfterGracePeriod, ..Options::default() };
    let scheduler = Scheduler::new(Config::defaults(emulation), loaded.objects, options);
    Screen::of(Explorer::new(Session::new(scheduler, "list")), width, height)
}

/// Returns the rows of the queues, members indented.
fn rows(screen: &Screen) -> Vec<String> {
    let words = |row: &QueueRow| match row {
        QueueRow::Part { part, count, .. } => format!("{} {count}", part.title()),
        QueueRow::Pod(pod) => pod.to_string(),
        QueueRow::Group(row) => format!("{} {} ({})", if row.open { "-" } else { "+" }, row.group, row.count),
        QueueRow::Member(pod) => format!("    {pod}"),
    };
    screen.state.view_model.rows.queues.iter().map(words).collect()
}

#[test]
fn a_group_is_a_row_of_each_queue_and_opens_to_its_pods() {
    let mut screen = screen(true, 120, 40);
    screen.wait();
    let closed = ["activeQ 5", "+ ml/train (4)", "ml/web", "gated 1", "+ ml/eval (1)"];
    screen.act("1");
    assert_eq!(rows(&screen), closed);
    assert!(matches!(&screen.state.list(Pane::QUEUES).selected, Some(RowId::PodGroup(group, _)) if group.name == "train"));
    screen.act("enter");
    let members = ["    ml/train-0", "    ml/train-1", "    ml/train-2", "    ml/train-3"];
    assert_eq!(rows(&screen), [&closed[..1], &["- ml/train (4)"], &members, &closed[2..]].concat());
    screen.act("enter");
    assert_eq!(rows(&screen), closed);
    screen.act("/ 'train-2' enter");
    assert_eq!(rows(&screen), ["activeQ 5", "- ml/train (1)", "    ml/train-2"]);
}

#[test]
fn the_row_of_a_group_says_why_it_waits() {
    let mut screen = screen(true, 120, 40);
    screen.act("1 G");
    let text = screen.text();
    assert!(text.contains("Waits for one more pod: it has 1"), "{text}");
    screen.act("c 1 g j");
    insta::assert_snapshot!("pod_group_that_waits_120x40", screen.part());
    let mut small = self::screen(true, 80, 24);
    small.act("c 1 g j enter");
    insta::assert_snapshot!("pod_group_that_waits_80x24", small.part());
}

#[test]
fn the_cycle_of_a_group_is_one_step_that_opens_to_the_cycles_of_its_pods() {
    let mut screen = screen(true, 120, 40);
    screen.act("c");
    assert_eq!(screen.timeline().revisions().len(), 1);
    let text = screen.text();
    assert!(text.contains("pod group ml/train: Waits, because only 3 pods find a place, and 4 must have one at once."), "{text}");
    screen.act(":pod ml/train-1;");
    assert_eq!(screen.timeline().revisions().len(), 1, "its decision is recorded already");
    let start = screen.timeline().cycle().start.clone();
    assert_eq!(start.unwrap().pod, Key::new("ml", "train-1"));
    let text = screen.text();
    assert!(text.contains("ml/train-1: Pending although it was to run on node-"), "{text}");
    screen.act("5");
    insta::assert_snapshot!("pod_group_steps_120x40", screen.part());
}

#[test]
fn without_the_gates_there_are_no_groups() {
    let mut screen = screen(false, 120, 40);
    screen.act("1");
    assert!(!rows(&screen).iter().any(|row| row.starts_with(['+', '-', ' '])), "{:?}", rows(&screen));
    screen.act("c c c");
    assert_eq!(screen.timeline().cycle().group, None);
    assert_eq!(screen.timeline().keyframe().cluster.pods.iter().filter(|pod| !pod.node_name.is_empty()).count(), 3);
}
