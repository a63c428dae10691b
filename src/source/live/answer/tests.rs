//! Tests of `answer`.

use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;

fn answer(body: Vec<u8>, gzip: bool, bounds: Bounds) -> Answer {
    let times = AnswerTimes { any: Arc::new(Mutex::new(Instant::now())), accepted: None };
    let about = (times, Arc::new(bounds));
    Answer::new(Body::from(body), gzip, None, Waiting::Version, about)
}

fn packed(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

async fn whole(answer: Answer, most: u64) -> Result<Vec<u8>, String> {
    let text = answer.whole(Duration::from_secs(30), most, &Arc::default(), |_| Ok(())).await;
    text.map(Text::into_bytes).map_err(|failure| format!("{:?}: {failure}", failure.what))
}

#[tokio::test]
async fn an_answer_that_unpacks_too_far_is_broken_off() {
    let text = vec![b' '; 3 << 20];
    let body = packed(&text);
    assert!(body.len() < 10_000, "{}", body.len());
    assert_eq!(whole(answer(body.clone(), true, Bounds::default()), u64::MAX).await.map(|text| text.len()), Ok(3 << 20));
    let bounds = Bounds { growth_free: 1 << 20, growth: 100, ..Bounds::default() };
    let error = whole(answer(body.clone(), true, bounds), u64::MAX).await.unwrap_err();
    assert!(error.starts_with("Limit: the server's version unpacks from "), "{error}");
    let error = whole(answer(body.clone(), true, Bounds::default()), 1 << 20).await.unwrap_err();
    assert_eq!(error, "TooLong: the server's version is longer than 1048576 bytes");
    let twice = [packed(b"one, "), packed(b"two")].concat();
    assert_eq!(whole(answer(twice, true, Bounds::default()), 99).await.unwrap(), b"one, two");
    for broken in [body[..body.len() / 2].to_vec(), b"no gzip at all".to_vec()] {
        let error = whole(answer(broken, true, Bounds::default()), u64::MAX).await.unwrap_err();
        assert!(error.starts_with("Connection: the server's version cannot be unpacked: "), "{error}");
    }
}

#[tokio::test]
async fn long_answers_are_read_one_after_another() {
    let costs = Arc::new(Costs::default());
    let read = |length: usize| {
        let (costs, bounds) = (Arc::clone(&costs), Bounds { small_answer: 500, ..Bounds::default() });
        async move { answer(vec![b'x'; length], false, bounds).whole(Duration::from_secs(30), 5000, &costs, |_| Ok(())).await }
    };
    let first = read(1000).await.unwrap();
    assert_eq!((first.bytes.len(), costs.long.available_permits()), (1000, 0));
    assert!(read(500).await.is_ok(), "a small one does not wait");
    assert!(timeout(Duration::from_millis(20), read(1000)).await.is_err(), "it waits");
    drop(first);
    assert!(read(1000).await.is_ok());
    assert_eq!(costs.long.available_permits(), 1);
}

#[tokio::test]
async fn answers_that_come_to_nothing_share_a_bound() {
    let bounds = Bounds { small_answer: 100, unusable_answers: 1000, ..Bounds::default() };
    let costs = Arc::new(Costs::default());
    let read = |length: usize| {
        let (costs, bounds) = (Arc::clone(&costs), bounds.clone());
        async move { answer(vec![b'x'; length], false, bounds).whole(Duration::from_secs(30), 5000, &costs, |_| Ok(())).await }
    };
    let wasted = || costs.wasted.load(Ordering::Relaxed);
    read(600).await.unwrap().used();
    assert_eq!((wasted(), costs.allowed(&bounds)), (0, 600), "what could be used costs nothing");
    drop(read(600).await.unwrap());
    assert_eq!((wasted(), costs.allowed(&bounds)), (600, 300));
    let failure = read(301).await.err().unwrap();
    assert_eq!((failure.what, failure.message.as_str()), (FailureKind::TooLong, "the server's version is longer than 300 bytes"));
    assert_eq!((wasted(), costs.are_exhausted(&bounds)), (901, true), "an answer that fails counts too");
    assert_eq!(read(100).await.unwrap().into_bytes().len(), 100, "small ones are read");
    assert_eq!((wasted(), costs.are_exhausted(&bounds)), (801, false), "and make up for others");
    let refused = |start: &[u8]| if start[0] == b'x' { Err(Failure::new(FailureKind::Content, "an x")) } else { Ok(()) };
    let text = answer(vec![b'x'; 90], false, bounds.clone()).whole(Duration::from_secs(30), 5000, &costs, refused).await;
    assert_eq!(text.err().unwrap().message, "an x");
}

#[tokio::test]
async fn a_refusal_without_end_is_cut() {
    let text = answer(vec![b'x'; 1000], false, Bounds::default()).start(Duration::from_secs(30), 10).await;
    assert_eq!(text, b"xxxxxxxxxx");
}
