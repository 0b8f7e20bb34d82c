//! Networks that are cut, peers that fall silent, and those that only seem to.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use weft_endpoint::{Cause, Error, Loss, Packet, Packets, Rank};
use weft_protocol::{Preset, Silence};
use weft_threads::{Job, Tap, with_loss};

const RANKS: u16 = 3;
/// A silent peer is lost after 2 s: processors of machines that are shared stand still for almost
/// one at times.
const SILENCE: Silence = Silence { heartbeat_after: 200_000_000, lost_after: 2_000_000_000 };
/// More than that.
const LONG: Duration = Duration::from_millis(2600);

fn watched(preset: Preset, tap: &'static Tap) -> Job {
    let interrupt_delay = Some(Duration::from_micros(50));
    Job {
        interrupt_delay,
        tap: Some(tap),
        silence: Some(SILENCE),
        limit: Duration::from_secs(20),
        ..Job::over_udp(RANKS, preset)
    }
}

fn send(packets: &Packets, to: u16, byte: u8) {
    let mut packet = packets.packet().unwrap();
    packet.put(&[byte]).unwrap();
    packet.unicast(Rank(to)).unwrap();
}

/// Every rank sends a packet to every other one, and has theirs.
fn meet(packets: &Packets, met: &AtomicUsize) {
    meet_with(packets, met, |_| {});
}

fn meet_with(
    packets: &Packets,
    met: &AtomicUsize,
    upcall: impl FnMut(Packet<'_>) + Send + 'static,
) {
    packets.on_packet(upcall);
    for to in (0..RANKS).filter(|&to| Rank(to) != packets.rank()) {
        send(packets, to, 0);
    }
    let delivered = || packets.statistics().protocol.packets_delivered;
    packets.poll_until(|| delivered() == u64::from(RANKS) - 1).unwrap();
    packets.flush().unwrap();
    met.fetch_add(1, Ordering::SeqCst);
    packets.poll_until(|| met.load(Ordering::SeqCst) == usize::from(RANKS)).unwrap();
}

fn poll_for(packets: &Packets, time: Duration) {
    let start = packets.now();
    packets.poll_until(|| packets.now() - start >= time).unwrap();
}

/// Computes, as far as Weft can see.
fn compute_until(done: impl Fn() -> bool) {
    while !done() {
        std::thread::yield_now();
    }
}

#[test]
fn all_survivors_learn_of_a_rank_that_is_cut_off() {
    for preset in [Preset::IrxImc, Preset::HrxHmc, Preset::Pupa] {
        let (tap, met) = (Tap::new(), AtomicUsize::new(0));
        let took = watched(preset, tap).packets(|packets| {
            meet(&packets, &met);
            let start = packets.now();
            match packets.rank() {
                Rank(0) => {
                    tap.cut(Rank(2));
                    let lost = packets.poll_until(|| false);
                    let loss = Loss { rank: Rank(2), cause: Cause::Unreachable(20) };
                    assert_eq!(lost, Err(Error::RankLost(loss)));
                }
                // This one computes, and wants no interrupts.
                Rank(1) => {
                    let _off = packets.interrupts_off();
                    compute_until(|| packets.losses().first().is_some());
                    assert_eq!(packets.losses().first().unwrap().rank, Rank(2));
                }
                _ => {
                    packets.poll_until(|| false).unwrap_err();
                    assert!(packets.losses().first().unwrap().rank < Rank(2));
                }
            }
            packets.now() - start
        });
        // That it is no more than a second where ranks run when they want to is in the settings.
        let (least, most) = (Duration::from_millis(1500), Duration::from_secs(10));
        assert!(took.iter().all(|time| (least..most).contains(time)), "{preset}: {took:?}");
    }
}

/// The process manager may be late to tell them, or never do.
#[test]
fn who_is_told_of_a_loss_by_its_host_tells_the_others_at_once() {
    for preset in [Preset::IrxImc, Preset::HrxHmc, Preset::Pupa] {
        let (tap, met) = (Tap::new(), AtomicUsize::new(0));
        let (ready, told) = (AtomicUsize::new(0), AtomicBool::new(false));
        let loss = Loss { rank: Rank(2), cause: Cause::Killed(9) };
        // Nobody is lost because it is silent.
        let silence = Silence { lost_after: u64::MAX / 4, ..SILENCE };
        Job { silence: Some(silence), ..watched(preset, tap) }.packets(|packets| {
            meet(&packets, &met);
            ready.fetch_add(1, Ordering::SeqCst);
            match packets.rank() {
                Rank(0) => {
                    assert_eq!(packets.poll_until(|| false), Err(Error::RankLost(loss)));
                    told.store(true, Ordering::SeqCst);
                }
                // It computes: its upcall thread tells the others.
                Rank(1) => {
                    compute_until(|| ready.load(Ordering::SeqCst) == usize::from(RANKS));
                    tap.announce(Rank(1), loss);
                    compute_until(|| told.load(Ordering::SeqCst));
                }
                // It lives, and nobody says so to it. It must not wait for their farewells.
                _ => {
                    packets.poll_until(|| told.load(Ordering::SeqCst)).unwrap();
                    tap.announce(Rank(2), Loss { rank: Rank(1), ..loss });
                }
            }
        });
    }
}

#[test]
fn a_link_that_returns_in_time_has_lost_nothing() {
    for preset in [Preset::IrxHmc, Preset::HrxImc, Preset::Pupa] {
        let (tap, met, done) = (Tap::new(), AtomicUsize::new(0), AtomicUsize::new(0));
        watched(preset, tap).packets(|packets| {
            let mut next = [0; RANKS as usize];
            meet_with(&packets, &met, move |packet| {
                let next = &mut next[packet.source().index()];
                assert_eq!(packet.to_vec(), [*next]);
                *next += 1;
            });
            if packets.rank() == Rank(0) {
                tap.cut(Rank(2));
            }
            // As many as there are frames for: none waits for an acknowledgement.
            for byte in 1..=20 {
                for to in (0..RANKS).filter(|&to| Rank(to) != packets.rank()) {
                    send(&packets, to, byte);
                }
            }
            poll_for(&packets, Duration::from_millis(300));
            if packets.rank() == Rank(0) {
                tap.mend();
            }
            let all = (u64::from(RANKS) - 1) * 21;
            packets.poll_until(|| packets.statistics().protocol.packets_delivered == all).unwrap();
            packets.flush().unwrap();
            done.fetch_add(1, Ordering::SeqCst);
            packets.poll_until(|| done.load(Ordering::SeqCst) == usize::from(RANKS)).unwrap();
        });
    }
}

#[test]
fn idle_ranks_send_heartbeats_and_nothing_else() {
    for preset in [Preset::IrxImc, Preset::Pupa] {
        let (tap, met) = (Tap::new(), AtomicUsize::new(0));
        let heartbeats: u64 = watched(preset, tap)
            .packets(|packets| {
                meet(&packets, &met);
                // What was late is told by then.
                poll_for(&packets, Duration::from_millis(100));
                let before = (tap.passed(), packets.statistics().protocol.heartbeats);
                poll_for(&packets, LONG);
                let passed = tap.passed() - before.0;
                let most = 20 * u64::from(RANKS) * u64::from(RANKS - 1);
                assert!(passed <= most, "{preset}: {passed} datagrams");
                packets.statistics().protocol.heartbeats - before.1
            })
            .into_iter()
            .sum();
        assert!(heartbeats >= 6 * u64::from(RANKS), "{preset}: {heartbeats}");
    }
}

#[test]
fn busy_ranks_send_no_heartbeats() {
    let (tap, met) = (Tap::new(), AtomicUsize::new(0));
    let counters = watched(Preset::Pupa, tap).packets(|packets| {
        meet(&packets, &met);
        let start = packets.now();
        while packets.now() - start < LONG {
            for to in (0..RANKS).filter(|&to| Rank(to) != packets.rank()) {
                send(&packets, to, 1);
            }
            packets.flush().unwrap();
        }
        packets.statistics().protocol
    });
    for counters in counters {
        // A rank that did not run for a while is idle, too.
        let (sent, beats) = (counters.packets_sent, counters.heartbeats);
        assert!(beats * 20 <= sent, "{beats} heartbeats beside {sent} packets");
    }
}

#[test]
fn a_rank_that_has_ended_is_not_missed() {
    for preset in [Preset::IrxImc, Preset::HrxHmc, Preset::Pupa] {
        let (tap, met) = (Tap::new(), AtomicUsize::new(0));
        watched(preset, tap).packets(|packets| {
            meet(&packets, &met);
            if packets.rank() != Rank(0) {
                poll_for(&packets, LONG);
            }
        });
    }
}

#[test]
fn a_rank_whose_upcall_takes_its_time_is_not_missed() {
    let (tap, met, over) = (Tap::new(), AtomicUsize::new(0), AtomicBool::new(false));
    watched(Preset::Pupa, tap).packets(|packets| {
        let left = std::sync::Arc::new(AtomicBool::new(false));
        let leave = std::sync::Arc::clone(&left);
        meet_with(&packets, &met, move |packet| {
            if packet.to_vec() == [7] {
                let start = std::time::Instant::now();
                compute_until(|| start.elapsed() > LONG);
                leave.store(true, Ordering::SeqCst);
            }
        });
        match packets.rank() {
            // Its upcall thread takes the packet, if it is not there yet.
            Rank(0) => {
                compute_until(|| left.load(Ordering::SeqCst));
                over.store(true, Ordering::SeqCst);
            }
            Rank(1) => send(&packets, 0, 7),
            _ => {}
        }
        packets.poll_until(|| over.load(Ordering::SeqCst)).unwrap();
        assert_eq!(packets.losses().first(), None);
    });
}

#[test]
fn who_was_stopped_accuses_nobody() {
    for preset in [Preset::IrxImc, Preset::HrxImc, Preset::Pupa] {
        let (tap, met) = (Tap::new(), AtomicUsize::new(0));
        // No thread acts for a rank that does not poll.
        let job = Job { interrupt_delay: None, ..watched(preset, tap) };
        job.packets(|packets| {
            meet(&packets, &met);
            if packets.rank() != Rank(0) {
                packets.poll_until(|| false).unwrap_err();
                assert_eq!(packets.losses().first().map(|loss| loss.rank), Some(Rank(0)));
                return;
            }
            let start = packets.now();
            compute_until(|| packets.now() - start > LONG);
            poll_for(&packets, Duration::from_millis(400));
        });
    }
}

#[test]
fn a_job_that_goes_on_tells_of_a_loss_once_and_waits_for_the_lost_no_more() {
    let loss = Loss { rank: Rank(0), cause: Cause::Killed(9) };
    with_loss(loss, |packets, lose| {
        packets.losses().go_on();
        let heard = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let hears = std::sync::Arc::clone(&heard);
        packets.losses().on_each(move |loss| hears.lock().unwrap().push(loss));
        // All frames are on their way, to a rank that takes none.
        let mut launched = 0;
        while let Ok(Some(mut packet)) = packets.try_packet() {
            packet.put(&[7; 4000]).unwrap();
            packet.unicast(Rank(0)).unwrap();
            launched += 1;
        }
        lose();
        assert_eq!(packets.poll_until(|| false), Err(Error::RankLost(loss)));
        assert_eq!((packets.losses().all(), &*heard.lock().unwrap()), (vec![loss], &vec![loss]));
        // They are back.
        let all: Vec<_> = (0..launched).map(|_| packets.packet().unwrap()).collect();
        drop(all);
        packets.flush().unwrap();
        let mut packet = packets.packet().unwrap();
        packet.put(b"late").unwrap();
        assert_eq!(packet.unicast(Rank(0)), Err(Error::RankLost(loss)));
        assert_eq!(packets.packet_to(Rank(0)).err(), Some(Error::RankLost(loss)));
        assert!(!packets.send_short(Rank(0), &[&b"late"[..]]) && !packets.awaits_credit(Rank(0)));
        let mut packet = packets.packet().unwrap();
        packet.put(b"to nobody").unwrap();
        packet.broadcast().unwrap();
        // Nobody is told again.
        let mut looks = 0;
        let many_looks = || {
            looks += 1;
            looks > 100
        };
        packets.poll_until(many_looks).unwrap();
    });
}
