//! The fix that frees most pods of a cause.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::{CauseFix, FixSearch};
use crate::analysis::Missing;
use crate::analysis::fixes::{FixReport, FixSource, cut_short_texts, fix_report, unproposed_text};
use crate::cluster::{Cluster, Key, Kind, Pod, Str};
use crate::fixes::{
    Alternative, Background, Change, CutShort, Fix, FixOutcome, Limits, Unproposed, admitted, find, freed, freed_with_group, nodes_needed,
};
use crate::framework::{PodResourcesOptions, pod_requests};
use crate::limits::engine::OVERVIEW_FIX_STEPS;
use crate::plural::count;
use crate::scheduler::Scheduler;
use crate::trace::Outcome;

/// Limit on the decisions of a search.
const TRIALS: usize = 400;
/// Limit on the objects of a kind to try one by one.
const ALIKE: usize = 32;
/// Limit on the deletions to try.
const DELETIONS: usize = 8;
/// Limit on the fixes that differ in one choice only, such as the label's value.
const ALTERNATIVES: usize = 2;
/// Limit on the different pods of a cause whose fixes are searched.
const MODELS: usize = 3;
/// Limit on a pod's fixes that are tried on the other pods of its cause.
const FIXES_TRIED: usize = 6;
/// Limit on the shapes of nodes of which a number is searched.
const SHAPES: usize = 2;
/// Limit on the pods of a cause on which a fix is tried.
const PODS_TRIED: usize = 500;

/// Returns the fix that frees most of the pods, the smallest among equals. Takes a last resort only if no other frees a pod.
/// Searches fixes for a few distinct specs, those with the least requests. `group_steps` are the steps of attempts of pod groups so
/// far.
pub(super) fn best_fix(
    scheduler: &Scheduler,
    pods: &[Key],
    background: Background<'_>,
    group_steps: &mut u64,
    go_on: &(dyn Fn() -> bool + Sync),
) -> FixSearch {
    let cluster = scheduler.state().cluster();
    if let Some(why) = cluster.unknown.unread(Kind::Node).filter(|_| cluster.nodes.is_empty()) {
        return FixSearch::NotProposed(Missing { kind: Kind::Node, why, effect: None }.clause(), true);
    }
    let (models, mut cut_short) = models(pods, cluster);
    let mut not_proposed = None;
    let limits = Limits { trials: TRIALS, alike: ALIKE, deletions: DELETIONS, steps: OVERVIEW_FIX_STEPS, group_steps: 0 };
    // Half of the steps that are left, so that no cause takes those of all.
    let most_group_steps = *group_steps + Limits::group_steps(cluster.nodes.len()).saturating_sub(*group_steps) / 2;
    let tried = &pods[..pods.len().min(PODS_TRIED)];
    let mut best: Option<Freeing<'_>> = None;
    let mut likes: Vec<Str> = Vec::new();
    for model in models {
        let limits = Limits { group_steps: most_group_steps.saturating_sub(*group_steps), ..limits };
        let found = find(scheduler, model, limits, background, &|_| go_on());
        *group_steps = group_steps.saturating_add(found.search.group_steps);
        cut_short = cut_short_texts(&found.search.cut_short_by).or(cut_short);
        not_proposed = not_proposed.or_else(|| found.unproposed.iter().find(|why| !matches!(why, Unproposed::Undone(_))).cloned());
        if found.group.is_some() && found.outcome == Outcome::Scheduled {
            cut_short.get_or_insert_with(|| "each pod would fit by itself, and changes for several at once are not tried".to_owned());
        }
        add_shapes(&found.fixes, &mut likes);
        let unknown_policies: Vec<String> = found.unknown_policies.iter().map(|kind| kind.plural()).collect();
        for fix in worth_trying(found.fixes) {
            if fix.group.is_some() && fix.outcome != FixOutcome::Preempts && *group_steps >= most_group_steps {
                cut_short = cut_short.or_else(|| cut_short_texts(&[CutShort::GroupSteps]));
                continue;
            }
            // A pod group decides about its pods together, so that none may be left out.
            let tried = if fix.group.is_some() { pods } else { tried };
            let admitted = admitted(scheduler, background, model, &fix, tried);
            let freed = freed_by(scheduler, model, &fix, &admitted, group_steps, go_on);
            if !go_on() {
                return FixSearch::Stopped;
            }
            let unknown = if fix.needs_admission() { unknown_policies.clone() } else { Vec::new() };
            let freeing = Freeing { fix, model, freed, unknown };
            if !freeing.freed.is_empty() && best.as_ref().is_none_or(|best| freeing.is_better_than(best)) {
                best = Some(freeing);
            }
        }
        if !go_on() {
            return FixSearch::Stopped;
        }
    }
    let Some(Freeing { fix, model, freed, unknown }) = best else { return nothing_found(not_proposed, cut_short) };
    let report = for_all(&fix, cluster, background.source(), &freed);
    // A fix that adds nodes, and one that frees all, need no number of nodes beside it.
    let adds = fix.changes.iter().any(|change| matches!(change, Change::Create { like: Some(_), .. }));
    let is_enough = freed.len() == pods.len() && (!adds && fix.last_resort.is_none() || pods.len() == 1);
    let grouped = fix.group.is_some() || pods.len() > tried.len();
    let nodes = if is_enough || grouped { None } else { nodes_needed(scheduler, pods, &likes, go_on) };
    FixSearch::Found(Arc::new(CauseFix {
        frees: freed.len(),
        fix: report,
        nodes,
        first: model.key(),
        parts: fix.changes,
        freed,
        unknown_policies: unknown,
    }))
}

/// Returns the pods that a fix frees. Adds the steps of attempts of pod groups to `group_steps`.
fn freed_by(
    scheduler: &Scheduler,
    model: &Arc<Pod>,
    fix: &Fix,
    pods: &[Key],
    group_steps: &mut u64,
    go_on: &(dyn Fn() -> bool + Sync),
) -> Vec<Key> {
    match &fix.group {
        _ if fix.outcome == FixOutcome::Preempts => vec![model.key()],
        Some(_) => freed_with_group(scheduler, model, &fix.changes, pods, group_steps).unwrap_or_default(),
        None => freed(scheduler, model, &fix.changes, pods, go_on),
    }
}

/// A fix that frees pods.
struct Freeing<'p> {
    fix: Fix,
    /// The pod whose fix it is.
    model: &'p Arc<Pod>,
    freed: Vec<Key>,
    /// The kinds that may refuse or change the pods and are not known.
    unknown: Vec<String>,
}

impl Freeing<'_> {
    /// Returns whether it is taken rather than one that was found before it.
    fn is_better_than(&self, known: &Self) -> bool {
        let key = |of: &Self| (of.fix.last_resort.is_none(), Reverse(of.fix.outcome), of.freed.len(), Reverse(of.fix.effort()));
        key(self) > key(known)
    }
}

/// Returns the pods whose fixes are searched, one of each spec, those with the least requests first; and what is said if there are more
/// specs.
fn models<'c>(pods: &[Key], cluster: &'c Cluster) -> (Vec<&'c Arc<Pod>>, Option<String>) {
    let mut waiting: Vec<&Arc<Pod>> = pods.iter().filter_map(|key| cluster.pods.get(key)).collect();
    waiting.sort_by_cached_key(|pod| size(pod));
    let mut models: Vec<&Arc<Pod>> = Vec::new();
    for pod in waiting {
        if models.iter().any(|model| model.spec == pod.spec) {
            continue;
        }
        if models.len() == MODELS {
            let words = format!("only the fixes of {} were tried, though the pods differ more", count(MODELS, "pod"));
            return (models, Some(words));
        }
        models.push(pod);
    }
    (models, None)
}

/// Adds the nodes whose copies are fixes, up to a limit.
fn add_shapes(fixes: &[Fix], likes: &mut Vec<Str>) {
    for fix in fixes.iter().filter(|fix| fix.equals.is_none()) {
        if let [Change::Create { like: Some(like), .. }, ..] = &fix.changes[..]
            && likes.len() < SHAPES
            && !likes.contains(like)
        {
            likes.push(like.clone());
        }
    }
}

/// Returns the fixes of a pod that are tried on the others: the first that schedule it, few of those that differ in one choice only; then
/// one that preempts.
fn worth_trying(fixes: Vec<Fix>) -> impl Iterator<Item = Fix> {
    let mut alternatives: Vec<Alternative> = Vec::new();
    let differs = move |fix: &Fix| match fix.alternative() {
        None => true,
        Some(own) => {
            alternatives.push(own.clone());
            alternatives.iter().filter(|other| **other == own).count() <= ALTERNATIVES
        }
    };
    let (scheduled, preempting): (Vec<Fix>, Vec<Fix>) = fixes.into_iter().partition(|fix| fix.outcome == FixOutcome::Scheduled);
    // One that preempts is verified for its own pod only.
    let preempting = preempting.into_iter().filter(|fix| fix.group.is_none()).take(1);
    scheduled.into_iter().filter(|fix| fix.equals.is_none()).filter(differs).take(FIXES_TRIED).chain(preempting)
}

/// Returns the result without a fix.
fn nothing_found(not_proposed: Option<Unproposed>, cut_short: Option<String>) -> FixSearch {
    let Some(why) = not_proposed else { return FixSearch::Nothing(cut_short) };
    let incomplete = cut_short.map_or_else(String::new, |cut| format!("; incomplete: {cut}"));
    let is_unknown = matches!(why, Unproposed::Unread { .. } | Unproposed::DeviceClassesUnread(_));
    FixSearch::NotProposed(format!("{}{incomplete}", unproposed_text(&why)), is_unknown)
}

/// Returns the requests of a pod: devices and other resources, then cpu and memory.
fn size(pod: &Pod) -> (i64, i64, i64) {
    let requests = pod_requests(pod, PodResourcesOptions::default());
    let of = |name: &str| requests.get(name).copied().unwrap_or_default();
    let others = requests.iter().filter(|(name, _)| !matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage"));
    let others = others.fold(0_i64, |sum, (_, amount)| sum.saturating_add(amount.value()));
    (others, of("cpu").milli_value(), of("memory").value())
}

/// Returns a fix with the patches of all pods that it frees. Changes of other objects are made once.
fn for_all(fix: &Fix, cluster: &Cluster, source: FixSource<'_>, pods: &[Key]) -> FixReport {
    let (of_pod, others): (Vec<Change>, Vec<Change>) = fix.changes.iter().cloned().partition(|c| matches!(c, Change::Pod(_)));
    let none = Key::default();
    let mut report = fix_report(&Fix { changes: others, ..fix.clone() }, &none, cluster, source);
    let (mut commands, mut seen): (Vec<String>, BTreeSet<String>) = Default::default();
    let whole = fix_report(fix, pods.first().unwrap_or(&none), cluster, source);
    report.text = whole.text;
    if !of_pod.is_empty() {
        let alone = Fix { changes: of_pod, ..fix.clone() };
        for pod in pods {
            let one = fix_report(&alone, pod, cluster, source);
            report.changes.extend(one.changes);
            report.patches.extend(one.patches);
            report.no_command = report.no_command.or(one.no_command);
            report.template_unread = report.template_unread.or(one.template_unread);
            let lines = one.kubectl.iter().flat_map(|text| text.lines()).map(str::to_owned);
            // Pods of one workload share a template, and so a command.
            commands.extend(lines.filter(|line| seen.insert(line.clone())));
        }
    }
    commands.extend(report.kubectl.take());
    report.kubectl = (!commands.is_empty()).then(|| commands.join("\n"));
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::group_tests::{group, known, labelled, member, scheduler, world};
    use crate::cluster::Object;

    #[test]
    fn all_pods_of_a_group_get_the_fix_however_many_wait() {
        let size = PODS_TRIED + 1;
        let members = (0..size).map(|i| member(&format!("m{i}"), "large", ", nodeSelector: {disk: sdd}"));
        let room: Vec<Object> = (0..size.div_ceil(10)).map(|i| labelled(&format!("n{i}"), "disk: ssd")).collect();
        let min = u32::try_from(size).expect("few members");
        let with = scheduler(true, room.into_iter().chain([group("large", min)]).chain(members).collect());
        let pods: Vec<Key> = with.state().cluster().pods.iter().map(|pod| pod.key()).collect();
        let found = best_fix(&with, &pods, Background::nothing(), &mut 0, &|| true);
        assert!(matches!(&found, FixSearch::Found(fix) if fix.frees == size), "{found:?}");
    }

    #[test]
    fn attempts_of_large_groups_are_bounded_over_all_causes() {
        let with = scheduler(true, world());
        let search = |name: &str, group_steps: &mut u64| {
            let pod = known(&with, name);
            best_fix(&with, &[pod.key()], Background::nothing(), group_steps, &|| true)
        };
        let mut taken = 0;
        assert!(matches!(search("a0", &mut taken), FixSearch::Found(_)));
        assert!(taken > 0);
        let mut alone = 0;
        search("alone", &mut alone);
        assert_eq!(alone, 0);
        let all = Limits::group_steps(1);
        let mut spent = all;
        assert!(
            matches!(search("a0", &mut spent), FixSearch::Nothing(Some(why)) if why == "the attempts of pod groups took too many steps")
        );
        assert_eq!(spent, all);
    }
}
