//! Dumps, broken input, captures and live clusters: the objects read, and the diagnostics about the rest.

#[path = "../common/api_server.rs"]
mod api_server;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../common/deciding.rs"]
mod deciding;
#[cfg(unix)]
#[path = "../common/interrupts.rs"]
mod interrupts;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../common/recorded.rs"]
mod recorded;

mod archives;

mod bad_input;
mod capture;
mod command_line;
mod dumps;
mod etcd;
mod etcd_made;
mod in_part;
mod journal;
mod journal_soak;
mod live;
mod live_limits;
mod live_log;
mod log_comparison;
mod manifest;
mod measure;
mod neighbors;
mod owners;
mod pre_bind;
mod releases;
mod rights;
mod scheduler_logs;
mod yaml_lists;
