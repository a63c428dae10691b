//! `DynamicResourcesArgs` of `kubescheduler.config.k8s.io/v1`; mirrors `staging/src/k8s.io/kube-scheduler/config/v1/types.go`
//! and `pkg/scheduler/apis/config/validation/validation_pluginargs.go`.

use jiff::SignedDuration;
use serde::{Deserialize, Deserializer, de};

use crate::cluster::Str;
use crate::framework::{FieldErrors, format_duration, parse_duration};
use crate::release::{Emulation, Gate};

/// The plugin's arguments.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct DynamicResourcesArgs {
    /// Timeout of the device search on one node; zero for no limit. It is converted to a number of steps, because
    /// plugins have no clock.
    #[serde(deserialize_with = "go_duration")]
    pub filter_timeout: SignedDuration,
    /// Timeout for devices to become ready after allocation; `None` for the default of 10 minutes.
    #[serde(deserialize_with = "optional_go_duration")]
    pub binding_timeout: Option<SignedDuration>,
    /// Accepted and ignored.
    pub api_version: Option<Str>,
    /// Accepted and ignored.
    pub kind: Option<Str>,
}

impl Default for DynamicResourcesArgs {
    fn default() -> Self {
        Self { filter_timeout: SignedDuration::from_secs(10), binding_timeout: None, api_version: None, kind: None }
    }
}

impl DynamicResourcesArgs {
    /// Returns the timeout for devices to become ready after allocation.
    pub fn binding_timeout(&self) -> SignedDuration {
        self.binding_timeout.unwrap_or(SignedDuration::from_mins(10))
    }

    /// Validates the arguments; mirrors `ValidateDynamicResourcesArgs`. Also rejects a timeout that has no effect under
    /// the gates.
    pub fn validate(&self, emulation: Emulation) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::default();
        if self.filter_timeout.is_negative() {
            errors.invalid("filterTimeout", &format_duration(self.filter_timeout), "must be zero or positive");
        }
        let effective = emulation.enabled(Gate::DRADeviceBindingConditions) && emulation.enabled(Gate::DRAResourceClaimDeviceStatus);
        match self.binding_timeout {
            Some(_) if !effective => {
                let gates = "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled";
                errors.forbidden("bindingTimeout", gates);
            }
            Some(timeout) if timeout < SignedDuration::from_secs(1) => {
                errors.invalid("bindingTimeout", &format_duration(timeout), "must be at least 1 second");
            }
            _ => {}
        }
        errors.into_result()
    }
}

fn go_duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SignedDuration, D::Error> {
    parse_duration(&Str::deserialize(deserializer)?).map_err(de::Error::custom)
}

fn optional_go_duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SignedDuration>, D::Error> {
    let text = Option::<Str>::deserialize(deserializer)?;
    text.map(|text| parse_duration(&text).map_err(de::Error::custom)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_a_configuration_holds() {
        let args: DynamicResourcesArgs = serde_json::from_str(
            r#"{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"DynamicResourcesArgs","filterTimeout":"1m30s"}"#,
        )
        .unwrap();
        assert_eq!((args.filter_timeout.as_secs(), args.binding_timeout().as_secs()), (90, 600));
        for wrong in [r#"{"nothing":1}"#, r#"{"filterTimeout":"10"}"#, r#"{"bindingTimeout":"ten"}"#, r#"{"filterTimeout":10}"#] {
            assert!(serde_json::from_str::<DynamicResourcesArgs>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn timeouts_are_checked() {
        let mut emulation = Emulation::default();
        let check = |text: &str, emulation, expected: &str| {
            let args: DynamicResourcesArgs = serde_json::from_str(text).unwrap();
            let errors = args.validate(emulation).err().unwrap_or_default();
            assert_eq!(errors.to_string(), expected, "{text}");
        };
        check(r#"{"filterTimeout":"0s","bindingTimeout":"1s"}"#, emulation, "");
        check(
            r#"{"filterTimeout":"-1s","bindingTimeout":"500ms"}"#,
            emulation,
            "filterTimeout: Invalid value: \"-1s\": must be zero or positive\n\
             bindingTimeout: Invalid value: \"500ms\": must be at least 1 second",
        );
        emulation.set(Gate::DRADeviceBindingConditions, false);
        let off = "bindingTimeout: Forbidden: DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled";
        check(r#"{"bindingTimeout":"10s"}"#, emulation, off);
        check("{}", emulation, "");
    }
}
