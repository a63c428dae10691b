//! What the screen asks of the session behind it.

use crate::cluster::Key;
use crate::session::Timeline;

/// A timeline that can grow. The screen reads facts from the timeline alone; these are the only requests it makes.
pub trait Driver {
    /// What has been recorded, and the cursor.
    fn timeline(&self) -> &Timeline;
    /// For moving the cursor.
    fn timeline_mut(&mut self) -> &mut Timeline;
    /// Lets the scheduler take its next step and records it past the end; false when nothing is left to schedule.
    fn run_next(&mut self) -> bool;
    /// Makes a waiting pod the next to be tried.
    fn select_pod(&mut self, pod: &Key);
    /// Where the cluster came from, in a few words.
    fn source(&self) -> String;
    /// What was read, skipped or missing in the source, a line each.
    fn report_lines(&self) -> Vec<String>;
}
