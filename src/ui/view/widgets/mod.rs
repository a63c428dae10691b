//! Widgets that panes share.

pub mod bar;
pub mod matched;
pub mod scrub_bar;
pub mod table;
