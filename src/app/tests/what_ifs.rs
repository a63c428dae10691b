//! Undo and redo of what-ifs, and the question before leaving without them.

use super::*;

fn place(screen: &Screen) -> (usize, usize, bool) {
    let cursor = screen.timeline().cursor();
    let cordoned = screen.timeline().keyframe().cluster.nodes.iter().any(|n| n.metadata.name == "worker-a2" && n.unschedulable());
    (screen.explorer.current(), cursor.revision, cordoned)
}

#[test]
fn a_what_if_is_undone_and_redone() {
    // At a decision the change goes to a branch of its own.
    let mut screen = Screen::asked(120, 40);
    screen.act("c");
    let before = place(&screen);
    screen.act(":cordon worker-a2;");
    let after = place(&screen);
    assert!(!before.2 && after.2 && after.0 == 1);
    screen.act("U");
    assert_eq!(place(&screen), before);
    assert!(
        screen.said().starts_with("undone: ") && screen.said().contains("main") && screen.said().contains("Ctrl-R"),
        "{}",
        screen.said()
    );
    screen.act("ctrl-r");
    assert_eq!(place(&screen), after);
    assert!(screen.said().starts_with("redone: "), "{}", screen.said());
    screen.act("U U");
    assert_eq!(screen.said(), "there is no what-if to undo");
    // A new what-if ends the redoing.
    screen.act(":cordon worker-a1; ctrl-r");
    assert_eq!(screen.said(), "there is no what-if to redo");
}

#[test]
fn a_what_if_at_the_end_of_the_record_is_undone_on_a_branch_without_it() {
    let mut screen = Screen::new("payments");
    screen.act("c");
    screen.act(":cordon worker-a2; :cordon worker-a1;");
    assert_eq!(screen.explorer.branches().len(), 1);
    assert!(place(&screen).2);
    screen.act("U U");
    assert!(!place(&screen).2, "both are undone");
    screen.act("c");
    let bound = |screen: &Screen| screen.timeline().revisions().iter().any(|r| r.title.contains("cordon"));
    assert!(!bound(&screen), "the scheduler goes on without them");
    screen.act("ctrl-r ctrl-r");
    assert!(place(&screen).2);
}

#[test]
fn time_that_passes_is_no_what_if() {
    let mut screen = Screen::new("queues");
    screen.act("c T U");
    assert_eq!(screen.said(), "there is no what-if to undo");
}

#[test]
fn leaving_asks_once_if_what_ifs_are_not_saved() {
    let dir = std::env::temp_dir().join(format!("schedscope-what-ifs-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let path = dir.join("s.session");
    let _ = std::fs::remove_file(&path);
    let mut screen = Screen::new("payments");
    screen.act(":cordon worker-a2;");
    assert_eq!(screen.act("q"), None);
    assert!(screen.said().contains("not saved") && screen.said().contains("q again"), "{}", screen.said());
    assert_eq!(screen.act("j q"), None, "any other key takes the question back");
    assert_eq!(screen.act("q"), Some(Effect::Quit));
    let mut screen = Screen::new("payments");
    screen.act(":cordon worker-a2;");
    assert_eq!(screen.act(":q!;"), Some(Effect::Quit));
    screen.act(&format!(":save {};", path.display()));
    assert_eq!(screen.act("q"), Some(Effect::Quit));
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn two_keys_never_leave_by_accident() {
    for keys in ["? q", "i q", ":theme; q"] {
        let mut screen = Screen::new("payments");
        screen.act(keys);
        assert!(screen.state.overlay.is_none(), "{keys}");
        assert_eq!(screen.act("q"), None, "{keys}: the same key closed a text");
        assert_eq!(screen.act("q"), Some(Effect::Quit), "{keys}");
    }
    assert_eq!(Screen::new("payments").act("? q j q"), Some(Effect::Quit));
    assert_eq!(Screen::new("payments").act("? esc q"), Some(Effect::Quit));
}

#[test]
fn digits_select_a_fix_by_its_number() {
    let mut screen = Screen::asked(120, 40);
    screen.act("x");
    let numbered = |screen: &Screen| {
        let Some(Overlay::Text(text)) = &screen.state.overlay else { panic!("{}", screen.text()) };
        text.view.selected.map(|at| text.line(at).trim().split('.').next().unwrap_or_default().to_owned())
    };
    for key in ["2", "1", "3"] {
        screen.keys(key);
        assert_eq!(numbered(&screen).as_deref(), Some(key));
    }
    screen.keys("9");
    assert_eq!((numbered(&screen).as_deref(), screen.said().as_str()), (Some("3"), "there is no line 9 to select"));
}
