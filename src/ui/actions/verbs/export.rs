//! Writes the screen or the decision to a file.

use crate::output::{Lines, Text};
use crate::report::{self, Format};
use crate::trace::CycleView;
use crate::ui::actions::arguments;
use crate::ui::actions::error::ExportError;
use crate::ui::actions::verb::{Answer, Command, Verb, keys};
use crate::ui::config::context::Context;
use crate::ui::model::effect::{Effect, Export, ScreenForm, ending};
use crate::ui::model::overlay::Typing;
use crate::ui::model::session_handle::SessionHandle;

/// `export`: the key begins the command.
pub static VERBS: &[Verb] = &[
    Verb {
        keys: &[keys(Context::GLOBAL, &["p"], "", "write the screen or the decision to a file")],
        runs_on_ui_thread: |_| true,
        ..Verb::new("export", |_, _, _| Ok(Answer::Prompt(Typing::Command, "export ")))
    },
    Verb {
        command: Some(Command {
            complete: |_, _, word| arguments::words(["screen", "decision"], word),
            ..Command::new(&["export"], "[screen|decision] FILE", "the screen (.svg, .txt) or the decision (.txt, .md, .json, .yaml)")
        }),
        ..Verb::new("export-to", |_, session, args| Ok(Answer::Effect(export(session, args)?)))
    },
];

/// Returns what `export [screen|decision] FILE` writes.
fn export(session: &dyn SessionHandle, args: &str) -> Result<Effect, ExportError> {
    let (what, path) = match args.split_once(char::is_whitespace) {
        Some((word @ ("screen" | "decision"), path)) => (word, path.trim()),
        _ => ("", args),
    };
    if path.is_empty() || path == "screen" || path == "decision" {
        return Err(ExportError::NoFile);
    }
    let screen = what == "screen" || (what.is_empty() && ending(path) == "svg");
    let export = if screen { Export::Screen(ScreenForm::of(path)?) } else { Export::Words(decision(session, path)?) };
    Ok(Effect::Export { path: path.to_owned(), export })
}

/// Returns the decision at the cursor to its end, in the form that the ending of a file's name stands for.
fn decision(session: &dyn SessionHandle, path: &str) -> Result<Text, ExportError> {
    let format = match ending(path) {
        "svg" => return Err(ExportError::DecisionAsPicture),
        ending => Format::of_ending(ending).ok_or_else(|| ExportError::Ending { path: path.to_owned() })?,
    };
    let revision = session.timeline().revision().ok_or(ExportError::NothingRecorded)?;
    let view = CycleView::of(revision.events.iter());
    if view.start.is_none() {
        return Err(ExportError::NoDecision(revision.title.clone()));
    }
    Ok(format.write(&report::Answer::Decision(&view), Lines::default())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Cursor;
    use crate::ui::testing::script;

    #[test]
    fn the_ending_and_the_word_say_what_is_written() {
        let mut driver = script(false);
        let kind = |driver: &dyn SessionHandle, args: &str| match export(driver, args) {
            Ok(Effect::Export { path, export: Export::Screen(form) }) => format!("{path} {form:?}"),
            Ok(Effect::Export { path, export: Export::Words(words) }) => {
                format!("{path} {}", words.as_str().lines().next().unwrap_or_default())
            }
            Ok(other) => panic!("{other:?}"),
            Err(error) => format!("! {error}"),
        };
        assert_eq!(kind(&driver, "a.md"), "! there is no decision here yet");
        assert_eq!(kind(&driver, "screen a.txt"), "a.txt Text");
        driver.run_next();
        driver.timeline_mut().seek(Cursor { revision: 0, event: 2 });
        for (args, expected) in [
            ("a b/c.svg", "a b/c.svg Picture"),
            ("screen x.svg", "x.svg Picture"),
            ("screen x.md", "! x.md: the screen can be written to a file that ends in .svg or .txt"),
            ("x.txt", "x.txt shop/payments · priority 100000 · asks for cpu 6, memory 8Gi"),
            ("decision x.md", "x.md ### shop/payments"),
            ("x.json", "x.json {"),
            ("x.yml", "x.yml outcome: unschedulable"),
            ("x.pdf", "! x.pdf: the ending says what is written: .svg, .txt, .md, .json or .yaml"),
            ("svg", "! svg: the ending says what is written: .svg, .txt, .md, .json or .yaml"),
            ("decision x.svg", "! a decision is text: .txt, .md, .json or .yaml; export screen FILE.svg is a picture"),
            ("", "! export needs a file: .svg is the screen as a picture, .txt, .md, .json and .yaml the decision"),
            ("screen", "! export needs a file: .svg is the screen as a picture, .txt, .md, .json and .yaml the decision"),
        ] {
            assert_eq!(kind(&driver, args), expected, "{args}");
        }
    }

    #[test]
    fn a_decision_is_written_to_its_end_wherever_the_cursor_stands() {
        let mut driver = script(false);
        driver.run_next();
        let json = |driver: &dyn SessionHandle| super::export(driver, "x.json").unwrap();
        driver.timeline_mut().seek(Cursor { revision: 0, event: 1 });
        let early = json(&driver);
        driver.timeline_mut().seek(Cursor::END);
        assert_eq!(early, json(&driver));
        let Effect::Export { export: Export::Words(words), .. } = early else { panic!("{early:?}") };
        let value: serde_json::Value = serde_json::from_str(words.as_str()).unwrap();
        assert_eq!(value["preemption"]["selected"], "worker-a2");
    }
}
