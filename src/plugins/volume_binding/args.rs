//! `VolumeBindingArgs`; mirrors `pkg/scheduler/apis/config/types_pluginargs.go` with the defaults of
//! `pkg/scheduler/apis/config/v1/defaults.go`.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use crate::cluster::List;
use crate::framework::{FeatureGates, Gate};
use crate::plugins::helper::FunctionShapePoint;

/// Arguments of VolumeBinding.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct VolumeBindingArgs {
    /// How long PreBind waits for the claims to be bound, in seconds; 600 unless set.
    #[serde(deserialize_with = "read_timeout")]
    pub bind_timeout_seconds: i64,
    /// The score by utilization, with the gate `StorageCapacityScoring`; without points, emptier is better.
    pub shape: List<UtilizationShapePoint>,
    /// Accepted, and of no effect.
    #[doc(hidden)]
    pub api_version: IgnoredAny,
    /// Accepted, and of no effect.
    #[doc(hidden)]
    pub kind: IgnoredAny,
}

/// A point of [`VolumeBindingArgs::shape`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct UtilizationShapePoint {
    /// 0 to 100, in per cent.
    pub utilization: i32,
    /// 0 to 10.
    pub score: i32,
}

const DEFAULT_BIND_TIMEOUT_SECONDS: i64 = 600;
const MAX_UTILIZATION: i32 = 100;
/// `MaxCustomPriorityScore`: the highest score of a point.
const MAX_SCORE: i32 = 10;

impl Default for VolumeBindingArgs {
    fn default() -> Self {
        Self { bind_timeout_seconds: DEFAULT_BIND_TIMEOUT_SECONDS, shape: List::default(), api_version: IgnoredAny, kind: IgnoredAny }
    }
}

fn read_timeout<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(DEFAULT_BIND_TIMEOUT_SECONDS))
}

impl VolumeBindingArgs {
    /// What is wrong with the arguments, as `ValidateVolumeBindingArgs` of
    /// `pkg/scheduler/apis/config/validation/validation_pluginargs.go` finds it.
    pub fn validate(&self, gates: FeatureGates) -> Result<(), String> {
        let mut wrong = Vec::new();
        if self.bind_timeout_seconds < 0 {
            let value = self.bind_timeout_seconds;
            wrong.push(format!("bindTimeoutSeconds: Invalid value: {value}: invalid BindTimeoutSeconds, should not be a negative value"));
        }
        if gates.enabled(Gate::StorageCapacityScoring) {
            self.validate_shape(&mut wrong);
        } else if !self.shape.is_empty() {
            wrong.push("shape: unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring".into());
        }
        match wrong.as_slice() {
            [] => Ok(()),
            [one] => Err(one.clone()),
            many => Err(format!("[{}]", many.join(", "))),
        }
    }

    fn validate_shape(&self, wrong: &mut Vec<String>) {
        if let Some(i) = self.shape.windows(2).position(|pair| pair[0].utilization >= pair[1].utilization) {
            let value = self.shape[i + 1].utilization;
            wrong.push(format!("shape[{}].utilization: Invalid value: {value}: values must be sorted in increasing order", i + 1));
        }
        for (i, point) in self.shape.iter().enumerate() {
            for (field, value, max) in [("utilization", point.utilization, MAX_UTILIZATION), ("score", point.score, MAX_SCORE)] {
                if !(0..=max).contains(&value) {
                    wrong.push(format!("shape[{i}].{field}: Invalid value: {value}: not in valid range [0, {max}]"));
                }
            }
        }
    }

    /// The function that scores are read from, with scores brought from 0..=10 to 0..=100.
    pub(super) fn function(&self) -> Vec<FunctionShapePoint> {
        let default =
            [UtilizationShapePoint { utilization: 0, score: MAX_SCORE }, UtilizationShapePoint { utilization: MAX_UTILIZATION, score: 0 }];
        let points = if self.shape.is_empty() { &default[..] } else { &self.shape[..] };
        let scale = crate::framework::MAX_NODE_SCORE / i64::from(MAX_SCORE);
        points.iter().map(|p| FunctionShapePoint { utilization: p.utilization.into(), score: i64::from(p.score) * scale }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<VolumeBindingArgs, String> {
        serde_json::from_str(text).map_err(|e| e.to_string())
    }

    #[test]
    fn reads_what_a_configuration_holds() {
        let typed = r#"{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"VolumeBindingArgs","bindTimeoutSeconds":null,"shape":null}"#;
        for text in ["{}", typed] {
            assert_eq!(read(text), Ok(VolumeBindingArgs::default()), "{text}");
        }
        let set = read(r#"{"bindTimeoutSeconds":5,"shape":[{"utilization":0,"score":1},{"utilization":50,"score":10}]}"#).unwrap();
        assert_eq!((set.bind_timeout_seconds, set.shape.len()), (5, 2));
        assert_eq!(set.function(), [FunctionShapePoint { utilization: 0, score: 10 }, FunctionShapePoint { utilization: 50, score: 100 }]);
        assert!(read(r#"{"bindTimeout":5}"#).is_err());
    }

    #[test]
    fn refuses_what_upstream_refuses() {
        let mut gates = FeatureGates::default();
        let shape = r#"{"shape":[{"utilization":0,"score":11},{"utilization":0,"score":1},{"utilization":101,"score":1}]}"#;
        let unexpected = "shape: unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring";
        let negative = "bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value";
        assert_eq!(read("{}").unwrap().validate(gates), Ok(()));
        assert_eq!(read(shape).unwrap().validate(gates), Err(unexpected.to_string()));
        assert_eq!(read(r#"{"bindTimeoutSeconds":-1}"#).unwrap().validate(gates), Err(negative.to_string()));
        gates.set(Gate::StorageCapacityScoring, true);
        assert_eq!(read("{}").unwrap().validate(gates), Ok(()));
        assert_eq!(
            read(shape).unwrap().validate(gates).unwrap_err(),
            "[shape[1].utilization: Invalid value: 0: values must be sorted in increasing order, \
             shape[0].score: Invalid value: 11: not in valid range [0, 10], \
             shape[2].utilization: Invalid value: 101: not in valid range [0, 100]]"
        );
    }
}
