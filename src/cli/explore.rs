//! `schedscope demo` and `schedscope open`: the explorer.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use super::args::{DemoArgs, OpenArgs, SchedulerArgs, ScreenArgs};
use super::{EXIT_OK, Failure};
use crate::app::{self, Explorer, Options, Print};
use crate::cluster::{Cluster, Key};
use crate::report::completeness;
use crate::scheduler::Evictions;
use crate::session::{Background, Cursor, Session, changes, is_same_cluster, is_session_file};
use crate::source::{Input, Limits, Loaded, Report, Severity};
use crate::ui::keymap::Context;
use crate::ui::{Action, Depth, ThemeError};

/// An embedded cluster.
pub(super) fn demo(args: &DemoArgs, no_color: bool) -> Result<u8, Failure> {
    let _log = super::log::start(args.screen.log.as_deref())?;
    let story = super::story(&args.story)?;
    explore(&[story.input()], &Limits::default(), &format!("story {}", story.name), &args.screen, &args.scheduler, no_color)
}

/// Dumps.
pub(super) fn open(args: &OpenArgs, no_color: bool) -> Result<u8, Failure> {
    let _log = super::log::start(args.screen.log.as_deref())?;
    if !args.merge
        && let Some(dumps) = series(&args.paths, &args.limits.limits())
    {
        return explore_series(dumps, args, no_color);
    }
    let inputs: Vec<Input> = args.paths.iter().map(|p| if p.as_os_str() == "-" { Input::Stdin } else { Input::Path(p.clone()) }).collect();
    let name = args.paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(" ");
    explore(&inputs, &args.limits.limits(), &name, &args.screen, &args.scheduler, no_color)
}

fn explore(
    inputs: &[Input],
    limits: &Limits,
    name: &str,
    screen: &ScreenArgs,
    args: &SchedulerArgs,
    no_color: bool,
) -> Result<u8, Failure> {
    let mut options = options(screen, no_color)?;
    if let [Input::Path(path)] = inputs
        && let Some(session) = saved_session(path)?
    {
        if args.is_given() {
            let words = "a saved session has its own configuration and start; open it without options of the scheduler";
            return Err(Failure::usage(format!("{}: {words}", path.display())));
        }
        return show(session, Vec::new(), &options, screen.print().as_ref());
    }
    let mut loaded = super::load(inputs, limits)?;
    let report = report_lines(&loaded);
    options.notice = notice(&loaded, args, &options);
    let background = Background { report, events: loaded.events.clone(), observed: false };
    let scheduler = super::scheduler(args, &mut loaded, Evictions::AfterGracePeriod)?;
    show(Session::new(scheduler, name).with(background), vec![Arc::new(loaded.report)], &options, screen.print().as_ref())
}

pub(super) fn options(screen: &ScreenArgs, no_color: bool) -> Result<Options, Failure> {
    // A file shows all colours and signs, whatever terminal this is.
    let every = |name: &str| match name {
        "COLORTERM" => Some("truecolor".to_owned()),
        "LC_ALL" => Some("C.UTF-8".to_owned()),
        "COLORFGBG" => None,
        _ => std::env::var(name).ok(),
    };
    let mut options = if screen.print.is_some() { Options::from_vars(every) } else { Options::from_env() };
    options.pod = screen.pod.as_deref().map(pod).transpose()?;
    if let Some(theme) = &screen.theme {
        // A name that was typed just now is worth a word before anything is loaded.
        if let Err(error @ ThemeError::Unknown { file: None, .. }) = options.library().load(theme, Depth::None) {
            return Err(Failure::usage(format!("--theme: {error}")));
        }
        options.theme.clone_from(theme);
        options.asks = false;
    }
    if no_color {
        options.depth = Depth::None;
        options.asks = false;
    }
    options.check_theme();
    for problem in &options.problems {
        eprintln!("{problem}");
    }
    Ok(options)
}

impl ScreenArgs {
    /// What to write instead of showing a screen.
    pub(super) fn print(&self) -> Option<Print> {
        self.print.clone().map(|path| Print { path, size: self.size, keys: self.keys.clone() })
    }
}

/// What a reader should know before believing the screen; `i` shows the rest.
pub(super) fn notice(loaded: &Loaded, args: &SchedulerArgs, options: &Options) -> Option<String> {
    let wrong = loaded.diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
    let mut parts = Vec::new();
    if wrong > 0 {
        parts.push(if wrong == 1 { "1 thing could not be read".to_owned() } else { format!("{wrong} things could not be read") });
    }
    if loaded.report.budgets_unknown() {
        parts.push("no PodDisruptionBudgets in this dump: violations are unknown, shown as ?".to_owned());
    }
    if !args.config_from_dump && args.config.is_none() && loaded.report.scheduler.iter().any(|hint| hint.config.is_some()) {
        parts.push("the dump carries a scheduler's configuration: --config-from-dump takes it".to_owned());
    }
    let pods: usize = loaded.report.pods_on_unknown_nodes.values().sum();
    if pods > 0 {
        parts.push(format!("{pods} pods are on {} nodes that are not in the dump", loaded.report.pods_on_unknown_nodes.len()));
    }
    (!parts.is_empty()).then(|| format!("{} ({} shows all)", parts.join("; "), options.keymap.label(Context::Global, &Action::Report)))
}

pub(super) fn report_lines(loaded: &Loaded) -> Vec<String> {
    completeness(&loaded.report).lines().map(str::to_owned).chain(loaded.diagnostics.iter().map(ToString::to_string)).collect()
}

/// A dump on its own: its name, when it was taken, and what is in it.
type Dump = (String, Timestamp, Loaded);

/// Dumps of one cluster at different times, each loaded on its own, the oldest first; `None` where they are parts of
/// one state, or of different clusters.
fn series(paths: &[PathBuf], limits: &Limits) -> Option<Vec<Dump>> {
    if paths.len() < 2 || paths.iter().any(|p| p.as_os_str() == "-") {
        return None;
    }
    let mut dumps = Vec::new();
    for path in paths {
        let loaded = super::watched(&[Input::Path(path.clone())], limits);
        let time = loaded.report.newest.filter(|_| !loaded.objects.is_empty())?;
        dumps.push((path.display().to_string(), time, loaded));
    }
    dumps.sort_by_key(|(_, time, _)| *time);
    let clusters: Vec<Cluster> = dumps.iter().map(|(.., loaded)| loaded.cluster()).collect();
    let different_times = dumps.windows(2).all(|pair| pair[0].1 < pair[1].1);
    (different_times && clusters.windows(2).all(|pair| is_same_cluster(&pair[0], &pair[1]))).then_some(dumps)
}

/// The oldest dump, and on the timeline what changed until each of the others.
fn explore_series(dumps: Vec<Dump>, args: &OpenArgs, no_color: bool) -> Result<u8, Failure> {
    let mut options = options(&args.screen, no_color)?;
    let mut notices = Vec::new();
    for (name, _, loaded) in &dumps {
        super::tell(loaded);
        notices.extend(notice(loaded, &args.scheduler, &options).map(|words| format!("{name}: {words}")));
    }
    options.notice = (!notices.is_empty()).then(|| notices.join("; "));
    let mut dumps = dumps.into_iter();
    let Some((first_name, _, mut first)) = dumps.next() else { return Err(Failure::usage("no dump is given")) };
    let mut report = vec![format!("{first_name}:")];
    report.extend(report_lines(&first));
    let mut cluster = first.cluster();
    let mut events = first.events.clone();
    let scheduler = super::scheduler(&args.scheduler, &mut first, Evictions::AfterGracePeriod)?;
    let mut session = Session::new(scheduler, format!("{first_name} and later"));
    let mut reports = vec![Arc::new(first.report)];
    for (name, time, loaded) in dumps {
        report.push(String::new());
        report.push(format!("{name}:"));
        report.extend(report_lines(&loaded));
        let next = loaded.cluster();
        match changes(&cluster, &next, &loaded.events, &name, time) {
            Some(operation) => {
                session.observe(operation);
            }
            None => report.push("nothing changed".to_owned()),
        }
        cluster = next;
        events = loaded.events;
        reports.push(Arc::new(loaded.report));
    }
    session.timeline_mut().seek(Cursor::default());
    show(session.with(Background { report, events, observed: true }), reports, &options, args.screen.print().as_ref())
}

/// A session that was saved in the explorer; `None` for any other file.
fn saved_session(path: &Path) -> Result<Option<Session>, Failure> {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(512).read_to_end(&mut start));
    if read.is_err() || !is_session_file(&start) {
        // What cannot be read is told of where dumps are read.
        return Ok(None);
    }
    let at = |e: &dyn std::fmt::Display| Failure::source(format!("{}: {e}", path.display()));
    Session::load(File::open(path).map_err(|e| at(&e))?).map(Some).map_err(|e| at(&e))
}

fn show(session: Session, reports: Vec<Arc<Report>>, options: &Options, print: Option<&Print>) -> Result<u8, Failure> {
    show_explorer(Explorer::new(session).with_reports(reports), options, print)
}

pub(super) fn show_explorer(mut explorer: Explorer, options: &Options, print: Option<&Print>) -> Result<u8, Failure> {
    app::install_panic_hook();
    if let Some(print) = print {
        app::print(&mut explorer, options, print).map_err(|e| Failure::usage(e.to_string()))?;
        return Ok(EXIT_OK);
    }
    let exit = app::run(&mut explorer, options).map_err(|e| Failure::usage(e.to_string()))?;
    tracing::info!(?exit, "the screen was left");
    Ok(match exit {
        app::Exit::Quit => EXIT_OK,
        signal @ app::Exit::Signal(_) => signal.code(),
    })
}

fn pod(text: &str) -> Result<Key, Failure> {
    let (namespace, name) = text.split_once('/').unwrap_or(("default", text));
    if name.is_empty() || namespace.is_empty() {
        return Err(Failure::usage(format!("--pod: {text:?} is not NAMESPACE/NAME")));
    }
    Ok(Key::new(namespace, name))
}
