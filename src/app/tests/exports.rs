//! Effects of `:export`.

use super::*;
use crate::session::Cursor;
use crate::ui::Export;

/// Returns the file to write with its format or first line, or else the warning.
fn export(screen: &mut Screen, args: &str) -> String {
    match screen.enter(&format!("export {args}")) {
        Some(Effect::Export { file, export: Export::Screen(form) }) => format!("{} {form:?}", file.path(1).unwrap()),
        Some(Effect::Export { file, export: Export::Words(words) }) => {
            format!("{} {}", file.path(1).unwrap(), words.as_str().lines().next().unwrap_or_default())
        }
        Some(other) => panic!("{other:?}"),
        None => screen.said(),
    }
}

#[test]
fn the_ending_and_the_word_say_what_is_written() {
    let mut screen = Screen::new("payments");
    assert_eq!(export(&mut screen, "a.md"), "! there is no decision here yet");
    assert_eq!(export(&mut screen, "screen a.txt"), "a.txt Text");
    let mut screen = Screen::asked(120, 40);
    screen.keys("n");
    for (args, expected) in [
        ("a b/c.svg", "a b/c.svg Picture"),
        ("screen x.svg", "x.svg Picture"),
        ("screen x.html", "x.html Page"),
        ("screen x.md", "! x.md: the screen can be written to a file that ends in .svg, .html or .txt"),
        ("x.txt", "x.txt shop/payments · priority 100000 · requests cpu 6, memory 8Gi"),
        ("x.json", "x.json {"),
        ("x.yml", "x.yml schemaVersion: 1"),
        ("x.pdf", "! x.pdf: the ending says what is written: .svg, .txt, .md, .html, .json or .yaml"),
        ("svg", "! svg: the ending says what is written: .svg, .txt, .md, .html, .json or .yaml"),
        ("decision x.svg", "! a decision is text: .txt, .md, .html, .json or .yaml; export screen FILE.svg is a picture"),
        ("screen", "screen.svg Picture"),
    ] {
        assert_eq!(export(&mut screen, args), expected, "{args}");
    }
}

#[test]
fn a_decision_is_written_to_its_end_wherever_the_cursor_is() {
    let mut screen = Screen::asked(120, 40);
    let mut json = |at: Cursor| {
        screen.explorer.timeline_mut().seek(at);
        match screen.enter("export x.json") {
            Some(Effect::Export { export: Export::Words(words), .. }) => words,
            other => panic!("{other:?}"),
        }
    };
    let early = json(Cursor { revision: 0, event: 1 });
    assert_eq!(early, json(Cursor::END));
    let value: serde_json::Value = serde_json::from_str(early.as_str()).unwrap();
    assert_eq!(value["preemption"]["selected"], "worker-a2");
}

#[test]
fn a_ticket_says_all_that_it_depends_on() {
    use crate::app::Reproduction;
    let dir = std::env::temp_dir().join(format!("schedscope-ticket-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let path = dir.join("t.md");
    let write = |screen: &mut Screen| {
        let _ = std::fs::remove_file(&path);
        screen.act(&format!(":export {};", path.display()));
        assert!(screen.said().starts_with("ticket about shop/payments written to"), "{}", screen.said());
        std::fs::read_to_string(&path).unwrap()
    };
    let mut screen = Screen::asked(120, 40);
    let words = ["--demo", "payments"].map(str::to_owned).to_vec();
    screen.explorer = screen.explorer.clone().reproduced_by(Some(Reproduction::new(words)));
    let text = write(&mut screen);
    for words in [
        "# shop/payments is pending",
        "| Source | demo payments |",
        "| Decided at | 2026-11-20T18:26",
        "| Release | kube-scheduler v1.36",
        "## Message that kube-scheduler would write (not reported yet)",
        "| 3 | does not fit; eviction might help | NodeResourcesFit |",
        "## Preemption",
        "- 6 candidates (",
        "### Victims on worker-a2",
        "### Victims on worker-b1",
        "## Odds (",
        "Deployment reports",
        "## Unknowns",
        "## Fixes",
        "schedscope explain payments -n shop --demo payments --fixes -o markdown",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    assert!(text.lines().filter(|line| line.starts_with('|')).all(|line| line.ends_with('|')), "{text}");
    insta::assert_snapshot!("ticket", text);
    // Changes of the session are listed.
    screen.act("home :cordon worker-a2; :pod shop/payments;");
    let text = write(&mut screen);
    assert!(text.contains("adds these steps to its source") && text.contains("- cordon worker-a2"), "{text}");
    let head = "# shop/payments is pending in a what-if\n\nWith what-if: cordon worker-a2. The cluster itself is not changed.\n";
    assert!(text.starts_with(head), "{text}");
    assert!(text.contains("## Message that kube-scheduler would write (what-if)"), "{text}");
    std::fs::remove_dir_all(dir).unwrap();
}
