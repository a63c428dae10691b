//! Reports of kube-scheduler's log, as text and as data.

mod json;
mod text;
