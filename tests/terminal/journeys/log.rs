//! A dump, and the log of its scheduler.

use std::path::Path;

use super::{ENTER, assert_order, quit, words};
use crate::pty::Pty;

fn fixture(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(path).display().to_string()
}

/// "gpu-hungry waits for half an hour. When was it parked, who moved it, and why did it fail again?"
/// Its history has every attempt from the log: it was parked at 18:26:12, the flush of leftover pods moved it after five
/// minutes, and it failed for the same reason; Enter goes there, with schedscope's decision on the same objects.
#[test]
fn find_out_who_moved_a_parked_pod_and_why_it_failed_again() {
    let (dump, log) = (fixture("stories/payments.yaml"), fixture("scheduler-logs/payments.log.gz"));
    for size in [(120, 40), (200, 60)] {
        let mut pty = Pty::start(&["open", &dump, "--scheduler-log", &log, "--log-timezone", "UTC"], size.0, size.1);
        pty.wait_for("the timeline begins with the scheduler's log: 108 attempts");
        pty.assert_taken();
        pty.send("1/");
        pty.wait_for("filter queues");
        pty.send("gpu-hungry");
        pty.wait_for("/gpu-hungry");
        pty.send(ENTER);
        pty.wait_gone("filter queues");
        pty.send("v");
        pty.wait_for("Pod ml/gpu-hungry");
        pty.send("G");
        let screen = pty.wait_for("18:51:54");
        let parked_moved_failed = [
            "42  18:26:12  from the log: fits no node: 0/12 nodes",
            "54  18:31:24  from the log: moved to activeQ by UnschedulableTimeout",
            "60  18:31:24  from the log: fits no node: 0/12 nodes",
        ];
        assert_order(&screen, &parked_moved_failed);
        pty.send("kkkkkkkk");
        pty.send(ENTER);
        let screen = words(&pty.wait_for("rev 60/109"));
        assert!(screen.contains("ml/gpu-hungry: Pending because 10 of 12 nodes do not offer 8 nvidia.com/gpu"), "{screen}");
        pty.send("C");
        let screen = words(&pty.wait_for("step 0/31"));
        assert!(screen.contains("schedscope, on the cluster's state at that time: agrees exactly."), "{screen}");
        quit(pty);
    }
}
