//! Arguments, as typed.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use jiff::Timestamp;

use super::emulate::Emulate;
use super::manual::after_help;
use crate::cluster::{Labels, ParseQuantityError, Quantity};
use crate::report::{FORMATS, Format, SCHEMAS};
use crate::scheduler::InitialQueues;
use crate::session::{AtTime, parse_length};
use crate::source::live::context_namespace;
use crate::source::{Limits, STORIES};
use crate::ui::Library;

/// Explore Kubernetes scheduling: why is this pod pending, and what would preemption do about it?
#[derive(Debug, Parser)]
#[command(name = "schedscope", version, about, max_term_width = 100)]
#[command(after_help = after_help(""))]
pub struct Cli {
    /// The subcommand; without one, the start screen opens
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Disable colours
    #[arg(long, global = true)]
    pub no_color: bool,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Open the explorer on an embedded demo cluster
    #[command(after_help = after_help("demo"))]
    Demo(DemoArgs),
    /// Open the explorer on one or more dumps
    #[command(after_help = after_help("open"))]
    Open(OpenArgs),
    /// Open the explorer on a live cluster, read-only
    #[command(after_help = after_help("live"))]
    Live(LiveArgs),
    /// Save a cluster as a dump
    #[command(after_help = after_help("capture"))]
    Capture(CaptureArgs),
    /// Record the changes of a live cluster in a journal, until it is ended
    #[command(after_help = after_help("record"))]
    Record(RecordArgs),
    /// Explain one pod's scheduling decision, or why pods are pending
    #[command(after_help = after_help("explain"))]
    Explain(ExplainArgs),
    /// Run the scheduler until nothing changes, with operations or what-ifs, and report the result
    #[command(after_help = after_help("run"))]
    Run(RunArgs),
    /// Compare two dumps of one cluster: the objects that changed, and the pods whose decision changed with the reason
    #[command(after_help = after_help("diff"))]
    Diff(DiffArgs),
    /// Show the content of kube-scheduler's own log: attempts, queues, preemptions
    #[command(after_help = after_help("log"))]
    Log(LogArgs),
    /// Print completions for a shell
    #[command(after_help = after_help("completions"))]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Show the version, the emulated kube-scheduler, its plugins and feature gates
    #[command(after_help = after_help("info"))]
    Info(InfoArgs),
    /// Write a man page for the program and for each of its commands, for packages
    #[command(hide = true)]
    Man {
        /// The folder
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Show the JSON Schema of an answer, or the names of all
    #[command(after_help = after_help("schema"))]
    Schema {
        /// The answer, such as explain
        #[arg(value_name = "ANSWER", value_parser = SCHEMA, hide_possible_values = true)]
        answer: Option<String>,
    },
}

/// Arguments of `info`.
#[derive(Clone, Debug, Args)]
pub struct InfoArgs {
    /// Show this kube-scheduler version, such as 1.31 or v1.31.4-eks-a1b2c3 [default: the newest verified]
    #[arg(long, value_name = "VERSION")]
    pub emulate: Option<Emulate>,
    /// Output format
    #[arg(short, long, value_parser = format(), default_value = FORMATS[0].name)]
    pub output: &'static Format,
}

/// How the cluster's scheduler is configured.
#[derive(Clone, Debug, Default, Args)]
pub struct SchedulerArgs {
    /// KubeSchedulerConfiguration file, or a Policy file up to 1.22
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Use the KubeSchedulerConfiguration in the source
    #[arg(long, conflicts_with = "config")]
    pub config_from_dump: bool,
    /// kube-scheduler's own log, to compare with schedscope's decisions: files, archives, directories, or - for standard
    /// input; "live" reads and follows the log of a live cluster's scheduler, which needs the right to get pods/log
    #[arg(long, value_name = "FILE")]
    pub scheduler_log: Vec<PathBuf>,
    /// Use the KubeSchedulerConfiguration and the feature gates in the scheduler's log
    #[arg(long, conflicts_with_all = ["config", "config_from_dump"])]
    pub config_from_log: bool,
    /// How the log's times are read
    #[command(flatten)]
    pub zone: LogZoneArgs,
    /// The kube-scheduler version to emulate, such as 1.31 or v1.31.4-eks-a1b2c3; auto takes the version in the source, or
    /// else the newest verified [default: auto]
    #[arg(long, value_name = "VERSION")]
    pub emulate: Option<Emulate>,
    /// Feature gates, as A=true,B=false
    #[arg(long, value_name = "GATES")]
    pub feature_gates: Option<String>,
    /// Evaluate all nodes, and dry-run preemption on all of them, without sampling
    #[arg(long)]
    pub all_nodes: bool,
    /// The node at which each dry run of preemption starts, as an index into the nodes where eviction might help (modulo
    /// their number); kube-scheduler picks it at random [default: 0]
    #[arg(long, value_name = "N")]
    pub dry_run_offset: Option<u32>,
    /// Queue places of the pending pods at the start [default: fresh; observed for a live cluster, and with --scheduler-log]
    #[arg(long, value_enum, value_name = "HOW")]
    pub queues: Option<InitialQueues>,
    /// Start of the virtual clock, in RFC 3339 [default: the newest time found in the source]
    #[arg(long, value_name = "TIME", value_parser = start)]
    pub start: Option<Timestamp>,
    /// Which extenders are asked
    #[command(flatten)]
    pub extenders: ExtenderArgs,
}

/// Which extenders of the configuration are called. By default none is, and answers name those that kube-scheduler would call.
#[derive(Clone, Debug, Default, Args)]
pub struct ExtenderArgs {
    /// Call the configuration's HTTP extenders (filter, prioritize, preempt, never bind): those on these hosts, or all;
    /// those of a configuration from the source only if their host is named
    #[arg(long, value_name = "HOST,...", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub ask_extenders: Option<String>,
    /// Record every call of an extender in this new file, as JSON lines
    #[arg(long, value_name = "FILE", requires = "ask_extenders")]
    pub record_extenders: Option<PathBuf>,
    /// Take the extenders' answers from a file that --record-extenders wrote; without --ask-extenders, other answers are
    /// unknown
    #[arg(long, value_name = "FILE")]
    pub extender_answers: Option<PathBuf>,
}

impl ExtenderArgs {
    /// Whether anything is asked for.
    pub fn is_given(&self) -> bool {
        self.ask_extenders.is_some() || self.record_extenders.is_some() || self.extender_answers.is_some()
    }
}

impl SchedulerArgs {
    /// Returns these arguments with `--queues` defaulted: observed for a live cluster.
    #[must_use]
    pub fn on(&self, source: &SourceArgs) -> Self {
        let queues = self.queues.or_else(|| source.is_live().then_some(InitialQueues::AsObserved));
        Self { queues, ..self.clone() }
    }

    /// Returns how the pending pods are placed at the start: where the scheduler's log has them, if one is named.
    pub fn start_queues(&self) -> InitialQueues {
        let named = !self.scheduler_log.is_empty();
        self.queues.unwrap_or(if named { InitialQueues::AsObserved } else { InitialQueues::Fresh })
    }

    /// Returns whether the log of a live cluster's scheduler is to be read.
    pub fn asks_for_live_log(&self) -> bool {
        self.scheduler_log.iter().any(|path| path.as_os_str() == "live")
    }

    /// Returns whether a scheduler's log is named or needed.
    pub fn asks_for_log(&self) -> bool {
        !self.scheduler_log.is_empty() || self.config_from_log
    }

    /// Returns whether any argument differs from its default.
    pub fn is_given(&self) -> bool {
        self.config.is_some()
            || self.config_from_dump
            || self.asks_for_log()
            || self.zone.log_timezone.is_some()
            || self.emulate.is_some()
            || self.feature_gates.is_some()
            || self.all_nodes
            || self.dry_run_offset.is_some()
            || self.queues.is_some()
            || self.start.is_some()
            || self.extenders.is_given()
    }
}

impl ValueEnum for InitialQueues {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Fresh, Self::AsObserved]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Fresh => PossibleValue::new("fresh").help("All pods are new, as after a restart of the scheduler"),
            Self::AsObserved => PossibleValue::new("observed").help("Places are inferred from conditions, events and nominations"),
        })
    }
}

/// How to connect to a live cluster.
#[derive(Clone, Debug, Default, Args)]
pub struct ConnectArgs {
    /// The kubeconfig [default: the one that kubectl uses]
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// The kubeconfig's context [default: the current one]
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
    /// Read only this namespace for kinds that you may not list in all namespaces; repeatable
    #[arg(long, value_name = "NAMESPACE")]
    pub only_namespace: Vec<String>,
    /// Whether the log of its scheduler is to be read; `--scheduler-log live` says so
    #[arg(skip)]
    pub scheduler_log: bool,
}

impl ConnectArgs {
    /// Returns whether any argument differs from its default.
    pub fn is_given(&self) -> bool {
        self.kubeconfig.is_some() || self.context.is_some() || !self.only_namespace.is_empty()
    }
}

/// The source of the cluster. Without any of these, the live cluster of kubectl's current context, which is only read.
#[derive(Clone, Debug, Default, Args)]
#[group(multiple = false)]
pub struct SourceArgs {
    /// Read the live cluster of the current context
    #[arg(long)]
    pub live: bool,
    /// Read and merge dumps: files, archives, directories, or - for standard input
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub from: Vec<PathBuf>,
    /// Read an embedded demo cluster
    #[arg(long, value_name = "STORY", value_parser = STORY, hide_possible_values = true)]
    pub demo: Option<String>,
}

impl Command {
    /// Returns whether an outcome that is not the good one ends the command with 0, too.
    pub fn exits_with_zero(&self) -> bool {
        match self {
            Self::Explain(args) => args.exit.exit_zero,
            Self::Run(args) => args.exit.exit_zero,
            Self::Diff(args) => args.exit.exit_zero,
            _ => false,
        }
    }
}

impl SourceArgs {
    /// Whether the cluster is a live one.
    pub fn is_live(&self) -> bool {
        self.from.is_empty() && self.demo.is_none()
    }
}

/// Why the value of an argument cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the texts are the variants' documentation")]
pub enum ArgError {
    #[error(transparent)]
    Quantity(#[from] ParseQuantityError),
    #[error("{0} is negative")]
    Negative(String),
    #[error("expected COLUMNSxROWS, each from 1 to 1000, for example 120x40")]
    Size,
    #[error("expected seconds from 0.1 to 60, for example 1.5")]
    Seconds,
    #[error("expected UTC or an offset, for example +02:00")]
    Zone,
    #[error("expected RFC 3339, for example 2026-11-20T18:26:00Z")]
    Time,
    #[error("{0:?} is none of KEY=VALUE, KEY!=VALUE, KEY and !KEY")]
    Labels(String),
}

/// Limits on the input that is read.
#[derive(Clone, Debug, Default, Args)]
pub struct LimitArgs {
    /// Limit on the decompressed size of compressed files and archives, for example 16Gi [default: 64Gi]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub max_bytes: Option<u64>,
}

impl LimitArgs {
    /// Returns the limits, with defaults for those not given.
    pub fn limits(&self) -> Limits {
        let default = Limits::default();
        Limits { decompressed: self.max_bytes.unwrap_or(default.decompressed), ..default }
    }
}

fn bytes(text: &str) -> Result<u64, ArgError> {
    let size = text.parse::<Quantity>()?.value();
    u64::try_from(size).map_err(|_| ArgError::Negative(text.to_owned()))
}

/// Arguments of `demo`.
#[derive(Clone, Debug, Args)]
pub struct DemoArgs {
    /// The demo cluster, or `learn` for a tour of ten screens
    #[arg(value_name = "STORY", default_value = "payments", value_parser = STORY, hide_possible_values = true)]
    pub story: String,
    /// List the demo clusters
    #[arg(long)]
    pub list: bool,
    /// The first screen
    #[command(flatten)]
    pub screen: ScreenArgs,
    /// The scheduler
    #[command(flatten)]
    pub scheduler: SchedulerArgs,
}

/// Arguments of `live`.
#[derive(Clone, Debug, Args)]
pub struct LiveArgs {
    /// The cluster
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// The first screen
    #[command(flatten)]
    pub screen: ScreenArgs,
    /// The scheduler
    #[command(flatten)]
    pub scheduler: SchedulerArgs,
}

/// Arguments of `capture`.
#[derive(Clone, Debug, Args)]
pub struct CaptureArgs {
    /// The file to create, compressed if its name ends in .gz; - for standard output
    #[arg(value_name = "FILE", required_unless_present = "output")]
    pub file: Option<PathBuf>,
    /// The same as FILE, as an option
    #[arg(short, long, value_name = "FILE", conflicts_with = "file")]
    pub output: Option<PathBuf>,
    /// Replace names, labels, images and texts without changing any decision
    #[arg(long)]
    pub redact: bool,
    /// Merge dumps taken at different times, which are refused otherwise
    #[arg(long, requires = "from")]
    pub merge: bool,
    /// The cluster
    #[command(flatten)]
    pub cluster: ClusterArgs,
}

/// A moment of a source that holds its past.
#[derive(Clone, Debug, Default, Args)]
pub struct AtArgs {
    /// The moment of a journal or a snapshot of etcd: RFC 3339, HH:MM or HH:MM:SS of its last day (UTC), -5m before its end, or
    /// rev:N, a revision of etcd [default: its end]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub at: Option<AtTime>,
}

/// The cluster that a command is about, and how it is read.
#[derive(Clone, Debug, Default, Args)]
pub struct ClusterArgs {
    /// The cluster
    #[command(flatten)]
    pub source: SourceArgs,
    /// The live cluster
    #[command(flatten)]
    pub connect: ConnectArgs,
    /// The moment
    #[command(flatten)]
    pub moment: AtArgs,
    /// Limits on reading
    #[command(flatten)]
    pub limits: LimitArgs,
}

impl ClusterArgs {
    /// Returns a scheduler's arguments, with what a live cluster changes about them.
    pub fn scheduler(&self, args: &SchedulerArgs) -> SchedulerArgs {
        args.on(&self.source)
    }
}

/// Arguments of `record`.
#[derive(Clone, Debug, Args)]
pub struct RecordArgs {
    /// The journal: a folder, which is created, or one that was recorded before
    #[arg(value_name = "JOURNAL")]
    pub journal: PathBuf,
    /// Remove segments that are older, such as 24h or 7d [default: keep all]
    #[arg(long, value_name = "TIME", value_parser = parse_length)]
    pub keep: Option<Duration>,
    /// Remove the oldest segments beyond this size, such as 2Gi [default: no limit]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub max_size: Option<u64>,
    /// Begin a segment after this size [default: 4Mi]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub segment_size: Option<u64>,
    /// Begin a segment after this time [default: 1h]
    #[arg(long, value_name = "TIME", value_parser = parse_length)]
    pub segment_time: Option<Duration>,
    /// Replace names, labels, images and texts without changing any decision, each by the same until the recorder ends
    #[arg(long)]
    pub redact: bool,
    /// Record kube-scheduler's own log too: files, which are followed, or "live" for the logs of the cluster's scheduler, which
    /// needs the right to get pods/log
    #[arg(long, value_name = "FILE")]
    pub scheduler_log: Vec<PathBuf>,
    /// Serve Prometheus metrics at this address, such as 127.0.0.1:9809
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<SocketAddr>,
    /// Allow an address of the metrics that other machines reach
    #[arg(long, requires = "metrics")]
    pub metrics_remote: bool,
    /// The cluster
    #[command(flatten)]
    pub connect: ConnectArgs,
}

/// Arguments of `open`.
#[derive(Clone, Debug, Args)]
pub struct OpenArgs {
    /// Dumps to open: files, archives, directories, or - for standard input
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// Merge dumps taken at different times, instead of showing the changes between them
    #[arg(long)]
    pub merge: bool,
    /// The moment
    #[command(flatten)]
    pub moment: AtArgs,
    /// Limits on reading
    #[command(flatten)]
    pub limits: LimitArgs,
    /// The first screen
    #[command(flatten)]
    pub screen: ScreenArgs,
    /// The scheduler
    #[command(flatten)]
    pub scheduler: SchedulerArgs,
}

/// The first screen, its theme, and where it is written.
#[derive(Clone, Debug, Args)]
pub struct ScreenArgs {
    /// Open this pod's decision; NAMESPACE/NAME
    #[arg(long, value_name = "POD")]
    pub pod: Option<String>,
    /// Open this workload's numbers and causes; KIND/NAME, KIND/NAMESPACE/NAME or NAME
    #[arg(long, value_name = "WORKLOAD", conflicts_with = "pod")]
    pub workload: Option<String>,
    /// Colour theme
    #[arg(long, value_name = "NAME", value_parser = THEME, hide_possible_values = true)]
    pub theme: Option<String>,
    /// Write schedscope's own log to this file
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Write the screen to this file (.svg, .html or .txt) instead of showing it; needs no terminal
    #[arg(long, value_name = "FILE")]
    pub print: Option<String>,
    /// Size of the written screen
    #[arg(long, value_name = "COLUMNSxROWS", requires = "print", default_value = "120x40", value_parser = size)]
    pub size: (u16, u16),
    /// Press these keys first: key names such as enter or 3, and text to type in quotation marks
    #[arg(long, value_name = "KEYS", requires = "print", default_value = "")]
    pub keys: String,
    /// Write the screen before the first key and after each: a picture that moves, this many seconds for each, or a page (.html) to click
    /// through
    #[arg(long, value_name = "SECONDS", requires = "print", value_parser = seconds)]
    pub animate: Option<f64>,
}

/// Parses seconds from 0.1 to 60.
fn seconds(text: &str) -> Result<f64, ArgError> {
    text.parse().ok().filter(|seconds| (0.1..=60.0).contains(seconds)).ok_or(ArgError::Seconds)
}

/// Parses `COLUMNSxROWS`, each from 1 to 1000: memory is needed for each cell.
fn size(text: &str) -> Result<(u16, u16), ArgError> {
    let pair = text.split_once('x').and_then(|(c, r)| Some((c.parse().ok()?, r.parse().ok()?)));
    pair.filter(|(c, r)| (1..=1000).contains(c) && (1..=1000).contains(r)).ok_or(ArgError::Size)
}

/// Parses a time in RFC 3339.
fn start(text: &str) -> Result<Timestamp, ArgError> {
    text.parse().map_err(|_| ArgError::Time)
}

/// Where an answer goes.
#[derive(Clone, Debug, Default, Args)]
pub struct OutputFileArgs {
    /// Write the answer to this file instead of standard output: whole or not at all, in place of its content
    #[arg(long, value_name = "FILE")]
    pub output_file: Option<PathBuf>,
}

/// How a command ends.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ExitArgs {
    /// Exit with 0 where it would be 1, for jobs that count every other exit code as a failure
    #[arg(long)]
    pub exit_zero: bool,
}

/// Arguments of `explain`.
#[derive(Clone, Debug, Args)]
pub struct ExplainArgs {
    /// The pods, each as NAME, pod/NAME or NAMESPACE/NAME; of several, JSON is one line each
    #[arg(value_name = "[pod/]NAME", required_unless_present_any = ["pending", "selector", "manifests", "all_namespaces"])]
    pub pods: Vec<String>,
    /// Manifests that are not in the cluster yet (files, folders, or - for standard input): whether their pods would fit, where, and
    /// which pods they would evict
    #[arg(short = 'f', long = "filename", value_name = "FILE", num_args = 1.., conflicts_with_all = ["pods", "selector", "pending", "fixes"])]
    pub manifests: Vec<PathBuf>,
    /// Number of replicas of each workload, in place of the manifest's
    #[arg(long, value_name = "N", requires = "manifests")]
    pub replicas: Option<u32>,
    /// Also count how many more of the manifest's workload fit, and what stops the next
    #[arg(long, requires = "manifests")]
    pub capacity: bool,
    /// The pending pods with these labels, such as app=web,tier!=front
    #[arg(short = 'l', long, value_name = "LABELS", conflicts_with_all = ["pods", "pending"])]
    pub selector: Option<LabelQuery>,
    /// Explain why pods are pending, by cause, and compare each decision with the cluster's own scheduler
    #[arg(long, conflicts_with = "pods")]
    pub pending: bool,
    /// Go on, and print a line (with -o json a line of JSON) when a pod begins or stops to be pending, a pod is preempted, or a budget is
    /// violated: of a live cluster, of a dump that is written again, of a folder that dumps are added to, or between several
    /// dumps; Ctrl-C ends it
    #[arg(long, requires = "pending", conflicts_with_all = ["merge", "output_file"])]
    pub watch: bool,
    /// Find the smallest changes that would let the pod be scheduled, and list its constraints
    #[arg(long, conflicts_with = "pending")]
    pub fixes: bool,
    /// Explain who evicted the pod, when and why; also of a pod that is gone
    #[arg(long, conflicts_with_all = ["pending", "selector", "fixes"])]
    pub evicted: bool,
    /// Count the odds over all starting nodes of the search also where that takes long
    #[arg(long, conflicts_with = "pending")]
    pub odds: bool,
    /// Merge dumps taken at different times, instead of explaining on the newest and saying what changed since the one before
    #[arg(long, requires = "from")]
    pub merge: bool,
    /// Pods of all namespaces, with --pending or --selector
    #[arg(short = 'A', long, conflicts_with_all = ["namespace", "pods"])]
    pub all_namespaces: bool,
    /// Namespace of the pod, or of the pending pods [default: that of the live cluster's context, else default]
    #[arg(short, long)]
    pub namespace: Option<String>,
    /// Output format
    #[arg(short, long, value_parser = any_format(), default_value = FORMATS[0].name)]
    pub output: &'static Format,
    /// Where the answer goes
    #[command(flatten)]
    pub file: OutputFileArgs,
    /// How the command ends
    #[command(flatten)]
    pub exit: ExitArgs,
    /// The cluster
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// The scheduler
    #[command(flatten)]
    pub scheduler: SchedulerArgs,
}

impl ExplainArgs {
    /// Returns the namespace of pods that name none, by default that of the live cluster's context, else `default`.
    pub fn namespace(&self) -> String {
        let of_context = || context_namespace(self.cluster.connect.kubeconfig.as_deref(), self.cluster.connect.context.as_deref());
        let named = self.namespace.clone().or_else(|| self.cluster.source.is_live().then(of_context).flatten());
        named.unwrap_or_else(|| "default".to_owned())
    }
}

/// Labels as kubectl's `-l` takes them: `app=web,tier!=front,gpu,!spot`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelQuery(Vec<(String, LabelTest)>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum LabelTest {
    Is(String),
    IsNot(String),
    Exists,
    Absent,
}

impl std::str::FromStr for LabelQuery {
    type Err = ArgError;

    fn from_str(text: &str) -> Result<Self, ArgError> {
        let test = |part: &str| {
            let part = part.trim();
            let (key, test) = match (part.split_once("!="), part.split_once('='), part.strip_prefix('!')) {
                (Some((key, value)), ..) => (key, LabelTest::IsNot(value.trim().to_owned())),
                (_, Some((key, value)), _) => (key, LabelTest::Is(value.trim_start_matches('=').trim().to_owned())),
                (_, _, Some(key)) => (key, LabelTest::Absent),
                _ => (part, LabelTest::Exists),
            };
            let key = key.trim();
            let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
            if is_key { Ok((key.to_owned(), test)) } else { Err(ArgError::Labels(part.to_owned())) }
        };
        text.split(',').map(test).collect::<Result<_, _>>().map(Self)
    }
}

impl LabelQuery {
    /// Returns whether labels pass every test.
    pub fn matches(&self, labels: &Labels) -> bool {
        self.0.iter().all(|(key, test)| match (labels.get(key.as_str()), test) {
            (value, LabelTest::Is(wanted)) => value.is_some_and(|value| value == wanted.as_str()),
            (value, LabelTest::IsNot(other)) => value.is_none_or(|value| value != other.as_str()),
            (value, LabelTest::Exists) => value.is_some(),
            (value, LabelTest::Absent) => value.is_none(),
        })
    }
}

/// Arguments of `run`.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// Operations to apply, as a JSON array or JSON lines; without them, run until nothing changes
    #[arg(long, value_name = "FILE")]
    pub ops: Option<PathBuf>,
    /// Apply a verb before running, such as "drain worker-a1", "lose zone=a", "scale deployment/shop/web 10" or "capacity
    /// shop/payments"; repeatable, applied in order; "help" lists all verbs
    #[arg(long, value_name = "VERB", conflicts_with_all = ["ops", "compare"])]
    pub what_if: Vec<String>,
    /// Instead of running, compare with the decisions of this kube-scheduler version, such as 1.36, about every pending pod
    #[arg(long, value_name = "VERSION", conflicts_with_all = ["ops", "graceful"])]
    pub compare: Option<Emulate>,
    /// Give victims their grace period instead of removing them at once
    #[arg(long)]
    pub graceful: bool,
    /// Merge dumps taken at different times, which are refused otherwise
    #[arg(long, requires = "from")]
    pub merge: bool,
    /// Print of each operation only what it changes, and how long the queues are; with -o json or yaml
    #[arg(long, conflicts_with_all = ["what_if", "compare"])]
    pub brief: bool,
    /// Output format
    #[arg(short, long, value_parser = format(), default_value = FORMATS[0].name)]
    pub output: &'static Format,
    /// How the command ends
    #[command(flatten)]
    pub exit: ExitArgs,
    /// The cluster
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// The scheduler
    #[command(flatten)]
    pub scheduler: SchedulerArgs,
}

/// Arguments of `diff`.
#[derive(Clone, Debug, Args)]
pub struct DiffArgs {
    /// The older dump: a file, archive or directory, or - for standard input
    #[arg(value_name = "OLD")]
    pub older: PathBuf,
    /// The newer dump
    #[arg(value_name = "NEW")]
    pub newer: PathBuf,
    /// Compare decisions about the pods of this namespace only
    #[arg(short, long)]
    pub namespace: Option<String>,
    /// Output format
    #[arg(short, long, value_parser = format(), default_value = FORMATS[0].name)]
    pub output: &'static Format,
    /// Where the answer goes
    #[command(flatten)]
    pub file: OutputFileArgs,
    /// How the command ends
    #[command(flatten)]
    pub exit: ExitArgs,
    /// Limits on reading
    #[command(flatten)]
    pub limits: LimitArgs,
    /// The scheduler
    #[command(flatten)]
    pub scheduler: SchedulerArgs,
}

/// Arguments of `log`.
#[derive(Clone, Debug, Args)]
pub struct LogArgs {
    /// Logs to read: files, archives, directories, or - for standard input; rotated and compressed ones too
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// A dump of the same cluster: its time gives the year, and each attempt is compared with schedscope's decision
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub from: Vec<PathBuf>,
    /// Merge dumps taken at different times, which are refused otherwise
    #[arg(long, requires = "from")]
    pub merge: bool,
    /// Show the queues at this time, written as in the log, with or without the date [default: the end of the log]
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// How the log's times are read
    #[command(flatten)]
    pub zone: LogZoneArgs,
    /// Output format
    #[arg(short, long, value_parser = format(), default_value = FORMATS[0].name)]
    pub output: &'static Format,
    /// Limits on reading
    #[command(flatten)]
    pub limits: LimitArgs,
}

/// The time zone of logs.
#[derive(Clone, Debug, Default, Args)]
pub struct LogZoneArgs {
    /// Time zone of the log, as UTC or +02:00; klog's text format has none [default: unknown]
    #[arg(long, value_name = "ZONE", value_parser = zone, allow_hyphen_values = true)]
    pub log_timezone: Option<i32>,
}

/// Reads `UTC`, `Z`, `+02:00` or `-0330` as seconds east of UTC.
fn zone(text: &str) -> Result<i32, ArgError> {
    if matches!(text, "UTC" | "utc" | "Z" | "z") {
        return Ok(0);
    }
    let (sign, rest) = match text.split_at_checked(1) {
        Some(("+", rest)) => (1, rest),
        Some(("-", rest)) => (-1, rest),
        _ => return Err(ArgError::Zone),
    };
    let digits: String = rest.chars().filter(|c| *c != ':').collect();
    let (hours, minutes) = match digits.len() {
        1 | 2 => (digits.as_str(), "0"),
        4 => digits.split_at(2),
        _ => return Err(ArgError::Zone),
    };
    let number = |text: &str, max: i32| text.parse::<i32>().ok().filter(|n| (0..=max).contains(n)).ok_or(ArgError::Zone);
    Ok(sign * (number(hours, 14)? * 3600 + number(minutes, 59)? * 60))
}

/// Takes any text, and offers values to the completion of shells. The command itself reports an unknown value, with its own
/// suggestions.
#[derive(Clone, Copy)]
struct Offering(fn() -> Vec<PossibleValue>);

const STORY: Offering = Offering(|| STORIES.iter().map(|story| PossibleValue::new(story.name).help(story.title)).collect());
const SCHEMA: Offering = Offering(|| SCHEMAS.iter().map(|schema| PossibleValue::new(schema.name).help(schema.about)).collect());
const THEME: Offering = Offering(|| Library::embedded_names().map(PossibleValue::new).collect());

impl TypedValueParser for Offering {
    type Value = String;

    fn parse_ref(&self, command: &clap::Command, arg: Option<&clap::Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter()))
    }
}

/// Reads the name of a format of every answer.
fn format() -> impl TypedValueParser<Value = &'static Format> {
    format_of(Format::takes_all_answers)
}

/// Reads the name of any format.
fn any_format() -> impl TypedValueParser<Value = &'static Format> {
    format_of(|_| true)
}

fn format_of(is_meant: fn(&Format) -> bool) -> impl TypedValueParser<Value = &'static Format> {
    let values = FORMATS
        .iter()
        .filter(|format| is_meant(format))
        .map(|format| PossibleValue::new(format.name).help(format.about).aliases(format.endings));
    PossibleValuesParser::new(values).try_map(|name| Format::named(&name).or_else(|| Format::of_ending(&name)).ok_or("unknown format"))
}

#[cfg(test)]
mod tests;
