//! JSON: lists, objects, lines. The objects that load are scheduled for a few turns.
#![no_main]

use libfuzzer_sys::fuzz_target;
use schedscope::release::Emulation;
use schedscope::scheduler::{Config, Operation, Options, Scheduler};
use schedscope::source::{Input, load};

fuzz_target!(|text: &str| {
    let bytes = format!("{{\"kind\":\"List\",\"items\":[{text}]}}").into_bytes();
    let loaded = load(&[Input::Bytes { name: "input.json".to_owned(), bytes: bytes.into() }]);
    let options = Options { start: loaded.report.newest.unwrap_or_default(), ..Options::default() };
    let mut scheduler = Scheduler::new(Config::defaults(Emulation::default()), loaded.objects, options);
    for _ in 0..4 {
        scheduler.apply(Operation::Schedule);
        scheduler.apply(Operation::Advance { seconds: 7 });
    }
});
