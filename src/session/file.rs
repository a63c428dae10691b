//! Saves and loads a session: its initial objects and its actions, from which the engine reproduces the record.
//!
//! The file is gzip around lines of JSON; an uncompressed or otherwise formatted file is read as well. The head names
//! the format and the versions. The initial objects follow, then what the source holds beside them, then each branch with its name, its fork and its own
//! actions, and a checksum over all of it. Only the same engine replays to the same events, so a file of another version is
//! refused, and each branch states its number of events. The original text of the objects is not saved.

use std::io::{self, BufWriter, Read, Write};
use std::sync::Arc;

use flate2::write::GzEncoder;
use flate2::{Compression, Crc};
use serde::{Deserialize, Serialize};

use super::branch::Fork;
use super::breakpoint::Breakpoint;
use super::neighbors::NeighborsHead;
use super::recording::{Background, Session, objects_in_order};
use super::replay::{ReplayBudget, ReplayLimit};
use super::revision::Action;
use super::timeline::Cursor;
use super::values::{Values, add_value, names_format};
use crate::cluster::Object;
use crate::extenders::{Answer, Asker, QuestionId};
use crate::release::{Emulation, FeatureGates, GateError, Profile, supported};
use crate::scheduler::{Config, ConfigError, Options, Scheduler};

/// Value of `format` in the head.
const FORMAT: &str = "schedscope session";
/// Version of the layout above.
const VERSION: u32 = 4;
/// Version of the engine that replays.
const ENGINE: &str = env!("CARGO_PKG_VERSION");

/// Error of saving or loading a session.
#[derive(Debug, thiserror::Error)]
pub enum SessionFileError {
    /// Reading or writing failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file is not a saved session.
    #[error("this is not a saved session")]
    NotASession,
    /// The file was saved by another version.
    #[error(
        "saved by schedscope {engine} (kube-scheduler {emulated}, file format {version}), which may decide differently from \
         this schedscope {ENGINE} (kube-scheduler {emulates}, file format {VERSION}): open it with the version that saved it",
        emulates = supported()
    )]
    OtherVersion {
        /// Version of the file's layout.
        version: u32,
        /// Version of schedscope.
        engine: String,
        /// Release of kube-scheduler.
        emulated: String,
    },
    /// A line cannot be read or replayed.
    #[error("line {line}: {problem}")]
    Line {
        /// Line number, from 1.
        line: usize,
        problem: LineProblem,
    },
    /// The checksum is not that of the values before it.
    #[error("the checksum does not match: the file was changed or is damaged")]
    Checksum,
    /// The file ends before its checksum, or in the middle of compressed data.
    #[error("the file ends too early, or its compressed data is damaged: {0}")]
    Cut(io::Error),
    /// The replay differs from the saved events.
    #[error("branch {branch:?} does not replay as it was saved: {found} events instead of {saved}; the file was changed or is damaged")]
    Differs {
        /// Name of the branch.
        branch: String,
        /// Number of events that the file states.
        saved: usize,
        /// Number of events that the replay made.
        found: usize,
    },
}

/// Problem of a line that cannot be read or replayed.
#[derive(Debug, thiserror::Error)]
pub enum LineProblem {
    /// The value is longer than any that is saved.
    #[error("the value is too long")]
    TooLong,
    /// The file ends before the value does.
    #[error("the file ends too early")]
    EndOfFile,
    /// Reading or decompressing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The value is not a JSON object.
    #[error("not a JSON object")]
    NoObject,
    /// The value is not valid JSON, or has other fields.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The head lacks the fields behind its versions.
    #[error("the head is incomplete")]
    Incomplete,
    /// The head's feature gates are not valid.
    #[error("{0}")]
    FeatureGates(GateError),
    /// The head's scheduler configuration is not valid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The branch forks from a branch or revision that does not exist.
    #[error("the branch forks from a revision that does not exist")]
    Fork,
    /// An action of the branch has no effect.
    #[error("an action of the branch has no effect")]
    Action,
    /// The branches would take too much to replay.
    #[error(transparent)]
    Replay(#[from] ReplayLimit),
    /// The head names a current branch that does not exist.
    #[error("the current branch is missing")]
    CurrentBranch,
}

#[derive(Serialize, Deserialize)]
struct Head {
    format: String,
    version: u32,
    schedscope: String,
    #[serde(rename = "kube-scheduler")]
    kube_scheduler: String,
    /// Fields behind the versions; `None` where another version has others.
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
    neighbors: NeighborsHead,
    branches: usize,
    current: usize,
    /// Answers of extenders, if they were asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    extenders: Option<SavedExtenders>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    breakpoints: Vec<Breakpoint>,
}

/// The extenders that were asked, by their place in the configuration, and their answers.
#[derive(Serialize, Deserialize)]
struct SavedExtenders {
    asked: Vec<usize>,
    answers: Vec<(QuestionId, Answer)>,
}

impl SavedExtenders {
    fn of(config: &Config) -> Option<Self> {
        let asker = config.extenders.asker()?;
        let asked = config.extenders.list().iter().filter(|extender| config.extenders.is_asked(extender));
        Some(Self { asked: asked.map(|extender| extender.name.index).collect(), answers: asker.answers() })
    }

    /// Returns the configuration with extenders whose answers are those of the file.
    fn onto(self, config: Config) -> Config {
        let asker = Arc::new(Asker::of_answers(self.answers));
        config.asked_by(asker, |extender| self.asked.contains(&extender.name.index))
    }
}

/// The last value of a file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trailer {
    /// The CRC-32 of all values before it, each without space and with its fields in the order of their names, as eight hexadecimal
    /// digits.
    checksum: String,
}

#[derive(Serialize, Deserialize)]
struct SavedBranch {
    name: String,
    fork: Option<Fork>,
    actions: Vec<Action>,
    events: usize,
    cursor: Cursor,
}

/// Number of bytes at the beginning of a file that show whether it is a saved session.
pub const SESSION_HEAD: u64 = 64 << 10;

/// Returns whether a file with this beginning is a saved session, compressed or not, with any JSON layout.
pub fn is_session_file(start: &[u8]) -> bool {
    names_format(start, FORMAT)
}

impl Session {
    /// Writes the session, compressed.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn save(&self, out: impl Write) -> Result<(), SessionFileError> {
        let mut out = BufWriter::new(GzEncoder::new(out, Compression::fast()));
        let mut crc = Crc::new();
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
            neighbors: NeighborsHead::of(&self.background().neighbors),
            branches: self.branches().len(),
            current: self.current(),
            extenders: SavedExtenders::of(config),
            breakpoints: self.breakpoints().to_vec(),
        };
        let head = Head {
            format: FORMAT.to_owned(),
            version: VERSION,
            schedscope: ENGINE.to_owned(),
            kube_scheduler: config.emulation.release().to_string(),
            rest: Some(rest),
        };
        line(&mut out, &mut crc, &head)?;
        for object in &objects {
            line(&mut out, &mut crc, object)?;
        }
        NeighborsHead::write(&self.background().neighbors, |value| line(&mut out, &mut crc, &value))?;
        for branch in self.branches() {
            let shared = branch.forked().map_or(0, |fork| fork.revisions);
            let saved = SavedBranch {
                name: branch.name().to_owned(),
                fork: branch.forked(),
                actions: branch.actions().skip(shared).cloned().collect(),
                events: branch.timeline().progress().1,
                cursor: branch.timeline().cursor(),
            };
            line(&mut out, &mut crc, &saved)?;
        }
        let checksum = checksum(&crc);
        line(&mut out, &mut crc, &Trailer { checksum })?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.finish()?.flush()?;
        Ok(())
    }

    /// Reads a session and replays its actions.
    ///
    /// # Errors
    /// When the file is not a session, was saved by another version, is damaged, or cannot be read.
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
        let config = match rest.extenders {
            Some(saved) => saved.onto(config),
            None => config,
        };
        let mut objects = Vec::new();
        for _ in 0..rest.objects {
            objects.push(lines.next::<Object>()?);
        }
        let neighbors = rest.neighbors.read(&mut lines)?;
        let mut branches = Vec::new();
        let mut budget = ReplayBudget::of(objects.len());
        for _ in 0..rest.branches {
            let saved: SavedBranch = lines.next()?;
            let within = budget.take(saved.fork, &saved.actions, saved.events);
            within.map_err(|limit| SessionFileError::Line { line: lines.line, problem: limit.into() })?;
            branches.push((lines.line, saved));
        }
        // Nothing is replayed before all of it is known to be as it was saved.
        let found = checksum(&lines.crc);
        let trailer: Trailer = lines.next()?;
        lines.finish().map_err(SessionFileError::Cut)?;
        if trailer.checksum != found {
            return Err(SessionFileError::Checksum);
        }
        let mut session = Self::new(Scheduler::new(config, objects, rest.options), rest.source)
            .with(Background { neighbors: Arc::new(neighbors), ..rest.background });
        session.set_breakpoints(rest.breakpoints);
        for (number, (line, saved)) in branches.into_iter().enumerate() {
            session.replay(number, line, saved)?;
        }
        if rest.branches == 0 || !session.switch(rest.current) {
            return Err(bad_head(LineProblem::CurrentBranch));
        }
        Ok(session)
    }

    /// Replays the actions of a branch, which must make as many events as when they were saved.
    fn replay(&mut self, number: usize, line: usize, saved: SavedBranch) -> Result<(), SessionFileError> {
        let wrong = |problem| SessionFileError::Line { line, problem };
        if !self.begin(number, &saved.name, saved.fork) {
            return Err(wrong(LineProblem::Fork));
        }
        let differs = |found| SessionFileError::Differs { branch: saved.name.clone(), saved: saved.events, found };
        for action in saved.actions {
            if !self.redo(action) {
                return Err(wrong(LineProblem::Action));
            }
            let found = self.timeline().progress().1;
            if found > saved.events {
                return Err(differs(found));
            }
        }
        let found = self.timeline().progress().1;
        if found != saved.events {
            return Err(differs(found));
        }
        self.timeline_mut().seek(saved.cursor);
        Ok(())
    }
}

fn line(out: &mut impl Write, crc: &mut Crc, value: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_vec(value)?;
    add_value(crc, &serde_json::from_slice(&text)?);
    out.write_all(&text)?;
    out.write_all(b"\n")
}

fn checksum(crc: &Crc) -> String {
    format!("{:08x}", crc.sum())
}
