//! Values of expressions and their comparison; mirrors cel-go's `common/types`.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use super::address::Cidr;
use super::ast::Literal;
use super::budget;
use super::error::EvalError;
use super::named_format::NamedFormat;
use super::number::{compare_int, compare_uint, show};
use super::quantity::Quantity;
use super::semver::Semver;
use super::time::Timestamp;
use super::types::Type;
use super::url::Url;
use crate::cluster::Str;

#[derive(Clone, Debug)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Str),
    Bytes(Arc<[u8]>),
    /// In nanoseconds.
    Duration(i64),
    Timestamp(Timestamp),
    List(Arc<Vec<Value>>),
    Map(Arc<Map>),
    Type(Type),
    Optional(Option<Arc<Value>>),
    Quantity(Quantity),
    Semver(Arc<Semver>),
    Ip(IpAddr),
    Cidr(Cidr),
    Url(Arc<Url>),
    Format(&'static NamedFormat),
    /// A message without fields.
    Message(&'static str),
    /// The content of an optional that cel-go could not convert back.
    Failed(Arc<EvalError>),
}

/// A map with its entries by key.
#[derive(Clone, Debug, Default)]
pub(super) struct Map {
    pub(super) entries: BTreeMap<Key, Value>,
    /// Whether looking up a missing key gives an empty map, as for the domains of a device's attributes and capacity.
    pub(super) domains: bool,
    /// Whether it is part of the device. Other maps hash the keys that are looked up in them.
    pub(super) native: bool,
}

/// A key of a map. Keys of different types are different.
#[derive(Clone, Debug)]
pub(super) struct Key(pub(super) Value);

impl Key {
    fn rank(&self) -> u8 {
        match self.0 {
            Value::Bool(_) => 0,
            Value::Int(_) => 1,
            Value::Uint(_) => 2,
            Value::Double(_) => 3,
            Value::String(_) => 4,
            Value::Null => 5,
            Value::Duration(_) => 6,
            Value::Timestamp(_) => 7,
            Value::Type(_) => 8,
            Value::List(_) => 9,
            Value::Map(_) => 10,
            _ => 11,
        }
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::Int(a), Value::Int(b)) | (Value::Duration(a), Value::Duration(b)) => a.cmp(b),
            (Value::Uint(a), Value::Uint(b)) => a.cmp(b),
            (Value::Double(a), Value::Double(b)) => a.partial_cmp(b).unwrap_or_else(|| a.total_cmp(b)),
            (Value::String(a), Value::String(b)) => a.as_str().cmp(b.as_str()),
            (Value::Timestamp(a), Value::Timestamp(b)) => a.cmp(b),
            (Value::Type(a), Value::Type(b)) => a.name().cmp(b.name()),
            // Lists and maps are equal only by identity.
            (Value::List(a), Value::List(b)) => Arc::as_ptr(a).cmp(&Arc::as_ptr(b)),
            (Value::Map(a), Value::Map(b)) => Arc::as_ptr(a).cmp(&Arc::as_ptr(b)),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Key {}

impl Map {
    /// Returns the value of a key; equal numbers of different types name the same entry.
    pub(super) fn find(&self, key: &Value) -> Option<Value> {
        let direct = |key: Value| self.entries.get(&Key(key)).cloned();
        let found = direct(key.clone()).or_else(|| match key {
            Value::Double(d) if d.fract() == 0.0 => {
                let int = (*d >= i64::MIN as f64 && *d < i64::MAX as f64).then(|| direct(Value::Int(*d as i64))).flatten();
                int.or_else(|| (*d >= 0.0 && *d < u64::MAX as f64).then(|| direct(Value::Uint(*d as u64))).flatten())
            }
            Value::Int(i) => u64::try_from(*i).ok().and_then(|u| direct(Value::Uint(u))),
            Value::Uint(u) => i64::try_from(*u).ok().and_then(|i| direct(Value::Int(i))),
            _ => None,
        });
        found.or_else(|| self.domains.then(|| Value::Map(Arc::default())))
    }

    fn equals(&self, other: &Self) -> bool {
        self.entries.len() == other.entries.len()
            && self
                .entries
                .iter()
                .all(|(key, value)| budget::spend(4) && other.find(&key.0).is_some_and(|found| value.equals(&found) != Ok(false)))
    }
}

impl Value {
    pub(super) fn string(text: impl Into<Str>) -> Self {
        Self::String(text.into())
    }

    pub(super) fn list(items: Vec<Value>) -> Self {
        Self::List(Arc::new(items))
    }

    pub(super) fn strings<S: Into<Str>>(items: impl IntoIterator<Item = S>) -> Self {
        Self::list(items.into_iter().map(Self::string).collect())
    }

    pub(super) fn some(value: Value) -> Self {
        Self::Optional(Some(Arc::new(value)))
    }

    pub(super) const NONE: Self = Self::Optional(None);

    /// Returns the name of the value's run-time type.
    pub(super) fn type_name(&self) -> &'static str {
        self.ty().name()
    }

    /// Returns the value's run-time type.
    pub(super) fn ty(&self) -> Type {
        match self {
            Self::Null => Type::Null,
            Self::Bool(_) => Type::Bool,
            Self::Int(_) => Type::Int,
            Self::Uint(_) => Type::Uint,
            Self::Double(_) => Type::Double,
            Self::String(_) => Type::String,
            Self::Bytes(_) => Type::Bytes,
            Self::Duration(_) => Type::Duration,
            Self::Timestamp(_) => Type::Timestamp,
            Self::List(_) => Type::list(Type::Dyn),
            Self::Map(_) => Type::map(Type::Dyn, Type::Dyn),
            Self::Type(_) => Type::Type(None),
            Self::Optional(_) => super::decls::OPTIONAL,
            Self::Quantity(_) => super::decls::QUANTITY,
            Self::Semver(_) => super::decls::SEMVER,
            Self::Ip(_) => super::decls::IP,
            Self::Cidr(_) => super::decls::CIDR,
            Self::Url(_) => super::decls::URL,
            Self::Format(_) => super::decls::FORMAT,
            Self::Message(name) => Type::Object(name),
            Self::Failed(_) => Type::Error,
        }
    }

    /// Returns the name of the Go type that holds the value.
    pub(super) fn go_type(&self) -> &'static str {
        match self {
            Self::Null => "types.Null",
            Self::Bool(_) => "types.Bool",
            Self::Int(_) => "types.Int",
            Self::Uint(_) => "types.Uint",
            Self::Double(_) => "types.Double",
            Self::String(_) => "types.String",
            Self::Bytes(_) => "types.Bytes",
            Self::Duration(_) => "types.Duration",
            Self::Timestamp(_) => "types.Timestamp",
            Self::List(_) => "*types.baseList",
            Self::Map(map) if map.domains => "cel.mapper",
            Self::Map(_) => "*types.baseMap",
            Self::Type(_) => "*types.Type",
            Self::Optional(_) => "*types.Optional",
            Self::Quantity(q) if q.computed => "*cel.Quantity",
            Self::Quantity(_) => "cel.Quantity",
            Self::Semver(_) => "cel.Semver",
            Self::Ip(_) => "cel.IP",
            Self::Cidr(_) => "cel.CIDR",
            Self::Url(_) => "cel.URL",
            Self::Format(_) => "cel.Format",
            Self::Message(_) => "*types.protoObj",
            Self::Failed(_) => "*types.Err",
        }
    }

    /// Whether the value matches a parameter of an overload, by the checks made at call time.
    pub(super) fn fits(&self, ty: &Type) -> bool {
        match (ty, self) {
            (Type::Dyn | Type::Any | Type::Param(_), _) => true,
            (Type::List(of), Self::List(items)) => items.first().is_none_or(|item| item.fits(of)),
            (Type::Map(of), Self::Map(map)) => map.entries.first_key_value().is_none_or(|(k, v)| k.0.fits(&of.0) && v.fits(&of.1)),
            _ => ty.name() == self.type_name(),
        }
    }

    /// Compares two values with `==`; null equals only null.
    pub(super) fn equals(&self, other: &Self) -> Result<bool, EvalError> {
        match (self, other) {
            (Self::Null, Self::Null) => Ok(true),
            (Self::Null, _) | (_, Self::Null) => Ok(false),
            _ => self.same(other),
        }
    }

    /// Compares by the left value's rules: a value of another type is unequal, or an error for Kubernetes' own types.
    pub(super) fn same(&self, other: &Self) -> Result<bool, EvalError> {
        Ok(match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::String(a), Self::String(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::Duration(a), Self::Duration(b)) => a == b,
            (Self::Timestamp(a), Self::Timestamp(b)) => a == b,
            (Self::Type(a), Self::Type(b)) => a.name() == b.name(),
            (Self::Optional(None), Self::Optional(None)) => true,
            (Self::Optional(Some(a)), Self::Optional(Some(b))) => return a.same(b),
            (Self::Quantity(a), Self::Quantity(b)) if !b.computed => a.cmp(*b) == Ordering::Equal,
            (Self::Semver(a), Self::Semver(b)) => a == b,
            (Self::Ip(a), Self::Ip(b)) => a == b,
            (Self::Cidr(a), Self::Cidr(b)) => a == b,
            (Self::Url(a), Self::Url(b)) => a.to_string() == b.to_string(),
            (Self::Format(a), Self::Format(b)) => a.name == b.name,
            (Self::Message(a), Self::Message(b)) => a == b,
            (Self::Failed(error), _) => return Err((**error).clone()),
            (Self::Quantity(_) | Self::Semver(_) | Self::Ip(_) | Self::Cidr(_) | Self::Url(_) | Self::Format(_), _) => {
                return Err(EvalError::NoSuchOverload);
            }
            // Elements that cannot be compared do not make lists and maps unequal.
            (Self::List(a), Self::List(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| budget::spend(1) && a.equals(b) != Ok(false))
            }
            (Self::Map(a), Self::Map(b)) => a.equals(b),
            _ => self.compare_numbers(other).is_some_and(|order| order == Ok(Ordering::Equal)),
        })
    }

    /// Whether Go cannot hash the value, and panics.
    pub(super) fn is_unhashable(&self) -> bool {
        matches!(self, Self::Bytes(_) | Self::Semver(_) | Self::Format(_))
    }

    /// Whether a list contains the value.
    pub(super) fn is_in(&self, items: &[Value]) -> bool {
        items.iter().any(|item| budget::spend(1) && self.same(item) == Ok(true))
    }

    /// Compares with `<` and similar; `None` if the value has no order.
    pub(super) fn compare(&self, other: &Self) -> Option<Result<Ordering, EvalError>> {
        Some(match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => Ok(a.cmp(b)),
            (Self::String(a), Self::String(b)) => Ok(a.as_bytes().cmp(b.as_bytes())),
            (Self::Bytes(a), Self::Bytes(b)) => Ok(a.cmp(b)),
            (Self::Duration(a), Self::Duration(b)) => Ok(a.cmp(b)),
            (Self::Timestamp(a), Self::Timestamp(b)) => Ok(a.cmp(b)),
            (Self::Int(_) | Self::Uint(_) | Self::Double(_), _) => match self.compare_numbers(other) {
                Some(order) => order,
                None => Err(EvalError::NoSuchOverload),
            },
            (Self::Bool(_) | Self::String(_) | Self::Bytes(_) | Self::Duration(_) | Self::Timestamp(_), _) => {
                Err(EvalError::NoSuchOverload)
            }
            _ => return None,
        })
    }

    /// Compares two numbers; an error if one is NaN, `None` if one is not a number.
    fn compare_numbers(&self, other: &Self) -> Option<Result<Ordering, EvalError>> {
        let nan = |value: &Self| matches!(value, Self::Double(d) if d.is_nan());
        if nan(self) {
            return Some(Err(EvalError::NanOrder));
        }
        let order = match (self, other) {
            (Self::Int(_) | Self::Uint(_) | Self::Double(_), _) if nan(other) => return Some(Err(EvalError::NanOrder)),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Uint(a), Self::Uint(b)) => a.cmp(b),
            (Self::Double(a), Self::Double(b)) => a.partial_cmp(b)?,
            (Self::Int(a), Self::Uint(b)) => i128::from(*a).cmp(&i128::from(*b)),
            (Self::Uint(a), Self::Int(b)) => i128::from(*a).cmp(&i128::from(*b)),
            (Self::Double(a), Self::Int(b)) => compare_int(*a, *b),
            (Self::Int(a), Self::Double(b)) => compare_int(*b, *a).reverse(),
            (Self::Double(a), Self::Uint(b)) => compare_uint(*a, *b),
            (Self::Uint(a), Self::Double(b)) => compare_uint(*b, *a).reverse(),
            _ => return None,
        };
        Some(Ok(order))
    }

    /// Returns the bytes of a text; 0 for other values.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::String(s) => s.len(),
            Self::Bytes(b) => b.len(),
            _ => 0,
        }
    }

    /// Returns the size that costs are based on.
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::String(s) => s.chars().count() as u64,
            Self::Bytes(b) => b.len() as u64,
            Self::List(items) => items.len() as u64,
            Self::Map(map) => map.entries.len() as u64,
            Self::Ip(ip) => {
                if ip.is_ipv4() {
                    4
                } else {
                    16
                }
            }
            Self::Cidr(cidr) => u64::from(cidr.bits).div_ceil(8),
            _ => 1,
        }
    }

    /// Whether `optional.ofNonZeroValue` treats the value as absent.
    pub(super) fn is_zero(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Bool(b) => !b,
            Self::Int(i) | Self::Duration(i) => *i == 0,
            Self::Uint(u) => *u == 0,
            Self::Double(d) => *d == 0.0,
            Self::String(s) => s.is_empty(),
            Self::Bytes(b) => b.is_empty(),
            Self::List(items) => items.is_empty(),
            Self::Map(map) => map.entries.is_empty(),
            Self::Timestamp(t) => t.seconds == -62_135_596_800 && t.nanos == 0,
            Self::Message(_) => true,
            _ => false,
        }
    }

    /// Returns the value of an optional after cel-go's conversion to a native Go value and back.
    pub(super) fn round_trip(&self) -> Self {
        let failed = |go, value: String| Self::Failed(Arc::new(EvalError::Unconvertible { go, value }));
        match self {
            Self::Map(map) if map.domains => Self::Map(Arc::new(Map { entries: map.entries.clone(), domains: false, native: map.native })),
            Self::Type(ty) => Self::string(ty.name()),
            Self::Optional(Some(inner)) => inner.round_trip(),
            Self::Optional(None) => Self::Null,
            Self::Quantity(_) => failed("*resource.Quantity", self.show()),
            Self::Semver(_) => failed("semver.Version", self.show()),
            Self::Ip(_) => failed("netip.Addr", self.show()),
            Self::Cidr(_) => failed("netip.Prefix", self.show()),
            Self::Url(_) => failed("*url.URL", self.show()),
            other => other.clone(),
        }
    }

    /// Formats the value as Go does in errors.
    pub(super) fn show(&self) -> String {
        if !budget::spend(1) {
            return "...".to_owned();
        }
        match self {
            Self::Null => "0".to_owned(),
            Self::Bool(b) => b.to_string(),
            Self::Int(i) => i.to_string(),
            Self::Uint(u) => u.to_string(),
            Self::Double(d) => show(*d, 21),
            Self::String(s) => s.to_string(),
            Self::Bytes(b) => format!("[{}]", b.iter().map(u8::to_string).collect::<Vec<_>>().join(" ")),
            Self::Duration(d) => super::time::show_duration(*d),
            Self::Timestamp(t) => t.show(),
            Self::List(items) => format!("[{}]", items.iter().map(Self::show).collect::<Vec<_>>().join(", ")),
            Self::Map(map) => {
                let entries = map.entries.iter().map(|(k, v)| format!("{}: {}", k.0.show(), v.show()));
                format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
            }
            Self::Type(ty) => ty.to_string(),
            Self::Optional(Some(value)) => format!("optional({})", value.show()),
            Self::Optional(None) => "optional.none()".to_owned(),
            Self::Semver(v) => v.to_string(),
            Self::Ip(ip) => ip.to_string(),
            Self::Cidr(cidr) => cidr.to_string(),
            Self::Url(url) => url.to_string(),
            Self::Quantity(_) | Self::Format(_) | Self::Message(_) => self.type_name().to_owned(),
            Self::Failed(error) => error.to_string(),
        }
    }
}

impl From<&Literal> for Value {
    fn from(literal: &Literal) -> Self {
        match literal {
            Literal::Null => Self::Null,
            Literal::Bool(b) => Self::Bool(*b),
            Literal::Int(i) => Self::Int(*i),
            Literal::Uint(u) => Self::Uint(*u),
            Literal::Double(d) => Self::Double(*d),
            Literal::String(s) => Self::String(s.clone()),
            Literal::Bytes(b) => Self::Bytes(b.as_slice().into()),
        }
    }
}
