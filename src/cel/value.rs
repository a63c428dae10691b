//! Values that selectors compute with.
//!
//! `device` and its maps are views of the device in the slice; nothing is copied to evaluate a selector. A domain that
//! no attribute or capacity names reads as an empty map, as in
//! `staging/src/k8s.io/dynamic-resource-allocation/cel/compile.go` (`newStringInterfaceMapWithDefault`).

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::cluster::resource::{Device, DeviceAttribute};
use crate::cluster::{Quantity, Str};

use super::error::{AttributeError, EvalError};
use super::parse::Literal;
use super::semver::Semver;

/// The device a selector looks at.
#[derive(Clone, Copy)]
pub(super) struct DeviceView<'a> {
    pub(super) driver: &'a Str,
    pub(super) device: &'a Device,
}

/// Which of the device's two maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Attributes,
    Capacity,
}

/// A value.
#[derive(Clone)]
pub(super) enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Str),
    Bytes(Arc<[u8]>),
    List(Arc<Vec<Value<'a>>>),
    Map(Arc<Vec<(Value<'a>, Value<'a>)>>),
    Quantity(Quantity),
    Semver(Arc<Semver>),
    Type(&'static str),
    /// `device`
    Device(DeviceView<'a>),
    /// `device.attributes` or `device.capacity`
    Domains(DeviceView<'a>, Part),
    /// One domain of those.
    Domain(DeviceView<'a>, Part, Str),
}

impl<'a> Value<'a> {
    pub(super) fn string(text: impl Into<Str>) -> Self {
        Self::String(text.into())
    }

    pub(super) fn list(items: Vec<Self>) -> Self {
        Self::List(Arc::new(items))
    }

    /// The name of the value's type.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::String(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::List(_) => "list",
            Self::Map(_) | Self::Device(_) | Self::Domains(..) | Self::Domain(..) => "map",
            Self::Quantity(_) => "kubernetes.Quantity",
            Self::Semver(_) => "kubernetes.Semver",
            Self::Type(_) => "type",
        }
    }

    /// The entries of a map, by key; `None` for other values.
    pub(super) fn entries(&self) -> Option<Vec<(Value<'a>, Value<'a>)>> {
        let mut keys: Vec<Str> = match self {
            Self::Map(entries) => return Some(entries.to_vec()),
            Self::Device(_) => ["allowMultipleAllocations", "attributes", "capacity", "driver"].map(Str::from).to_vec(),
            Self::Domains(view, part) => view.names(*part).map(|(domain, _)| domain.into()).collect(),
            Self::Domain(view, part, domain) => view.names(*part).filter(|(d, _)| *d == domain.as_str()).map(|(_, id)| id.into()).collect(),
            _ => return None,
        };
        keys.sort();
        keys.dedup();
        let entry = |key: Str| self.find(&Self::String(key.clone())).map(|value| (Self::String(key), value));
        Some(keys.into_iter().filter_map(entry).collect())
    }

    /// Looks a key up in a map; unknown domains are found, and empty.
    pub(super) fn find(&self, key: &Value<'a>) -> Option<Value<'a>> {
        if let Self::Map(entries) = self {
            return entries.iter().find(|(k, _)| k.equals(key) == Ok(true)).map(|(_, v)| v.clone());
        }
        let Self::String(key) = key else { return None };
        match self {
            Self::Device(view) => match key.as_str() {
                "driver" => Some(Self::String(view.driver.clone())),
                "allowMultipleAllocations" => Some(Self::Bool(view.device.allow_multiple_allocations.unwrap_or(false))),
                "attributes" => Some(Self::Domains(*view, Part::Attributes)),
                "capacity" => Some(Self::Domains(*view, Part::Capacity)),
                _ => None,
            },
            Self::Domains(view, part) => Some(Self::Domain(*view, *part, key.clone())),
            Self::Domain(view, part, domain) => view.lookup(*part, domain, key),
            _ => None,
        }
    }

    /// The `in` operator.
    pub(super) fn contains(&self, key: &Value<'a>) -> Result<bool, EvalError> {
        match self {
            Self::List(items) => {
                let mut failure = None;
                for item in items.iter() {
                    match item.equals(key) {
                        Ok(true) => return Ok(true),
                        Ok(false) => {}
                        Err(error) => failure = failure.or(Some(error)),
                    }
                }
                failure.map_or(Ok(false), Err)
            }
            // Looking for a domain asks the device itself, not the view that makes up empty domains.
            Self::Domains(view, part) => Ok(matches!(key, Self::String(k) if view.names(*part).any(|(domain, _)| domain == k.as_str()))),
            Self::Map(_) | Self::Device(_) | Self::Domain(..) => Ok(self.find(key).is_some()),
            _ => Err(EvalError::NotAContainer),
        }
    }

    /// `container[key]` and `container.key`.
    pub(super) fn index(&self, key: &Value<'a>) -> Result<Value<'a>, EvalError> {
        let Self::List(items) = self else {
            return self.find(key).ok_or_else(|| EvalError::NoSuchKey(key.to_string()));
        };
        let at = match key {
            Self::Int(i) => *i,
            Self::Uint(u) => i64::try_from(*u).unwrap_or(-1),
            Self::Double(d) if d.fract() == 0.0 => *d as i64,
            other => return Err(EvalError::IndexType(other.type_name())),
        };
        usize::try_from(at).ok().and_then(|at| items.get(at)).cloned().ok_or(EvalError::IndexOutOfBounds(at))
    }

    /// Equality across types is false, not an error, except for Kubernetes' own types.
    pub(super) fn equals(&self, other: &Value<'a>) -> Result<bool, EvalError> {
        Ok(match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::String(a), Self::String(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::Type(a), Self::Type(b)) => a == b,
            (Self::Quantity(a), Self::Quantity(b)) => a == b,
            (Self::Semver(a), Self::Semver(b)) => a.cmp(b) == Ordering::Equal,
            (Self::Quantity(_) | Self::Semver(_), _) => return Err(EvalError::NoSuchOverload),
            (Self::List(a), Self::List(b)) => {
                if a.len() != b.len() {
                    return Ok(false);
                }
                for (x, y) in a.iter().zip(b.iter()) {
                    if !x.equals(y)? {
                        return Ok(false);
                    }
                }
                true
            }
            _ => match (self.entries(), other.entries()) {
                (Some(a), Some(b)) => {
                    if a.len() != b.len() {
                        return Ok(false);
                    }
                    for (key, value) in a {
                        match other.find(&key) {
                            Some(found) if value.equals(&found)? => {}
                            _ => return Ok(false),
                        }
                    }
                    true
                }
                _ => self.compare_numbers(other) == Some(Ordering::Equal),
            },
        })
    }

    /// `<` and its kin.
    pub(super) fn compare(&self, other: &Value<'a>) -> Result<Ordering, EvalError> {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => Ok(a.cmp(b)),
            (Self::String(a), Self::String(b)) => Ok(a.as_str().cmp(b.as_str())),
            (Self::Bytes(a), Self::Bytes(b)) => Ok(a.cmp(b)),
            (Self::Double(a), Self::Double(b)) if a.is_nan() || b.is_nan() => Err(EvalError::NanOrder),
            _ => self.compare_numbers(other).ok_or(EvalError::NoSuchOverload),
        }
    }

    fn compare_numbers(&self, other: &Value<'a>) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Some(a.cmp(b)),
            (Self::Uint(a), Self::Uint(b)) => Some(a.cmp(b)),
            (Self::Double(a), Self::Double(b)) => a.partial_cmp(b),
            (Self::Int(a), Self::Uint(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
            (Self::Uint(a), Self::Int(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
            (Self::Double(a), Self::Int(b)) => a.partial_cmp(&(*b as f64)),
            (Self::Int(a), Self::Double(b)) => (*a as f64).partial_cmp(b),
            (Self::Double(a), Self::Uint(b)) => a.partial_cmp(&(*b as f64)),
            (Self::Uint(a), Self::Double(b)) => (*a as f64).partial_cmp(b),
            _ => None,
        }
    }
}

impl<'a> DeviceView<'a> {
    /// Domain and identifier of everything in one of the maps; a name without domain belongs to the driver's.
    fn names(self, part: Part) -> impl Iterator<Item = (&'a str, &'a str)> {
        let attributes = self.device.attributes.keys().filter(move |_| part == Part::Attributes);
        let capacity = self.device.capacity.keys().filter(move |_| part == Part::Capacity);
        attributes.chain(capacity).map(move |name| split_name(name, self.driver))
    }

    fn lookup(self, part: Part, domain: &str, id: &str) -> Option<Value<'a>> {
        let named = |name: &str| split_name(name, self.driver) == (domain, id);
        match part {
            Part::Attributes => {
                self.device.attributes.iter().find(|(name, _)| named(name)).and_then(|(_, attribute)| attribute_value(attribute).ok())
            }
            Part::Capacity => self.device.capacity.iter().find(|(name, _)| named(name)).map(|(_, c)| Value::Quantity(c.value)),
        }
    }

    /// What keeps any selector from being evaluated on this device.
    pub(super) fn defect(self) -> Option<EvalError> {
        self.device.attributes.iter().find_map(|(name, attribute)| match attribute.version {
            None if attribute.int.is_some() || attribute.bool.is_some() || attribute.string.is_some() => None,
            _ => attribute_value(attribute).err().map(|error| EvalError::Attribute { name: name.clone(), error }),
        })
    }
}

fn split_name<'n>(name: &'n str, driver: &'n str) -> (&'n str, &'n str) {
    name.split_once('/').unwrap_or((driver, name))
}

fn attribute_value<'a>(attribute: &DeviceAttribute) -> Result<Value<'a>, AttributeError> {
    match attribute {
        DeviceAttribute { int: Some(int), .. } => Ok(Value::Int(*int)),
        DeviceAttribute { bool: Some(bool), .. } => Ok(Value::Bool(*bool)),
        DeviceAttribute { string: Some(string), .. } => Ok(Value::String(string.clone())),
        DeviceAttribute { version: Some(version), .. } => Ok(Value::Semver(Arc::new(Semver::parse(version)?))),
        _ => Err(AttributeError::Unsupported),
    }
}

impl From<&Literal> for Value<'_> {
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

/// As Go shows the value in an error.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(b) => write!(f, "{b}"),
            Self::Int(i) => write!(f, "{i}"),
            Self::Uint(u) => write!(f, "{u}"),
            Self::Double(d) => write!(f, "{d}"),
            Self::String(s) => f.write_str(s),
            Self::Quantity(q) => write!(f, "{q}"),
            Self::Type(name) => f.write_str(name),
            other => f.write_str(other.type_name()),
        }
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({self})", self.type_name())
    }
}
