use super::*;

fn node(images: &[(&str, i64)]) -> Node {
    let images: Vec<_> = images.iter().map(|(name, size)| format!(r#"{{"names":["{name}"],"sizeBytes":{size}}}"#)).collect();
    serde_json::from_str(&format!(r#"{{"metadata":{{"name":"n"}},"status":{{"images":[{}]}}}}"#, images.join(","))).unwrap()
}

fn state(size: i64, num_nodes: usize) -> ImageState {
    ImageState { size, num_nodes }
}

#[test]
fn a_node_on_which_nothing_happens_keeps_the_count_of_its_copy() {
    let mut images = Images::default();
    for slot in 0..3 {
        images.add(&node(&[("a", 7)]));
        images.change(slot);
    }
    assert!(!images.differs("a"));
    images.begin_cycle();
    // Something happens to the node at slot 2 before another one comes: the next cycle copies it with both.
    images.change(2);
    images.add(&node(&[("a", 9), ("b", 1)]));
    images.change(3);
    let counts = |images: &Images| (0..4).map(|slot| images.at("a", slot).unwrap().num_nodes).collect::<Vec<_>>();
    assert_eq!((images.get("a"), counts(&images)), (Some(state(7, 4)), vec![3, 3, 4, 4]));
    assert_eq!(images.at("b", 3), Some(state(1, 1)));
    images.begin_cycle();
    assert_eq!(counts(&images), [3, 3, 4, 4]);
    images.remove(&node(&[("a", 9)]));
    images.change(0);
    assert_eq!(counts(&images), [3, 3, 4, 4]);
    images.begin_cycle();
    images.change(1);
    assert_eq!(counts(&images), [3, 3, 4, 4]);
}

#[test]
fn earlier_counts_of_an_image_are_bounded() {
    let mut images = Images::default();
    images.add(&node(&[("a", 7)]));
    for _ in 0..=IMAGE_COUNTS {
        images.begin_cycle();
        images.add(&node(&[("a", 7)]));
    }
    assert_eq!(images.counts["a"].len(), IMAGE_COUNTS);
    // The count of the first copy is forgotten; the earliest that is known takes its place.
    assert_eq!(images.at("a", 0), Some(state(7, 3)));
}
