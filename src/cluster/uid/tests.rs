use super::*;

#[test]
fn every_text_comes_back_as_it_was_and_orders_as_text() {
    let uuid = "cd613e30-d8f1-6adf-91b7-584a2265b1f5";
    let (upper, long, short) = (uuid.to_uppercase(), format!("{uuid}0"), &uuid[1..]);
    let moved = "cd613e3-0d8f1-6adf-91b7-584a2265b1f5";
    let least = "00000000-0000-0000-0000-000000000000";
    let mut texts = [uuid, &upper, &long, short, moved, least, "", "u-1", "cd613e30-d8f1-6adf-91b7-584a2265b1fg", "é"];
    for text in texts {
        let uid = Uid::from(text);
        assert_eq!((uid.to_string().as_str(), Str::from(uid.clone()).as_str()), (text, text));
        assert_eq!(serde_json::from_value::<Uid>(serde_json::to_value(&uid).unwrap()).unwrap(), uid);
        assert_eq!(texts.into_iter().filter(|other| uid == **other).count(), 1);
        assert_eq!((uid.is_empty(), matches!(uid.0, Form::Uuid(_))), (text.is_empty(), [uuid, least].contains(&text)));
    }
    let mut uids = texts.map(Uid::from);
    texts.sort_unstable();
    uids.sort_unstable();
    assert_eq!(uids.map(|uid| uid.to_string()), texts);
    assert_eq!(serde_json::from_str::<Uid>("null").unwrap(), Uid::EMPTY);
}
