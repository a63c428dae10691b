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

/// `export`: the key opens the prompt with the command.
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

/// Returns the export for `export [screen|decision] FILE`.
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

/// Returns the whole decision at the cursor, in the format of the file's extension.
fn decision(session: &dyn SessionHandle, path: &str) -> Result<Text, ExportError> {
    let format = match ending(path) {
        "svg" => return Err(ExportError::DecisionAsPicture),
        ending => Format::of_ending(ending).ok_or_else(|| ExportError::Ending { path: path.to_owned() })?,
    };
    let revision = session.timeline().revision().ok_or(ExportError::NothingRecorded)?;
    let mut view = CycleView::of(revision.events.iter());
    if let Some(start) = &session.timeline().cycle().start {
        view = view.showing(&start.pod);
    }
    if view.start.is_none() {
        return Err(ExportError::NoDecision(revision.title.clone()));
    }
    Ok(format.write(&report::Answer::Decision(&view, &session.release_report()), Lines::default())?)
}
