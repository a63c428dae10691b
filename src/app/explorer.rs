//! The session behind the screen.

use crate::cluster::Key;
use crate::session::{Session, Timeline};
use crate::ui::Driver;

/// A session, what was read for it, and the pod that was asked about.
#[derive(Debug)]
pub struct Explorer {
    session: Session,
    report: Vec<String>,
    asked: Option<Key>,
}

impl Explorer {
    /// An explorer of a session; `report` says what was read from the source and what was not.
    pub fn new(session: Session, report: Vec<String>) -> Self {
        Self { session, report, asked: None }
    }
}

impl Driver for Explorer {
    fn timeline(&self) -> &Timeline {
        self.session.timeline()
    }

    fn timeline_mut(&mut self) -> &mut Timeline {
        self.session.timeline_mut()
    }

    /// The decision about the pod that was asked about, else one turn of the scheduling loop.
    fn run_next(&mut self) -> bool {
        match self.asked.take() {
            Some(pod) => self.session.explain(&pod).is_some(),
            None => self.session.run_next(),
        }
    }

    /// A pod that is asked about is decided on alone and without consequences: the queue's order stays kube-scheduler's.
    fn select_pod(&mut self, pod: &Key) {
        self.asked = Some(pod.clone());
    }

    fn source(&self) -> String {
        self.session.source().to_owned()
    }

    fn report_lines(&self) -> Vec<String> {
        self.report.clone()
    }
}
