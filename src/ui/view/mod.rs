//! Drawing: panes, pages, overlays, widgets and layout.
//!
//! Drawing reads the state and the record, and changes neither.

pub mod answer;
pub mod draw;
pub mod export;
pub mod frame;
pub mod header;
pub mod highlight;
pub mod hints;
pub mod layout;
pub mod lesson;
pub mod overlays;
pub mod pane;
pub mod panes;
pub mod refresh;
pub mod start;
pub mod tabs;
pub mod widgets;
