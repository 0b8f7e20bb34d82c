//! Messages beside other systems of a rank: what a rank has left to do for its messages is done,
//! whatever it waits for.

use crate::common::{interrupted, run, small};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use weft_endpoint::{Packets, Protocol, Rank, SendPacket};
use weft_messaging::{Engine, Port};
use weft_threads::{Between, Job};

/// A job of two in which a packet takes a frame, however short it is.
fn framed() -> Job {
    Job { between: Between::Plain, limit: Duration::from_secs(60), ..small(2) }
}

/// All packets that this rank can fill now.
fn hold_all(packets: &Packets) -> Vec<SendPacket<'_>> {
    std::iter::from_fn(|| packets.try_packet().ok().flatten()).collect()
}

fn poll_until(packets: &Packets, done: impl Fn() -> bool) {
    packets.poll_until(done).unwrap();
}

/// A message that was taken while its rank looked for a packet is handled, though it waits for
/// another system then.
#[test]
fn what_was_sorted_in_a_send_is_handled_while_its_rank_waits_for_something_else() {
    let receiver: OnceLock<Arc<Engine>> = OnceLock::new();
    let [is_sending, is_handled] = [false; 2].map(|_| Arc::new(AtomicBool::new(false)));
    run(framed(), |member| {
        let handled = Arc::clone(&is_handled);
        let port = Port::new(&member.engine, "sorted", move |_| handled.store(true, SeqCst));
        let (port, other) = (port.unwrap(), member.mailbox("other"));
        let packets = member.engine.packets().of(Protocol::PACKETS);
        member.barrier.wait().unwrap();
        if member.rank() == 0 {
            fill_one(&packets);
            let held = hold_all(&packets);
            receiver.get_or_init(|| Arc::clone(&member.engine));
            is_sending.store(true, SeqCst);
            other.send(Rank(1), &[2; 100]).unwrap();
            poll_until(&packets, || is_handled.load(SeqCst));
            drop(held);
        } else {
            keep_until(&packets, || {
                while !is_sending.load(SeqCst) {
                    std::thread::yield_now();
                }
                let taken = || receiver.get().unwrap().statistics().messages_received;
                let before = taken();
                port.send(Rank(0), &[3; 100]).unwrap();
                while taken() == before {
                    std::thread::yield_now();
                }
            });
            drop(other.receive().unwrap());
            // What this rank sent would have the other look at its messages.
            poll_until(&packets, || is_handled.load(SeqCst));
        }
        member.barrier.wait().unwrap();
    });
}

/// A task that is ready runs while its rank computes, though another system has nothing to do.
#[test]
fn a_task_is_pending_whatever_other_systems_have_to_do() {
    let job = Job { limit: Duration::from_secs(60), ..interrupted(1) };
    run(job, |member| {
        let has_run = Arc::new(AtomicBool::new(false));
        let runs = Arc::clone(&has_run);
        member.engine.spawn(async move { runs.store(true, SeqCst) });
        member.engine.packets().of(Protocol::TAGGED).system().note_pending_work(false);
        while !has_run.load(SeqCst) {
            std::hint::spin_loop();
        }
    });
}

/// Sends a packet of another system to rank 1.
fn fill_one(packets: &Packets) {
    let mut filled = packets.packet().unwrap();
    filled.put(&[1; 200]).unwrap();
    filled.unicast(Rank(1)).unwrap();
}

/// Keeps the packet of another system that comes next until `done` returns.
fn keep_until(packets: &Packets, done: impl FnOnce()) {
    let kept = Arc::new(Mutex::new(None));
    let arrived = Arc::clone(&kept);
    packets.on_packet(move |packet| *arrived.lock().unwrap() = packet.keep());
    poll_until(packets, || kept.lock().unwrap().is_some());
    done();
    drop(kept.lock().unwrap().take());
}
