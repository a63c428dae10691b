//! The status of a live cluster, in words of two lengths.

use std::time::Duration;

use crate::plural::count;
use crate::ui::model::text;

/// How a live cluster is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiveState {
    /// All that can be read is read, and changes are applied.
    Following,
    /// Changes wait, because the cursor is elsewhere.
    ChangesWait,
    /// The server refuses the credentials.
    CredentialsRefused,
    /// There are no credentials: a file that holds them cannot be read, or a plugin gives none.
    NoCredentials,
    /// The server refuses every list and watch.
    NothingAllowed,
    /// Most lists and watches fail.
    Disconnected,
    /// Some lists and watches fail.
    PartlyDisconnected(Kinds),
    /// The user may not read some kinds that are needed.
    NotAllowed(Kinds),
    /// The current state of some objects cannot be read.
    Unreadable {
        /// The number of objects of the first kind.
        objects: usize,
        kinds: Kinds,
    },
    /// No scheduler's log is read.
    LogNotRead,
}

/// Kinds of objects, of which the first is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kinds {
    /// The plural of the first, as in a path.
    pub first: String,
    /// The number of others.
    pub more: usize,
}

impl Kinds {
    fn words(&self) -> String {
        let Self { first, more } = self;
        if *more > 0 { format!("{first} and {more} more") } else { first.clone() }
    }
}

impl LiveState {
    /// Returns whether it is a problem.
    pub fn is_trouble(&self) -> bool {
        !matches!(self, Self::Following | Self::ChangesWait)
    }

    /// Returns whether the server refuses what is asked, so that only the last accepted request counts as a sign of life.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::CredentialsRefused | Self::NoCredentials | Self::NothingAllowed)
    }

    /// Returns the state in a few words, with what to do where that is short.
    pub fn words(&self) -> String {
        match self {
            Self::Following => "following".to_owned(),
            Self::ChangesWait => "cluster changed, press R".to_owned(),
            Self::CredentialsRefused => "credentials refused (401): log in again".to_owned(),
            Self::NoCredentials => "no credentials: log in again".to_owned(),
            Self::NothingAllowed => "may read nothing (403)".to_owned(),
            Self::Disconnected => "disconnected".to_owned(),
            Self::PartlyDisconnected(kinds) => format!("disconnected: {}", kinds.words()),
            Self::NotAllowed(kinds) => format!("may not read {}", kinds.words()),
            Self::Unreadable { objects, kinds } => format!("{objects} of the {} cannot be read", kinds.words()),
            Self::LogNotRead => "the scheduler's log is not read".to_owned(),
        }
    }

    /// Returns the state in as few words as a narrow header has room for.
    pub fn brief(&self) -> String {
        match self {
            Self::Following => "following".to_owned(),
            Self::ChangesWait => "changed, R".to_owned(),
            Self::CredentialsRefused => "refused (401)".to_owned(),
            Self::NoCredentials => "no credentials".to_owned(),
            Self::NothingAllowed => "refused (403)".to_owned(),
            Self::Disconnected => "disconnected".to_owned(),
            Self::PartlyDisconnected(kinds) => format!("{} disconnected", kinds_in_short(kinds)),
            Self::NotAllowed(kinds) => format!("{} refused", kinds_in_short(kinds)),
            Self::Unreadable { objects, .. } => format!("{objects} unreadable"),
            Self::LogNotRead => "no log".to_owned(),
        }
    }

    /// Returns what to do about it, in sentences.
    pub fn advice(&self) -> Option<&'static str> {
        match self {
            Self::CredentialsRefused => Some(
                "The server refuses the credentials (401): they have expired or were revoked. Log in again, for example with a \
                 kubectl command of the same context; the kubeconfig is read again by itself.",
            ),
            Self::NoCredentials => Some("There are no credentials for the server. Log in again; the kubeconfig is read again by itself."),
            Self::NothingAllowed => Some(
                "The server refuses every list and watch (403). docs/live.md lists the rights that are needed; they are tried again by themselves.",
            ),
            _ => None,
        }
    }
}

fn kinds_in_short(Kinds { first, more }: &Kinds) -> String {
    if *more > 0 { count(more + 1, "kind") } else { first.clone() }
}

/// The status of a live cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveStatus {
    /// How it is followed.
    pub state: LiveState,
    /// The time since the server last sent something; where it refuses what is asked, since it last accepted a request.
    pub silent_for: Duration,
    /// Whether [`SessionHandle::follow`](super::session_handle::SessionHandle::follow) would apply changes.
    pub has_changes: bool,
    /// The time to wait before the next changes are applied.
    pub cooldown: Duration,
    /// When to poll again even without a change.
    pub poll_after: Option<Duration>,
}

impl LiveStatus {
    /// The step in which a silence of the server is shown: a rare change lets the screen rest.
    const STEP: Duration = Duration::from_secs(10);

    /// Returns the status with the time since the server last sent something: `following, heard 20s ago`.
    pub fn label(&self) -> String {
        match self.age() {
            None => format!("{}, heard just now", self.state.words()),
            Some(age) => format!("{}, heard {age} ago", self.state.words()),
        }
    }

    /// Returns [`Self::label`] for a narrow header: `following, 20s`.
    pub fn brief_label(&self) -> String {
        format!("{}, {}", self.state.brief(), self.age().unwrap_or_else(|| "now".to_owned()))
    }

    fn age(&self) -> Option<String> {
        let seconds = self.silent_for.as_secs() / Self::STEP.as_secs() * Self::STEP.as_secs();
        (seconds > 0).then(|| text::age_of(seconds))
    }

    /// Returns the time until [`Self::label`] changes if the server remains silent.
    pub fn label_changes_after(&self) -> Duration {
        let (silence, step) = (self.silent_for.as_nanos(), Self::STEP.as_nanos());
        u64::try_from(step - silence % step).map_or(Self::STEP, Duration::from_nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silence_is_shown_in_steps_and_changes_when_it_says() {
        for (millis, expected, brief, changes_after) in [
            (0, "following, heard just now", "following, now", 10_000),
            (9_999, "following, heard just now", "following, now", 1),
            (10_000, "following, heard 10s ago", "following, 10s", 10_000),
            (119_500, "following, heard 110s ago", "following, 110s", 500),
            (125_000, "following, heard 2m ago", "following, 2m", 5_000),
            (7_200_000, "following, heard 2h ago", "following, 2h", 10_000),
        ] {
            let status = LiveStatus {
                state: LiveState::Following,
                silent_for: Duration::from_millis(millis),
                has_changes: false,
                cooldown: Duration::ZERO,
                poll_after: None,
            };
            assert_eq!((status.label().as_str(), status.brief_label().as_str()), (expected, brief));
            assert_eq!(status.label_changes_after(), Duration::from_millis(changes_after));
        }
    }

    #[test]
    fn a_brief_state_is_short_and_names_the_trouble() {
        let kinds = |first: &str, more| Kinds { first: first.to_owned(), more };
        for (state, words, brief) in [
            (LiveState::ChangesWait, "cluster changed, press R", "changed, R"),
            (LiveState::CredentialsRefused, "credentials refused (401): log in again", "refused (401)"),
            (LiveState::NotAllowed(kinds("nodes", 0)), "may not read nodes", "nodes refused"),
            (LiveState::NotAllowed(kinds("nodes", 3)), "may not read nodes and 3 more", "4 kinds refused"),
            (LiveState::PartlyDisconnected(kinds("pods", 1)), "disconnected: pods and 1 more", "2 kinds disconnected"),
            (LiveState::Unreadable { objects: 2, kinds: kinds("pods", 0) }, "2 of the pods cannot be read", "2 unreadable"),
        ] {
            assert_eq!((state.words().as_str(), state.brief().as_str()), (words, brief));
        }
        assert!(!LiveState::ChangesWait.is_trouble() && LiveState::LogNotRead.is_trouble());
    }
}
