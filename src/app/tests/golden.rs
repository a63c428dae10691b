//! Snapshots of every pane and overlay on real sessions, at four sizes, driven by keys and commands alone.

use super::*;

pub(super) const SIZES: [(u16, u16); 4] = [(60, 16), (80, 24), (120, 40), (200, 60)];

/// Name of the snapshot, story, and input: keys, commands behind `:`, and typed text in quotes.
const SCREENS: &[(&str, &str, &str)] = &[
    ("queues", "payments", ""),
    ("queues_sorted_and_filtered", "payments", "o o / 'shop' enter"),
    ("queues_backing_off", "queues", ":until rejected; c c t"),
    ("nodes", "payments", ":pod shop/payments; 2"),
    ("nodes_by_verdict", "payments", ":pod shop/payments; 2 o o o"),
    ("nodes_scored", "payments", ":pod shop/spread-85969bc548-7z2j5; 2"),
    ("node", "payments", ":pod shop/payments; 3 j d"),
    ("node_that_was_turned_down", "payments", ":pod shop/payments; :node infra-1;"),
    ("queues_new", "queues", ""),
    ("queues_woken", "queues", "c c c c c c G"),
    ("queues_gated", "queues", "c G"),
    ("queues_inferred", "aftermath", ":start observed; j j"),
    ("filtering", "payments", ":pod shop/payments; C n n n n n"),
    ("preemption_starts", "payments", ":pod shop/payments; C r"),
    ("dry_run", "payments", ":pod shop/payments; C r :step node; n n"),
    ("ineligible", "payments", ":pod shop/patient-job;"),
    ("warning", "payments", ":nope;"),
    ("preemption", "payments", ":pod shop/payments; 3"),
    ("candidate", "payments", ":pod shop/payments; 3 enter"),
    ("candidate_that_violates", "budgets", "c 3 G enter"),
    ("pod", "payments", ":pod shop/payments; v"),
    ("pod_with_constraints", "payments", ":pod shop/spread-85969bc548-7z2j5; v pgdn"),
    ("pod_history", "payments", ":run; ] v G"),
    ("budgets", "budgets", "c 9"),
    ("budget_with_its_pods", "budgets", "c 9 enter j"),
    ("pods", "payments", "P"),
    ("pods_filtered", "payments", ":pods node:worker-a priority:>0;"),
    ("node_and_its_pods", "payments", ":pod shop/payments; 3 j d G"),
    ("steps", "payments", ":pod shop/payments; C r n n n 5"),
    ("message", "payments", ":pod shop/payments; 6"),
    ("help", "payments", "?"),
    ("help_filtered", "payments", "? / 'budget' enter"),
    ("palette", "payments", ": 'b' down"),
    ("palette_of_pods", "payments", ": 'pod spread'"),
    ("filter", "payments", "2 / 'worker'"),
    ("filter_by_fact", "payments", ":pod shop/payments; 2 / 'plugin:taint !infra' enter"),
    ("zoomed", "payments", ":pod shop/payments; 2 +"),
    ("conditions", "payments", "u"),
    ("undone", "payments", ":pod shop/payments; 2 :cordon; U"),
    ("report", "payments", "i"),
    ("source", "payments", ":pod shop/payments; y"),
    ("agreement", "aftermath", "A j"),
    ("branches", "payments", "c C :cordon worker-a2; c B"),
    ("comparison", "payments", ":pod shop/payments; C :cordon worker-a2; :pod shop/payments; ="),
    ("themes", "payments", ":theme;"),
];

/// Snapshots at one size, of screens that differ from others in a few words.
const ONCE: &[(&str, &str, &str)] = &[
    ("node_that_fits", "payments", ":pod shop/spread-85969bc548-7z2j5; :node worker-a2;"),
    ("preemption_that_violates", "budgets", "c 3 G"),
    ("nodes_by_free_cpu", "payments", ":pod shop/spread-85969bc548-7z2j5; 2 o o"),
    ("prompt", "payments", ": 'pod shop'"),
    ("notice", "payments", "s"),
];

#[test]
fn screens_at_one_size() {
    for (name, story, words) in ONCE {
        let mut screen = Screen::new(story);
        screen.act(words);
        insta::assert_snapshot!(*name, screen.text());
    }
}

#[test]
fn signs_without_unicode_and_a_terminal_that_is_too_small() {
    let mut screen = Screen { glyphs: ASCII, ..Screen::asked(120, 40) };
    screen.act("c 3 j");
    insta::assert_snapshot!("ascii", screen.text());
    insta::assert_snapshot!("too_small", Screen::sized("payments", 50, 12).text());
}

#[test]
fn every_pane_and_overlay_at_four_sizes() {
    for (name, story, words) in SCREENS {
        for (width, height) in SIZES {
            let mut screen = Screen::sized(story, width, height);
            screen.act(words);
            insta::assert_snapshot!(format!("{name}_{width}x{height}"), screen.text());
        }
    }
}
