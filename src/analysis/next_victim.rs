//! Which pod of a node preemption evicts first.

use std::collections::HashMap;
use std::sync::Arc;

use crate::cluster::{Key, Pod, Str};
use crate::framework::{BudgetIndex, BudgetSelector, Context, NodeInfo, PodInfo};
use crate::preemption::Evictable;
use crate::release::BudgetRule;

/// The pod of a node that preemption evicts first: the last one that a dry run reprieves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextVictim {
    pub pod: Key,
    pub priority: i32,
    /// The budgets that its eviction would violate, by name. Pods that violate none are evicted before.
    pub violates: Vec<Str>,
    /// The number of pods on the node that may be evicted, a group that is evicted as a whole counted once.
    pub of: usize,
    /// The group that is evicted with it, and how many pods it has, on all nodes.
    pub group: Option<(Key, usize)>,
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
    pub fn on(cx: &Context<'_>, node: &NodeInfo, preemptor: Option<&Pod>) -> Result<Self, NoVictim> {
        if let Some(pod) = preemptor.filter(|pod| pod.spec.preemption_policy.as_deref() == Some("Never")) {
            return Err(NoVictim::Never(pod.key()));
        }
        let mut units = Evictable::on_node(cx, node, preemptor.map(Pod::priority));
        let (budgets, rule) = (cx.snapshot.budgets(), cx.emulation.behaviour().preemption.budgets);
        let mut left: HashMap<Key, i32> = HashMap::new();
        let mut violating: Vec<Vec<Str>> = Vec::new();
        for unit in &units {
            let mut of_unit: Vec<Str> = unit.pods.iter().flat_map(|info| violated(info, budgets, rule, &mut left)).collect();
            of_unit.sort();
            of_unit.dedup();
            violating.push(of_unit);
        }
        let of = units.len();
        let last = violating.iter().rposition(Vec::is_empty).or_else(|| of.checked_sub(1));
        let first = last.and_then(|at| {
            let Evictable { pods, group, priority } = units.swap_remove(at);
            let pod = pods.iter().find(|info| info.pod.node_name == *node.name()).or(pods.first())?.key();
            let group = group.map(|group| (group, pods.len()));
            Some(Self { pod, priority, violates: violating.swap_remove(at), of, group })
        });
        match (first, preemptor) {
            (Some(first), _) => Ok(first),
            (None, Some(pod)) => Err(NoVictim::NoneBelow(pod.key(), pod.priority())),
            (None, None) => Err(NoVictim::Empty),
        }
    }

    /// Returns a sentence without its full stop.
    pub fn sentence(&self) -> String {
        let Self { pod, priority, violates, of, group } = self;
        let of = match of {
            1 => ", the only evictable pod".to_owned(),
            of => format!(", first of {of} to go"),
        };
        let budgets = match &violates[..] {
            [] => String::new(),
            [one] => format!("; this violates the budget {one}"),
            several => format!("; this violates the budgets {}", several.iter().map(Str::as_str).collect::<Vec<_>>().join(", ")),
        };
        let group = group.as_ref().map(|(group, pods)| format!(", with all {pods} pods of its group {group}")).unwrap_or_default();
        format!("{pod} (priority {priority}){group}{of}{budgets}")
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

/// Returns the pods of a node as a dry run orders them, the most important first; equal pods keep their order on the node.
pub fn by_importance(cx: &Context<'_>, node: &NodeInfo) -> Vec<Arc<PodInfo>> {
    let units = Evictable::on_node(cx, node, None);
    let places: HashMap<Key, usize> =
        units.iter().flat_map(|unit| &unit.pods).enumerate().map(|(place, info)| (info.key(), place)).collect();
    let mut pods = node.pods.clone();
    pods.sort_by_cached_key(|info| places.get(&info.key()).copied().unwrap_or(usize::MAX));
    pods
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
            BudgetRule::CountedDown | BudgetRule::UpToExhausted if status.disrupted_pods.contains_key(&info.pod.metadata.name) => continue,
            BudgetRule::CountedDown | BudgetRule::UpToExhausted => {
                let left = left.entry(budget.metadata.key()).or_insert(status.disruptions_allowed);
                std::mem::replace(left, left.saturating_sub(1))
            }
        };
        if before <= 0 {
            violated.push(budget.metadata.name.clone());
            if rule == BudgetRule::UpToExhausted {
                break;
            }
        }
    }
    violated
}

#[cfg(test)]
mod tests;
