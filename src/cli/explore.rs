//! `schedscope demo` and `schedscope open`: the explorer.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::args::{DemoArgs, OpenArgs, SchedulerArgs, ScreenArgs};
use super::{EXIT_OK, Failure};
use crate::app::{self, Explorer, Options};
use crate::cluster::Key;
use crate::report::completeness;
use crate::scheduler::Evictions;
use crate::session::{Session, is_session_file};
use crate::source::{Input, Limits};
use crate::ui::Depth;

/// An embedded cluster.
pub(super) fn demo(args: &DemoArgs, no_color: bool) -> Result<u8, Failure> {
    let story = super::story(&args.story)?;
    explore(&[story.input()], &Limits::default(), &format!("story {}", story.name), &args.screen, &args.scheduler, no_color)
}

/// Dumps.
pub(super) fn open(args: &OpenArgs, no_color: bool) -> Result<u8, Failure> {
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
    let _log = screen.log.as_deref().map(super::log::to_file).transpose()?;
    let mut options = Options::from_env();
    options.pod = screen.pod.as_deref().map(pod).transpose()?;
    if let Some(theme) = &screen.theme {
        options.theme.clone_from(theme);
    }
    if no_color {
        options.depth = Depth::None;
    }
    if let [Input::Path(path)] = inputs
        && let Some(session) = saved_session(path)?
    {
        return show(Explorer::new(session, vec![format!("a saved session, {}", path.display())], Vec::new()), &options);
    }
    let mut loaded = super::load(inputs, limits)?;
    let report =
        completeness(&loaded.report).lines().map(str::to_owned).chain(loaded.diagnostics.iter().map(ToString::to_string)).collect();
    let events = loaded.events.clone();
    let scheduler = super::scheduler(args, &mut loaded, Evictions::AfterGracePeriod)?;
    show(Explorer::new(Session::new(scheduler, name), report, events), &options)
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

fn show(mut explorer: Explorer, options: &Options) -> Result<u8, Failure> {
    app::install_panic_hook();
    let exit = app::run(&mut explorer, options).map_err(|e| Failure::usage(e.to_string()))?;
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
