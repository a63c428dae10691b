use super::*;
use crate::framework::{PluginName, PluginSet};

#[test]
fn earlier_releases_count_attempts_and_wait_to_the_exact_time() {
    let queue = |windows, rule| BackoffQueue::new(Duration::from_secs(1), Duration::from_secs(10), windows, rule);
    let (exact, attempts, rejections) =
        (queue(false, Backoff::ExactByAttempts), queue(true, Backoff::ByAttempts), queue(true, Backoff::ByRejections));
    let at = |millis| Timestamp::from_millisecond(millis).unwrap();
    let pod = std::sync::Arc::new(crate::cluster::Pod::default());
    let mut info = QueuedPodInfo::new(pod, at(500), 0, crate::release::Emulation::default());
    assert_eq!((exact.expiration(&info), attempts.expiration(&info)), (at(1500), Timestamp::MIN));
    info.attempts = 3;
    info.unschedulable_count = 1;
    assert_eq!([&exact, &attempts, &rejections].map(|q| q.expiration(&info)), [at(4500), at(4000), at(1000)]);
    assert!(exact.is_backing_off(&info, at(4499)) && !exact.is_backing_off(&info, at(4500)));
    assert!(attempts.is_backing_off(&info, at(4999)) && !attempts.is_backing_off(&info, at(5000)));
    info.gating_plugin = Some(PluginName::SchedulingGates);
    assert_eq!(exact.expiration(&info), Timestamp::MIN);
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap()
}

fn queue(initial: u64, max: u64, windows: bool) -> BackoffQueue {
    BackoffQueue::new(Duration::from_secs(initial), Duration::from_secs(max), windows, Backoff::ByRejections)
}

fn info(name: &str, priority: i32, millis: i64, rejected: u32) -> Arc<QueuedPodInfo> {
    let text = format!(r#"{{"metadata":{{"name":"{name}"}},"spec":{{"priority":{priority}}}}}"#);
    let mut info = QueuedPodInfo::new(Arc::new(serde_json::from_str(&text).unwrap()), at(millis), 0, crate::release::Emulation::default());
    info.unschedulable_count = rejected;
    info.unschedulable_plugins = [PluginName::NodeName].into_iter().filter(|_| rejected > 0).collect();
    Arc::new(info)
}

#[test]
fn the_delay_doubles_up_to_the_maximum_and_ends_with_a_whole_second() {
    for (count, expires) in [(1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (6, 10), (33, 10), (64, 10), (65, 10), (u32::MAX, 10)] {
        for start in [0, 999] {
            assert_eq!(queue(1, 10, true).expiration(&info("p", 0, start, count)), at(expires * 1000), "{count}");
        }
        assert_eq!(queue(1, 10, false).expiration(&info("p", 0, 999, count)), at(expires * 1000 + 999), "{count}");
    }
    assert_eq!(queue(1, 0, true).expiration(&info("p", 0, 0, 3)), Timestamp::MIN);
    assert_eq!(queue(1, u64::MAX, true).expiration(&info("p", 0, 0, 62)), floor_to_second(Timestamp::MAX));
    // 7 s fits twice into 20 s, not four times.
    assert_eq!([1, 2, 3].map(|n| queue(7, 20, true).expiration(&info("p", 0, 0, n))), [at(7000), at(14000), at(20000)]);
}

#[test]
fn errors_count_before_rejections_and_nothing_means_no_wait() {
    let mut pod = (*info("p", 0, 0, 1)).clone();
    pod.consecutive_errors_count = 3;
    assert_eq!(queue(1, 10, true).expiration(&pod), at(4000));
    assert!(!queue(1, 10, true).is_backing_off(&info("p", 0, 5000, 0), at(0)));
}

#[test]
fn the_last_second_still_backs_off() {
    for (windows, now, backing_off) in
        [(true, 1999, true), (true, 2000, false), (false, 1500, true), (false, 1501, false), (false, 1499, true)]
    {
        assert_eq!(queue(1, 10, windows).is_backing_off(&info("p", 0, 500, 1), at(now)), backing_off, "{windows} {now}");
    }
}

#[test]
fn heads_come_by_window_then_as_in_active_queue() {
    let mut queue = queue(1, 10, true);
    for pod in [info("late", 9, 1200, 1), info("low", 0, 100, 1), info("high", 5, 900, 1), info("old", 5, 800, 1), info("error", 0, 0, 0)] {
        queue.insert(pod);
    }
    let names = |list: Vec<Arc<QueuedPodInfo>>| list.iter().map(|i| i.key().to_string()).collect::<Vec<_>>();
    assert_eq!(names(queue.iter().cloned().collect()), ["error", "old", "high", "low", "late"]);
    assert_eq!(queue.next_due(), Some(Timestamp::MIN + SignedDuration::from_secs(1)));
    assert_eq!(names(queue.clone().pop_all_completed(at(2000))), ["old", "high", "low", "error"]);
    assert_eq!(names(queue.clone().pop_all_completed(at(1999))), ["error"]);
    assert_eq!(names(std::iter::from_fn(|| queue.pop_early()).collect()), ["old", "high", "low", "late"]);
    assert_eq!(queue.len(), 1);
}

#[test]
fn seconds_are_floored_before_1970_too() {
    assert_eq!(floor_to_second(at(-1)), at(-1000));
    assert_eq!(floor_to_second(at(1999)), at(1000));
}

#[test]
fn a_pod_that_gains_a_rejector_changes_heaps() {
    let mut queue = queue(1, 10, true);
    queue.insert(info("p", 0, 0, 0));
    assert!(queue.clone().pop_early().is_none());
    let mut rejected = (**queue.get(&Key::new("", "p")).unwrap()).clone();
    rejected.unschedulable_plugins = PluginSet::from_iter([PluginName::NodePorts]);
    queue.insert(Arc::new(rejected));
    assert_eq!(queue.len(), 1);
    assert!(queue.pop_early().is_some());
}
