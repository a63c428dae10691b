use super::*;

#[test]
fn verbs_are_read_and_written_alike() {
    for text in [
        "drain a b",
        "lose zone=a",
        "lose worker-a1",
        "add 3 like worker-a1",
        "scale deployment/shop/web 10",
        "scale statefulset/db 0",
        "taint n dedicated=db:NoSchedule",
        "taint n dedicated:NoExecute",
        "taint n dedicated-",
        "taint n dedicated:NoSchedule-",
        "label n disk=ssd",
        "label n disk=",
        "label n disk-",
        "priority shop/p -10",
        "priority shop/p high",
        "priority shop/p 9-lives",
        "ungate p",
        "evict shop/p",
        "relax shop/web",
        "capacity shop/p",
        "weights NodeResourcesFit=3 ImageLocality=2",
        "plugin off ImageLocality",
        "gate A=true",
        "cordon n",
        "uncordon n",
        "delete Pod shop/p",
        r#"patch Pod shop/p {"spec":{"priority":7}}"#,
        "allow shop/p",
        "reject shop/p",
    ] {
        let verb: Verb = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(verb.to_string(), text);
        assert_eq!(verb.to_string().parse::<Verb>().unwrap(), verb);
    }
    assert_eq!("release v1.31.0".parse::<Verb>().unwrap(), Verb::Release("1.31.0".parse().unwrap()));
    assert_eq!("scale sts db 3".parse::<Verb>().unwrap().to_string(), "scale statefulset/db 3");
    assert_eq!("drain a b a".parse::<Verb>().unwrap().to_string(), "drain a b");
}

#[test]
fn what_is_no_verb_is_said() {
    let check = |text: &str, expected: &str| {
        let error = text.parse::<Verb>().expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
    };
    check("drian a", "there is no verb \"drian\"; did you mean drain?");
    check("rejec p", "did you mean reject?");
    check("", "there is no verb \"\"");
    check("drain", "drain needs NODE...");
    check("lose", "lose needs LABEL=VALUE or NODE");
    check("lose =a", "lose needs");
    check("add many like n", "\"many\" is not a number from 1 to 1000");
    check("add 1001 like n", "\"1001\" is not a number from 1 to 1000");
    check("add 3 n", "add needs N like NODE");
    check("scale deploymnt/web 3", "there is no deploymnt/web; did you mean deployment/web?");
    check("scale deployment/web 99999", "is not a number from 0 to 10000");
    check("taint n k=v:NoSuch", "is not KEY[=VALUE]:EFFECT");
    check("taint n :NoExecute", "is not KEY[=VALUE]:EFFECT");
    check("taint n -", "is not KEY[=VALUE]:EFFECT");
    check("label n x", "is not KEY=VALUE or KEY-");
    check("label n =x", "is not KEY=VALUE or KEY-");
    check("priority p 99999999999", "is not a number from -2147483648 to 2147483647");
    check("weights NodeResourceFit=3", "there is no plugin \"NodeResourceFit\"; did you mean NodeResourcesFit?");
    check("weights NodeResourcesFit=0", "is not a number from 1");
    check("plugin on ImageLocality", "plugin needs off NAME");
    check("plugin off ImageLocalty", "did you mean ImageLocality?");
    check("release soon", "");
    check("cordon a b", "cordon needs NODE");
    check("delete Secret x", "not a kind that scheduling reads");
}

#[test]
fn pods_come_and_go_with_some_verbs() {
    let settles = |text: &str| text.parse::<Verb>().unwrap().settles();
    assert!(["drain a", "lose a", "add 1 like a", "evict p", "taint n k:NoExecute"].into_iter().all(settles));
    assert!(!["taint n k:NoSchedule", "taint n k:NoExecute-", "label n k=v", "relax b", "capacity p", "flood p"].into_iter().any(settles));
}
