//! The command line that takes a decision again, for tickets.

use std::path::{Path, PathBuf};

use super::args::{ConnectArgs, LimitArgs, SchedulerArgs};
use super::emulate::Emulate;
use super::opening::Source;
use crate::scheduler::InitialQueues;

/// Returns the arguments that name a source; `None` if it cannot be read again.
pub(super) fn source_words(source: &Source) -> Option<Vec<String>> {
    match source {
        Source::Story(story) => Some(words(["--demo", story.name])),
        Source::Cluster(connect) => Some(connect_words(connect)),
        // The window around a moment is no state that a command names.
        Source::Past { .. } => None,
        Source::Dumps { paths, .. } if paths.iter().any(|path| path.as_os_str() == "-") => None,
        Source::Dumps { paths, .. } => Some(dump_words(paths.iter().map(PathBuf::as_path))),
    }
}

/// Returns the arguments that name dumps.
pub(super) fn dump_words<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Vec<String> {
    let mut found = words(["--from"]);
    found.extend(paths.into_iter().map(|path| path.display().to_string()));
    found
}

/// Returns the arguments that name a live cluster.
pub(super) fn connect_words(connect: &ConnectArgs) -> Vec<String> {
    let mut found = words(["--live"]);
    found.extend(connect.kubeconfig.iter().flat_map(|path| words(["--kubeconfig", &path.display().to_string()])));
    found.extend(connect.context.iter().flat_map(|context| words(["--context", context])));
    found.extend(connect.only_namespace.iter().flat_map(|namespace| words(["--only-namespace", namespace])));
    found
}

/// Returns the limits that differ from their defaults.
pub(super) fn limit_words(limits: &LimitArgs) -> Vec<String> {
    limits.max_bytes.iter().flat_map(|bytes| words(["--max-bytes", &bytes.to_string()])).collect()
}

/// Returns the arguments of the scheduler that differ from their defaults.
pub(super) fn scheduler_words(args: &SchedulerArgs) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(args.config.iter().flat_map(|path| words(["--config", &path.display().to_string()])));
    found.extend(args.config_from_dump.then(|| "--config-from-dump".to_owned()));
    found.extend(args.scheduler_log.iter().flat_map(|path| words(["--scheduler-log", &path.display().to_string()])));
    found.extend(args.config_from_log.then(|| "--config-from-log".to_owned()));
    found.extend(args.emulate.iter().flat_map(|emulate| match emulate {
        Emulate::Auto => words(["--emulate", "auto"]),
        Emulate::Release(release) => words(["--emulate", &release.number()]),
    }));
    found.extend(args.feature_gates.iter().flat_map(|gates| words(["--feature-gates", gates])));
    found.extend(args.all_nodes.then(|| "--all-nodes".to_owned()));
    found.extend(args.queues.iter().flat_map(|queues| {
        words([
            "--queues",
            match queues {
                InitialQueues::Fresh => "fresh",
                InitialQueues::AsObserved => "observed",
            },
        ])
    }));
    found.extend(args.start.iter().flat_map(|start| words(["--start", &start.to_string()])));
    found
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Reproduction;
    use crate::cluster::Key;

    #[test]
    fn the_command_names_source_and_scheduler() {
        let scheduler = SchedulerArgs { all_nodes: true, feature_gates: Some("A=true".to_owned()), ..SchedulerArgs::default() };
        let mut words = dump_words([Path::new("my dump.yaml")]);
        words.extend(scheduler_words(&scheduler));
        assert_eq!(
            Reproduction::new(words).command(&Key::new("shop", "web-1")),
            "schedscope explain web-1 -n shop --from 'my dump.yaml' --feature-gates A=true --all-nodes --fixes -o markdown"
        );
        assert!(scheduler_words(&SchedulerArgs::default()).is_empty());
        let connect = ConnectArgs { context: Some("prod".to_owned()), ..ConnectArgs::default() };
        assert_eq!(connect_words(&connect), ["--live", "--context", "prod"]);
    }
}
