//! State of the screen: selections, overlays, typed text, and the view model made from the record.
//!
//! Depends on [`super::config`] only, not on drawing or on verbs.

pub mod column;
pub mod effect;
pub mod filter;
pub mod fuzzy;
pub mod grouping;
pub mod job;
pub mod list;
pub mod live_status;
pub mod navigation;
pub mod node_facts;
pub mod node_ranking;
pub mod not_waiting;
pub mod overlay;
pub mod overview;
pub mod page;
pub mod pane;
pub mod pod_activity;
pub mod rows;
pub mod session_handle;
pub mod size;
pub mod sort;
pub mod start;
pub mod state;
pub mod text;
pub mod text_view;
pub mod time_travel;
pub mod tour;
pub mod verdict;
pub mod view_model;
pub mod what_ifs;
