//! Snapshots of the screen, and of every pane and overlay, on real sessions, driven by keys and commands alone.
//!
//! A few are of the whole screen: they hold the header, the answer, the tabs, the layout and the hints. All others are of a pane or an
//! overlay alone, so that a changed word around it changes a few files.

use super::*;

pub(super) const SIZES: [(u16, u16); 4] = [(60, 16), (80, 24), (120, 40), (200, 60)];

/// Name of the snapshot, story, and input: keys, commands behind `:`, and typed text in quotes.
type Shown = (&'static str, &'static str, &'static str);

/// Whole screens, at four sizes.
const SCREENS: &[Shown] = &[
    ("queues", "payments", ""),
    ("nodes", "payments", ":pod shop/payments; 2"),
    ("preemption", "payments", ":pod shop/payments; 3"),
    ("candidate", "payments", ":pod shop/payments; 3 enter"),
];

/// Whole screens at one size, of hints and notices that the others do not have.
const ONCE: &[Shown] = &[
    ("notice", "payments", "s"),
    ("steps_hints", "payments", ":pod shop/payments; C r n n n 5"),
    ("report_hints", "payments", "i"),
    ("help_hints", "payments", "?"),
    ("warning_hints", "payments", ":nope;"),
];

/// Panes and overlays, at four sizes.
const PARTS: &[Shown] = &[
    ("queues_sorted_and_filtered", "payments", "o o / 'shop' enter"),
    ("queues_backing_off", "queues", ":until rejected; c c t"),
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

/// Panes at one size, which differ from others in a few words.
const PARTS_ONCE: &[Shown] = &[
    ("node_that_fits", "payments", ":pod shop/spread-85969bc548-7z2j5; :node worker-a2;"),
    ("preemption_that_violates", "budgets", "c 3 G"),
    ("nodes_by_free_cpu", "payments", ":pod shop/spread-85969bc548-7z2j5; 2 o o"),
    ("prompt", "payments", ": 'pod shop'"),
];

fn shown((_, story, words): Shown, (width, height): (u16, u16)) -> Screen {
    let mut screen = Screen::sized(story, width, height);
    screen.act(words);
    screen
}

#[test]
fn screens_and_parts_at_one_size() {
    for entry in ONCE {
        insta::assert_snapshot!(entry.0, shown(*entry, (120, 40)).text());
    }
    for entry in PARTS_ONCE {
        insta::assert_snapshot!(entry.0, shown(*entry, (120, 40)).part());
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
fn screens_at_four_sizes() {
    for entry in SCREENS {
        for size in SIZES {
            insta::assert_snapshot!(format!("{}_{}x{}", entry.0, size.0, size.1), shown(*entry, size).text());
        }
    }
}

#[test]
fn every_pane_and_overlay_at_four_sizes() {
    for entry in PARTS {
        for size in SIZES {
            insta::assert_snapshot!(format!("{}_{}x{}", entry.0, size.0, size.1), shown(*entry, size).part());
        }
    }
}
