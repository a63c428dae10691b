//! Widgets that panes share.

pub mod bar;
pub mod scrub_bar;
pub mod table;
