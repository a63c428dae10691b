//! Sort orders of lists.

use super::*;
use crate::ui::model::list::{Row, RowId};
use crate::ui::model::sort::Sort;
use crate::ui::view::panes;

fn words_of(screen: &Screen, pane: Pane) -> &'static str {
    panes::def(pane).choice(screen.state.sort_of(pane)).map_or("", |choice| choice.words)
}

/// Returns the rows of the focused pane, without headings.
fn listed(screen: &Screen) -> Vec<String> {
    fn names<R: Row>(rows: &[R]) -> Vec<String> {
        let name = |id| match id {
            RowId::Pod(key) => key.to_string(),
            RowId::Node(node) => node.to_string(),
            RowId::Group(key) => key.words().to_owned(),
            RowId::Line(kind, _) => kind.to_owned(),
            other => format!("{other:?}"),
        };
        rows.iter().filter_map(Row::id).map(name).collect()
    }
    let derived = &screen.state.view_model;
    match screen.state.focus {
        Pane::QUEUES => names(&derived.rows.queues),
        Pane::NODES => names(&derived.rows.nodes),
        _ => names(&derived.rows.candidates),
    }
}

#[test]
fn lists_go_round_their_orders_and_the_selection_stays() {
    // Keys, name of the sort order, first rows, and the row that stays selected.
    for (keys, order, first, selected) in [
        (
            "",
            "",
            "batch/too-big platform/ingress-extra-66cb5965df-mkwvj platform/ingress-extra-66cb5965df-vcc6p shop/payments shop/patient-job ml/gpu-hungry",
            "shop/payments",
        ),
        (
            "j o",
            "by priority",
            "batch/too-big platform/ingress-extra-66cb5965df-mkwvj platform/ingress-extra-66cb5965df-vcc6p shop/payments shop/patient-job",
            "shop/patient-job",
        ),
        ("j o o", "by name", "batch/too-big ml/gpu-hungry ml/no-toleration", "shop/patient-job"),
        ("o o", "by name", "batch/too-big ml/gpu-hungry ml/no-toleration", "shop/payments"),
        (
            "o o o",
            "by attempts",
            "batch/too-big platform/ingress-extra-66cb5965df-mkwvj platform/ingress-extra-66cb5965df-vcc6p shop/payments shop/patient-job",
            "shop/payments",
        ),
        (
            "o o o o",
            "",
            "batch/too-big platform/ingress-extra-66cb5965df-mkwvj platform/ingress-extra-66cb5965df-vcc6p shop/payments shop/patient-job",
            "shop/payments",
        ),
        // 6 cores are asked for: a2 and b1 have most of that, and what is tainted is as far away as ever.
        ("c 2", "", "worker-a2 worker-b1 worker-a3 worker-b3 worker-a1", "worker-a2"),
        ("c 2 o", "by name", "gpu-a1 gpu-b1 infra-1 worker-a1", "worker-a2"),
        ("c 2 o o", "by free cpu", "worker-c3 gpu-a1 gpu-b1", "worker-a2"),
        ("c 2 o o o", "by verdict", "worker-a1 worker-a2 worker-a3", "worker-a2"),
        ("c 3", "", "worker-a2 worker-b1", "worker-a2"),
        ("c 3 o", "by name", "worker-a1 worker-a2 worker-a3", "worker-a2"),
        ("c 3 o o", "fewest victims", "worker-a2 worker-a3 worker-b1 worker-b3 worker-a1", "worker-a2"),
        (
            "c 3 G o o o",
            "fewest violations",
            "worker-a1 worker-a2 worker-a3 worker-b1 worker-b2 worker-b3 worker-c1 worker-c2",
            "worker-c2",
        ),
    ] {
        let mut screen = Screen::asked(120, 40);
        screen.act(keys);
        let rows = listed(&screen);
        assert!(rows.join(" ").starts_with(first), "{keys}: {rows:?}");
        let list = match screen.state.focus {
            Pane::QUEUES => screen.state.list(Pane::QUEUES),
            Pane::NODES => screen.state.list(Pane::NODES),
            _ => screen.state.list(Pane::PREEMPTION),
        };
        let id = match list.selected.clone().unwrap() {
            RowId::Pod(key) => key.to_string(),
            RowId::Node(node) => node.to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(id, selected, "{keys}");
        screen.state.notice = None;
        let text = screen.text();
        let words = ["by name", "by priority", "by attempts", "by free cpu", "by verdict", "fewest victims", "fewest violations"];
        let said: Vec<&str> = words.into_iter().filter(|w| text.contains(&format!("  {w} "))).collect();
        assert_eq!(said.join(""), order, "{keys}\n{text}");
    }
}

#[test]
fn a_click_on_a_heading_sorts_and_another_goes_back() {
    let mut screen = Screen::asked(200, 60);
    screen.keys("c");
    let plan = Plan::of(&screen.state);
    // Where a heading is drawn in a pane.
    let find = |screen: &Screen, pane: Pane, heading: &str| -> (u16, u16) {
        let area = plan.area(pane).unwrap();
        let buf = screen.buffer(&theme("dark", Depth::True));
        let row = |y| (area.x..area.right()).map(|x| buf[(x, y)].symbol()).collect::<Vec<_>>();
        let at = |y| row(y).windows(heading.len()).position(|w| w.concat() == heading);
        (area.y..area.bottom()).find_map(|y| at(y).map(|x| (area.x + x as u16 + 1, y))).unwrap_or_else(|| panic!("{heading}"))
    };
    for (pane, heading, words) in [
        (Pane::NODES, "NODE", "by name"),
        (Pane::NODES, "CPU FREE", "by free cpu"),
        (Pane::PREEMPTION, "CANDIDATE", "by name"),
        (Pane::PREEMPTION, "VICTIMS", "fewest victims"),
        (Pane::PREEMPTION, "MinNumPDBViolations", "fewest violations"),
    ] {
        let (x, y) = find(&screen, pane, heading);
        screen.mouse(Mouse::Press, x, y);
        assert_eq!((screen.state.focus, words_of(&screen, pane)), (pane, words), "{heading}");
        let (x, y) = find(&screen, pane, heading);
        screen.mouse(Mouse::Press, x, y);
        assert_eq!(screen.state.sort_of(pane), Sort::Usual, "{heading}");
    }
    // The queues have headings when they fill the screen.
    let mut screen = Screen::sized("payments", 90, 30);
    let text = screen.text();
    let y = text.lines().position(|l| l.contains("TRIES")).unwrap();
    let line = text.lines().nth(y).unwrap();
    let column = |word: &str| line[..line.find(word).unwrap()].chars().count() as u16 + 1;
    for (word, words) in [("TRIES", "by attempts"), ("PRIORITY", "by priority")] {
        screen.mouse(Mouse::Press, column(word), y as u16);
        assert_eq!(words_of(&screen, Pane::QUEUES), words);
    }
    screen.mouse(Mouse::Press, 3, y as u16);
    assert_eq!(words_of(&screen, Pane::QUEUES), "by priority", "the press is not on a heading");
}

/// Where the list of pods has no room for their state, the column of the node says which are ending.
#[test]
fn pods_that_are_ending_are_seen_at_any_width() {
    for (width, height, words) in [(80, 24, "worker-c1 (ending)"), (120, 40, "terminating")] {
        let mut screen = Screen::sized("aftermath", width, height);
        screen.act("P / 'reports-646f8d7fc5-bzpz7' enter");
        assert!(screen.text().contains(words), "{}", screen.text());
    }
}
