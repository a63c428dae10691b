//! Every feature gate that kube-scheduler v1.36 knows, with its default; mirrors
//! `pkg/features/kube_features.go` at version 1.36 and the gates of client-go and component-base.

use std::collections::BTreeMap;

/// What is known of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// Its state unless set.
    pub(super) default: bool,
    /// Whether it cannot be set otherwise.
    pub(super) locked: bool,
}

/// Every gate by its name.
pub(super) fn known() -> BTreeMap<&'static str, Known> {
    let lists = [(ON, true, false), (OFF, false, false), (LOCKED_ON, true, true), (LOCKED_OFF, false, true)];
    let each = lists.into_iter().flat_map(|(names, default, locked)| names.split_whitespace().map(move |n| (n, Known { default, locked })));
    each.collect()
}

/// Gates that kube-scheduler reads and that are emulated only at their default.
pub(super) const DEFAULT_ONLY: &[&str] = &[
    "DRADeviceTaintRules",
    "DRAListTypeAttributes",
    "DRANodeAllocatableResources",
    "DRASchedulerFilterTimeout",
    "DRAWorkloadResourceClaims",
    "GangScheduling",
    "GenericWorkload",
    "SchedulerAsyncAPICalls",
    "TopologyAwareWorkloadScheduling",
    "WorkloadAwarePreemption",
];

/// Gates with those that they need, as far as both can be set.
pub(super) const DEPENDENCIES: &[(&str, &[&str])] = &[
    ("ClusterTrustBundleProjection", &["ClusterTrustBundle"]),
    ("DRADeviceBindingConditions", &["DRAResourceClaimDeviceStatus"]),
    ("DRADeviceTaintRules", &["DRADeviceTaints"]),
    ("DRAResourceClaimGranularStatusAuthorization", &["DRAResourceClaimDeviceStatus"]),
    ("DRAWorkloadResourceClaims", &["GenericWorkload"]),
    ("ExtendWebSocketsToKubelet", &["NodeDeclaredFeatures"]),
    ("GangScheduling", &["GenericWorkload"]),
    ("GracefulNodeShutdownBasedOnPodPriority", &["GracefulNodeShutdown"]),
    ("InPlacePodLevelResourcesVerticalScaling", &["NodeDeclaredFeatures", "PodLevelResources"]),
    ("InPlacePodVerticalScalingInitContainers", &["NodeDeclaredFeatures"]),
    ("MatchLabelKeysInPodTopologySpreadSelectorMerge", &["MatchLabelKeysInPodTopologySpread"]),
    ("PodLevelResourceManagers", &["PodLevelResources"]),
    ("ResourceHealthStatusMessage", &["ResourceHealthStatus"]),
    ("RestartAllContainersOnContainerExits", &["ContainerRestartRules", "NodeDeclaredFeatures"]),
    ("StaleControllerConsistencyDaemonSet", &["AtomicFIFO"]),
    ("StaleControllerConsistencyJob", &["AtomicFIFO"]),
    ("StaleControllerConsistencyReplicaSet", &["AtomicFIFO"]),
    ("StaleControllerConsistencyStatefulSet", &["AtomicFIFO"]),
    ("StorageVersionAPI", &["APIServerIdentity"]),
    ("TopologyAwareWorkloadScheduling", &["GenericWorkload"]),
    ("UnknownVersionInteroperabilityProxy", &["APIServerIdentity"]),
    ("UserNamespacesHostNetworkSupport", &["NodeDeclaredFeatures"]),
    ("WindowsGracefulNodeShutdown", &["GracefulNodeShutdown"]),
    ("WorkloadAwarePreemption", &["GangScheduling"]),
    ("WorkloadWithJob", &["GenericWorkload"]),
];

/// On unless switched off.
const ON: &str = "
    APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth AllowServiceExternalIPs AtomicFIFO
    AuthorizePodWebsocketUpgradeCreatePermission CPUManagerPolicyBetaOptions CRDObservedGenerationTracking
    ClearingNominatedNodeNameAfterBinding ComponentFlagz ComponentStatusz ConstrainedImpersonation
    ContainerCheckpoint ContainerRestartRules CustomCPUCFSQuotaPeriod DRAConsumableCapacity
    DRADeviceBindingConditions DRADeviceTaints DRAExtendedResource DRAPartitionableDevices DRAPrioritizedList
    DRAResourceClaimDeviceStatus DRAResourceClaimGranularStatusAuthorization DRASchedulerFilterTimeout
    DeclarativeValidationBeta DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency
    DisableCPUQuotaWithExclusiveCPUs EnvFiles ExtendWebSocketsToKubelet GracefulNodeShutdown
    GracefulNodeShutdownBasedOnPodPriority HPAConfigurableTolerance HostnameOverride
    InPlacePodLevelResourcesVerticalScaling InPlacePodVerticalScalingInitContainers KubeletCrashLoopBackOffMax
    KubeletEnsureSecretPulledImages KubeletPodResourcesListUseActivePods KubeletSeparateDiskGC
    KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot LoggingBetaOptions
    MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge
    MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs MutatingAdmissionPolicy
    NodeDeclaredFeatures NominatedNodeNameForExpectation OpenAPIEnums OpportunisticBatching PLEGOnDemandRelist
    PodDeletionCost PodLevelResources PodReadyToStartContainersCondition PodTopologyLabelsAdmission
    PortForwardWebsockets PreventStaticPodAPIReferences RelaxedServiceNameValidation ReloadKubeletClientCAFile
    ReloadKubeletServerCertificateFile RemoteRequestHeaderUID ResourceHealthStatus ResourceHealthStatusMessage
    RestartAllContainersOnContainerExits RotateKubeletServerCertificate SchedulerAsyncPreemption
    SchedulerPopFromBackoffQ ServiceAccountNodeAudienceRestriction ServiceCIDRStatusFieldWiping
    SizeBasedListCostEstimate StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob
    StaleControllerConsistencyReplicaSet StaleControllerConsistencyStatefulSet StatefulSetSemanticRevisionComparison
    StorageNamespaceIndex StorageVersionHash StrictIPCIDRValidation
    StructuredAuthenticationConfigurationEgressSelector StructuredAuthenticationConfigurationJWKSMetrics
    TokenRequestServiceAccountUIDValidation TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests
    UnauthenticatedHTTP2DOSMitigation UnknownVersionInteroperabilityProxy WatchCacheInitializationPostStartHook
    WatchList WatchListClient WindowsGracefulNodeShutdown
";

/// Off unless switched on.
const OFF: &str = "
    APIServingWithRoutine AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests
    AllowUnsafeMalformedObjectDeletion CBORServingAndStorage CPUManagerPolicyAlphaOptions CRIListStreaming
    CSIVolumeHealth ChangeContainerStatusOnKubeletRestart ClientsAllowCBOR ClientsPreferCBOR
    CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook ClusterTrustBundle
    ClusterTrustBundleProjection ConcurrentWatchObjectDecode ContainerStopSignals CoordinatedLeaderElection
    CrossNamespaceVolumeDataSource DRADeviceTaintRules DRAListTypeAttributes DRANodeAllocatableResources
    DRAResourcePoolStatus DRAWorkloadResourceClaims DeclarativeValidationTakeover EventedPLEG GangScheduling
    GenericWorkload HPAScaleToZero ImageVolumeWithDigest InPlacePodVerticalScalingExclusiveCPUs
    InPlacePodVerticalScalingExclusiveMemory KMSv1 KubeletInUserNamespace KubeletRegistrationGetOnExistsOnly
    LocalStorageCapacityIsolationFSQuotaMonitoring LoggingAlphaOptions ManifestBasedAdmissionControlConfig
    MaxUnavailableStatefulSet MemoryQoS MutablePVNodeAffinity PersistentVolumeClaimUnusedSinceTime
    PodAndContainerStatsFromCRI PodCertificateRequest PodLevelResourceManagers PodLogsQuerySplitStreams PodsAPI
    QOSReserved ReduceDefaultCrashLoopBackOffDecay RuntimeClassInImageCriApi SELinuxMount SchedulerAsyncAPICalls
    ShardedListAndWatch StorageCapacityScoring StorageVersionAPI StorageVersionMigrator
    TaintTolerationComparisonOperators TopologyAwareWorkloadScheduling TopologyManagerPolicyAlphaOptions
    UserNamespacesHostNetworkSupport VolumeLimitScaling WindowsCPUAndMemoryAffinity WindowsHostNetwork
    WorkloadAwarePreemption WorkloadWithJob
";

/// On for good.
const LOCKED_ON: &str = "
    APIServerTracing AggregatedDiscoveryRemoveBetaType AnonymousAuthConfigurableEndpoints AnyVolumeDataSource
    AuthorizeNodeWithSelectors AuthorizeWithSelectors BtreeWatchCache CPUManagerPolicyOptions
    CRDValidationRatcheting CSIServiceAccountTokenSecrets ConsistentListFromCache CustomResourceFieldSelectors
    DRAAdminAccess DeclarativeValidation DisableAllocatorDualWrite DisableNodeKubeProxyVersion
    DynamicResourceAllocation ExecProbeTimeout ExternalServiceAccountTokenSigner ImageMaximumGCAge ImageVolume
    InPlacePodVerticalScaling JobBackoffLimitPerIndex JobManagedBy JobPodReplacementPolicy JobSuccessPolicy
    KubeletCgroupDriverFromCRI KubeletFineGrainedAuthz KubeletPSI KubeletPodResourcesDynamicResources
    KubeletPodResourcesGet KubeletTracing LogarithmicScaleDown MatchLabelKeysInPodAffinity MultiCIDRServiceAllocator
    MutableCSINodeAllocatableCount NFTablesProxyMode NodeInclusionPolicyInPodTopologySpread NodeLogQuery NodeSwap
    OrderedNamespaceDeletion PodLifecycleSleepAction PodLifecycleSleepActionAllowZero PodObservedGenerationTracking
    PodSchedulingReadiness PreferSameTrafficDistribution ProcMountType RecoverVolumeExpansionFailure
    RecursiveReadOnlyMounts RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation
    ResilientWatchCacheInitialization RetryGenerateName SELinuxChangePolicy SELinuxMountReadWriteOncePod
    SchedulerQueueingHints SeparateTaintEvictionController ServiceAccountTokenJTI ServiceAccountTokenNodeBinding
    ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo SidecarContainers
    StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf StructuredAuthenticationConfiguration
    SupplementalGroupsPolicy SystemdWatchdog TopologyManagerPolicyOptions UserNamespacesSupport
    VolumeAttributesClass WinDSR WinOverlay
";

/// Off for good.
const LOCKED_OFF: &str = "
    AllowOverwriteTerminationGracePeriodSeconds GitRepoVolumeDriver SeparateCacheWatchRPC
";
