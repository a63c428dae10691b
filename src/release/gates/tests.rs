use super::*;

/// Every gate that is emulated only at its default.
const DEFAULT_ONLY: [&str; 5] = [
    "DRAListTypeAttributes",
    "DRANodeAllocatableResources",
    "DRASchedulerFilterTimeout",
    "DRAWorkloadResourceClaims",
    "SchedulerAsyncAPICalls",
];

#[test]
fn every_gate_is_known_once_with_its_states_in_order() {
    for release in Profile::all() {
        let names: Vec<&str> = release.other_gates.iter().flat_map(|other| other.names.split_whitespace()).collect();
        let known = known(release);
        let read = ROWS.iter().filter(|row| known.contains_key(row.name)).count();
        assert_eq!(known.len(), names.len() + read, "{:?}", release.release);
        for name in release.gate_dependencies.iter().flat_map(|(name, needs)| needs.iter().chain([name])) {
            assert!(known.get(name).is_some_and(|g| !g.locked), "{name}");
        }
    }
    assert!(ROWS.windows(2).all(|pair| pair[0].name < pair[1].name));
    for row in ROWS {
        assert!(!row.states.is_empty() && row.states.windows(2).all(|pair| pair[0].since < pair[1].since), "{}", row.name);
    }
    assert!(Gate::iter().all(|gate| ROWS.iter().any(|row| row.name == <&str>::from(gate))));
}

#[test]
fn gates_that_are_read_and_not_emulated_stay_at_their_defaults() {
    let settable: Vec<&str> =
        known(Profile::newest()).into_iter().filter(|(_, g)| !g.emulated && !g.locked).map(|(name, _)| name).collect();
    assert_eq!(settable, DEFAULT_ONLY);
}

#[test]
fn what_is_on_by_default_is_on_unless_set() {
    let off = [
        Gate::DRADeviceTaintRules,
        Gate::DRAFractionalCapacityRange,
        Gate::GangScheduling,
        Gate::GenericWorkload,
        Gate::StorageCapacityScoring,
        Gate::TaintTolerationComparisonOperators,
        Gate::TopologyAwareWorkloadScheduling,
        Gate::VolumeLimitScaling,
        Gate::WorkloadAwarePreemption,
    ];
    for gate in Gate::iter() {
        assert_eq!(gate.default_enabled(Profile::newest()), !off.contains(&gate), "{gate}");
    }
}

#[test]
fn a_gate_has_the_state_of_its_release() {
    let at = |name: &str, version: &str| ROWS.iter().find(|row| row.name == name).unwrap().at(version.parse().unwrap());
    let state = |name: &str, version: &str| at(name, version).map(|s| (s.default, s.stage, s.locked));
    assert_eq!(state("SchedulerQueueingHints", "1.27.9"), None);
    assert_eq!(state("SchedulerQueueingHints", "1.28.3"), Some((true, Stage::Beta, false)));
    assert_eq!(state("SchedulerQueueingHints", "1.28"), Some((false, Stage::Beta, false)));
    assert_eq!(state("SchedulerQueueingHints", "1.31.1"), Some((false, Stage::Beta, false)));
    assert_eq!(state("SchedulerQueueingHints", "1.33.0"), Some((true, Stage::Beta, false)));
    assert_eq!(state("SchedulerQueueingHints", "1.36.2"), Some((true, Stage::Stable, true)));
    assert_eq!(state("DRAPrioritizedList", "1.36.2"), Some((true, Stage::Stable, false)));
    for (version, on) in [("1.34.1", true), ("1.34.2", false), ("1.35.0", true), ("1.35.1", false), ("1.36.2", false)] {
        assert_eq!(state("SchedulerAsyncAPICalls", version), Some((on, Stage::Beta, false)), "{version}");
    }
}

#[test]
fn the_flag_is_read_as_kube_scheduler_reads_it() {
    let set = |pairs: &[(Gate, bool)]| {
        let mut gates = FeatureGates::of(Profile::newest());
        for (gate, on) in pairs {
            gates.set(*gate, *on);
        }
        gates
    };
    for (text, expected) in [
        ("", set(&[])),
        (",", set(&[])),
        ("StorageCapacityScoring=true", set(&[(Gate::StorageCapacityScoring, true)])),
        (
            " kube:StorageCapacityScoring = T ,DRADeviceTaints=0",
            set(&[(Gate::StorageCapacityScoring, true), (Gate::DRADeviceTaints, false)]),
        ),
        ("StorageCapacityScoring=true,StorageCapacityScoring=false", set(&[])),
        ("SchedulerQueueingHints=true,GangScheduling=false,DRASchedulerFilterTimeout=true", set(&[])),
        ("MemoryQoS=true,RotateKubeletServerCertificate=false", set(&[])),
        (
            "PodLevelResources=false,InPlacePodLevelResourcesVerticalScaling=false",
            set(&[(Gate::PodLevelResources, false), (Gate::InPlacePodLevelResourcesVerticalScaling, false)]),
        ),
    ] {
        assert_eq!(FeatureGates::parse(text, Profile::newest()), Ok(expected), "{text}");
    }
}

#[test]
fn what_cannot_be_set_is_refused() {
    let locked = |name: &str| format!("cannot set feature gate {name} to false, feature is locked to true");
    for (text, expected) in [
        ("X", "missing bool value for X".to_owned()),
        ("X=maybe", "invalid value of X=maybe, err: strconv.ParseBool: parsing \"maybe\": invalid syntax".into()),
        ("X=true", "unrecognized feature gate: X".into()),
        ("SidecarContainers=false", locked("SidecarContainers")),
        ("SidecarContainers=false,DRAAdminAccess=false", format!("[{}, {}]", locked("DRAAdminAccess"), locked("SidecarContainers"))),
        ("GitRepoVolumeDriver=true", "cannot set feature gate GitRepoVolumeDriver to true, feature is locked to false".into()),
        (
            "DRAWorkloadResourceClaims=true",
            "cannot set feature gate DRAWorkloadResourceClaims to true: what it changes in kube-scheduler is not emulated".into(),
        ),
        ("GangScheduling=true", "GangScheduling is enabled, but depends on features that are disabled: [GenericWorkload]".into()),
        (
            "GenericWorkload=true,WorkloadAwarePreemption=true",
            "WorkloadAwarePreemption is enabled, but depends on features that are disabled: [GangScheduling]".into(),
        ),
        ("AllAlpha=true", "AllAlpha is not emulated: name the feature gates one by one".into()),
        ("AllBeta=false", "AllBeta is not emulated: name the feature gates one by one".into()),
        (
            "DRAResourceClaimDeviceStatus=false,DRAResourceClaimGranularStatusAuthorization=false",
            "DRADeviceBindingConditions is enabled, but depends on features that are disabled: [DRAResourceClaimDeviceStatus]".into(),
        ),
    ] {
        assert_eq!(FeatureGates::parse(text, Profile::newest()).unwrap_err().to_string(), expected, "{text}");
    }
}

#[test]
fn a_later_release_has_one_gate_for_pod_groups() {
    let later = Profile::named("v1.37.0").unwrap();
    let gates = FeatureGates::parse("GenericWorkload=true", later).unwrap();
    let groups = [Gate::GenericWorkload, Gate::GangScheduling, Gate::WorkloadAwarePreemption];
    assert!(groups.iter().all(|gate| gates.enabled(*gate)));
    assert_eq!(gates.changes(later), "GenericWorkload=true");
    assert!(groups.iter().all(|gate| !FeatureGates::of(later).enabled(*gate)));
    for removed in ["GangScheduling", "WorkloadAwarePreemption", "SchedulerQueueingHints"] {
        let refused = FeatureGates::parse(&format!("{removed}=true"), later).unwrap_err().to_string();
        assert_eq!(refused, format!("unrecognized feature gate: {removed}"));
    }
    for on in [Gate::StorageCapacityScoring, Gate::VolumeLimitScaling, Gate::SchedulerQueueingHints] {
        assert!(FeatureGates::of(later).enabled(on), "{on}");
    }
}

#[test]
fn pod_groups_are_emulated_as_the_newest_release_has_them() {
    let on = "GenericWorkload=true,GangScheduling=true";
    let gates = FeatureGates::parse(on, Profile::newest()).unwrap();
    assert!(gates.enabled(Gate::GenericWorkload) && gates.enabled(Gate::GangScheduling));
    let earlier = Profile::named("v1.35.2").unwrap();
    let refused = "cannot set feature gate GangScheduling to true: what it changes in kube-scheduler is not emulated";
    assert!(FeatureGates::parse(on, earlier).unwrap_err().to_string().contains(refused));
}
