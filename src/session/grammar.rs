//! The grammar of what-ifs: one row for each verb, with its arguments, help, subject, completion and parser.
//!
//! The command line, the explorer's commands, their help and their completions are made from the rows. A new what-if is a row here,
//! a variant of [`Verb`] with its text, and an arm of `whatif::apply`.

use std::str::FromStr;

use strum::IntoEnumIterator as _;

use super::edit::{Edit, EditError};
use super::verb::{Lost, Owner, OwnerKind, PriorityWord, Verb};
use crate::cluster::Str;
use crate::framework::PluginName;
use crate::limits::sessions::{NODES_ADDED, REPLICAS};
use crate::release::ReleaseError;
use crate::scheduler::ConfigEdit;
use crate::suggest::nearest;

/// A verb in the grammar.
#[derive(Debug)]
pub struct Row {
    pub word: &'static str,
    /// Its arguments on the command line.
    pub args: &'static str,
    /// Its arguments where something is selected.
    pub args_of_selected: &'static str,
    /// A phrase for the help.
    pub help: &'static str,
    /// The selected object that it is about, where the arguments leave it out.
    pub subject: Subject,
    /// The kind of name at each argument, for completion; the last one holds for all that follow if [`Self::repeats`].
    pub names: &'static [Names],
    /// Whether the last argument may be repeated.
    pub repeats: bool,
    /// Whether it edits one object.
    pub edits: bool,
    /// Parses the arguments, of which the whole text is given too; `None` if they are too few, too many, or of the wrong form.
    parse: fn(&[&str], &str) -> Result<Option<Verb>, VerbError>,
}

/// Place of the selected object among the arguments of a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The verb is about no object.
    None,
    /// It is the only argument, if there is none.
    Only(Thing),
    /// It goes before a single argument.
    First(Thing),
    /// It goes before a patch.
    BeforePatch,
    /// Without an argument, the release at the cursor is shown.
    Shown,
    /// It goes behind `N` or `N like`.
    Like,
}

/// Kind of the selected object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thing {
    Node,
    Pod,
    Budget,
    /// The workload of a pod.
    Workload,
    /// Any object, by kind and name.
    Object,
}

/// The kind of name that an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Anything else.
    Free,
    Word(&'static str),
    Node,
    NodeOrLabel,
    /// A pod that waits, or was tried.
    Pod,
    PodOnNode,
    Budget,
    Workload,
    /// A PriorityClass.
    PriorityClass,
    /// A plugin of the profiles.
    Plugin,
    /// A feature gate with its value.
    Gate,
    /// A release of kube-scheduler.
    Release,
    /// A kind, and then an object of it.
    KindAndName,
}

/// A row without a subject whose arguments name nothing.
const ROW: Row = Row {
    word: "",
    args: "",
    args_of_selected: "",
    help: "",
    subject: Subject::None,
    names: &[],
    repeats: false,
    edits: false,
    parse: |_, _| Ok(None),
};

/// All verbs, in the order of the command line's help.
pub static GRAMMAR: [Row; 22] = [
    Row {
        word: "drain",
        args: "NODE...",
        args_of_selected: "[NODE...]",
        help: "what if nodes were drained: who moves where, who waits, which budget stops it",
        subject: Subject::Only(Thing::Node),
        names: &[Names::Node],
        repeats: true,
        parse: |nodes, _| {
            let mut names: Vec<Str> = Vec::new();
            for node in nodes.iter().map(|node| Str::from(*node)) {
                if !names.contains(&node) {
                    names.push(node);
                }
            }
            Ok((!names.is_empty()).then_some(Verb::Drain(names)))
        },
        ..ROW
    },
    Row {
        word: "lose",
        args: "LABEL=VALUE or NODE",
        args_of_selected: "[LABEL=VALUE | NODE]",
        help: "what if nodes were lost, such as zone=a",
        subject: Subject::Only(Thing::Node),
        names: &[Names::NodeOrLabel],
        parse: |args, _| {
            let [one] = args else { return Ok(None) };
            Ok(match one.split_once('=') {
                Some(("", _)) => None,
                Some((key, value)) => Some(Verb::Lose(Lost::Label(key.into(), value.into()))),
                None => Some(Verb::Lose(Lost::Node((*one).into()))),
            })
        },
        ..ROW
    },
    Row {
        word: "add",
        args: "N like NODE",
        args_of_selected: "N like [NODE]",
        help: "what if there were more nodes like this one",
        subject: Subject::Like,
        names: &[Names::Free, Names::Word("like"), Names::Node],
        parse: |args, _| {
            let [count, "like", node] = args else { return Ok(None) };
            Ok(Some(Verb::Add { count: number(count, 1, NODES_ADDED)?, like: (*node).into() }))
        },
        ..ROW
    },
    Row {
        word: "scale",
        args: "KIND/[NAMESPACE/]NAME N",
        args_of_selected: "[KIND/[NAMESPACE/]NAME] N",
        help: "what if a workload had this many pods",
        subject: Subject::First(Thing::Workload),
        names: &[Names::Workload],
        parse: |args, _| match args {
            [owner, replicas] => match owner.split_once('/') {
                Some((kind, name)) => scale(kind, name, replicas).map(Some),
                None => Ok(None),
            },
            [kind, name, replicas] => scale(kind, name, replicas).map(Some),
            _ => Ok(None),
        },
        ..ROW
    },
    Row {
        word: "taint",
        args: "NODE KEY[=VALUE]:EFFECT or KEY-",
        args_of_selected: "[NODE] KEY[=VALUE]:EFFECT | KEY-",
        help: "what if a node had a taint, or lacked it",
        subject: Subject::First(Thing::Node),
        names: &[Names::Node],
        parse: |args, _| {
            let [node, taint] = args else { return Ok(None) };
            Ok(Some(Verb::Taint((*node).into(), taint.parse()?)))
        },
        ..ROW
    },
    Row {
        word: "label",
        args: "NODE KEY=VALUE or KEY-",
        args_of_selected: "[NODE] KEY=VALUE | KEY-",
        help: "what if a node had a label, or lacked it",
        subject: Subject::First(Thing::Node),
        names: &[Names::Node],
        parse: |args, _| {
            let [node, label] = args else { return Ok(None) };
            let (key, value) = match (label.split_once('='), label.strip_suffix('-')) {
                (Some((key, value)), _) => (key, Some(value.into())),
                (None, Some(key)) => (key, None),
                (None, None) => ("", None),
            };
            if key.is_empty() {
                return Err(VerbError::Label((*label).to_owned()));
            }
            Ok(Some(Verb::Label((*node).into(), key.into(), value)))
        },
        ..ROW
    },
    Row {
        word: "priority",
        args: "[NAMESPACE/]POD N or PRIORITYCLASS",
        args_of_selected: "[POD] N | PRIORITYCLASS",
        help: "what if a pod had another priority",
        subject: Subject::First(Thing::Pod),
        names: &[Names::Pod, Names::PriorityClass],
        parse: |args, _| {
            let [pod, word] = args else { return Ok(None) };
            Ok(Some(Verb::Priority((*pod).into(), priority(word)?)))
        },
        ..ROW
    },
    Row {
        word: "ungate",
        args: "[NAMESPACE/]POD",
        args_of_selected: "[POD]",
        help: "what if a pod had no scheduling gates",
        subject: Subject::Only(Thing::Pod),
        names: &[Names::Pod],
        parse: |args, _| Ok(one(args).map(Verb::Ungate)),
        ..ROW
    },
    Row {
        word: "evict",
        args: "[NAMESPACE/]POD",
        args_of_selected: "[POD]",
        help: "what if a pod were evicted, as its budgets allow",
        subject: Subject::Only(Thing::Pod),
        names: &[Names::PodOnNode],
        parse: |args, _| Ok(one(args).map(Verb::Evict)),
        ..ROW
    },
    Row {
        word: "relax",
        args: "[NAMESPACE/]PODDISRUPTIONBUDGET",
        args_of_selected: "[BUDGET]",
        help: "what if a budget allowed every disruption",
        subject: Subject::Only(Thing::Budget),
        names: &[Names::Budget],
        parse: |args, _| Ok(one(args).map(Verb::Relax)),
        ..ROW
    },
    Row {
        word: "capacity",
        args: "[NAMESPACE/]POD",
        args_of_selected: "[POD]",
        help: "how many more of this pod fit, and what stops the next",
        subject: Subject::Only(Thing::Pod),
        names: &[Names::Pod],
        parse: |args, _| Ok(one(args).map(Verb::Capacity)),
        ..ROW
    },
    Row {
        word: "flood",
        args: "[NAMESPACE/]POD",
        args_of_selected: "[POD]",
        help: "who is evicted first if pods like this one keep coming",
        subject: Subject::Only(Thing::Pod),
        names: &[Names::Pod],
        parse: |args, _| Ok(one(args).map(Verb::Flood)),
        ..ROW
    },
    Row {
        word: "weights",
        args: "PLUGIN=N...",
        args_of_selected: "PLUGIN=N...",
        help: "what if score plugins had other weights",
        names: &[Names::Plugin],
        repeats: true,
        parse: |pairs, _| {
            let mut weights = Vec::new();
            for pair in pairs {
                let Some((name, weight)) = pair.split_once('=') else { return Ok(None) };
                let weight = number::<i32>(weight, 1, i32::MAX)?;
                weights.push((plugin(name)?, weight));
            }
            Ok((!weights.is_empty()).then_some(Verb::Configure(ConfigEdit::Weights(weights))))
        },
        ..ROW
    },
    Row {
        word: "plugin",
        args: "off NAME",
        args_of_selected: "off NAME",
        help: "what if a plugin were off",
        names: &[Names::Word("off"), Names::Plugin],
        parse: |args, _| {
            let ["off", name] = args else { return Ok(None) };
            Ok(Some(Verb::Configure(ConfigEdit::PluginOff(plugin(name)?))))
        },
        ..ROW
    },
    Row {
        word: "gate",
        args: "GATE=true or GATE=false",
        args_of_selected: "GATE=true | GATE=false",
        help: "what if a feature gate of kube-scheduler were on, or off",
        names: &[Names::Gate],
        repeats: true,
        parse: |gates, _| Ok((!gates.is_empty()).then(|| Verb::Configure(ConfigEdit::Gates(gates.join(","))))),
        ..ROW
    },
    Row {
        word: "release",
        args: "VERSION",
        args_of_selected: "VERSION",
        help: "what if the cluster ran another kube-scheduler, on a new branch",
        subject: Subject::Shown,
        names: &[Names::Release],
        parse: |args, _| {
            let [release] = args else { return Ok(None) };
            Ok(Some(Verb::Release(release.parse()?)))
        },
        ..ROW
    },
    Row {
        word: "cordon",
        args: "NODE",
        args_of_selected: "[NODE]",
        help: "mark a node unschedulable, by default the selected one",
        subject: Subject::Only(Thing::Node),
        names: &[Names::Node],
        edits: true,
        parse: |args, _| Ok(one(args).map(|node| Verb::Edit(Edit::Cordon(node)))),
        ..ROW
    },
    Row {
        word: "uncordon",
        args: "NODE",
        args_of_selected: "[NODE]",
        help: "mark a node schedulable, by default the selected one",
        subject: Subject::Only(Thing::Node),
        names: &[Names::Node],
        edits: true,
        parse: |args, _| Ok(one(args).map(|node| Verb::Edit(Edit::Uncordon(node)))),
        ..ROW
    },
    Row {
        word: "delete",
        args: "KIND [NAMESPACE/]NAME",
        args_of_selected: "[KIND NAME]",
        help: "delete an object, by default the selected one",
        subject: Subject::Only(Thing::Object),
        names: &[Names::KindAndName],
        edits: true,
        parse: |args, text| edit(args, text),
        ..ROW
    },
    Row {
        word: "patch",
        args: "KIND [NAMESPACE/]NAME JSON",
        args_of_selected: "[KIND NAME] JSON",
        help: "change an object, by default the selected one, by a JSON merge patch",
        subject: Subject::BeforePatch,
        names: &[Names::KindAndName],
        edits: true,
        parse: |args, text| edit(args, text),
        ..ROW
    },
    Row {
        word: "allow",
        args: "[NAMESPACE/]POD",
        args_of_selected: "[POD]",
        help: "let a pod that waits on Permit go on, by default the selected one",
        subject: Subject::Only(Thing::Pod),
        names: &[Names::Pod],
        edits: true,
        parse: |args, text| if args.len() == 1 { edit(args, text) } else { Ok(None) },
        ..ROW
    },
    Row {
        word: "reject",
        args: "[NAMESPACE/]POD",
        args_of_selected: "[POD]",
        help: "reject a pod waiting on Permit, by default the selected one",
        subject: Subject::Only(Thing::Pod),
        names: &[Names::Pod],
        edits: true,
        parse: |args, text| if args.len() == 1 { edit(args, text) } else { Ok(None) },
        ..ROW
    },
];

impl Row {
    /// Returns the row of a word.
    pub fn named(word: &str) -> Option<&'static Self> {
        GRAMMAR.iter().find(|row| row.word == word)
    }

    /// Returns what the argument at a place names.
    pub fn names_at(&self, at: usize) -> Names {
        let last = self.names.last().filter(|_| self.repeats);
        self.names.get(at).or(last).copied().unwrap_or(Names::Free)
    }
}

/// Error of parsing a verb. The text is for the user.
#[derive(Debug, thiserror::Error)]
pub enum VerbError {
    /// The first word is no verb.
    #[error("there is no verb {word:?}{}", suggestion(.meant.as_deref()))]
    UnknownVerb {
        word: String,
        /// The nearest verb.
        meant: Option<String>,
    },
    /// Arguments are missing or not understood.
    #[error("{verb} needs {args}")]
    Arguments {
        verb: &'static str,
        /// Its arguments.
        args: &'static str,
    },
    /// A text that is not a number, or one that is out of range.
    #[error("{text:?} is not a number from {from} to {to}")]
    Number {
        text: String,
        /// Smallest number.
        from: i64,
        /// Largest number.
        to: i64,
    },
    /// A word that is no kind of a workload.
    #[error("there is no {owner}{}", suggestion(.meant.as_deref()))]
    NoOwner {
        /// Kind and name as typed.
        owner: String,
        /// The nearest kind, with the name.
        meant: Option<String>,
    },
    /// A word that is no plugin.
    #[error("there is no plugin {name:?}{}", suggestion(.meant.as_deref()))]
    UnknownPlugin {
        /// The word.
        name: String,
        /// The nearest plugin.
        meant: Option<String>,
    },
    /// A text that is not a taint.
    #[error("{0:?} is not KEY[=VALUE]:EFFECT, KEY:EFFECT- or KEY-, with the effect NoSchedule, PreferNoSchedule or NoExecute")]
    Taint(String),
    /// A text that is not a label.
    #[error("{0:?} is not KEY=VALUE or KEY-")]
    Label(String),
    /// The edit of an object cannot be parsed.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// A text that is not a release.
    #[error(transparent)]
    Release(#[from] ReleaseError),
}

fn suggestion(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!("; did you mean {name}?"))
}

/// Parses a verb with its arguments.
pub(super) fn parse(text: &str) -> Result<Verb, VerbError> {
    let mut words = text.split_whitespace();
    let word = words.next().unwrap_or_default();
    let args: Vec<&str> = words.collect();
    let Some(row) = Row::named(word) else {
        let meant = nearest(word, GRAMMAR.iter().map(|row| row.word)).map(str::to_owned);
        return Err(VerbError::UnknownVerb { word: word.to_owned(), meant });
    };
    (row.parse)(&args, text)?.ok_or(VerbError::Arguments { verb: row.word, args: row.args })
}

fn one(args: &[&str]) -> Option<Str> {
    if let [only] = args { Some((*only).into()) } else { None }
}

/// Parses the edit of an object.
fn edit(args: &[&str], text: &str) -> Result<Option<Verb>, VerbError> {
    if args.is_empty() { Ok(None) } else { Ok(Some(Verb::Edit(Edit::parse(text)?))) }
}

fn scale(kind: &str, name: &str, replicas: &str) -> Result<Verb, VerbError> {
    let Some(owner_kind) = OwnerKind::named(kind) else {
        let kinds: Vec<String> = OwnerKind::iter().map(|kind| kind.to_string().to_lowercase()).collect();
        let meant = nearest(&kind.to_lowercase(), kinds.iter().map(String::as_str)).map(|kind| format!("{kind}/{name}"));
        return Err(VerbError::NoOwner { owner: format!("{kind}/{name}"), meant });
    };
    Ok(Verb::Scale { owner: Owner { kind: owner_kind, name: name.into() }, replicas: number(replicas, 0, REPLICAS)? })
}

fn priority(word: &str) -> Result<PriorityWord, VerbError> {
    let digits = word.strip_prefix('-').unwrap_or(word);
    let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    match word.parse() {
        Ok(value) => Ok(PriorityWord::Value(value)),
        // A class may begin with a digit, but is no number.
        Err(_) if is_number => Err(VerbError::Number { text: word.to_owned(), from: i32::MIN.into(), to: i32::MAX.into() }),
        Err(_) => Ok(PriorityWord::Class(word.into())),
    }
}

fn plugin(name: &str) -> Result<PluginName, VerbError> {
    let unknown = || {
        let meant = nearest(name, PluginName::iter().filter(|plugin| !plugin.is_out_of_tree()).map(PluginName::into)).map(str::to_owned);
        VerbError::UnknownPlugin { name: name.to_owned(), meant }
    };
    name.parse().map_err(|_| unknown())
}

/// Parses a number within bounds.
fn number<N: FromStr + PartialOrd + Copy + TryInto<i64>>(text: &str, from: N, to: N) -> Result<N, VerbError> {
    let as_i64 = |n: N| n.try_into().unwrap_or(i64::MAX);
    let wrong = || VerbError::Number { text: text.to_owned(), from: as_i64(from), to: as_i64(to) };
    text.parse().ok().filter(|n| *n >= from && *n <= to).ok_or_else(wrong)
}
