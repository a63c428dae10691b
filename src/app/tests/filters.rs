//! Filters: what they match, what they show, and when they end.

use ratatui::style::Modifier;

use super::*;
use crate::ui::model::list::Row;
use crate::ui::model::list::RowId;
use crate::ui::view::layout::Plan;
use crate::ui::view::panes;

fn nodes(screen: &Screen) -> String {
    let name = |id| if let RowId::Node(name) = id { name.to_string() } else { String::new() };
    screen.state.view_model.nodes.iter().filter_map(Row::id).map(name).collect::<Vec<_>>().join(" ")
}

#[test]
fn nodes_match_by_everything_in_their_rows_and_by_labels() {
    for (filter, expected) in [
        ("wa2", "worker-a2"),
        ("taint", "gpu-a1 gpu-b1 infra-1"),
        ("plugin:taint", "gpu-a1 gpu-b1 infra-1"),
        ("by:unsched", "worker-c3"),
        ("cordoned", "worker-c3"),
        ("reason:nvidia", "gpu-a1 gpu-b1"),
        ("cpu worker-b", "worker-b1 worker-b3 worker-b2"),
        ("!cpu !taint", "worker-c3"),
        ("verdict:unresolvable !plugin:taint", "worker-c3"),
        ("reason:worker", ""),
    ] {
        let mut screen = Screen::asked(120, 40);
        screen.act(&format!("c 2 / '{filter}' enter"));
        assert_eq!(nodes(&screen), expected, "{filter}");
        assert!(screen.text().contains(&format!("/{filter}: ").chars().take(20).collect::<String>()), "{}", screen.text());
    }
    let mut screen = Screen::asked(120, 40);
    screen.act("c 2 / 'label:zone=eu-west-1a' enter");
    assert!(
        nodes(&screen).split(' ').all(|name| name.contains("-a") || name == "infra-1") && !nodes(&screen).is_empty(),
        "{}",
        nodes(&screen)
    );
    assert!(screen.text().contains("/zone="), "the label that matched is in the row\n{}", screen.text());
}

#[test]
fn pods_match_by_queue_plugin_namespace_and_label() {
    let pods = |filter: &str| {
        let mut screen = Screen::new("payments");
        screen.act(&format!(":run; 1 / '{filter}' enter"));
        let name = |id| if let RowId::Pod(key) = id { key.to_string() } else { String::new() };
        screen.state.view_model.queues.iter().filter_map(Row::id).map(name).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(pods("queue:gated"), "batch/gated");
    assert_eq!(pods("gate:quota"), "batch/gated");
    assert!(pods("ns:ml").split(' ').all(|pod| pod.starts_with("ml/")));
    assert_eq!(pods("plugin:TaintToleration ns:ml !gpu"), "ml/no-toleration");
    assert!(pods("app=payments").contains("shop/payments") || pods("app=payments").is_empty());
    assert_eq!(pods("NoSuchPlugin"), "");
}

/// Returns the text whose cells are underlined in the row of a pane that contains `part`.
fn underlined(screen: &Screen, pane: Pane, part: &str) -> String {
    let list = panes::def(pane).list_in(&Plan::of(&screen.state));
    let buf = screen.buffer(&theme("dark", Depth::None));
    let row = |y| (list.left()..list.right()).map(|x| buf[(x, y)].clone()).collect::<Vec<_>>();
    let text = |y| row(y).iter().map(|cell| cell.symbol().to_owned()).collect::<String>();
    let y = (list.top()..list.bottom()).find(|y| text(*y).contains(part)).unwrap_or_else(|| panic!("{part}"));
    row(y).iter().filter(|cell| cell.modifier.contains(Modifier::UNDERLINED)).map(|cell| cell.symbol().to_owned()).collect()
}

#[test]
fn the_letters_that_match_are_marked_without_colour_too() {
    let mut screen = Screen::asked(120, 40);
    screen.act("c 2 / 'wa2 reason:lacks' enter");
    assert_eq!(underlined(&screen, Pane::NODES, "worker-a2"), "wa2lacks");
    screen.act("esc 1 / 'ingress' enter");
    assert_eq!(underlined(&screen, Pane::QUEUES, "ingress"), "ingress");
}

#[test]
fn a_filter_is_always_in_sight() {
    for (width, height) in super::golden::SIZES {
        let mut screen = Screen::sized("payments", width, height);
        screen.act(":pod shop/payments; 2 / 'taint' enter");
        assert!(screen.text().contains("/taint: 3"), "{}", screen.text());
        screen.act("3");
        let tab = screen.text().contains("2 Nodes /");
        assert!(tab || screen.text().contains("/taint: 3"), "{}", screen.text());
    }
}

#[test]
fn a_filter_ends_where_it_hides_what_is_shown() {
    // A pod that is opened, and that the filter of the queues hides.
    let mut screen = Screen::new("payments");
    screen.act("1 / 'ingress' enter");
    let said = screen.command("pod shop/payments");
    assert!(screen.state.filter(Pane::QUEUES).is_empty() && said.contains("/ingress hid shop/payments"), "{said}");
    // One that it shows.
    screen.act("1 / 'pay' enter :pod shop/payments;");
    assert_eq!(screen.state.filter(Pane::QUEUES), "pay");
    // A node that is opened.
    screen.act("1 esc 2 / 'taint' enter :node worker-a1;");
    assert!(screen.state.filter(Pane::NODES).is_empty());
    // Another decision, about which the filter says nothing; one that matches stays.
    let mut screen = Screen::asked(120, 40);
    screen.act("c 2 / 'of' enter");
    assert_eq!(screen.state.view_model.nodes.len(), 8);
    screen.act("2 / 'x' enter");
    screen.act("esc / 'of 6' enter");
    screen.act(":pod ml/no-toleration;");
    assert!(screen.state.filter(Pane::NODES).is_empty(), "no node lacks 6 cores here");
    screen.act("2 / 'worker' enter :pod shop/payments;");
    assert_eq!(screen.state.filter(Pane::NODES), "worker");
}
