//! Coroutines of a rank: turns on its processor, waits, ends.

use super::{RankEnd, RunEnd, Setup, SimulatedNetwork};
use crate::host::Processor;
use crate::machine::MachineModel;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use weft_link::Link;
use weft_link::bell::{Bells, Ticket, Waiter};
use weft_link::clock::{Clock, Work};
use weft_link::threads::{Threads, Word};
use weft_wire::Rank;

/// Events, and their times by the rank's clock.
type Log = Arc<Mutex<Vec<(String, u64)>>>;

fn log(log: &Log, processor: &Processor, what: &str) {
    log.lock().unwrap().push((what.into(), processor.now()));
}

fn said(log: &Log) -> Vec<String> {
    log.lock().unwrap().iter().map(|(what, _)| what.clone()).collect()
}

/// Sleeps until the bell rings after this, for so many microseconds at most.
fn sleep(processor: &Processor, ticket: Ticket, us: u64) {
    processor.wait(Waiter::Host, ticket, Duration::from_micros(us));
}

/// Sleeps for so many microseconds, whatever rings.
fn nap(processor: &Processor, us: u64) {
    let end = processor.now() + 1000 * us;
    while processor.now() < end {
        sleep(processor, processor.ticket(Waiter::Host), (end - processor.now()) / 1000);
    }
}

/// A network of one rank with this program.
fn network(program: impl FnOnce(&Processor) -> bool + 'static) -> SimulatedNetwork {
    let setup = Setup { stack_bytes: 64 << 10, ..Setup::new(MachineModel::myrinet().unwrap(), 1) };
    let mut network = SimulatedNetwork::new(setup).unwrap();
    let processor = network.link(Rank(0)).clock();
    network.spawn(Rank(0), Box::new(move || program(&processor)));
    network
}

/// Starts a coroutine of this rank, which gets its processor.
fn spawn(processor: &Processor, body: impl FnOnce(&Processor) + Send + 'static) {
    let own = processor.clone();
    assert!(processor.spawn("", Box::new(move || body(&own))).unwrap().is_none());
}

#[test]
fn coroutines_take_turns_when_they_sleep_and_not_when_they_compute() {
    let happened = Log::default();
    let own = Arc::clone(&happened);
    let mut network = network(move |processor| {
        for name in ["a", "b"] {
            let own = Arc::clone(&own);
            spawn(processor, move |processor| {
                log(&own, processor, &format!("{name} begins"));
                processor.charge(Work::Operations(1000));
                log(&own, processor, &format!("{name} has computed"));
                nap(processor, 100);
                log(&own, processor, &format!("{name} goes on"));
            });
        }
        log(&own, processor, "both are there");
        nap(processor, 1000);
        log(&own, processor, "the end");
        true
    });
    assert_eq!(network.run(), RunEnd::Finished);
    let order = [
        "both are there",
        "a begins",
        "a has computed",
        "b begins",
        "b has computed",
        "a goes on",
        "b goes on",
        "the end",
    ];
    assert_eq!(said(&happened), order);
    let times: Vec<u64> = happened.lock().unwrap().iter().map(|(_, time)| *time).collect();
    let computed = times[2] - times[1];
    assert!(computed > 0);
    assert_eq!(times[3], times[2], "the processor is one");
    assert_eq!(times[4] - times[3], computed);
    assert_eq!((times[5] - times[2], times[6] - times[4]), (100_000, 100_000));
    assert_eq!(times[7], 1_000_000);
}

#[test]
fn a_bell_wakes_all_that_sleep_and_a_ticket_tells_of_a_ring_before() {
    let happened = Log::default();
    let own = Arc::clone(&happened);
    let mut network = network(move |processor| {
        for name in ["a", "b"] {
            let own = Arc::clone(&own);
            spawn(processor, move |processor| {
                sleep(processor, processor.ticket(Waiter::Host), 1000);
                log(&own, processor, name);
            });
        }
        nap(processor, 10);
        let ticket = processor.ticket(Waiter::Host);
        processor.ring(Waiter::Host);
        sleep(processor, ticket, 1000);
        log(&own, processor, "has not slept");
        nap(processor, 1000);
        true
    });
    assert_eq!(network.run(), RunEnd::Finished);
    let all = happened.lock().unwrap().clone();
    let expected = [("has not slept", 10_000), ("a", 10_000), ("b", 10_000)];
    assert_eq!(all, expected.map(|(what, time)| (what.to_owned(), time)));
}

#[test]
fn words_are_each_coroutines_own_and_inherited() {
    let mut network = network(|processor| {
        assert_eq!(Word::COROUTINE.get(), 0);
        Word::PROGRAM.replace(7);
        spawn(processor, |processor| {
            assert_eq!((Word::COROUTINE.get(), Word::PROGRAM.replace(8)), (1, 7));
            nap(processor, 10);
            assert_eq!(Word::PROGRAM.get(), 8);
        });
        nap(processor, 5);
        assert_eq!(Word::PROGRAM.get(), 7);
        nap(processor, 10);
        true
    });
    assert_eq!(network.run(), RunEnd::Finished);
    assert_eq!(network.end_of(Rank(0)), &RankEnd::Finished);
    assert_eq!(Word::PROGRAM.get(), 0, "the thread has its own back");
}

/// Says that it was dropped.
struct Drops(Log, &'static str);

impl Drop for Drops {
    fn drop(&mut self) {
        self.0.lock().unwrap().push((self.1.into(), 0));
    }
}

/// A coroutine that sleeps for ever, one that has not begun, and a third that does this.
fn with_three(happened: &Log, third: impl FnOnce(&Processor) + Send + 'static) -> SimulatedNetwork {
    let own = Arc::clone(happened);
    network(move |processor| {
        let sleeps = Drops(Arc::clone(&own), "one that sleeps");
        spawn(processor, move |processor| {
            let _sleeps = sleeps;
            processor.wait(Waiter::Host, processor.ticket(Waiter::Host), Duration::MAX);
        });
        nap(processor, 1);
        let is_new = Drops(Arc::clone(&own), "one that has not begun");
        spawn(processor, third);
        spawn(processor, move |_| drop(is_new));
        nap(processor, 10);
        true
    })
}

#[test]
fn a_panic_ends_the_rank_and_unwinds_all_others() {
    let happened = Log::default();
    let mut network = with_three(&happened, |_| std::panic::resume_unwind(Box::new("enough")));
    assert_eq!(network.run(), RunEnd::Finished);
    assert_eq!(network.end_of(Rank(0)), &RankEnd::Panicked("enough".into()));
    assert_eq!(said(&happened), ["one that sleeps", "one that has not begun"]);
}

#[test]
fn whoever_is_left_over_ends_with_the_program_or_the_network() {
    let happened = Log::default();
    let mut network = with_three(&happened, |processor| nap(processor, 1));
    assert_eq!(network.run(), RunEnd::Finished);
    assert_eq!(said(&happened), ["one that has not begun", "one that sleeps"]);

    let happened = Log::default();
    let stuck = with_three(&happened, |_| {});
    drop(stuck);
    assert_eq!(said(&happened), [""; 0], "nothing has begun");
}

#[test]
fn a_crash_unwinds_all() {
    let happened = Rc::new(RefCell::new(0));
    let count = Arc::new(Mutex::new(Vec::new()));
    let mut setup = Setup::new(MachineModel::myrinet().unwrap(), 1);
    setup.faults.crashes = vec![(Rank(0), Duration::from_micros(50))];
    let mut network = SimulatedNetwork::new(setup).unwrap();
    let processor = network.link(Rank(0)).clock();
    let (main, own) = (Rc::clone(&happened), Arc::clone(&count));
    network.spawn(
        Rank(0),
        Box::new(move || {
            for name in ["computes", "waits"] {
                let drops = Drops(Arc::clone(&own), name);
                spawn(&processor, move |processor| {
                    let drops = drops;
                    match drops.1 {
                        "waits" => nap(processor, 1000),
                        _ => processor.charge(Work::Operations(1_000_000_000)),
                    }
                    drop(drops);
                    panic!("it was to be unwound");
                });
            }
            nap(&processor, 1000);
            *main.borrow_mut() += 1;
            true
        }),
    );
    assert_eq!(network.run(), RunEnd::Finished);
    assert_eq!(network.end_of(Rank(0)), &RankEnd::Crashed);
    assert_eq!(said(&count), ["computes", "waits"], "whoever has the processor is the first");
    assert_eq!(*happened.borrow(), 0);
}
