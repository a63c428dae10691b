//! The length of lists that an API server bounds.

use std::fmt;

use crate::cluster::Object;
use crate::limits::sources::ITEMS;

/// A list with more entries than any of an API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany {
    /// The kind of its entries, in the plural.
    pub what: &'static str,
    /// The number of its entries.
    pub count: usize,
}

/// Writes the rest of a sentence about the object.
impl fmt::Display for TooMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "has {} {}, which no API server accepts", self.count, self.what)
    }
}

impl TooMany {
    /// Returns the first list of an object that is too long. The bounds of an API server are those of `pkg/apis/resource/types.go`, and
    /// volumes have four access modes.
    pub fn of(object: &Object) -> Option<Self> {
        let check = |what, count: usize| (count > ITEMS).then_some(Self { what, count });
        match object {
            Object::ResourceClaim(claim) => {
                let devices = claim.status.devices.iter();
                let results = claim.status.allocation.iter().flat_map(|allocation| allocation.devices.results.iter());
                let conditions = |what, lengths: &mut dyn Iterator<Item = usize>| check(what, lengths.max().unwrap_or(0));
                check("allocated devices", claim.status.devices.len().max(results.clone().count()))
                    .or_else(|| conditions("conditions of a device", &mut devices.map(|device| device.conditions.len())))
                    .or_else(|| {
                        let lengths = results.map(|result| result.binding_conditions.len().max(result.binding_failure_conditions.len()));
                        conditions("binding conditions", &mut { lengths })
                    })
            }
            Object::ResourceSlice(slice) => {
                let counters = slice.spec.shared_counters.iter().map(|set| set.counters.len()).max();
                let consumed =
                    slice.spec.devices.iter().flat_map(|device| device.consumes_counters.iter().map(|of| of.counters.len())).max();
                check("counters of a set", counters.max(consumed).unwrap_or(0)).or_else(|| check("devices", slice.spec.devices.len()))
            }
            Object::PersistentVolume(volume) => check("access modes", volume.spec.access_modes.len()),
            Object::PersistentVolumeClaim(claim) => check("access modes", claim.spec.access_modes.len()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cluster::Kind;

    #[test]
    fn lists_that_no_api_server_accepts_are_errors() {
        let modes = |count: usize| json!({"spec": {"accessModes": vec!["ReadWriteOnce"; count]}});
        let conditions =
            |count: usize| json!({"status": {"allocation": {"devices": {"results": [{"bindingConditions": vec!["a"; count]}]}}}});
        let of = |kind, value| TooMany::of(&Object::deserialize_kind(kind, &value).unwrap()).map(|found| found.to_string());
        assert_eq!((of(Kind::PersistentVolume, modes(ITEMS)), of(Kind::ResourceClaim, conditions(ITEMS))), (None, None));
        let found = of(Kind::PersistentVolumeClaim, modes(ITEMS + 1)).unwrap();
        assert_eq!(found, "has 513 access modes, which no API server accepts");
        assert!(of(Kind::ResourceClaim, conditions(ITEMS + 1)).is_some());
        let devices = vec![json!({"device": "a"}); ITEMS + 1];
        assert!(of(Kind::ResourceClaim, json!({"status": {"devices": devices}})).is_some());
        let counters: serde_json::Map<_, _> = (0..=ITEMS).map(|i| (i.to_string(), json!({"value": "1"}))).collect();
        assert!(of(Kind::ResourceSlice, json!({"spec": {"sharedCounters": [{"name": "s", "counters": counters}]}})).is_some());
        let devices = vec![json!({"name": "a"}); ITEMS + 1];
        assert!(of(Kind::ResourceSlice, json!({"spec": {"devices": devices}})).is_some());
    }
}
