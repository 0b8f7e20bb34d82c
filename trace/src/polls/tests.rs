//! Waits of programs that poll.

use super::*;
use crate::event::PacketEvent;
use std::sync::Mutex;
use weft_wire::{Header, Rank, Tag, TreeId};

#[derive(Default)]
struct Kept(Mutex<Vec<What>>);

impl Recorder for Kept {
    fn record(&self, what: &What) {
        self.0.lock().unwrap().push(*what);
    }
}

#[test]
fn a_wait_lasts_from_looks_in_vain_to_what_comes_next() {
    let kept = Arc::<Kept>::default();
    let header = Header::new(Tag::Ucast, Rank(0), TreeId::unicast(Rank(0)), 0);
    let packet = PacketEvent::new(Rank(0), &header, Default::default());
    let polls = PollRecorder::new(Arc::clone(&kept) as Arc<_>);
    polls.record(&What::SpanBegins(1));
    polls.looked_in_vain();
    polls.looked_in_vain();
    polls.record(&What::SleepBegins);
    polls.record(&What::SleepEnds);
    polls.record(&What::SpanEnds(1));
    polls.record(&What::Interrupted);
    polls.looked_in_vain();
    polls.record(&What::Received(packet));
    let expected = [
        What::SpanBegins(1),
        What::WaitBegins,
        What::SleepBegins,
        What::SleepEnds,
        What::WaitEnds,
        What::SpanEnds(1),
        What::Interrupted,
        What::WaitBegins,
        What::Received(packet),
        What::WaitEnds,
    ];
    assert_eq!(*kept.0.lock().unwrap(), expected);
}
