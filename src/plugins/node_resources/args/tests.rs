use super::*;

#[test]
fn what_is_not_given_is_defaulted() {
    let default = NodeResourcesFitArgs::default();
    assert_eq!(default.scoring_strategy.resources, default_resources());
    for yaml in ["{}", "{apiVersion: a, kind: b}", "{scoringStrategy: null}", "{scoringStrategy: {type: LeastAllocated, resources: []}}"] {
        assert_eq!(serde_yaml::from_str::<NodeResourcesFitArgs>(yaml).unwrap(), default, "{yaml}");
    }
    let args: NodeResourcesFitArgs = serde_yaml::from_str(
        "{scoringStrategy: {type: MostAllocated, resources: [{name: a}, {name: b, weight: 0}, {name: c, weight: 7}]}}",
    )
    .unwrap();
    assert_eq!(args.scoring_strategy.resources.iter().map(|r| r.weight).collect::<Vec<_>>(), [1, 1, 7]);
    for yaml in ["{}", "{resources: null}", "{resources: []}"] {
        let args: NodeResourcesBalancedAllocationArgs = serde_yaml::from_str(yaml).unwrap();
        assert_eq!(args, NodeResourcesBalancedAllocationArgs::default(), "{yaml}");
    }
    for yaml in ["{extra: 1}", "{scoringStrategy: {kind: Best}}"] {
        assert!(serde_yaml::from_str::<NodeResourcesFitArgs>(yaml).is_err(), "{yaml}");
    }
}

#[test]
fn nonsense_is_refused_with_its_place() {
    let strategy = |rest: &str| format!("{{scoringStrategy: {{{rest}}}}}");
    let shape = |points: &str| strategy(&format!("type: RequestedToCapacityRatio, requestedToCapacityRatio: {{shape: [{points}]}}"));
    for (yaml, expected) in [
        ("{}".to_owned(), ""),
        (
            "{ignoredResourceGroups: [a/b]}".into(),
            "ignoredResourceGroups[0]: Invalid value: \"a/b\": resource group name can't contain '/'",
        ),
        (
            strategy("type: MostAllocated, resources: [{name: x, weight: 101}]"),
            "scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of x not in valid range (0, 100]",
        ),
        (
            strategy("type: RequestedToCapacityRatio"),
            "scoringStrategy.requestedToCapacityRatio: Required value: must be specified when type is RequestedToCapacityRatio",
        ),
        (
            strategy("type: LeastAllocated, requestedToCapacityRatio: {}"),
            "scoringStrategy.requestedToCapacityRatio: Forbidden: must be nil when type is not RequestedToCapacityRatio",
        ),
        (
            strategy("resources: [{name: x, weight: -1}]"),
            "scoringStrategy.type: Unsupported value: \"\": supported values: \"LeastAllocated\", \"MostAllocated\", \
             \"RequestedToCapacityRatio\"\n\
             scoringStrategy.resources[0].weight: Invalid value: -1: resource weight of x not in valid range (0, 100]",
        ),
        (shape(""), "scoringStrategy.requestedToCapacityRatio.shape: Required value: at least one point must be specified"),
        (
            shape("{utilization: 5}, {utilization: 5}"),
            "scoringStrategy.requestedToCapacityRatio.shape[1].utilization: Invalid value: 5: values must be sorted in increasing order",
        ),
        (
            shape("{utilization: 101}"),
            "scoringStrategy.requestedToCapacityRatio.shape[0].utilization: Invalid value: 101: not in valid range [0, 100]",
        ),
        (
            shape("{utilization: 5, score: 11}"),
            "scoringStrategy.requestedToCapacityRatio.shape[0].score: Invalid value: 11: not in valid range [0, 10]",
        ),
        (shape("{utilization: 0, score: 0}, {utilization: 100, score: 10}"), ""),
    ] {
        let args: NodeResourcesFitArgs = serde_yaml::from_str(&yaml).unwrap();
        assert_eq!(args.validate().err().unwrap_or_default().to_string(), expected, "{yaml}");
    }
    for (resources, expected) in [
        ("{name: a}, {name: b}", ""),
        ("{name: a}, {name: a}", "resources[1].name: Duplicate value: \"a\""),
        ("{name: a, weight: 2}", "resources[0].weight: Invalid value: 2: must be 1"),
    ] {
        let args: NodeResourcesBalancedAllocationArgs = serde_yaml::from_str(&format!("{{resources: [{resources}]}}")).unwrap();
        assert_eq!(args.validate().err().unwrap_or_default().to_string(), expected, "{resources}");
    }
}
