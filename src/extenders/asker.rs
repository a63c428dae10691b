//! Calls of extenders: the transport, the answers so far, and the recorder.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Extender;
use super::objects::as_read;
use crate::cluster::{Key, Kind};
use crate::framework::ExtenderVerb;
use crate::output::without_passwords;

/// Sends requests to extenders, and waits for their answers.
pub trait ExtenderTransport: Send + Sync {
    /// Sends the body of one call. Only `filter`, `prioritize` and `preempt` are ever called.
    fn send(&self, extender: &Extender, verb: ExtenderVerb, body: &str) -> Answer;
}

/// Knows objects as their source has them, with what scheduling does not read.
pub trait Originals: Send + Sync {
    /// Returns the object; `None` where the source cannot be read again, or lacks it.
    fn original(&self, kind: Kind, key: &Key) -> Option<Value>;
}

/// The result of one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// The status of the response; `None` where none came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Its body, or why there is none, in Go's words.
    #[serde(flatten)]
    pub body: AnswerBody,
}

/// A response body, or an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AnswerBody {
    /// The body of the response. Invalid UTF-8 is replaced, as Go does in strings.
    Body(String),
    /// Why no response came, or why its body could not be read.
    Error(String),
}

impl Answer {
    /// Returns the number of bytes of the body or the error.
    pub fn length(&self) -> usize {
        match &self.body {
            AnswerBody::Body(text) | AnswerBody::Error(text) => text.len(),
        }
    }

    /// Returns the answer of a response.
    pub fn response(status: u16, body: impl Into<String>) -> Self {
        Self { status: Some(status), body: AnswerBody::Body(body.into()) }
    }

    /// Returns the answer where none came.
    pub fn failed(error: impl AsRef<str>) -> Self {
        Self { status: None, body: AnswerBody::Error(without_passwords(error.as_ref()).into_owned()) }
    }
}

/// A call with its answer, as a line of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedCall {
    /// The `urlPrefix`, without user and password.
    pub extender: String,
    /// The call.
    pub verb: ExtenderVerb,
    /// Its path, as configured; where a recording has none, the call alone counts.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    pub request: Value,
    /// The result.
    #[serde(flatten)]
    pub answer: Answer,
}

/// A question by what it is about; equal questions have equal ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct QuestionId {
    /// The `urlPrefix`, without user and password.
    pub extender: String,
    /// The call.
    pub verb: ExtenderVerb,
    /// Its path; empty where it is not known.
    pub path: String,
    /// A hash of the request with 128 bits, in hexadecimal.
    pub request: String,
}

impl QuestionId {
    /// Returns the identity of a request. Fields that scheduling does not read are no part of it, so that a recording and a
    /// saved session answer without the originals of the objects.
    fn new(extender: &str, verb: ExtenderVerb, path: &str, request: &Value) -> Self {
        let request = as_read(request).to_string();
        // FNV-1a is the same in every build; a collision would harm only the user who made it.
        let number = request.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, |number, byte| {
            (number ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
        });
        Self { extender: extender.to_owned(), verb, path: path.to_owned(), request: format!("{number:032x}") }
    }
}

/// Whether a cycle may ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asking {
    /// It is taken for real: extenders are asked.
    Ask,
    /// It is a trial, a dry decision, or is done again: the last answer to the same question holds.
    #[default]
    Recall,
}

/// Receives the calls as they are made.
pub type Recorder = Box<dyn FnMut(&RecordedCall) + Send>;

/// Asks extenders, and remembers their answers.
pub struct Asker {
    transport: Option<Box<dyn ExtenderTransport>>,
    originals: Option<Box<dyn Originals>>,
    recorder: Mutex<Option<Recorder>>,
    book: Mutex<HashMap<QuestionId, Arc<Answer>>>,
}

impl fmt::Debug for Asker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asker").field("asks", &self.transport.is_some()).field("answers", &lock(&self.book).len()).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that panicked has left nothing half done that others could not go on with.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Asker {
    /// Creates an asker with these answers and without a transport.
    pub fn of_answers(answers: impl IntoIterator<Item = (QuestionId, Answer)>) -> Self {
        let book = answers.into_iter().map(|(question, answer)| (question, Arc::new(answer))).collect();
        Self { transport: None, originals: None, recorder: Mutex::new(None), book: Mutex::new(book) }
    }

    /// Creates an asker with the answers of a recording and without a transport; the last answer to a question counts.
    pub fn of_recording(calls: impl IntoIterator<Item = RecordedCall>) -> Self {
        Self::of_answers(calls.into_iter().map(|call| {
            let question = QuestionId::new(&without_passwords(&call.extender), call.verb, &call.path, &call.request);
            (question, call.answer)
        }))
    }

    /// Adds a transport, so that extenders are called.
    #[must_use]
    pub fn with_transport(self, transport: Box<dyn ExtenderTransport>) -> Self {
        Self { transport: Some(transport), ..self }
    }

    /// Adds the originals of objects, which requests then contain.
    #[must_use]
    pub fn with_originals(self, originals: Box<dyn Originals>) -> Self {
        Self { originals: Some(originals), ..self }
    }

    /// Passes every call to a recorder.
    #[must_use]
    pub fn with_recorder(self, recorder: Recorder) -> Self {
        Self { recorder: Mutex::new(Some(recorder)), ..self }
    }

    /// Returns whether extenders are asked for real.
    pub fn asks(&self) -> bool {
        self.transport.is_some()
    }

    /// Returns the answers that it knows, in order.
    pub fn answers(&self) -> Vec<(QuestionId, Answer)> {
        let mut answers: Vec<_> = lock(&self.book).iter().map(|(question, answer)| (question.clone(), Answer::clone(answer))).collect();
        answers.sort_by(|a, b| a.0.cmp(&b.0));
        answers
    }

    pub(super) fn original(&self, kind: Kind, key: &Key) -> Option<Value> {
        self.originals.as_ref()?.original(kind, key)
    }
}

/// The questions of one cycle: as many as kube-scheduler asks, which is the same one twice where the nominated node is tried
/// first and is the only one that fits then.
pub(super) struct Questions<'a> {
    asker: &'a Asker,
    asking: Asking,
}

impl<'a> Questions<'a> {
    pub(super) fn new(asker: &'a Asker, asking: Asking) -> Self {
        Self { asker, asking }
    }

    pub(super) fn asker(&self) -> &'a Asker {
        self.asker
    }

    /// Returns the answer to a question: asks, or recalls; `None` where it is unknown.
    pub(super) fn answer(&self, extender: &Extender, verb: ExtenderVerb, request: Value) -> Option<Arc<Answer>> {
        let body = request.to_string();
        let path = extender.verb(verb);
        let question = QuestionId::new(extender.name.url.as_str(), verb, path, &request);
        let known = || {
            let book = lock(&self.asker.book);
            let without_path = || book.get(&QuestionId { path: String::new(), ..question.clone() });
            book.get(&question).or_else(without_path).cloned()
        };
        let Some(transport) = self.asker.transport.as_ref().filter(|_| self.asking == Asking::Ask && verb != ExtenderVerb::Bind) else {
            return known();
        };
        let answer = transport.send(extender, verb, &body);
        if let Some(recorder) = lock(&self.asker.recorder).as_mut() {
            let extender = extender.name.url.to_string();
            recorder(&RecordedCall { extender, verb, path: path.to_owned(), request, answer: answer.clone() });
        }
        let answer = Arc::new(answer);
        lock(&self.asker.book).insert(question, answer.clone());
        Some(answer)
    }
}
