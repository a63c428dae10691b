//! Writes the screen or the decision to a file.

use crate::output::{Lines, Text};
use crate::report::{self, Format};
use crate::trace::CycleView;
use crate::ui::actions::arguments;
use crate::ui::actions::error::ExportError;
use crate::ui::actions::jobs;
use crate::ui::actions::prelude::*;
use crate::ui::model::effect::{Effect, Export, NewFile, ScreenForm, ending};
use crate::ui::model::job::Job;
use crate::ui::model::overlay::{Overlay, Typing};
use crate::ui::model::pane::Pane;
use crate::ui::model::session_handle::{Page, TicketSubject};
use crate::ui::model::text_view::{Target, TextView};

/// `export`: the key opens the prompt with the command.
pub static VERBS: &[Verb] = &[
    Verb {
        keys: &[
            keys(Context::GLOBAL, &["p"], "write", "write the screen or the decision to a file"),
            keys(Context::OVERLAY, &["p"], "write", "write the text to a file: .md or .html"),
        ],
        runs_on_ui_thread: |_| true,
        ..Verb::new("export", |state, _, _| {
            state.exporting = None;
            if let Some(Overlay::Text(text)) = &state.overlay {
                let text = TextView::clone(text);
                state.exporting = Some(text.clone());
                state.leave_text(text);
            }
            Ok(Answer::Prompt(Typing::Command, "export "))
        })
    },
    Verb {
        command: Some(Command {
            complete: |_, _, word| arguments::words(["ticket.md", "screen.svg", "screen", "decision"], word),
            ..Command::new(
                &["export"],
                "[screen|decision] [FILE]",
                "the screen (.svg, with screen .html, .txt) or the decision (.md is a ticket with fixes, .html the same as a page, .txt, .json, .yaml); a ticket without FILE",
            )
        }),
        ..Verb::new("export-to", |state, session, args| match export(state, session, args)? {
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
///
/// Without a file, a ticket, the screen's picture or the decision goes to a file of a name that is free.
fn export(state: &mut State, session: &dyn SessionHandle, args: &str) -> Result<Exported, ExportError> {
    let args = args.trim();
    let (what, path) = match args.split_once(char::is_whitespace) {
        Some((word @ ("screen" | "decision"), path)) => (word, path.trim()),
        None if matches!(args, "screen" | "decision") => (args, ""),
        _ => ("", args),
    };
    let file = match (path, what) {
        ("", "screen") => NewFile::SCREEN,
        ("", "decision") => NewFile::DECISION,
        ("", _) => NewFile::TICKET,
        (path, _) => NewFile::Named(path.to_owned()),
    };
    let screen = what == "screen" || (what.is_empty() && file.ending() == "svg");
    if !screen && Format::of_ending(file.ending()).is_some_and(Format::is_ticket) {
        let subject = subject(state, session, what)?;
        return Ok(Exported::Ticket(Job::Ticket { file, subject }));
    }
    let export = match (screen, file.path(1).as_deref()) {
        (true, path) => Export::Screen(ScreenForm::of(path.unwrap_or_default())?),
        (false, path) => Export::Words(decision(session, path.unwrap_or_default())?),
    };
    Ok(Exported::Effect(Effect::Export { file, export }))
}

/// Returns what is on the screen: the text that is written, the overview, the result of a what-if that is not about the decision at
/// the cursor, or that decision.
fn subject(state: &mut State, session: &dyn SessionHandle, what: &str) -> Result<TicketSubject, ExportError> {
    if let Some(text) = state.exporting.take().filter(|_| what.is_empty()) {
        let page = Page { title: text.title, body: text.body, manifest: text.manifest };
        return Ok(match (text.workload, text.links.into_values().next()) {
            (Some(workload), _) => TicketSubject::Workload(workload, page),
            (None, Some(Target::Fix(fix))) if fix.pods.is_empty() => TicketSubject::Fixes(fix.pod, page),
            _ => TicketSubject::Text(page),
        });
    }
    if state.arrangement.whole == Some(Pane::OVERVIEW)
        && what.is_empty()
        && let Some(overview) = &state.overview.newest
    {
        return Ok(TicketSubject::Overview(Page { title: "Pending pods".to_owned(), body: overview.document(), manifest: None }));
    }
    let result = state.what_ifs.result(session).cloned();
    let revision = session.timeline().cursor().revision;
    match (decided(session), result) {
        (Ok(view), Some(result)) if what.is_empty() && !is_about(state, &view) => Ok(TicketSubject::Text(result)),
        (Err(_), Some(result)) if what.is_empty() => Ok(TicketSubject::Text(result)),
        (Ok(_), result) => Ok(TicketSubject::Decision { revision, result }),
        (Err(error), _) => Err(error),
    }
}

/// Returns whether the user asked for the pod of a decision.
fn is_about(state: &State, view: &CycleView) -> bool {
    let pod = view.start.as_ref().map(|start| &start.pod);
    pod.is_some() && [state.subjects.subject.as_ref(), state.subjects.decision.as_ref().map(|decision| &decision.pod)].contains(&pod)
}

/// Returns the whole decision at the cursor.
fn decided(session: &dyn SessionHandle) -> Result<CycleView, ExportError> {
    let revision = session.timeline().revision().ok_or(ExportError::NothingRecorded)?;
    let mut view = revision.events.cycle_view();
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
