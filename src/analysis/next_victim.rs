//! Which pod of a node preemption evicts first.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::cluster::{Key, Pod, Str};
use crate::framework::{BudgetIndex, BudgetSelector, NodeInfo, PodInfo};
use crate::release::{Behaviour, BudgetRule, Importance};

/// The pod of a node that preemption evicts first: the last one that a dry run reprieves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextVictim {
    /// The pod.
    pub pod: Key,
    /// Its priority.
    pub priority: i32,
    /// The budgets that its eviction would violate, by name. Pods that violate none are evicted before.
    pub violates: Vec<Str>,
    /// The number of pods on the node that may be evicted.
    pub of: usize,
}

/// Why preemption evicts no pod of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoVictim {
    /// The pod that needs room never preempts.
    Never(Key),
    /// No pod on the node has a lower priority.
    NoneBelow(Key, i32),
    /// There is no pod on the node.
    Empty,
}

impl NextVictim {
    /// Returns the first victim for a pod that needs room, or without one, for any pod of a higher priority. Pods that need several
    /// victims may reprieve it in favour of others.
    ///
    /// # Errors
    /// When no pod of the node may be evicted.
    pub fn on(
        node: &NodeInfo,
        preemptor: Option<&Pod>,
        budgets: &BudgetIndex,
        behaviour: &Behaviour,
        now: Timestamp,
    ) -> Result<Self, NoVictim> {
        if let Some(pod) = preemptor.filter(|pod| pod.spec.preemption_policy.as_deref() == Some("Never")) {
            return Err(NoVictim::Never(pod.key()));
        }
        let is_below = |info: &&Arc<PodInfo>| preemptor.is_none_or(|pod| info.priority() < pod.priority());
        let mut pods: Vec<&Arc<PodInfo>> = node.pods.iter().filter(is_below).collect();
        sort_by_importance(&mut pods, behaviour, now);
        let mut left: HashMap<Key, i32> = HashMap::new();
        let mut violating = Vec::new();
        for info in &pods {
            violating.push(violated(info, budgets, behaviour.budgets, &mut left));
        }
        let of = pods.len();
        let last = violating.iter().rposition(Vec::is_empty).or_else(|| of.checked_sub(1));
        match (last, preemptor) {
            (Some(at), _) => Ok(Self { pod: pods[at].key(), priority: pods[at].priority(), violates: violating.swap_remove(at), of }),
            (None, Some(pod)) => Err(NoVictim::NoneBelow(pod.key(), pod.priority())),
            (None, None) => Err(NoVictim::Empty),
        }
    }

    /// Returns a sentence without its full stop.
    pub fn sentence(&self) -> String {
        let Self { pod, priority, violates, of } = self;
        let of = match of {
            1 => ", the only evictable pod".to_owned(),
            of => format!(", first of {of} to go"),
        };
        let budgets = match &violates[..] {
            [] => String::new(),
            [one] => format!("; this violates the budget {one}"),
            several => format!("; this violates the budgets {}", several.iter().map(Str::as_str).collect::<Vec<_>>().join(", ")),
        };
        format!("{pod} (priority {priority}){of}{budgets}")
    }
}

impl NoVictim {
    /// Returns a sentence without its full stop.
    pub fn sentence(&self) -> String {
        match self {
            Self::Never(pod) => format!("none: {pod} never preempts (preemptionPolicy Never)"),
            Self::NoneBelow(pod, priority) => format!("none: no pod here has a lower priority than {pod} ({priority})"),
            Self::Empty => "none: there is no pod here".to_owned(),
        }
    }
}

/// Sorts pods of a node as a dry run does, the most important first; equal pods keep their order on the node.
pub fn sort_by_importance(pods: &mut [&Arc<PodInfo>], behaviour: &Behaviour, now: Timestamp) {
    let now = i64::try_from(now.as_nanosecond()).unwrap_or(i64::MAX);
    let start = |info: &PodInfo| match behaviour.importance {
        Importance::PriorityAndStart => info.start_time().unwrap_or(now),
        Importance::Priority => 0,
    };
    pods.sort_by_key(|info| (Reverse(info.priority()), start(info)));
}

/// Counts one disruption in every budget that covers the pod. Returns those that it violates.
fn violated(info: &PodInfo, budgets: &BudgetIndex, rule: BudgetRule, left: &mut HashMap<Key, i32>) -> Vec<Str> {
    // As upstream, no budget covers a pod without labels.
    if !info.is_labelled() {
        return Vec::new();
    }
    let covering = budgets.in_namespace(info.namespace()).iter().filter(|selector| selector.matches(info));
    let mut violated = Vec::new();
    for budget in covering.map(BudgetSelector::budget) {
        let status = &budget.status;
        let before = match rule {
            BudgetRule::AsItStands => status.disruptions_allowed,
            // It is counted already.
            BudgetRule::CountedDown if status.disrupted_pods.contains_key(&info.pod.metadata.name) => continue,
            BudgetRule::CountedDown => {
                let left = left.entry(budget.metadata.key()).or_insert(status.disruptions_allowed);
                std::mem::replace(left, left.saturating_sub(1))
            }
        };
        if before <= 0 {
            violated.push(budget.metadata.name.clone());
        }
    }
    violated
}

#[cfg(test)]
mod tests {
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
            let behaviour = scheduler.state().config().emulation.behaviour();
            for pod in scheduler.state().cluster().pods.iter().filter(|pod| pod.is_pending()) {
                let view = CycleView::of(&scheduler.explain(pod));
                let Some(preemption) = &view.preemption else { continue };
                for run in preemption.dry_runs() {
                    let node = snapshot.get(run.node()).unwrap();
                    let found = NextVictim::on(node, Some(pod), snapshot.budgets(), behaviour, scheduler.state().clock());
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
        let next = NextVictim { pod: pod(), priority: -10, violates: vec!["b".into()], of: 1 };
        assert_eq!(next.sentence(), "shop/web (priority -10), the only evictable pod; this violates the budget b");
    }
}
