//! Changes of a cluster that are collected before they are applied as one operation.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::cluster::{Cluster, Key, Kind, Object, Pod, PodDisruptionBudget};
use crate::scheduler::Operation;

/// A cluster with changes, and the operations that make them.
#[derive(Debug)]
pub(crate) struct Draft {
    cluster: Cluster,
    operations: Vec<Operation>,
    /// The operation that last wrote an object; a further change replaces it.
    written: BTreeMap<(Kind, Key), usize>,
    /// The number from which a free name is looked for, by the pod that it is for.
    salts: RefCell<HashMap<Key, u64>>,
}

impl Draft {
    /// Begins with a cluster as it is.
    pub(crate) fn new(cluster: &Cluster) -> Self {
        Self { cluster: cluster.clone(), operations: Vec::new(), written: BTreeMap::new(), salts: RefCell::default() }
    }

    /// Returns the cluster with the changes so far.
    pub(crate) fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Returns the next number to make a name from for a pod like this one.
    pub(crate) fn next_salt(&self, pod: &Pod) -> u64 {
        let mut salts = self.salts.borrow_mut();
        let salt = salts.entry(pod.key()).or_default();
        *salt += 1;
        *salt - 1
    }

    /// Creates or updates an object.
    pub(crate) fn put(&mut self, object: Object) {
        let id = (object.kind(), object.key());
        if let Some(at) = self.written.get(&id).copied()
            && let Operation::Create { object: old } | Operation::Update { object: old } = &mut self.operations[at]
        {
            *old = object.clone();
        } else {
            self.written.insert(id, self.operations.len());
            self.operations.push(Operation::put(&self.cluster, object.clone()));
        }
        self.cluster.insert(object);
    }

    /// Updates a budget.
    pub(crate) fn put_budget(&mut self, budget: PodDisruptionBudget) {
        self.put(Object::PodDisruptionBudget(Arc::new(budget)));
    }

    /// Deletes an object, if the cluster has it.
    pub(crate) fn delete(&mut self, kind: Kind, key: &Key) {
        if let Some(object) = self.cluster.remove(kind, key) {
            self.written.remove(&(kind, key.clone()));
            self.operations.push(Operation::Delete { object });
        }
    }

    /// Returns whether nothing changes.
    pub(crate) fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Returns the operations, in order.
    pub(crate) fn into_operations(self) -> Vec<Operation> {
        self.operations
    }
}
