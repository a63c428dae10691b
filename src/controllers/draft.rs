//! Changes of a cluster that are collected before they are applied as one operation.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::jobs::job_of;
use super::pods::is_made_here;
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
    /// The number of pods of each Job that are copies of others; `None` until it is asked for.
    copies: RefCell<Option<HashMap<Key, i64>>>,
}

impl Draft {
    /// Begins with a cluster as it is.
    pub(crate) fn new(cluster: &Cluster) -> Self {
        Self {
            cluster: cluster.clone(),
            operations: Vec::new(),
            written: BTreeMap::new(),
            salts: RefCell::default(),
            copies: RefCell::default(),
        }
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

    /// Returns how many pods of a Job are copies of others, each of which went before.
    pub(super) fn copies_of_job(&self, job: &Key) -> i64 {
        let mut copies = self.copies.borrow_mut();
        let copies = copies.get_or_insert_with(|| {
            let mut copies = HashMap::new();
            for job in self.cluster.pods.iter().filter_map(|pod| job_of_copy(pod)) {
                *copies.entry(job).or_default() += 1;
            }
            copies
        });
        copies.get(job).copied().unwrap_or(0)
    }

    /// Creates or updates an object.
    pub(crate) fn put(&mut self, object: Object) {
        if let (Object::Pod(pod), Some(copies)) = (&object, self.copies.get_mut())
            && self.cluster.pods.get(&pod.key()).is_none()
            && let Some(job) = job_of_copy(pod)
        {
            *copies.entry(job).or_default() += 1;
        }
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

/// Returns the Job of a pod that is a copy of another; `None` for other pods.
fn job_of_copy(pod: &Pod) -> Option<Key> {
    job_of(pod).filter(|_| is_made_here(pod))
}
