//! Everything that can be asked of the screen: a closed set, so that what a key, a command or the mouse does is
//! written down once.

use tui_input::InputRequest;

use crate::ui::driver::HowFar;
use crate::ui::export::Export;

/// The panes, in the order of their digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, strum::EnumIter, strum::Display)]
pub enum Pane {
    /// Where pods wait.
    #[default]
    Queues,
    /// Every node's verdict.
    Nodes,
    /// Candidates, victims and the tie-break.
    Preemption,
    /// One node.
    #[strum(to_string = "Node")]
    NodeDetail,
    /// The record as sentences.
    Steps,
    /// What kube-scheduler tells the user.
    Message,
    /// One pod.
    #[strum(to_string = "Pod")]
    PodDetail,
    /// One candidate for preemption.
    Candidate,
    /// The budgets, and what preemption does to them.
    Budgets,
}

impl Pane {
    /// The panes that tell of things in rows of facts.
    pub const PAGES: [Self; 3] = [Self::PodDetail, Self::Candidate, Self::Budgets];

    /// The digit that goes to it.
    pub fn digit(self) -> u8 {
        self as u8 + 1
    }
}

/// One way or the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// On, down, finer.
    Forward,
    /// Back, up, coarser.
    Back,
}

/// How a selection moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Motion {
    Up,
    Down,
    HalfPageUp,
    HalfPageDown,
    PageUp,
    PageDown,
    Top,
    Bottom,
}

impl Motion {
    /// Where it leads from a row among rows up to the last, with pages of so many rows; from nowhere, to the first.
    pub fn target(self, from: Option<usize>, last: usize, page: usize) -> usize {
        let page = page.max(2) - 1;
        match (self, from) {
            (Self::Bottom, _) => last,
            (Self::Top, _) | (_, None) => 0,
            (Self::Up, Some(i)) => i.saturating_sub(1),
            (Self::Down, Some(i)) => (i + 1).min(last),
            (Self::HalfPageUp, Some(i)) => i.saturating_sub(page.div_ceil(2)),
            (Self::HalfPageDown, Some(i)) => (i + page.div_ceil(2)).min(last),
            (Self::PageUp, Some(i)) => i.saturating_sub(page),
            (Self::PageDown, Some(i)) => (i + page).min(last),
        }
    }
}

/// One request to the screen.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Leave.
    Quit,
    /// Stop the program as a shell's job control does.
    Suspend,
    /// Close what is on top, clear a filter, or go back to the wider view.
    Back,
    /// List the keys.
    Help,
    /// List what was read from the source.
    Report,
    /// Start a command.
    OpenPrompt,
    /// Start a filter for the pane.
    OpenFilter,
    /// The next or previous pane.
    CyclePane(Direction),
    /// A certain pane.
    Focus(Pane),
    /// Move the selection.
    Move(Motion),
    /// Open what is selected.
    Open,
    /// Show the node that is selected or last touched.
    Detail,
    /// Show the pod that is selected, or that of the cycle.
    Pod,
    /// Close the group that is selected.
    Fold,
    /// The next way to group nodes.
    ToggleGroups,
    /// The next order of the list.
    Sort,
    /// One step in time.
    Step(Direction),
    /// To the end of a cycle, or before it.
    Cycle(Direction),
    /// On until preemption starts or the cycle ends.
    Run,
    /// To the very start or end of what is recorded.
    SeekEnd(Direction),
    /// A finer or coarser step.
    StepSize(Direction),
    /// Decide about the selected pod and stand before the first fact of it.
    TryNext,
    /// Let time pass.
    Advance(HowFar),
    /// Let everything happen until nothing changes any more.
    Settle,
    /// To the frame before or after that has to do with the selected pod.
    SeekPod(Direction),
    /// Start a command with these words.
    Begin(&'static str),
    /// Show the selected object as the cluster has it.
    Source,
    /// Copy what `Source` would show, or what lies over the screen, or the message.
    Copy,
    /// To the end of what was seen of a live cluster, and take in what is new.
    CatchUp,
    /// Every pending pod beside what the cluster's scheduler wrote.
    SchedulerMatch,
    /// List the branches.
    Branches,
    /// This branch beside the one it left.
    Compare,
    /// Edit the line that is being typed.
    Input(InputRequest),
    /// Text from the clipboard.
    Paste(String),
    /// Finish the line that is being typed.
    Submit,
    /// Complete the word that is being typed.
    Complete,
    /// The terminal has another size.
    Resize(u16, u16),
    /// The mouse did something at a column and row.
    Mouse(Mouse, u16, u16),
}

/// What a mouse can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mouse {
    /// The left button went down.
    Press,
    /// The mouse moved with the left button down.
    Drag,
    /// The left button went up.
    Release,
    /// The wheel turned.
    Scroll(Direction),
}

/// What the world outside the screen has to do after an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Leave.
    Quit,
    /// Stop the program until it is continued.
    Suspend,
    /// Show another theme.
    Theme(String),
    /// Open something else: what this path names, or what is chosen on the start screen.
    Open(Option<String>),
    /// Put some text into the terminal's clipboard.
    Copy(String),
    /// Write something to a file that is not there yet.
    Export {
        /// The file.
        path: String,
        /// What is written.
        export: Export,
    },
    /// Panic, to see that the terminal survives it; debug builds only.
    Panic {
        /// On a thread of its own.
        beside: bool,
    },
}
