//! A session as a file: what it started from and what was asked for, from which the engine makes the same record again.
//!
//! The file is gzip around lines of JSON (one that was unpacked, or laid out otherwise, is read as well): a head that names format and versions, the objects that there were at the
//! start, and for each branch its name, where it left another, and the actions since. Replaying gives the same events
//! only with the same engine, so a file of another version is refused; each branch also says how many events it had.
//! The original text of the objects is not in the file.

use std::io::{self, BufWriter, Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use super::branch::{Action, Fork};
use super::recording::{Background, Session, objects_in_order};
use super::timeline::Cursor;
use super::values::{Values, names_format};
use crate::cluster::Object;
use crate::release::{Emulation, FeatureGates, GateError, Profile, supported};
use crate::scheduler::{Config, ConfigError, Options, Scheduler};

/// What the file calls itself.
const FORMAT: &str = "schedscope session";
/// The version of the layout described above.
const VERSION: u32 = 1;
/// Of the engine that replays.
const ENGINE: &str = env!("CARGO_PKG_VERSION");

/// Why a session could not be saved or loaded.
#[derive(Debug, thiserror::Error)]
pub enum SessionFileError {
    /// Reading or writing failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("this is no saved session")]
    NotASession,
    /// It was saved by another version.
    #[error(
        "saved by schedscope {engine} (kube-scheduler {emulated}, file format {version}), which may decide otherwise than \
         this schedscope {ENGINE} (kube-scheduler {emulates}, file format {VERSION}): open it with the version that saved it",
        emulates = supported()
    )]
    OtherVersion {
        /// Of the file's layout.
        version: u32,
        /// Of schedscope.
        engine: String,
        /// Of kube-scheduler.
        emulated: String,
    },
    /// A line cannot be read.
    #[error("line {line}: {problem}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// Why.
        problem: LineProblem,
    },
    /// The replay came out otherwise than what was saved.
    #[error("branch {branch:?} does not replay as it was saved: {found} events instead of {saved}; the file was changed or is damaged")]
    Differs {
        /// The branch's name.
        branch: String,
        /// How many events the file tells of.
        saved: usize,
        /// How many there are now.
        found: usize,
    },
}

/// Why a line of a session's file cannot be read, or not be replayed.
#[derive(Debug, thiserror::Error)]
pub enum LineProblem {
    /// It is longer than any line that is written.
    #[error("is too long")]
    TooLong,
    /// It is not there.
    #[error("the file ends too early")]
    EndOfFile,
    /// Reading or decompressing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is no object of JSON.
    #[error("it is no object")]
    NoObject,
    /// It is no JSON, or JSON of something else.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The head has its versions only.
    #[error("it is incomplete")]
    Incomplete,
    /// The head's feature gates cannot be read, in their own words.
    #[error("{0}")]
    FeatureGates(GateError),
    /// The head's configuration of the scheduler cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A branch leaves another that is not there.
    #[error("the branch does not begin where it says")]
    Fork,
    /// An action of a branch does nothing.
    #[error("an action of the branch has no effect any more")]
    Action,
    /// The file has no branch of the number in the head.
    #[error("the branch that the reader was on is missing")]
    CurrentBranch,
}

#[derive(Serialize, Deserialize)]
struct Head {
    format: String,
    version: u32,
    schedscope: String,
    #[serde(rename = "kube-scheduler")]
    kube_scheduler: String,
    /// Only in files of this version; others may have something else.
    #[serde(flatten)]
    rest: Option<Rest>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rest {
    source: String,
    background: Background,
    config: Option<String>,
    feature_gates: String,
    options: Options,
    objects: usize,
    branches: usize,
    current: usize,
}

#[derive(Serialize, Deserialize)]
struct SavedBranch {
    name: String,
    fork: Option<Fork>,
    actions: Vec<Action>,
    events: usize,
    cursor: Cursor,
}

/// How much of the beginning of a file shows whether it is a saved session, in bytes.
pub const SESSION_HEAD: u64 = 64 << 10;

/// Returns whether a file that begins so is a saved session, compressed or not, however its JSON is laid out.
pub fn is_session_file(start: &[u8]) -> bool {
    names_format(start, FORMAT)
}

impl Session {
    /// Writes the session.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn save(&self, out: impl Write) -> Result<(), SessionFileError> {
        let mut out = BufWriter::new(GzEncoder::new(out, Compression::fast()));
        let started = self.scheduler_at_start();
        let objects = objects_in_order(started);
        let config = started.state().config();
        let rest = Rest {
            source: self.source().to_owned(),
            background: self.background().clone(),
            config: config.text().map(str::to_owned),
            feature_gates: config.emulation.gate_changes(),
            options: started.options().clone(),
            objects: objects.len(),
            branches: self.branches().len(),
            current: self.current(),
        };
        let head = Head {
            format: FORMAT.to_owned(),
            version: VERSION,
            schedscope: ENGINE.to_owned(),
            kube_scheduler: config.emulation.release().to_string(),
            rest: Some(rest),
        };
        line(&mut out, &head)?;
        for object in &objects {
            line(&mut out, object)?;
        }
        for branch in self.branches() {
            let shared = branch.forked().map_or(0, |fork| fork.revisions);
            let saved = SavedBranch {
                name: branch.name().to_owned(),
                fork: branch.forked(),
                actions: branch.actions().skip(shared).cloned().collect(),
                events: branch.timeline().progress().1,
                cursor: branch.timeline().cursor(),
            };
            line(&mut out, &saved)?;
        }
        out.into_inner().map_err(io::IntoInnerError::into_error)?.finish()?.flush()?;
        Ok(())
    }

    /// Reads a session and lets the engine do everything in it again.
    ///
    /// # Errors
    /// When the file is no session, was saved by another version, is damaged, or cannot be read.
    pub fn load(file: impl Read) -> Result<Self, SessionFileError> {
        let mut lines = Values::new(file);
        let head: Head = lines.next().map_err(|_| SessionFileError::NotASession)?;
        if head.format != FORMAT {
            return Err(SessionFileError::NotASession);
        }
        let same_engine = (head.version, head.schedscope.as_str()) == (VERSION, ENGINE);
        let Some(release) = Profile::named(&head.kube_scheduler).filter(|_| same_engine) else {
            let Head { version, schedscope: engine, kube_scheduler: emulated, .. } = head;
            return Err(SessionFileError::OtherVersion { version, engine, emulated });
        };
        let bad_head = |problem| SessionFileError::Line { line: 1, problem };
        let rest = head.rest.ok_or_else(|| bad_head(LineProblem::Incomplete))?;
        let gates = FeatureGates::parse(&rest.feature_gates, release).map_err(|error| bad_head(LineProblem::FeatureGates(error)))?;
        let emulation = Emulation::new(release, gates);
        let config = match &rest.config {
            Some(text) => Config::parse(text, emulation).map_err(|error| bad_head(error.into()))?,
            None => Config::defaults(emulation),
        };
        let mut objects = Vec::new();
        for _ in 0..rest.objects {
            objects.push(lines.next::<Object>()?);
        }
        let mut session = Self::new(Scheduler::new(config, objects, rest.options), rest.source).with(rest.background);
        for number in 0..rest.branches {
            let saved: SavedBranch = lines.next()?;
            let wrong = |problem| SessionFileError::Line { line: lines.line, problem };
            if !session.begin(number, &saved.name, saved.fork) {
                return Err(wrong(LineProblem::Fork));
            }
            for action in saved.actions {
                if !session.redo(action) {
                    return Err(wrong(LineProblem::Action));
                }
            }
            let found = session.timeline().progress().1;
            if found != saved.events {
                return Err(SessionFileError::Differs { branch: saved.name, saved: saved.events, found });
            }
            session.timeline_mut().seek(saved.cursor);
        }
        if rest.branches == 0 || !session.switch(rest.current) {
            return Err(bad_head(LineProblem::CurrentBranch));
        }
        Ok(session)
    }
}

fn line(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}
