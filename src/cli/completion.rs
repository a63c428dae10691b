//! Completions for shells: the generated script, and the names that only the user's files know.
//!
//! For a context or a namespace the script calls `schedscope __complete WORDS...` with the words of the line, the last of
//! which is being typed. It gets one name per line, or nothing: no error is reported, no server is asked and no program for
//! credentials is run, so that an answer takes no longer than reading a file.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::Cli;
use crate::cluster::{Cluster, Key, Kind, Object, Pod};
use crate::output::{self, Lines};
use crate::release::Profile;
use crate::session::{GRAMMAR, Names as Argument, key_named};
use crate::source::live::{context_namespaces, contexts};
use crate::source::{Input, Limits, Story, load_within};
use crate::whatif::Owner;

/// The first argument of a call for names.
const ASK: &str = "__complete";

/// Limit on the bytes of dumps that are read for their namespaces, compressed and not.
const DUMP: u64 = 16 << 20;
const DECOMPRESSED: u64 = 64 << 20;

/// Limit on the pods whose workloads are offered.
const SCANNED: usize = 100_000;

/// Namespaces that every cluster has.
const EVERYWHERE: [&str; 2] = ["default", "kube-system"];

/// Names that are completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    Contexts,
    Namespaces,
    Releases,
    Pods,
    WhatIfs,
}

impl Names {
    /// Returns the names that an option takes.
    fn of_option(option: &str) -> Option<Self> {
        match option {
            "--context" => Some(Self::Contexts),
            "-n" | "--namespace" | "--only-namespace" => Some(Self::Namespaces),
            "--emulate" | "--compare" => Some(Self::Releases),
            "--what-if" => Some(Self::WhatIfs),
            _ => None,
        }
    }
}

/// Prints names if the arguments are a call for them. Returns whether they are.
pub(super) fn answer(arguments: &[OsString]) -> bool {
    if arguments.get(1).is_none_or(|first| first != ASK) {
        return false;
    }
    // Dumps are read on the threads.
    if super::start_threads().is_err() {
        return true;
    }
    let words: Vec<String> = arguments[2..].iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let lines: Lines = names(&words).into_iter().collect();
    // A shell that no longer listens is not told.
    let _ = output::print(&lines.into());
    true
}

/// Returns the names that complete the last word.
pub(super) fn names(words: &[String]) -> Vec<String> {
    let words = &with_open_quote(words)[..];
    let Some((last, before)) = words.split_last() else { return Vec::new() };
    let attached = last.split_once('=').and_then(|(option, typed)| Some((Names::of_option(option)?, typed)));
    let separate = || before.last().and_then(|option| Some((Names::of_option(option)?, last.as_str())));
    // The argument of explain is a pod.
    let is_pod = || words.first().is_some_and(|word| word == "explain") && !last.starts_with('-') && is_positional(before);
    let pod = || is_pod().then_some((Names::Pods, last.as_str()));
    let Some((names, typed)) = attached.or_else(separate).or_else(pod) else { return Vec::new() };
    let kubeconfig = values(words, "--kubeconfig").next().map(PathBuf::from);
    // Whatever is no file, such as a pipe, can be read once only.
    if kubeconfig.as_ref().is_some_and(|path| !path.is_file()) {
        return Vec::new();
    }
    let found = match names {
        Names::Contexts => contexts(kubeconfig.as_deref()).map(|found| found.names).unwrap_or_default(),
        Names::Namespaces => namespaces(words, kubeconfig.as_deref()),
        Names::Releases => Profile::all().iter().map(|profile| profile.release.number()).collect(),
        Names::Pods => subjects(words, typed),
        Names::WhatIfs => what_ifs(words, typed),
    };
    // The words of a what-if are one, which is in quotes.
    let is_fit = |name: &str| is_typable(name) || (names == Names::WhatIfs && name.split(' ').all(is_typable));
    let found: BTreeSet<String> = found.into_iter().filter(|name| name.starts_with(typed) && is_fit(name)).collect();
    found.into_iter().collect()
}

/// Returns the words with those of an open quotation as one. Shells that take the line apart at spaces pass them as they are.
fn with_open_quote(words: &[String]) -> Vec<String> {
    let quote = |word: &String| word.chars().next().filter(|first| matches!(first, '\'' | '"'));
    let opening = words.iter().enumerate().rev().find_map(|(at, word)| Some((at, quote(word)?)));
    match opening {
        Some((at, mark)) if !words[at..].join(" ")[1..].contains(mark) => {
            let quoted = words[at..].join(" ")[1..].to_owned();
            words[..at].iter().cloned().chain([quoted]).collect()
        }
        _ => words.to_vec(),
    }
}

/// Returns the what-ifs that continue what is typed: verbs, or a verb with the names that its next argument can be.
fn what_ifs(words: &[String], typed: &str) -> Vec<String> {
    let Some((before, _)) = typed.rsplit_once(' ') else { return GRAMMAR.iter().map(|row| row.word.to_owned()).collect() };
    let mut given = before.split(' ');
    let Some(row) = given.next().and_then(|verb| GRAMMAR.iter().find(|row| row.word == verb)) else { return Vec::new() };
    let at = given.count();
    let last = if row.repeats { row.names.last() } else { None };
    let Some(argument) = row.names.get(at).or(last) else { return Vec::new() };
    let name = |object: &Object| match (argument, object) {
        (Argument::Node | Argument::NodeOrLabel, Object::Node(node)) => Some(node.metadata.name.to_string()),
        (Argument::Pod, Object::Pod(pod)) if pod.is_pending() => Some(pod.key().to_string()),
        (Argument::PodOnNode, Object::Pod(pod)) if !pod.node_name.is_empty() && !pod.is_terminal() => Some(pod.key().to_string()),
        (Argument::Budget, object) if object.kind() == Kind::PodDisruptionBudget => Some(object.key().to_string()),
        (Argument::PriorityClass, object) if object.kind() == Kind::PriorityClass => Some(object.key().name.to_string()),
        _ => None,
    };
    let names: Vec<String> = match argument {
        Argument::Word(word) => vec![(*word).to_owned()],
        Argument::Workload => {
            let cluster: Cluster = objects(words).unwrap_or_default().into_iter().collect();
            crate::whatif::scalable(&cluster, SCANNED).into_iter().map(|owner| owner.to_string()).collect()
        }
        Argument::Release => Profile::all().iter().map(|profile| profile.release.number()).collect(),
        _ => objects(words).unwrap_or_default().iter().filter_map(name).collect(),
    };
    names.into_iter().map(|name| format!("{before} {name}")).collect()
}

/// Returns whether the next word of explain is no value of an option.
fn is_positional(before: &[String]) -> bool {
    let Some(at) = before.iter().rposition(|word| word.starts_with('-')) else { return true };
    let option = before[at].as_str();
    if option.contains('=') {
        return true;
    }
    let program = Cli::command();
    let explain = program.find_subcommand("explain").into_iter().flat_map(clap::Command::get_arguments);
    let is_meant = |arg: &&clap::Arg| match option.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => option.chars().nth(1) == arg.get_short() && option.chars().count() == 2,
    };
    // Options with several values take all words that follow.
    let most = explain.chain(program.get_arguments()).find(is_meant).map(|arg| match arg.get_num_args() {
        Some(range) => range.max_values(),
        None => usize::from(arg.get_action().takes_values()),
    });
    before.len() - at > most.unwrap_or(1)
}

/// Returns the namespaces of the named story or dumps, or else those of the kubeconfig.
fn namespaces(words: &[String], kubeconfig: Option<&Path>) -> Vec<String> {
    let Some(objects) = objects(words) else {
        let of_contexts = context_namespaces(kubeconfig, values(words, "--context").next());
        return of_contexts.into_iter().chain(EVERYWHERE.map(str::to_owned)).collect();
    };
    let of_objects = objects.iter().map(|object| object.key().namespace.to_string());
    of_objects.filter(|namespace| !namespace.is_empty()).collect()
}

/// Returns the subjects of explain in the named story or dumps, in the namespace that is named, or with theirs: pods, the pending ones
/// where these continue what is typed, and workloads once a kind is typed.
fn subjects(words: &[String], typed: &str) -> Vec<String> {
    let namespace = values(words, "-n").next().or_else(|| values(words, "--namespace").next());
    let named = |key: &Key| match namespace {
        None => Some(key.to_string()),
        Some(namespace) => (key.namespace == *namespace).then(|| key.name.to_string()),
    };
    let objects = objects(words).unwrap_or_default();
    let pods = |is_wanted: &dyn Fn(&Pod) -> bool| -> Vec<String> {
        let wanted = |object: &Object| matches!(object, Object::Pod(pod) if is_wanted(pod));
        objects.iter().filter(|object| wanted(object)).filter_map(|object| named(&object.key())).collect()
    };
    let is_begun = |name: &String| name.starts_with(typed);
    let pending = pods(&|pod| pod.is_pending());
    if pending.iter().any(is_begun) {
        return pending;
    }
    let found = pods(&|pod| !pod.is_terminal());
    if found.iter().any(is_begun) || !typed.contains('/') {
        return found;
    }
    let cluster: Cluster = objects.into_iter().collect();
    let workloads = crate::whatif::scalable(&cluster, SCANNED);
    let named = |owner: &Owner| named(&key_named(Kind::ReplicaSet, &owner.name)).map(|name| Owner { kind: owner.kind, name: name.into() });
    workloads.iter().filter_map(named).map(|owner| owner.to_string()).collect()
}

/// Returns the objects of the named story or dumps, none of what is too long; `None` if none is named.
fn objects(words: &[String]) -> Option<Vec<Object>> {
    let story = values(words, "--demo").next().and_then(Story::named);
    let dumps: Vec<&str> = values(words, "--from").collect();
    if story.is_none() && dumps.is_empty() {
        return None;
    }
    let file = |path: &&str| std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map(|metadata| metadata.len());
    let size = dumps.iter().map(file).try_fold(0_u64, |sum, length| sum.checked_add(length?));
    if size.is_none_or(|size| size > DUMP) {
        return Some(Vec::new());
    }
    let dumps = dumps.iter().map(|path| Input::Path(path.into()));
    let inputs: Vec<Input> = story.map(Story::input).into_iter().chain(dumps).collect();
    Some(load_within(&inputs, &Limits { decompressed: DECOMPRESSED, ..Limits::default() }).objects)
}

/// Returns the values of an option, which may take several.
fn values<'a>(words: &'a [String], option: &'a str) -> impl Iterator<Item = &'a str> {
    let mut is_open = false;
    // The last word is being typed.
    words[..words.len() - 1].iter().filter_map(move |word| {
        if let Some(value) = word.strip_prefix(option).and_then(|rest| rest.strip_prefix('=')) {
            return Some(value);
        }
        if word.starts_with('-') && word != "-" {
            is_open = word == option;
            return None;
        }
        is_open.then_some(word.as_str())
    })
}

/// Returns whether a name means itself in every shell. Others are left out: shells would run or expand parts of them.
fn is_typable(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('-') && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:/@+=%,".contains(c))
}

/// Returns the commands that are completed: not those for packagers.
fn shown() -> clap::Command {
    let all = Cli::command();
    let shown = all.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    let bare = clap::Command::new("schedscope").args(all.get_arguments().cloned());
    let about = all.get_about().cloned().unwrap_or_default();
    bare.about(about).version(env!("CARGO_PKG_VERSION")).subcommands(shown)
}

/// Returns the script that completes the command line in a shell.
pub(super) fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut shown(), "schedscope", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => {
            let registered = script.replace("complete -F _schedscope -o", "complete -F _schedscope_or_names -o");
            registered.replacen(REGISTRATION, &format!("{BASH}\n{REGISTRATION}"), 1)
        }
        Shell::Zsh => {
            let line = |line: &str| match option_of(line).and_then(Names::of_option) {
                Some(_) => line.replace(":_default'", ":_schedscope_names'"),
                None if line.starts_with("'*::pods -- ") => line.replace(":_default'", ":_schedscope_names'"),
                None => line.to_owned(),
            };
            let lines: Vec<String> = script.lines().map(line).collect();
            // The first line is zsh's own.
            lines.join("\n").replacen('\n', &format!("\n\n{ZSH}"), 1) + "\n"
        }
        Shell::Fish => script + FISH + &fish_options(),
        // Their scripts complete no values.
        _ => script,
    }
}

/// Returns the option that a line of zsh's script describes: `'--context=[...` or `'-n+[...`, with `*` if it may be repeated.
fn option_of(line: &str) -> Option<&str> {
    let spec = line.trim_start().strip_prefix('\'')?;
    // Options that exclude others begin with their list.
    let spec = spec.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(spec, |(_, spec)| spec);
    let spec = spec.strip_prefix('*').unwrap_or(spec);
    spec.split(['=', '+', '[']).next()
}

/// Returns the lines that complete each option of names in fish.
fn fish_options() -> String {
    let command = Cli::command();
    let mut lines =
        String::from("complete -c schedscope -n \"__fish_schedscope_using_subcommand explain\" -f -a \"(__fish_schedscope_names)\"\n");
    for sub in command.get_subcommands() {
        let long = |arg: &clap::Arg| arg.get_long().filter(|long| Names::of_option(&format!("--{long}")).is_some()).map(str::to_owned);
        for arg in sub.get_arguments() {
            let Some(long) = long(arg) else { continue };
            let short = arg.get_short().map_or_else(String::new, |short| format!(" -s {short}"));
            lines += &format!(
                "complete -c schedscope -n \"__fish_schedscope_using_subcommand {}\"{short} -l {long} -x -a \"(__fish_schedscope_names)\"\n",
                sub.get_name()
            );
        }
    }
    lines
}

/// The beginning of the last part of bash's script.
const REGISTRATION: &str = r#"if [[ "${BASH_VERSINFO[0]}" -eq 4"#;

/// Takes the line apart at spaces only: bash also breaks words at `:` and `=`, which are part of contexts.
const BASH: &str = r#"_schedscope_or_names() {
    local line="${COMP_LINE:0:COMP_POINT}" after="${COMP_LINE:COMP_POINT}" typed name
    local -a words later names=()
    read -r -a words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    typed="${words[${#words[@]}-1]}"
    # The source may be named after the cursor.
    [[ $after == *[[:space:]]* ]] && read -r -a later <<< "${after#*[[:space:]]}"
    if [[ ${#later[@]} -gt 0 && ${#words[@]} -gt 2 ]]; then
        words=("${words[@]:0:2}" "${later[@]}" --no-color "${words[@]:2}")
    fi
    while IFS= read -r name; do
        names+=("$name")
    done < <("$1" __complete "${words[@]:1}" 2>/dev/null)
    if [[ ${#names[@]} -eq 0 ]]; then
        _schedscope "$@"
    elif [[ ${#names[@]} -eq 1 && $typed == [\"\']* && ${names[0]} != *" "* ]]; then
        # Two ways on, so that bash leaves the quotation open for the arguments of the verb.
        COMPREPLY=("${names[0]} " "${names[0]} ...")
    elif [[ $2 == *" "* ]]; then
        COMPREPLY=("${names[@]}")
    elif [[ $2 == --*=* ]]; then
        COMPREPLY=("${names[@]/#/${2%%=*}=}")
    else
        [[ $typed == --*=* ]] && typed="${typed#*=}"
        COMPREPLY=("${names[@]#"${typed%"$2"}"}")
    fi
}
"#;

const ZSH: &str = r#"_schedscope_names() {
    local -a names
    names=(${(f)"$(schedscope __complete "${(@Q)words[1,CURRENT]}" 2>/dev/null)"})
    compadd -a names
}
"#;

const FISH: &str = r"function __fish_schedscope_names
    set -l words (commandline -opc)
    schedscope __complete $words[2..-1] (commandline -ct) 2>/dev/null
end
";

#[cfg(test)]
mod tests;
