//! Errors of selectors, in the words of cel-go, of Kubernetes' CEL libraries, and of the Go libraries they use.

use super::source::Issues;
use super::types::Type;
use crate::cluster::Str;

/// Why a selector cannot be evaluated on a device.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum CelError {
    #[error("CEL compile error: {0}")]
    Compile(#[from] CompileError),
    #[error("CEL runtime error: {0}")]
    Runtime(#[from] EvalError),
}

/// Why a text is not a selector.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum CompileError {
    #[error("compilation failed: {0}")]
    Issues(Issues),
    #[error("must evaluate to bool or the unknown type, not {0}")]
    NotBool(Type),
    /// A constant part of the selector fails when the program is made.
    #[error("program instantiation failed: {0}")]
    Program(EvalError),
}

/// Why an evaluation has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum EvalError {
    #[error("operation cancelled: actual cost limit exceeded")]
    CostLimit,
    /// The value has the operation, but not for this operand.
    #[error("no such overload")]
    NoSuchOverload,
    /// The value does not have the operation.
    #[error("no such overload: {0}")]
    NoSuchOperation(Str),
    /// The function is not defined for arguments of these types.
    #[error("no such overload: {function}({})", types.join(", "))]
    NoSuchFunction { function: Str, types: Vec<&'static str> },
    /// `flatten` of a value that is not a list.
    #[error("no such overload: {0}")]
    NotFlat(String),
    #[error("no such key: {0}")]
    NoSuchKey(String),
    /// A computed index of a type, as Go names it, that cannot be an index.
    #[error("invalid qualifier type: {0}")]
    Qualifier(&'static str),
    /// A comprehension over a value of this type, as Go names it.
    #[error("got '{0}', expected iterable type")]
    NotIterable(&'static str),
    /// The same with two variables.
    #[error("unsupported comprehension range type: {0}")]
    NotFoldable(&'static str),
    /// A list with an index of this type.
    #[error("unsupported index type '{0}' in list")]
    IndexType(String),
    #[error("unsupported index value {0} in list")]
    IndexValue(String),
    /// An index outside the list.
    #[error("index out of bounds: {0}")]
    IndexOutOfBounds(String),
    /// An index outside the string.
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
    /// A value of a Go type that cannot be looked up in constants. kube-scheduler recovers from a panic here.
    #[error("internal error: runtime error: hash of unhashable type {0}")]
    Unhashable(&'static str),
    /// The same for an optional entry that is absent.
    #[error("internal error: hash of unhashable type: {0}")]
    UnhashableEntry(&'static str),
    /// A value whose cost cannot be determined, since it is not a list.
    #[error("internal error: interface conversion: {go} is not traits.Lister: missing method {missing}")]
    NotLister { go: &'static str, missing: &'static str },
    /// The same for a depth that is not a number.
    #[error("internal error: interface conversion: ref.Val is {0}, not types.Int")]
    NotInt(&'static str),
    /// A Kubernetes value that cel-go cannot convert to a native value and back.
    #[error("unsupported conversion to ref.Val: ({go}){value}")]
    Unconvertible { go: &'static str, value: String },
    #[error(transparent)]
    Quantity(#[from] QuantityError),
    #[error("cannot convert value to integer")]
    NotWhole,
    #[error(transparent)]
    Semver(#[from] SemverError),
    /// A pattern that `matches` does not accept.
    #[error("error parsing regexp: {0}")]
    Regex(RegexError),
    /// A computed pattern that `find` or `findAll` does not accept.
    #[error("Illegal regex: error parsing regexp: {0}")]
    IllegalRegex(RegexError),
    #[error(transparent)]
    Address(#[from] AddressError),
    #[error("URL parse error during conversion from string: {0}")]
    Url(String),
    /// An unknown or malformed time zone.
    #[error("{0}")]
    TimeZone(String),
    /// `min` or `max` of an empty list.
    #[error("{0} called on empty list")]
    EmptyList(Str),
    /// `join` of a value that is not a string.
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
    /// A result of a type that is not a boolean.
    #[error("CEL result of type {ty} could not be converted to bool: {why}")]
    Result { ty: &'static str, why: String },
    /// An invalid attribute, which fails every selector on its device.
    #[error("attribute {name}: {error}")]
    Attribute { name: Str, error: AttributeError },
}

impl EvalError {
    /// Whether the error ends the evaluation even where operators absorb errors: kube-scheduler recovers from a panic.
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Self::CostLimit | Self::Unhashable(_) | Self::UnhashableEntry(_) | Self::NotLister { .. } | Self::NotInt(_))
    }
}

/// Why a text is not a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum QuantityError {
    #[error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")]
    Format,
    #[error("unable to parse quantity's suffix")]
    Suffix,
    #[error("unable to parse numeric part of quantity")]
    Number,
}

/// Why a text is not a pattern, without the prefix of Go's `regexp`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct RegexError(pub(super) String);

/// Why a text is not an address or prefix, in the words of Kubernetes' libraries and Go's `net/netip`.
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

/// Why a text is not a semantic version, in the words of `github.com/blang/semver/v4`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum SemverError {
    #[error("Version string empty")]
    Empty,
    #[error("No Major.Minor.Patch elements found")]
    TooFewParts,
    /// A short version with a suffix that only a full version may have.
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
