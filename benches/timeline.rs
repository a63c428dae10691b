//! Navigation in a recorded session, and the memory of a record: 5,000 nodes with 50,000 pods, and 1,000 cycles that
//! filtered every node. Goals: steps under 1 ms, any move and search under 50 ms, and a cycle of 30 KB.

mod common;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use schedscope::release::Emulation;
use schedscope::scheduler::{Config, Options, Scheduler};
use schedscope::session::{Cursor, Session, Until};
use schedscope::source::{Input, load};
use schedscope::trace::StepSize;

const CYCLES: usize = 1000;

/// Records whose memory is measured, and as many before them.
const RECORDS: usize = 8;

/// Returns a session in which every pending pod was tried once, on nodes that are all too small for it.
fn recorded() -> Session {
    let text = common::cluster_with_pending(5000, 10, CYCLES, "40");
    let loaded = load(&[Input::Bytes { name: "bench".into(), bytes: text.into_bytes().into() }]);
    let scheduler = Scheduler::new(Config::defaults(Emulation::default()), loaded.objects, Options::default());
    let mut start = Session::new(scheduler, "bench");
    // Skip the preemptor: it has a higher priority, and its cycle differs.
    assert!(start.run_next());
    let record = || {
        let mut session = start.clone();
        assert_eq!((0..CYCLES).take_while(|_| session.run_next()).count(), CYCLES);
        session
    };
    let session = record();
    let revisions = session.timeline().revisions();
    assert!(revisions[1..].iter().all(|f| f.events.len() > 5000), "every cycle looked at every node");
    // The first records take memory that the load has freed.
    let mut records: Vec<Session> = (0..RECORDS).map(|_| record()).collect();
    let before = resident_kilobytes();
    records.extend((0..RECORDS).map(|_| record()));
    if let Some((before, after)) = before.zip(resident_kilobytes()) {
        let one = after.saturating_sub(before) as f64 / (RECORDS * CYCLES) as f64;
        println!("memory of one recorded cycle in which 5,000 nodes were filtered: {one:.1} KB");
    }
    session
}

/// Memory of this process; `None` if the system does not report it.
fn resident_kilobytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|l| l.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok())
}

fn timeline(c: &mut Criterion) {
    let mut session = recorded();
    let timeline = session.timeline_mut();
    let middle = Cursor { revision: CYCLES / 2, event: 2500 };
    let mut group = c.benchmark_group("timeline of 1,000 cycles");
    group.sample_size(20);
    for (name, by) in [("event", StepSize::Event), ("extension point", StepSize::ExtensionPoint)] {
        // Each step starts from the same position, and returning there is not measured.
        group.bench_function(format!("one {name} forward"), |b| {
            let mut at = timeline.clone();
            at.seek(middle);
            b.iter(|| {
                if !at.forward(by) {
                    at.seek(middle);
                }
                black_box(at.cursor())
            });
        });
        group.bench_function(format!("one {name} back"), |b| {
            let mut at = timeline.clone();
            at.seek(middle);
            b.iter(|| {
                if !at.back(by) {
                    at.seek(middle);
                }
                black_box(at.cursor())
            });
        });
    }
    let far = Cursor { revision: CYCLES - 1, event: 4000 };
    group.bench_function("across all cycles and back", |b| {
        b.iter(|| {
            timeline.seek(far);
            timeline.seek(middle);
            black_box(timeline.cursor())
        });
    });
    let until = Until::Node("none".into());
    timeline.seek(Cursor::default());
    group.bench_function("a search that finds nothing", |b| b.iter(|| black_box(timeline.find_after(&until))));
    // The lower bound of any move: the fold of one cycle.
    let events = timeline.revisions()[far.revision].events.clone();
    group.bench_function("fold of one cycle", |b| {
        b.iter(|| black_box(schedscope::trace::CycleView::of_recorded(events.range(0..far.event))));
    });
    group.finish();
}

criterion_group!(benches, timeline);
criterion_main!(benches);
