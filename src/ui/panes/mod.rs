//! One file per pane; each reads the scene and fills its area, building only the rows in sight.

pub mod answer;
pub mod header;
pub mod hints;
pub mod message;
pub mod node_detail;
mod node_groups;
pub mod nodes;
pub mod page;
pub mod preemption;
pub mod queue_note;
pub mod queues;
pub mod steps;
pub mod tabs;

pub use tabs::tab_at;
