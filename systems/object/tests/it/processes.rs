//! Processes: forks, programs that end when all processes have, and those that fail.

use crate::common::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use weft_endpoint::Rank;
use weft_object::{Error, Objects, Placement, Types};

/// The object whose number is in the arguments.
fn counter(objects: &Objects, arguments: &[u8]) -> weft_object::Handle<Int> {
    objects.get(u64::from_le_bytes(arguments[..8].try_into().unwrap())).unwrap()
}

/// Outcomes of the program `Main` on each rank, beside a process type `Worker`.
pub fn run_program(
    ranks: u16,
    types: impl Fn(Types) -> Types + Sync,
) -> Vec<weft_object::Result<()>> {
    run_with(
        ranks,
        || types(Types::default().with::<Int>()),
        |member| {
            let outcome = member.objects.run("Main", &[]);
            assert_eq!(member.objects.processes(), [], "none lives");
            outcome
        },
    )
}

/// The program of figs. 7.1 and 7.2.
#[test]
fn a_counter_awaits_processes_on_all_ranks() {
    for ranks in [1, 2, 4, 16] {
        for placement in placements(ranks) {
            let worker = |objects: &Objects, arguments: &[u8]| {
                counter(objects, arguments).inc()?;
                Ok(())
            };
            let main = move |objects: &Objects, _: &[u8]| {
                let counter = objects.create_unnamed("counter", &Int(0), placement)?;
                for rank in 1..ranks {
                    objects.fork("Worker", Rank(rank), &counter.id().to_le_bytes())?;
                }
                counter.await_value(u64::from(ranks) - 1)?;
                assert_eq!(counter.value()?, u64::from(ranks) - 1);
                Ok(())
            };
            let types = |types: Types| types.with_process("Worker", worker);
            let outcomes = run_program(ranks, |all| types(all).with_process("Main", main));
            assert_eq!(outcomes, vec![Ok(()); ranks.into()], "{ranks} ranks, {placement:?}");
        }
    }
}

#[test]
fn what_is_forked_forks_and_programs_follow_one_another() {
    run_with(
        3,
        || {
            Types::default().with::<Int>().with_process("Main", |objects, arguments| {
                let (depth, on) = (arguments[8], (objects.processes().len() as u16) % 3);
                if depth > 0 {
                    let next = [&arguments[..8], &[depth - 1]].concat();
                    objects.fork("Main", Rank(on), &next)?;
                    objects.fork("Main", Rank((on + 1) % 3), &next)?;
                }
                counter(objects, arguments).inc()?;
                Ok(())
            })
        },
        |member| {
            let counter = member.object("counter", &Int(0), Placement::Replicated);
            for program in 1..=3 {
                let arguments = [&counter.id().to_le_bytes()[..], &[4]].concat();
                member.objects.run("Main", &arguments).unwrap();
                assert_eq!(counter.value().unwrap(), 31 * program);
                member.barrier.wait().unwrap();
            }
        },
    );
}

#[test]
fn a_hundred_processes_of_a_rank_wait_for_one_another() {
    let threads = AtomicUsize::new(0);
    let threads: &'static AtomicUsize = Box::leak(Box::new(threads));
    let worker = move |objects: &Objects, arguments: &[u8]| {
        assert_eq!(std::thread::current().name(), Some("Worker"));
        threads.fetch_add(1, Ordering::SeqCst);
        let counter = counter(objects, arguments);
        counter.inc()?;
        counter.await_value(100)?;
        Ok(())
    };
    let main = |objects: &Objects, _: &[u8]| {
        let counter = objects.create_unnamed("counter", &Int(0), Placement::Single(Rank(0)))?;
        for _ in 0..99 {
            objects.fork("Worker", Rank(1), &counter.id().to_le_bytes())?;
        }
        counter.await_value(99)?;
        let on = |rank| objects.processes().iter().filter(|one| one.rank == rank).count();
        assert_eq!((on(Rank(0)), on(Rank(1))), (1, 99));
        objects.fork("Worker", Rank(1), &counter.id().to_le_bytes())?;
        Ok(())
    };
    let types = move |types: Types| types.with_process("Worker", worker).with_process("Main", main);
    assert_eq!(run_program(2, types), [Ok(()), Ok(())]);
    assert_eq!(threads.load(Ordering::SeqCst), 100);
}

#[test]
fn a_fork_on_a_rank_or_of_a_process_that_there_is_not_is_refused() {
    let main = |objects: &Objects, _: &[u8]| {
        assert_eq!(objects.fork("Main", Rank(2), &[]), Err(Error::NoSuchRank(Rank(2), 2)));
        assert_eq!(objects.fork("Other", Rank(1), &[]), Err(Error::UnknownProcess("Other".into())));
        assert_eq!(objects.get::<Int>(77).err(), Some(Error::NoSuchObject(77)));
        Ok(())
    };
    assert_eq!(run_program(2, |types| types.with_process("Main", main)), [Ok(()), Ok(())]);
    let none = run_program(2, |types| types);
    assert_eq!(none, vec![Err(Error::UnknownProcess("Main".into())); 2]);
}

/// All others wait for what never comes, and are told.
#[test]
fn a_process_that_panics_or_fails_ends_the_program() {
    for (how, what) in [(0, "on purpose 7"), (1, "no 7 any more")] {
        for placement in placements(3) {
            let worker = move |objects: &Objects, arguments: &[u8]| {
                let counter = counter(objects, arguments);
                if arguments[8] == 2 {
                    assert_ne!(how, 0, "on purpose 7");
                    return Err("no 7 any more".into());
                }
                let failed = counter.await_value(u64::MAX).unwrap_err();
                assert!(matches!(failed, Error::Process { .. }), "{failed}");
                Err(failed.into())
            };
            let main = move |objects: &Objects, _: &[u8]| {
                let counter = objects.create_unnamed("counter", &Int(0), placement)?;
                for rank in 0..3_u8 {
                    let arguments = [&counter.id().to_le_bytes()[..], &[rank]].concat();
                    objects.fork("Worker", Rank(rank.into()), &arguments)?;
                }
                counter.await_value(u64::MAX)?;
                Ok(())
            };
            let outcomes = run_program(3, move |types| {
                types.with_process("Worker", worker).with_process("Main", main)
            });
            for outcome in outcomes {
                let Err(Error::Process { name, rank, what: said }) = outcome else {
                    panic!("{outcome:?}")
                };
                assert_eq!((&*name, rank), ("Worker", Rank(2)));
                assert!(said.contains(what), "{said}");
            }
        }
    }
}
