use std::sync::Arc;

use super::*;
use crate::source::read::archive::Sort;
use crate::source::read::limits::Limits;

/// Returns the names of the objects handed over while the text is read, and of those at the end.
fn read_names(text: &str, again: bool) -> (Vec<String>, Vec<String>) {
    let budget = Budget::new(&Limits::default(), Arc::default());
    let content = Content::Memory(Arc::new(text.as_bytes().to_vec().into()));
    let stream = Stream { reader: Box::new(text.as_bytes()), size: Some(text.len() as u64), sort: Sort::Plain, compressed: false };
    let name = |entry: Entry| match entry.decoded.what {
        DecodedItem::Object { object, .. } => object.meta().name.to_string(),
        other => format!("{other:?}"),
    };
    let mut taken = Vec::new();
    let contents = read(stream, again.then_some(&content), &Hint::default(), &Patterns::default(), &budget, &mut |entries| {
        taken.extend(entries.into_iter().map(name));
    });
    (taken, contents.unwrap().entries.into_iter().flatten().map(name).collect())
}

#[test]
fn an_object_without_end_ends_its_file() {
    let text = format!(r#"{{"kind":"Pod","metadata":{{"name":"a","annotations":{{"x":"{}"#, "y".repeat(10_000));
    let mut source = Source { longest: 4096, ..Source::new(Box::new(text.as_bytes()), None, 256) };
    let mut window = Window::default();
    assert!(source.next(&mut window));
    let message = source.broken_off.take().map(|why| why.to_string());
    assert_eq!(message.as_deref(), Some("is truncated (an object is longer than 4 KiB); the part before that was read"));
    assert!(window.last && !source.next(&mut window));
    assert!(window.text.len < 10_000);
}

#[test]
fn lines_and_offsets_are_those_of_the_file_whichever_thread_decodes() {
    let padding = "x".repeat(WINDOW / 50);
    let objects: Vec<String> = (0..500)
        .map(|i| format!("{{\n\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{{\"name\":\"n{i}\"}},\n\"padding\":\"{padding}\"}}\n"))
        .collect();
    let text = objects.concat();
    let budget = Budget::new(&Limits::default(), Arc::default());
    let stream = Stream { reader: Box::new(text.as_bytes()), size: Some(text.len() as u64), sort: Sort::Plain, compressed: false };
    let mut entries = Vec::new();
    let contents = read(stream, None, &Hint::default(), &Patterns::default(), &budget, &mut |some| entries.extend(some)).unwrap();
    entries.extend(contents.entries.into_iter().flatten());
    assert_eq!((entries.len(), contents.bytes), (objects.len(), text.len() as u64));
    assert_eq!((budget.progress().bytes(), budget.progress().objects()), (text.len() as u64, objects.len() as u64));
    let mut offset = 0;
    for ((i, entry), object) in entries.iter().enumerate().zip(&objects) {
        assert_eq!((entry.line, entry.offset, entry.length), (3 * i as u32, offset, object.len() as u32 - 1));
        offset += object.len() as u64;
    }
}

#[test]
fn a_cancelled_load_ends_with_the_windows_before() {
    let text = "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\"}}\n".repeat(20 * WINDOW / 60);
    let progress = Arc::new(Progress::default());
    progress.cancel();
    let budget = Budget::new(&Limits::default(), progress);
    let stream = Stream { reader: Box::new(text.as_bytes()), size: None, sort: Sort::Plain, compressed: false };
    let contents = read(stream, None, &Hint::default(), &Patterns::default(), &budget, &mut drop).unwrap();
    assert_eq!(
        contents.broken_off.map(|why| why.to_string()).as_deref(),
        Some("is truncated (the load was stopped); the part before that was read")
    );
    assert!(contents.bytes > 0 && contents.bytes <= 2 * WINDOW as u64, "{}", contents.bytes);
}

#[test]
fn what_cannot_change_any_more_is_handed_over_in_order() {
    const ITEMS: usize = 5000;
    let names: Vec<String> = (0..ITEMS).map(|i| format!("n{i:05}")).collect();
    let list = |kind: &str, end: &str| {
        let padding = "x".repeat(WINDOW * 12 / ITEMS);
        let items = names.iter().map(|n| format!(r#"{{{kind}"metadata":{{"name":"{n}"}},"padding":"{padding}"}}"#));
        format!(r#"{{"apiVersion":"v1","items":[{}]{end}}}"#, items.collect::<Vec<_>>().join(",\n"))
    };
    let own = r#""apiVersion":"v1","kind":"Node","#;
    // Read as a stream, the objects come a window at a time.
    let (taken, rest) = read_names(&list(own, ""), false);
    assert_eq!((taken.len(), rest.len()), (ITEMS, 0));
    assert_eq!(taken, names);
    // A file that may be read a second time keeps its entries until that is decided.
    let (taken, rest) = read_names(&list(own, ""), true);
    assert_eq!((taken.len(), rest), (0, names.clone()));
    // Items wait if only the end of their list shows their kind.
    let (taken, rest) = read_names(&list("", r#","kind":"NodeList""#), false);
    assert_eq!((taken.len(), rest), (0, names.clone()));
}
