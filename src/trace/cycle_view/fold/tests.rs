//! Tests of [`super`].

use proptest::prelude::*;

use super::*;
use crate::cluster::Key;
use crate::framework::{PluginName, SharedList, Snapshot};
use crate::trace::GroupEvent;
use crate::trace::RecordedEvents;
use crate::trace::event::CycleStart;
use crate::trace::pod_group::GroupStart;
use crate::trace::scores::Part;

fn events() -> impl Strategy<Value = Vec<Event>> {
    let node = (0..6_u8).prop_map(|number| Str::from(format!("n{number}").as_str()));
    let pod = (0..3_u8).prop_map(|number| Key::new("ns", format!("p{number}").as_str()));
    let rejected = Status::unschedulable("no").with_plugin(PluginName::NodeName);
    let scored = |node: Str| {
        let plugins = Part::all([[].into_iter()].into_iter(), 0).next().expect("one part");
        let mut row = Row::all(vec![NodeScore { node, plugins, total: 1 }]);
        Event::NodeScored(row.next().expect("one row"))
    };
    prop::collection::vec(
        prop_oneof![
            6 => (node.clone(), any::<bool>()).prop_map(move |(node, fits)| {
                let status = if fits { Status::success() } else { rejected.clone() };
                Event::NodeFiltered { node, status, nominated: SharedList::default() }
            }),
            4 => node.prop_map(scored),
            1 => Just(Event::AllNodesTried),
            2 => pod.clone().prop_map(|pod| Event::CycleStarted(CycleStart { pod, ..CycleStart::default() }.into())),
            1 => pod.clone().prop_map(|pod| Event::group(GroupEvent::MemberResumed { pod })),
            1 => pod.prop_map(|popped| Event::group(GroupEvent::Started(GroupStart { popped, ..GroupStart::default() }))),
        ],
        0..40,
    )
}

proptest! {
    #[test]
    fn events_that_are_folded_together_make_the_view_that_they_make_one_by_one(events in events(), owned in any::<bool>()) {
        let (mut one_by_one, mut together, mut fold) = (CycleView::default(), CycleView::default(), Fold::default());
        for event in &events {
            one_by_one.apply(event);
            fold.apply(&mut together, if owned { Cow::Owned(event.clone()) } else { Cow::Borrowed(event) });
        }
        fold.finish(&mut together);
        prop_assert_eq!(&together, &one_by_one);
        for number in 0..3 {
            let pod = Key::new("ns", format!("p{number}").as_str());
            let of_pod = RecordedEvents::new(events.clone(), &Snapshot::default()).cycle_view_of(&pod);
            let nodes = |view: &CycleView| (view.filter.clone(), view.scoring.clone());
            prop_assert_eq!(of_pod.start.clone(), one_by_one.clone().showing(&pod).start.clone());
            if one_by_one.member(&pod).is_some() {
                prop_assert_eq!(nodes(&of_pod), nodes(&one_by_one.clone().showing(&pod)));
            }
        }
    }
}
