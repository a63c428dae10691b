//! The limits of what input from outside may cost: bytes, objects, requests, steps and time, in one table.
//!
//! Whatever reads a dump, a session, a log, a configuration, an answer of a server or of an extender, or what a user types, takes its
//! limit from here. Each file of this module holds the limits of one part of the program; [`all`] returns them in one list.
//! A test compares the table below with the list, and looks for the test that each row names;
//! `SCHEDSCOPE_UPDATE_LIMITS=1 cargo test --test engine limits` writes the table anew.
//!
//! <!-- limits -->
//! | limit | amount | about | test |
//! | --- | --- | --- | --- |
//! | [`sources::GROWTH`] | 100 | How many times its compressed size a file may grow, beyond what all files of a load may grow together; it ends there. | `what_goes_beyond_a_limit_ends_with_its_name` |
//! | [`sources::GROWTH_BEYOND`] | 32 MiB | Bytes by which all files of a load together may exceed their growth; a file that needs more ends there. | `what_goes_beyond_a_limit_ends_with_its_name` |
//! | [`sources::HIDDEN_FILES`] | 1,000 | Files of a hidden directory whose names are read, to tell whether a dump may be in it; the others are not considered. | `a_folder_in_part_is_told_by_what_is_left_out` |
//! | [`live::PAGE`] | 128 MiB | Decompressed length of a page of a list, or of an object; a longer answer is broken off, and asked for again later. | `answers_without_end_are_broken_off` |
//! | [`live::SHORT_ANSWER`] | 8 MiB | Decompressed length of the answers of `/version` and of discovery; a longer one is broken off. | `answers_without_end_are_broken_off` |
//! | [`live::SLOWEST`] | 1 KiB | Bytes that an answer brings at least in the time in which a silent server counts as hung; a slower one is broken off. | `answers_that_drip_are_broken_off` |
//! | [`live::PAGES_WITHOUT_NEWS`] | 3 | Pages of a list in a row that bring no new object; the list is broken off after them. | `lists_that_go_in_circles_are_broken_off` |
//! | [`live::PAGES`] | 20,000 | Pages of one list; a longer one is broken off. | `lists_that_go_in_circles_are_broken_off` |
//! | [`live::CONTINUE_TOKEN`] | 64 KiB | Length of the token for the next page of a list; a list with a longer one is broken off. | `lists_that_go_in_circles_are_broken_off` |
//! | [`live::RETRY_AFTER`] | 60s | The longest time that a server can ask for before the next try; it is tried again after it. | `waits_double_to_a_limit_start_over_and_honour_what_the_server_asks_for` |
//! | [`live::KUBECONFIG`] | 4 MiB | Length of a kubeconfig; a longer one is refused. | `credentials_that_cannot_be_sent_are_refused_without_being_shown` |
//! | [`live::CREDENTIAL_FILE`] | 4 MiB | Length of a file with a token, key or certificate that a kubeconfig names; a longer one is refused, as is anything but a file. | `credentials_that_cannot_be_sent_are_refused_without_being_shown` |
//! | [`live::PLUGIN_ANSWER`] | 1 MiB | Length of what a credential plugin prints; the rest is not read. | `a_plugin_whose_output_stays_open_ends` |
//! | [`live::PLUGIN_OUTPUT`] | 1s | Time that the output of a credential plugin is read after the plugin has ended; what came until then counts. | `a_plugin_whose_output_stays_open_ends` |
//! | [`extenders::LARGEST_ANSWER`] | 128 MiB | Length of one answer; a longer one is an error of the call. All nodes of a large cluster, as the API server has them, are less. | `an_answer_that_is_too_large_is_given_up` |
//! | [`extenders::ANSWER_VALUES`] | 4,000,000 | Number of values in one answer; more are an error of the call. | `an_answer_of_too_many_values_is_refused` |
//! | [`extenders::ANSWERS`] | 512 MiB | Length of all answers of one run; the calls after that fail without being made. | `calls_fail_once_the_answers_are_too_long_in_all` |
//! | [`extenders::PROXY_HEAD`] | 16 KiB | Length of a proxy's answer to `CONNECT`; a longer one is an error of the call. | `a_proxy_without_end_is_an_error` |
//! | [`extenders::CERTIFICATE_FILE`] | 4 MiB | Length of a file with a certificate or key; the rest is not read. Anything but a regular file is an error of the call. | `a_certificate_that_is_no_file_is_an_error` |
//! | [`extenders::RECORDING`] | 256 MiB | Length of a recording of answers; a longer one is refused, as is anything but a regular file. | `a_recording_that_never_ends_is_refused` |
//! | [`sessions::CONFIGURATION`] | 2 MiB | Length of a scheduler configuration; a longer one is refused, as is anything but a file or a shell's pipe. | `files_that_never_end_are_refused` |
//! | [`sessions::OPERATIONS`] | 256 MiB | Length of the operations of `run --ops`; longer ones are refused, as is anything but a file or a shell's pipe. | `files_that_never_end_are_refused` |
//! | [`sessions::LONGEST_VALUE`] | 256 MiB | Length of one value of a session file; a longer one is refused. | `a_value_beyond_the_limit_is_refused` |
//! | [`sessions::UNPACKED`] | 4 MiB | Decompressed length of a session file of any size, beyond which UNPACKED_GROWTH counts; a longer one is refused. | `a_bomb_is_refused` |
//! | [`sessions::UNPACKED_GROWTH`] | 64 | Factor by which a session file may grow when it is decompressed, beyond UNPACKED. | `a_bomb_is_refused` |
//! | [`engine::ODDS_TOTALS`] | 2,000,000 steps | Totals of scores that are computed for the odds over starting nodes in one pass; beyond it searches are counted one by one. | `odds_that_take_too_many_steps_are_not_computed` |
//! | [`engine::ODDS_SCORED`] | 20,000 steps | Nodes scored for the odds over starting nodes if searches are counted one by one and odds are not asked for; beyond it they are not counted. | `odds_of_many_starts_are_counted_when_asked_for` |
//! | [`engine::ODDS_SCORED_ASKED`] | 3,000,000 steps | Nodes scored for the odds over starting nodes that are asked for; beyond it they are not counted. For a pod with a long spec it is less. | `odds_of_many_starts_are_counted_when_asked_for` |
//! | [`engine::MAX_KNOWN_MATCHES`] | 262,144 | Answers of device selectors that one cycle keeps for its other nodes; further selectors are evaluated again on each node. | `answers_are_kept_up_to_a_limit_and_equal_beyond_it` |
//! | [`engine::JUDGED_FOR_REQUEST`] | 2,000 | Devices that are judged for one request when a node's rejection is explained; the rest are counted as not judged. | `devices_beyond_the_limits_are_counted_as_not_judged` |
//! | [`engine::JUDGED_ON_NODE`] | 10,000 | Devices that are judged for all requests on one node, fewer where selectors are costly; the rest are counted as not judged. | `devices_beyond_the_limits_are_counted_as_not_judged` |
//! | [`engine::DEVICE_STEPS_PER_SECOND`] | 500,000 steps | Search steps for devices on one node in each second of `filterTimeout`; beyond the timeout the node ends with its error. | `costly_selectors_use_up_the_filter_timeout` |
//! | [`terminal::SCREEN_ENDS`] | 2s | Time that a screen has to end after a signal, which restores the terminal; the program ends after it in any case. | `a_signal_ends_the_explorer_though_nobody_reads_its_terminal` |
//! <!-- /limits -->

use std::time::Duration;

/// A limit with its name, amount and test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The part of the program: a file of this module.
    pub part: &'static str,
    /// The name of the constant.
    pub name: &'static str,
    /// The amount.
    pub amount: Amount,
    /// The thing that is limited, and the effect beyond it.
    pub about: &'static str,
    /// The name of the test function that reaches it.
    pub test: &'static str,
}

/// The amount of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Bytes.
    Bytes(u64),
    /// Things: objects, files, requests, levels.
    Count(u64),
    /// Steps of a computation.
    Steps(u64),
    /// Time.
    Time(Duration),
}

impl std::fmt::Display for Amount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bytes(bytes) => {
                let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
                match units.into_iter().find(|(unit, _)| bytes >= unit && bytes.is_multiple_of(*unit)) {
                    Some((unit, name)) => write!(f, "{} {name}", bytes / unit),
                    None => write!(f, "{bytes} bytes"),
                }
            }
            Self::Count(count) => write!(f, "{}", crate::plural::thousands(*count as usize)),
            Self::Steps(steps) => write!(f, "{} steps", crate::plural::thousands(*steps as usize)),
            Self::Time(time) => write!(f, "{time:?}"),
        }
    }
}

/// Declares limits: a constant each, and a list `LIMITS` of all. A row is the documentation (what is limited; what happens beyond),
/// the unit (`bytes`, `count`, `steps` or `time`), the constant and the test that reaches it.
macro_rules! limits {
    ($part:literal: $($(#[doc = $about:expr])+ $unit:ident $name:ident: $type:ty = $value:expr, $test:literal;)*) => {
        $($(#[doc = $about])+ pub const $name: $type = $value;)*
        pub(super) const LIMITS: &[super::Limit] = &[$(super::Limit {
            part: $part,
            name: stringify!($name),
            amount: limits!(@amount $unit $name),
            about: concat!($($about),+),
            test: $test,
        }),*];
    };
    (@amount bytes $name:ident) => { super::Amount::Bytes($name as u64) };
    (@amount count $name:ident) => { super::Amount::Count($name as u64) };
    (@amount steps $name:ident) => { super::Amount::Steps($name as u64) };
    (@amount time $name:ident) => { super::Amount::Time($name) };
}

pub mod engine;
pub mod extenders;
pub mod live;
pub mod sessions;
pub mod sources;
pub mod terminal;

/// Returns all limits, part by part.
pub fn all() -> impl Iterator<Item = Limit> {
    [sources::LIMITS, live::LIMITS, extenders::LIMITS, sessions::LIMITS, engine::LIMITS, terminal::LIMITS].into_iter().flatten().copied()
}
