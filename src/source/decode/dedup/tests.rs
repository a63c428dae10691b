use super::*;

fn pod(scheduler: &str) -> Pod {
    let mut pod = Pod::default();
    pod.spec_mut().scheduler_name = scheduler.into();
    pod
}

#[test]
fn equal_specs_become_one_and_others_stay() {
    let mut objects: Vec<Object> = ["a", "b", "a", "b"].map(|s| Object::Pod(Arc::new(pod(s)))).into();
    dedup_all(&mut objects);
    let specs: Vec<_> = objects.iter().map(|o| if let Object::Pod(p) = o { Arc::as_ptr(&p.spec) } else { unreachable!() }).collect();
    assert_eq!((specs[0], specs[1]), (specs[2], specs[3]));
    assert_ne!(specs[0], specs[1]);
    let (mut one, mut two, mut other) = (pod("a"), pod("a"), pod("b"));
    [&mut one, &mut two, &mut other].into_iter().for_each(dedup_parts);
    forget();
    assert!(Arc::ptr_eq(&one.spec, &two.spec) && !Arc::ptr_eq(&one.spec, &other.spec));
}

#[test]
fn equal_labels_and_statuses_become_one_and_others_stay() {
    let pods = ["a", "b", "a"].map(|label| {
        let mut pod = pod("s");
        pod.metadata.labels.insert("app".into(), label.into());
        pod.status.allocated_resources.insert(label.into(), crate::cluster::NO_QUANTITY);
        pod
    });
    let parts = |pod: &Pod| {
        let (template, status) = (pod.metadata.template.handle().unwrap(), pod.status.rare.handle().unwrap());
        (Arc::as_ptr(template), Arc::as_ptr(status))
    };
    let shared = |[a, b, c]: [_; 3]| (a, a) == (c, c) && a != b;
    let mut at_once = pods.clone();
    at_once.iter_mut().for_each(dedup_parts);
    forget();
    assert!(shared(at_once.each_ref().map(parts)) && at_once == pods);
    let mut objects: Vec<Object> = pods.iter().cloned().map(|p| Object::Pod(Arc::new(p))).collect();
    dedup_all(&mut objects);
    let after = [0, 1, 2].map(|i| if let Object::Pod(p) = &objects[i] { parts(p) } else { unreachable!() });
    assert!(shared(after));
    let untouched = pod("s");
    assert!(untouched.metadata.template.handle().is_none() && untouched.status.rare.handle().is_none());
}

#[test]
fn a_table_grows_and_keeps_what_it_holds() {
    let mut table = Recent::NEW;
    let first = Arc::new(0);
    table.share(&mut Arc::clone(&first));
    for i in 1..MOST_SLOTS * 2 {
        table.share(&mut Arc::new(i));
        if i < FIRST_SLOTS / 4 {
            let mut again = Arc::new(i);
            table.share(&mut again);
            assert!(Arc::strong_count(&again) == 2);
        }
    }
    assert_eq!(table.slots.len(), MOST_SLOTS);
}
