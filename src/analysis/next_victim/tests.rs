//! Tests of `next_victim`.

use super::*;
use crate::framework::DryRunStep;
use crate::scheduler::{Evictions, Options, Scheduler};
use crate::source::{Story, load};
use crate::trace::CycleView;

/// Compares with every dry run of the stories: where exactly one pod is evicted, and where none was reprieved after it.
#[test]
fn it_is_the_last_pod_that_a_dry_run_puts_back() {
    let mut compared = 0;
    for story in ["payments", "budgets", "tie-breaks"] {
        let loaded = load(&[Story::named(story).unwrap().input()]);
        let start = loaded.report.newest.unwrap();
        let config = crate::scheduler::Config::defaults(crate::release::Emulation::default());
        let options = Options { start, evictions: Evictions::AtOnce, ..Options::default() };
        let scheduler = Scheduler::new(config, loaded.objects, options);
        let snapshot = scheduler.state().snapshot();
        let state = scheduler.state();
        let (emulation, now) = (state.config().emulation, state.clock());
        let cx = Context { cluster: state.cluster(), snapshot: &snapshot, emulation, now };
        for pod in scheduler.state().cluster().pods.iter().filter(|pod| pod.is_pending()) {
            let view = CycleView::of(&scheduler.explain(pod));
            let Some(preemption) = &view.preemption else { continue };
            for run in preemption.dry_runs() {
                let node = snapshot.get(run.node()).unwrap();
                let found = NextVictim::on(&cx, node, Some(pod));
                let mut put_back = run.steps().filter_map(|step| match step {
                    DryRunStep::Reprieved(victim) | DryRunStep::NotReprieved(victim, _) => Some(victim.key()),
                    _ => None,
                });
                if let Some(last) = put_back.next_back() {
                    assert_eq!(found.map(|found| found.pod), Ok(last), "{story}: {} on {}", pod.key(), run.node());
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 10, "{compared}");
}

#[test]
fn a_sentence_says_why_there_is_none() {
    let pod = || Key::new("shop", "web");
    assert_eq!(NoVictim::NoneBelow(pod(), 7).sentence(), "none: no pod here has a lower priority than shop/web (7)");
    let next = NextVictim { pod: pod(), priority: -10, violates: vec!["b".into()], of: 1, group: None };
    assert_eq!(next.sentence(), "shop/web (priority -10), the only evictable pod; this violates the budget b");
    let next = NextVictim { violates: Vec::new(), of: 2, group: Some((Key::new("shop", "g"), 3)), ..next };
    assert_eq!(next.sentence(), "shop/web (priority -10), with all 3 pods of its group shop/g, first of 2 to go");
}
