//! Collective operations between real ranks, judged by what a plain loop computes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use weft_endpoint::Rank;
use weft_messaging::collective::{And, Max, Min, Or, Product, Reduction, Sum, Team, Xor};
use weft_messaging::{Barrier, Engine, Error};
use weft_protocol::Preset;
use weft_protocol::tree::Shape;
use weft_threads::{Between, Interrupt, Job};

/// Runs `program` with the team of all ranks of `job`; they leave together.
pub fn run<T: Send>(job: Job, program: impl Fn(&Team, &Arc<Engine>) -> T + Sync) -> Vec<T> {
    run_with_barrier(job, |barrier, engine| program(barrier.team(), engine))
}

/// Does what [`run`] does, for a program that may leave by itself.
fn run_with_barrier<T: Send>(
    job: Job,
    program: impl Fn(&Barrier, &Arc<Engine>) -> T + Sync,
) -> Vec<T> {
    let done = AtomicU64::new(0);
    job.run(
        |packets| {
            let engine = Engine::new(packets);
            let interrupted = Arc::clone(&engine);
            let barrier = Barrier::new(&engine).unwrap();
            let interrupt = move || interrupted.interrupted();
            ((barrier, engine), Box::new(interrupt) as Interrupt)
        },
        |(barrier, engine)| {
            let result = program(&barrier, &engine);
            // A team that has failed has no barrier to leave by.
            engine.flush().unwrap();
            done.fetch_add(1, Ordering::SeqCst);
            while done.load(Ordering::SeqCst) < job.memory.ranks.into() {
                engine.progress().unwrap();
            }
            result
        },
    )
}

pub fn kinds_of_job(ranks: u16) -> Vec<Job> {
    let small = |mut job: Job| {
        job.memory.window_packets = 4;
        job.memory.frames = 8;
        job.memory.frame_bytes = 256;
        job
    };
    let plain = Job { between: Between::Plain, shape: Shape::Binary, ..Job::new(ranks) };
    let interrupt_delay = Some(Duration::from_micros(50));
    vec![
        Job::new(ranks),
        Job { interrupt_delay, ..plain },
        small(Job::new(ranks)),
        small(plain),
        small(Job { preset: Preset::NrxHmc, interrupt_delay, ..plain }),
        Job { interrupt_delay, ..Job::over_udp(ranks, Preset::IrxHmc) },
    ]
}

/// Contribution of member `rank` to operation `seed`.
pub fn brought(seed: usize, rank: usize, length: usize) -> Vec<u64> {
    let value = |i| ((seed * 31 + rank) as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15 + i as u64);
    (0..length).map(value).collect()
}

pub fn folded(size: usize, length: usize, seed: usize, by: impl Reduction<u64>) -> Vec<u64> {
    let mut all = brought(seed, 0, length);
    for rank in 1..size {
        let next = brought(seed, rank, length);
        all.iter_mut().zip(&next).for_each(|(into, next)| by.combine(into, next));
    }
    all
}

/// Every blocking operation once, on values of such a length.
pub fn all_operations(team: &Team, length: usize, seed: usize) {
    let (me, size, root) = (team.rank(), team.size(), seed % team.size());
    let mine = brought(seed, me, length);
    let everyones = || (0..size).flat_map(|rank| brought(seed, rank, length)).collect::<Vec<_>>();
    team.barrier().unwrap();

    let mut values = mine.clone();
    team.broadcast(root, &mut values).unwrap();
    assert_eq!(values, brought(seed, root, length));

    let mut values = mine.clone();
    team.reduce(root, &mut values, Sum).unwrap();
    assert_eq!(values, if me == root { folded(size, length, seed, Sum) } else { mine.clone() });

    let mut values = mine.clone();
    team.all_reduce(&mut values, Max).unwrap();
    assert_eq!(values, folded(size, length, seed, Max));

    let gathered = team.gather(root, &mine).unwrap();
    assert_eq!(gathered, (me == root).then(everyones));

    let varied = |rank: usize| brought(seed, rank, (rank * 7 + length) % 11);
    let gathered = team.gather_varied(root, &varied(me)).unwrap();
    assert_eq!(gathered, (me == root).then(|| (0..size).map(varied).collect()));

    let whole = brought(seed, root, length * size);
    let mut values = vec![0; length];
    team.scatter(root, (me == root).then_some(&whole[..]), &mut values).unwrap();
    assert_eq!(values, whole[me * length..][..length]);

    assert_eq!(team.all_gather(&mine).unwrap(), everyones());

    let swapped = team.all_to_all(&brought(seed, me, length * size)).unwrap();
    let part = |rank| brought(seed, rank, length * size)[me * length..][..length].to_vec();
    assert_eq!(swapped, (0..size).flat_map(part).collect::<Vec<_>>());

    let mut values = mine.clone();
    team.scan(&mut values, Product).unwrap();
    assert_eq!(values, folded(me + 1, length, seed, Product));

    let mut values = mine.clone();
    team.exclusive_scan(&mut values, Sum).unwrap();
    assert_eq!(values, if me == 0 { mine } else { folded(me, length, seed, Sum) });
}

#[test]
fn all_operations_on_values_of_all_lengths() {
    for ranks in 1..=9 {
        for job in kinds_of_job(ranks) {
            run(job, |team, _| {
                for (seed, length) in [0, 1, 4, 5, 33, 700].into_iter().enumerate() {
                    all_operations(team, length, seed);
                }
            });
        }
    }
}

#[test]
fn all_operations_on_a_mebibyte() {
    for job in kinds_of_job(3) {
        run(job, |team, _| all_operations(team, (1 << 20) / 8, 3));
    }
}

#[test]
fn a_team_of_some_acts_without_the_others() {
    for job in kinds_of_job(6) {
        run(job, |team, _| {
            let odd = team.part(&[5, 3, 1].map(Rank)).unwrap();
            let some = team.part(&[4, 5, 0, 1].map(Rank)).unwrap();
            for (seed, team) in [&odd, &some].into_iter().enumerate() {
                let Some(team) = team else { continue };
                for length in [1, 40] {
                    all_operations(team, length, seed);
                }
            }
            assert_eq!(odd.is_some(), team.rank() % 2 == 1);
            assert_eq!(odd.map(|odd| odd.rank()), [5, 3, 1].iter().position(|&m| m == team.rank()));
            assert_eq!(some.is_some(), [0, 1, 4, 5].contains(&team.rank()));
            all_operations(team, 3, 9);
        });
    }
}

/// More teams than have counters in shared memory.
#[test]
fn teams_may_be_many() {
    run(Job::new(3), |team, _| {
        let teams: Vec<_> = (0..7).map(|_| team.part(&[2, 1, 0].map(Rank)).unwrap()).collect();
        for round in 0..20 {
            for team in teams.iter().flatten() {
                let mut value = [team.rank() as u64 + round];
                team.all_reduce(&mut value, Sum).unwrap();
                assert_eq!(value, [3 + 3 * round]);
                team.barrier().unwrap();
            }
        }
    });
}

/// One rank makes its teams late: others are ahead by as many as they may be, not by all.
#[test]
fn teams_that_are_not_made_yet_are_bounded() {
    for job in kinds_of_job(3) {
        let made = AtomicU64::new(0);
        run(job, |team, engine| {
            if team.rank() == 2 {
                // What comes for teams that are not open here is taken, and stored.
                while made.load(Ordering::SeqCst) < 2 * 31 {
                    engine.progress().unwrap();
                }
                for _ in 0..10_000 {
                    engine.progress().unwrap();
                }
            }
            let mut teams = Vec::new();
            for number in 0..200_u64 {
                let part = team.part(&[0, 1, 2].map(Rank)).unwrap().unwrap();
                teams.push(part.begin_gather(2, vec![number]).unwrap());
                made.fetch_add(1, Ordering::SeqCst);
            }
            for (number, pending) in (0..).zip(teams) {
                let all = pending.wait().unwrap();
                assert_eq!(all, (team.rank() == 2).then(|| vec![vec![number]; 3]));
            }
        });
    }
}

#[test]
fn operations_that_overlap_end_in_any_order() {
    for job in kinds_of_job(4) {
        run(job, |team, engine| {
            let (me, size) = (team.rank(), team.size());
            let sums: Vec<_> = (0..200)
                .map(|seed| team.begin_all_reduce(brought(seed, me, seed), Sum).unwrap())
                .collect();
            let barrier = team.begin_barrier().unwrap();
            let reduced = team.begin_reduce(3, brought(1, me, 9000), Xor).unwrap();
            let swapped = team.begin_all_to_all(brought(2, me, size)).unwrap();
            let mut all = team.begin_all_gather(vec![me as u16]).unwrap();
            let all = loop {
                // Later ones may be waited for first.
                if let Some(all) = all.try_take().unwrap() {
                    break all;
                }
                engine.progress().unwrap();
            };
            assert_eq!(all, [0, 1, 2, 3]);
            let part = |rank| brought(2, rank, size)[me];
            assert_eq!(swapped.wait().unwrap(), (0..size).map(part).collect::<Vec<_>>());
            let expected = (me == 3).then(|| folded(size, 9000, 1, Xor));
            assert_eq!(reduced.wait().unwrap(), expected);
            barrier.wait().unwrap();
            for (seed, sum) in sums.into_iter().enumerate().rev() {
                assert_eq!(sum.wait().unwrap(), folded(size, seed, seed, Sum), "{seed}");
            }
        });
    }
}

/// Members that only send get ahead of the others, but only so far: what others store is bounded.
#[test]
fn nobody_is_too_far_ahead_of_the_others() {
    for job in kinds_of_job(3) {
        let ahead = AtomicBool::new(false);
        run(job, |team, engine| {
            while team.rank() == 0 && !ahead.load(Ordering::SeqCst) {
                engine.progress().unwrap();
            }
            let begin = |seed| team.begin_reduce(0, brought(seed, team.rank(), 5), Sum).unwrap();
            let mut begun: Vec<_> = (0..200).map(begin).collect();
            if team.rank() == 2 {
                let mut ended = |seed: usize| begun[seed].try_take().unwrap().is_some();
                assert!(ended(0) && ended(63));
                assert!(!ended(64) && !ended(199));
                ahead.store(true, Ordering::SeqCst);
            }
            for (seed, begun) in begun.into_iter().enumerate() {
                if team.rank() != 2 || !matches!(seed, 0 | 63) {
                    let expected = (team.rank() == 0).then(|| folded(3, 5, seed, Sum));
                    assert_eq!(begun.wait().unwrap(), expected);
                }
            }
        });
    }
}

#[test]
fn floats_are_the_same_bits_on_all_members() {
    let bits = |length: usize| {
        let mut all = Vec::new();
        for job in kinds_of_job(7).into_iter().chain(kinds_of_job(7)) {
            let sums = run(job, |team, _| {
                let value = |i: usize| 1.0 / ((team.rank() * 1000 + i + 3) as f64);
                let mut values: Vec<_> = (0..length).map(value).collect();
                team.all_reduce(&mut values, Sum).unwrap();
                values.into_iter().map(f64::to_bits).collect::<Vec<_>>()
            });
            assert!(sums.iter().all(|sum| *sum == sums[0]), "{job:?}");
            all.push(sums[0].clone());
        }
        let (once, again) = all.split_at(all.len() / 2);
        assert_eq!(once, again, "and so in every run");
    };
    [1, 4, 100, 20_000].into_iter().for_each(bits);
}

#[test]
fn reductions_are_what_their_names_say() {
    run(Job { between: Between::Plain, ..Job::new(5) }, |team, _| {
        fn check(team: &Team, by: impl Reduction<u64> + Copy) {
            let mut values = brought(1, team.rank(), 6);
            team.all_reduce(&mut values, by).unwrap();
            assert_eq!(values, folded(5, 6, 1, by));
        }
        check(team, Sum);
        check(team, Product);
        check(team, Min);
        check(team, Max);
        check(team, And);
        check(team, Or);
        check(team, Xor);
        let me = team.rank() as f32 - 2.0;
        let mut values = [me; 4];
        team.all_reduce(&mut values, Min).unwrap();
        assert_eq!(values, [-2.0; 4]);
        let mut values = [team.rank() as u8 + 100; 3];
        team.all_reduce(&mut values, Sum).unwrap();
        assert_eq!(values, [254; 3], "510, wrapped around");
    });
}

/// Matrices do not commute: the order is that of members, whatever the root and the link.
#[test]
fn values_are_combined_in_the_order_of_members() {
    let multiply = |a: &mut [u32; 4], b: &[u32; 4]| {
        let dot = |row: usize, column: usize| {
            a[2 * row]
                .wrapping_mul(b[column])
                .wrapping_add(a[2 * row + 1].wrapping_mul(b[2 + column]))
        };
        *a = [dot(0, 0), dot(0, 1), dot(1, 0), dot(1, 1)];
    };
    let matrix = |rank: usize| [rank as u32 + 1, 2, 3, 5 * rank as u32];
    for ranks in 1..=9 {
        let mut expected = matrix(0);
        (1..usize::from(ranks)).for_each(|rank| multiply(&mut expected, &matrix(rank)));
        for job in kinds_of_job(ranks) {
            run(job, |team, _| {
                let mut one = [matrix(team.rank())];
                team.all_reduce(&mut one, multiply).unwrap();
                assert_eq!(one, [expected]);
                let mut many = vec![matrix(team.rank()); 4000];
                team.all_reduce(&mut many, multiply).unwrap();
                assert_eq!(many, vec![expected; 4000]);
                let root = team.size() / 2;
                let mut one = [matrix(team.rank())];
                team.reduce(root, &mut one, multiply).unwrap();
                assert_eq!(one, [if team.rank() == root { expected } else { matrix(team.rank()) }]);
            });
        }
    }
}

/// Errors of all members if one of them begins something else.
fn disagreement(job: Job, program: impl Fn(&Team) -> Result<(), Error> + Sync) {
    for (rank, outcome) in run(job, |team, _| program(team)).into_iter().enumerate() {
        let Err(Error::Disagreement(said)) = outcome else {
            panic!("{rank}: {outcome:?}, {job:?}")
        };
        assert_ne!(said.one.1, said.other.1);
        let Rank(liar) = if said.one.0 == 1 { said.one.0 } else { said.other.0 };
        assert_eq!((liar, said.number), (1, 1), "{said}");
    }
}

#[test]
fn a_barrier_agrees_with_no_member_that_leaves() {
    for job in kinds_of_job(3) {
        let outcomes = run_with_barrier(job, |barrier, _| match barrier.team().rank() {
            1 => barrier.wait(),
            _ => barrier.leave(),
        });
        for (rank, outcome) in outcomes.into_iter().enumerate() {
            let Err(Error::Disagreement(said)) = outcome else {
                panic!("{rank}: {outcome:?}, {job:?}")
            };
            let said = said.to_string();
            assert!(said.contains("rank 1 began barrier"), "{said}");
            assert!(said.contains(" began leaving the job"), "{said}");
        }
    }
}

#[test]
fn members_that_disagree_are_all_told() {
    for job in kinds_of_job(4) {
        let begin = |team: &Team| team.barrier();
        disagreement(job, |team| {
            begin(team)?;
            let mut values = vec![0_u64; if team.rank() == 1 { 2 } else { 1 }];
            team.all_reduce(&mut values, Sum)
        });
        disagreement(job, |team| {
            begin(team)?;
            let mut values = vec![0_u64; if team.rank() == 1 { 200 } else { 100 }];
            team.all_reduce(&mut values, Sum)
        });
        disagreement(job, |team| {
            begin(team)?;
            match team.rank() {
                1 => team.all_reduce(&mut [1_u8], Or),
                _ => team.barrier(),
            }
        });
        disagreement(job, |team| {
            begin(team)?;
            match team.rank() {
                1 => team.all_gather(&[3_u16; 40]).map(drop),
                _ => team.barrier(),
            }
        });
        // Those that only send have ended; they are told by what they do next.
        disagreement(job, |team| {
            begin(team)?;
            team.reduce(if team.rank() == 1 { 2 } else { 0 }, &mut [1_u64; 9], Sum)?;
            team.barrier()
        });
    }
}

#[test]
fn what_cannot_be_is_refused_before_it_begins() {
    run(Job::new(3), |team, _| {
        let outcome = team.broadcast(3, &mut [1_u8]);
        assert_eq!(outcome, Err(Error::NoSuchMember { root: 3, members: 3 }));
        let outcome = team.all_to_all(&[1_u8; 4]);
        assert_eq!(outcome, Err(Error::Uneven { values: 4, parts: 3 }));
        if team.rank() == 0 {
            let outcome = team.scatter(0, Some(&[1_u8; 4]), &mut [0]);
            assert_eq!(outcome, Err(Error::Uneven { values: 4, parts: 3 }));
        }
        assert!(team.part(&[]).is_err());
        assert!(team.part(&[Rank(1), Rank(1)]).is_err());
        all_operations(team, 3, 1);
    });
}

#[test]
fn a_reduction_that_panics_does_so_where_its_program_waits() {
    for job in kinds_of_job(4) {
        run(job, |team, _| {
            // Member 2 combines what member 3 brings, and member 0 hears nothing of it.
            let reduction = |into: &mut u64, next: &u64| {
                assert!(*next < 30, "three is too many");
                *into += next;
            };
            let begun = team.begin_reduce(0, vec![10 * team.rank() as u64; 50], reduction);
            let outcome = catch_unwind(AssertUnwindSafe(|| begun?.wait()));
            if team.rank() == 2 {
                assert_eq!(outcome.unwrap_err().downcast_ref(), Some(&"three is too many"));
            } else {
                // Those that only send have ended; they are told by what they do next. Who begins
                // late is told at once.
                let next = outcome.unwrap().and_then(|_| team.begin_barrier()?.wait());
                assert_eq!(next, Err(Error::ReductionPanicked(Rank(2))), "{job:?}");
            }
        });
    }
}

/// The counters of small operations in shared memory, against something that all can see.
#[test]
fn nobody_leaves_before_all_have_come() {
    for job in kinds_of_job(5) {
        let arrived = AtomicU64::new(0);
        run(job, |team, _| {
            for round in 1..=100_u64 {
                arrived.fetch_add(1, Ordering::SeqCst);
                let mut values = [round * team.rank() as u64, 7];
                match round % 3 {
                    0 => team.barrier().unwrap(),
                    1 => team.begin_barrier().unwrap().wait().unwrap(),
                    _ => {
                        team.all_reduce(&mut values, Sum).unwrap();
                        assert_eq!(values, [10 * round, 35]);
                    }
                }
                assert!(arrived.load(Ordering::SeqCst) >= 5 * round, "{job:?}");
            }
        });
    }
}
