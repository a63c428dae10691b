//! Cluster events in words for people, beside kube-scheduler's own labels.

use super::{ActionType, ClusterEvent, EventResource};

impl ClusterEvent {
    /// Returns the event as a clause: `a node is added`; `None` for an event that no object caused, whose label says it.
    pub fn words(&self) -> Option<String> {
        use ActionType as A;
        use EventResource as R;
        if self.resource == R::WildCard {
            return None;
        }
        let what = match self.resource {
            R::AssignedPod => "a pod on a node",
            R::UnschedulablePod => "a pending pod",
            R::Pod => "a pod",
            R::Node => "a node",
            R::PersistentVolume => "a volume",
            R::PersistentVolumeClaim => "a claim",
            R::CSINode => "the CSI drivers of a node",
            R::CSIDriver => "a CSI driver",
            R::VolumeAttachment => "a volume attachment",
            R::CSIStorageCapacity => "a storage capacity",
            R::StorageClass => "a storage class",
            R::ResourceClaim => "a resource claim",
            R::ResourceSlice => "a slice of devices",
            R::DeviceClass => "a device class",
            R::PodGroup => "a pod group",
            R::WildCard => "an object",
        };
        let (are, changes) = if self.resource == R::CSINode { ("are", "change") } else { ("is", "changes") };
        Some(match (self.resource, self.action) {
            (R::AssignedPod, A::ADD) => "a pod comes to a node".to_owned(),
            (R::AssignedPod, A::DELETE) => "a pod leaves a node".to_owned(),
            (_, A::ADD) => format!("{what} {are} added"),
            (_, A::DELETE) => format!("{what} {are} deleted"),
            (R::Node, A::UPDATE_NODE_ALLOCATABLE) => "a node's resources change".to_owned(),
            (R::Node, A::UPDATE_NODE_TAINT) => "a node's taints change".to_owned(),
            (R::Node, A::UPDATE_NODE_LABEL) => "a node's labels change".to_owned(),
            (R::Node, A::UPDATE_NODE_CONDITION) => "a node's conditions change".to_owned(),
            (R::Node, A::UPDATE_NODE_ANNOTATION) => "a node's annotations change".to_owned(),
            (R::Node, A::UPDATE_NODE_DECLARED_FEATURE) => "a node's features change".to_owned(),
            (_, A::UPDATE_POD_LABEL) => format!("{what} gets other labels"),
            (_, A::UPDATE_POD_SCALE_DOWN) => format!("{what} requests less"),
            (_, A::UPDATE_POD_TOLERATION) => format!("{what} gets a toleration"),
            (_, A::UPDATE_POD_SCHEDULING_GATES_ELIMINATED) => "its last scheduling gate is removed".to_owned(),
            (_, A::UPDATE_POD_GENERATED_RESOURCE_CLAIM) => "its resource claim is made".to_owned(),
            _ => format!("{what} {changes}"),
        })
    }

    /// Returns the event in words with its label: `a node is added (NodeAdd)`; the label alone where it says it.
    pub fn words_with_label(&self) -> String {
        self.words().map_or_else(|| self.to_string(), |words| format!("{words} ({self})"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_said_in_words_with_their_labels() {
        let words = |resource, action| ClusterEvent::new(resource, action).words_with_label();
        assert_eq!(words(EventResource::Node, ActionType::ADD), "a node is added (NodeAdd)");
        assert_eq!(words(EventResource::AssignedPod, ActionType::DELETE), "a pod leaves a node (AssignedPodDelete)");
        assert_eq!(words(EventResource::Node, ActionType::UPDATE_NODE_TAINT), "a node's taints change (NodeUpdateNodeTaint)");
        assert_eq!(words(EventResource::CSINode, ActionType::UPDATE), "the CSI drivers of a node change (storage.k8s.io/CSINodeUpdate)");
        assert_eq!(ClusterEvent::UNSCHEDULABLE_TIMEOUT.words_with_label(), "UnschedulableTimeout");
    }
}
