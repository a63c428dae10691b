//! `schedscope live` and `schedscope capture`, and what other commands read of a live cluster.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::args::{CaptureArgs, ConnectArgs, LiveArgs, SourceArgs};
use super::{EXIT_OK, Failure, explore};
use crate::app::{self, Explorer, Pace};
use crate::scheduler::Evictions;
use crate::session::{Background, Session};
use crate::source::Loaded;
use crate::source::live::{ConnectOptions, Live, State, connect};

/// How often a terminal is told how far it has got.
const TELL: Duration = Duration::from_millis(200);

/// The explorer on a live cluster.
pub(super) fn explore(args: &LiveArgs, no_color: bool) -> Result<u8, Failure> {
    let _log = super::log::start(args.screen.log.as_deref())?;
    let mut options = explore::options(&args.screen, no_color)?;
    let (live, mut loaded) = first(&args.connect)?;
    let live = Arc::new(live);
    super::tell(&loaded);
    options.notice = explore::notice(&loaded, &args.scheduler, &options);
    options.wake = Some(live.notify());
    let background = Background { report: explore::report_lines(&loaded), events: loaded.events.clone(), observed: true };
    let mut scheduler = args.scheduler.on(&SourceArgs::default());
    let ahead = live.status().ahead;
    scheduler.start.get_or_insert_with(|| Timestamp::now().checked_add(ahead).unwrap_or(Timestamp::MAX));
    let scheduler = super::scheduler(&scheduler, &mut loaded, Evictions::AfterGracePeriod)?;
    let target = live.target();
    let name = if target.context.is_empty() { target.server } else { target.context };
    let session = Session::new(scheduler, format!("live {name}")).with(background);
    explore::show_explorer(
        Explorer::new(session).with_reports(vec![Arc::new(loaded.report)]).following(live, Pace { ahead, ..Pace::default() }),
        &options,
        args.screen.print().as_ref(),
    )
}

/// A cluster as a dump.
pub(super) fn capture(args: &CaptureArgs) -> Result<u8, Failure> {
    let loaded = super::read(&args.source, &args.connect, &args.limits.limits())?;
    let path = args.file.display().to_string();
    let said = app::capture(&loaded.cluster(), &loaded.events, &app::unknown_kinds(&loaded.report), &path, args.redact)
        .map_err(Failure::source)?;
    eprintln!("{said}");
    Ok(EXIT_OK)
}

/// Connects, and waits for the first picture of the cluster.
pub(super) fn first(args: &ConnectArgs) -> Result<(Live, Loaded), Failure> {
    let options = ConnectOptions {
        kubeconfig: args.kubeconfig.clone(),
        context: args.context.clone(),
        namespaces: args.only_namespace.clone(),
        interactive: std::io::stdin().is_terminal(),
        ..ConnectOptions::default()
    };
    let live = connect(&options).map_err(|e| Failure::source(e.to_string()))?;
    let shows = std::io::stderr().is_terminal();
    let mut shown = false;
    let loaded = loop {
        if let Some(loaded) = live.wait_first(Some(Instant::now() + TELL)) {
            break loaded;
        }
        if shows {
            eprint!("\r\x1b[K{}", so_far(&live));
            shown = true;
        }
    };
    if shown {
        eprint!("\r\x1b[K");
    }
    Ok((live, loaded))
}

/// How far it has got, in a line.
fn so_far(live: &Live) -> String {
    let status = live.status();
    let listing: Vec<String> = status.kinds.iter().filter(|k| matches!(k.state, State::Listing)).map(|k| k.subject.to_string()).collect();
    let troubles: Vec<String> = status
        .troubles()
        .filter_map(|k| if let State::Retrying { why, .. } = &k.state { Some(format!("{}: {why}", k.subject)) } else { None })
        .collect();
    let mut line = format!("reading {}: {} objects so far", status.target, status.objects());
    if let Some(kind) = listing.first() {
        line += &format!(", listing {kind}");
    }
    if let Some(trouble) = troubles.first() {
        line += &format!("; {trouble}");
    }
    line.chars().take(160).collect()
}
