//! Thesis table 3.1, call by call, between real ranks.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use weft_endpoint::{
    Atomic, Cause, Error, Group, HeldPacket, KeptPacket, Loss, Packets, Protocol, Rank, Taken,
    Upcalls, Variable,
};
use weft_protocol::Preset;
use weft_protocol::tree::Shape;
use weft_threads::{Between, FaultPlan, Gate, Job, Weather, with_loss};

/// A packet that a rank received: its sender, true if it was multicast, its bytes.
type Log = Arc<Mutex<Vec<(Rank, bool, Vec<u8>)>>>;

fn log(packets: &Packets) -> Log {
    let log = Log::default();
    let entries = Arc::clone(&log);
    packets.on_packet(move |packet| {
        let entry = (packet.source(), packet.group().is_some(), packet.to_vec());
        entries.lock().unwrap().push(entry);
    });
    log
}

fn send(packets: &Packets, to: Rank, bytes: &[u8]) {
    let mut packet = packets.packet().unwrap();
    packet.put(bytes).unwrap();
    packet.unicast(to).unwrap();
}

pub(crate) fn all_kinds_of_job(ranks: u16) -> Vec<Job> {
    let mut jobs = Vec::new();
    for preset in Preset::CAREFUL {
        for shape in [Shape::Flat, Shape::Binary, Shape::Binomial] {
            for between in [Between::Memory, Between::Plain] {
                jobs.push(Job { preset, shape, between, ..Job::new(ranks) });
            }
        }
    }
    if cfg!(miri) {
        // It knows no sockets.
        return jobs;
    }
    for preset in Preset::RETRANSMITTING {
        let fair = Job::over_udp(ranks, preset);
        let bad = Between::Udp(Weather::bad(1, 0.01));
        jobs.extend([fair, Job { between: bad, ..fair }]);
        let faults = FaultPlan { seed: 2, loss: 0.01, duplication: 0.01 };
        let xdp = Job::over_xdp(ranks, preset);
        jobs.extend(xdp.map(|fair| Job { between: Between::Xdp(faults), ..fair }));
    }
    jobs
}

#[test]
fn packets_of_all_sizes_go_everywhere_in_order() {
    for job in all_kinds_of_job(4) {
        let gate = Gate::default();
        job.packets(|packets| {
            let log = log(&packets);
            let me = packets.rank();
            let sizes = [0, 1, 48, 49, 1000, packets.max_payload()];
            for round in 0..40u8 {
                let size = sizes[usize::from(round) % sizes.len()];
                let bytes = vec![round; size];
                for to in 0..4 {
                    send(&packets, Rank(to), &bytes);
                }
                let mut packet = packets.packet().unwrap();
                packet.put(&bytes).unwrap();
                packet.broadcast().unwrap();
            }
            packets.poll_until(|| log.lock().unwrap().len() == 40 * 7).unwrap();
            for source in (0..4).map(Rank) {
                for multicast in [false, true] {
                    let expected = if source == me && multicast { 0 } else { 40 };
                    let log = log.lock().unwrap();
                    let from: Vec<_> =
                        log.iter().filter(|e| e.0 == source && e.1 == multicast).collect();
                    assert_eq!(from.len(), expected, "{me:?} from {source:?}, {job:?}");
                    for (round, (_, _, bytes)) in from.into_iter().enumerate() {
                        assert_eq!(*bytes, vec![round as u8; sizes[round % sizes.len()]]);
                    }
                }
            }
            gate.pass(&packets);
        });
    }
}

/// Rank 0 sends more than there are credits for, short packets and others, before rank 1 looks:
/// that is done with some of them at once, and holds the others.
#[test]
fn short_packets_keep_their_place_among_others() {
    const SENT: usize = 400;
    let bytes = |number: usize| vec![number as u8; number % 60];
    for job in all_kinds_of_job(2) {
        let (gate, went) = (Gate::default(), AtomicU64::new(0));
        job.packets(|packets| {
            if packets.rank() == Rank(1) {
                // Half a window is under way before the first look.
                while went.load(Ordering::Relaxed) < packets.in_flight() as u64 / 2 {
                    std::thread::yield_now();
                }
                let (mut number, mut held) = (0, HeldPacket::default());
                let mut expect = |from: Rank, packet: &[u8]| {
                    assert_eq!((from, packet), (Rank(0), &bytes(number)[..]), "{job:?}");
                    number += 1;
                    number
                };
                while expect_more(&packets, &mut expect, &mut held) < SENT {}
            } else {
                let mut short = 0;
                for number in 0..SENT {
                    let bytes = bytes(number);
                    let fits = (1..=packets.short_payload(Rank(1))).contains(&bytes.len());
                    if fits && packets.send_short(Rank(1), &[&bytes[..]]) {
                        short += 1;
                    } else {
                        send(&packets, Rank(1), &bytes);
                    }
                    went.fetch_add(1, Ordering::Relaxed);
                }
                assert_eq!(short > 0, packets.short_payload(Rank(1)) > 0, "{job:?}");
            }
            packets.flush().unwrap();
            gate.pass(&packets);
        });
    }
}

/// Takes the packets that have arrived; `expect` is their number in all.
fn expect_more(
    packets: &Packets,
    expect: &mut impl FnMut(Rank, &[u8]) -> usize,
    held: &mut HeldPacket,
) -> usize {
    let mut count = 0;
    let taken = packets
        .take_unless(
            |from: Rank, packet: &[u8]| {
                let is_even = packet.len().is_multiple_of(2);
                if is_even {
                    count = expect(from, packet);
                }
                is_even
            },
            held,
        )
        .unwrap();
    match taken {
        Taken::Nothing => std::thread::yield_now(),
        Taken::AtOnce => assert!(!held.is_some()),
        Taken::Held => {
            count = expect(held.source().unwrap(), packets.read(held));
            drop(packets.sorting());
            packets.release(held);
        }
    }
    count
}

/// Whoever catches a panic of an upcall, or of a system that sorts, goes on, and no credit is lost.
#[test]
fn packets_go_on_after_a_panic() {
    const ROUNDS: u64 = 40;
    let mut jobs = all_kinds_of_job(2);
    jobs.iter_mut().for_each(|job| job.memory.window_packets = 4);
    for job in jobs {
        let gate = Gate::default();
        job.packets(|packets| {
            let [called, taken] = [8, 9].map(|it| packets.of(Protocol::numbered(it).unwrap()));
            if packets.rank() == Rank(1) {
                for round in 0..ROUNDS {
                    send(&called, Rank(0), &round.to_le_bytes());
                    send(&taken, Rank(0), &vec![1; 30 * round as usize]);
                }
                packets.flush().unwrap();
                return gate.pass(&packets);
            }
            let count = Arc::new(AtomicU64::new(0));
            let (mut panics, mut held) = (0, HeldPacket::default());
            while count.load(Ordering::Relaxed) < ROUNDS {
                let counted = Arc::clone(&count);
                called.on_packet(move |_| {
                    counted.fetch_add(1, Ordering::Relaxed);
                    std::panic::resume_unwind(Box::new("an upcall"));
                });
                panics += u64::from(panicked(|| packets.poll().map(drop)));
                panics += u64::from(panicked(|| {
                    let sorting = taken.take(&mut held)?.then(|| taken.sorting());
                    sorting.map_or(Ok(()), |_sorting| std::panic::resume_unwind(Box::new("a sort")))
                }));
                taken.release(&mut held);
            }
            while panics < 2 * ROUNDS {
                panics += u64::from(taken.take(&mut held).unwrap());
                drop(taken.sorting());
                taken.release(&mut held);
            }
            gate.pass(&packets);
        });
    }
}

/// True if `call` panics; if not, it must succeed.
fn panicked(call: impl FnOnce() -> weft_endpoint::Result<()>) -> bool {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call));
    outcome.map(Result::unwrap).is_err()
}

#[test]
fn groups_reach_their_members_only() {
    for job in all_kinds_of_job(5) {
        let gate = Gate::default();
        let logs = job.packets(|packets| {
            let log = log(&packets);
            let odd = packets.group(&[Rank(1), Rank(3)]).unwrap();
            let even = packets.group(&[Rank(4), Rank(0), Rank(2)]).unwrap();
            let (mine, other) = match packets.rank().0 % 2 {
                1 => (odd, even),
                _ => (even, odd),
            };
            let mut packet = packets.packet().unwrap();
            packet.put(&[packets.rank().0 as u8; 100]).unwrap();
            packet.multicast(mine).unwrap();
            let packet = packets.packet().unwrap();
            assert_eq!(packet.multicast(other), Err(Error::NotAMember));
            let expected = if packets.rank().0 % 2 == 1 { 1 } else { 2 };
            packets.poll_until(|| log.lock().unwrap().len() == expected).unwrap();
            gate.pass(&packets);
            let mut sources: Vec<u16> = log.lock().unwrap().iter().map(|entry| entry.0.0).collect();
            sources.sort_unstable();
            sources
        });
        assert_eq!(logs, [vec![2, 4], vec![3], vec![0, 4], vec![1], vec![0, 2]], "{job:?}");
    }
}

#[test]
fn kept_packets_stay_as_they_are_and_hold_their_credits() {
    let window = 4;
    let mut job = Job::new(2);
    job.memory.window_packets = window;
    let gate = Gate::default();
    job.packets(|packets| {
        let kept: Arc<Mutex<Vec<KeptPacket>>> = Arc::default();
        if packets.rank() == 1 {
            let keep = Arc::clone(&kept);
            packets.on_packet(move |packet| keep.lock().unwrap().extend(packet.keep()));
            packets.poll_until(|| kept.lock().unwrap().len() == usize::from(window)).unwrap();
            // The window is used up, so nothing more can arrive, however long one polls.
            for _ in 0..1000 {
                assert!(!packets.poll().unwrap());
            }
            for number in 0..10u8 {
                let oldest = kept.lock().unwrap().remove(0);
                assert_eq!(oldest[..], vec![number; 40 + usize::from(number)]);
                assert_eq!(oldest.source(), Rank(0));
                drop(oldest);
                let left = usize::from(window).min(9 - usize::from(number));
                packets.poll_until(|| kept.lock().unwrap().len() >= left.min(2)).unwrap();
            }
        } else {
            for number in 0..10u8 {
                send(&packets, Rank(1), &vec![number; 40 + usize::from(number)]);
            }
            assert!(packets.statistics().protocol.blocked_sends > 0);
        }
        gate.pass(&packets);
    });
}

#[test]
fn an_upcall_may_send_and_upcalls_never_nest() {
    let gate = Gate::default();
    let mut job = Job::new(2);
    // Far fewer than are on their way: both ranks run out of frames, each inside an upcall.
    job.memory.frames = 8;
    job.packets(|packets| {
        let (inside, echoed) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (handle, count) = (packets.clone(), Arc::clone(&echoed));
        packets.on_packet(move |packet| {
            assert!(!inside.swap(true, Ordering::SeqCst), "an upcall ran inside another");
            count.fetch_add(1, Ordering::SeqCst);
            let left = packet[0];
            if left > 0 {
                // Sending enters the node again, which the upcall was called from.
                let mut packet = handle.packet_with(Upcalls::Allowed).unwrap();
                packet.put(&[left - 1; 500]).unwrap();
                packet.unicast(Rank(1 - handle.rank().0)).unwrap();
                // Polling inside an upcall drains and does not recurse.
                handle.poll().unwrap();
            }
            inside.store(false, Ordering::SeqCst);
        });
        for _ in 0..60 {
            send(&packets, Rank(1 - packets.rank().0), &[9; 500]);
        }
        packets.poll_until(|| echoed.load(Ordering::SeqCst) == 600).unwrap();
        gate.pass(&packets);
    });
}

#[test]
fn a_rank_that_computes_is_interrupted() {
    let job = Job { interrupt_delay: Some(Duration::from_micros(100)), ..Job::new(2) };
    let gate = Gate::default();
    let interrupts = job.packets(|packets| {
        let (asked, answered) =
            (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (handle, ask, answer) = (packets.clone(), Arc::clone(&asked), Arc::clone(&answered));
        packets.on_packet(move |packet| match packet[0] {
            0 => {
                send(&handle, packet.source(), &[1]);
                ask.store(true, Ordering::SeqCst);
            }
            _ => answer.store(true, Ordering::SeqCst),
        });
        if packets.rank() == 0 {
            send(&packets, Rank(1), &[0]);
            packets.poll_until(|| answered.load(Ordering::SeqCst)).unwrap();
        } else {
            // Computes, without a call to Weft, until it was asked behind its back.
            while !asked.load(Ordering::SeqCst) {
                std::hint::spin_loop();
            }
        }
        let interrupts = packets.statistics().interrupts;
        gate.pass(&packets);
        // The upcall has a handle of what keeps it.
        packets.on_packet(|_| {});
        interrupts
    });
    assert!(interrupts[1] > 0, "{interrupts:?}");
}

#[test]
fn no_upcall_comes_behind_the_back_of_a_rank_with_interrupts_off() {
    let job = Job { interrupt_delay: Some(Duration::from_micros(50)), ..Job::new(2) };
    let gate = Gate::default();
    job.packets(|packets| {
        let upcalls = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&upcalls);
        // Before there is anything to interrupt a rank for.
        let off = (packets.rank() == 1).then(|| packets.interrupts_off());
        packets.on_packet(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
        });
        gate.pass(&packets);
        if packets.rank() == 1 {
            let nested = packets.interrupts_off();
            drop(nested);
            gate.pass(&packets);
            packets.poll_until(|| upcalls.load(Ordering::SeqCst) == 1).unwrap();
            assert_eq!(packets.statistics().interrupts, 0);
        } else {
            send(&packets, Rank(1), &[0]);
            gate.pass(&packets);
        }
        drop(off);
        gate.pass(&packets);
    });
}

#[test]
fn no_upcall_runs_once_interrupts_are_off_however_many_packets_come() {
    let job = Job { interrupt_delay: Some(Duration::from_micros(20)), ..Job::new(2) };
    let (over, gate) = (AtomicBool::new(false), Gate::default());
    let behind = job.packets(|packets| {
        let [upcalls, behind] = [(); 2].map(|()| Arc::new(AtomicU64::new(0)));
        let quiet = Arc::new(AtomicBool::new(false));
        let (seen, silence, broken) = (Arc::clone(&upcalls), Arc::clone(&quiet), behind.clone());
        let handle = packets.clone();
        packets.on_packet(move |_| {
            seen.fetch_add(1, Ordering::SeqCst);
            broken.fetch_add(silence.load(Ordering::SeqCst).into(), Ordering::SeqCst);
            // An upcall may turn interrupts off, too, and does not wait for itself.
            drop(handle.interrupts_off());
            broken.fetch_add(silence.load(Ordering::SeqCst).into(), Ordering::SeqCst);
        });
        if packets.rank() == 1 {
            while !over.load(Ordering::SeqCst) {
                send(&packets, Rank(0), &[0]);
                // The rest waits for credits, not in a queue.
                packets.poll_until(|| packets.is_flushed() || over.load(Ordering::SeqCst)).unwrap();
            }
        } else {
            for _ in 0..1_000 {
                // In the middle of an interrupt, with more packets behind the one in hand.
                let before = upcalls.load(Ordering::SeqCst);
                while upcalls.load(Ordering::SeqCst) == before {
                    std::hint::spin_loop();
                }
                let off = packets.interrupts_off();
                quiet.store(true, Ordering::SeqCst);
                (0..500).for_each(|_| std::hint::spin_loop());
                quiet.store(false, Ordering::SeqCst);
                drop(off);
            }
            over.store(true, Ordering::SeqCst);
        }
        // The handle in the upcall would keep the node for ever.
        gate.pass(&packets);
        packets.on_packet(|_| {});
        behind.load(Ordering::SeqCst)
    });
    assert_eq!(behind, [0, 0], "upcalls that ran although interrupts were off");
}

#[test]
fn fetch_and_add_gives_every_number_once() {
    for between in [Between::Memory, Between::Plain] {
        let job = Job { between, ..Job::new(4) };
        let gate = Gate::default();
        let taken = job.packets(|packets| {
            log(&packets);
            let counter = Variable { home: Rank(2), index: 7 };
            let numbers: Vec<u64> =
                (0..500).map(|_| packets.fetch_and_add(counter, 1).unwrap()).collect();
            assert!(numbers.is_sorted());
            gate.pass(&packets);
            numbers
        });
        let mut all: Vec<u64> = taken.into_iter().flatten().collect();
        all.sort_unstable();
        assert_eq!(all, (0..2000).collect::<Vec<_>>());
    }
}

/// Of each kind some, by all ranks at once, on the last variables that there are; what they leave
/// tells whether each took place once.
#[test]
fn mixed_operations_of_all_ranks_take_place_once() {
    for job in all_kinds_of_job(3) {
        let gate = Gate::default();
        job.packets(|packets| {
            log(&packets);
            let me = u64::from(packets.rank().0);
            let [counter, least, most, bits] =
                [0, 1, 2, 3].map(|back| Variable::new(Rank(1), u16::MAX - back));
            for turn in 1..=TURNS {
                let mut found = packets.atomic(counter, Atomic::Or(0)).unwrap();
                loop {
                    let swap = Atomic::CompareSwap { expected: found, new: found + 1 };
                    match packets.atomic(counter, swap).unwrap() {
                        before if before == found => break,
                        before => found = before,
                    }
                }
                packets.fetch_and_add(counter, 1).unwrap();
                packets.atomic(most, Atomic::Max(100 * me + turn)).unwrap();
                packets.atomic(bits, Atomic::Xor(1 << me)).unwrap();
            }
            packets.atomic(bits, Atomic::Or(1 << (8 + me))).unwrap();
            packets.atomic(bits, Atomic::And(!(1 << me))).unwrap();
            gate.pass(&packets);
            let values = [counter, most, bits].map(|one| packets.fetch_and_add(one, 0).unwrap());
            assert_eq!(values, [3 * 2 * TURNS, 200 + TURNS, 0b111 << 8], "{job:?}");
            gate.pass(&packets);
            if me == 2 {
                assert_eq!(packets.atomic(least, Atomic::Swap(90)), Ok(0));
            }
            gate.pass(&packets);
            packets.atomic(least, Atomic::Min(40 + me)).unwrap();
            gate.pass(&packets);
            assert_eq!(packets.fetch_and_add(least, 0), Ok(40), "{job:?}");
            gate.pass(&packets);
        });
    }
}

/// Turns of each rank above.
const TURNS: u64 = 20;

#[test]
fn a_fetch_and_add_that_nobody_blocks_for_is_answered_beside_others() {
    for between in [Between::Memory, Between::Plain] {
        let job = Job { between, ..Job::new(2) };
        let gate = Gate::default();
        job.packets(|packets| {
            log(&packets);
            let counter = |index| Variable { home: Rank(0), index };
            if packets.rank() == Rank(1) {
                assert!(packets.atomics().begin(counter(0), Atomic::Add(5)).unwrap());
                let second = packets.atomics().begin(counter(0), Atomic::Swap(7)).unwrap();
                assert!(!second, "one at a time");
                assert_eq!(packets.fetch_and_add(counter(1), 1), Ok(0));
                assert_eq!(packets.atomics().take(), Some(0));
                assert_eq!(packets.atomics().take(), None);
                assert_eq!(packets.fetch_and_add(counter(0), 1), Ok(5));
                let swap = Atomic::CompareSwap { expected: 6, new: 1 };
                assert!(packets.atomics().begin(counter(0), swap).unwrap());
                let found = packets.poll_until(|| packets.atomics().take() == Some(6));
                assert_eq!(found, Ok(()));
                let nowhere = Variable { home: Rank(2), index: 0 };
                let missing = packets.atomics().begin(nowhere, swap);
                assert_eq!(missing, Err(Error::NoSuchRank { rank: Rank(2), ranks: 2 }));
            }
            gate.pass(&packets);
        });
    }
}

#[test]
fn a_full_pool_is_an_error_if_only_this_program_can_empty_it() {
    let mut job = Job::new(2);
    job.memory.frames = 8;
    let gate = Gate::default();
    job.packets(|packets| {
        log(&packets);
        let mut held: Vec<_> = (0..8).map(|_| packets.packet().unwrap()).collect();
        assert_eq!(packets.packet().err(), Some(Error::PoolExhausted { frames: 8 }));
        held.pop();
        assert!(packets.packet().is_ok());
        drop(held);
        gate.pass(&packets);
    });
}

#[test]
fn what_cannot_be_is_refused() {
    let gate = Gate::default();
    Job::new(2).packets(|packets| {
        log(&packets);
        let max = packets.max_payload();
        let mut packet = packets.packet().unwrap();
        assert_eq!(
            packet.put(&vec![0; max + 1]).err(),
            Some(Error::TooLong { size: max + 1, max })
        );
        packet.put(&vec![0; max]).unwrap();
        assert_eq!(packet.put(&[0]).err(), Some(Error::TooLong { size: max + 1, max }));
        assert_eq!(packet.room(), 0);
        assert_eq!(packet.unicast(Rank(2)), Err(Error::NoSuchRank { rank: Rank(2), ranks: 2 }));
        assert!(matches!(packets.group(&[Rank(5)]), Err(Error::Group(_))));
        assert!(matches!(packets.group(&[]), Err(Error::Group(_))));
        let variable = Variable { home: Rank(9), index: 0 };
        let none = Error::NoSuchRank { rank: Rank(9), ranks: 2 };
        assert_eq!(packets.fetch_and_add(variable, 1), Err(none.clone()));
        assert_eq!(packets.atomic(variable, Atomic::Or(1)), Err(none));
        gate.pass(&packets);
    });
}

#[test]
fn a_waiting_rank_hears_of_a_loss_and_says_which() {
    let loss = Loss { rank: Rank(0), cause: Cause::Killed(9) };
    with_loss(loss, |packets, lose| {
        log(&packets);
        assert_eq!(packets.poll(), Ok(false));
        assert_eq!(packets.losses().first(), None);
        lose();
        let waited = packets.poll_until(|| false);
        assert_eq!(waited, Err(Error::RankLost(loss)));
        assert_eq!(waited.unwrap_err().to_string(), "rank 0 was killed by signal 9 (SIGKILL)");
        assert_eq!(packets.losses().first(), Some(loss));
    });
}

#[test]
fn a_job_of_one_rank_talks_to_itself() {
    Job::new(1).packets(|packets| {
        let log = log(&packets);
        send(&packets, Rank(0), &[1; 3]);
        send(&packets, Rank(0), &[2; 300]);
        packets.packet().unwrap().multicast(Group::ALL).unwrap();
        packets.poll_until(|| log.lock().unwrap().len() == 2).unwrap();
        let expected = [(Rank(0), false, vec![1; 3]), (Rank(0), false, vec![2; 300])];
        assert_eq!(*log.lock().unwrap(), expected);
    });
}

#[test]
fn what_a_peer_did_wrong_is_told_to_who_waits_whoever_met_it_first() {
    Job::new(2).packets(|packets| {
        log(&packets);
        if packets.rank() == 0 {
            // So far ahead of the other rank none is that makes no mistake.
            let group = || packets.group(&[Rank(0), Rank(1)]).unwrap();
            let groups: Vec<Group> = (0..1_100).map(|_| group()).collect();
            packets.packet().unwrap().multicast(groups[1_099]).unwrap();
            return;
        }
        // Drained as an interrupt does, which has no caller to tell.
        while packets.poll().is_ok() {}
        let waited = packets.poll_until(|| false);
        assert!(matches!(waited, Err(Error::Violation(_))), "{waited:?}");
    });
}
