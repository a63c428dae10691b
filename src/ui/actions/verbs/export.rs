//! Writes the screen or the decision to a file.

use crate::output::{Lines, Text};
use crate::report::{self, Format};
use crate::trace::CycleView;
use crate::ui::actions::arguments;
use crate::ui::actions::error::ExportError;
use crate::ui::actions::jobs;
use crate::ui::actions::verb::{Answer, Command, Verb, keys};
use crate::ui::config::context::Context;
use crate::ui::model::effect::{Effect, Export, ScreenForm, ending};
use crate::ui::model::overlay::Typing;
use crate::ui::model::session_handle::{Job, SessionHandle};

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
            ..Command::new(
                &["export"],
                "[screen|decision] FILE",
                "the screen (.svg, .txt) or the decision (.md is a ticket with fixes, .txt, .json, .yaml)",
            )
        }),
        ..Verb::new("export-to", |state, session, args| match export(session, args)? {
            Exported::Effect(effect) => Ok(Answer::Effect(effect)),
            Exported::Ticket(job) => {
                jobs::begin(state, session, job);
                Ok(Answer::Done)
            }
        })
    },
];

/// The export of a command line.
enum Exported {
    /// A file that is made at once.
    Effect(Effect),
    /// A ticket, whose fixes must be searched.
    Ticket(Job),
}

/// Returns the export for `export [screen|decision] FILE`.
fn export(session: &dyn SessionHandle, args: &str) -> Result<Exported, ExportError> {
    let (what, path) = match args.split_once(char::is_whitespace) {
        Some((word @ ("screen" | "decision"), path)) => (word, path.trim()),
        _ => ("", args),
    };
    if path.is_empty() || path == "screen" || path == "decision" {
        return Err(ExportError::NoFile);
    }
    let screen = what == "screen" || (what.is_empty() && ending(path) == "svg");
    if !screen && ending(path) == "md" {
        decided(session)?;
        return Ok(Exported::Ticket(Job::Ticket { path: path.to_owned(), revision: session.timeline().cursor().revision }));
    }
    let export = if screen { Export::Screen(ScreenForm::of(path)?) } else { Export::Words(decision(session, path)?) };
    Ok(Exported::Effect(Effect::Export { path: path.to_owned(), export }))
}

/// Returns the whole decision at the cursor.
fn decided(session: &dyn SessionHandle) -> Result<CycleView, ExportError> {
    let revision = session.timeline().revision().ok_or(ExportError::NothingRecorded)?;
    let mut view = CycleView::of(revision.events.iter());
    if let Some(start) = &session.timeline().cycle().start {
        view = view.showing(&start.pod);
    }
    if view.start.is_none() {
        return Err(ExportError::NoDecision(revision.title.clone()));
    }
    Ok(view)
}

/// Returns the whole decision at the cursor, in the format of the file's extension.
fn decision(session: &dyn SessionHandle, path: &str) -> Result<Text, ExportError> {
    let format = match ending(path) {
        "svg" => return Err(ExportError::DecisionAsPicture),
        ending => Format::of_ending(ending).ok_or_else(|| ExportError::Ending { path: path.to_owned() })?,
    };
    let view = decided(session)?;
    Ok(format.write(&report::Answer::Decision(&view, &session.release_report()), Lines::default())?)
}
