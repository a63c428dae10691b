//! A cluster: a persistent store per kind.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::operations::operation;
use super::resource::{DeviceClass, DeviceTaintRule, ResourceClaim, ResourceClaimTemplate, ResourceSlice};
use super::storage::{CSIDriver, CSINode, CSIStorageCapacity, PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeAttachment};
use super::{
    Key, Kind, Meta, MissingKinds, Namespace, Node, ObjectsByName, Pod, PodDisruptionBudget, PodGroup, PriorityClass,
    ReplicationController, Service, Str, Workload,
};

/// The objects of one kind by key. Cloning is O(1); iteration is by namespace and name.
#[derive(Clone, Debug, PartialEq)]
pub struct Store<T>(imbl::OrdMap<Key, Arc<T>>);

impl<T> Default for Store<T> {
    fn default() -> Self {
        Self(imbl::OrdMap::new())
    }
}

impl<T> Store<T> {
    /// Whether two are clones of each other that did not change since.
    pub fn is_same(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
    }

    /// Returns the object of a key.
    pub fn get(&self, key: &Key) -> Option<&Arc<T>> {
        self.0.get(key)
    }

    /// Returns a cluster-scoped object.
    pub fn named(&self, name: &Str) -> Option<&Arc<T>> {
        self.0.get(&Key { namespace: Str::default(), name: name.clone() })
    }

    /// Returns a namespaced object.
    pub fn namespaced(&self, namespace: &Str, name: &Str) -> Option<&Arc<T>> {
        self.0.get(&Key { namespace: namespace.clone(), name: name.clone() })
    }

    /// Returns all objects, by namespace and name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<T>> {
        self.0.values().inspect(|_| operation())
    }

    /// Returns the objects of a namespace, by name.
    pub fn in_namespace<'a>(&'a self, namespace: &Str) -> impl Iterator<Item = &'a Arc<T>> + use<'a, T> {
        let from = Key { namespace: namespace.clone(), name: Str::default() };
        let namespace = namespace.clone();
        self.0.range(from..).take_while(move |(k, _)| k.namespace == namespace).map(|(_, v)| v).inspect(|_| operation())
    }

    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the store is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Inserts an object and returns the one it replaced.
    pub fn insert(&mut self, key: Key, object: Arc<T>) -> Option<Arc<T>> {
        self.0.insert(key, object)
    }

    /// Removes an object.
    pub fn remove(&mut self, key: &Key) -> Option<Arc<T>> {
        self.0.remove(key)
    }
}

macro_rules! kinds {
    ($($kind:ident($ty:ty) in $field:ident: $doc:literal,)*) => {
        /// All objects of a cluster that scheduling reads.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Cluster {
            $(#[doc = $doc] pub $field: Store<$ty>,)*
            /// The kinds that the source left unknown.
            pub unknown: MissingKinds,
        }

        /// One object of any kind.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        #[allow(missing_docs, reason = "the variants are the kinds' names")]
        pub enum Object {
            $($kind(Arc<$ty>),)*
        }

        impl Object {
            /// Returns the object's kind.
            pub fn kind(&self) -> Kind {
                match self { $(Self::$kind(_) => Kind::$kind,)* }
            }

            /// Returns the object's metadata.
            pub fn meta(&self) -> &Meta {
                match self { $(Self::$kind(o) => &o.metadata,)* }
            }

            /// Reads an object of a known kind.
            pub fn deserialize_kind<'de, D: serde::Deserializer<'de>>(kind: Kind, deserializer: D) -> Result<Self, D::Error> {
                match kind { $(Kind::$kind => <$ty>::deserialize(deserializer).map(|o| Self::$kind(Arc::new(o))),)* }
            }
        }

        impl Cluster {
            /// Inserts an object into its store and returns the one it replaced.
            pub fn insert(&mut self, object: Object) -> Option<Object> {
                let key = object.key();
                match object { $(Object::$kind(o) => self.$field.insert(key, o).map(Object::$kind),)* }
            }

            /// Removes an object from its store and returns it.
            pub fn remove(&mut self, kind: Kind, key: &Key) -> Option<Object> {
                match kind { $(Kind::$kind => self.$field.remove(key).map(Object::$kind),)* }
            }

            pub fn get(&self, kind: Kind, key: &Key) -> Option<Object> {
                match kind { $(Kind::$kind => self.$field.get(key).cloned().map(Object::$kind),)* }
            }

            /// Returns all objects, by kind, namespace and name.
            pub fn objects(&self) -> impl Iterator<Item = Object> + '_ {
                let none = std::iter::empty();
                none$(.chain(self.$field.iter().cloned().map(Object::$kind)))*
            }

            /// Returns all objects of a kind, by namespace and name.
            pub fn objects_of(&self, kind: Kind) -> Vec<Object> {
                match kind { $(Kind::$kind => self.$field.iter().cloned().map(Object::$kind).collect(),)* }
            }

            /// Returns the number of all objects.
            pub(crate) fn object_count(&self) -> usize {
                0 $(+ self.$field.len())*
            }

            /// Returns the number of objects of a kind.
            pub fn count(&self, kind: Kind) -> usize {
                match kind { $(Kind::$kind => self.$field.len(),)* }
            }
        }
    };
}

kinds! {
    CSIDriver(CSIDriver) in csi_drivers: "storage.k8s.io/v1 CSIDrivers",
    CSINode(CSINode) in csi_nodes: "storage.k8s.io/v1 CSINodes, named like their node",
    CSIStorageCapacity(CSIStorageCapacity) in csi_storage_capacities: "storage.k8s.io/v1 CSIStorageCapacities",
    DeviceClass(DeviceClass) in device_classes: "resource.k8s.io/v1 DeviceClasses",
    DeviceTaintRule(DeviceTaintRule) in device_taint_rules: "resource.k8s.io/v1 DeviceTaintRules",
    Namespace(Namespace) in namespaces: "v1 Namespaces",
    Node(Node) in nodes: "v1 Nodes",
    PersistentVolume(PersistentVolume) in persistent_volumes: "v1 PersistentVolumes",
    PersistentVolumeClaim(PersistentVolumeClaim) in persistent_volume_claims: "v1 PersistentVolumeClaims",
    Pod(Pod) in pods: "v1 Pods",
    PodDisruptionBudget(PodDisruptionBudget) in pod_disruption_budgets: "policy/v1 PodDisruptionBudgets",
    PodGroup(PodGroup) in pod_groups: "scheduling.k8s.io/v1alpha2 PodGroups",
    PriorityClass(PriorityClass) in priority_classes: "scheduling.k8s.io/v1 PriorityClasses",
    ReplicaSet(Workload) in replica_sets: "apps/v1 ReplicaSets",
    ReplicationController(ReplicationController) in replication_controllers: "v1 ReplicationControllers",
    ResourceClaim(ResourceClaim) in resource_claims: "resource.k8s.io/v1 ResourceClaims",
    ResourceClaimTemplate(ResourceClaimTemplate) in resource_claim_templates: "resource.k8s.io/v1 ResourceClaimTemplates",
    ResourceSlice(ResourceSlice) in resource_slices: "resource.k8s.io/v1 ResourceSlices",
    Service(Service) in services: "v1 Services",
    StatefulSet(Workload) in stateful_sets: "apps/v1 StatefulSets",
    StorageClass(StorageClass) in storage_classes: "storage.k8s.io/v1 StorageClasses",
    VolumeAttachment(VolumeAttachment) in volume_attachments: "storage.k8s.io/v1 VolumeAttachments",
}

impl Object {
    /// Returns the object's key within its kind.
    pub fn key(&self) -> Key {
        self.meta().key()
    }
}

impl FromIterator<Object> for Cluster {
    fn from_iter<I: IntoIterator<Item = Object>>(objects: I) -> Self {
        objects.into_iter().collect::<ObjectsByName>().into()
    }
}

impl From<ObjectsByName> for Cluster {
    fn from(objects: ObjectsByName) -> Self {
        let mut cluster = Self::default();
        // In ascending order alone, the leaves of a B-tree remain half empty: every other name waits until the others are in.
        let mut waiting = Vec::with_capacity(objects.as_slice().len() / 2);
        let (mut last, mut waits) = (Key::default(), false);
        for object in objects {
            let Meta { namespace, name, .. } = object.meta();
            if (namespace, name) != (&last.namespace, &last.name) {
                last = object.key();
                waits = !waits;
            }
            if waits {
                waiting.push(object);
            } else {
                cluster.insert(object);
            }
        }
        for object in waiting {
            cluster.insert(object);
        }
        cluster
    }
}
