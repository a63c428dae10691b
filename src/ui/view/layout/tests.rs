//! Tests of `layout`.

use super::*;
use crate::ui::view::panes::PANES;

const SHAPE: Shape = Shape {
    main: Pane::NODES,
    right: Pane::NODES,
    upper: Pane::NODES,
    focus: Pane::QUEUES,
    zoomed: false,
    preemption: Preemption::Table,
    queue_rows: 1000,
    upper_rows: Some(5000),
    candidates: 500,
    has_steps: true,
    message: 2,
    whole: None,
    lesson: false,
};

/// Returns the rows of a pane's list.
fn rows(width: u16, height: u16, pane: Pane, shape: Shape) -> u16 {
    crate::ui::view::panes::def(pane).list_in(&Plan::new(Rect::new(0, 0, width, height), shape)).height
}

#[test]
fn a_small_screen_shows_twelve_nodes_or_six_candidates() {
    assert_eq!(rows(80, 24, Pane::NODES, SHAPE), 12);
    assert!(rows(80, 24, Pane::PREEMPTION, Shape { main: Pane::PREEMPTION, ..SHAPE }) >= 6);
    assert!(rows(60, 16, Pane::NODES, SHAPE) >= 5);
    let stepping = Shape { main: Pane::PREEMPTION, focus: Pane::STEPS, ..SHAPE };
    assert!(rows(60, 16, Pane::PREEMPTION, stepping) > 0, "a candidate is above the steps");
}

#[test]
fn panes_get_rows_by_what_they_hold_and_by_focus() {
    for (width, height) in [(60, 16), (80, 24), (120, 40), (200, 60)] {
        let check = |pane: Pane, shape: Shape| rows(width, height, pane, shape);
        let focused = |pane: Pane| check(pane, Shape { focus: pane, message: 8, ..SHAPE });
        let other = |pane: Pane| check(pane, Shape { message: 8, ..SHAPE });
        assert!(focused(Pane::STEPS) > other(Pane::STEPS) && focused(Pane::MESSAGE) > other(Pane::MESSAGE), "{width}x{height}");
        let empty = Shape { has_steps: false, message: 0, preemption: Preemption::None, ..SHAPE };
        assert_eq!((check(Pane::STEPS, empty), check(Pane::MESSAGE, empty)), (1, 1), "{width}x{height}");
        let zoomed = Plan::new(Rect::new(0, 0, width, height), Shape { zoomed: true, focus: Pane::NODES, ..SHAPE });
        assert_eq!(zoomed.panes, [(Pane::NODES, Rect::new(0, 1, width, height - 2))]);
        for pane in [Pane::STEPS, Pane::MESSAGE] {
            let zoomed = Plan::new(Rect::new(0, 0, width, height), Shape { zoomed: true, focus: pane, ..SHAPE });
            assert_eq!(zoomed.inner(pane), Some(Rect::new(1, 2, width - 2, height - 4)), "{pane} has a box on {width}x{height}");
        }
    }
    let lower = |shape: Shape| rows(200, 60, Pane::PREEMPTION, shape);
    let few = Shape { upper_rows: Some(4), ..SHAPE };
    assert!(lower(few) > lower(SHAPE), "few nodes leave more room for candidates");
    assert!(lower(Shape { focus: Pane::PREEMPTION, ..SHAPE }) > lower(SHAPE));
    assert!(lower(Shape { focus: Pane::NODES, ..SHAPE }) < lower(SHAPE));
}

#[test]
fn areas_cover_the_screen_without_overlap_at_every_size() {
    for width in (60..=220).step_by(7) {
        for height in 16..=70 {
            let shapes = [Preemption::None, Preemption::Sentence, Preemption::Table].map(|preemption| Shape { preemption, ..SHAPE });
            let others = [
                Shape { zoomed: true, ..SHAPE },
                Shape { has_steps: false, message: 0, ..SHAPE },
                Shape { focus: Pane::STEPS, message: 8, ..SHAPE },
                Shape { focus: Pane::MESSAGE, message: 8, ..SHAPE },
                Shape { focus: Pane::PREEMPTION, candidates: 1, ..SHAPE },
                Shape { whole: Some(Pane::OVERVIEW), ..SHAPE },
                Shape { lesson: true, ..SHAPE },
            ];
            for shape in shapes.into_iter().chain(others) {
                let area = Rect::new(0, 0, width, height);
                let plan = Plan::new(area, shape);
                let mut all: Vec<Rect> = plan.panes.iter().map(|(_, a)| *a).collect();
                all.extend([plan.header, plan.answer, plan.hints, plan.lesson]);
                all.extend(plan.tabs);
                let covered: u32 = all.iter().map(|a| a.area()).sum();
                assert_eq!(covered, area.area(), "{width}x{height}: {plan:?}");
                for (i, a) in all.iter().enumerate() {
                    assert_eq!(a.intersection(area), *a);
                    assert!(all[i + 1..].iter().all(|b| a.intersection(*b).is_empty()), "{width}x{height}: {plan:?}");
                }
                for pane in PANES.iter().map(|def| def.id).filter(|p| plan.area(*p).is_some()) {
                    assert!(
                        !crate::ui::view::panes::def(pane).list_in(&plan).is_empty(),
                        "{width}x{height} has no room in {pane}: {plan:?}"
                    );
                }
            }
        }
    }
}
