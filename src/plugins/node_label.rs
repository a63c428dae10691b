//! NodeLabel: Filter, Score. Mirrors `pkg/scheduler/framework/plugins/nodelabel/node_label.go` of the releases that have it.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::cluster::{Labels, List, Str};
use crate::framework::{
    Context, CycleState, FieldErrors, FilterPlugin, MAX_NODE_SCORE, NodeInfo, Plugin, PodInfo, Reason, ScorePlugin, Status,
};

/// `NodeLabelArgs` of `kubescheduler.config.k8s.io/v1beta1`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NodeLabelArgs {
    /// Accepted and ignored.
    pub api_version: IgnoredAny,
    /// Accepted and ignored.
    pub kind: IgnoredAny,
    /// Labels that a node must have, with any value.
    pub present_labels: List<Str>,
    /// Labels that a node must not have.
    pub absent_labels: List<Str>,
    /// Labels that a node should have.
    pub present_labels_preference: List<Str>,
    /// Labels that a node should not have.
    pub absent_labels_preference: List<Str>,
}

impl NodeLabelArgs {
    /// Validates the arguments; mirrors `ValidateNodeLabelArgs`, which rejects labels that are both present and absent.
    pub fn validate(&self) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::default();
        let lists = [
            ("presentLabels", &self.present_labels, "absentLabels", &self.absent_labels),
            ("presentLabelsPreference", &self.present_labels_preference, "absentLabelsPreference", &self.absent_labels_preference),
        ];
        for (present, wanted, absent, unwanted) in lists {
            for (i, label) in wanted.iter().enumerate().filter(|(_, label)| unwanted.contains(label)) {
                errors.invalid(
                    format!("{present}[{i}]"),
                    label,
                    format!("detecting at least one label that exist in both {present} and {absent}"),
                );
            }
        }
        errors.into_result()
    }
}

/// Keeps all pods to nodes with, or without, certain labels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeLabel {
    args: NodeLabelArgs,
}

impl NodeLabel {
    /// Makes the plugin with its arguments.
    pub fn new(args: NodeLabelArgs) -> Self {
        Self { args }
    }
}

impl Plugin for NodeLabel {
    plugin!(NodeLabel: filter, score);
}

fn has(labels: &Labels, label: &Str) -> bool {
    labels.contains_key(label.as_str())
}

impl FilterPlugin for NodeLabel {
    fn filter(&self, _cx: &Context<'_>, _state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Status {
        let labels = &node.node.metadata.labels;
        let missing = self.args.present_labels.iter().find(|l| !has(labels, l)).map(|label| (label, true));
        let wrong = missing.or_else(|| self.args.absent_labels.iter().find(|l| has(labels, l)).map(|label| (label, false)));
        match wrong {
            None => Status::success(),
            Some((label, wanted)) => Status::rejected(Reason::NodeLabelPresence { label: label.clone(), wanted }),
        }
    }

    fn depends_on_pods(&self) -> bool {
        false
    }
}

impl ScorePlugin for NodeLabel {
    /// Returns the share of preferences that the node meets. Without preferences it is an error, where kube-scheduler
    /// divides by zero.
    fn score(&self, _cx: &Context<'_>, _state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status> {
        let labels = &node.node.metadata.labels;
        let (present, absent) = (&self.args.present_labels_preference, &self.args.absent_labels_preference);
        let met = present.iter().filter(|l| has(labels, l)).count() + absent.iter().filter(|l| !has(labels, l)).count();
        let all = (present.len() + absent.len()) as i64;
        (met as i64 * MAX_NODE_SCORE)
            .checked_div(all)
            .ok_or_else(|| Status::error("this version of kube-scheduler crashes here: NodeLabel scores without a label to prefer"))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::cluster::Cluster;
    use crate::framework::Snapshot;
    use crate::release::Emulation;

    #[allow(clippy::needless_pass_by_value, reason = "literals are handed over")]
    fn ask(args: serde_json::Value, labels: serde_json::Value) -> (bool, Option<i64>) {
        let plugin = NodeLabel::new(serde_json::from_value(args).unwrap());
        let node = serde_json::json!({"metadata": {"name": "a", "labels": labels}});
        let node = NodeInfo::new(Arc::new(serde_json::from_value(node).unwrap()));
        let (cluster, snapshot) = (Cluster::default(), Snapshot::default());
        let cx = Context { cluster: &cluster, snapshot: &snapshot, emulation: Emulation::default(), now: jiff::Timestamp::UNIX_EPOCH };
        let pod = PodInfo::new(Arc::default());
        let state = CycleState::default();
        let fits = FilterPlugin::filter(&plugin, &cx, &state, &pod, &node).is_success();
        (fits, ScorePlugin::score(&plugin, &cx, &state, &pod, &node).ok())
    }

    #[test]
    fn labels_keep_pods_away_and_rank_nodes() {
        use serde_json::json;
        assert_eq!(ask(json!({"presentLabels": ["zone"]}), json!({"zone": ""})), (true, None));
        assert_eq!(ask(json!({"presentLabels": ["zone"], "absentLabels": ["old"]}), json!({"zone": "a", "old": "1"})), (false, None));
        let args = json!({"presentLabelsPreference": ["a", "b"], "absentLabelsPreference": ["c"]});
        assert_eq!(ask(args.clone(), json!({"a": "1"})), (true, Some(66)));
        assert_eq!(ask(args, json!({"c": "1"})), (true, Some(0)));
    }

    #[test]
    fn a_label_cannot_be_wanted_and_unwanted() {
        let args = |text: &str| serde_json::from_str::<NodeLabelArgs>(text).unwrap().validate();
        assert!(args(r#"{"presentLabels":["a"],"absentLabelsPreference":["a"]}"#).is_ok());
        assert!(args(r#"{"presentLabels":["b","a"],"absentLabels":["a"]}"#).is_err());
        assert!(args(r#"{"presentLabelsPreference":["a"],"absentLabelsPreference":["a"]}"#).is_err());
    }
}
