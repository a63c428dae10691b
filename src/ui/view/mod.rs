//! Drawing: panes, pages, overlays, widgets and layout.
//!
//! Drawing reads the state and the record, and changes neither. Two things besides it are here, because they need the panes:
//! [`panes`] says in one value each what a pane lists and what its keys do, and [`refresh`] makes the rows of all panes after a change.
//!
//! | files | hold |
//! | --- | --- |
//! | `frame`, `layout` | the whole screen, and the areas of its parts |
//! | `draw` | what drawing reads, and the only place where text reaches the screen |
//! | `header`, `answer`, `tabs`, `hints`, `lesson` | the lines above and below the panes |
//! | `pane`, `panes` | the definition of a pane, and one file for each |
//! | `overlays`, `widgets`, `highlight` | what is drawn over panes, what they share, and what they highlight |
//! | `refresh` | the view model, made anew after a change |
//! | `start`, `export` | the screens before there is a session; the screen as text, SVG and HTML |

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
