//! Errors of selectors, in cel-go's words.

use super::check::Ty;
use super::parse::Problem;
use crate::cluster::Str;

/// Why a device cannot be tried against a selector.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum CelError {
    #[error("CEL compile error: {0}")]
    Compile(#[from] CompileError),
    #[error("CEL runtime error: {0}")]
    Runtime(#[from] EvalError),
}

/// Why a text is no selector.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum CompileError {
    #[error("compilation failed: {0}")]
    Issue(Issue),
    #[error("must evaluate to bool or the unknown type, not {0}")]
    NotBool(Ty),
    /// A regular expression, of the selector itself, that cannot be compiled.
    #[error("program instantiation failed: error parsing regexp: `{0}`")]
    Regex(Str),
}

/// A problem with its place in the text, as cel-go shows it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("ERROR: <input>:{line}:{column}: {message}\n | {snippet}\n | {}^", ".".repeat(column - 1))]
pub(crate) struct Issue {
    /// Counted from 1.
    line: usize,
    /// In characters, counted from 1.
    column: usize,
    message: String,
    /// The whole line.
    snippet: String,
}

impl Issue {
    /// Finds the problem's place in the text that it is about.
    pub(super) fn of(text: &str, problem: Problem) -> Self {
        let at = problem.at.min(text.len());
        let before = text.get(..at).unwrap_or(text);
        let line = before.matches('\n').count();
        let column = before.rsplit('\n').next().unwrap_or("").chars().count();
        let snippet = text.split('\n').nth(line).unwrap_or("").replace('\t', " ");
        Self { line: line + 1, column: column + 1, message: problem.message, snippet }
    }
}

/// Why an evaluation has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum EvalError {
    #[error("operation cancelled: actual cost limit exceeded")]
    CostLimit,
    /// An operator that is not defined for its operands.
    #[error("no such overload")]
    NoSuchOverload,
    /// The operator `in` for something that holds nothing.
    #[error("no such overload: @in")]
    NotAContainer,
    /// A function that is not defined for arguments of these types.
    #[error("no such overload: {function}({})", types.join(", "))]
    NoSuchFunction { function: Str, types: Vec<&'static str> },
    #[error("no such attribute(s): {0}")]
    NoSuchAttribute(Str),
    #[error("no such key: {0}")]
    NoSuchKey(String),
    #[error("Failed with repeated key: {0}")]
    RepeatedKey(String),
    /// A comprehension over a value of this type.
    #[error("got '{0}', expected iterable type")]
    NotIterable(&'static str),
    /// A list with an index of this type.
    #[error("unsupported index type '{0}' in list")]
    IndexType(&'static str),
    /// A list with an index that it does not have.
    #[error("index out of bounds: {0}")]
    IndexOutOfBounds(i64),
    /// A string with an index that it does not have.
    #[error("index out of range: {0}")]
    IndexOutOfRange(i64),
    #[error("invalid substring range. start: {from}, end: {to}")]
    SubstringRange { from: i64, to: i64 },
    #[error("division by zero")]
    DivisionByZero,
    #[error("modulus by zero")]
    ModulusByZero,
    #[error("integer overflow")]
    IntegerOverflow,
    #[error("unsigned integer overflow")]
    UnsignedOverflow,
    #[error("NaN values cannot be ordered")]
    NanOrder,
    #[error("type conversion error from '{from}' to '{to}'")]
    Conversion { from: &'static str, to: &'static str },
    #[error("invalid UTF-8 in bytes, cannot convert to string")]
    Utf8,
    #[error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")]
    Quantity,
    #[error("cannot convert value to integer")]
    NotWhole,
    #[error(transparent)]
    Semver(#[from] SemverError),
    #[error("error parsing regexp: `{0}`")]
    Regex(Str),
    /// `min` or `max` of nothing.
    #[error("{0} called on empty list")]
    EmptyList(Str),
    /// `join` of something other than a string.
    #[error("join: invalid input: {0}")]
    JoinInput(String),
    /// A result that is no decision, of this type.
    #[error("CEL result of type {0} could not be converted to bool: unsupported type conversion from '{0}' to bool")]
    Result(&'static str),
    /// An attribute that keeps any selector from being evaluated on its device.
    #[error("attribute {name}: {error}")]
    Attribute { name: Str, error: AttributeError },
}

/// Why an attribute of a device has no value.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum AttributeError {
    #[error("parse semantic version: {0}")]
    Version(#[from] SemverError),
    #[error("unsupported attribute value")]
    Unsupported,
}

/// Why a text is no semantic version, in the words of `github.com/blang/semver/v4`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum SemverError {
    #[error("Version string empty")]
    Empty,
    #[error("No Major.Minor.Patch elements found")]
    TooFewParts,
    /// A short version, with the text after it that only a whole one may have.
    #[error("short version cannot contain PreRelease/Build meta data")]
    ShortWithMeta,
    #[error("Prerelease is empty")]
    PrereleaseEmpty,
    #[error("Invalid character(s) found in prerelease {0:?}")]
    PrereleaseCharacters(String),
    #[error("Numeric PreRelease version must not contain leading zeroes {0:?}")]
    PrereleaseLeadingZeroes(String),
    #[error("Build meta data is empty")]
    BuildEmpty,
    #[error("Invalid character(s) found in build meta data {0:?}")]
    BuildCharacters(String),
    #[error("Invalid character(s) found in {part} number {text:?}")]
    NumberCharacters { part: VersionPart, text: String },
    #[error("{} number must not contain leading zeroes {text:?}", part.title())]
    NumberLeadingZeroes { part: VersionPart, text: String },
    #[error("strconv.ParseUint: parsing {0:?}: invalid syntax")]
    NumberSyntax(String),
    #[error("strconv.ParseUint: parsing {0:?}: value out of range")]
    OutOfRange(String),
}

/// One of the three numbers of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum VersionPart {
    Major,
    Minor,
    Patch,
}

impl VersionPart {
    fn title(self) -> &'static str {
        match self {
            Self::Major => "Major",
            Self::Minor => "Minor",
            Self::Patch => "Patch",
        }
    }
}
