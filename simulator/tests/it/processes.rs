//! Processes of shared objects on simulated ranks, where those of a rank are coroutines.

use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use weft::{Rank, Weft};
use weft_object::{Error, Handle, Objects, Placement, Types, Waiting};
use weft_simulator::{Faults, Options, Outcome, Preset, Report, RunEnd, Simulation};

/// A number that each of several processes changes when it is its turn.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Turn(u64);

#[weft_object::object]
impl Turn {
    #[read(when = self.0 >= *turn)]
    fn await_turn(&self, turn: u64) -> u64 {
        self.0
    }

    #[write(when = self.0 == *turn)]
    fn pass(&mut self, turn: u64) {
        self.0 += 1;
    }
}

/// The object whose number is in the arguments, and what follows that.
fn turn<'a>(
    objects: &Objects,
    arguments: &'a [u8],
) -> weft_object::Result<(Handle<Turn>, &'a [u8])> {
    let (id, rest) = arguments.split_first_chunk().unwrap();
    Ok((objects.get(u64::from_le_bytes(*id))?, rest))
}

/// Counts when it is dropped.
struct Counts(Arc<AtomicU64>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn options(seed: u64, preset: Preset, ranks: u16) -> Options {
    let mut options = Options::new(ranks).unwrap();
    options.settings.preset = preset;
    options.stack_bytes = 1 << 20;
    options.seed = seed;
    if Preset::RETRANSMITTING.contains(&preset) {
        options.faults = Faults { loss: 0.05, duplication: 0.02, ..Faults::default() };
    }
    options
}

/// Runs the program `Main` of these process types on every rank; what came of it there.
fn run(options: Options, types: impl Fn() -> Types + 'static) -> Report<weft_object::Result<()>> {
    Simulation::new(options).unwrap().run_joined(move |weft: Weft| {
        let objects = Objects::new(weft.orders(), weft.rpc(), types()).unwrap();
        let outcome = objects.run("Main", &[]);
        assert_eq!(objects.processes().len(), 0, "none lives");
        Ok(outcome)
    })
}

/// Everywhere, at the first rank, and at the last.
fn places(ranks: u16) -> [Placement; 3] {
    [Placement::Replicated, Placement::Single(Rank(0)), Placement::Single(Rank(ranks - 1))]
}

/// Five processes of each rank, of which the one that was forked last has the first turn: all but
/// it wait for later ones of their own rank.
fn program(ranks: u16, place: Placement) -> Types {
    let workers = 5 * u64::from(ranks);
    let worker = move |objects: &Objects, arguments: &[u8]| {
        let (cell, rest) = turn(objects, arguments)?;
        let own = workers - 1 - u64::from(rest[0]);
        for round in 0..3 {
            cell.pass(round * workers + own)?;
        }
        assert!(cell.await_turn(3 * workers - 1)? >= 3 * workers - 1);
        Ok(())
    };
    let main = move |objects: &Objects, _: &[u8]| {
        let cell = objects.create_unnamed("turn", &Turn(0), place)?;
        for number in 0..workers {
            let arguments = [&cell.id().to_le_bytes()[..], &[number as u8]].concat();
            objects.fork("Worker", Rank((number / 5) as u16), &arguments)?;
        }
        assert_eq!(cell.await_turn(3 * workers)?, 3 * workers);
        Ok(())
    };
    let types = Types::default().with::<Turn>().with_process("Worker", worker);
    types.with_process("Main", main)
}

#[test]
fn processes_of_a_rank_wait_for_each_other() {
    for preset in Preset::ALL {
        for (seed, ranks) in [(1, 1), (2, 2), (3, 4)] {
            for place in places(ranks) {
                let report = run(options(seed, preset, ranks), move || program(ranks, place));
                let outcomes = report.into_values().unwrap();
                assert_eq!(outcomes, vec![Ok(()); ranks.into()], "{preset} {ranks} {place:?}");
            }
        }
    }
}

#[test]
fn a_seed_fixes_how_processes_take_turns() {
    for preset in Preset::ALL {
        let trace = |seed| {
            let place = Placement::Single(Rank(2));
            let report = run(options(seed, preset, 3), move || program(3, place));
            assert!(report.is_success(), "{preset} {seed}");
            (report.trace_hash, report.events, report.virtual_time)
        };
        assert_eq!(trace(7), trace(7), "{preset}");
    }
    let trace =
        |seed| run(options(seed, Preset::IrxImc, 3), || program(3, places(3)[0])).trace_hash;
    assert_ne!(trace(7), trace(8), "what is lost is another's");
}

/// Fig. 7.2: processes of each rank, of which none waits.
#[test]
fn processes_are_executed_where_they_are_forked() {
    for preset in Preset::ALL {
        let ranks_of = Arc::new(AtomicU64::new(0));
        let types = {
            let ranks_of = Arc::clone(&ranks_of);
            move || {
                let ranks_of = Arc::clone(&ranks_of);
                let worker = move |objects: &Objects, _: &[u8]| {
                    let here = objects.processes().into_iter().filter(|it| it.name == "Worker");
                    ranks_of.fetch_add(here.count() as u64, Ordering::SeqCst);
                    Ok(())
                };
                let main = |objects: &Objects, _: &[u8]| {
                    for rank in [1, 2, 3, 1, 2, 0] {
                        objects.fork("Worker", Rank(rank), &[])?;
                    }
                    Ok(())
                };
                Types::default().with_process("Worker", worker).with_process("Main", main)
            }
        };
        let outcomes = run(options(1, preset, 4), types).into_values().unwrap();
        assert_eq!(outcomes, vec![Ok(()); 4], "{preset}");
        assert!(ranks_of.load(Ordering::SeqCst) >= 6, "{preset}: each has lived");
    }
}

#[test]
fn a_deadlock_is_reported_in_virtual_time() {
    for preset in Preset::ALL {
        let types = || {
            let worker = |objects: &Objects, arguments: &[u8]| {
                let (cell, _) = turn(objects, arguments)?;
                cell.pass(1)?;
                Ok(())
            };
            let main = |objects: &Objects, _: &[u8]| {
                let place = Placement::Single(Rank(2));
                let cell = objects.create_unnamed("turn", &Turn(0), place)?;
                for rank in [1, 1] {
                    objects.fork("Worker", Rank(rank), &cell.id().to_le_bytes())?;
                }
                Ok(())
            };
            let types = Types::default().with::<Turn>().with_process("Worker", worker);
            types.with_process("Main", main)
        };
        let waiting = Waiting {
            process: "Worker".into(),
            rank: Rank(1),
            object: "turn".into(),
            operation: "'pass'".into(),
        };
        let outcomes = run(options(3, preset, 3), types).into_values().unwrap();
        let all = vec![waiting; 2];
        assert_eq!(outcomes, vec![Err(Error::Deadlock(all)); 3], "{preset}");
    }
}

/// A program that has failed may end while the next one begins: a process of it computes until
/// then. The next one is looked after all the same.
#[test]
fn a_deadlock_is_found_behind_a_program_that_ends_late() {
    // Around the time after which a run no longer waits for what has failed.
    for late_us in (0..4_000).step_by(50) {
        let late = Duration::from_millis(999) + Duration::from_micros(late_us);
        let report = Simulation::new(options(1, Preset::default(), 2)).unwrap();
        let report = report.run_joined(move |weft: Weft| {
            let computer = weft.clone();
            let computes = move |_: &Objects, _: &[u8]| {
                let until = computer.now() + late;
                while computer.now() < until {
                    computer.work(100);
                }
                Ok(())
            };
            let fails = |objects: &Objects, _: &[u8]| {
                objects.fork("Computes", Rank(1), &[])?;
                Err("enough".into())
            };
            let waits = |objects: &Objects, _: &[u8]| {
                let place = Placement::Single(Rank(0));
                objects.create_unnamed("turn", &Turn(0), place)?.pass(1)?;
                Ok(())
            };
            let types = Types::default().with::<Turn>().with_process("Computes", computes);
            let types = types.with_process("Fails", fails).with_process("Waits", waits);
            let objects = Objects::new(weft.orders(), weft.rpc(), types).unwrap();
            assert!(matches!(objects.run("Fails", &[]), Err(Error::Process { .. })));
            Ok(objects.run("Waits", &[]))
        });
        let outcomes = report.into_values().unwrap();
        // It was not begun if the first one was not over.
        let is_told = |outcome: &weft_object::Result<()>| {
            matches!(outcome, Err(Error::Deadlock(_) | Error::Process { .. }))
        };
        assert!(outcomes.iter().all(is_told), "{late:?}: {outcomes:?}");
    }
}

/// Process types of which `Waits` has a turn that never comes and counts the ends of its processes.
fn with_waiting(ended: &Arc<AtomicU64>) -> Types {
    let ended = Arc::clone(ended);
    let waits = move |objects: &Objects, arguments: &[u8]| {
        let _counts = Counts(Arc::clone(&ended));
        let (cell, _) = turn(objects, arguments)?;
        cell.pass(1)?;
        Ok(())
    };
    Types::default().with::<Turn>().with_process("Waits", waits)
}

/// A rank dies that has several processes: all of them are unwound, and all others are told.
#[test]
fn all_processes_of_a_rank_that_dies_are_unwound() {
    for (seed, preset) in Preset::ALL.into_iter().enumerate() {
        let ended = Arc::new(AtomicU64::new(0));
        let mut options = options(seed as u64, preset, 3);
        options.faults.crashes = vec![(Rank(2), Duration::from_millis(20))];
        let types = {
            let ended = Arc::clone(&ended);
            move || {
                let main = |objects: &Objects, _: &[u8]| {
                    let cell = objects.create_unnamed("turn", &Turn(0), Placement::Replicated)?;
                    for rank in [2, 2, 2] {
                        objects.fork("Waits", Rank(rank), &cell.id().to_le_bytes())?;
                    }
                    Ok(())
                };
                with_waiting(&ended).with_process("Main", main)
            }
        };
        let report = Simulation::new(options).unwrap().run_joined(move |weft: Weft| {
            let objects = Objects::new(weft.orders(), weft.rpc(), types()).unwrap();
            objects.run("Main", &[]).map_err(|error| error.to_string())
        });
        assert_eq!(report.ended, RunEnd::Finished, "{preset}: {:?}", report.outcomes);
        assert_eq!(report.all_tell_of(Rank(2)), Ok(()), "{preset}");
        assert_eq!(ended.load(Ordering::SeqCst), 3, "{preset}");
    }
}

/// A process fails while another one of its rank waits for a message that never comes: the program
/// ends a second later, and with it that process.
#[test]
fn a_process_that_does_not_end_is_unwound_with_its_rank() {
    for preset in Preset::ALL {
        let ended = Arc::new(AtomicU64::new(0));
        let of_ranks = Arc::clone(&ended);
        let simulation = Simulation::new(options(1, preset, 2)).unwrap();
        let report = simulation.run_joined(move |weft: Weft| {
            let (ended, silent) = (Arc::clone(&of_ranks), weft.mailbox("silent").unwrap());
            let silent = Arc::new(silent);
            let waits = move |_: &Objects, _: &[u8]| {
                let _counts = Counts(Arc::clone(&ended));
                silent.receive()?;
                Ok(())
            };
            let fails = |_: &Objects, _: &[u8]| Err("enough".into());
            let main = |objects: &Objects, _: &[u8]| {
                objects.fork("Waits", Rank(1), &[])?;
                objects.fork("Fails", Rank(1), &[])?;
                Ok(())
            };
            let types = Types::default().with_process("Waits", waits);
            let types = types.with_process("Fails", fails).with_process("Main", main);
            let objects = Objects::new(weft.orders(), weft.rpc(), types).unwrap();
            let outcome = objects.run("Main", &[]);
            let is_right = matches!(&outcome, Err(Error::Process { what, .. }) if what == "enough");
            if is_right { Ok(()) } else { Err(format!("{outcome:?}")) }
        });
        assert_eq!(report.outcomes, vec![Outcome::Returned(()); 2], "{preset}");
        assert!(report.virtual_time >= Duration::from_secs(1), "{preset}: others get a second");
        assert_eq!(ended.load(Ordering::SeqCst), 1, "{preset}");
    }
}
