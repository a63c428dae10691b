//! Live clusters, kubeconfigs and credential plugins.

limits! { "live":
}
