//! Queues over time, and the note about the selected pod.

use serde_json::json;

use super::*;
use crate::ui::model::list::RowId;
use crate::ui::view::panes;

/// Opens the queues story with a pod selected.
fn waiting(width: u16, height: u16, words: &str, pod: &str) -> Screen {
    let mut screen = Screen::sized("queues", width, height);
    screen.act(words);
    screen.select(pod);
    screen
}

impl Screen {
    fn select(&mut self, pod: &str) {
        let (namespace, name) = pod.split_once('/').unwrap();
        self.state.list_mut(Pane::QUEUES).selected = Some(RowId::Pod(Key::new(namespace, name)));
        crate::ui::view::refresh::refresh(&mut self.state, self.explorer.timeline());
    }
}

#[test]
fn a_gated_pod_is_named_and_no_attempt_is_spoken_of() {
    for (width, height) in [(60, 16), (80, 24), (120, 40), (200, 60)] {
        let mut screen = waiting(width, height, "", "batch/gated");
        screen.act(":pod batch/gated; 2");
        let text = screen.text();
        for part in ["⊘ batch/gated: Held back by", "Nodes for batch/gated", "batch/gated is gated: no node is filtered for it"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(text.contains("batch/gated is not tried: it is gated") && !text.contains("attempt for"), "{text}");
        assert!(!text.contains("VERDICT"), "{text}");
    }
}

#[test]
fn rows_that_moved_are_marked_until_the_step_is_taken_back() {
    // web/leader is bound, which moves web/follower to backoffQ.
    let mut screen = waiting(120, 40, "c c c c c C", "batch/gated");
    screen.act(":step event;");
    let marked = |screen: &Screen| {
        let lines = screen.text().lines().map(str::to_owned).collect::<Vec<_>>();
        let rows = lines.iter().filter(|l| l.contains(" »") || l.contains("▸»"));
        rows.map(|l| l.split(['»', ' ']).find(|w| w.contains('/')).unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let mut seen = vec![screen.text()];
    let mut order = vec![marked(&screen)];
    while !screen.timeline().at_end() {
        screen.keys("n");
        seen.push(screen.text());
        order.push(marked(&screen));
    }
    order.dedup();
    let expected: [&[&str]; 4] = [&[], &["web/leader"], &[], &["web/follower"]];
    assert_eq!(order, expected.map(|pods| pods.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>()));
    for text in seen[1..seen.len() - 1].iter().rev() {
        screen.keys("b");
        assert_eq!(screen.text(), *text, "the same screen backwards");
    }
    let plain = theme("dark", Depth::None);
    let without_colours = crate::ui::view::export::write(ScreenForm::Text, &screen.buffer(&plain), &plain);
    assert_eq!(without_colours, screen.text(), "marks need no colour");
}

/// Returns the note about a pod as one text.
fn note(screen: &Screen) -> String {
    let inner = Plan::of(&screen.state).inner(Pane::QUEUES).unwrap();
    let list = panes::def(Pane::QUEUES).list_in(&Plan::of(&screen.state));
    let text = screen.text();
    let lines = text.lines().skip(usize::from(list.bottom())).take(usize::from(inner.height - list.height));
    let cells = lines.map(|l| l.chars().skip(usize::from(inner.x)).take(usize::from(inner.width)).collect::<String>());
    cells.collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_note_says_what_is_known_of_the_selected_pod() {
    let check = |words: &str, pod: &str, expected: &[&str], never: &[&str]| {
        let note = note(&waiting(240, 90, words, pod));
        assert!(note.starts_with(&format!("─ {pod} ─")), "{note}");
        for part in expected {
            assert!(note.contains(part), "{pod} after {words:?}: no {part:?} in {note}");
        }
        for part in never {
            assert!(!note.contains(part), "{pod} after {words:?}: {part:?} in {note}");
        }
    };
    check("", "web/urgent", &["priority 1000 · 0 attempts", "new", "for 0s"], &["rejected", "woken", "moved"]);
    check("", "batch/gated", &["gated by SchedulingGates: example.com/quota"], &["rejected"]);
    check(
        "c",
        "web/urgent",
        &["nominated to node-1", "rejected by NodeResourcesFit, TaintToleration", "» moved as its attempt failed (ScheduleAttemptFailure)"],
        &["inferred", "says"],
    );
    check(
        "c",
        "web/urgent",
        &["woken by NodeResourcesFit: a pod leaves a node (AssignedPodDelete)", "or by TaintToleration: a node is added (NodeAdd)"],
        &[],
    );
    check("c c", "web/urgent", &["moved as its attempt failed (ScheduleAttemptFailure)", "waiting since 09:00:09, for 0s"], &["»"]);
    check("c c c", "web/follower", &["a pod comes to a node (AssignedPodAdd): InterPodAffinity says QueueSkip"], &["said", "backoff"]);
    check(
        "c c c c c",
        "web/follower",
        &[
            "backoff ends in 0.9s, at 09:00:10; sooner if activeQ is empty",
            "» moved from unschedulablePods as a pod comes to a node (AssignedPodAdd): InterPodAffinity said Queue",
        ],
        &["error", "woken"],
    );
    check(
        "c c c c c c",
        "web/follower",
        &["moved from unschedulablePods as a pod comes to a node (AssignedPodAdd): InterPodAffinity said Queue"],
        &["»", "says"],
    );
    let mut screen = Screen::sized("aftermath", 240, 90);
    screen.act(":start observed;");
    screen.select("batch/too-big");
    let note = note(&screen);
    for part in ["~ inferred: ", "rejected by NodeResourcesFit"] {
        assert!(note.contains(part), "no {part:?} in {note}");
    }
}

#[test]
fn a_pod_in_error_backoff_is_never_popped_early() {
    // The selector of its device class reads an attribute that the device does not have.
    let items = [
        json!({
            "apiVersion": "v1", "kind": "Node", "metadata": { "name": "node-1" },
            "status": { "allocatable": { "cpu": "8", "memory": "32Gi", "pods": "20" } },
        }),
        json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": "gpu" },
            "spec": { "selectors": [{ "cel": { "expression": "device.attributes['gpu.example.com'].nothing" } }] },
        }),
        json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "node-1-gpus" },
            "spec": {
                "driver": "gpu.example.com", "nodeName": "node-1",
                "pool": { "name": "node-1", "generation": 1, "resourceSliceCount": 1 }, "devices": [{ "name": "gpu-0" }],
            },
        }),
        json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "namespace": "ml", "name": "gpu", "uid": "c1" },
            "spec": { "devices": { "requests": [{ "name": "r", "exactly": { "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1 } }] } },
        }),
        json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": { "namespace": "ml", "name": "train", "uid": "p1" },
            "spec": {
                "schedulerName": "default-scheduler", "resourceClaims": [{ "name": "gpu", "resourceClaimName": "gpu" }],
                "containers": [{ "name": "c", "resources": { "claims": [{ "name": "gpu" }] } }],
            },
        }),
    ];
    let mut screen = Screen::listed(&items, 240, 90);
    screen.act("c");
    screen.select("ml/train");
    let note = note(&screen);
    assert!(note.contains("error backoff ends in") && note.contains("never popped early"), "{note}");
}

#[test]
fn the_header_follows_the_clock_within_a_revision() {
    // A backoff ends within these ten seconds.
    let mut screen = waiting(120, 40, "c c c c c T C", "batch/gated");
    screen.act(":step event;");
    let mut clocks = Vec::new();
    while !screen.timeline().at_end() {
        screen.keys("n");
        let header = screen.text().lines().next().unwrap_or_default().to_owned();
        clocks.push(header.split_once("clock ").unwrap_or_else(|| panic!("{header}")).1.to_owned());
    }
    clocks.dedup();
    assert_eq!(clocks, ["+00:02", "+00:10"]);
}

#[test]
fn every_place_is_marked_without_unicode_and_fits_every_width() {
    for (width, height) in [(60, 16), (79, 24), (100, 30), (119, 40), (160, 40), (230, 70)] {
        for pod in ["web/urgent", "batch/too-big", "web/follower", "batch/gated"] {
            for keys in ["", "c", "c c", "c c c c c"] {
                let mut screen = waiting(width, height, keys, pod);
                screen.glyphs = ASCII;
                let text = screen.text();
                assert!(text.is_ascii(), "{text}");
                screen.keys("1");
                let plan = Plan::of(&screen.state);
                let area = plan.area(Pane::QUEUES).unwrap();
                let (buf, mut marks) = (screen.buffer(&theme("dark", Depth::True)), 0);
                for y in area.top() + 1..area.bottom() - 1 {
                    assert_eq!((buf[(area.x, y)].symbol(), buf[(area.right() - 1, y)].symbol()), ("#", "#"), "{}", screen.text());
                    marks += usize::from(buf[(area.x + 2, y)].symbol() == "^");
                }
                let all = screen.state.view_model.rows.queues.len() <= usize::from(panes::def(Pane::QUEUES).list_in(&plan).height);
                assert!(!all || (marks > 0) != keys.is_empty(), "{}", screen.text());
            }
        }
    }
}
