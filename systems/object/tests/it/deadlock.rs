//! Programs in which all processes wait, and programs that only seem to.

use crate::common::*;
use std::cell::RefCell;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use weft_endpoint::Rank;
use weft_messaging::{Mailbox, Port};
use weft_object::{Error, Handle, Objects, Placement, ProcessError, Types, Waiting};

type Ended = std::result::Result<(), ProcessError>;

/// The objects whose numbers are in the arguments.
fn counters(objects: &Objects, arguments: &[u8]) -> Vec<Handle<Int>> {
    let numbers = arguments.chunks(8).map(|number| u64::from_le_bytes(number.try_into().unwrap()));
    numbers.map(|number| objects.get(number).unwrap()).collect()
}

/// Outcomes of a program whose main process makes two objects, and forks a worker on each rank.
fn run_program(
    ranks: u16,
    placement: Placement,
    worker: fn(&Objects, &[Handle<Int>]) -> Ended,
) -> Vec<weft_object::Result<()>> {
    let types = move || {
        let worker = move |objects: &Objects, all: &[u8]| worker(objects, &counters(objects, all));
        let main = move |objects: &Objects, _: &[u8]| {
            let make = |name| objects.create_unnamed(name, &Int(0), placement);
            let numbers = [make("one")?.id(), make("two")?.id()].map(u64::to_le_bytes).concat();
            (0..ranks).try_for_each(|rank| objects.fork("Worker", Rank(rank), &numbers))?;
            Ok(())
        };
        let types = Types::default().with::<Int>().with_process("Worker", worker);
        types.with_process("Main", main)
    };
    run_with(ranks, types, |member| {
        let outcome = member.objects.run("Main", &[]);
        assert_eq!(member.objects.processes(), [], "the report ends them");
        outcome
    })
}

fn waiting(rank: u16, object: &str, operation: &str) -> Waiting {
    let (object, operation) = (object.into(), operation.into());
    Waiting { process: "Worker".into(), rank: Rank(rank), object, operation }
}

/// Reads and writes that wait for a count that never comes.
#[test]
fn a_guard_that_never_comes_true_is_reported_on_all_ranks() {
    for ranks in [1, 3] {
        for placement in placements(ranks) {
            let outcomes = run_program(ranks, placement, |objects, all| {
                let is_last = objects.processes().iter().all(|one| one.rank.0 == 0);
                let waits = if is_last { all[0].take(9) } else { all[0].take(8) };
                let deadlock = waits.unwrap_err();
                assert!(matches!(deadlock, Error::Deadlock(_)), "{deadlock}");
                Err(deadlock.into())
            });
            let all = (0..ranks).map(|rank| waiting(rank, "one", "'take'")).collect();
            assert_eq!(outcomes, vec![Err(Error::Deadlock(all)); ranks.into()], "{placement:?}");
        }
    }
}

/// Each waits for what the other does next.
#[test]
fn processes_that_wait_for_each_other_are_reported() {
    for placement in placements(2) {
        let outcomes = run_program(2, placement, |_, all| {
            let mine = all[1].inc()? as usize % 2;
            all[mine].await_value(5)?;
            all[1 - mine].inc()?;
            Ok(())
        });
        let Err(Error::Deadlock(all)) = &outcomes[0] else { panic!("{outcomes:?}") };
        let mut objects: Vec<_> = all.iter().map(|one| (&*one.object, &*one.operation)).collect();
        objects.sort_unstable();
        let said = ["one", "two"].map(|object| (object, "'await_value'"));
        assert_eq!(objects, said);
        assert_eq!(outcomes[0], outcomes[1]);
    }
}

/// Operations that were begun and given up are under way until they are executed, and no longer.
#[test]
fn what_was_given_up_hides_no_deadlock() {
    for placement in placements(2) {
        let outcomes = run_program(2, placement, |_, all| {
            drop(all[0].begin_inc()?);
            all[0].await_value(2)?;
            all[0].await_value(3)?;
            Ok(())
        });
        let all = (0..2).map(|rank| waiting(rank, "one", "'await_value'")).collect();
        assert_eq!(outcomes, vec![Err(Error::Deadlock(all)); 2], "{placement:?}");
    }
}

/// There are several questions in the time for which one process does something else.
#[test]
fn who_computes_or_waits_for_something_else_is_no_deadlock() {
    for placement in placements(2) {
        let computes = run_program(2, placement, |_, all| {
            if all[1].inc()? == 1 {
                let begin = Instant::now();
                // Longer than between several questions; nothing is measured.
                while begin.elapsed() < Duration::from_millis(500) {
                    std::hint::black_box(begin);
                }
                all[0].inc()?;
            }
            all[0].await_value(1)?;
            Ok(())
        });
        assert_eq!(computes, [Ok(()), Ok(())], "{placement:?}");
    }
}

thread_local! {
    /// The mailbox of this rank, for its processes.
    static MAILBOX: RefCell<Arc<OnceLock<Mailbox>>> = RefCell::default();
}

/// A process that waits for a message waits for no guard, though no other can do anything.
#[test]
fn who_waits_for_a_message_is_no_deadlock() {
    let types = || {
        let mailbox = MAILBOX.with_borrow(Arc::clone);
        Types::default().with::<Int>().with_process("Main", move |objects, _| {
            let int = objects.find::<Int>("int")?;
            match objects.processes().len() {
                1 => {
                    objects.fork("Main", Rank(1), &[])?;
                    int.await_value(1)?;
                }
                _ => {
                    mailbox.wait().receive()?;
                    int.inc()?;
                }
            }
            Ok(())
        })
    };
    run_with(2, types, |member| {
        member.object("int", &Int(0), Placement::Replicated);
        let mailbox = MAILBOX.with_borrow(Arc::clone);
        mailbox.set(Mailbox::new(&member.engine, "go").unwrap()).ok().unwrap();
        member.barrier.wait().unwrap();
        std::thread::scope(|scope| {
            let objects = member.objects.clone();
            let program = scope.spawn(move || objects.run("Main", &[]));
            if member.rank() == 0 {
                let begin = Instant::now();
                while begin.elapsed() < Duration::from_millis(500) {
                    std::hint::black_box(begin);
                }
                let port = Port::sender(&member.engine, "go").unwrap();
                port.send(Rank(1), b"go").unwrap();
            }
            assert_eq!(program.join().unwrap(), Ok(()));
        });
    });
}
