//! Device taints and tolerations; mirrors
//! `staging/src/k8s.io/dynamic-resource-allocation/resourceclaim/devicetoleration.go`.

use crate::cluster::Toleration;
use crate::cluster::resource::{Device, DeviceTaint};

/// Whether a `NoSchedule` or `NoExecute` taint of the device is not tolerated.
pub(super) fn prevents_allocation(device: &Device, tolerations: &[Toleration]) -> bool {
    untolerated(device, tolerations).is_some()
}

/// Returns the first taint of the device that prevents its allocation.
pub(super) fn untolerated<'a>(device: &'a Device, tolerations: &[Toleration]) -> Option<&'a DeviceTaint> {
    let mut preventing = device.taints.iter().filter(|t| t.effect == "NoSchedule" || t.effect == "NoExecute");
    preventing.find(|taint| !tolerations.iter().any(|toleration| tolerates(toleration, taint)))
}

fn tolerates(toleration: &Toleration, taint: &DeviceTaint) -> bool {
    (toleration.effect.is_empty() || toleration.effect == taint.effect)
        && (toleration.key.is_empty() || toleration.key == taint.key)
        && match toleration.operator.as_str() {
            "" | "Equal" => toleration.value == taint.value,
            "Exists" => true,
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taint_must_be_tolerated_by_effect_key_and_value() {
        let check = |taint: &str, toleration: &str| {
            let device: Device = serde_json::from_str(&format!(r#"{{"taints":[{taint}]}}"#)).unwrap();
            let tolerations: Vec<Toleration> = serde_json::from_str(&format!("[{toleration}]")).unwrap();
            prevents_allocation(&device, &tolerations)
        };
        let taint = r#"{"key":"k","value":"v","effect":"NoSchedule"}"#;
        for (toleration, prevents) in [
            ("", true),
            (r#"{"key":"k","operator":"Exists"}"#, false),
            (r#"{"key":"k","value":"v"}"#, false),
            (r#"{"key":"k","operator":"Equal","value":"w"}"#, true),
            (r#"{"operator":"Exists"}"#, false),
            (r#"{"key":"x","operator":"Exists"}"#, true),
            (r#"{"key":"k","operator":"Exists","effect":"NoExecute"}"#, true),
            (r#"{"key":"k","operator":"Gt","value":"v"}"#, true),
        ] {
            assert_eq!(check(taint, toleration), prevents, "{toleration}");
        }
        assert!(check(r#"{"key":"k","effect":"NoExecute"}"#, ""));
        assert!(!check(r#"{"key":"k","effect":"None"}"#, ""));
    }
}
