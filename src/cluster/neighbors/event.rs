//! Events of other components than the scheduler and the kubelet.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::super::{Key, Str};

/// The object that an event regards.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct About {
    /// The kind, such as `ReplicaSet`.
    pub kind: Str,
    /// The key; without a namespace for cluster-scoped kinds.
    pub key: Key,
}

impl About {
    /// Makes a reference.
    pub fn new(kind: impl Into<Str>, key: Key) -> Self {
        Self { kind: kind.into(), key }
    }

    /// Returns kind and name with the namespace: `deployment/web in shop`.
    pub fn in_namespace(&self) -> String {
        format!("{self} in {}", self.key.namespace)
    }
}

impl Serialize for About {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap as _;
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("kind", &self.kind)?;
        map.serialize_entry("namespace", &self.key.namespace)?;
        map.serialize_entry("name", &self.key.name)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for About {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Wire {
            kind: Str,
            namespace: Str,
            name: Str,
        }
        let Wire { kind, namespace, name } = Wire::deserialize(deserializer)?;
        Ok(Self { kind, key: Key { namespace, name } })
    }
}

impl std::fmt::Display for About {
    /// Writes kind and name in lower case, as kubectl takes them: `replicaset/web-6d9f`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.kind.to_lowercase(), self.key.name)
    }
}

/// An event of a component about an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherEvent {
    /// The object that it regards.
    pub about: About,
    /// The uid of that object; empty if the event has none.
    pub uid: Str,
    /// The component that wrote it; empty if the event does not say.
    pub speaker: Str,
    /// `Normal` or `Warning`.
    pub kind: Str,
    /// The reason; empty in some events of cluster-autoscaler.
    pub reason: Str,
    /// The message.
    pub text: String,
    /// How often it occurred, at least.
    pub count: u32,
    /// When it was first seen, if known.
    pub first: Option<Timestamp>,
    /// When it was last seen, if known.
    pub last: Option<Timestamp>,
}
