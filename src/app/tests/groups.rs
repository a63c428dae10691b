//! Groups of nodes: by verdict, pool, zone or any label.

use serde_json::json;

use super::golden::SIZES;
use super::*;
use crate::ui::model::list::{GroupKey, RowId};
use crate::ui::model::rows::NodeRow;

/// A pod that requests 1 cpu, and 700 nodes: a third fits, a third lacks cpu, a third is tainted.
fn large(width: u16, height: u16) -> Screen {
    let node = |i: usize| {
        let zone = ["west-a", "west-b", "west-c"][i % 11 % 3];
        let mut labels = json!({ "topology.kubernetes.io/zone": zone });
        if let Some(pool) = [Some("general"), Some("general"), Some("batch"), Some("gpu"), None][i % 7 % 5] {
            labels["cloud.google.com/gke-nodepool"] = pool.into();
        }
        let taints = if i % 3 == 2 { json!([{ "key": "dedicated", "value": "db", "effect": "NoSchedule" }]) } else { json!([]) };
        let cpu = if i % 3 == 1 { "500m" } else { ["8", "8", "16"][i % 7 % 3] };
        json!({
            "apiVersion": "v1", "kind": "Node", "metadata": { "name": format!("node-{i:05}"), "labels": labels },
            "spec": { "taints": taints }, "status": { "allocatable": { "cpu": cpu, "memory": "32Gi", "pods": "20" } },
        })
    };
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "namespace": "shop", "name": "payments" },
        "spec": { "schedulerName": "default-scheduler", "containers": [{ "name": "c", "resources": { "requests": { "cpu": "1" } } }] },
    });
    let items: Vec<_> = (0..700).map(node).chain([pod]).collect();
    Screen::listed(&items, width, height)
}

fn groups(screen: &Screen) -> Vec<String> {
    let rows = screen.state.view_model.rows.nodes.iter();
    let words = rows.filter_map(|row| match row {
        NodeRow::Group(group) => Some(format!("{} {} {:?}", group.key.words(), group.count, group.classes.values().collect::<Vec<_>>())),
        _ => None,
    });
    words.collect()
}

#[test]
fn nodes_are_grouped_by_pool_and_zone_and_what_a_group_has_is_summed() {
    let mut screen = large(120, 40);
    screen.act("c 2 z");
    screen.act("enter j");
    insta::assert_snapshot!("by_pool_opened", screen.part());
    for (width, height) in SIZES {
        screen.state = first_state(screen.explorer.timeline(), (width, height));
        screen.act("2 z");
        insta::assert_snapshot!(format!("by_pool_{width}x{height}"), screen.part());
    }
    let mut screen = large(120, 40);
    screen.act("c 2");
    insta::assert_snapshot!("by_verdict", screen.part());
    screen.act("j enter G");
    insta::assert_snapshot!("group_opened", screen.part());
    screen.act("/ '0471' enter");
    insta::assert_snapshot!("group_filtered", screen.part());
}

#[test]
fn groups_go_round_and_by_any_label_and_every_node_is_in_one() {
    let mut screen = large(120, 40);
    screen.act("c 2");
    let total = |screen: &Screen| -> usize {
        let rows = screen.state.view_model.rows.nodes.iter();
        rows.map(|row| if let NodeRow::Group(group) = row { group.count } else { 0 }).sum()
    };
    assert_eq!(groups(&screen), [" 234 [234]", "Insufficient cpu 233 [233]", "node(s) had untolerated taint(s) 233 [233]"]);
    screen.act("z");
    assert_eq!(screen.said(), "nodes: by pool (cloud.google.com/gke-nodepool)");
    assert_eq!(total(&screen), 700);
    screen.act("z");
    assert_eq!(screen.said(), "nodes: by zone (topology.kubernetes.io/zone)");
    assert_eq!(total(&screen), 700);
    screen.act("z");
    assert_eq!((screen.said().as_str(), total(&screen)), ("nodes: one by one", 0));
    screen.act(":group cloud.google.com/gke-nodepool;");
    assert!(groups(&screen).iter().any(|g| g.starts_with("no label ")), "{:?}", groups(&screen));
    screen.act(":group disk;");
    assert_eq!(screen.said(), "! no node has the label \"disk\"");
    screen.act(": 'group cl' tab");
    let Some(Overlay::Prompt(prompt)) = &screen.state.overlay else { panic!("a prompt") };
    assert_eq!(prompt.input.value(), "group cloud.google.com/gke-nodepool");
    screen.act("esc :group verdict;");
    assert_eq!(total(&screen), 700);
}

#[test]
fn a_group_stays_selected_and_open_in_every_order() {
    let mut screen = large(120, 40);
    screen.act("c 2 z j enter");
    let selected = screen.state.list(Pane::NODES).selected.clone();
    let Some(RowId::Group(GroupKey::Label { value: Some(_), .. })) = &selected else { panic!("{selected:?}") };
    for _ in 0..4 {
        screen.act("o");
        assert_eq!(screen.state.list(Pane::NODES).selected, selected);
        let open = screen.state.view_model.rows.nodes.iter().filter(|r| matches!(r, NodeRow::Group(g) if g.open)).count();
        assert_eq!(open, 1);
    }
}

#[test]
fn the_closest_node_is_first_within_its_group_and_says_what_it_lacks() {
    let mut screen = Screen::asked(120, 40);
    screen.act("c 2 z enter");
    insta::assert_snapshot!("closest_in_a_group", screen.part());
    screen.act("z z z");
    let first: Vec<&str> = screen
        .state
        .view_model
        .rows
        .nodes
        .iter()
        .take(2)
        .filter_map(|r| if let NodeRow::Node { name, .. } = r { Some(name.as_str()) } else { None })
        .collect();
    assert_eq!(first, ["worker-a2", "worker-b1"]);
    let text = screen.text();
    assert!(text.contains("lacks 2.4 of 6 cpu"), "{text}");
}
