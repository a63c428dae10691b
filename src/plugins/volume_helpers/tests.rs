use super::testing::object;
use super::*;
use crate::release::Release;

fn claim(text: &str) -> PersistentVolumeClaim {
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_beta_annotation_decides_before_the_field() {
    for (text, class) in [
        ("{}", ""),
        (r#"{"spec":{"storageClassName":"b"}}"#, "b"),
        (r#"{"metadata":{"annotations":{"volume.beta.kubernetes.io/storage-class":"a"}},"spec":{"storageClassName":"b"}}"#, "a"),
        (r#"{"metadata":{"annotations":{"volume.beta.kubernetes.io/storage-class":""}},"spec":{"storageClassName":"b"}}"#, ""),
    ] {
        assert_eq!(claim_class(&claim(text)), class, "{text}");
        assert_eq!(volume_class(&serde_json::from_str(text).unwrap()), class, "{text}");
    }
}

#[test]
fn bound_needs_the_name_and_the_annotation() {
    let annotated = r#""metadata":{"annotations":{"pv.kubernetes.io/bind-completed":"yes"}}"#;
    for (text, bound) in [
        (format!("{{{annotated}}}"), false),
        (r#"{"spec":{"volumeName":"v"}}"#.to_string(), false),
        (format!(r#"{{{annotated},"spec":{{"volumeName":"v"}}}}"#), true),
    ] {
        assert_eq!(is_fully_bound(&claim(&text)), bound, "{text}");
    }
}

#[test]
fn ephemeral_claims_are_named_after_pod_and_volume_and_controlled_by_the_pod() {
    let pod: Pod = serde_json::from_str(
        r#"{"metadata":{"name":"p","namespace":"a","uid":"u"},"spec":{"volumes":[
        {"name":"x","persistentVolumeClaim":{"claimName":"c"}},{"name":"e","ephemeral":{}},{"name":"d","emptyDir":{}}]}}"#,
    )
    .unwrap();
    let names: Vec<_> = pod.spec.volumes.iter().filter_map(|v| claim_of(&pod, v)).collect();
    assert_eq!(names, [ClaimName { name: "c".into(), ephemeral: false }, ClaimName { name: "p-e".into(), ephemeral: true }]);
    let owned = |namespace: &str, uid: &str, controller: bool| {
        claim(&format!(
            r#"{{"metadata":{{"name":"p-e","namespace":"{namespace}","ownerReferences":[{{"uid":"{uid}","controller":{controller}}}]}}}}"#
        ))
    };
    assert_eq!(volume_is_for_pod(&pod, &owned("a", "u", true)), Ok(()));
    for other in [owned("b", "u", true), owned("a", "v", true), owned("a", "u", false)] {
        let text = format!("PVC {}/p-e was not created for pod a/p (pod is not owner)", other.metadata.namespace);
        assert_eq!(volume_is_for_pod(&pod, &other).map_err(|reason| reason.text(Release::NEWEST).into_owned()), Err(text));
    }
    assert!(uses_claim(&pod, &owned("a", "u", true)) && !uses_claim(&pod, &owned("b", "u", true)));
    assert!(!names_claim(&pod, &owned("a", "u", true)));
    assert!(names_claim(&pod, &claim(r#"{"metadata":{"name":"c","namespace":"a"}}"#)));
}

#[test]
fn objects_of_another_kind_are_an_error() {
    let node = object("Node", "{}");
    let read = |old: Option<&crate::cluster::Object>, new: Option<&crate::cluster::Object>| {
        let change = Change { old: old.cloned(), new: new.cloned() };
        objects!(&change, Node).map(|(old, new)| (old.is_some(), new.is_some()))
    };
    assert_eq!(read(Some(&node), None), Ok((true, false)));
    assert_eq!(read(None, Some(&node)), Ok((false, true)));
    assert!(read(None, None).is_err());
    assert!(read(Some(&node), Some(&object("Pod", "{}"))).is_err());
}
