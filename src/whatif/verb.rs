//! Parses what-if verbs as operators type them.

use std::fmt;
use std::str::FromStr;

use strum::IntoEnumIterator as _;

use super::error::WhatIfError;
use crate::cluster::{Str, Taint};
use crate::framework::PluginName;
use crate::release::Release;
use crate::scheduler::ConfigEdit;
use crate::session::Edit;
use crate::suggest::nearest;

/// Maximum number of nodes to add.
const NODES: usize = 1000;
/// Maximum number of replicas to scale to.
const REPLICAS: usize = 10_000;

/// First words of the verbs, each with its arguments.
pub const VERBS: [(&str, &str); 21] = [
    ("drain", "NODE..."),
    ("lose", "LABEL=VALUE or NODE"),
    ("add", "N like NODE"),
    ("scale", "KIND/[NAMESPACE/]NAME N"),
    ("taint", "NODE KEY[=VALUE]:EFFECT or KEY-"),
    ("label", "NODE KEY=VALUE or KEY-"),
    ("priority", "[NAMESPACE/]POD N or PRIORITYCLASS"),
    ("ungate", "[NAMESPACE/]POD"),
    ("evict", "[NAMESPACE/]POD"),
    ("relax", "[NAMESPACE/]PODDISRUPTIONBUDGET"),
    ("capacity", "[NAMESPACE/]POD"),
    ("weights", "PLUGIN=N..."),
    ("plugin", "off NAME"),
    ("gate", "GATE=true or GATE=false"),
    ("release", "VERSION"),
    ("cordon", "NODE"),
    ("uncordon", "NODE"),
    ("delete", "KIND [NAMESPACE/]NAME"),
    ("patch", "KIND [NAMESPACE/]NAME JSON"),
    ("allow", "[NAMESPACE/]POD"),
    ("reject", "[NAMESPACE/]POD"),
];

/// A parsed verb. Names are as typed; they are looked up when it is applied.
#[derive(Clone, Debug, PartialEq)]
pub enum Verb {
    /// Drains nodes one after another, as `kubectl drain --ignore-daemonsets --delete-emptydir-data` would.
    Drain(Vec<Str>),
    /// Loses nodes at once, with the pods on them.
    Lose(Lost),
    /// Adds nodes like one there is.
    Add {
        /// Number of nodes.
        count: usize,
        /// The node to copy.
        like: Str,
    },
    /// Scales a workload.
    Scale {
        /// The workload.
        owner: Owner,
        /// Number of pods that it is to have.
        replicas: usize,
    },
    /// Adds or removes a taint of a node.
    Taint(Str, TaintEdit),
    /// Sets a label of a node, or removes it.
    Label(Str, Str, Option<Str>),
    /// Sets the priority of a pod.
    Priority(Str, PriorityWord),
    /// Removes a pod's scheduling gates.
    Ungate(Str),
    /// Evicts a pod through the eviction API, which honours budgets.
    Evict(Str),
    /// Lets a budget allow every disruption.
    Relax(Str),
    /// Counts how many more of a pod fit.
    Capacity(Str),
    /// Edits the scheduler's configuration.
    Configure(ConfigEdit),
    /// Continues with another release of kube-scheduler.
    Release(Release),
    /// Edits one object.
    Edit(Edit),
}

/// Nodes that are lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lost {
    /// One node.
    Node(Str),
    /// All nodes with a label; the key may be short for the one of Kubernetes, such as `zone`.
    Label(Str, Str),
}

/// A workload, by kind and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its kind.
    pub kind: OwnerKind,
    /// `[NAMESPACE/]NAME`.
    pub name: Str,
}

/// Kind of a workload that can be scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display, strum::EnumIter)]
#[allow(missing_docs, reason = "the variants are the kinds' names")]
pub enum OwnerKind {
    Deployment,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
    Job,
}

impl OwnerKind {
    /// Returns the kind of a word: singular or plural in any case, or kubectl's short name.
    pub fn named(word: &str) -> Option<Self> {
        let word = word.to_lowercase();
        let short = match word.as_str() {
            "deploy" => "deployment",
            "rs" => "replicaset",
            "rc" => "replicationcontroller",
            "sts" => "statefulset",
            other => other.strip_suffix('s').unwrap_or(other),
        };
        Self::iter().find(|kind| kind.to_string().to_lowercase() == short)
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind.to_string().to_lowercase(), self.name)
    }
}

/// An addition or removal of a taint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaintEdit {
    /// Adds the taint, or replaces the one of its key and effect.
    Add(Taint),
    /// Removes the taints of a key; those with one effect, if it is given.
    Remove {
        /// The key.
        key: Str,
        /// The effect.
        effect: Option<Str>,
    },
}

impl fmt::Display for TaintEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Add(Taint { key, value, effect }) if value.is_empty() => write!(f, "{key}:{effect}"),
            Self::Add(Taint { key, value, effect }) => write!(f, "{key}={value}:{effect}"),
            Self::Remove { key, effect: None } => write!(f, "{key}-"),
            Self::Remove { key, effect: Some(effect) } => write!(f, "{key}:{effect}-"),
        }
    }
}

/// A priority as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PriorityWord {
    /// The number itself.
    Value(i32),
    /// The name of a PriorityClass.
    Class(Str),
}

/// Writes the verb as it is typed.
impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drain(nodes) => {
                f.write_str("drain")?;
                nodes.iter().try_for_each(|node| write!(f, " {node}"))
            }
            Self::Lose(Lost::Node(node)) => write!(f, "lose {node}"),
            Self::Lose(Lost::Label(key, value)) => write!(f, "lose {key}={value}"),
            Self::Add { count, like } => write!(f, "add {count} like {like}"),
            Self::Scale { owner, replicas } => write!(f, "scale {owner} {replicas}"),
            Self::Taint(node, edit) => write!(f, "taint {node} {edit}"),
            Self::Label(node, key, Some(value)) => write!(f, "label {node} {key}={value}"),
            Self::Label(node, key, None) => write!(f, "label {node} {key}-"),
            Self::Priority(pod, PriorityWord::Value(value)) => write!(f, "priority {pod} {value}"),
            Self::Priority(pod, PriorityWord::Class(class)) => write!(f, "priority {pod} {class}"),
            Self::Ungate(pod) => write!(f, "ungate {pod}"),
            Self::Evict(pod) => write!(f, "evict {pod}"),
            Self::Relax(budget) => write!(f, "relax {budget}"),
            Self::Capacity(pod) => write!(f, "capacity {pod}"),
            Self::Configure(edit) => write!(f, "{edit}"),
            Self::Release(release) => write!(f, "release {release}"),
            Self::Edit(edit) => write!(f, "{edit}"),
        }
    }
}

impl Verb {
    /// Returns whether pods come or go with the verb, so that the scheduler runs until nothing changes.
    pub fn settles(&self) -> bool {
        match self {
            Self::Drain(_) | Self::Lose(_) | Self::Add { .. } | Self::Scale { .. } | Self::Evict(_) => true,
            Self::Taint(_, TaintEdit::Add(taint)) => taint.effect == "NoExecute",
            _ => false,
        }
    }
}

impl FromStr for Verb {
    type Err = WhatIfError;

    fn from_str(text: &str) -> Result<Self, WhatIfError> {
        let mut words = text.split_whitespace();
        let word = words.next().unwrap_or_default();
        let args: Vec<&str> = words.collect();
        let Some((verb, usage)) = VERBS.into_iter().find(|(name, _)| *name == word) else {
            let names = VERBS.iter().map(|(name, _)| *name);
            return Err(WhatIfError::UnknownVerb { word: word.to_owned(), meant: nearest(word, names).map(str::to_owned) });
        };
        let usage = || WhatIfError::Arguments { verb, args: usage };
        Ok(match (verb, args.as_slice()) {
            ("drain", nodes) if !nodes.is_empty() => {
                let mut names: Vec<Str> = Vec::new();
                for node in nodes.iter().map(|node| Str::from(*node)) {
                    if !names.contains(&node) {
                        names.push(node);
                    }
                }
                Self::Drain(names)
            }
            ("lose", [one]) => Self::Lose(match one.split_once('=') {
                Some((key, value)) if !key.is_empty() => Lost::Label(key.into(), value.into()),
                Some(_) => return Err(usage()),
                None => Lost::Node((*one).into()),
            }),
            ("add", [count, "like", node]) => Self::Add { count: number(count, 1, NODES)?, like: (*node).into() },
            ("scale", [owner, replicas]) => {
                let (kind, name) = owner.split_once('/').ok_or_else(usage)?;
                Self::scale(kind, name, replicas)?
            }
            ("scale", [kind, name, replicas]) => Self::scale(kind, name, replicas)?,
            ("taint", [node, taint]) => Self::Taint((*node).into(), taint.parse()?),
            ("label", [node, label]) => {
                let wrong = || WhatIfError::Label((*label).to_owned());
                let (key, value) = match (label.split_once('='), label.strip_suffix('-')) {
                    (Some((key, value)), _) => (key, Some(value.into())),
                    (None, Some(key)) => (key, None),
                    (None, None) => return Err(wrong()),
                };
                if key.is_empty() {
                    return Err(wrong());
                }
                Self::Label((*node).into(), key.into(), value)
            }
            ("priority", [pod, priority]) => {
                let is_number = priority.strip_prefix('-').unwrap_or(priority).starts_with(|c: char| c.is_ascii_digit());
                let word = match priority.parse() {
                    Ok(value) => PriorityWord::Value(value),
                    // A class may begin with a digit, but is no number.
                    Err(_) if is_number && priority.trim_start_matches('-').chars().all(|c| c.is_ascii_digit()) => {
                        return Err(WhatIfError::Number { text: (*priority).to_owned(), from: i32::MIN.into(), to: i32::MAX.into() });
                    }
                    Err(_) => PriorityWord::Class((*priority).into()),
                };
                Self::Priority((*pod).into(), word)
            }
            ("ungate", [pod]) => Self::Ungate((*pod).into()),
            ("evict", [pod]) => Self::Evict((*pod).into()),
            ("relax", [budget]) => Self::Relax((*budget).into()),
            ("capacity", [pod]) => Self::Capacity((*pod).into()),
            ("weights", pairs) if !pairs.is_empty() => {
                let weight = |pair: &&str| {
                    let (name, weight) = pair.split_once('=').ok_or_else(usage)?;
                    let weight = number::<i32>(weight, 1, i32::MAX)?;
                    Ok((name.parse::<PluginName>().map_err(|_| WhatIfError::unknown_plugin(name))?, weight))
                };
                Self::Configure(ConfigEdit::Weights(pairs.iter().map(weight).collect::<Result<_, WhatIfError>>()?))
            }
            ("plugin", ["off", name]) => {
                Self::Configure(ConfigEdit::PluginOff(name.parse().map_err(|_| WhatIfError::unknown_plugin(name))?))
            }
            ("gate", gates) if !gates.is_empty() => Self::Configure(ConfigEdit::Gates(gates.join(","))),
            ("release", [release]) => Self::Release(release.parse()?),
            ("cordon" | "uncordon" | "delete" | "patch" | "allow" | "reject", [_, ..]) => {
                if verb != "patch" && verb != "delete" && args.len() > 1 {
                    return Err(usage());
                }
                Self::Edit(Edit::parse(text)?)
            }
            _ => return Err(usage()),
        })
    }
}

impl Verb {
    fn scale(kind: &str, name: &str, replicas: &str) -> Result<Self, WhatIfError> {
        let Some(owner_kind) = OwnerKind::named(kind) else {
            let kinds: Vec<String> = OwnerKind::iter().map(|kind| kind.to_string().to_lowercase()).collect();
            let meant = nearest(&kind.to_lowercase(), kinds.iter().map(String::as_str)).map(|kind| format!("{kind}/{name}"));
            return Err(WhatIfError::NoOwner { owner: format!("{kind}/{name}"), meant });
        };
        Ok(Self::Scale { owner: Owner { kind: owner_kind, name: name.into() }, replicas: number(replicas, 0, REPLICAS)? })
    }
}

impl FromStr for TaintEdit {
    type Err = WhatIfError;

    fn from_str(text: &str) -> Result<Self, WhatIfError> {
        const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
        let wrong = || WhatIfError::Taint(text.to_owned());
        let effect = |effect: &str| if EFFECTS.contains(&effect) { Ok(Str::from(effect)) } else { Err(wrong()) };
        let edit = match text.strip_suffix('-') {
            Some(rest) => match rest.split_once(':') {
                Some((key, of)) => Self::Remove { key: key.split('=').next().unwrap_or(key).into(), effect: Some(effect(of)?) },
                None => Self::Remove { key: rest.into(), effect: None },
            },
            None => {
                let (rest, of) = text.rsplit_once(':').ok_or_else(wrong)?;
                let (key, value) = rest.split_once('=').unwrap_or((rest, ""));
                Self::Add(Taint { key: key.into(), value: value.into(), effect: effect(of)? })
            }
        };
        let (Self::Add(Taint { key, .. }) | Self::Remove { key, .. }) = &edit;
        if key.is_empty() { Err(wrong()) } else { Ok(edit) }
    }
}

/// Parses a number within bounds.
fn number<N: FromStr + PartialOrd + Copy + TryInto<i64>>(text: &str, from: N, to: N) -> Result<N, WhatIfError> {
    let as_i64 = |n: N| n.try_into().unwrap_or(i64::MAX);
    let wrong = || WhatIfError::Number { text: text.to_owned(), from: as_i64(from), to: as_i64(to) };
    text.parse().ok().filter(|n| *n >= from && *n <= to).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_are_read_and_written_alike() {
        for text in [
            "drain a b",
            "lose zone=a",
            "lose worker-a1",
            "add 3 like worker-a1",
            "scale deployment/shop/web 10",
            "scale statefulset/db 0",
            "taint n dedicated=db:NoSchedule",
            "taint n dedicated:NoExecute",
            "taint n dedicated-",
            "taint n dedicated:NoSchedule-",
            "label n disk=ssd",
            "label n disk=",
            "label n disk-",
            "priority shop/p -10",
            "priority shop/p high",
            "priority shop/p 9-lives",
            "ungate p",
            "evict shop/p",
            "relax shop/web",
            "capacity shop/p",
            "weights NodeResourcesFit=3 ImageLocality=2",
            "plugin off ImageLocality",
            "gate A=true",
            "cordon n",
            "uncordon n",
            "delete Pod shop/p",
            r#"patch Pod shop/p {"spec":{"priority":7}}"#,
            "allow shop/p",
            "reject shop/p",
        ] {
            let verb: Verb = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(verb.to_string(), text);
            assert_eq!(verb.to_string().parse::<Verb>().unwrap(), verb);
        }
        assert_eq!("release v1.31.0".parse::<Verb>().unwrap(), Verb::Release("1.31.0".parse().unwrap()));
        assert_eq!("scale sts db 3".parse::<Verb>().unwrap().to_string(), "scale statefulset/db 3");
        assert_eq!("drain a b a".parse::<Verb>().unwrap().to_string(), "drain a b");
    }

    #[test]
    fn what_is_no_verb_is_said() {
        let check = |text: &str, expected: &str| {
            let error = text.parse::<Verb>().expect_err(text).to_string();
            assert!(error.contains(expected), "{text}: {error}");
        };
        check("drian a", "there is no verb \"drian\"; did you mean drain?");
        check("rejec p", "did you mean reject?");
        check("", "there is no verb \"\"");
        check("drain", "drain needs NODE...");
        check("lose", "lose needs LABEL=VALUE or NODE");
        check("lose =a", "lose needs");
        check("add many like n", "\"many\" is not a number from 1 to 1000");
        check("add 3 n", "add needs N like NODE");
        check("scale deploymnt/web 3", "there is no deploymnt/web; did you mean deployment/web?");
        check("scale deployment/web 99999", "is not a number from 0 to 10000");
        check("taint n k=v:NoSuch", "is not KEY[=VALUE]:EFFECT");
        check("taint n :NoExecute", "is not KEY[=VALUE]:EFFECT");
        check("taint n -", "is not KEY[=VALUE]:EFFECT");
        check("label n x", "is not KEY=VALUE or KEY-");
        check("label n =x", "is not KEY=VALUE or KEY-");
        check("priority p 99999999999", "is not a number from -2147483648 to 2147483647");
        check("weights NodeResourceFit=3", "there is no plugin \"NodeResourceFit\"; did you mean NodeResourcesFit?");
        check("weights NodeResourcesFit=0", "is not a number from 1");
        check("plugin on ImageLocality", "plugin needs off NAME");
        check("plugin off ImageLocalty", "did you mean ImageLocality?");
        check("release soon", "");
        check("cordon a b", "cordon needs NODE");
        check("delete Secret x", "not a kind that scheduling reads");
    }

    #[test]
    fn pods_come_and_go_with_some_verbs() {
        let settles = |text: &str| text.parse::<Verb>().unwrap().settles();
        assert!(["drain a", "lose a", "add 1 like a", "evict p", "taint n k:NoExecute"].into_iter().all(settles));
        assert!(!["taint n k:NoSchedule", "taint n k:NoExecute-", "label n k=v", "relax b", "capacity p"].into_iter().any(settles));
    }
}
