//! The variable `device`; mirrors `DeviceMatches` in
//! `staging/src/k8s.io/dynamic-resource-allocation/cel/compile.go`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Environment;
use super::error::{AttributeError, EvalError};
use super::quantity::Quantity;
use super::semver::Semver;
use super::value::{Key, Map, Value};
use crate::cluster::Str;
use crate::cluster::resource::{Device, DeviceAttribute};

/// Makes the device's map. An invalid attribute fails the evaluation of every selector.
pub(super) fn value(driver: &Str, device: &Device, environment: Environment) -> Result<Value, EvalError> {
    let mut attributes = Domains::default();
    for (name, attribute) in device.attributes.iter() {
        let value = attribute_value(attribute, environment).map_err(|error| EvalError::Attribute { name: name.clone(), error })?;
        attributes.add(driver, name, value);
    }
    let mut capacity = Domains::default();
    for (name, amount) in device.capacity.iter() {
        capacity.add(driver, name, Value::Quantity(Quantity::parse(&amount.value.to_string())?));
    }
    let multiple = device.allow_multiple_allocations.unwrap_or(false);
    let fields = [
        ("driver", Value::String(driver.clone())),
        ("allowMultipleAllocations", Value::Bool(multiple)),
        ("attributes", attributes.value()),
        ("capacity", capacity.value()),
    ];
    let entries = fields.into_iter().map(|(name, value)| (Key(Value::string(name)), value)).collect();
    Ok(Value::Map(Arc::new(Map { entries, domains: false, native: true })))
}

/// Attributes or capacities by domain. A name without a domain belongs to the driver's.
#[derive(Default)]
struct Domains(BTreeMap<Str, Map>);

impl Domains {
    fn add(&mut self, driver: &Str, name: &Str, value: Value) {
        let (domain, id) = name.split_once('/').map_or((driver.clone(), name.clone()), |(domain, id)| (domain.into(), id.into()));
        let map = self.0.entry(domain).or_insert_with(|| Map { native: true, ..Map::default() });
        map.entries.insert(Key(Value::String(id)), value);
    }

    fn value(self) -> Value {
        let entries = self.0.into_iter().map(|(domain, map)| (Key(Value::String(domain)), Value::Map(Arc::new(map)))).collect();
        Value::Map(Arc::new(Map { entries, domains: true, native: true }))
    }
}

fn attribute_value(attribute: &DeviceAttribute, environment: Environment) -> Result<Value, AttributeError> {
    let version = |text: &Str| Ok::<_, AttributeError>(Value::Semver(Arc::new(Semver::parse(text)?)));
    if environment.list_attributes {
        if let Some(ints) = &attribute.ints {
            return Ok(Value::list(ints.iter().map(|i| Value::Int(*i)).collect()));
        }
        if let Some(bools) = &attribute.bools {
            return Ok(Value::list(bools.iter().map(|b| Value::Bool(*b)).collect()));
        }
        if let Some(strings) = &attribute.strings {
            return Ok(Value::strings(strings.iter().cloned()));
        }
        if let Some(versions) = &attribute.versions {
            return versions.iter().map(version).collect::<Result<Vec<_>, _>>().map(Value::list);
        }
    }
    match attribute {
        DeviceAttribute { int: Some(int), .. } => Ok(Value::Int(*int)),
        DeviceAttribute { bool: Some(bool), .. } => Ok(Value::Bool(*bool)),
        DeviceAttribute { string: Some(string), .. } => Ok(Value::String(string.clone())),
        DeviceAttribute { version: Some(text), .. } => version(text),
        _ => Err(AttributeError::Unsupported),
    }
}
