//! `schedscope demo`, `open`, `live`, and none of these: the explorer.

use super::args::{DemoArgs, LiveArgs, OpenArgs, SchedulerArgs, ScreenArgs};
use super::opening::{Source, Wanted};
use super::{EXIT_OK, Failure, live, start};
use crate::app::{self, Console, Exit, ExitTo, Loaded, Options, Print, Watch};
use crate::cluster::Key;
use crate::output;
use crate::ui::{Depth, ThemeError};

/// The name of the tour among the stories.
const LEARN: &str = "learn";
/// The story of the tour.
const LEARNED_ON: &str = "payments";
const OFFER: &str = "new here? schedscope demo learn is a tour of ten screens";
/// The file beside the logs whose existence says that the tour was offered.
const OFFERED: &str = "tour-offered";

/// The part of the tour in a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tour {
    None,
    Offered,
    Begun,
}

/// Returns whether the tour was never offered before, and records that it is. Without a folder to record it in, it is not
/// offered.
fn offers_tour() -> bool {
    let Some(folder) = app::folder(|name| std::env::var(name).ok(), "XDG_STATE_HOME", ".local/state") else { return false };
    std::fs::create_dir_all(&folder).is_ok() && output::write_new(&folder.join(OFFERED), |_| Ok::<(), std::io::Error>(())).is_ok()
}

/// Opens an embedded cluster.
pub(super) fn demo(args: &DemoArgs, no_color: bool) -> Result<u8, Failure> {
    let learn = args.story == LEARN;
    let source = Source::Story(super::story(if learn { LEARNED_ON } else { &args.story })?);
    let tour = match () {
        () if learn => Tour::Begun,
        () if args.screen.print.is_none() && args.screen.pod.is_none() && offers_tour() => Tour::Offered,
        () => Tour::None,
    };
    go(Some(Wanted { source, scheduler: args.scheduler.clone() }), &args.screen, tour, no_color)
}

/// Opens dumps.
pub(super) fn open(args: &OpenArgs, no_color: bool) -> Result<u8, Failure> {
    let (at, limits) = (args.moment.at, args.limits.limits());
    let source = match super::history::named(&args.paths, at)? {
        Some(past) => Source::Past { past, at, limits },
        None => Source::Dumps { paths: args.paths.clone(), limits, merge: args.merge },
    };
    go(Some(Wanted { source, scheduler: args.scheduler.clone() }), &args.screen, Tour::None, no_color)
}

/// Opens a live cluster.
pub(super) fn live(args: &LiveArgs, no_color: bool) -> Result<u8, Failure> {
    let connect = args.connect.with_log(&args.scheduler, true)?;
    go(Some(Wanted { source: Source::Cluster(connect), scheduler: args.scheduler.clone() }), &args.screen, Tour::None, no_color)
}

/// Opens the start screen.
pub(super) fn choose(no_color: bool) -> Result<u8, Failure> {
    let screen =
        ScreenArgs { pod: None, workload: None, theme: None, log: None, print: None, size: (0, 0), keys: String::new(), animate: None };
    go(None, &screen, Tour::None, no_color)
}

/// Explores one source after another until the user exits, and returns the exit code. With the start screen open, a
/// source that fails to open leads back to it.
fn go(first: Option<Wanted>, screen: &ScreenArgs, tour: Tour, no_color: bool) -> Result<u8, Failure> {
    super::log::start(screen.log.as_deref())?;
    let mut options = options(screen, no_color)?;
    options.learn = tour == Tour::Begun;
    options.offer = (tour == Tour::Offered).then_some(OFFER);
    if let Some((print, wanted)) = screen.print().zip(first.clone()) {
        return written(wanted, &options, &print);
    }
    let mut console = Console::new()?;
    let mut only = first.is_some();
    let (mut next, mut why) = (first, None);
    loop {
        let wanted = match next.take() {
            Some(wanted) => wanted,
            None => match start::choose(why.take(), &options, &mut console)? {
                Ok(wanted) => wanted,
                Err(exit) => return Ok(exit.code()),
            },
        };
        let said = console.unsaid().len();
        match show(wanted, &options, &mut console) {
            Err(failure) if only => return Err(failure),
            Err(failure) => {
                let said = console.unsaid().get(said..).unwrap_or_default().iter().cloned();
                why = Some(said.chain(failure.lines()).collect::<Vec<_>>().join("; "));
            }
            // Quitting a load returns to the start screen.
            Ok(Shown::NotWaitedFor(Exit::Quit)) if !only => {}
            Ok(Shown::NotWaitedFor(exit) | Shown::ExitTo(ExitTo::Exit(exit))) => {
                tracing::info!(?exit, "the screen was left");
                return Ok(exit.code());
            }
            Ok(Shown::ExitTo(ExitTo::Open(path))) => {
                only = false;
                next = path.map(|path| Wanted { source: start::at_path(&path), scheduler: SchedulerArgs::default() });
            }
        }
        // These belong to the first source.
        (options.pod, options.workload, options.learn, options.offer) = (None, None, false, None);
    }
}

/// Loads a source and writes its screen to a file.
fn written(wanted: Wanted, options: &Options, print: &Print) -> Result<u8, Failure> {
    app::install_panic_hook();
    let watch = Watch::default();
    let opened = wanted.open(None, options, &watch);
    for line in watch.said() {
        output::say(line);
    }
    let opened = opened?;
    let options = Options { notice: opened.notice, ..options.clone() };
    let mut explorer = opened.explorer.with_bounded_overview();
    let printed = app::print(&mut explorer, &options, print);
    explorer.end_with_the_process();
    printed.map_err(|e| Failure::usage(e.to_string()))?;
    Ok(EXIT_OK)
}

/// How the explorer ended.
enum Shown {
    /// During loading.
    NotWaitedFor(Exit),
    ExitTo(ExitTo),
}

/// Loads a source and shows it until the user leaves it.
fn show(wanted: Wanted, options: &Options, console: &mut Console) -> Result<Shown, Failure> {
    let connected = match &wanted.source {
        Source::Cluster(connect) => live::connected_first(connect, console)?,
        _ => None,
    };
    let known = options.clone();
    let title = wanted.title();
    match console.load(&title, options, move |watch| wanted.open(connected, &known, watch))? {
        Loaded::ExitTo(exit) => Ok(Shown::NotWaitedFor(exit)),
        Loaded::Done(opened) => {
            let opened = opened?;
            let options = Options { notice: opened.notice, wake: opened.wake, ..options.clone() };
            Ok(Shown::ExitTo(console.explore(opened.explorer, &options)?))
        }
    }
}

fn options(screen: &ScreenArgs, no_color: bool) -> Result<Options, Failure> {
    // A file gets all colours and glyphs: the terminal's limits do not apply.
    let every = |name: &str| match name {
        "COLORTERM" => Some("truecolor".to_owned()),
        "LC_ALL" => Some("C.UTF-8".to_owned()),
        "COLORFGBG" => None,
        _ => std::env::var(name).ok(),
    };
    let mut options = if screen.print.is_some() { Options::from_vars(every) } else { Options::from_env() };
    options.pod = screen.pod.as_deref().map(pod).transpose()?;
    options.workload.clone_from(&screen.workload);
    if let Some(theme) = &screen.theme {
        // Report an unknown `--theme` before anything is loaded.
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
        output::say(problem);
    }
    Ok(options)
}

impl ScreenArgs {
    /// Returns where and how to write the screen instead of showing it.
    fn print(&self) -> Option<Print> {
        self.print.clone().map(|path| Print { path, size: self.size, keys: self.keys.clone(), animate: self.animate })
    }
}

fn pod(text: &str) -> Result<Key, Failure> {
    let (namespace, name) = text.split_once('/').unwrap_or(("default", text));
    if name.is_empty() || namespace.is_empty() {
        return Err(Failure::usage(format!("--pod: {text:?} is not NAMESPACE/NAME")));
    }
    Ok(Key::new(namespace, name))
}
