use super::*;

fn taint(key: &str, value: &str, effect: &str) -> Taint {
    Taint { key: key.into(), value: value.into(), effect: effect.into() }
}

fn toleration(key: &str, operator: &str, value: &str, effect: &str) -> Toleration {
    Toleration { key: key.into(), operator: operator.into(), value: value.into(), effect: effect.into() }
}

#[test]
fn a_toleration_matches_by_effect_key_and_operator() {
    let subject = taint("k", "7", "NoSchedule");
    let mut comparing = Emulation::default();
    comparing.set(Gate::TaintTolerationComparisonOperators, true);
    // (key, operator, value, effect, with gates at their defaults, with comparison operators on)
    for (key, operator, value, effect, plain, compared) in [
        ("k", "", "7", "NoSchedule", true, true),
        ("k", "Equal", "7", "", true, true),
        ("k", "Equal", "8", "", false, false),
        ("", "Equal", "7", "", true, true),
        ("", "Exists", "", "", true, true),
        ("k", "Exists", "", "NoExecute", false, false),
        ("other", "Exists", "", "", false, false),
        ("k", "Sometimes", "7", "", false, false),
        ("k", "Lt", "8", "", false, true),
        ("k", "Lt", "7", "", false, false),
        ("k", "Gt", "6", "", false, true),
        ("k", "Gt", "7", "", false, false),
        ("k", "Gt", "-1", "", false, true),
        ("k", "Gt", "0", "", false, true),
        ("k", "Gt", "-0", "", false, false),
        ("k", "Gt", "06", "", false, false),
        ("k", "Gt", "+6", "", false, false),
        ("k", "Gt", "", "", false, false),
        ("k", "Gt", "99999999999999999999", "", false, false),
    ] {
        let toleration = toleration(key, operator, value, effect);
        assert_eq!(toleration_tolerates_taint(&toleration, &subject, Emulation::default()), plain, "{toleration:?}");
        assert_eq!(toleration_tolerates_taint(&toleration, &subject, comparing), compared, "{toleration:?} compared");
    }
}

#[test]
fn the_first_taint_that_keeps_the_pod_away_is_found() {
    let emulation = Emulation::default();
    let taints = [taint("soft", "", "PreferNoSchedule"), taint("a", "", "NoSchedule"), taint("b", "", "NoExecute")];
    assert_eq!(find_untolerated_taint(&taints, &[], emulation), Some(&taints[1]));
    assert_eq!(find_untolerated_taint(&taints, &[toleration("a", "Exists", "", "")], emulation), Some(&taints[2]));
    assert_eq!(find_untolerated_taint(&taints, &[toleration("", "Exists", "", "")], emulation), None);
    assert_eq!(find_untolerated_taint(&taints[..1], &[], emulation), None);
    assert_eq!(find_matching_untolerated_taint(&taints, &[], |t| t.key == "b", emulation), Some(&taints[2]));
}

#[test]
fn a_change_of_another_kind_is_an_error() {
    let pods = testing::pod_change(None, Some("{}"));
    let (old, new) = changed_pods(&pods).unwrap();
    assert!(old.is_none() && new.is_some());
    assert_eq!(changed_nodes(&pods).unwrap_err().to_string(), "expected *v1.Node, but got *v1.Pod");
    assert_eq!(changed_pods(&testing::node_change(Some("{}"), None)).unwrap_err().to_string(), "expected *v1.Pod, but got *v1.Node");
}

#[test]
fn normalising_scales_to_the_highest() {
    for (reverse, scores, expected) in [
        (false, vec![0, 0], vec![0, 0]),
        (true, vec![0, 0], vec![100, 100]),
        (false, vec![1, 2, 3], vec![33, 66, 100]),
        (true, vec![1, 2, 3, 0], vec![67, 34, 0, 100]),
        (true, vec![-5, -1], vec![100, 100]),
        (false, vec![], vec![]),
    ] {
        let mut actual = scores.clone();
        default_normalize_score(reverse, &mut actual);
        assert_eq!(actual, expected, "{scores:?} reverse {reverse}");
    }
    // Out-of-range scores must not panic.
    default_normalize_score(true, &mut [i64::MAX, i64::MIN, 1]);
}

#[test]
fn a_broken_line_is_level_outside_its_points() {
    let point = |(utilization, score)| FunctionShapePoint { utilization, score };
    let shape = [(10, 100), (60, 50), (90, 0)].map(point);
    for (p, expected) in [(0, 100), (10, 100), (11, 99), (35, 75), (60, 50), (61, 49), (90, 0), (100, 0)] {
        assert_eq!(broken_linear(&shape, p), expected, "at {p}");
    }
    assert_eq!(broken_linear(&[], 5), 0);
    // Two points at the same utilization must not divide by zero.
    assert_eq!(broken_linear(&[(5, 10), (5, 20)].map(point), 5), 10);
    // Extreme values must not overflow.
    broken_linear(&[(i64::MIN, i64::MIN), (i64::MAX, i64::MAX)].map(point), 5);
}
