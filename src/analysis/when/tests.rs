//! Tests of `when`.

use super::*;
use crate::cluster::Cluster;
use crate::framework::PluginName;

fn at(text: &str) -> Timestamp {
    format!("2026-11-20T{text}Z").parse().unwrap()
}

/// Returns the words about a pod in a place, which other pods of activeQ precede.
fn words(pod: &str, place: Option<Place>) -> Option<String> {
    let pod: Pod = serde_json::from_str(&format!(
        r#"{{"metadata":{{"name":"p","namespace":"shop"{}}},"spec":{{"schedulerName":"default-scheduler"{}}}}}"#,
        pod.split('|').next().unwrap_or_default(),
        pod.split('|').nth(1).unwrap_or_default()
    ))
    .unwrap();
    let mut keyframe = Keyframe { clock: at("18:00:00"), cluster: Cluster::default(), ..Keyframe::default() };
    let ahead = QueueEntry { priority: 9, ..QueueEntry::at(Key::new("shop", "ahead"), Place::Active) };
    let own = place.map(|place| QueueEntry { timestamp: at("17:59:00"), ..QueueEntry::at(pod.key(), place) });
    for entry in own.into_iter().chain([ahead]) {
        keyframe.queues.entries.insert(entry.pod.clone(), entry.into());
    }
    When::of_place(&keyframe, &pod).map(|when| when.text)
}

#[test]
fn every_place_says_when_the_pod_is_tried() {
    let unschedulable = |gated_by| Place::Unschedulable { plugins: PluginSet::default(), gated_by };
    for (pod, place, expected) in [
        ("", Some(Place::Active), "tried after 1 pod in activeQ"),
        ("", Some(unschedulable(None)), "waits, and no event moves it; tried anyway by the flush after 18:04:00 (in 4 min)"),
        (
            "|,\"schedulingGates\":[{\"name\":\"quota\"}]",
            Some(unschedulable(Some(PluginName::SchedulingGates))),
            "tried once its scheduling gate is removed: quota",
        ),
        ("", Some(unschedulable(Some(PluginName::DefaultPreemption))), "tried once DefaultPreemption lets it into the queue"),
        ("", Some(Place::WaitingOnPermit { node: "w1".into() }), "starts on w1 once Permit lets it pass"),
        (",\"deletionTimestamp\":\"2026-11-20T18:00:30Z\"", None, "gone at the latest 18:00:30 (in 30 s)"),
        (",\"deletionTimestamp\":\"2026-11-20T17:00:00Z\"", None, "was to be gone 17:00:00 (60 min ago): something holds it"),
    ] {
        assert_eq!(words(pod, place).as_deref(), Some(expected), "{pod}");
    }
    assert_eq!(words("", None), None);
}
