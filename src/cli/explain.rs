//! `schedscope explain`: one pod's decision, or all pending pods compared with the cluster's scheduler.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::args::{ClusterArgs, ExplainArgs, LabelQuery};
use super::diff::Older;
use super::dumps::{Dump, newest_two};
use super::reproduce;

use super::{Audience, EXIT_NO_FIT, EXIT_OK, Failure, Silent, StandardError, original, section, write_answer};
use crate::analysis::{
    self, Agreements, FixesReport, MatchKind, Missing, ReleaseReport, SchedulerComparer, SchedulerMatch, Voices, VolumePlace, When,
    WhenInput, decision_parts, missing_sentences, volume_places,
};
use crate::app::{Reproduction, pod_meant};
use crate::cluster::neighbors::{NeighborKind, Neighbors};
use crate::cluster::{Cluster, Key, Kind, Object, ObservedEvent, Pod, Str};
use crate::fixes::{self, Acts, Background, Limits};
use crate::limits::live::{NEIGHBORS, NEIGHBORS_ASKED};
use crate::output::{self, Document, Text};
use crate::plural::count_of;
use crate::release::Gate;
use crate::report::{Answer, FormatError, Origin, PodFacts, Reported, Ticket, attempts_document};
use crate::scheduler::{Evictions, InitialQueues, OddsEffort, Scheduler, StepBound};
use crate::session::{AtTime, requeue_events};
use crate::source::live::NeighborsQuestion;
use crate::source::{Input, Loaded};
use crate::suggest::nearest;
use crate::trace::{CycleView, Outcome};
use crate::workload::{NeighborNeeds, WorkloadInput};

/// Wait before a live cluster is read again: its scheduler may not have written its latest decision yet.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// An answer, and whether the cluster's scheduler disagrees with it.
pub(super) struct Explained {
    pub(super) text: Text,
    pub(super) code: u8,
    pub(super) disagrees: bool,
}

/// Decides and prints.
pub(super) fn run(args: &ExplainArgs) -> Result<u8, Failure> {
    if args.all_namespaces && !args.pending && args.selector.is_none() && args.manifests.is_empty() {
        return Err(Failure::usage("-A names no pod: --pending explains all that wait, --selector those with some labels"));
    }
    if !args.pending && !args.output.takes_all_answers() {
        return Err(FormatError::OnlyPending(args.output.name).into());
    }
    if !args.manifests.is_empty() {
        return super::manifest::run(args);
    }
    check_options(args)?;
    if args.watch {
        return super::watch::run(args);
    }
    let connect = args.cluster.connect.with_log(&args.scheduler, args.cluster.source.is_live())?;
    let at = moment_of(args)?;
    let limits = args.cluster.limits.limits();
    let read = |inputs: &[Input]| super::read_inputs(inputs, &limits, &StandardError);
    let series = if args.merge || at.is_some() { None } else { newest_two(&args.cluster.source.from, &read) };
    let (mut loaded, series) = match series {
        Some((newest, before)) => {
            let (name, loaded) = newest.into_parts();
            super::tell(&loaded, &StandardError);
            (super::judgeable(loaded)?, Some((name, before)))
        }
        None => (super::history::read_source(&args.cluster.source, &connect, &limits, at)?, None),
    };
    super::live::add_neighbors(&mut loaded, |loaded| question(args, loaded));
    let again = || {
        let mut loaded = super::judgeable(super::live::first(&connect)?.1)?;
        super::live::add_neighbors(&mut loaded, |loaded| question(args, loaded));
        Ok(loaded)
    };
    let explained = explain_twice(args, loaded, series, &std::thread::sleep, again)?;
    write_answer(&explained.text, &args.file)?;
    Ok(explained.code)
}

/// Returns which objects and events that scheduling does not read can matter to the answer about a live cluster.
fn question(args: &ExplainArgs, loaded: &Loaded) -> Option<NeighborsQuestion> {
    // KIND/NAMESPACE/NAME names another namespace than that of the context.
    let is_elsewhere = args.pods.iter().any(|name| name.matches('/').count() == 2);
    let within_namespace = (!args.all_namespaces && !is_elsewhere).then(|| args.namespace());
    if args.pods.is_empty() {
        return Some(NeighborsQuestion::all(within_namespace, NEIGHBORS_ASKED));
    }
    let keys: Option<Vec<Key>> = args.pods.iter().map(|pod| pod_key(pod, args.namespace.as_deref(), &args.namespace()).ok()).collect();
    // Where one is no pod, it is a workload.
    let pods = keys.as_ref().and_then(|keys| keys.iter().map(|key| pod_of(loaded, key)).collect::<Option<Vec<_>>>());
    let Some(pods) = pods else { return Some(NeighborsQuestion::all(within_namespace, NEIGHBORS_ASKED)) };
    let namespaces: BTreeSet<&Str> = pods.iter().map(|pod| &pod.metadata.namespace).collect();
    let (mut kinds, mut events) = (BTreeSet::new(), false);
    for pod in pods.iter().filter(|pod| pod.is_pending()) {
        let needs = NeighborNeeds::of(pod);
        kinds.extend(needs.kinds);
        events |= needs.events;
        if args.fixes {
            kinds.extend(analysis::fix_kinds(pod));
        }
    }
    let namespace = if namespaces.len() == 1 { namespaces.first().map(ToString::to_string) } else { None };
    (!kinds.is_empty() || events).then_some(NeighborsQuestion { namespace, kinds, events, within: NEIGHBORS })
}

/// Returns a pod of a source.
fn pod_of<'a>(loaded: &'a Loaded, key: &Key) -> Option<&'a Pod> {
    loaded.objects.iter().find_map(|object| if let Object::Pod(pod) = object { (pod.key() == *key).then_some(&**pod) } else { None })
}

/// Returns the moment that is asked for. Without one, a pod that was evicted is explained as it was before it was deleted.
fn moment_of(args: &ExplainArgs) -> Result<Option<AtTime>, Failure> {
    let ([name], None, true) = (&args.pods[..], args.cluster.moment.at, args.evicted) else { return Ok(args.cluster.moment.at) };
    let Some(past) = super::history::named(&args.cluster.source.from, None)? else { return Ok(None) };
    let name = name.strip_prefix("pod/").unwrap_or(name);
    let key = match name.split_once('/') {
        Some((namespace, name)) => Key::new(namespace, name),
        None => Key::new(args.namespace(), name),
    };
    let Some((before, words)) = past.before_deletion(&key, &args.cluster.limits.limits())? else { return Ok(None) };
    output::say(words);
    Ok(Some(before))
}

/// Decides, and once more on a second read of a live cluster if its scheduler seems to disagree: the first read may fall
/// between a decision and the condition or event that reports it.
fn explain_twice(
    args: &ExplainArgs,
    loaded: Loaded,
    series: Option<(String, Dump)>,
    wait: &dyn Fn(Duration),
    again: impl FnOnce() -> Result<Loaded, Failure>,
) -> Result<Explained, Failure> {
    // An answer about a live cluster may be made again, and a file is written whole.
    let at_once = args.file.output_file.is_none() && !args.cluster.source.is_live();
    let first = explain(args, loaded, series, &StandardError, at_once.then_some(&output::print))?;
    if !(first.disagrees && args.cluster.source.is_live()) {
        return Ok(first);
    }
    wait(LOOK_AGAIN);
    // The first pass has already printed the lines about the release.
    explain(args, again()?, None, &Silent, None)
}

/// Writes a text, and returns whether more is wanted.
type Print<'a> = &'a dyn Fn(&Text) -> io::Result<bool>;

/// Explains on a source. Of dumps over time it is the newest; `series` has its name, and the dump before it. With `at_once`, answers about
/// several pods are written when they are made, and are not returned.
fn explain(
    args: &ExplainArgs,
    mut loaded: Loaded,
    series: Option<(String, Dump)>,
    audience: &dyn Audience,
    at_once: Option<Print<'_>>,
) -> Result<Explained, Failure> {
    if !args.fixes && !args.pending && args.scheduler.extenders.ask_extenders.is_none() {
        loaded.report.forget_origins();
    }
    let (scheduler_args, limits) = (args.cluster.scheduler(&args.scheduler), args.cluster.limits.limits());
    let scheduler = super::begin(&scheduler_args, &mut loaded, &limits, Evictions::AtOnce, audience)?;
    let older = series.map(|(name, before)| Older::new(&scheduler_args, before, name, &loaded)).transpose()?;
    let indexes = Indexes::default();
    let source = Source { scheduler: &scheduler, loaded: &loaded, older: older.as_ref(), indexes: &indexes };
    check_namespace(args, source)?;
    let explained = match (&args.pods[..], &args.selector) {
        ([pod], None) => {
            let write = |answer: &Answer<'_>, more| args.output.write(answer, more).map_err(Failure::from);
            subject(args, pod, source, &write)
        }
        ([], None) => all(args, source),
        _ if !args.output.takes_several() => Err(FormatError::OneAnswer(args.output.name).into()),
        (pods, selector) => several(args, (pods, selector.as_ref()), source, audience, at_once),
    };
    // Skip the destructors: the process exits here, and freeing a large cluster takes time.
    std::mem::forget((scheduler, loaded, older));
    explained
}

/// Fails if `-n` names a namespace that no object has, in the dump before it neither; with `--evicted` also no event.
fn check_namespace(args: &ExplainArgs, source: Source<'_>) -> Result<(), Failure> {
    let Source { scheduler, loaded, older, .. } = source;
    let is_of_event =
        |namespace: &String| args.evicted && events(scheduler, loaded).iter().any(|event| event.pod.namespace == namespace.as_str());
    let named = args.namespace.as_ref().filter(|namespace| !is_of_event(namespace));
    let clusters: Vec<&Cluster> = std::iter::once(scheduler.state().cluster()).chain(older.map(Older::cluster)).collect();
    unknown_namespace(&clusters, &[&loaded.neighbors], named.map(String::as_str)).map_or(Ok(()), Err)
}

/// A source as a scheduler, with the dump before it if it is the newest of several.
#[derive(Clone, Copy)]
struct Source<'a> {
    scheduler: &'a Scheduler,
    loaded: &'a Loaded,
    older: Option<&'a Older>,
    indexes: &'a Indexes<'a>,
}

/// Indexes of a source that answers about all of its pods share, made on first use.
#[derive(Debug, Default)]
struct Indexes<'a> {
    comparer: OnceCell<SchedulerComparer>,
    /// The events about other objects, and the objects that scheduling does not read.
    others: OnceCell<WorkloadInput<'a>>,
}

/// Explains several pods, one after another. A pod that cannot be explained is said, and the others are.
fn several(
    args: &ExplainArgs,
    (pods, selector): (&[String], Option<&LabelQuery>),
    source: Source<'_>,
    audience: &dyn Audience,
    at_once: Option<Print<'_>>,
) -> Result<Explained, Failure> {
    let scheduler = source.scheduler;
    let namespace = args.namespace();
    let is_meant = |pod: &Pod, selector: &LabelQuery| {
        pod.is_pending() && (args.all_namespaces || pod.metadata.namespace.as_str() == namespace) && selector.matches(&pod.metadata.labels)
    };
    let all_pods = scheduler.state().cluster().pods.iter();
    let selected: Vec<&Arc<Pod>> = selector.map_or_else(Vec::new, |selector| all_pods.filter(|pod| is_meant(pod, selector)).collect());
    if selector.is_some() && selected.is_empty() {
        audience.say("no pending pod has these labels".to_owned());
    }
    let cluster = scheduler.state().cluster();
    let named = |name: &String| {
        let key = pod_key(name, args.namespace.as_deref(), &namespace).ok()?;
        cluster.pods.get(&key).filter(|pod| pod.is_pending())
    };
    let asked: Vec<Option<&Arc<Pod>>> = selected.iter().map(|pod| Some(*pod)).chain(pods.iter().map(named)).collect();
    let decided = within_bound(scheduler, &asked, StepBound::allowance_of_recorded(scheduler));
    let write = |answer: &Answer<'_>, more| args.output.write_next(answer, more).map_err(Failure::from);
    let mut all = Explained { text: Text::default(), code: super::code(EXIT_OK, scheduler), disagrees: false };
    if let Some(first) = asked[decided..].iter().flatten().next() {
        let (left, first) = (asked.len() - decided, first.key());
        let (are, narrower) = if decided < selected.len() {
            (count_of(left, "selected pod is", "selected pods are"), "name them to decide about them")
        } else {
            (count_of(left, "named pod is", "named pods are"), "name fewer at once")
        };
        audience.say(format!("{are} not decided, from {first} on: the others take all steps; {narrower}"));
        all.code = super::EXIT_SOURCE;
    }
    let of_keys = selected.iter().map(|pod| one(args, &pod.key(), source, &write));
    let of_names = pods.iter().map(|pod| subject(args, pod, source, &write));
    for explained in of_keys.chain(of_names).take(decided) {
        match explained {
            Ok(next) => {
                all.code = all.code.max(next.code);
                all.disagrees |= next.disagrees;
                match at_once {
                    None => all.text.push(&next.text),
                    Some(print) if print(&next.text).map_err(Failure::standard_output)? => {}
                    Some(_) => break,
                }
            }
            Err(failure) => {
                all.code = all.code.max(failure.kind.code());
                for line in failure.lines() {
                    audience.say(line);
                }
            }
        }
    }
    Ok(all)
}

/// Decisions that take as many steps as one with its answer, which is compared and written.
const STEPS_OF_ANSWER: u64 = 2;

/// Returns how many pods, from the first on, are decided within a number of steps; at least one. A pod of a group is decided and shown with
/// all others of it that wait. Names of other pods take no steps.
fn within_bound(scheduler: &Scheduler, pods: &[Option<&Arc<Pod>>], mut steps: u64) -> usize {
    let state = scheduler.state();
    let group = |pod: &Pod| pod.group_key().filter(|_| state.config().emulation.enabled(Gate::GenericWorkload));
    let mut members: HashMap<Key, u64> = HashMap::new();
    if pods.iter().flatten().any(|pod| group(pod).is_some()) {
        let waiting = state.cluster().pods.iter().filter(|pod| pod.is_pending());
        waiting.filter_map(|pod| group(pod)).for_each(|group| *members.entry(group).or_default() += 1);
    }
    for (at, pod) in pods.iter().enumerate() {
        let Some(pod) = pod else { continue };
        if steps == 0 {
            return at;
        }
        let together = group(pod).and_then(|group| members.get(&group)).copied().unwrap_or(1);
        let of_answer = StepBound::steps_of_recorded(scheduler, pod).saturating_mul(STEPS_OF_ANSWER);
        steps = steps.saturating_sub(of_answer.saturating_mul(together));
    }
    pods.len()
}

/// Fails if an option is about manifests, and none are given.
///
/// clap does not: it leaves out `requires` where that would conflict with an argument that is there.
fn check_options(args: &ExplainArgs) -> Result<(), Failure> {
    let of_manifests = [("--capacity", args.capacity), ("--replicas", args.replicas.is_some())];
    let Some((option, _)) = of_manifests.into_iter().find(|(_, is_given)| *is_given && args.manifests.is_empty()) else { return Ok(()) };
    Err(Failure::usage(format!(
        "{option} is about a manifest, which -f FILE gives; for what is in the cluster there are \
         `schedscope run --what-if \"capacity WORKLOAD\"` and `--what-if \"scale WORKLOAD N\"`"
    )))
}

/// Says which options an answer leaves out, and why.
fn say_left_out(args: &ExplainArgs, why: &str) {
    for (option, is_given) in [("--fixes", args.fixes), ("--odds", args.odds)] {
        if is_given {
            output::say(format!("{option} is left out: {why}"));
        }
    }
}

/// Explains the pod or workload that an argument names.
fn subject(args: &ExplainArgs, name: &str, source: Source<'_>, write: Write<'_>) -> Result<Explained, Failure> {
    let Source { scheduler, loaded, .. } = source;
    match super::workload::named(name, args, scheduler, loaded)? {
        Some(workload) if args.evicted => {
            Err(Failure::usage(format!("--evicted is about a pod, and {workload} is a workload: name one of its pods")))
        }
        Some(workload) => {
            say_left_out(args, &format!("{workload} is a workload, and its causes have their fixes"));
            super::workload::explain(&workload, scheduler, loaded, write, completeness(args, loaded))
        }
        None => one(args, &pod_key(name, args.namespace.as_deref(), &args.namespace())?, source, write),
    }
}

/// Writes an answer and the lines beside it.
pub(super) type Write<'a> = &'a dyn Fn(&Answer<'_>, Document) -> Result<Text, Failure>;

fn one(args: &ExplainArgs, key: &Key, source: Source<'_>, write: Write<'_>) -> Result<Explained, Failure> {
    let Source { scheduler, loaded, older, .. } = source;
    let cluster = scheduler.state().cluster();
    let is_bound = cluster.pods.get(key).is_some_and(|pod| !pod.node_name.is_empty() && !pod.is_terminal());
    if args.evicted || is_bound {
        if is_bound {
            say_left_out(args, &format!("pod {key} has a node"));
        }
        return super::placed::explain(args, key, scheduler, loaded, write, completeness(args, loaded));
    }
    let pod = cluster.pods.get(key).ok_or_else(|| absent(cluster, key))?;
    if pod.is_terminal() {
        return Err(Failure::usage(format!("pod {key} is not pending: its phase is {}", pod.status.phase)));
    }
    let effort = if args.odds { OddsEffort::Asked } else { OddsEffort::Little };
    let comparer = source.indexes.comparer.get_or_init(|| SchedulerComparer::new(scheduler, events(scheduler, loaded)));
    let view = comparer.view(pod, effort);
    let agreement = comparer.compare(pod, &view);
    let release = ReleaseReport::of(scheduler.emulated(), &decision_parts(scheduler.state().config()));
    if view.nodes_unknown().is_some() {
        let mut more = unknown(&view);
        more.append(completeness(args, loaded));
        let text = write(&Answer::Undecided(&view, &release, &agreement), more)?;
        return Ok(Explained { text, code: super::EXIT_SOURCE, disagrees: false });
    }
    let when = when(scheduler, &view, key, &agreement);
    let since = older.map(|older| older.compared_with(scheduler, |pod| pod == key).since(key));
    let input = source.indexes.others.get_or_init(|| WorkloadInput::of_events(cluster, &loaded.neighbors));
    let voices = Voices::among(pod, scheduler, input, &view);
    let facts = PodFacts {
        agreement: Some(&agreement),
        others: &voices.others,
        others_left_out: voices.left_out,
        others_together: &voices.together,
        when: when.as_ref(),
        since: since.as_ref(),
    };
    let more = sections(args, source, pod, &view, &facts, &voices)?;
    let originals = |kind: Kind, key: &Key| original(loaded, kind, key);
    let background = Background { neighbors: &loaded.neighbors, originals: &originals, acts: &Acts::default() };
    let found = args.fixes.then(|| fixes::find(scheduler, pod, Limits::of(cluster.nodes.len()), background, &|_| true));
    let fixes = found.map(|found| FixesReport::new(&found, cluster, background.source()));
    let origin = Origin { reported: Reported::of(&view, agreement.there.as_ref()), ..origin(args, key, scheduler) };
    let ticket = Ticket { view: &view, release: &release, fixes: fixes.as_ref(), origin: &origin, priority: Some(pod.priority()), facts };
    let text = write(&Answer::Ticket(ticket), more)?;
    let code = match view.outcome {
        // It has a node, and cannot start there.
        Some(Outcome::Scheduled) if agreement.waits_for.is_some() => EXIT_NO_FIT,
        Some(Outcome::Scheduled) if agreement.fit_is_doubtful() => super::EXIT_SOURCE,
        Some(Outcome::Scheduled) => EXIT_OK,
        _ => EXIT_NO_FIT,
    };
    let code = super::code(code, scheduler);
    Ok(Explained { text, code, disagrees: agreement.accord == MatchKind::Unexplained })
}

/// Returns the sections that formats of text have behind a decision. A ticket has its own of what is unknown and of volumes.
fn sections(
    args: &ExplainArgs,
    source: Source<'_>,
    pod: &Pod,
    view: &CycleView,
    facts: &PodFacts<'_>,
    voices: &Voices,
) -> Result<Document, Failure> {
    let Source { scheduler, loaded, older, .. } = source;
    let is_ticket = args.output.is_ticket();
    let mut doc = if is_ticket { Document::default() } else { unknown(view) };
    if let Some(when) = facts.when {
        doc.append(section("When", [when.text.clone()]));
    }
    if !is_ticket {
        let places = volume_places(scheduler.state().cluster(), pod);
        doc.append(section("Volumes", places.iter().filter_map(VolumePlace::conflict_sentence).map(|words| format!("{words}."))));
    }
    if let (Some(older), Some(since)) = (older, facts.since) {
        doc.append(older.section([since.sentence.clone()]));
    }
    if let Some(agreement) = facts.agreement {
        doc.append(agreement_text(agreement));
        doc.append(attempts(args, &pod.key(), agreement)?);
    }
    doc.append(super::workload::others_section(voices, loaded.neighbors.events_withheld, scheduler.state().clock()));
    doc.append(completeness(args, loaded));
    Ok(doc)
}

/// Returns when a pod is tried again. Fresh queues show no places.
fn when(scheduler: &Scheduler, view: &CycleView, pod: &Key, agreement: &SchedulerMatch) -> Option<When> {
    let state = scheduler.state();
    let entry = state.queue().view().entries.get(pod).filter(|_| scheduler.options().queues == InitialQueues::AsObserved);
    When::of(&WhenInput {
        view,
        entry: entry.map(|entry| &**entry),
        requeue_events: &requeue_events(scheduler),
        failed: agreement.there.as_ref().and_then(|there| there.at),
        longest_stay: state.config().emulation.behaviour().queue.leftover,
        now: state.clock(),
    })
}

/// Returns the failure about a pod that the source does not hold, or whose part of the source could not be read.
pub(super) fn absent(cluster: &Cluster, key: &Key) -> Failure {
    let message = format!("there is no Pod {key} in the source{}", pod_meant(cluster, key));
    match Missing::all(cluster.unknown).iter().find(|missing| missing.kind == Kind::Pod) {
        Some(missing) => Failure::source(message).with_hint(missing.clause()),
        None => Failure::usage(message),
    }
}

/// Returns where a decision comes from, for a ticket.
fn origin(args: &ExplainArgs, pod: &Key, scheduler: &Scheduler) -> Origin {
    let ClusterArgs { source, connect, limits, .. } = &args.cluster;
    let is_stdin = source.from.iter().any(|path| path.as_os_str() == "-");
    let (name, words) = match (&source.demo, &connect.context) {
        (Some(demo), _) => (format!("demo {demo}"), vec!["--demo".to_owned(), demo.clone()]),
        _ if !source.from.is_empty() => {
            let paths = source.from.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ");
            (paths, reproduce::dump_words(source.from.iter().map(PathBuf::as_path)))
        }
        (None, Some(context)) => (format!("live cluster {context}"), reproduce::connect_words(connect)),
        (None, None) => ("live cluster of the current context".to_owned(), reproduce::connect_words(connect)),
    };
    let words = [words, reproduce::limit_words(limits), reproduce::scheduler_words(&args.scheduler)].concat();
    Origin {
        source: name,
        at: Some(scheduler.state().clock()),
        command: (!is_stdin).then(|| Reproduction::new(words).written_as(args.output).command(pod)),
        is_live: source.is_live(),
        ..Origin::default()
    }
}

/// Parses `NAME`, `pod/NAME` or `NAMESPACE/NAME` as a pod's key. Takes the namespace that `-n` names, and that of pods without one.
fn pod_key(pod: &str, named: Option<&str>, default: &str) -> Result<Key, Failure> {
    if let Some((kind, name)) = pod.split_once('/').filter(|(first, _)| is_other_kind(first)) {
        return Err(Failure::usage(format!(
            "{kind}/{name} is no pod: explain takes a pod, a workload, or --pending for all that wait; a namespace of that name goes with -n"
        )));
    }
    match (pod.split_once('/'), named) {
        (Some((first, _)), Some(named)) if !is_pods(first) && first != named => {
            Err(Failure::usage(format!("pod {pod} is in namespace {first}, but -n names {named}")))
        }
        (Some((first, name)), _) if !is_pods(first) => Ok(Key::new(first, name)),
        (found, named) => Ok(Key::new(named.unwrap_or(default), found.map_or(pod, |(_, name)| name))),
    }
}

/// Returns whether a word is kubectl's for a kind other than pods.
fn is_other_kind(word: &str) -> bool {
    let is_owner = NeighborKind::named(word).is_some_and(NeighborKind::is_owner);
    is_owner || Kind::named(word).is_some_and(|kind| kind != Kind::Pod)
}

/// Returns the failure about a namespace that no object has, with a suggestion; `None` for one that exists, or may.
pub(super) fn unknown_namespace(clusters: &[&Cluster], neighbors: &[&Neighbors], namespace: Option<&str>) -> Option<Failure> {
    let namespace = namespace?;
    let of_objects = clusters.iter().flat_map(|cluster| cluster.objects()).map(|object| match &object {
        Object::Namespace(namespace) => namespace.metadata.name.clone(),
        other => other.meta().namespace.clone(),
    });
    let of_neighbors = neighbors.iter().flat_map(|neighbors| neighbors.namespaces());
    let known: BTreeSet<Str> = of_objects.filter(|namespace| !namespace.is_empty()).chain(of_neighbors).collect();
    let is_partial = |cluster: &&Cluster| cluster.unknown.why(Kind::Pod).is_some();
    let lacks_owners = |neighbors: &&Neighbors| neighbors.withheld().any(|(kind, _)| kind.is_owner() && kind.is_built_in());
    if known.contains(namespace) || clusters.iter().any(is_partial) || neighbors.iter().any(lacks_owners) {
        return None;
    }
    let near = nearest(namespace, known.iter().map(Str::as_str));
    Some(Failure::usage(format!("no object is in the namespace {namespace:?}")).with_nearest(near))
}

/// Returns whether a word is kubectl's for pods.
fn is_pods(word: &str) -> bool {
    matches!(word, "pod" | "pods" | "po")
}

fn all(args: &ExplainArgs, source: Source<'_>) -> Result<Explained, Failure> {
    let Source { scheduler, loaded, older, .. } = source;
    let wanted = |pod: &Key| args.all_namespaces || pod.namespace.as_str() == args.namespace();
    let mut found = Agreements::within_bound(scheduler, events(scheduler, loaded), wanted);
    if !args.all_namespaces {
        found.in_namespace(&args.namespace(), scheduler.state().cluster());
    }
    let originals = |kind: Kind, key: &Key| original(loaded, kind, key);
    let background = Background { neighbors: &loaded.neighbors, originals: &originals, acts: &Acts::default() };
    found.causes = analysis::causes(&found, scheduler, background);
    let short = super::workload::short(scheduler, loaded, |namespace| args.all_namespaces || namespace == args.namespace());
    let is_short = !short.is_empty();
    found.causes = analysis::with_short(found.causes, short);
    let code = match found.some_does_not_fit() || is_short {
        true => EXIT_NO_FIT,
        false if found.some_fit_is_doubtful() || found.pending_unknown().is_some() => super::EXIT_SOURCE,
        false => EXIT_OK,
    };
    let mut more = super::unread(scheduler);
    if let Some(older) = older {
        let diff = older.compared_with(scheduler, wanted);
        more.append(older.section(diff.sentences()));
        found.since = Some(diff);
    }
    let is_cut = !found.not_decided.is_empty() || found.since.as_ref().is_some_and(|since| !since.not_decided.is_empty());
    let code = if is_cut { super::EXIT_SOURCE } else { super::code(code, scheduler) };
    more.append(completeness(args, loaded));
    let text = args.output.write(&Answer::Agreements(&found), more)?;
    Ok(Explained { text, code, disagrees: found.some_disagrees() })
}

/// Returns the completeness of the source, for formats that show it.
fn completeness(args: &ExplainArgs, loaded: &Loaded) -> Document {
    if args.output.wide { super::completeness(loaded) } else { Document::default() }
}

/// Returns the source's Events; with observed queues the scheduler owns them.
pub(super) fn events<'a>(scheduler: &'a Scheduler, loaded: &'a Loaded) -> &'a [ObservedEvent] {
    match scheduler.options().queues {
        InitialQueues::AsObserved => &scheduler.options().events,
        InitialQueues::Fresh => &loaded.events,
    }
}

/// Returns the agreement with the cluster's scheduler; empty if that has written nothing about the pod.
fn agreement_text(agreement: &SchedulerMatch) -> Document {
    if agreement.accord == MatchKind::Unwritten {
        return Document::default();
    }
    section("The cluster's scheduler", agreement.text())
}

/// Returns the newest attempts of the cluster's scheduler about a pod before a moment of a source that holds its past, each beside our
/// decision then; empty for another source, without `--at`, and where nothing says that the pod was tried.
fn attempts(args: &ExplainArgs, key: &Key, agreement: &SchedulerMatch) -> Result<Document, Failure> {
    let (Some(at), Some(_), false) = (args.cluster.moment.at, &agreement.there, args.output.is_ticket()) else {
        return Ok(Document::default());
    };
    let Some(past) = super::history::named(&args.cluster.source.from, None)? else { return Ok(Document::default()) };
    let found = super::history_window::attempts_before(&past, Some(at), key, &args.scheduler, &args.cluster.limits.limits())?;
    let listed = attempts_document(&found);
    let mut document = Document::default();
    if !found.attempts.is_empty() {
        document.heading(2, "Attempts before this moment, each compared with schedscope's decision then");
        document.append(listed);
    }
    Ok(document)
}

/// Returns the gaps of the source that limit this answer: kinds that could not be read, and kinds absent from the source
/// that the decision depends on.
pub(super) fn unknown(view: &CycleView) -> Document {
    let matters = |missing: &&Missing| missing.matters_to(view);
    section("Unknown", missing_sentences(Missing::all(view.missing()).iter().filter(matters)))
}

#[cfg(test)]
mod tests;
