//! Live clusters, kubeconfigs and credential plugins.

use std::time::Duration;

limits! { "live":
    /// Length of a kubeconfig; a longer one is refused.
    bytes KUBECONFIG: u64 = 4 << 20, "credentials_that_cannot_be_sent_are_refused_without_being_shown";
    /// Length of a file with a token, key or certificate that a kubeconfig names; a longer one is refused, as is anything but a file.
    bytes CREDENTIAL_FILE: u64 = 4 << 20, "credentials_that_cannot_be_sent_are_refused_without_being_shown";
    /// Length of what a credential plugin prints; the rest is not read.
    bytes PLUGIN_ANSWER: u64 = 1 << 20, "a_plugin_whose_output_stays_open_ends";
    /// Time that the output of a credential plugin is read after the plugin has ended; what came until then counts.
    time PLUGIN_OUTPUT: Duration = Duration::from_secs(1), "a_plugin_whose_output_stays_open_ends";
}
