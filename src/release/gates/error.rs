//! Errors of setting feature gates.

use std::fmt::Write as _;

/// Why a flag with feature gates was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    /// A gate has no value.
    #[error("missing bool value for {pair}")]
    NoValue {
        /// The text between two commas.
        pair: String,
    },
    /// A gate's value is not a boolean.
    #[error("invalid value of {name}={value}, err: strconv.ParseBool: parsing {value:?}: invalid syntax")]
    NoBool {
        /// The gate.
        name: String,
        value: String,
    },
    /// The release has no such gate.
    #[error("unrecognized feature gate: {name}")]
    Unrecognized {
        /// The gate.
        name: String,
    },
    /// Refused gates; never empty.
    #[error("{}", aggregate(.0))]
    Refused(Vec<GateRefusal>),
}

/// Why one gate was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GateRefusal {
    /// `AllAlpha` or `AllBeta` was set.
    #[error("{name} is not emulated: name the feature gates one by one")]
    Group {
        /// The group's name.
        name: String,
    },
    /// The gate is locked to the other state in this release.
    #[error("cannot set feature gate {name} to {on}, feature is locked to {}", !.on)]
    Locked {
        /// The gate.
        name: String,
        /// The requested state.
        on: bool,
    },
    /// The gate is emulated only at its default.
    #[error("cannot set feature gate {name} to {on}: what it changes in kube-scheduler is not emulated")]
    NotEmulated {
        /// The gate.
        name: String,
        /// The requested state.
        on: bool,
    },
    /// The gate is on while gates it depends on are off.
    #[error("{name} is enabled, but depends on features that are disabled: [{}]", .off.join(" "))]
    Needs {
        /// The gate.
        name: &'static str,
        /// The missing gates.
        off: Vec<&'static str>,
    },
}

/// Joins errors as `NewAggregate` in `staging/src/k8s.io/apimachinery/pkg/util/errors` does.
fn aggregate(refused: &[GateRefusal]) -> String {
    if let [one] = refused {
        return one.to_string();
    }
    let mut text = String::from("[");
    for (i, one) in refused.iter().enumerate() {
        let _ = write!(text, "{}{one}", if i > 0 { ", " } else { "" });
    }
    text + "]"
}
