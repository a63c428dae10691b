//! Live clusters, kubeconfigs and credential plugins.

use std::time::Duration;

limits! { "live":
    /// Decompressed length of a page of a list, or of an object; a longer answer is broken off, and asked for again later.
    bytes PAGE: usize = 128 << 20, "answers_without_end_are_broken_off";
    /// Decompressed length of the answers of `/version` and of discovery; a longer one is broken off.
    bytes SHORT_ANSWER: usize = 8 << 20, "answers_without_end_are_broken_off";
    /// Bytes that an answer brings at least in the time in which a silent server counts as hung; a slower one is broken off.
    bytes SLOWEST: usize = 1 << 10, "answers_that_drip_are_broken_off";
    /// Pages of a list in a row that bring no new object; the list is broken off after them.
    count PAGES_WITHOUT_NEWS: usize = 3, "lists_that_go_in_circles_are_broken_off";
    /// Pages of one list; a longer one is broken off.
    count PAGES: usize = 20_000, "lists_that_go_in_circles_are_broken_off";
    /// Length of the token for the next page of a list; a list with a longer one is broken off.
    bytes CONTINUE_TOKEN: usize = 64 << 10, "lists_that_go_in_circles_are_broken_off";
    /// The longest time that a server can ask for before the next try; it is tried again after it.
    time RETRY_AFTER: Duration = Duration::from_secs(60), "waits_double_to_a_limit_start_over_and_honour_what_the_server_asks_for";
    /// Length of a kubeconfig; a longer one is refused.
    bytes KUBECONFIG: u64 = 4 << 20, "credentials_that_cannot_be_sent_are_refused_without_being_shown";
    /// Length of a file with a token, key or certificate that a kubeconfig names; a longer one is refused, as is anything but a file.
    bytes CREDENTIAL_FILE: u64 = 4 << 20, "credentials_that_cannot_be_sent_are_refused_without_being_shown";
    /// Length of what a credential plugin prints; the rest is not read.
    bytes PLUGIN_ANSWER: u64 = 1 << 20, "a_plugin_whose_output_stays_open_ends";
    /// Time that the output of a credential plugin is read after the plugin has ended; what came until then counts.
    time PLUGIN_OUTPUT: Duration = Duration::from_secs(1), "a_plugin_whose_output_stays_open_ends";
}
