//! Converts old versions of kinds into the shape of the current one.
//!
//! Mirrors the conversions of `pkg/apis/resource/v1beta1/conversion.go`: the fields of a device request moved into
//! `exactly`, and the fields of a device's `basic` into the device. Other API groups differ only in semantics; see
//! `admission`.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::cluster::Kind;
use crate::source::read::split::Syntax;

/// The fields of a request that keep their place.
const OF_REQUEST: [&str; 2] = ["name", "firstAvailable"];

/// Converts an object of `resource.k8s.io/v1beta1` to JSON of `resource.k8s.io/v1`; `None` if it does not parse.
pub(in crate::source) fn convert(kind: Kind, text: &[u8], syntax: Syntax) -> Option<Vec<u8>> {
    let mut object: Value = match syntax {
        Syntax::Json => serde_json::from_slice(text).ok()?,
        Syntax::Yaml => Value::deserialize(serde_yaml::Deserializer::from_slice(text)).ok()?,
    };
    match kind {
        Kind::ResourceClaim => each(object.pointer_mut("/spec/devices/requests"), request),
        Kind::ResourceClaimTemplate => each(object.pointer_mut("/spec/spec/devices/requests"), request),
        Kind::ResourceSlice => each(object.pointer_mut("/spec/devices"), device),
        _ => {}
    }
    serde_json::to_vec(&object).ok()
}

fn each(list: Option<&mut Value>, change: fn(&mut Map<String, Value>)) {
    for item in list.and_then(Value::as_array_mut).into_iter().flatten() {
        if let Value::Object(item) = item {
            change(item);
        }
    }
}

fn request(request: &mut Map<String, Value>) {
    // A request with alternatives has no fields of its own to move.
    if request.get("firstAvailable").is_some_and(|list| list.as_array().is_some_and(|list| !list.is_empty())) {
        return;
    }
    let (kept, moved) = std::mem::take(request).into_iter().partition(|(key, _)| OF_REQUEST.contains(&key.as_str()));
    *request = kept;
    request.insert("exactly".to_owned(), Value::Object(moved));
}

fn device(device: &mut Map<String, Value>) {
    if let Some(Value::Object(basic)) = device.remove("basic") {
        device.extend(basic);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn requests_and_devices_move_where_they_are_now() {
        let request = json!({"name": "a", "deviceClassName": "gpu", "count": 2, "allocationMode": "ExactCount"});
        let present = json!({"name": "a", "exactly": {"deviceClassName": "gpu", "count": 2, "allocationMode": "ExactCount"}});
        let either = json!({"name": "b", "firstAvailable": [{"name": "x", "deviceClassName": "gpu"}]});
        let requests = |of: &Value| json!({"devices": {"requests": [of, either]}});
        let slice = |device: Value| json!({"spec": {"devices": [device]}});
        for (kind, old, new) in [
            (Kind::ResourceClaim, json!({"spec": requests(&request)}), json!({"spec": requests(&present)})),
            (Kind::ResourceClaimTemplate, json!({"spec": {"spec": requests(&request)}}), json!({"spec": {"spec": requests(&present)}})),
            (
                Kind::ResourceSlice,
                slice(json!({"name": "d", "basic": {"attributes": {"a": {"int": 1}}, "capacity": {}}})),
                slice(json!({"name": "d", "attributes": {"a": {"int": 1}}, "capacity": {}})),
            ),
        ] {
            for (text, syntax) in [(old.to_string(), Syntax::Json), (serde_yaml::to_string(&old).unwrap(), Syntax::Yaml)] {
                let converted: Value = serde_json::from_slice(&convert(kind, text.as_bytes(), syntax).unwrap()).unwrap();
                assert_eq!(converted, new);
            }
        }
        assert!(convert(Kind::ResourceClaim, b"{", Syntax::Json).is_none());
    }
}
