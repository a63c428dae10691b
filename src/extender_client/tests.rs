//! Calls on this machine.
