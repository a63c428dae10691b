//! The engine: its decisions against recorded ones, laws for every cluster, and the sentences about decisions.

#[path = "../common/deciding.rs"]
mod deciding;
#[path = "../common/recorded.rs"]
mod recorded;

mod cases;
mod contract;
mod dry;
mod histories;
mod rows;
mod worlds;

mod admitted;
mod advice;
mod agreement;
mod attempts;
mod changelog;
mod configs;
mod conformance;
mod coverage;
mod door;
mod embedding;
mod extenders;
mod fixes;
mod invariants;
mod laws;
mod layers;
mod licences;
mod limits;
mod manifests;
mod observed;
mod odds;
mod overview;
mod patches;
mod pod_groups;
mod quantity;
mod runs;
mod selectors;
mod sentences;
mod sessions;
mod story;
mod texts;
mod what_if;
mod words;
