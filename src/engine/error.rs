//! Why a call failed.

use std::fmt;

use super::lines::{line_of, syntax_error_line};
use crate::cluster::{Key, Kind};
use crate::framework::FieldErrors;
use crate::limits::engine::CONFIG_LINES;
use crate::output::escape;
use crate::source::Diagnostic;

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::Display)]
#[strum(serialize_all = "camelCase")]
#[non_exhaustive]
pub enum ErrorKind {
    /// An object cannot be read.
    Object,
    /// kube-scheduler would not start with the configuration.
    Config,
    /// The release is no version, or its release does not know a feature gate.
    Release,
    /// The feature gates are refused.
    FeatureGates,
    /// The time is not RFC 3339.
    Time,
    /// The kind is none that a scheduler reads.
    UnknownKind,
    /// The name of an out-of-tree plugin is not usable.
    Plugin,
    /// The cluster has no such pod.
    NoSuchPod,
    /// The pod is bound, or has ended.
    NotPending,
    /// Nodes could not be read, so that no decision is possible.
    NodesUnknown,
    /// The what-if is none, or does not apply.
    WhatIf,
    /// The operation is none, or does not apply.
    Operation,
    /// The object is no pod and no workload.
    Workload,
    /// An API server would refuse the object.
    Refused,
    /// An answer cannot be written.
    Answer,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) input: Option<String>,
    pub(super) line: Option<u32>,
    pub(super) object: Option<String>,
    pub(super) message: String,
}

/// An error of the engine: its kind, and where it is.
///
/// ```
/// use schedscope::engine::{Engine, ErrorKind};
///
/// let error = Engine::builder().objects(r#"{"kind": "Pod", "metadata": {"name": "a"}, "spec": {"priority": "high"}}"#).build().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Object);
/// assert_eq!(error.input(), Some("objects 1"));
/// assert_eq!(error.object(), Some("Pod a"));
/// assert_eq!(error.line(), Some(1));
/// assert!(error.to_string().starts_with("objects 1:1: Pod a: "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    /// At least one.
    problems: Vec<Problem>,
}

impl Error {
    pub(super) fn new(kind: ErrorKind, message: impl fmt::Display) -> Self {
        Self { kind, problems: vec![Problem { input: None, line: None, object: None, message: message.to_string() }] }
    }

    pub(super) fn in_input(self, input: &str) -> Self {
        let problems = self.problems.into_iter().map(|problem| Problem { input: Some(input.to_owned()), ..problem });
        Self { problems: problems.collect(), ..self }
    }

    pub(super) fn about(self, object: impl fmt::Display) -> Self {
        let object = object.to_string();
        let problems = self.problems.into_iter().map(|problem| Problem { object: Some(object.clone()), ..problem });
        Self { problems: problems.collect(), ..self }
    }

    pub(super) fn about_pod(kind: ErrorKind, pod: &Key, message: impl fmt::Display) -> Self {
        Self::new(kind, message).about(format_args!("{} {pod}", Kind::Pod))
    }

    /// Returns the error of objects; `None` if there is no problem.
    pub(super) fn of_objects<'a>(diagnostics: impl IntoIterator<Item = &'a Diagnostic>) -> Option<Self> {
        let of = |found: &Diagnostic| Problem {
            input: (!found.file.is_empty()).then(|| found.file.clone()),
            line: found.line,
            object: found.object.clone(),
            message: found.message.clone(),
        };
        let problems: Vec<Problem> = diagnostics.into_iter().map(of).collect();
        (!problems.is_empty()).then_some(Self { kind: ErrorKind::Object, problems })
    }

    /// Returns the error of a configuration.
    pub(super) fn of_config(errors: &FieldErrors, text: &str) -> Self {
        let broken = syntax_error_line(text);
        let of = |line, message| Problem { input: Some("config".to_owned()), line, object: None, message };
        let line = |at: usize, path: &str| broken.or_else(|| (at < CONFIG_LINES).then(|| line_of(text, path)).flatten());
        let found = errors.distinct().enumerate();
        let mut problems: Vec<Problem> = found.map(|(at, error)| of(line(at, &error.path), error.to_string())).collect();
        if problems.is_empty() {
            problems.push(of(broken, "the configuration is refused".to_owned()));
        }
        Self { kind: ErrorKind::Config, problems }
    }

    /// Returns the kind.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the input with the first problem: `config`, `objects 2` for the second call of `objects`, or its name.
    pub fn input(&self) -> Option<&str> {
        self.problems[0].input.as_deref()
    }

    /// Returns the object with the first problem, such as `Pod shop/web`, or its place in a list, such as `items[12]`.
    pub fn object(&self) -> Option<&str> {
        self.problems[0].object.as_deref()
    }

    /// Returns the line of the first problem in its input, from 1.
    pub fn line(&self) -> Option<u32> {
        self.problems[0].line
    }

    /// Returns the first problem without its place. It may quote the input, unescaped.
    pub fn message(&self) -> &str {
        &self.problems[0].message
    }

    /// Returns all problems, a line each, as [`Display`](fmt::Display) writes the first.
    pub fn lines(&self) -> impl Iterator<Item = String> + '_ {
        self.problems.iter().map(ToString::to_string)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        if let Some(input) = &self.input {
            text.push_str(input);
            if let Some(line) = self.line {
                text.push_str(&format!(":{line}"));
            }
            text.push_str(": ");
        }
        if let Some(object) = &self.object {
            text.push_str(object);
            text.push_str(": ");
        }
        text.push_str(&self.message);
        f.write_str(&escape(&text))
    }
}

/// Writes `input:line: object: message`, escaped, and how many more problems there are.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.problems[0])?;
        match self.problems.len() - 1 {
            0 => Ok(()),
            more => write!(f, " (and {more} more)"),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_errors_in_a_configuration_are_found_up_to_a_limit() {
        let (mut errors, count) = (FieldErrors::default(), CONFIG_LINES + 5);
        let text: String = (0..count).map(|at| format!("f{at}: x\n")).collect();
        (0..count).for_each(|at| errors.add(format!("f{at}"), "is wrong"));
        let error = Error::of_config(&errors, &text);
        let lines: Vec<Option<u32>> = error.problems.iter().map(|problem| problem.line).collect();
        assert_eq!(
            (lines.len(), lines[0], lines[CONFIG_LINES - 1], lines[CONFIG_LINES]),
            (count, Some(1), Some(CONFIG_LINES as u32), None)
        );
        assert_eq!(error.lines().nth(1).as_deref(), Some("config:2: f1: is wrong"));
    }
}
