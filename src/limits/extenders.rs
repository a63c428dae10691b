//! HTTP extenders and their recorded answers.

limits! { "extenders":
    /// Length of one answer; a longer one is an error of the call. All nodes of a large cluster, as the API server has them, are less.
    bytes LARGEST_ANSWER: usize = 128 << 20, "an_answer_that_is_too_large_is_given_up";
    /// Number of values in one answer; more are an error of the call.
    count ANSWER_VALUES: usize = 4_000_000, "an_answer_of_too_many_values_is_refused";
    /// Length of all answers of one run; the calls after that fail without being made.
    bytes ANSWERS: usize = 512 << 20, "calls_fail_once_the_answers_are_too_long_in_all";
    /// Length of a proxy's answer to `CONNECT`; a longer one is an error of the call.
    bytes PROXY_HEAD: usize = 16 << 10, "a_proxy_without_end_is_an_error";
    /// Length of a file with a certificate or key; the rest is not read. Anything but a regular file is an error of the call.
    bytes CERTIFICATE_FILE: u64 = 4 << 20, "a_certificate_that_is_no_file_is_an_error";
    /// Length of a recording of answers; a longer one is refused, as is anything but a regular file.
    bytes RECORDING: u64 = 256 << 20, "a_recording_that_never_ends_is_refused";
    /// Number of values in one list or object of an answer; more are an error of the call. Clusters have at most thousands of nodes.
    count ANSWER_ITEMS: usize = 200_000, "an_answer_of_too_many_values_is_refused";
    /// Nodes that an answer may have beyond those that it was asked about; more are an error of the call.
    count ANSWER_NODES: usize = 1_000, "an_answer_of_more_nodes_than_were_asked_about_is_refused";
    /// Depth of values within values of an answer; a deeper one is an error of the call, as in kube-scheduler.
    count ANSWER_DEPTH: usize = 10_000, "errors_are_in_the_words_of_go";
}
