//! Exports, saved sessions, dumps from the start screen, and permanent settings.

use std::fs;
use std::path::Path;

use super::{ENTER, command, decide, line, quit, story};
use crate::pty::Pty;

/// "For the incident report: this decision as text and the screen as I see it."
#[test]
fn export_the_decision_and_the_screen_for_a_report() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut pty = story("budgets", (120, 40));
    decide(&mut pty, "checkout");
    pty.wait_for("decided by MinHighestPriority");
    let write = |pty: &mut Pty, name: &str| {
        let path = folder.path().join(name);
        command(pty, &format!("export {}", path.display()));
        pty.wait_for(&format!("written to {}", path.display()));
        fs::read_to_string(path).expect("it was written")
    };
    let text = write(&mut pty, "d.md");
    assert!(text.contains("shop/checkout") && text.contains("big-1") && text.contains("MinHighestPriority"), "{text}");
    let picture = write(&mut pty, "s.svg");
    assert!(picture.starts_with("<svg ") && picture.contains("report-0"), "{picture}");
    quit(pty);
}

/// "Save what I have tried, and go on tomorrow."
/// The session opens on the same branch, at the same step, with the same answer.
#[test]
fn save_quit_and_open_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("session").display().to_string();
    let mut pty = story("payments", (80, 24));
    pty.send("c");
    pty.wait_for("✗ batch/too-big");
    pty.send("C");
    pty.wait_for("step 0/");
    command(&mut pty, "cordon worker-a2");
    pty.wait_for("branch 2 of 2");
    pty.send("ccc");
    pty.wait_for("step 72/72");
    let place = |screen: &str| screen[screen.find("step ").expect("where it is")..].lines().next().map(str::to_owned);
    let before = place(&pty.screen());
    command(&mut pty, &format!("save {path}"));
    pty.wait_for("saved to");
    quit(pty);

    let again = Pty::start(&["open", &path], 80, 24);
    let screen = again.wait_for("branch 2 of 2");
    assert_eq!(place(&screen), before, "{screen}");
    quit(again);
}

/// "I received a dump; I start without arguments and choose it from the files in the folder."
#[test]
fn open_a_dump_from_the_start_screen() {
    let folder = tempfile::tempdir().expect("a folder");
    let dump = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/stories/budgets.yaml");
    fs::copy(dump, folder.path().join("from-a-colleague.yaml")).expect("a copy");
    let mut pty = Pty::start_at(folder.path(), &[("KUBECONFIG", "/nowhere")], &[], 80, 24);
    pty.wait_for("from-a-colleague.yaml");
    pty.assert_taken();
    pty.send("/");
    pty.send("colleague");
    pty.wait_gone("tie-breaks");
    pty.send(ENTER);
    // The decision about its only pending pod is the first screen.
    pty.wait_for("preempting 2 pods");
    line(&pty.screen(), &["dry decision"]);
    decide(&mut pty, "checkout");
    pty.wait_for("preempting 2 pods");
    quit(pty);
}

/// "m for a step, and light colours, permanently."
#[test]
fn change_a_key_and_the_theme_for_good() {
    let home = tempfile::tempdir().expect("a folder");
    let own = home.path().join("schedscope");
    fs::create_dir_all(&own).expect("a folder");
    fs::write(own.join("config.toml"), "theme = 'light'\n[keys.global]\nstep = 'm'\n").expect("a file");
    let folder = home.path().display().to_string();
    let mut pty = Pty::start_in(&[("XDG_CONFIG_HOME", folder.as_str())], &["demo", "tie-breaks"], 80, 24);
    pty.wait_for("0 Overview");
    pty.send("1");
    let screen = pty.wait_for("m goes step by step");
    assert!(line(&screen, &["Enter open"]).contains("m step"), "{screen}");
    pty.send("m");
    pty.wait_for("rev 1/1");
    let dark_ink_on_light = |screen: &vt100::Screen| {
        let cells = (0..24).flat_map(|y| (0..80).map(move |x| (y, x)));
        cells.filter_map(|(y, x)| screen.cell(y, x)).any(|c| match c.fgcolor() {
            vt100::Color::Rgb(r, g, b) => c.has_contents() && [r, g, b].iter().all(|part| *part < 0x60),
            _ => false,
        })
    };
    pty.wait_until("letters are dark", dark_ink_on_light);
    quit(pty);
}
