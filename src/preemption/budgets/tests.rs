use proptest::prelude::*;

use super::*;
use crate::cluster::{Pod, Str};
use crate::framework::Victim;
use crate::preemption::testing::{budget, labelled};

/// Violated budgets with their disruptions left, and all budgets that cover the pod.
type Verdict = (Vec<(String, i32)>, Vec<String>);
type Want<'a> = (&'a [(&'a str, i32)], &'a [&'a str]);

fn count(budgets: &[PodDisruptionBudget], pods: &[Pod]) -> Vec<Verdict> {
    count_by(BudgetRule::CountedDown, budgets, pods)
}

fn count_by(rule: BudgetRule, budgets: &[PodDisruptionBudget], pods: &[Pod]) -> Vec<Verdict> {
    let budgets: Vec<_> = budgets.iter().cloned().map(Arc::new).collect();
    let index: BudgetIndex = budgets.iter().collect();
    let pods: Vec<Arc<PodInfo>> = pods.iter().map(|pod| Arc::new(PodInfo::new(Arc::new(pod.clone())))).collect();
    let mut count = BudgetCount::new(&index, rule);
    let each = pods.iter().map(|pod| {
        let victim = Victim::new(pod.clone(), count.take(pod));
        let violates = victim.violates().map(|v| (v.budget.to_string(), v.left)).collect();
        (violates, victim.covered_by().map(ToString::to_string).collect())
    });
    each.collect()
}

fn check(budgets: &[PodDisruptionBudget], pods: &[Pod], want: &[Want<'_>]) {
    let own = |(violates, covered): &Want<'_>| -> Verdict {
        (violates.iter().map(|(n, l)| ((*n).to_owned(), *l)).collect(), covered.iter().map(|n| (*n).to_owned()).collect())
    };
    assert_eq!(count(budgets, pods), want.iter().map(own).collect::<Vec<_>>());
}

const WEB: &str = r#"{"matchLabels":{"app":"web"}}"#;

#[test]
fn the_first_pods_are_covered_and_the_rest_violate() {
    let pods = ["a", "b", "c"].map(|name| labelled(name, "app", "web"));
    check(&[budget("web", 1, WEB)], &pods, &[(&[], &["web"]), (&[("web", 0)], &[]), (&[("web", -1)], &[])]);
    check(&[budget("web", -2, WEB)], &pods[..1], &[(&[("web", -2)], &[])]);
}

#[test]
fn every_matching_budget_is_decremented_even_after_one_failed() {
    let pods = ["a", "b"].map(|name| labelled(name, "app", "web"));
    let budgets = [budget("none", 0, WEB), budget("one", 1, WEB)];
    check(&budgets, &pods, &[(&[("none", 0)], &["one"]), (&[("none", -1), ("one", 0)], &[])]);
}

#[test]
fn budgets_behind_an_exhausted_one_are_not_counted_in_later_releases() {
    let pods = ["a", "b"].map(|name| labelled(name, "app", "web"));
    let budgets = [budget("none", 0, WEB), budget("one", 1, WEB)];
    let violates = |left| (vec![("none".to_owned(), left)], Vec::new());
    assert_eq!(count_by(BudgetRule::UpToExhausted, &budgets, &pods), [violates(0), violates(-1)]);
    let last = [budget("a-one", 1, WEB), budget("none", 0, WEB)];
    let first = (vec![("none".to_owned(), 0)], vec!["a-one".to_owned()]);
    assert_eq!(count_by(BudgetRule::UpToExhausted, &last, &pods), [first, (vec![("a-one".to_owned(), 0)], Vec::new())]);
}

#[test]
fn selectors_that_are_absent_empty_or_invalid_match_nothing() {
    let invalid = r#"{"matchLabels":{"app":"web"},"matchExpressions":[{"key":"app","operator":"Like"}]}"#;
    for selector in ["null", "{}", invalid, r#"{"matchLabels":{"app":"db"}}"#] {
        check(&[budget("x", 0, selector)], &[labelled("a", "app", "web")], &[(&[], &[])]);
    }
}

#[test]
fn pods_without_labels_and_pods_elsewhere_are_not_covered() {
    let negative = r#"{"matchExpressions":[{"key":"app","operator":"DoesNotExist"}]}"#;
    let mut bare = labelled("a", "app", "web");
    bare.metadata.labels = std::iter::empty::<(Str, Str)>().collect();
    check(&[budget("x", 0, negative)], &[bare, labelled("b", "tier", "web")], &[(&[], &[]), (&[("x", 0)], &[])]);
    let mut elsewhere = labelled("a", "app", "web");
    elsewhere.metadata.namespace = "other".into();
    check(&[budget("x", 0, WEB)], &[elsewhere], &[(&[], &[])]);
}

#[test]
fn a_pod_counted_before_is_known_by_name_and_costs_nothing() {
    let mut web = budget("web", 1, WEB);
    web.status.disrupted_pods.insert("a".into(), "2024-01-01T00:00:00Z".into());
    let pods = ["a", "b", "c"].map(|name| labelled(name, "app", "web"));
    check(&[web], &pods, &[(&[], &["web"]), (&[], &["web"]), (&[("web", 0)], &[])]);
}

proptest! {
    #[test]
    fn a_budget_allows_as_many_as_it_says(allowed in -3..8_i32, pods in 0..12_usize) {
        let pods: Vec<Pod> = (0..pods).map(|i| labelled(&format!("p{i}"), "app", "web")).collect();
        let verdicts = count(&[budget("web", allowed, WEB)], &pods);
        let covered = verdicts.iter().take_while(|v| v.0.is_empty()).count();
        prop_assert_eq!(covered, pods.len().min(usize::try_from(allowed).unwrap_or(0)));
        for (i, verdict) in verdicts.iter().enumerate().skip(covered) {
            prop_assert_eq!(&verdict.0, &vec![("web".to_owned(), allowed - i32::try_from(i).unwrap())]);
        }
    }
}
