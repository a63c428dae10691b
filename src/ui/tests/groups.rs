//! Thousands of nodes as a handful of rows: by verdict, by pool, by zone, by any label.

use super::*;
use crate::ui::model::list::{GroupKey, RowId};
use crate::ui::model::rows::NodeRow;

fn groups(screen: &Screen) -> Vec<String> {
    let rows = screen.state.view_model.nodes.iter();
    let words = rows.filter_map(|row| match row {
        NodeRow::Group(group) => Some(format!("{} {} {:?}", group.key.words(), group.count, group.classes.values().collect::<Vec<_>>())),
        _ => None,
    });
    words.collect()
}

#[test]
fn nodes_are_grouped_by_pool_and_zone_and_what_a_group_has_is_summed() {
    let mut screen = Screen::of(testing::large(5000), 120, 40);
    screen.keys("c 2 z");
    assert_screen!("by_pool_120x40", screen);
    screen.keys("enter j");
    assert_screen!("by_pool_opened", screen);
    for (size, name) in [((160, 50), "by_pool_160x50"), ((80, 24), "by_pool_80x24"), ((60, 16), "by_pool_60x16")] {
        let mut screen = Screen::of(testing::large(5000), size.0, size.1);
        screen.keys("c 2 z");
        insta::assert_snapshot!(name, screen.text());
    }
}

#[test]
fn groups_go_round_and_by_any_label_and_every_node_is_in_one() {
    let mut screen = Screen::of(testing::large(700), 120, 40);
    screen.keys("c 2");
    let said = |screen: &Screen| screen.state.notice.as_ref().map(|n| n.text.clone()).unwrap_or_default();
    let total = |screen: &Screen| -> usize {
        let rows = screen.state.view_model.nodes.iter();
        rows.map(|row| if let NodeRow::Group(group) = row { group.count } else { 0 }).sum()
    };
    assert_eq!(groups(&screen), [" 234 [234]", "Insufficient cpu 233 [233]", "node(s) had untolerated taint(s) 233 [233]"]);
    screen.keys("z");
    assert_eq!(said(&screen), "nodes: by pool (cloud.google.com/gke-nodepool)");
    assert_eq!(total(&screen), 700);
    screen.keys("z");
    assert_eq!(said(&screen), "nodes: by zone (topology.kubernetes.io/zone)");
    assert_eq!(total(&screen), 700);
    screen.keys("z");
    assert_eq!((said(&screen).as_str(), total(&screen)), ("nodes: one by one", 0));
    screen.keys(": \"group_cloud.google.com/gke-nodepool\" enter");
    assert!(groups(&screen).iter().any(|g| g.starts_with("no label ")), "{:?}", groups(&screen));
    screen.keys(": \"group_disk\" enter");
    assert_eq!(said(&screen), "no node has the label \"disk\"");
    screen.keys(": \"group_cl\" tab");
    let Some(crate::ui::Overlay::Prompt(prompt)) = &screen.state.overlay else { panic!("a prompt") };
    assert_eq!(prompt.input.value(), "group cloud.google.com/gke-nodepool");
    screen.keys("esc : \"group_verdict\" enter");
    assert_eq!(total(&screen), 700);
}

#[test]
fn a_group_stays_selected_and_open_in_every_order() {
    let mut screen = Screen::of(testing::large(700), 120, 40);
    screen.keys("c 2 z j enter");
    let selected = screen.state.list(Pane::NODES).selected.clone();
    let Some(RowId::Group(GroupKey::Label { value: Some(_), .. })) = &selected else { panic!("{selected:?}") };
    for _ in 0..4 {
        screen.keys("o");
        assert_eq!(screen.state.list(Pane::NODES).selected, selected);
        let open = screen.state.view_model.nodes.iter().filter(|r| matches!(r, NodeRow::Group(g) if g.open)).count();
        assert_eq!(open, 1);
    }
}

#[test]
fn the_closest_node_is_first_within_its_group_and_says_what_it_lacks() {
    let mut screen = Screen::new(120, 40);
    screen.keys("c 2 z o o o enter");
    assert_screen!("closest_in_a_group", screen);
    screen.keys("z o o o o");
    let first: Vec<&str> = screen
        .state
        .view_model
        .nodes
        .iter()
        .take(2)
        .filter_map(|r| if let NodeRow::Node { name, .. } = r { Some(name.as_str()) } else { None })
        .collect();
    assert_eq!(first, ["worker-a2", "worker-b1"]);
    let text = screen.text();
    assert!(text.contains("lacks 1.9 cpu"), "{text}");
}
