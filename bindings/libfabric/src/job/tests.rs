#![allow(clippy::unwrap_used)]

use super::*;
use crate::entry::returned;
use crate::state::Watched;

/// A job of this process alone. There is one at a time.
fn alone(program: impl FnOnce(&Arc<Job>)) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let job = Job::open().unwrap();
    program(&job);
    job.close();
}

#[test]
fn queues_and_counters_are_opened_any_number_of_times() {
    alone(|job| {
        for _ in 0..200_000 {
            let mut state = job.enter();
            let queue = state.reports.open_queue(0, None).unwrap();
            let counter = state.reports.open_counter(None).unwrap();
            let vector = state.open_vector(true).unwrap();
            state.reports.change_counts(counter, |counts| counts.errors += 1);
            assert!(state.reports.has_news(Watched::Counter(counter)));
            state.close_queue(queue).unwrap();
            state.reports.close_counter(counter).unwrap();
            state.close_vector(vector);
            assert!(!state.reports.has_news(Watched::Counter(counter)), "it is closed");
            assert!(state.reports.completions(queue).is_none());
        }
    });
}

/// Sends this rank a packet of messages.
fn send_to_oneself(job: &Job) {
    let mut packet = job.packets.packet().unwrap();
    packet.put(&[0; 8]).unwrap();
    packet.unicast(job.packets.rank()).unwrap();
}

#[test]
fn after_a_panic_every_call_says_that_the_job_is_broken() {
    let broken = Refusal::BROKEN.returned();
    // While a packet is taken, and while it is looked at.
    for is_taken in [true, false] {
        alone(|job| {
            assert!(job.progress().is_ok());
            send_to_oneself(job);
            let panics = || -> isize {
                let mut held = HeldPacket::default();
                let look = |_: Rank, _: &[u8]| is_taken || std::panic::resume_unwind(Box::new(1));
                while job.packets.take_unless(|from, bytes: &[u8]| !look(from, bytes), &mut held)
                    != Ok(Taken::Held)
                {}
                let _sorting = job.packets.sorting();
                std::panic::resume_unwind(Box::new(2))
            };
            assert_eq!(returned(panics), broken);
            for _ in 0..2 {
                assert_eq!(job.progress().err(), Some(Refusal::BROKEN));
            }
            // Its rank goes on, and so does what else it does.
            send_to_oneself(job);
            let mut held = HeldPacket::default();
            job.packets.poll_until(|| job.packets.take(&mut held).unwrap()).unwrap();
            drop(job.packets.sorting());
            job.packets.release(&mut held);
        });
    }
}
