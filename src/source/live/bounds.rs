//! Bounds on what a server's answers may cost.

use crate::limits::live as limits;

/// The bounds of a connection, by default those of [`crate::limits::live`]; tests lower them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes that an answer brings at least in each [`Timing::answer`](super::Timing::answer).
    pub slowest: u64,
    /// Requests for the initial state.
    pub first_requests: u64,
    /// Bytes of the version, the groups or the resources, unpacked.
    pub short_answer: u64,
    /// Bytes of an answer that refuses a request.
    pub refusal: u64,
    /// Bytes of an object or of a page, unpacked.
    pub page: u64,
    /// Bytes up to which answers are read at the same time, unpacked.
    pub small_answer: u64,
    /// Bytes of answers that came to nothing, unpacked.
    pub unusable_answers: u64,
    /// Unpacked bytes beyond which `growth` counts.
    pub growth_free: u64,
    /// Unpacked bytes for each byte that was sent.
    pub growth: u64,
    /// Pages of a list.
    pub pages: usize,
    /// Objects of a list or watch.
    pub items: usize,
    /// Objects of a kind, or events, that are listed for a question.
    pub neighbors: usize,
    /// Bytes of all pages of a list, unpacked.
    pub list: u64,
    /// Objects of a list that cannot be read.
    pub unreadable: usize,
    /// Bytes of an object in a watch.
    pub watched_object: usize,
    /// Bytes of a scheduler's log when it is first read.
    pub log: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            slowest: limits::SLOWEST,
            first_requests: limits::FIRST_REQUESTS,
            short_answer: limits::SHORT_ANSWER,
            refusal: limits::REFUSAL,
            page: limits::PAGE,
            small_answer: limits::SMALL_ANSWER,
            unusable_answers: limits::UNUSABLE_ANSWERS,
            growth_free: limits::ANSWER_GROWTH_FREE,
            growth: limits::ANSWER_GROWTH,
            pages: limits::PAGES,
            items: limits::LIST_ITEMS,
            neighbors: limits::NEIGHBOR_ITEMS,
            list: limits::LIST,
            unreadable: limits::UNREADABLE,
            watched_object: limits::WATCHED_OBJECT,
            log: limits::LOG,
        }
    }
}
