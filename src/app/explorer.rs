//! The session behind the screen.

use std::cell::OnceCell;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::beside::Beside;
use crate::cluster::{Key, Kind, Object};
use crate::report::{Heard, Written};
use crate::scheduler::{Operation, Waiting};
use crate::session::{Branch, Edit, RunEnd, Session, Timeline, Until};
use crate::source::{self, Input, Report, Severity};
use crate::ui::{Driver, HowFar, ObjectText, Work, WorkState};

/// A session, with files to read and to write.
#[derive(Debug)]
pub struct Explorer {
    session: Session,
    /// What the session was loaded from, the newest last: objects' texts are read again from there.
    reports: Vec<Arc<Report>>,
    /// What goes on beside the screen.
    work: Option<Beside>,
    /// What the cluster's scheduler wrote, once somebody asks.
    heard: OnceCell<Heard>,
}

impl Explorer {
    /// An explorer of a session.
    pub fn new(session: Session) -> Self {
        Self { session, reports: Vec::new(), work: None, heard: OnceCell::new() }
    }

    /// The same explorer, which knows where objects were read; of several sources the newest comes last.
    #[must_use]
    pub fn with_reports(self, reports: Vec<Arc<Report>>) -> Self {
        Self { reports, ..self }
    }

    /// An object's text from the newest source that has it.
    fn loaded(&self, kind: Kind, key: &Key) -> Option<Result<ObjectText, String>> {
        let report = self.reports.iter().rev().find(|r| r.origin(kind, key).is_some())?;
        let (file, line) = report.file_and_line(kind, key)?;
        let place = format!("{file}, line {line}");
        Some(match report.original(kind, key) {
            Ok(Some(text)) => match source::as_yaml(&text, kind, key) {
                Some(yaml) => Ok(ObjectText { place, yaml }),
                None => Err(format!("{place} no longer holds {kind} {key}")),
            },
            Ok(None) => Err(format!("{place} cannot be read again")),
            Err(error) => Err(format!("{place}: {error}")),
        })
    }

    fn apply(&mut self, operation: Operation) -> Result<String, String> {
        let branches = self.session.branches().len();
        if !self.session.apply(operation) {
            return Err("nothing came of it".to_owned());
        }
        let title = self.session.timeline().frames().last().map_or_else(String::new, |f| f.title.clone());
        let fork = if self.session.branches().len() > branches {
            format!("; this is {} now, and the old one stays", self.session.branch().name())
        } else {
            String::new()
        };
        Ok(format!("{title}{fork}"))
    }

    /// Creates or updates what is in a file.
    fn apply_file(&mut self, path: &str) -> Result<String, String> {
        if path.is_empty() {
            return Err("apply needs a file".to_owned());
        }
        let loaded = source::load(&[Input::Path(PathBuf::from(path))]);
        if let Some(wrong) = loaded.diagnostics.iter().find(|d| d.severity == Severity::Error) {
            return Err(wrong.to_string());
        }
        let objects: Vec<Object> = loaded.objects;
        let mut said = Err(format!("{path} holds nothing that decides about scheduling"));
        let count = objects.len();
        for object in objects {
            let known = self.session.scheduler_here().state().cluster().get(object.kind(), &object.key()).is_some();
            let operation = if known { Operation::Update { object } } else { Operation::Create { object } };
            said = Ok(self.apply(operation)?);
            self.session.timeline_mut().seek(crate::session::Cursor { frame: usize::MAX, event: usize::MAX });
        }
        if count > 1 { said.map(|last| format!("{count} objects, the last of them: {last}")) } else { said }
    }
}

impl Driver for Explorer {
    fn timeline(&self) -> &Timeline {
        self.session.timeline()
    }

    fn timeline_mut(&mut self) -> &mut Timeline {
        self.session.timeline_mut()
    }

    fn run_next(&mut self) -> bool {
        self.session.run_next()
    }

    fn explain(&mut self, pod: &Key) -> Option<usize> {
        self.session.explain(pod)
    }

    fn run_until(&mut self, until: &Until, turns: usize) -> RunEnd {
        self.session.run_until(until, turns)
    }

    fn edit(&mut self, line: &str) -> Result<String, String> {
        if let Some(path) = line.strip_prefix("apply ") {
            return self.apply_file(path.trim());
        }
        let operation = Edit::parse(line)?.operation(self.session.scheduler_here().state().cluster())?;
        self.apply(operation)
    }

    fn advance(&mut self, how_far: HowFar) -> Result<String, String> {
        match how_far {
            HowFar::Seconds(seconds) => self.apply(Operation::Advance { seconds }),
            HowFar::NextWakeUp => match self.session.scheduler_here().next_wake_up() {
                Some(wake_up) => self.apply(Operation::AdvanceTo { time: wake_up.time }),
                None => Err("time makes nothing happen any more".to_owned()),
            },
        }
    }

    fn settle(&mut self) -> bool {
        self.session.settle()
    }

    fn branches(&self) -> (&[Branch], usize) {
        (self.session.branches(), self.session.current())
    }

    fn switch_branch(&mut self, to: usize) -> bool {
        self.session.switch(to)
    }

    fn restart(&mut self, observed: bool) -> Result<String, String> {
        let waiting = if observed { Waiting::AsObserved(self.session.background().events.clone()) } else { Waiting::Fresh };
        self.session = self.session.restarted(waiting);
        let entries = &self.session.timeline().queues().entries;
        let inferred = entries.values().filter(|e| e.inferred.is_some()).count();
        Ok(if observed {
            format!("as observed: where {inferred} of {} waiting pods are is inferred; ~ marks them", entries.len())
        } else {
            format!("fresh start: all {} waiting pods are new to the scheduler", entries.len())
        })
    }

    fn save(&self, path: &str) -> Result<String, String> {
        let at = |e: &dyn std::fmt::Display| format!("{path}: {e}");
        if Path::new(path).exists() {
            return Err(format!("{path} exists already; it is left alone"));
        }
        let file = File::create_new(path).map_err(|e| at(&e))?;
        if let Err(error) = self.session.save(file) {
            // Half a session is of no use, and would be in the way of the next try.
            let _ = std::fs::remove_file(path);
            return Err(at(&error));
        }
        Ok(format!("saved to {path}; schedscope open {path} goes on from here"))
    }

    fn start(&mut self, work: Work) -> Result<(), String> {
        self.work = Some(Beside::start(&self.session, work)?);
        Ok(())
    }

    fn poll(&mut self) -> WorkState {
        let state = self.work.as_ref().map_or(WorkState::Idle, Beside::state);
        if matches!(state, WorkState::Done(..)) {
            self.work = None;
        }
        state
    }

    fn stop(&mut self) {
        self.work = None;
    }

    fn written(&self, pod: &Key) -> Option<Written> {
        let heard = self.heard.get_or_init(|| Heard::new(&self.session.background().events));
        heard.about(self.session.scheduler_as_seen().state().cluster().pods.get(pod)?)
    }

    fn object(&self, kind: Kind, key: &Key) -> Result<ObjectText, String> {
        let here = self.session.scheduler_here().state().cluster().get(kind, key);
        let start = self.session.scheduler_at_start().state().cluster().get(kind, key);
        let (mut text, fallen_back) = match self.loaded(kind, key) {
            Some(Ok(text)) => (text, None),
            other => {
                let object = here.as_ref().or(start.as_ref()).ok_or_else(|| format!("there is no {kind} {key}"))?;
                let yaml = serde_yaml::to_string(object).map_err(|e| e.to_string())?;
                let why = other.and_then(Result::err).map_or_else(String::new, |e| format!("# {e}\n"));
                (
                    ObjectText { place: "as schedscope holds it".to_owned(), yaml },
                    Some(format!("{why}# Only what decides about scheduling is held.\n")),
                )
            }
        };
        let changed = match (&start, &here) {
            (Some(_), None) => "# It is gone at the cursor.\n",
            (Some(start), Some(here)) if start != here && fallen_back.is_none() => {
                "# It has changed since at the cursor; this is how it was read.\n"
            }
            _ => "",
        };
        text.yaml = format!("{}{changed}{}", fallen_back.unwrap_or_default(), text.yaml);
        Ok(text)
    }

    fn source(&self) -> String {
        self.session.source().to_owned()
    }

    fn report_lines(&self) -> Vec<String> {
        self.session.background().report.clone()
    }
}
