//! Each rule, kept and broken.

use super::*;
use weft_protocol::{Adaptive, Preset};
use weft_wire::{Channel, GroupId, TreeId};

struct Trial(Rc<RefCell<FrameJudge>>);

impl Trial {
    fn new(preset: Preset, window: u16) -> Self {
        let settings = Settings { preset, ..Settings::new(7, window) };
        Trial(FrameJudge::new(&settings, Duration::ZERO, Duration::from_secs(1)))
    }

    /// Windows of 1 to 4 packets, with a pool of 3.
    fn adaptive() -> Self {
        let adaptive = Some(Adaptive { floor_packets: 1, pool_packets: 3 });
        let settings = Settings { adaptive, ..Settings::new(7, 4) };
        Trial(FrameJudge::new(&settings, Duration::ZERO, Duration::from_secs(1)))
    }

    fn sees(&self, what: FrameEvent, rank: u16, peer: u16, header: Header) {
        self.sees_at(0, what, rank, peer, header);
    }

    fn sees_at(&self, time: u64, what: FrameEvent, rank: u16, peer: u16, header: Header) {
        let frame = Some((Rank(peer), header));
        self.0.borrow_mut().see(&Happened { time, rank: Rank(rank), what, frame, head: [0; 16] });
    }

    /// `from` sends it, and it arrives, in host memory if it is data.
    fn passes(&self, from: u16, to: u16, header: Header) {
        self.sees(FrameEvent::Transmitted, from, to, header);
        self.sees(FrameEvent::Received, to, from, header);
        if matches!(header.tag, Tag::Ucast | Tag::Mcast) {
            self.sees(FrameEvent::Copied, to, from, header);
        }
    }

    fn verdict(&self) -> Option<Broken> {
        FrameJudge::verdict(&self.0, true)
    }
}

fn data(from: u16) -> Header {
    Header::new(Tag::Ucast, Rank(from), TreeId::unicast(Rank(from)), 0)
}

fn credits(from: u16, credits: u16) -> Header {
    Header { tag: Tag::Credit, credits, ..data(from) }
}

fn numbered(from: u16, sequence: u32, acknowledgement: u32) -> Header {
    Header { sequence, acknowledgement, ..data(from) }
}

fn acknowledge(from: u16, next: u32) -> Header {
    Header { tag: Tag::Acknowledge, ..numbered(from, 0, next) }
}

fn on(channel: u16, header: Header) -> Header {
    Header { channel: Channel(Some(Rank(channel))), ..header }
}

#[test]
fn a_window_is_spent_and_given_back() {
    let trial = Trial::new(Preset::NrxImc, 2);
    for _ in 0..5 {
        trial.passes(0, 1, data(0));
        trial.passes(0, 1, data(0));
        trial.passes(1, 0, credits(1, 2));
    }
    assert_eq!(trial.verdict(), None);
    for _ in 0..3 {
        trial.passes(0, 1, data(0));
    }
    let (from, to) = (Rank(0), Rank(1));
    assert_eq!(trial.verdict(), Some(Broken::Window { from, to, packets: 3, window: 2 }));
}

#[test]
fn credits_are_neither_made_nor_lost() {
    let trial = Trial::new(Preset::NrxImc, 4);
    trial.passes(0, 1, data(0));
    trial.passes(1, 0, credits(1, 2));
    let (from, to) = (Rank(1), Rank(0));
    assert_eq!(trial.verdict(), Some(Broken::Credits { from, to, given: 2, packets: 1 }));

    let trial = Trial::new(Preset::NrxImc, 4);
    trial.passes(0, 1, data(0));
    assert_eq!(trial.verdict(), None, "fewer than half a window may be held back");
    trial.passes(0, 1, data(0));
    assert_eq!(trial.verdict(), Some(Broken::CreditsLost { from, to, kept: 2 }));
}

#[test]
fn a_pool_is_given_once() {
    let trial = Trial::adaptive();
    trial.passes(1, 0, credits(1, 3));
    let returned = Header { tag: Tag::Return, ..credits(0, 2) };
    trial.passes(0, 1, returned);
    trial.passes(1, 2, credits(1, 2));
    assert_eq!(trial.verdict(), None, "what was handed back is another's");
    trial.passes(1, 3, credits(1, 1));
    let at = Rank(1);
    assert_eq!(trial.verdict(), Some(Broken::Promised { at, promised: 10, buffers: 9 }));
}

#[test]
fn what_was_handed_back_is_not_spent() {
    let trial = Trial::adaptive();
    trial.passes(1, 0, credits(1, 2));
    trial.passes(0, 1, Header { tag: Tag::Return, ..credits(0, 2) });
    trial.passes(0, 1, data(0));
    trial.passes(1, 0, credits(1, 1));
    assert_eq!(trial.verdict(), None);
    trial.passes(0, 1, data(0));
    trial.passes(0, 1, data(0));
    let (from, to) = (Rank(0), Rank(1));
    assert_eq!(trial.verdict(), Some(Broken::Window { from, to, packets: 5, window: 4 }));
}

#[test]
fn a_careful_ni_drops_nothing() {
    let trial = Trial::new(Preset::NrxImc, 4);
    trial.sees(FrameEvent::Transmitted, 0, 1, data(0));
    trial.sees(FrameEvent::Received, 1, 0, data(0));
    assert_eq!(trial.verdict(), Some(Broken::Dropped { at: Rank(1), received: 1, copied: 0 }));
}

#[test]
fn numbers_follow_each_other_and_may_come_again() {
    let trial = Trial::new(Preset::IrxImc, 2);
    trial.passes(0, 1, numbered(0, 0, 0));
    trial.passes(0, 1, numbered(0, 0, 0));
    trial.passes(0, 1, numbered(0, 1, 0));
    assert_eq!(trial.verdict(), None);
    trial.passes(0, 1, numbered(0, 3, 0));
    let (from, to) = (Rank(0), Rank(1));
    assert_eq!(trial.verdict(), Some(Broken::Number { from, to, number: 3, next: 2 }));

    let trial = Trial::new(Preset::IrxImc, 2);
    (0..3).for_each(|number| trial.passes(0, 1, numbered(0, number, 0)));
    assert_eq!(trial.verdict(), Some(Broken::Unacknowledged { from, to, packets: 3, window: 2 }));
}

#[test]
fn only_what_came_is_acknowledged() {
    let trial = Trial::new(Preset::IrxImc, 4);
    trial.passes(0, 1, numbered(0, 0, 0));
    trial.sees(FrameEvent::Transmitted, 0, 1, numbered(0, 1, 0));
    trial.passes(0, 1, numbered(0, 2, 0));
    trial.passes(1, 0, acknowledge(1, 1));
    assert_eq!(trial.verdict(), None);
    trial.passes(1, 0, acknowledge(1, 2));
    let (from, to) = (Rank(1), Rank(0));
    assert_eq!(trial.verdict(), Some(Broken::Acknowledged { from, to, next: 2, received: 1 }));
}

#[test]
fn under_ack_forward_the_forwards_come_first() {
    let tree = TreeId::multicast(GroupId::ALL, Rank(0));
    let mcast = |from: u16| Header { tag: Tag::Mcast, tree, ..numbered(from, 0, 0) };
    for (preset, allowed) in [(Preset::IrxImc, false), (Preset::IrxHmc, true)] {
        let trial = Trial::new(preset, 4);
        trial.passes(0, 1, mcast(0));
        trial.passes(1, 3, mcast(1));
        trial.passes(1, 0, acknowledge(1, 1));
        let broken = Broken::Unforwarded { at: Rank(1), from: Rank(0), number: 0 };
        assert_eq!(trial.verdict(), (!allowed).then_some(broken), "{preset}");
    }
    let trial = Trial::new(Preset::IrxImc, 4);
    trial.passes(0, 1, mcast(0));
    trial.passes(1, 3, mcast(1));
    trial.passes(1, 4, mcast(1));
    trial.passes(1, 0, acknowledge(1, 1));
    assert_eq!(trial.verdict(), None);
}

#[test]
fn a_recovery_channel_is_cleared_from_the_leaves_up() {
    let trial = || {
        let trial = Trial::new(Preset::NrxImc, 1);
        trial.passes(0, 1, on(0, data(0)));
        trial.passes(1, 3, on(0, data(1)));
        trial
    };
    let clear = |from: u16| Header { tag: Tag::ChannelClear, ..on(0, data(from)) };
    let what = |trial: Trial| match trial.verdict() {
        Some(Broken::Channel { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    let good = trial();
    good.passes(3, 1, clear(3));
    good.passes(1, 0, clear(1));
    assert_eq!(good.verdict(), None);
    let early = trial();
    early.passes(1, 0, clear(1));
    assert_eq!(what(early), "is said to be clear and is not clear below");
    assert_eq!(what(trial()), "was never cleared");
    let again = trial();
    again.passes(0, 2, on(0, data(0)));
    assert_eq!(what(again), "is used for another recovery before it is clear");
}

#[test]
fn something_arrives_in_time() {
    let trial = Trial::new(Preset::IrxImc, 8);
    trial.sees_at(999_999_999, FrameEvent::Copied, 1, 0, numbered(0, 0, 0));
    assert_eq!(trial.verdict(), None);
    trial.sees_at(2_100_000_000, FrameEvent::Copied, 1, 0, numbered(0, 1, 0));
    assert!(matches!(trial.verdict(), Some(Broken::NoProgress { .. })));
}
