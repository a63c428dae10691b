//! Tests of `voices`.

use super::*;

fn means(speaker: &str, reason: &str, text: &str) -> Option<Meaning> {
    let about = About::new("Pod", Key::new("shop", "web"));
    Meaning::of(&OtherEvent { about, speaker: speaker.into(), reason: reason.into(), text: text.into(), ..OtherEvent::default() })
}

#[test]
fn each_shape_has_its_meaning_by_speaker() {
    for (speaker, reason, text, expected) in [
        (
            "cluster-autoscaler",
            "NotTriggerScaleUp",
            "pod didn't trigger scale-up: 1 max node group size reached, 2 Insufficient cpu",
            "NoScaleUp(\"1 max node group size reached, 2 Insufficient cpu\")",
        ),
        (
            "cluster-autoscaler",
            "TriggeredScaleUp",
            "pod triggered scale-up: [{pool-a 1->2 (max: 3)}]",
            "ScaleUp(\"[{pool-a 1->2 (max: 3)}]\")",
        ),
        (
            "cluster-autoscaler",
            "",
            "Unschedulable pod didn't trigger scale-up, because it's consuming ProvisioningRequest ml/train",
            "Provisioning(\"ml/train\")",
        ),
        ("karpenter", "Nominated", "Pod should schedule on: nodeclaim/default-x7k2p", "Nominated(\"nodeclaim/default-x7k2p\")"),
        ("karpenter", "FailedScheduling", "Failed to schedule pod, did not tolerate taint (taint=dedicated=gpu:NoSchedule)", "PoolTaint"),
        ("karpenter", "FailedScheduling", "Failed to schedule pod, node limits have been exhausted for nodepool", "PoolAtLimit"),
        ("karpenter", "FailedScheduling", "Failed to schedule pod, something new", "NoPool"),
        ("job-controller", "Suspended", "Job suspended", "Suspended"),
        ("statefulset-controller", "FailedCreate", "create Pod db-1 in StatefulSet db failed error: odd", "Refused(Other("),
        ("persistentvolume-controller", "WaitForFirstConsumer", "waiting for first consumer", "WaitsForConsumer"),
        ("resource_claim", "FailedResourceClaimCreation", "PodResourceClaim gpu: x", "NoDeviceClaim"),
        (
            "kueue-admission",
            "WaitingForQuota",
            "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor a100, 4 more needed",
            "QueueQuota(\"nvidia.com/gpu in flavor a100, 4 more needed\")",
        ),
        ("volcano", "Unschedulable", "3/4 tasks in gang unschedulable: pod group is not ready", "Gang"),
        ("yunikorn", "PodUnschedulable", "Task a/b is skipped from scheduling because the queue quota has been exceed", "QueueFull"),
        ("kai-scheduler", "Unschedulable", "NonPreemptibleOverQuota: Non-preemptible workload is over quota.", "QueueFull"),
        ("taint-eviction-controller", "TaintManagerEviction", "Marking for deletion Pod a/b", "TaintEviction"),
        ("sigs.k8s.io/descheduler", "LowNodeUtilization", "pod evicted from n1 node by sigs.k8s.io/descheduler", "Descheduled"),
    ] {
        let found = format!("{:?}", means(speaker, reason, text));
        assert!(found.starts_with(&format!("Some({expected}")), "{speaker} {reason}: {found}");
    }
}

#[test]
fn only_what_can_hold_words_about_a_pod_is_needed() {
    let needs = |text: &str| {
        let needs = NeighborNeeds::of(&serde_json::from_str(text).unwrap());
        (needs.kinds.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "), needs.events)
    };
    assert_eq!(needs(r#"{"metadata":{"name":"a","namespace":"x"}}"#), (String::new(), false));
    let job = r#"{"metadata":{"name":"a","namespace":"x","ownerReferences":[{"kind":"Job","name":"j","controller":true}]},
            "spec":{"schedulingGates":[{"name":"kueue.x-k8s.io/admission"}]}}"#;
    assert_eq!(needs(job), ("ClusterQueue Job LocalQueue ProvisioningRequest Workload".to_owned(), true));
    let gang = r#"{"metadata":{"name":"a","namespace":"x","annotations":{"scheduling.k8s.io/group-name":"g"}}}"#;
    assert_eq!(needs(gang), ("PodGroup".to_owned(), true));
    let tried = r#"{"metadata":{"name":"a","namespace":"x"},"spec":{"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}]},
            "status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]}}"#;
    assert_eq!(needs(tried), ("NodeClaim NodePool".to_owned(), true));
}

#[test]
fn an_unknown_text_or_another_speaker_has_no_meaning() {
    assert_eq!(means("cluster-autoscaler", "Sparkle", "hello"), None);
    assert_eq!(means("my-operator", "NotTriggerScaleUp", "pod didn't trigger scale-up: x"), None);
    assert_eq!(means("taint-eviction-controller", "TaintManagerEviction", "Cancelling deletion of Pod a/b"), None);
}

#[test]
fn what_a_controller_did_with_siblings_is_no_word_about_a_pod() {
    let mut neighbors = crate::cluster::neighbors::Neighbors::default();
    let about = About::new("ReplicaSet", Key::new("shop", "web"));
    for text in ["Created pod: web-a", "Created pod: web-b"] {
        let (speaker, reason) = ("replicaset-controller".into(), "SuccessfulCreate".into());
        neighbors.events.push(OtherEvent { about: about.clone(), speaker, reason, text: text.to_owned(), ..OtherEvent::default() });
    }
    let pod =
        r#"{"metadata":{"name":"web-b","namespace":"shop","ownerReferences":[{"kind":"ReplicaSet","name":"web","controller":true}]}}"#;
    let cluster = crate::cluster::Cluster::default();
    let input = WorkloadInput::of_events(&cluster, &neighbors);
    let said: Vec<String> =
        voices_of_pod(&input, &serde_json::from_str(pod).unwrap(), None).voices.into_iter().map(|voice| voice.text).collect();
    assert_eq!(said, ["Created pod: web-b"]);
}

#[test]
fn words_beyond_the_limit_are_counted() {
    let mut neighbors = crate::cluster::neighbors::Neighbors::default();
    let about = About::new("ReplicaSet", Key::new("shop", "web"));
    let event = |at: usize, reason: &str, text: String| OtherEvent {
        about: about.clone(),
        speaker: "replicaset-controller".into(),
        reason: reason.into(),
        text,
        last: Timestamp::from_second(at as i64).ok(),
        ..OtherEvent::default()
    };
    neighbors.events.push(event(0, "Suspended", "an old word of another reason".to_owned()));
    let many = VOICES_OF_OBJECT + 5;
    neighbors.events.extend((1..=many).map(|at| event(at, "FailedCreate", format!("refused {at}"))));
    neighbors.events.extend((1..=many).map(|at| event(at, "SuccessfulCreate", format!("Created pod: web-{}", at % 2))));
    let cluster = crate::cluster::Cluster::default();
    let input = WorkloadInput::of_events(&cluster, &neighbors);
    let pod = |name: &str| -> Pod {
        let owner = r#"[{"kind":"ReplicaSet","name":"web","controller":true}]"#;
        serde_json::from_str(&format!(r#"{{"metadata":{{"name":"{name}","namespace":"shop","ownerReferences":{owner}}}}}"#)).unwrap()
    };
    let found = voices_of_pod(&input, &pod("other"), None);
    let texts: Vec<&str> = found.voices.iter().map(|voice| voice.text.as_str()).collect();
    assert_eq!((found.voices.len(), found.left_out), (VOICES_OF_OBJECT, 6), "{texts:?}");
    let newest = format!("refused {many}");
    assert_eq!((texts[0], texts[VOICES_OF_OBJECT - 1]), (newest.as_str(), "an old word of another reason"));
    let own = voices_of_pod(&input, &pod("web-1"), None);
    assert_eq!((own.voices.len(), own.left_out), (VOICES_OF_OBJECT + many.div_ceil(2), 6), "those that name the pod");
    let all = voices_about(&input, &[about], None);
    assert_eq!((all.voices.len(), all.left_out), (VOICES_OF_OBJECT, 2 * many + 1 - VOICES_OF_OBJECT));
    assert_eq!(voices_of_pod(&input, &pod("other"), Some("replicaset-controller")).voices, []);
}
