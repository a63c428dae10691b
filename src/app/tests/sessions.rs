//! Effects of keys and commands on a cluster, seen on the screen.

use super::*;
use crate::limits::sessions::RUN_EVENTS;
use crate::session::is_session_file;
use crate::ui::branch_label;
use crate::ui::model::state::Running;
use crate::ui::model::verdict;

#[test]
fn time_passes_and_a_preemption_is_carried_through() {
    let mut screen = Screen::new("payments");
    assert_eq!(screen.command("until preemption"), "a preemption starts");
    let answer = |screen: &Screen| {
        let timeline = screen.explorer.timeline();
        verdict::sentence(timeline.cycle()).unwrap().to_string()
    };
    assert!(answer(&screen).ends_with("; evicting pods would not help."), "{}", answer(&screen));
    screen.command("until preemption");
    assert!(answer(&screen).ends_with("; preemption tried on 0 of 8 nodes, 0 candidates so far."), "{}", answer(&screen));
    assert_eq!(screen.command("until bound"), "a pod is bound");
    screen.keys("home");
    assert_eq!(screen.command("until pod shop/payments"), "shop/payments is touched");
    assert!(screen.explorer.timeline().current().is_some_and(|e| e.sentence().starts_with("shop/payments was popped")));
    screen.keys("end t");
    assert!(screen.said().starts_with("wait "), "{}", screen.said());
    let clock = screen.explorer.timeline().clock();
    screen.keys("T");
    assert_eq!(screen.explorer.timeline().clock().duration_since(clock).as_secs(), 10);
    screen.keys("S");
    assert!(screen.said().starts_with("settled after ") && screen.said().ends_with(": 9 pods still pending"), "{}", screen.said());
    let node =
        |s: &Screen| s.explorer.timeline().end().cluster.pods.get(&crate::cluster::Key::new("shop", "payments")).unwrap().node_name.clone();
    assert_eq!(node(&screen), "worker-a2");
    screen.keys("t");
    assert!(screen.explorer.timeline().at_end());
    // Jump between the steps with events about the selected pod.
    screen.command("pod shop/payments");
    let (title, cursor) = (screen.title(), screen.explorer.timeline().cursor());
    assert_eq!(title, "schedule shop/payments");
    screen.keys("[ ]");
    assert_eq!(screen.explorer.timeline().cursor(), cursor);
    screen.keys("home [");
    assert_eq!(screen.said(), "nothing is recorded about shop/payments before this");
}

#[test]
fn what_is_done_in_the_past_begins_a_branch() {
    let mut screen = Screen::new("payments");
    screen.keys("c c c c c");
    assert_eq!(branch_label(&screen.explorer), "");
    screen.keys("=");
    assert_eq!(screen.said(), "nothing to compare yet: :drain NODE begins a branch, and so does a change in the past");
    screen.keys("C");
    assert_eq!(screen.command("cordon worker-a2"), "worker-a2 updated on new branch 2; main is unchanged");
    assert_eq!(branch_label(&screen.explorer), "branch 2 of 2");
    let mut main = screen.explorer.clone();
    assert!(main.switch(0) && branch_label(&main) == "main (1 of 2)");
    assert_eq!((screen.title().as_str(), screen.explorer.timeline().at_end()), ("cordon worker-a2", true));
    screen.keys("S =");
    let text = screen.overlay();
    assert!(text.starts_with("main compared with branch 2\nThey share 4 revisions"), "{text}");
    assert!(text.contains("\n  main: schedule ") && text.contains("  branch 2: cordon worker-a2, and "), "{text}");
    screen.keys("B");
    let text = screen.overlay();
    assert!(text.contains("1  main: 5 revisions") && text.contains("2  branch 2") && text.contains("you are here"), "{text}");
    assert_eq!(screen.command("branch 1"), "this is main");
    assert_eq!(screen.explorer.timeline().revisions().len(), 5);
    assert_eq!(screen.command("branch 3"), "! branch needs a number from 1 to 2");
    screen.command("compare 2");
    assert!(screen.overlay().starts_with("branch 2 compared with main"));
    assert_eq!(screen.command("compare 7"), "! there are 2 branches");
}

#[test]
fn an_edit_of_the_cluster_as_read_begins_a_branch_that_can_be_compared() {
    let mut screen = Screen::new("payments");
    assert_eq!(screen.command("cordon worker-a2"), "worker-a2 updated on new branch 2; main is unchanged");
    assert!(screen.explorer.timeline().at_end());
    screen.keys("=");
    let text = screen.overlay();
    assert!(text.starts_with("main compared with branch 2\n"), "{text}");
    assert!(text.contains("branch 2: cordon worker-a2"), "{text}");
    // Further edits go on there.
    assert_eq!(screen.command("cordon worker-a1"), "updated Node worker-a1");
    assert_eq!(branch_label(&screen.explorer), "branch 2 of 2");
}

#[test]
fn what_is_changed_while_a_question_is_looked_at_is_asked_again_in_the_background() {
    let mut screen = Screen::new("payments");
    screen.command("pod payments");
    assert_eq!(screen.title(), "explain shop/payments");
    assert_eq!(screen.command("cordon worker-x"), "! there is no Node worker-x");
    assert!(screen.title() == "explain shop/payments" && screen.explorer.timeline().at_end());
    assert_eq!(screen.command("cordon worker-a2"), "worker-a2 updated on new branch 2; main is unchanged");
    let chosen = |screen: &Screen| screen.explorer.timeline().cycle().preemption.as_ref().unwrap().selected().unwrap().0.clone();
    assert_eq!((screen.title().as_str(), chosen(&screen).as_str()), ("explain shop/payments", "worker-b1"));
    screen.keys("=");
    let text = screen.overlay();
    assert!(text.contains("  shop/payments\n    main:") && text.contains("worker-a2") && text.contains("worker-b1"), "{text}");
    // The next comparison starts from this branch.
    screen.command("cordon worker-b1");
    assert_eq!(branch_label(&screen.explorer), "branch 3 of 3");
    screen.keys("=");
    assert!(screen.overlay().starts_with("branch 2 compared with branch 3"));
    // A deleted pod has no decision to make again.
    screen.command("delete pod shop/payments");
    assert_eq!(screen.title(), "delete Pod shop/payments");
}

#[test]
fn operations_from_the_prompt() {
    let mut screen = Screen::new("payments");
    assert_eq!(
        screen.command(r#"patch pod shop/payments {"spec":{"priority":1}}"#),
        "shop/payments updated on new branch 2; main is unchanged"
    );
    assert_eq!(screen.explorer.timeline().queues().entries[&crate::cluster::Key::new("shop", "payments")].priority, 1);
    assert_eq!(screen.command("delete pdb shop/checkout"), "deleted PodDisruptionBudget shop/checkout (in this what-if only)");
    assert_eq!(screen.command("delete pdb shop/checkout"), "! there is no PodDisruptionBudget shop/checkout");
    assert_eq!(screen.command("allow shop/payments"), "! shop/payments is not waiting on Permit");
    assert_eq!(screen.command("cordon"), "! cordon needs a node name");
    assert_eq!(screen.command("advance 30s"), "advance 30 s");
    assert_eq!(screen.command("advance soon"), "! \"soon\" is neither a number of seconds nor next");
    assert_eq!(
        screen.command("until never"),
        "! \"never\" is not one of popped, rejected, preemption, nominated, bound (any pod or one), budget, pod NAME, node NAME"
    );
    assert_eq!(screen.command("until node nowhere"), "! there is no node \"nowhere\"");
    // A pod that was tried already is decided again.
    let revisions = screen.explorer.timeline().revisions().len();
    assert_eq!(screen.command("decide shop/payments"), "");
    assert_eq!((screen.title().as_str(), screen.explorer.timeline().revisions().len()), ("explain shop/payments", revisions + 1));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("more.yaml");
    std::fs::write(
        &file,
        "kind: Node\napiVersion: v1\nmetadata: {name: worker-z}\n---\nkind: Node\napiVersion: v1\nmetadata: {name: infra-1}\n",
    )
    .unwrap();
    let said = screen.command(&format!("apply {}", file.display()));
    assert_eq!(said, "2 objects, the last of them: infra-1 updated on new branch 3; branch 2 is unchanged");
    assert!(screen.explorer.timeline().end().cluster.nodes.named(&"worker-z".into()).is_some());
    assert!(screen.command("apply /nowhere/at/all").starts_with("! /nowhere/at/all"));
}

#[test]
fn a_session_is_saved_and_continues() {
    let mut screen = Screen::new("tie-breaks");
    screen.keys("c c");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.schedscope").display().to_string();
    assert!(screen.command(&format!("save {path}")).starts_with(&format!("saved to {path}; ")));
    assert!(screen.command(&format!("save {path}")).ends_with("already exists; it is not overwritten"));
    assert_eq!(screen.command("save"), "! save needs a file");
    let bytes = std::fs::read(&path).unwrap();
    assert!(is_session_file(&bytes));
    let mut again = Screen::of(Explorer::new(Session::load(&bytes[..]).unwrap()), 120, 40);
    assert_eq!(again.explorer.timeline().cursor(), screen.explorer.timeline().cursor());
    assert_eq!(again.explorer.source(), "demo tie-breaks");
    again.keys("c");
    screen.keys("c");
    assert_eq!(again.title(), screen.title());
}

#[test]
fn beginning_again_as_observed() {
    let mut screen = Screen::new("queues");
    screen.keys("c c c");
    let said = screen.command("start observed");
    assert!(said.starts_with("as observed: where ") && screen.explorer.timeline().revisions().is_empty(), "{said}");
    assert_eq!(screen.explorer.timeline().start().initial_queues, crate::session::InitialQueues::AsObserved);
    assert!(screen.command("start fresh").starts_with("fresh start: all "));
    assert_eq!(screen.command("start over"), "! \"over\" is neither fresh nor observed");
    assert_eq!(screen.command("start"), "! start needs fresh or observed");
}

#[test]
fn a_decision_in_the_past_is_about_the_past() {
    let mut screen = Screen::new("payments");
    screen.keys("S");
    let revisions = screen.explorer.timeline().revisions().len();
    screen.keys("home");
    assert_eq!(screen.command("pod shop/payments"), "");
    let timeline = screen.explorer.timeline();
    assert_eq!((timeline.revisions().len(), timeline.cursor().revision), (revisions + 1, 0), "put in where the cursor was");
    assert!(timeline.cycle().preemption.as_ref().is_some_and(|p| p.selected().is_some()));
    assert_eq!(branch_label(&screen.explorer), "", "nothing changes by it, and so no branch begins");
}

/// A run after an edit schedules a pod that the edit helps, even after many runs without success.
#[test]
fn a_run_after_an_edit_tries_what_the_edit_may_have_helped() {
    let mut screen = Screen::new("payments");
    screen.keys("S");
    let waits = |s: &Screen| s.explorer.timeline().end().queues.entries.contains_key(&crate::cluster::Key::new("batch", "too-big"));
    assert!(waits(&screen));
    for _ in 0..2 {
        screen.command("cordon worker-b1");
        screen.keys("S");
        screen.command("uncordon worker-b1");
        screen.keys("S");
    }
    assert!(waits(&screen));
    screen.command(r#"patch pod batch/too-big {"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1m"}}}]}}"#);
    screen.keys("S");
    assert!(!waits(&screen), "it is small now, and fits");
}

#[test]
fn the_selected_object_is_shown_as_it_was_read() {
    let input = Story::named("payments").unwrap().input();
    let loaded = source::load(&[input]);
    let options = Options { start: loaded.report.newest.unwrap(), ..Options::default() };
    let scheduler = Scheduler::new(Config::defaults(Emulation::default()), loaded.objects, options);
    let explorer = Explorer::new(Session::new(scheduler, "demo payments")).with_reports(vec![loaded.report.into()]);
    let mut screen = Screen::of(explorer, 120, 40);
    screen.keys("y");
    let pod = screen.overlay();
    assert!(pod.starts_with("Pod ") && pod.contains(", line ") && pod.contains("\nspec:\n") && !pod.contains("managedFields"), "{pod}");
    // The text includes fields that the engine does not read.
    assert!(pod.contains("image: "), "{pod}");
    screen.command("cordon worker-a1");
    screen.command("source node worker-a1");
    let node = screen.overlay();
    assert!(node.starts_with("Node worker-a1: "), "{node}");
    assert!(node.contains("\n# It has changed at the cursor"), "{node}");
    screen.command("source pod shop/none");
    screen.wait();
    assert_eq!(screen.said(), "! there is no Pod shop/none");
    screen.keys("y");
    screen.wait();
    let effect = update(&mut screen.state, &mut screen.explorer, Action::Verb("copy"));
    let Some(crate::ui::Effect::Copy(text)) = effect else { panic!("{effect:?}") };
    assert!(text.contains("kind: Pod") && screen.said().starts_with("copied Pod "), "{text} {}", screen.said());
}

#[test]
fn an_object_without_a_source_is_shown_as_it_is_held() {
    let mut screen = Screen::new("payments");
    screen.command("source node worker-a1");
    let text = screen.overlay();
    assert!(text.contains("as schedscope holds it") && text.contains("# Only the fields that affect scheduling are kept."), "{text}");
}

#[test]
fn pending_pods_is_next_to_what_the_cluster_s_scheduler_wrote() {
    let mut screen = Screen::new("aftermath");
    screen.keys("A");
    let text = screen.overlay();
    assert!(
        text.starts_with("Compared with the cluster's scheduler\n14 pending pods. Compared with the cluster's scheduler: 5 explained by later changes, 8 agree, "),
        "{text}"
    );
    assert!(text.contains("\nWho was evicted for whom:\n"), "{text}");
    let written = screen.explorer.written(&crate::cluster::Key::new("shop", "payments")).unwrap();
    assert_eq!((written.source, written.attempts), ("condition", 1));
    // Esc cancels the job, and no overlay opens afterwards.
    update(&mut screen.state, &mut screen.explorer, Action::Verb("agreement"));
    if screen.state.tasks.working.is_some() {
        update(&mut screen.state, &mut screen.explorer, Action::BACK);
        assert!(screen.state.tasks.working.is_none() && screen.state.overlay.is_none() && screen.said() == "stopped");
        assert!(!poll_job(&mut screen.state, &mut screen.explorer));
    }
}

/// Running all filters reports the recorded first rejection of each node, followed by the further ones.
#[test]
fn every_filter_of_a_node_begins_with_what_the_record_holds() {
    let (mut nodes, mut counted, mut behind, mut left_out) = (0, 0, 0, 0);
    for story in &source::STORIES {
        let mut screen = Screen::new(story.name);
        screen.keys("S");
        for revision in 0..screen.explorer.timeline().revisions().len() {
            screen.explorer.timeline_mut().seek(crate::session::Cursor { revision, event: usize::MAX });
            let timeline = screen.explorer.timeline();
            let Some(start) = &timeline.cycle().start else { continue };
            for node in timeline.revisions()[revision].before.snapshot.nodes() {
                let filters = screen.explorer.every_filter(&start.pod, node.name()).unwrap();
                let Some(verdict) = timeline.cycle().filter.verdicts.get(node.name()) else {
                    // A pod that fits its nominated node is not tried on others.
                    let nominated = matches!(timeline.cycle().scoring.selected, Some((_, crate::trace::Selection::NominatedNode, _)));
                    assert!(nominated || filters.left_out || filters.not_asked.is_some(), "{} {revision} {}", story.name, node.name());
                    left_out += 1;
                    continue;
                };
                let first = filters.rejections().next().map(|(_, status)| status.clone());
                assert_eq!(first.unwrap_or_else(crate::framework::Status::success), verdict.status, "{} {revision}", story.name);
                assert_eq!(filters.nominated[..], verdict.nominated[..], "{} {revision} {}", story.name, node.name());
                nodes += 1;
                counted += usize::from(filters.with_nominated);
                behind += filters.rejections().count().saturating_sub(1);
            }
        }
    }
    assert!(nodes > 100 && counted > 0 && behind > 0, "{nodes} {counted} {behind} {left_out}");
}

#[test]
fn once_a_cycle_has_ended_the_screen_says_what_the_report_says() {
    let mut screen = Screen::new("queues");
    screen.keys("S");
    let mut ended = 0;
    for revision in 0..screen.explorer.timeline().revisions().len() {
        screen.explorer.timeline_mut().seek(crate::session::Cursor { revision, event: usize::MAX });
        let cycle = screen.explorer.timeline().cycle();
        let sentence = crate::analysis::why(cycle);
        assert_eq!(sentence.is_empty(), cycle.outcome.is_none());
        if let Some(start) = cycle.start.as_ref().filter(|_| cycle.outcome.is_some()) {
            assert_eq!(verdict::subject(cycle), start.pod.to_string());
            assert_eq!(verdict::sentence(cycle).map(|shown| shown.to_string()), Some(sentence));
            ended += 1;
        }
    }
    assert!(ended > 5, "{ended}");
}

#[test]
fn a_node_tells_what_else_would_turn_the_pod_down() {
    use crate::ui::model::rows::NodePaneRow;
    let mut screen = Screen::new("payments");
    screen.command("pod shop/payments");
    screen.command("node infra-1");
    let facts = |screen: &Screen| -> Vec<String> {
        screen
            .state
            .view_model
            .rows
            .node_pane
            .iter()
            .filter_map(|r| if let NodePaneRow::Fact(n, v) = r { Some(format!("{n}: {v}")) } else { None })
            .collect()
    };
    let also = "would also fail: NodeResourcesFit: Insufficient cpu: needs cpu 6, ";
    assert!(facts(&screen).iter().any(|f| f.starts_with(also)), "{:?}", facts(&screen));
    let filters = screen.state.view_model.open_node.filters.clone().unwrap();
    let said = |name: &str| filters.answers.iter().find(|(p, _)| p.as_str() == name).map(|(_, s)| (s.is_skip(), s.message())).unwrap();
    assert_eq!(said("TaintToleration"), (false, "node(s) had untolerated taint(s)".to_owned()));
    assert_eq!(said("InterPodAffinity"), (true, String::new()), "there is nothing to check");
    // Another node of the same cycle gets its own verdicts; the start of the timeline has no pod.
    screen.command("node worker-a1");
    assert!(!facts(&screen).iter().any(|f| f.starts_with("would also fail")), "{:?}", facts(&screen));
    screen.keys("home");
    assert!(!screen.state.view_model.rows.node_pane.iter().any(|r| matches!(r, NodePaneRow::Filter(_))));
    // The filters run on the cluster at the start of the cycle.
    screen.keys("end c");
    screen.command("cordon worker-a1");
    screen.command("cycle 1");
    let first = &screen.state.view_model.open_node.filters.clone().unwrap().answers[0];
    assert!(first.0.as_str() == "NodeUnschedulable" && first.1.is_success(), "{first:?}");
    screen.command("decide shop/payments");
}

#[test]
fn fixes_are_searched_listed_and_applied_on_a_branch() {
    let mut screen = Screen::new("payments");
    screen.act(":pod shop/payments; x");
    let Some(Overlay::Text(page)) = &screen.state.overlay else { panic!("{:?}", screen.state.overlay) };
    let text = page.rows.iter().map(|row| row.text.as_str()).collect::<Vec<_>>().join("\n");
    let lowered = "lower the cpu request from 6 to 3.6: fits on worker-a2, worker-b1";
    assert!(text.contains(lowered) && text.contains("kubectl uncordon worker-c3"), "{text}");
    // The first is to uncordon worker-c3; Enter applies it before the decision, on a branch, where the pod then fits.
    screen.act("enter");
    let cycle = screen.timeline().cycle();
    assert_eq!(cycle.outcome, Some(crate::trace::Outcome::Scheduled));
    assert_eq!(cycle.scoring.selected.as_ref().map(|(node, ..)| node.as_str()), Some("worker-c3"));
    assert_eq!(screen.explorer.branches().len(), 2);
    assert!(screen.command("fixes shop/none").starts_with("! there is no pod shop/none"));
    // Esc cancels the search, and no overlay opens afterwards.
    update(&mut screen.state, &mut screen.explorer, Action::Verb("fixes"));
    if screen.state.tasks.working.is_some() {
        update(&mut screen.state, &mut screen.explorer, Action::BACK);
        assert!(screen.state.tasks.working.is_none() && screen.state.overlay.is_none() && screen.said() == "stopped");
    }
}

/// A dump has no moment before an eviction; its events still name the preemptor.
#[test]
fn who_evicted_a_pod_of_a_dump_is_what_its_events_say() {
    let mut screen = Screen::new("aftermath");
    screen.act(":pod batch/reports-646f8d7fc5-zgcpb; W");
    let page = screen.overlay();
    assert!(page.contains("shop/payments preempted it on worker-a2 at 2026-11-20T18:26:12"), "{page}");
    assert!(page.contains("shop/payments waits for the pods evicted for it on worker-a2 to end."), "{page}");
    assert!(page.contains("gone at the latest 18:31:12"), "{page}");
    let said = screen.command("evicted shop/patient-job");
    assert!(said.starts_with('!') && said.contains("records no eviction of it"), "{said}");
}

/// The pod that a controller made in place of an evicted one leads to the evictions of its siblings, as does the list of all.
#[test]
fn a_replacement_leads_to_the_evictions_of_its_siblings() {
    let mut screen = Screen::new("aftermath");
    screen.act(":pod batch/reports-646f8d7fc5-9ggzv; W");
    let page = screen.overlay();
    assert!(page.starts_with("Evictions of pods of ReplicaSet reports-646f8d7fc5\n"), "{page}");
    assert!(page.contains("records no eviction of batch/reports-646f8d7fc5-9ggzv, but of other pods"), "{page}");
    assert!(page.contains("batch/reports-646f8d7fc5-zgcpb left worker-a2: preempted by shop/payments"), "{page}");
    screen.act(":pod batch/reports-646f8d7fc5-9ggzv; W / 'zgcpb' enter enter");
    let story = screen.overlay();
    assert!(story.starts_with("Eviction of batch/reports-646f8d7fc5-zgcpb\nshop/payments preempted it on worker-a2"), "{story}");
    screen.act(":evictions;");
    let all = screen.overlay();
    assert!(all.starts_with("Preemptions that the source records\n") && all.lines().count() > 4, "{all}");
    screen.act(": 'evicted zg' enter");
    let named = screen.overlay();
    assert!(named.starts_with("Eviction of batch/reports-646f8d7fc5-zgcpb\n"), "{named}");
}

/// One open dump is compared with a file, whichever of the two is older.
#[test]
fn a_dump_is_compared_with_a_file() {
    let files = ["fixtures/stories/payments.yaml", "fixtures/stories/aftermath.yaml"];
    for (open, file) in [("aftermath", files[0]), ("payments", files[1])] {
        let mut screen = Screen::new(open);
        screen.act(&format!(":diff {file};"));
        let page = screen.overlay();
        assert!(page.starts_with("Differences\nFrom ") && page.contains("shop/payments did not fit on any node"), "{page}");
        assert!(page.contains("status.nominatedNodeName: none → worker-a2"), "{open}: {page}");
        assert!(!page.contains("different clusters"), "{page}");
    }
    let mut screen = Screen::new("payments");
    screen.act(":diff fixtures/stories/queues.yaml;");
    let page = screen.overlay();
    assert!(page.contains("These seem to be different clusters."), "{page}");
    screen.act(":diff no/such/file;");
    assert!(screen.said().starts_with("! ") && screen.said().contains("no/such/file"), "{}", screen.said());
    screen.act(":diff;");
    assert!(screen.said().ends_with(":diff FILE compares a dump of another time with it"), "{}", screen.said());
}

#[test]
fn a_run_in_the_explorer_stops_after_a_number_of_events() {
    let mut screen = Screen::new("payments");
    let allowed = screen.explorer.events_of_a_run();
    assert!((RUN_EVENTS..RUN_EVENTS + 10_000).contains(&allowed), "{allowed}");
    screen.state.tasks.running = Some(Running { until: None, pieces: 0, events: allowed - 1 });
    continue_run(&mut screen.state, &mut screen.explorer, || true);
    let said = screen.said();
    assert!(said.starts_with("stopped after ") && said.ends_with(" events, which are kept; the same key goes on"), "{said}");
    assert_eq!(screen.explorer.timeline().revisions().len(), 1);
    screen.keys("S");
    assert!(screen.said().starts_with("settled after "), "{}", screen.said());
    assert!(screen.explorer.timeline().revisions().len() > 10);
}
