//! State of the screen: what is selected, open and typed, and the view model that is made from the record.
//!
//! Knows [`super::config`] and nothing above: neither how it is drawn nor which verbs change it.

pub mod column;
pub mod effect;
pub mod fuzzy;
pub mod grouping;
pub mod list;
pub mod navigation;
pub mod node_ranking;
pub mod overlay;
pub mod page;
pub mod pane;
pub mod pod_activity;
pub mod rows;
pub mod session_handle;
pub mod size;
pub mod sort;
pub mod state;
pub mod text;
pub mod text_view;
pub mod time_travel;
pub mod verdict;
pub mod view_model;
