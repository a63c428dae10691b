//! Errors of selectors, in the words of cel-go, of Kubernetes' libraries for it, and of the Go libraries below them.

use super::source::Issues;
use super::types::Type;
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
    Issues(Issues),
    #[error("must evaluate to bool or the unknown type, not {0}")]
    NotBool(Type),
    /// A constant part of the selector that fails already when the program is made.
    #[error("program instantiation failed: {0}")]
    Program(EvalError),
}

/// Why an evaluation has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum EvalError {
    #[error("operation cancelled: actual cost limit exceeded")]
    CostLimit,
    /// A value that has the operation, though not for this operand.
    #[error("no such overload")]
    NoSuchOverload,
    /// A value that has no such operation at all.
    #[error("no such overload: {0}")]
    NoSuchOperation(Str),
    /// A function that is not defined for arguments of these types.
    #[error("no such overload: {function}({})", types.join(", "))]
    NoSuchFunction { function: Str, types: Vec<&'static str> },
    /// `flatten` of something else than a list.
    #[error("no such overload: {0}")]
    NotFlat(String),
    #[error("no such key: {0}")]
    NoSuchKey(String),
    /// An index that is no constant and of a type, as Go names it, that nothing is indexed by.
    #[error("invalid qualifier type: {0}")]
    Qualifier(&'static str),
    /// A comprehension over a value of this type, as Go names it.
    #[error("got '{0}', expected iterable type")]
    NotIterable(&'static str),
    /// The same, with two variables.
    #[error("unsupported comprehension range type: {0}")]
    NotFoldable(&'static str),
    /// A list with an index of this type.
    #[error("unsupported index type '{0}' in list")]
    IndexType(String),
    #[error("unsupported index value {0} in list")]
    IndexValue(String),
    /// A list with an index that it does not have.
    #[error("index out of bounds: {0}")]
    IndexOutOfBounds(String),
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
    #[error("timestamp overflow")]
    TimestampOverflow,
    #[error("NaN values cannot be ordered")]
    NanOrder,
    #[error("type conversion error from '{from}' to '{to}'")]
    Conversion { from: String, to: &'static str },
    #[error("invalid UTF-8 in bytes, cannot convert to string")]
    Utf8,
    #[error("optional.none() dereference")]
    NoneDereference,
    #[error("cannot initialize optional list element from non-optional value {0}")]
    OptionalElement(String),
    #[error("cannot initialize optional entry '{key}' from non-optional value {value}")]
    OptionalEntry { key: String, value: String },
    #[error("value {0} is not optional")]
    NotOptional(String),
    #[error("insert failed: key {0} already exists")]
    RepeatedKey(String),
    /// A value of a Go type that cannot be looked up in constants; kube-scheduler recovers from a panic here.
    #[error("internal error: runtime error: hash of unhashable type {0}")]
    Unhashable(&'static str),
    /// A Kubernetes value that cel-go takes apart and cannot put together again.
    #[error("unsupported conversion to ref.Val: ({go}){value}")]
    Unconvertible { go: &'static str, value: String },
    #[error(transparent)]
    Quantity(#[from] QuantityError),
    #[error("cannot convert value to integer")]
    NotWhole,
    #[error(transparent)]
    Semver(#[from] SemverError),
    /// A pattern that `matches` cannot use.
    #[error("error parsing regexp: {0}")]
    Regex(RegexError),
    /// A pattern that is computed and that `find` or `findAll` cannot use.
    #[error("Illegal regex: error parsing regexp: {0}")]
    IllegalRegex(RegexError),
    #[error(transparent)]
    Address(#[from] AddressError),
    #[error("URL parse error during conversion from string: {0}")]
    Url(String),
    /// A time zone that is not known, or not readable.
    #[error("{0}")]
    TimeZone(String),
    /// `min` or `max` of nothing.
    #[error("{0} called on empty list")]
    EmptyList(Str),
    /// `join` of something other than a string.
    #[error("join: invalid input: {0}")]
    JoinInput(String),
    #[error("cannot slice({start}, {end}), {why}")]
    Slice { start: i64, end: i64, why: String },
    #[error("level must be non-negative")]
    FlattenLevel,
    #[error("list elements must be comparable")]
    Incomparable,
    #[error("list elements must have the same type")]
    MixedElements,
    /// A format that cannot be applied.
    #[error("{0}")]
    Format(String),
    #[error("'includes' function cannot be applied to lists longer than 48 values")]
    IncludesTooLong,
    #[error("reference to undefined type: {0}")]
    UndefinedType(Str),
    #[error("unknown type '{0}'")]
    UnknownMessage(Str),
    #[error("unknown type: {0}")]
    UnresolvedMessage(Str),
    #[error("field type conversion error for {message}.{field} value type: {error}")]
    Field { message: Str, field: Str, error: Box<EvalError> },
    /// A result that is no decision, of this type.
    #[error("CEL result of type {ty} could not be converted to bool: {why}")]
    Result { ty: &'static str, why: String },
    /// An attribute that keeps any selector from being evaluated on its device.
    #[error("attribute {name}: {error}")]
    Attribute { name: Str, error: AttributeError },
}

/// Why a text is no quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum QuantityError {
    #[error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")]
    Format,
    #[error("unable to parse quantity's suffix")]
    Suffix,
    #[error("unable to parse numeric part of quantity")]
    Number,
}

/// Why a text is no pattern, after the words that Go's `regexp` begins with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct RegexError(pub(super) String);

/// Why a text is no address or prefix, in the words of Kubernetes' libraries and Go's `net/netip`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct AddressError(pub(super) String);

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
