//! A log of kube-scheduler: any content reads into queues at any time and an answer as text and JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use schedscope::output::Lines;
use schedscope::analysis::LogReport;
use schedscope::report::{Answer, FORMATS};
use schedscope::scheduler_log::{FileFacts, Reader};

fuzz_target!(|bytes: &[u8]| {
    let mut reader = Reader::default();
    let (first, second) = bytes.split_at(bytes.len() / 2);
    for (name, mut text) in [("all", bytes), ("first", first), ("second", second)] {
        reader.file(name, &FileFacts::default(), &mut text, &mut |_| true);
    }
    let log = reader.finish();
    for change in log.changes.iter().take(10) {
        let report = LogReport::new(&log, Some(change.at));
        let report = report.expect("a change is of a process");
        for format in FORMATS.iter().filter(|format| format.takes_all_answers()) {
            assert!(format.write(&Answer::Log(&report), Lines::default()).is_ok_and(|answer| !answer.as_str().is_empty()));
        }
    }
});
