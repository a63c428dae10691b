//! `VolumeBindingArgs`; mirrors `pkg/scheduler/apis/config/types_pluginargs.go` with the defaults of
//! `pkg/scheduler/apis/config/v1/defaults.go`.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

use crate::cluster::List;
use crate::framework::FieldErrors;
use crate::plugins::helper::{FunctionShapePoint, function_shape_errors};
use crate::release::{Emulation, Gate};

/// Arguments of VolumeBinding.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct VolumeBindingArgs {
    /// How long PreBind waits for the claims to be bound, in seconds; 600 by default.
    #[serde(deserialize_with = "read_timeout")]
    pub bind_timeout_seconds: i64,
    /// The score by utilization, with the gate `StorageCapacityScoring`. Without points, emptier is better.
    pub shape: Option<List<UtilizationShapePoint>>,
    /// Accepted and ignored.
    #[doc(hidden)]
    pub api_version: IgnoredAny,
    /// Accepted and ignored.
    #[doc(hidden)]
    pub kind: IgnoredAny,
}

/// A point of [`VolumeBindingArgs::shape`].
///
/// Serializes with the field names of the internal type, as errors show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all(serialize = "PascalCase", deserialize = "camelCase"), deny_unknown_fields, default)]
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
        Self { bind_timeout_seconds: DEFAULT_BIND_TIMEOUT_SECONDS, shape: None, api_version: IgnoredAny, kind: IgnoredAny }
    }
}

fn read_timeout<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(DEFAULT_BIND_TIMEOUT_SECONDS))
}

impl VolumeBindingArgs {
    /// Validates the arguments; mirrors `ValidateVolumeBindingArgs` of
    /// `pkg/scheduler/apis/config/validation/validation_pluginargs.go`.
    pub fn validate(&self, emulation: Emulation) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::default();
        if self.bind_timeout_seconds < 0 {
            let rule = "invalid BindTimeoutSeconds, should not be a negative value";
            errors.invalid("bindTimeoutSeconds", &self.bind_timeout_seconds, rule);
        }
        match &self.shape {
            Some(shape) if !emulation.enabled(Gate::StorageCapacityScoring) => {
                let rule = "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring";
                errors.invalid("shape", shape, rule);
            }
            // An empty shape selects the default one.
            Some(shape) if !shape.is_empty() => {
                errors.extend_at("shape", function_shape_errors(shape.iter().map(|p| (p.utilization, p.score))));
            }
            _ => {}
        }
        errors.into_result()
    }

    /// Returns the function of utilization with scores scaled from 0..=10 to 0..=100.
    pub(super) fn function(&self) -> Vec<FunctionShapePoint> {
        let default =
            [UtilizationShapePoint { utilization: 0, score: MAX_SCORE }, UtilizationShapePoint { utilization: MAX_UTILIZATION, score: 0 }];
        let points: &[UtilizationShapePoint] = self.shape.as_deref().map(Vec::as_slice).filter(|s| !s.is_empty()).unwrap_or(&default);
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
        assert_eq!((set.bind_timeout_seconds, set.shape.as_deref().unwrap().len()), (5, 2));
        assert_eq!(set.function(), [FunctionShapePoint { utilization: 0, score: 10 }, FunctionShapePoint { utilization: 50, score: 100 }]);
        assert!(read(r#"{"bindTimeout":5}"#).is_err());
    }

    #[test]
    fn refuses_what_upstream_refuses() {
        let mut emulation = Emulation::default();
        let shape = r#"{"shape":[{"utilization":0,"score":11},{"utilization":0,"score":1},{"utilization":101,"score":1}]}"#;
        let unexpected = "Invalid value: [{\"Utilization\":0,\"Score\":1}]: unexpected field `shape`, remove it or turn on the feature gate \
                          StorageCapacityScoring";
        let negative = "bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value";
        let check = |text: &str, emulation, expected: &str| {
            let errors = read(text).unwrap().validate(emulation).err().unwrap_or_default();
            assert_eq!(errors.to_string(), expected, "{text}");
        };
        check("{}", emulation, "");
        check(r#"{"shape":[{"score":1}]}"#, emulation, &format!("shape: {unexpected}"));
        check(r#"{"bindTimeoutSeconds":-1}"#, emulation, negative);
        emulation.set(Gate::StorageCapacityScoring, true);
        check("{}", emulation, "");
        check(r#"{"shape":[]}"#, emulation, "");
        check(
            shape,
            emulation,
            "shape[1].utilization: Invalid value: 0: values must be sorted in increasing order\n\
             shape[0].score: Invalid value: 11: not in valid range [0, 10]\n\
             shape[2].utilization: Invalid value: 101: not in valid range [0, 100]",
        );
    }
}
