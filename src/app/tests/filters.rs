//! Filters: what they match, what they show, and when they end.

use ratatui::style::Modifier;

use super::*;
use crate::ui::model::list::Row;
use crate::ui::model::list::RowId;
use crate::ui::view::panes;

fn nodes(screen: &Screen) -> String {
    let name = |id| if let RowId::Node(name) = id { name.to_string() } else { String::new() };
    screen.state.view_model.rows.nodes.iter().filter_map(Row::id).map(name).collect::<Vec<_>>().join(" ")
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
    assert!(screen.text().contains("lacks 2.4 of 6 cpu  zone=eu-west-1a"), "the label that matched is in the row\n{}", screen.text());
    // By the prefix of its key, which is left out otherwise; and by its value, where a narrow row has the reason first.
    for (width, filter, row) in
        [(120, "label:topology.kubernetes.io/z", "lacks 2.4 of 6 cpu  topology.kube"), (80, "zone:1a", "lacks 2.4 of 6 cpu  zone=eu-w")]
    {
        let mut screen = Screen::asked(width, 40);
        screen.act(&format!("c 2 / '{filter}' enter"));
        assert!(screen.text().contains(row), "{filter}\n{}", screen.text());
    }
}

/// Letters strewn over the hashes of names match only where no name contains the word.
#[test]
fn names_that_contain_a_word_come_before_those_with_its_letters() {
    let pod = |name: &str| {
        serde_json::json!({"kind": "Pod", "metadata": {"name": name, "namespace": "shop", "uid": name},
        "spec": {"schedulerName": "default-scheduler", "containers": [{"name": "c"}]}, "status": {"phase": "Pending"}})
    };
    let shown = |filter: &str| {
        let mut screen = Screen::listed(&[pod("app-00060-x"), pod("app-00600-60"), pod("web")], 120, 40);
        screen.act(&format!("1 / '{filter}' enter"));
        let name = |id| if let RowId::Pod(key) = id { key.name.to_string() } else { String::new() };
        screen.state.view_model.rows.queues.iter().filter_map(Row::id).map(name).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(shown("00060"), "app-00060-x");
    assert_eq!(shown("0000"), "app-00060-x app-00600-60", "no name contains it");
    assert_eq!(shown("ap60"), "app-00060-x app-00600-60");
}

#[test]
fn pods_match_by_queue_plugin_namespace_and_label() {
    let pods = |filter: &str| {
        let mut screen = Screen::new("payments");
        screen.act(&format!(":run; 1 / '{filter}' enter"));
        let name = |id| if let RowId::Pod(key) = id { key.to_string() } else { String::new() };
        screen.state.view_model.rows.queues.iter().filter_map(Row::id).map(name).collect::<Vec<_>>().join(" ")
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
    assert_eq!(screen.state.view_model.rows.nodes.len(), 8);
    screen.act("2 / 'x' enter");
    screen.act("esc / 'of 6' enter");
    screen.act(":pod ml/no-toleration;");
    assert!(screen.state.filter(Pane::NODES).is_empty(), "no node lacks 6 cores here");
    screen.act("2 / 'worker' enter :pod shop/payments;");
    assert_eq!(screen.state.filter(Pane::NODES), "worker");
}

#[test]
fn a_filter_counts_nodes_and_pods_and_keeps_their_number() {
    let mut screen = Screen::asked(120, 40);
    screen.act("c 2 / 'zone:eu-west-1a' enter");
    let by_zone = nodes(&screen);
    assert!(screen.text().contains(&format!("/zone:eu-west-1a: {} of 12", by_zone.split(' ').count())), "{}", screen.text());
    assert!(screen.text().contains("zone=eu-west-1a"), "the label that matched is in the row\n{}", screen.text());
    screen.act("/ ctrl-u 'label:zone=eu-west-1a' enter");
    assert_eq!(by_zone, nodes(&screen));

    // Rows of causes and fixes are no pods.
    let mut screen = Screen::with_overview("payments", 120, 40);
    screen.act("/ 'plugin:NodeAff' enter");
    assert!(screen.text().contains("/plugin:NodeAff: 1 of 15  Overview: 15 pending pods"), "{}", screen.text());
    screen.act("/ ctrl-u 'name:zzz' enter");
    assert!(screen.text().contains("/name:zzz: 0 of 15  Overview: 15 pending pods"), "{}", screen.text());

    let mut screen = Screen::new("payments");
    screen.act("1 / 'ns:ml' enter");
    assert!(screen.text().contains("/ns:ml: 2 of 14"), "{}", screen.text());
}

#[test]
fn a_field_that_a_list_lacks_is_named() {
    for (pane, word) in [("1", "foo"), ("2", "victim"), ("3", "zone")] {
        let mut screen = Screen::sized("payments", 120, 40);
        screen.act(&format!(":pod shop/payments; {pane} / '{word}:bar'"));
        let (words, typing) = (format!("no field \"{word}\" here"), screen.text());
        assert!(typing.lines().last().unwrap().contains(&words), "{typing}");
        screen.act("enter");
        assert!(screen.text().contains(&format!("/{word}:bar: {words}")), "{}", screen.text());
    }
    let mut screen = Screen::with_overview("payments", 80, 24);
    screen.act("/ '!zone:b' enter");
    assert!(screen.text().contains("/!zone:b: no field \"zone\" here"), "{}", screen.text());
    // Text with a colon in it is no field.
    let mut screen = Screen::new("queues");
    screen.act("/ 'plugin:x' enter");
    assert!(!screen.text().contains("no field"), "{}", screen.text());
}

#[test]
fn hidden_columns_leave_a_mark_and_headings_are_not_counted() {
    let heading = |screen: &Screen, part: &str| screen.text().lines().find(|line| line.contains(part)).map(str::to_owned).unwrap();
    assert!(heading(&Screen::with_overview("payments", 80, 24), "CAUSE, POD").contains("AGE›"));
    assert!(!heading(&Screen::with_overview("payments", 120, 40), "CAUSE, POD").contains('›'));
    let mut screen = Screen::sized("payments", 80, 24);
    screen.act(":pod shop/payments; 3");
    let line = heading(&screen, "CANDIDATE");
    assert!(line.contains('›') && !line.contains("VICTIMS"), "{line}");
    let mut screen = Screen::sized("payments", 200, 60);
    screen.act(":pod shop/payments; 3");
    let line = heading(&screen, "CANDIDATE");
    assert!(!line.contains('›') && line.contains("VICTIMS"), "{line}");
    // A second row of headings among twelve nodes.
    let mut screen = Screen::sized("payments", 80, 24);
    screen.act(":pod shop/spread-85969bc548-7z2j5; 2");
    assert!(screen.state.view_model.rows.nodes.iter().any(|row| row.id().is_none()), "{}", screen.text());
    assert!(screen.text().contains(" of 12 "), "{}", screen.text());
}
