use super::*;
use crate::cluster::Object;
use crate::release::Emulation;
use crate::scheduler::{Config, Options, Scheduler};
use crate::session::Session;

fn time(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn pod(node: &str, message: &str) -> Object {
    let condition = format!(r#"{{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"{message}"}}"#);
    let conditions = if message.is_empty() { String::new() } else { condition };
    let text = format!(
        r#"{{"kind":"Pod","metadata":{{"name":"a","namespace":"x","uid":"1"}},"spec":{{"nodeName":"{node}"}},"status":{{"conditions":[{conditions}]}}}}"#
    );
    serde_json::from_str(&text).unwrap()
}

fn event(reason: &str, note: &str, last: i64) -> ObservedEvent {
    ObservedEvent {
        pod: Key::new("x", "a"),
        uid: "1".into(),
        reason: reason.into(),
        note: note.to_owned(),
        controller: "".into(),
        count: 1,
        first: Some(time(1)),
        last: Some(time(last)),
    }
}

fn step(session: &mut Session, second: i64, objects: Vec<Operation>, events: Vec<ObservedEvent>) {
    let observe = |events| Operation::Observe { time: time(second), pods: Vec::new(), events, unknown: None };
    let operations = [vec![observe(Vec::new())], objects, vec![observe(events)]].concat();
    assert!(session.observe(Operation::Batch { name: "step".to_owned(), operations }));
}

#[test]
fn reports_about_one_attempt_are_one_and_repeated_ones_are_not() {
    let options = Options { start: time(0), ..Options::default() };
    let mut session = Session::new(Scheduler::new(Config::defaults(Emulation::default()), Vec::new(), options), "nothing");
    let update = |object| vec![Operation::Update { object }];
    step(&mut session, 10, vec![Operation::Create { object: pod("", "") }], Vec::new());
    step(&mut session, 12, update(pod("", "no fit")), Vec::new());
    // The event about that comes later, and again after the next attempt with the same message.
    step(&mut session, 14, Vec::new(), vec![event("FailedScheduling", "no fit", 11)]);
    step(&mut session, 40, Vec::new(), vec![event("FailedScheduling", "no fit", 39)]);
    let scheduled = event("Scheduled", "Successfully assigned x/a to n", 50);
    step(&mut session, 51, update(pod("n", "")), vec![event("FailedScheduling", "no fit", 39), scheduled]);
    let logged =
        |at, outcome: ReportedOutcome| ReportedAttempt { pod: Key::new("x", "a"), at: time(at), by: [ReportedBy::Log].into(), outcome };
    let failed = |message: &str| ReportedOutcome::Failed(message.to_owned());
    let log = [logged(11, failed("no fit")), logged(30, failed("other")), logged(90, failed("later"))];
    let found = reported_attempts(session.timeline().revisions(), &Key::new("x", "a"), &log);
    let found: Vec<(usize, i64, String, ReportedOutcome)> = found
        .into_iter()
        .map(|PlacedAttempt { revision, attempt }| {
            let by = attempt.by.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
            (revision, attempt.at.as_second() - 1_800_000_000, by, attempt.outcome)
        })
        .collect();
    let expected = [
        (1, 11, "log event condition".to_owned(), failed("no fit")),
        (3, 30, "log".to_owned(), failed("other")),
        (3, 39, "event".to_owned(), failed("no fit")),
        (4, 50, "event binding".to_owned(), ReportedOutcome::Bound("n".into())),
    ];
    assert_eq!(found, expected);
    assert!(reported_attempts(session.timeline().revisions(), &Key::new("x", "b"), &log).is_empty());
}
