//! Events between threads, over shared memory and UDP, under both protocols.

use std::time::Duration;
use weft_endpoint::{Packets, Rank};
use weft_events::{Destination, Error, Events, Flags, Settings, Source, Statistics, Status};
use weft_protocol::Preset;
use weft_threads::Job;

/// Bytes of fragment `index` of `event` from rank `from`: no two others have as many.
fn text(from: Rank, event: u32, index: u32) -> Vec<u8> {
    let length = (u32::from(from.0) * 31 + event * 7 + index * 3) % 90;
    let mut bytes = format!("{from}/{event}/{index}/").into_bytes();
    bytes.resize(bytes.len() + length as usize, b'.');
    bytes
}

/// Receives all of `event` and checks every byte of it. Returns how many fragments that were.
fn receive_all(events: &Events, event: u32, fragments: u32) -> u32 {
    let mut next = vec![vec![false; fragments as usize]; events.size()];
    let mut count = 0;
    loop {
        let fragment = events.receive(Source::Anyone, event).unwrap();
        let from = fragment.source();
        let index = (0..fragments).find(|&index| *fragment == text(from, event, index)[..]);
        let index = index.expect("a fragment that somebody sent") as usize;
        assert!(!std::mem::replace(&mut next[from.index()][index], true), "twice");
        count += 1;
        let done = next[from.index()].iter().all(|&came| came);
        match fragment.status() {
            Status::More => assert!(!done, "more was promised"),
            Status::NodeDone => assert!(done),
            Status::EventDone => return count,
        }
    }
}

/// Crowd events of several fragments, all sent before any is received, and shifts to the next rank
/// between them.
fn flood(
    packets: &Packets,
    settings: Settings,
    rounds: u32,
    ahead: u32,
    fragments: u32,
) -> Statistics {
    let events = Events::open(packets, settings).unwrap();
    let (me, size) = (events.rank(), events.size() as u16);
    let next = Rank((me.0 + 1) % size);
    let send = |event: u32| {
        for index in 0..fragments {
            let flags =
                Flags { last: index + 1 == fragments, crowd: event.is_multiple_of(2), large: true };
            let to = match flags.crowd {
                true => Destination::Everyone,
                false => Destination::One(next),
            };
            events.send(to, event, &text(me, event, index), flags).unwrap();
        }
    };
    (0..ahead).for_each(send);
    for event in 0..rounds {
        let messages = if event.is_multiple_of(2) { u32::from(size) - 1 } else { 1 };
        assert_eq!(receive_all(&events, event, fragments), messages * fragments);
        if event + ahead < rounds {
            send(event + ahead);
        }
    }
    events.close(rounds).unwrap()
}

fn all(jobs: &[Statistics], what: impl Fn(&Statistics) -> u64) -> u64 {
    jobs.iter().map(what).sum()
}

#[test]
fn careful_events_over_shared_memory() {
    for ranks in [2, 3, 8] {
        let job = Job::new(ranks);
        let ran = job.packets(|packets| flood(&packets, Settings::default(), 40, 8, 9));
        assert!(all(&ran, |s| s.copied_on_receipt) > 0, "the flood presses nobody");
        assert_eq!(all(&ran, |s| s.dropped + s.sent_again), 0);
    }
}

#[test]
fn careful_events_need_few_buffers() {
    let ran = Job::new(4).packets(|packets| {
        let settings = Settings { receive_buffers: 12, ..Settings::default() };
        flood(&packets, settings, 30, 5, 7)
    });
    assert!(all(&ran, |s| s.updates) > 0);
}

#[test]
fn traditional_events_over_shared_memory() {
    let ran = Job::new(3).packets(|packets| flood(&packets, Settings::traditional(), 40, 2, 9));
    assert_eq!(all(&ran, |s| s.dropped), 0, "there is room for all");
}

#[test]
fn traditional_fragments_that_find_no_buffer_are_asked_for() {
    const EVENTS: u32 = 30;
    let settings = Settings {
        receive_buffers: 16,
        receive_copies: 4,
        request_after: Duration::from_millis(1),
        ..Settings::traditional()
    };
    let ran = Job::new(2).packets(|packets| {
        let events = Events::open(&packets, settings).unwrap();
        let (me, other) = (events.rank(), Rank(1 - events.rank().0));
        let send = |event| {
            events.send(Destination::One(other), event, &text(me, event, 0), Flags::ONLY).unwrap();
        };
        if me == Rank(0) {
            (0..EVENTS).for_each(send);
        } else {
            packets.poll_until(|| events.statistics().dropped == u64::from(EVENTS) - 20).unwrap();
            for event in 0..EVENTS {
                let fragment = events.receive(Source::One(other), event).unwrap();
                assert_eq!(*fragment, text(other, event, 0)[..]);
                drop(fragment);
                send(event);
            }
        }
        for event in 0..if me == Rank(0) { EVENTS } else { 0 } {
            assert_eq!(*events.receive(Source::Anyone, event).unwrap(), text(other, event, 0)[..]);
        }
        events.close(EVENTS).unwrap()
    });
    assert!(ran[1].dropped >= u64::from(EVENTS) - 20, "{ran:?}");
    assert!(ran[1].requests > 0);
    assert!(ran[0].sent_again >= u64::from(EVENTS) - 20);
}

#[test]
fn events_over_udp() {
    for settings in [Settings::default(), Settings::traditional()] {
        let job = Job::over_udp(3, Preset::IrxImc);
        let ran = job.packets(|packets| flood(&packets, settings, 20, 2, 5));
        assert_eq!(all(&ran, |s| s.fragments_received), 3 * (10 * 2 + 10) * 5 + 6);
    }
}

#[test]
fn mistakes_are_told() {
    Job::new(2).packets(|packets| {
        let few = Settings { receive_buffers: 5, ..Settings::default() };
        assert!(matches!(Events::open(&packets, few), Err(Error::Buffers(6))));
        let events = Events::open(&packets, Settings::default()).unwrap();
        let (me, other) = (events.rank(), Rank(1 - events.rank().0));
        let max = events.fragment_bytes();
        let one = Destination::One(other);
        let long = events.send(one, 0, &vec![0; max + 1], Flags::ONLY);
        assert!(matches!(long, Err(Error::TooLong { size, max: most }) if size == max + 1 && most == max));
        let oneself = events.send(Destination::One(me), 0, &[], Flags::ONLY);
        assert!(matches!(oneself, Err(Error::NoSuchNode(rank)) if rank == me));
        let nobody = events.receive(Source::One(Rank(2)), 0).map(|_| ());
        assert!(matches!(nobody, Err(Error::NoSuchNode(Rank(2)))));
        events.send(one, 0, &[7], Flags::ONLY).unwrap();
        assert_eq!(events.receive(Source::One(other), 0).unwrap().status(), Status::EventDone);
        let over = events.receive(Source::Anyone, 0).map(|_| ());
        assert!(matches!(over, Err(Error::Over(0))));
        events.close(1).unwrap();
    });
}

#[test]
fn a_message_too_many_is_a_breach() {
    Job::new(2).packets(|packets| {
        let events = Events::open(&packets, Settings::default()).unwrap();
        let other = Destination::One(Rank(1 - events.rank().0));
        events.send(other, 0, &[], Flags::ONLY).unwrap();
        events.send(other, 0, &[], Flags::ONLY).unwrap();
        assert!(events.receive(Source::Anyone, 0).is_ok());
        let error = events.receive(Source::Anyone, 1).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("sent more in event 0"), "{error}");
        packets.flush().unwrap();
    });
}

#[test]
fn a_job_of_one_has_nobody_to_hear_from() {
    Job::new(1).packets(|packets| {
        let events = Events::open(&packets, Settings::default()).unwrap();
        events.send(Destination::Everyone, 0, &[1], Flags::CROWD).unwrap();
        let alone = events.receive(Source::Anyone, 0).map(|_| ());
        assert!(matches!(alone, Err(Error::Alone)));
        events.close(1).unwrap();
    });
}
