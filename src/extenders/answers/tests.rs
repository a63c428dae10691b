use super::*;

#[test]
fn names_are_read_in_any_case_and_null_is_empty() {
    let body = br#"{"NODENAMES":["a","b"],"failedNodes":{"c":"x","d":null},"more":1,"Error":null,"nodes":null}"#;
    let result = filter_result(body, 3).unwrap();
    assert_eq!(result.node_names.unwrap(), ["a", "b"]);
    assert_eq!((result.failed["c"].as_str(), result.failed["d"].as_str(), result.nodes), ("x", "", None));
    assert_eq!(filter_result(b"null", 3).unwrap(), FilterResult::default());
    assert_eq!(host_priorities(b"null").unwrap(), Vec::new());
    assert_eq!(preemption_result(br#"{"nodenametometavictims":{"a":null}}"#).unwrap()["a"], None);
}

#[test]
fn wrong_types_are_named_as_go_names_them() {
    let bad = br#"{"nodenames": 7, "NodeNameToMetaVictims": 7, "error": 7}"#;
    let text = |result: Result<FilterResult, AnswerError>| result.unwrap_err().to_string();
    assert_eq!(
        text(filter_result(bad, 3)),
        "json: cannot unmarshal number into Go struct field ExtenderFilterResult.NodeNames of type []string"
    );
    assert_eq!(
        preemption_result(bad).unwrap_err().to_string(),
        "json: cannot unmarshal number into Go struct field ExtenderPreemptionResult.NodeNameToMetaVictims of type \
         map[string]*v1.MetaVictims"
    );
    assert_eq!(host_priorities(bad).unwrap_err().to_string(), "json: cannot unmarshal object into Go value of type v1.HostPriorityList");
    assert_eq!(
        host_priorities(br#"[{"host":"a","score":1.5}]"#).unwrap_err().to_string(),
        "json: cannot unmarshal number 1.5 into Go struct field HostPriority.Score of type int64"
    );
    assert_eq!(text(filter_result(b"[]", 3)), "json: cannot unmarshal array into Go value of type v1.ExtenderFilterResult");
    assert_eq!(
        preemption_result(br#"{"nodeNameToMetaVictims":{"n":{"numPDBViolations":"1"}}}"#).unwrap_err().to_string(),
        "json: cannot unmarshal string into Go struct field MetaVictims.NodeNameToMetaVictims.NumPDBViolations of type int64"
    );
}

#[test]
fn nodes_are_read_with_what_scheduling_reads() {
    let body = br#"{"nodes":{"items":[{"metadata":{"name":"a"},"status":{"allocatable":{"cpu":"2"}}},null]}}"#;
    let nodes = filter_result(body, 3).unwrap().nodes.unwrap();
    assert_eq!((nodes[0].0.name().as_str(), nodes[1].0.name().as_str(), nodes.len()), ("a", "", 2));
    assert_eq!(
        filter_result(br#"{"nodes":{"items":[{"metadata":{"name":7}}]}}"#, 3).unwrap_err().to_string(),
        "json: cannot unmarshal number into Go struct field ObjectMeta.Nodes.items.metadata.name of type string"
    );
    // A quantity reads itself, and its error ends the decoding.
    assert_eq!(
        filter_result(br#"{"error":7,"nodes":{"items":[{"status":{"allocatable":{"cpu":"4kk"}}}]}}"#, 3).unwrap_err().to_string(),
        "unable to parse quantity's suffix"
    );
    assert_eq!(filter_result(br#"{"nodes":{}}"#, 3).unwrap().nodes, Some(Vec::new()));
}

#[test]
fn an_answer_of_more_nodes_than_were_asked_about_is_refused() {
    let answer = |number: usize| format!(r#"{{"nodes":{{"items":[{}]}}}}"#, vec!["{}"; number].join(","));
    assert_eq!(filter_result(answer(ANSWER_NODES + 3).as_bytes(), 3).unwrap().nodes.map(|nodes| nodes.len()), Some(ANSWER_NODES + 3));
    let error = filter_result(answer(ANSWER_NODES + 4).as_bytes(), 3).unwrap_err().to_string();
    assert_eq!(error, format!("the answer has {} nodes, and it was asked about 3", ANSWER_NODES + 4));
}
