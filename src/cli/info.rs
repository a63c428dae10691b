//! `schedscope info`: the program's version, and the kube-scheduler that it emulates.

use super::args::InfoArgs;
use super::emulate::{Emulate, substitution};
use super::{Failure, print};
use crate::output::{self, Lines};
use crate::release::{FoundVersion, ReleaseChoice, VersionSource};
use crate::report::{Answer, Info};

/// Prints the release's plugins, weights and feature gates.
pub(super) fn run(args: &InfoArgs) -> Result<u8, Failure> {
    let wanted = args.emulate.and_then(|emulate| match emulate {
        // `info` reads no source that could show a version.
        Emulate::Auto => None,
        Emulate::Release(release) => Some(FoundVersion { release, source: VersionSource::Flag }),
    });
    let choice = ReleaseChoice { wanted, cluster: None };
    substitution(choice).into_iter().for_each(output::say);
    let info = Info::of(choice.emulated());
    let more = if args.output.wide { info.patches_text() } else { Lines::default() };
    print(&args.output.write(&Answer::Info(&info), more)?)
}
