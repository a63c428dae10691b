//! Reports the diagnostics about the input as a whole.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::diagnostic::Severity;
use super::{Assembly, Tally};
use crate::cluster::{Kind, Object, Str};
use crate::plural::{and_more, count_of};
use crate::source::layout::Layout;

impl Assembly {
    pub(in crate::source) fn note_pods_on_unknown_nodes(&mut self) {
        let mut unknown = BTreeMap::<Str, usize>::new();
        let known: HashSet<&Str> = self.report.origins.of_kind(Kind::Node).iter().map(|(key, _)| &key.name).collect();
        // The pods of a node mostly share the text of its name.
        let mut by_address: HashMap<*const u8, bool> = HashMap::new();
        for object in &self.objects {
            let Object::Pod(pod) = object else { continue };
            if pod.node_name.is_empty() || pod.is_terminal() {
                continue;
            }
            if !*by_address.entry(pod.node_name.as_ptr()).or_insert_with(|| known.contains(&pod.node_name)) {
                *unknown.entry(pod.node_name.clone()).or_default() += 1;
            }
        }
        if let Some(first) = unknown.keys().next() {
            let pods = count_of(unknown.values().sum(), "pod is", "pods are");
            let fate = if self.report.unread_nodes_are_gone() { "do not exist: they were deleted" } else { "were not read" };
            let message = format!("{pods} bound to nodes that {fate}, and ignored (the first node is {first})");
            self.remark(Severity::Warning, "", message);
        }
        self.report.pods_on_unknown_nodes = unknown;
    }

    pub(in crate::source) fn note_tallies(&mut self) {
        let unread: usize = self.report.unread_kinds.values().sum();
        if unread > 0 {
            let kinds: Vec<&str> = self.report.unread_kinds.keys().map(String::as_str).collect();
            let objects = count_of(unread, "object was", "objects were");
            let message = format!("{objects} skipped unread, since scheduling does not depend on them: {}", kinds.join(", "));
            self.remark(Severity::Note, "", message);
        }
        let Tally { count, first } = std::mem::take(&mut self.repeated);
        if count > 0 {
            let times = count_of(count, "object was", "objects were");
            self.remark(Severity::Note, "", format!("{times} read more than once, and the newest state of each was kept: {first}"));
        }
        let Tally { count, first } = std::mem::take(&mut self.recreated);
        if count > 0 {
            let times = count_of(count, "name is used", "names are used");
            let message = format!("{times} for different objects, of which the newest was kept; are these dumps of one cluster? {first}");
            self.remark(Severity::Warning, "", message);
        }
        let Tally { count, first } = std::mem::take(&mut self.passed_over);
        if count > 0 {
            let files = count_of(count, "file holds", "files hold");
            let by_ending = std::mem::take(&mut self.passed_over_by_ending);
            let kinds = if by_ending.len() > 1 { format!(" ({})", most_of(by_ending)) } else { String::new() };
            self.remark(Severity::Note, "", format!("{files} no Kubernetes objects; skipped{kinds}: {first}"));
        }
        let Tally { count, first } = std::mem::take(&mut self.kindless);
        if count > 0 {
            let objects = count_of(count, "object was", "objects were");
            self.remark(Severity::Note, "", format!("{objects} not read, since no path or field shows a kind: {first}"));
        }
        let Tally { count, first } = std::mem::take(&mut self.hidden);
        if count > 0 {
            let files = count_of(count, "hidden file or directory was", "hidden files and directories were");
            self.remark(Severity::Note, "", format!("{files} not opened: {first}"));
        }
        self.note_left_out();
    }

    fn note_left_out(&mut self) {
        let Tally { count, first } = std::mem::take(&mut self.links);
        if count > 0 {
            let links = count_of(count, "link in an archive was", "links in archives were");
            self.remark(Severity::Note, "", format!("{links} not followed: {first}"));
        }
        let Tally { count, first } = std::mem::take(&mut self.hollow);
        if count > 0 {
            let others = and_more(count);
            self.remark(Severity::Warning, "", format!("{first}, though its name promises objects; some may be missing{others}"));
        }
        let Tally { count, first } = std::mem::take(&mut self.segments);
        if count > 0 {
            let others = and_more(count);
            let message = format!("is a segment of a journal, which is read only if its folder is the source{others}");
            self.remark(Severity::Warning, &first, message);
        }
        let Tally { count, first } = std::mem::take(&mut self.in_part);
        if count > 0 {
            let others = if count > 1 {
                format!("; {} are not whole either", count_of(count - 1, "more kind", "more kinds"))
            } else {
                String::new()
            };
            self.remark(Severity::Warning, "", format!("{first}{others}"));
        }
        let Tally { count, first } = std::mem::take(&mut self.not_collected);
        if count > 0 {
            let files = count_of(count, "file says", "files say");
            self.remark(Severity::Warning, "", format!("{files} that not everything could be collected: {first}"));
        }
        let Tally { count, first } = std::mem::take(&mut self.too_many);
        if count > 0 {
            self.remark(Severity::Error, &first, "is beyond the limit on files; it and all after it were not read".to_owned());
        }
        let Tally { count, first } = std::mem::take(&mut self.unaffordable);
        if count > 0 {
            let files = count_of(count, "compressed file was", "compressed files were");
            self.remark(Severity::Error, "", format!("{files} not read, since the limit on decompressed bytes is used up: {first}"));
        }
    }

    /// Reports what the tools leave out of their dumps by default.
    pub(in crate::source) fn note_what_layouts_lack(&mut self) {
        let mut namespaces: Vec<&str> = self.layouts.namespaces.iter().map(String::as_str).filter(|n| *n != "kube-system").collect();
        if self.report.layout.0.contains(&Layout::ClusterInfo) && namespaces.len() == 1 {
            let only = namespaces.remove(0);
            let message = format!(
                "kubectl cluster-info dump took kube-system and {only} only; without --all-namespaces, nodes look emptier than they are"
            );
            self.remark(Severity::Warning, "", message);
            self.report.selected.insert(Kind::Pod);
        }
        if self.report.layout.0.contains(&Layout::Insights) {
            let message = "this OpenShift Insights archive holds a selection of the platform's pods: nodes look emptier than they are";
            self.remark(Severity::Note, "", message.to_owned());
            self.report.selected.insert(Kind::Pod);
        }
        for layout in self.report.layout.0.clone() {
            if let Layout::MustGather | Layout::SupportBundleKit = layout {
                let message = format!(
                    "this {layout} holds the platform's own namespaces unless more were asked for: nodes may look emptier than they are"
                );
                self.remark(Severity::Note, "", message);
                if self.namespaces_with_pods().all(|namespace| is_of_platform(namespace)) {
                    self.report.selected.insert(Kind::Pod);
                }
            }
        }
        self.note_uncollected_namespaces();
        self.note_single_namespace();
    }

    /// Reports namespaces for which a support bundle has no list of pods.
    fn note_uncollected_namespaces(&mut self) {
        if !self.report.layout.0.contains(&Layout::SupportBundle) {
            return;
        }
        let collected = &self.layouts.namespaces_of_pods;
        let names = self.objects.iter().filter_map(|object| match object {
            Object::Namespace(namespace) => Some(namespace.metadata.name.as_str()),
            _ => None,
        });
        let lacking: Vec<String> = names.filter(|name| !collected.contains(*name)).map(str::to_owned).collect();
        if let Some(first) = lacking.first() {
            let namespaces = count_of(lacking.len(), "namespace", "namespaces");
            let message =
                format!("this support bundle lacks the pods of {namespaces} (the first is {first}): nodes may look emptier than they are");
            self.remark(Severity::Note, "", message);
            self.report.selected.insert(Kind::Pod);
        }
    }

    /// Reports that kubectl took the pods of a single namespace, on nodes with kubelets: every such cluster has pods in others too.
    fn note_single_namespace(&mut self) {
        let has_kubelet = |object: &Object| match object {
            Object::Node(node) => node.status.node_info.as_ref().is_some_and(|info| is_release(&info.kubelet_version)),
            _ => false,
        };
        if self.report.layout.0 != [Layout::Kubectl] || !self.objects.iter().any(has_kubelet) {
            return;
        }
        let mut namespaces: Vec<Str> = self.namespaces_with_pods().cloned().collect();
        namespaces.sort_unstable();
        namespaces.dedup();
        if let [only] = &namespaces[..]
            && *only != "kube-system"
            && !only.starts_with("openshift")
        {
            let message =
                format!("all pods are of the namespace {only}; if those of others were left out, nodes look emptier than they are");
            self.remark(Severity::Note, "", message);
            self.report.selected.insert(Kind::Pod);
        }
    }

    fn namespaces_with_pods(&self) -> impl Iterator<Item = &Str> {
        self.objects.iter().filter_map(|object| if let Object::Pod(pod) = object { Some(&pod.metadata.namespace) } else { None })
    }
}

/// Returns whether a namespace belongs to the platform: Kubernetes, OpenShift, Rancher, Harvester or Longhorn.
fn is_of_platform(namespace: &str) -> bool {
    let prefixes = ["kube-", "openshift", "cattle-", "fleet-", "harvester-", "longhorn-"];
    matches!(namespace, "default" | "local") || prefixes.iter().any(|prefix| namespace.starts_with(prefix))
}

/// Returns whether a kubelet's version is one of Kubernetes, and not of a tool that only acts as one.
fn is_release(version: &str) -> bool {
    let number = version.strip_prefix('v').unwrap_or_default();
    number.starts_with(|c: char| c.is_ascii_digit()) && !version.contains("kwok") && !version.contains("fake")
}

/// Returns the most frequent extensions: `120 .log, 3 .txt`.
fn most_of(by_ending: BTreeMap<String, usize>) -> String {
    /// The number of extensions shown.
    const SHOWN: usize = 5;
    let mut endings: Vec<(String, usize)> = by_ending.into_iter().collect();
    endings.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let others: usize = endings.iter().skip(SHOWN).map(|(_, count)| count).sum();
    let shown = endings.iter().take(SHOWN).map(|(ending, count)| {
        let dot = if ending.contains(' ') { "" } else { "." };
        format!("{count} {dot}{ending}")
    });
    shown.chain((others > 0).then(|| format!("{others} others"))).collect::<Vec<_>>().join(", ")
}
