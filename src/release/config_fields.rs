//! Fields of configuration files that only some apiVersions or releases have; mirrors
//! `staging/src/k8s.io/kube-scheduler/config/v1*/types*.go` of the releases.

use super::version::Lifetime;

/// The `apiVersion`s, oldest first.
pub(super) const V1BETA1: &str = "kubescheduler.config.k8s.io/v1beta1";
pub(super) const V1BETA2: &str = "kubescheduler.config.k8s.io/v1beta2";
pub(super) const V1BETA3: &str = "kubescheduler.config.k8s.io/v1beta3";
pub(super) const V1: &str = "kubescheduler.config.k8s.io/v1";

/// A field and where it exists.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConfigField {
    /// The owner: `configuration`, `profile`, `plugins`, or a plugin whose argument it is.
    pub(super) owner: &'static str,
    /// The name of the field.
    pub(super) field: &'static str,
    /// The apiVersions that have it.
    pub(super) api_versions: &'static [&'static str],
    /// The releases that have it in these apiVersions.
    pub(super) releases: Lifetime,
}

const fn row(owner: &'static str, field: &'static str, api_versions: &'static [&'static str], releases: Lifetime) -> ConfigField {
    ConfigField { owner, field, api_versions, releases }
}

const ALL: &[&str] = &[V1BETA1, V1BETA2, V1BETA3, V1];
const BEFORE_MULTI_POINT: &[&str] = &[V1BETA1, V1BETA2];

/// Fields that are not listed exist in every apiVersion and release.
pub(super) static CONFIG_FIELDS: &[ConfigField] = &[
    row("configuration", "healthzBindAddress", BEFORE_MULTI_POINT, Lifetime::since(0)),
    row("configuration", "metricsBindAddress", BEFORE_MULTI_POINT, Lifetime::since(0)),
    row("configuration", "delayCacheUntilActive", &[V1], Lifetime::since(28)),
    row("profile", "percentageOfNodesToScore", &[V1], Lifetime::since(26)),
    row("plugins", "multiPoint", &[V1BETA2, V1BETA3, V1], Lifetime::since(23)),
    row("plugins", "preEnqueue", &[V1BETA2, V1BETA3, V1], Lifetime::since(26)),
    row("plugins", "placementGenerate", &[V1], Lifetime::since(36)),
    row("plugins", "placementScore", &[V1], Lifetime::since(36)),
    row("InterPodAffinity", "ignorePreferredTermsOfExistingPods", ALL, Lifetime::since(27)),
    row("NodeResourcesBalancedAllocation", "resources", ALL, Lifetime::since(22)),
    row("NodeResourcesFit", "scoringStrategy", ALL, Lifetime::since(22)),
    row("VolumeBinding", "shape", ALL, Lifetime::since(22)),
];
