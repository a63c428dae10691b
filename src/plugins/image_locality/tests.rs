use super::super::helper::testing::{node_info, pod_info, with_context};
use super::*;
use crate::cluster::Cluster;

#[test]
fn names_get_a_tag() {
    for (name, expected) in [
        ("root", "root:latest"),
        ("root:tag", "root:tag"),
        ("gcr.io:5000/root", "gcr.io:5000/root:latest"),
        ("gcr.io:5000/root:tag", "gcr.io:5000/root:tag"),
        ("root@sha256:abc", "root@sha256:abc"),
        ("", ":latest"),
    ] {
        assert_eq!(normalized_image_name(name), expected);
    }
}

#[test]
fn releases_count_the_images_of_more_and_more() {
    let node = node_info("{metadata: {name: a}, status: {images: [{names: [big:v1], sizeBytes: 524288000}]}}");
    let pod =
        pod_info("{spec: {containers: [{image: x}], initContainers: [{image: big:v1}], volumes: [{name: v, image: {reference: big:v1}}]}}");
    // The threshold of 1.37 is that of three images: (1000 - 23) / (3000 - 23).
    for (version, expected) in [("v1.29.1", 0), ("v1.30.1", 24), ("v1.36.2", 49), ("v1.37.0", 32)] {
        with_context(&Cluster::default(), std::slice::from_ref(&node), |mut cx| {
            cx.emulation = crate::release::Profile::named(version).expect("an emulated release").into();
            let score = ScorePlugin::score(&ImageLocality, &cx, &CycleState::default(), &pod, &node);
            assert_eq!(score, Ok(expected), "{version}");
        });
    }
}

#[test]
fn present_images_score_by_size_and_spread() {
    let nodes = [
        "{metadata: {name: a}, status: {images: [{names: [big:v1], sizeBytes: 524288000}, {names: ['small:latest'], sizeBytes: 20971520}]}}",
        "{metadata: {name: b}, status: {images: [{names: [big:v1], sizeBytes: 524288000}]}}",
        "{metadata: {name: c}}",
        "{metadata: {name: d}, status: {images: [{names: [huge:v1], sizeBytes: 85899345920}]}}",
    ]
    .map(node_info);
    for (pod, expected) in [
        ("{spec: {containers: [{image: absent}]}}", [0, 0, 0, 0]),
        // 500 MiB on half the nodes: (250 - 23) / (1000 - 23)
        ("{spec: {containers: [{image: big:v1}]}}", [23, 23, 0, 0]),
        // 20 MiB on a quarter of the nodes stays below the threshold.
        ("{spec: {containers: [{image: small}]}}", [0, 0, 0, 0]),
        // Twice the image, divided by two containers: (500 - 23) / (2000 - 23)
        ("{spec: {containers: [{image: big:v1}], initContainers: [{image: big:v1}]}}", [24, 24, 0, 0]),
        // A volume adds to the sum, not to the number of containers: (500 - 23) / (1000 - 23)
        ("{spec: {containers: [{image: big:v1}], volumes: [{name: v, image: {reference: big:v1}}]}}", [48, 48, 0, 0]),
        ("{spec: {containers: [{image: huge:v1}]}}", [0, 0, 0, 100]),
        ("{}", [0, 0, 0, 0]),
    ] {
        let pod_info = pod_info(pod);
        let actual = with_context(&Cluster::default(), &nodes, |cx| {
            nodes.each_ref().map(|n| ScorePlugin::score(&ImageLocality, &cx, &CycleState::default(), &pod_info, n).unwrap())
        });
        assert_eq!(actual, expected, "{pod}");
    }
}
