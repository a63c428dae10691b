//! Tests of `report`.

use super::*;
use crate::cluster::Key;
use crate::output::Document;
use crate::ui::model::text_view::{Form, Target};

fn sheet() -> TextView {
    let mut body = Document::default();
    body.heading(2, "pods");
    for line in ["shop/a  same", "nothing", "shop/b  different"] {
        body.item(2, line);
    }
    let mut sheet = TextView::new("t", body, Form::Prose);
    sheet.links = [(1, Target::Pod(Key::new("shop", "a"))), (3, Target::Pod(Key::new("shop", "b")))].into();
    sheet
}

/// A table that fits keeps its columns; one that does not is wrapped.
#[test]
fn tables_keep_their_columns_where_they_fit() {
    let mut body = Document::default();
    body.table(["Pods", "Number"], [vec!["wanted".to_owned(), "7".to_owned()], vec!["without a node".to_owned(), "12".to_owned()]]);
    let sheet = TextView::new("t", body, Form::Prose);
    let drawn = |width| {
        let laid = lay_out(&sheet, Rect::new(0, 0, width, 24));
        laid.rows.into_iter().map(|(at, part)| sheet.line(at)[part].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(drawn(80), ["Pods            Number", "wanted          7", "without a node  12"]);
    assert!(drawn(24).len() > 3, "{:?}", drawn(24));
}

#[test]
fn the_selection_goes_from_link_to_link() {
    let mut sheet = sheet();
    let mut go = |motion| {
        select(&mut sheet, motion, (80, 24));
        sheet.view.selected
    };
    assert_eq!(go(Motion::Down), Some(1));
    assert_eq!(go(Motion::Down), Some(3));
    assert_eq!(go(Motion::Down), Some(3));
    assert_eq!(go(Motion::Up), Some(1));
    assert_eq!(go(Motion::Bottom), Some(3));
    assert_eq!(go(Motion::PageUp), Some(1));
}

#[test]
fn pages_go_through_all_lines_and_to_the_end_of_what_leads_nowhere() {
    let mut sheet = sheet();
    let mut more = Document::default();
    (0..96).for_each(|n| more.item(2, format!("line {n}")));
    sheet.rows.extend(more.rows());
    let (size, room) = ((80, 24), 20);
    // The first rows in sight: the selected row is centred.
    let mut tops = vec![0];
    for _ in 0..10 {
        select(&mut sheet, Motion::PageDown, size);
        tops.extend(sheet.view.selected.map(|at| at.saturating_sub(room / 2).min(100 - room)));
    }
    assert!(tops.windows(2).all(|w| w[1] - w[0] < room), "no line is left out: {tops:?}");
    assert_eq!((tops.last(), sheet.view.selected), (Some(&80), Some(99)));
    for _ in 0..10 {
        select(&mut sheet, Motion::PageUp, size);
    }
    assert_eq!(sheet.view.selected, Some(1), "the first that leads somewhere is in sight from the top");
    select(&mut sheet, Motion::Bottom, size);
    select(&mut sheet, Motion::Up, size);
    assert_eq!(sheet.view.selected, Some(3));
}

#[test]
fn what_leads_nowhere_is_left_from_its_end_at_once() {
    let mut sheet = TextView::new("t", (0..100).map(|n: usize| n.to_string()).collect(), Form::Prose);
    select(&mut sheet, Motion::Bottom, (80, 24));
    select(&mut sheet, Motion::Up, (80, 24));
    assert_eq!(sheet.view.offset, 79);
}

#[test]
fn a_filter_leaves_lines_and_selects_the_first_that_leads_somewhere() {
    let mut sheet = sheet();
    sheet.set_filter("diff".to_owned());
    assert_eq!((sheet.shown(), sheet.view.selected), (vec![3], Some(3)));
    sheet.set_filter("noth".to_owned());
    assert_eq!((sheet.shown(), sheet.view.selected), (vec![2], None));
    select(&mut sheet, Motion::Down, (80, 24));
    assert_eq!(sheet.view.offset, 1, "without links it scrolls");
    sheet.set_filter(String::new());
    assert_eq!((sheet.shown().len(), sheet.view.selected), (4, None));
}
