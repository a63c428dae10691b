//! Tests of `list`.

use super::*;

struct Line(Option<&'static str>);

impl Row for Line {
    fn id(&self) -> Option<RowId> {
        self.0.map(|n| RowId::Node(n.into()))
    }
}

fn rows(names: &[&'static str]) -> Vec<Line> {
    names.iter().map(|n| Line((!n.starts_with('#')).then_some(*n))).collect()
}

fn selected(list: &ListView) -> String {
    match &list.selected {
        Some(RowId::Node(n)) => n.to_string(),
        other => format!("{other:?}"),
    }
}

#[test]
fn motions_pass_over_headings() {
    let rows = rows(&["#h", "a", "b", "#h2", "c", "d", "e", "f"]);
    let mut list = ListView::default();
    list.settle(&rows, 4);
    assert_eq!(selected(&list), "a");
    for (motion, expected) in [
        (Motion::Up, "a"),
        (Motion::Down, "b"),
        (Motion::Down, "c"),
        (Motion::Up, "b"),
        (Motion::Bottom, "f"),
        (Motion::Down, "f"),
        (Motion::PageUp, "c"),
        (Motion::HalfPageDown, "e"),
        (Motion::HalfPageUp, "c"),
        (Motion::Top, "a"),
        (Motion::PageDown, "c"),
    ] {
        list.go(&rows, motion, 4);
        list.settle(&rows, 4);
        assert_eq!(selected(&list), expected, "{motion:?}");
    }
}

#[test]
fn the_selection_follows_its_row_and_stays_near_when_the_row_goes() {
    let mut list = ListView::at(RowId::Node("c".into()));
    list.settle(&rows(&["a", "b", "c", "d"]), 2);
    assert_eq!((selected(&list).as_str(), list.offset), ("c", 1));
    list.settle(&rows(&["c", "a", "b", "d"]), 2);
    assert_eq!((selected(&list).as_str(), list.offset), ("c", 0));
    list.settle(&rows(&["a", "b"]), 2);
    assert_eq!(selected(&list), "a");
    list.settle(&rows(&[]), 2);
    assert_eq!(list.selected, None);
    list.go(&rows(&[]), Motion::Down, 2);
    assert_eq!(list.selected, None);
}

#[test]
fn until_the_reader_chooses_the_first_row_is_selected() {
    let mut list = ListView::default();
    list.settle(&rows(&["#h", "b"]), 2);
    assert_eq!(selected(&list), "b");
    list.settle(&rows(&["a", "#h", "b"]), 2);
    assert_eq!(selected(&list), "a");
    list.go(&rows(&["a", "b"]), Motion::Down, 2);
    list.settle(&rows(&["c", "a", "b"]), 2);
    assert_eq!(selected(&list), "b");
    list.reset();
    list.settle(&rows(&["c", "a", "b"]), 2);
    assert_eq!(selected(&list), "c");
}

#[test]
fn notes_at_the_end_come_into_sight_with_the_last_row() {
    let rows = rows(&["a", "b", "c", "#note", "#note", "#note"]);
    let mut list = ListView::default();
    list.settle(&rows, 4);
    assert_eq!((selected(&list).as_str(), list.offset), ("a", 0));
    list.go(&rows, Motion::Bottom, 4);
    list.settle(&rows, 4);
    assert_eq!((selected(&list).as_str(), list.offset), ("c", 2));
    list.settle(&rows, 2);
    assert_eq!(list.offset, 2, "the selected row stays in sight");
}

#[test]
fn headings_are_not_counted() {
    let rows = rows(&["#h", "a", "#h2", "b", "c"]);
    assert_eq!([0, 1, 2, 3, 4, 9].map(|end| rows.selectable(end)), [0, 0, 1, 1, 2, 3]);
    assert_eq!(RowList::things(&rows), 3);
}

#[test]
fn headings_scroll_into_sight_and_scrolling_takes_the_selection_along() {
    let rows = rows(&["#h", "a", "b", "c", "d"]);
    let mut list = ListView::default();
    list.settle(&rows, 2);
    assert_eq!(list.offset, 0);
    list.scroll(&rows, 2, 2);
    assert_eq!((selected(&list).as_str(), list.offset), ("b", 2));
    list.scroll(&rows, 20, 2);
    assert_eq!((selected(&list).as_str(), list.offset), ("c", 3));
    list.scroll(&rows, -20, 2);
    assert_eq!((selected(&list).as_str(), list.offset), ("a", 0));
}
