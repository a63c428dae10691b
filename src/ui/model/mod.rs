//! State of the screen: selections, overlays, typed text, and the view model made from the record.
//!
//! Depends on [`super::config`] only, not on drawing or on verbs. [`State`](state::State) is what an action changes, and holds the
//! [`ViewModel`](view_model::ViewModel), which is derived from it and the record after each change.
//!
//! | files | hold |
//! | --- | --- |
//! | `state`, `navigation`, `what_ifs`, `tour` | the state; the way back, undo, and the lesson in it |
//! | `session_handle`, `job`, `effect` | what the screen asks of the app: the session, jobs, and effects outside of the screen |
//! | `time_travel` | the cursor, and the panes that follow it |
//! | `view_model`, `rows`, `page`, `overview` | what is derived: the rows of lists and pages |
//! | `verdict`, `node_facts`, `node_ranking`, `grouping`, `pod_activity`, `not_waiting` | facts of nodes and pods for them |
//! | `list`, `sort`, `filter`, `fuzzy`, `column` | what all lists do: selection, order, filter, columns |
//! | `pane`, `size` | identities of panes, and arrangements by size |
//! | `overlay`, `text_view` | what is drawn over the panes, and texts with links |
//! | `text`, `live_status` | how texts, amounts and the status of a live cluster are written |
//! | `start` | the screen before there is a session |

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
