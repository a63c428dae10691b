//! The devices of nodes for a pod's claims, as text.

use crate::framework::{Against, ClaimDevices, DeviceFindings, NodeDevices, Obstacle, RequestDevices, SelectorFailure};
use crate::output::Lines;
use crate::plural::count;

/// Limit on the nodes in a text.
const NODES_SHOWN: usize = 3;

/// A line about devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceLine {
    /// 0 for a claim, 1 for a request, 2 for a device.
    pub depth: usize,
    /// Whether it is about a device that suits.
    pub suits: bool,
    /// The text, without indentation.
    pub words: String,
}

impl DeviceLine {
    fn new(depth: usize, words: String) -> Self {
        Self { depth, suits: false, words }
    }
}

/// Returns the devices of a decision's nodes.
pub(super) fn devices_lines(findings: &DeviceFindings) -> Lines {
    let mut out = Lines::default();
    for node in findings.nodes.iter().take(NODES_SHOWN) {
        out.line(format_args!("  {}", node.node));
        for line in node_devices(node) {
            out.line(format_args!("{:1$}{2}", "", 4 + 2 * line.depth, line.words));
        }
    }
    let more = findings.more + findings.nodes.len().saturating_sub(NODES_SHOWN);
    if more > 0 {
        out.line(format_args!("  … and {} more rejected for their devices", count(more, "node")));
    }
    out
}

/// Returns the lines about the devices of a node.
pub fn node_devices(node: &NodeDevices) -> Vec<DeviceLine> {
    let mut lines: Vec<DeviceLine> = node.claims.iter().flat_map(claim_lines).collect();
    let requests = || node.claims.iter().flat_map(|claim| &claim.requests);
    let is_short = requests().any(|request| request.lacks() || request.not_judged > 0 || fails(request));
    let is_elsewhere = node.claims.iter().any(|claim| claim.usable_here == Some(false));
    if node.rejected && !is_short && !is_elsewhere && requests().next().is_some() {
        let constraints: usize = node.claims.iter().map(|claim| claim.constraints).sum();
        let more = if constraints > 0 { format!(" under {}", count(constraints, "constraint")) } else { String::new() };
        let words = format!("Each request has enough devices by itself, but not all of them together{more}.");
        lines.push(DeviceLine::new(0, words));
    }
    lines
}

/// Whether a selector fails on a device, which ends the attempt.
fn fails(request: &RequestDevices) -> bool {
    request.devices.iter().any(|device| device.against() == Against::SelectorError) || request.more.contains_key(&Against::SelectorError)
}

fn claim_lines(claim: &ClaimDevices) -> Vec<DeviceLine> {
    let words = match claim.usable_here {
        Some(true) => format!("claim {}: allocated, and usable here", claim.claim),
        Some(false) => format!("claim {}: allocated, but not usable on this node", claim.claim),
        None => format!("claim {}", claim.claim),
    };
    let mut lines = vec![DeviceLine::new(0, words)];
    for request in &claim.requests {
        lines.push(DeviceLine::new(1, request_words(request)));
        for device in &request.devices {
            let suits = device.obstacles.is_empty();
            let words = if suits { "suits".to_owned() } else { device.obstacles.iter().map(obstacle).collect::<Vec<_>>().join("; ") };
            lines.push(DeviceLine { depth: 2, suits, words: format!("{}: {words}", device.id) });
        }
        if !request.more.is_empty() {
            let parts: Vec<String> = request.more.iter().map(|(against, n)| format!("{n} {}", in_short(*against))).collect();
            let total: usize = request.more.values().sum();
            lines.push(DeviceLine::new(2, format!("… and {total} more: {}", parts.join(", "))));
        }
        if request.not_judged > 0 {
            lines.push(DeviceLine::new(2, format!("… and {} not looked at", request.not_judged)));
        }
    }
    lines
}

fn request_words(request: &RequestDevices) -> String {
    let wanted = request.wanted.map_or_else(|| "all devices".to_owned(), |n| count(usize::try_from(n).unwrap_or(0), "device"));
    let there = match request.count() {
        0 => "the node has none".to_owned(),
        all => format!("{} of {all} {}", request.suitable, if request.suitable == 1 { "suits" } else { "suit" }),
    };
    format!("request {}: {wanted} of class {}; {there}", request.request, request.class)
}

fn in_short(against: Against) -> &'static str {
    match against {
        Against::Nothing => "suit",
        Against::Pool => "in a pool that offers none",
        Against::Taken => "taken by other claims",
        Against::BindingConditions => "with binding conditions",
        Against::Selector => "not selected",
        Against::SelectorError => "on which a selector fails",
        Against::OtherNode => "of other nodes",
        Against::Capacity => "without the capacity",
        Against::Counter => "without the counters",
        Against::Tainted => "tainted",
    }
}

fn obstacle(obstacle: &Obstacle) -> String {
    match obstacle {
        Obstacle::OldGeneration { generation, newest } => {
            format!("its slice is of generation {generation}, and the pool is at {newest}")
        }
        Obstacle::PoolIncomplete { slices, expected } => format!("its pool is incomplete: {slices} of {} published", slices_of(*expected)),
        Obstacle::PoolInvalid { duplicate: Some(device) } => format!("its pool is invalid: two devices are named {device}"),
        Obstacle::PoolInvalid { duplicate: None } => "its pool is invalid: its counters contradict each other".to_owned(),
        Obstacle::Taken { claim: Some(claim) } => format!("taken by claim {claim}"),
        Obstacle::Taken { claim: None } => "taken by another claim".to_owned(),
        Obstacle::BindingConditions => "has binding conditions, which are disabled".to_owned(),
        Obstacle::Selector(failure) => selector(failure),
        Obstacle::OtherNode => "belongs to another node".to_owned(),
        Obstacle::Capacity { name, requested, free: None, .. } => format!("has no capacity {name} ({requested} requested)"),
        Obstacle::Capacity { name, requested, against_policy: true, .. } => {
            format!("{requested} of {name} is against the policy of its capacity")
        }
        Obstacle::Capacity { name, requested, free: Some(free), .. } => format!("{requested} of {name} requested, {free} free"),
        Obstacle::Counter { counter_set, counter, needed, free: Some(free) } => {
            format!("needs {needed} of counter {counter_set}/{counter}, of which {free} is free")
        }
        Obstacle::Counter { counter_set, counter, needed, free: None } => {
            format!("needs {needed} of counter {counter_set}/{counter}, which the pool does not have")
        }
        Obstacle::CountersDisabled => "consumes counters, which are disabled".to_owned(),
        Obstacle::Tainted { key, value, effect } if value.is_empty() => format!("tainted {key}:{effect}"),
        Obstacle::Tainted { key, value, effect } => format!("tainted {key}={value}:{effect}"),
    }
}

fn slices_of(expected: i64) -> String {
    count(usize::try_from(expected).unwrap_or(0), "slice")
}

fn selector(failure: &SelectorFailure) -> String {
    let SelectorFailure { class, index, expression, error, values } = failure;
    let owner = class.as_ref().map_or_else(|| "the request".to_owned(), |class| format!("class {class}"));
    if let Some(error) = error {
        return format!("selector #{index} of {owner} fails: {error}: {expression}");
    }
    let values: Vec<String> = values.iter().map(|(name, value)| format!("{name} is {value}")).collect();
    let values = if values.is_empty() { String::new() } else { format!(" ({})", values.join(", ")) };
    format!("selector #{index} of {owner} is false: {expression}{values}")
}

#[cfg(test)]
mod tests;
