//! `DynamicResourcesArgs` of `kubescheduler.config.k8s.io/v1`.

use jiff::SignedDuration;
use serde::{Deserialize, Deserializer, de};

use crate::cluster::Str;

/// The plugin's arguments.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct DynamicResourcesArgs {
    /// How long the search for devices may take on one node; zero for no limit. Stands for a number of steps here,
    /// because plugins have no clock.
    #[serde(deserialize_with = "go_duration")]
    pub filter_timeout: SignedDuration,
    /// How long devices may take to become ready after allocation.
    #[serde(deserialize_with = "go_duration")]
    pub binding_timeout: SignedDuration,
    /// Accepted, and ignored.
    pub api_version: Option<Str>,
    /// Accepted, and ignored.
    pub kind: Option<Str>,
}

impl Default for DynamicResourcesArgs {
    fn default() -> Self {
        Self {
            filter_timeout: SignedDuration::from_secs(10),
            binding_timeout: SignedDuration::from_mins(10),
            api_version: None,
            kind: None,
        }
    }
}

fn go_duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SignedDuration, D::Error> {
    let text = Str::deserialize(deserializer)?;
    parse_go_duration(&text).ok_or_else(|| de::Error::custom(format!("{text:?} is not a duration such as 10s, 1m30s or 500ms")))
}

/// Reads what Go's `time.ParseDuration` reads: a sign, then decimal numbers with a unit each.
fn parse_go_duration(text: &str) -> Option<SignedDuration> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(SignedDuration::ZERO);
    }
    let mut seconds = 0.0;
    while !rest.is_empty() || seconds == 0.0 {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..end].parse().ok()?;
        rest = &rest[end..];
        let units = [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
        let (unit, scale) = units.iter().find(|(unit, _)| rest.starts_with(unit))?;
        rest = &rest[unit.len()..];
        seconds += number * scale;
        if rest.is_empty() {
            break;
        }
    }
    SignedDuration::try_from_secs_f64(sign * seconds).ok()
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
        assert_eq!((args.filter_timeout.as_secs(), args.binding_timeout.as_secs()), (90, 600));
        for (text, millis) in [("500ms", 500), ("0", 0), ("0s", 0), ("1h", 3_600_000), ("1.5s", 1500), ("-2s", -2000)] {
            assert_eq!(parse_go_duration(text).unwrap().as_millis(), millis, "{text}");
        }
        for text in ["", "10", "s", "1x", "1s2"] {
            assert!(parse_go_duration(text).is_none(), "{text}");
        }
        assert!(serde_json::from_str::<DynamicResourcesArgs>(r#"{"nothing":1}"#).is_err());
    }
}
