//! Facts about a pod for which no node is needed, for answers where none could be read.

use serde::Serialize;

use crate::cluster::{Cluster, Kind, MissingReason, Pod, Str};

/// The facts about a pod that do not depend on nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Known {
    pub priority: i32,
    /// The name of its priority class; empty if it has none.
    pub priority_class: Str,
    /// The scheduling gates that hold it back.
    pub scheduling_gates: Vec<Str>,
    /// Its claims for volumes that do not exist; `None` if claims are unknown.
    pub missing_claims: Option<Vec<Str>>,
    /// Its claims for devices that do not exist; `None` if claims are unknown.
    pub missing_resource_claims: Option<Vec<Str>>,
    /// The budgets of its namespace; `None` if budgets are unknown.
    pub budgets: Option<Vec<KnownBudget>>,
}

/// A `PodDisruptionBudget` of the pod's namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownBudget {
    pub name: Str,
    /// The number of pods that may be evicted now.
    pub disruptions_allowed: i32,
    pub covers_pod: bool,
}

impl Known {
    /// Collects the facts about a pod.
    pub fn of(cluster: &Cluster, pod: &Pod) -> Self {
        let (namespace, unknown) = (&pod.metadata.namespace, cluster.unknown);
        let is_known = |kind: Kind| matches!(unknown.why(kind), None | Some(MissingReason::Partial | MissingReason::Selected));
        let missing_claims = is_known(Kind::PersistentVolumeClaim).then(|| {
            let named = pod.spec.volumes.iter().filter_map(|volume| volume.persistent_volume_claim.as_ref());
            let names = named.map(|source| &source.claim_name);
            names.filter(|name| cluster.persistent_volume_claims.namespaced(namespace, name).is_none()).cloned().collect()
        });
        let missing_resource_claims = is_known(Kind::ResourceClaim).then(|| {
            let names = pod.spec.resource_claims.iter().filter_map(|claim| claim.resource_claim_name.as_ref());
            names.filter(|name| cluster.resource_claims.namespaced(namespace, name).is_none()).cloned().collect()
        });
        let budgets = (is_known(Kind::PodDisruptionBudget) && !unknown.budgets).then(|| {
            let of_namespace = cluster.pod_disruption_budgets.iter().filter(|budget| budget.metadata.namespace == *namespace);
            let known = of_namespace.map(|budget| KnownBudget {
                name: budget.metadata.name.clone(),
                disruptions_allowed: budget.status.disruptions_allowed,
                covers_pod: budget.covers(pod),
            });
            known.collect()
        });
        Self {
            priority: pod.priority(),
            priority_class: pod.spec.priority_class_name.clone(),
            scheduling_gates: pod.spec.scheduling_gates.iter().map(|gate| gate.name.clone()).collect(),
            missing_claims,
            missing_resource_claims,
            budgets,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Object;
    use crate::source::{Input, load};

    fn cluster(text: &str) -> Cluster {
        load(&[Input::Bytes { name: "in".into(), bytes: text.as_bytes().to_vec().into() }]).objects.into_iter().collect::<Cluster>()
    }

    const OBJECTS: &str = r#"{"kind":"List","apiVersion":"v1","items":[
        {"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"shop","labels":{"app":"web"}},"spec":{"priority":7,
         "priorityClassName":"high","schedulingGates":[{"name":"example.com/wait"}],"containers":[],
         "volumes":[{"name":"a","persistentVolumeClaim":{"claimName":"there"}},{"name":"b","persistentVolumeClaim":{"claimName":"gone"}}]}},
        {"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"there","namespace":"shop"}},
        {"kind":"PodDisruptionBudget","apiVersion":"policy/v1","metadata":{"name":"web","namespace":"shop"},
         "spec":{"selector":{"matchLabels":{"app":"web"}}},"status":{"disruptionsAllowed":1}},
        {"kind":"PodDisruptionBudget","apiVersion":"policy/v1","metadata":{"name":"other","namespace":"elsewhere"}}]}"#;

    #[test]
    fn facts_that_need_no_node_are_reported_and_unknown_kinds_stay_unknown() {
        let mut cluster = cluster(OBJECTS);
        let pod = cluster.objects().find_map(|object| if let Object::Pod(pod) = object { Some(pod) } else { None }).unwrap();
        let lines = |cluster: &Cluster| Known::of(cluster, &pod).text(None).iter().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(
            lines(&cluster),
            [
                "the cluster's scheduler has reported nothing about this pod",
                "held back by the scheduling gate example.com/wait",
                "its claim \"gone\" does not exist",
                "budget web of its namespace allows 1 disruption, and covers this pod",
                "priority 7, class high",
            ]
        );
        cluster.unknown.refused.insert(Kind::PersistentVolumeClaim);
        cluster.unknown.refused.insert(Kind::PodDisruptionBudget);
        let unknown = lines(&cluster);
        assert_eq!(unknown[2..4], ["whether its claims exist is unknown", "the budgets of its namespace are unknown"]);
    }
}
