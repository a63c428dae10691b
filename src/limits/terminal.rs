//! The terminal, its input, and files that the program writes.

use std::time::Duration;

limits! { "terminal":
    /// Time that a screen has to end after a signal, which restores the terminal; the program ends after it in any case.
    time SCREEN_ENDS: Duration = Duration::from_secs(2), "a_signal_ends_the_explorer_though_nobody_reads_its_terminal";
}
