//! Tests of `agreement`.

use serde_json::json;

use super::*;
use crate::cluster::Object;
use crate::cluster::testing::object_with_kind;
use crate::release::Emulation;
use crate::scheduler::{Config, InitialQueues, Options};
use crate::source::{STORIES, load};

#[test]
fn pods_that_are_left_by_the_bound_are_not_decided() {
    let pod = |name: &str| object_with_kind(&json!({"kind": "Pod", "metadata": {"name": name, "namespace": "d"}}));
    let node = object_with_kind(&json!({"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"pods": "0"}}}));
    let scheduler = Scheduler::new(Config::defaults(Emulation::default()), vec![node, pod("a"), pod("b"), pod("c")], Options::default());
    let found = |most: u64| Agreements::of_some(&scheduler, &[], Vec::new(), (|_: &Key| true, most), |_| true);
    let names = |keys: &[Key]| keys.iter().map(|key| key.name.to_string()).collect::<Vec<_>>();
    // One pod is decided in any case.
    let first = found(1);
    assert_eq!((first.pods.len(), names(&first.not_decided)), (1, vec!["b".to_owned(), "c".to_owned()]));
    let text = first.text().to_string();
    assert!(text.contains("1 pending pod. ") && text.contains(" 2 more are not decided, as the others took all steps."), "{text}");
    assert!(text.contains("d/b, d/c"), "{text}");
    assert_eq!(serde_json::to_value(&first).unwrap()["notDecided"].as_array().map(Vec::len), Some(2));
    let all = found(1_000_000);
    assert_eq!((all.pods.len(), all.not_decided.len()), (3, 0));
    assert!(!all.text().to_string().contains("not decided") && serde_json::to_value(&all).unwrap().get("notDecided").is_none());
    assert_eq!(Agreements::within_bound(&scheduler, &[], |_| true).pods.len(), 3);
}

#[test]
fn other_releases_are_tried_for_a_number_of_steps() {
    let spec = json!({"schedulerName": "default-scheduler"});
    let pod = object_with_kind(&json!({"kind": "Pod", "metadata": {"name": "p", "namespace": "d"}, "spec": spec}));
    let node = object_with_kind(&json!({"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"pods": "0"}}}));
    let scheduler = Scheduler::new(Config::defaults(Emulation::default()), vec![node, pod], Options::default());
    let said = "0/2 nodes are available: 2 Insufficient cpu.";
    let event = ObservedEvent {
        pod: Key::new("d", "p"),
        uid: "".into(),
        reason: "FailedScheduling".into(),
        note: said.to_owned(),
        controller: "".into(),
        count: 1,
        first: None,
        last: None,
    };
    let pod = scheduler.state().cluster().pods.get(&event.pod).unwrap();
    let all = SchedulerComparer::new(&scheduler, std::slice::from_ref(&event)).decide(pod);
    assert_eq!((all.accord, all.untried), (MatchKind::Unexplained, 0));
    assert!(serde_json::to_value(&all).unwrap().get("releasesUntried").is_none());
    // Of many pods each has few of the steps: the likeliest release is tried.
    let few = SchedulerComparer::new(&scheduler, &[event]).for_pods(usize::MAX).decide(pod);
    let most = scheduler.emulated().other_writers().len();
    assert!((1..most).contains(&few.untried), "{} of {most}", few.untried);
    assert_eq!(serde_json::to_value(&few).unwrap()["releasesUntried"], few.untried);
    assert!(few.text().to_string().contains("a decision takes too many steps"), "{}", few.text());
}

#[test]
fn pods_that_are_alike_share_a_decision_and_differ_in_their_names_alone() {
    let mut shared = 0;
    for story in STORIES {
        let mut loaded = load(&[story.input()]);
        let twins = |pod: &Arc<Pod>| {
            ["twin-a", "twin-b"].map(|end| {
                let mut twin = (**pod).clone();
                twin.metadata.name = format!("{}-{end}", pod.metadata.name).into();
                twin.metadata.uid = format!("{}-{end}", pod.metadata.uid).as_str().into();
                Object::Pod(Arc::new(twin))
            })
        };
        let pods = loaded.objects.iter().filter_map(|object| if let Object::Pod(pod) = object { Some(pod) } else { None });
        let more: Vec<Object> = pods.filter(|pod| pod.is_pending()).flat_map(twins).collect();
        loaded.objects.extend(more);
        let start = loaded.report.newest.unwrap_or_default();
        let options = Options { start, queues: InitialQueues::AsObserved, events: loaded.events.clone(), ..Options::default() };
        let scheduler = Scheduler::new(Config::defaults(Emulation::default()), loaded.objects, options);
        let comparer = SchedulerComparer::new(&scheduler, &loaded.events);
        let found = Agreements::of(&scheduler, &loaded.events, Vec::new(), |_| true, |_| true);
        let pods: Vec<&Arc<Pod>> = pending(scheduler.state().cluster()).collect();
        shared += pods.len() - pods.chunk_by(|a, b| scheduler.decides_alike(a, b)).count();
        for pod in pods {
            let alone = serde_json::to_value(comparer.decide(pod)).unwrap();
            let together = found.pods.iter().find(|found| found.pod == pod.key()).unwrap();
            assert_eq!(serde_json::to_value(together).unwrap(), alone, "{}: {}", story.name, pod.key());
        }
    }
    assert!(shared >= 20, "{shared}");
}
