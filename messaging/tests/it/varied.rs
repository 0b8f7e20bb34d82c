//! Operations of varied lengths, scans, records, and operations that are started again, judged by
//! what a plain loop computes.

use crate::collectives::{brought, folded, kinds_of_job, run};
use std::panic::{AssertUnwindSafe, catch_unwind};
use weft_messaging::Error;
use weft_messaging::collective::{Max, Sum, Team};
use weft_threads::{Between, Job};

/// Lengths of parts by distance: nothing, a value, a packet or two, many.
const MIXED: [usize; 5] = [0, 1, 40, 3, 700];
/// Lengths beyond what is sent unasked, beside short ones.
const LONG: [usize; 4] = [9000, 0, 8200, 2];

/// Values that member `from` has for member `to`.
fn part(lengths: &[usize], seed: usize, from: usize, to: usize) -> Vec<u64> {
    brought(seed + to, from, lengths[(seed + from * 3 + to) % lengths.len()])
}

fn varied_operations(team: &Team, lengths: &[usize], seed: usize) {
    let (me, size, root) = (team.rank(), team.size(), seed % team.size());
    let of = |from, to| part(lengths, seed, from, to);
    let given = |from: usize| (0..size).map(|to| of(from, to)).collect::<Vec<_>>();
    let everyones = || (0..size).map(|from| of(from, 0)).collect::<Vec<_>>();

    let gathered = team.gather_varied(root, &of(me, 0)).unwrap();
    assert_eq!(gathered, (me == root).then(everyones));

    let parts = (me == root).then(|| given(root));
    assert_eq!(team.scatter_varied(root, parts.as_deref()).unwrap(), of(root, me));

    assert_eq!(team.all_gather_varied(&of(me, 0)).unwrap(), everyones());

    let swapped = team.all_to_all_varied(&given(me)).unwrap();
    assert_eq!(swapped, (0..size).map(|from| of(from, me)).collect::<Vec<_>>());
}

#[test]
fn each_member_may_bring_and_get_any_number_of_values() {
    for ranks in 1..=9 {
        for job in kinds_of_job(ranks) {
            run(job, |team, _| {
                for seed in 0..5 {
                    varied_operations(team, &MIXED, seed);
                }
            });
        }
    }
}

#[test]
fn long_parts_go_beside_short_ones() {
    for ranks in [2, 3, 5] {
        for job in kinds_of_job(ranks) {
            run(job, |team, _| (0..3).for_each(|seed| varied_operations(team, &LONG, seed)));
        }
    }
}

#[test]
fn varied_operations_that_overlap_end_in_any_order() {
    for job in kinds_of_job(4) {
        run(job, |team, _| {
            let (me, size) = (team.rank(), team.size());
            let of = |from, to| part(&LONG, 1, from, to);
            let mine: Vec<_> = (0..size).map(|to| of(me, to)).collect();
            let lengths: Vec<usize> = mine.iter().map(Vec::len).collect();
            let swapped = team.begin_all_to_all_varied(mine.concat(), &lengths).unwrap();
            let all = team.begin_all_gather_varied(of(me, 2)).unwrap();
            let (values, lengths) =
                if me == 3 { (mine.concat(), lengths) } else { (vec![], vec![]) };
            let scattered = team.begin_scatter_varied(3, values, &lengths).unwrap();
            let scanned = team.begin_scan(brought(5, me, 9000), Sum).unwrap();
            let before = team.begin_exclusive_scan(brought(6, me, 3), Max).unwrap();
            let expected = if me == 0 { brought(6, 0, 3) } else { folded(me, 3, 6, Max) };
            assert_eq!(before.wait().unwrap(), expected);
            assert_eq!(scanned.wait().unwrap(), folded(me + 1, 9000, 5, Sum));
            assert_eq!(scattered.wait().unwrap(), of(3, me));
            assert_eq!(all.wait().unwrap(), (0..size).map(|from| of(from, 2)).collect::<Vec<_>>());
            let expected: Vec<_> = (0..size).map(|from| of(from, me)).collect();
            assert_eq!(swapped.wait().unwrap(), expected);
        });
    }
}

#[test]
fn parts_that_cannot_be_are_refused_before_anything_begins() {
    run(Job::new(3), |team, _| {
        let parts = [vec![1_u8], vec![2]];
        let Err(error) = team.all_to_all_varied(&parts) else { panic!("two parts for three") };
        assert_eq!(error, Error::Parts { values: 2, parts: 2, members: 3, total: 2 });
        let said = "2 values are given, and 2 parts for 3 members that have 2";
        assert_eq!(error.to_string(), said);
        let Err(error) = team.begin_all_to_all_varied(vec![1_u8; 9], &[1, 2, 3]) else {
            panic!("nine values are not six")
        };
        assert_eq!(error, Error::Parts { values: 9, parts: 3, members: 3, total: 6 });
        let Err(error) = team.begin_all_to_all_varied(vec![1_u8; 9], &[9, usize::MAX, 10]) else {
            panic!("nine values are not so many")
        };
        assert_eq!(error, Error::Parts { values: 9, parts: 3, members: 3, total: usize::MAX });
        if team.rank() == 1 {
            let Err(error) = team.scatter_varied(1, Some(&parts)) else { panic!("two parts") };
            assert_eq!(error, Error::Parts { values: 2, parts: 2, members: 3, total: 2 });
        }
        let outcome = team.gather_varied(7, &[1_u8]);
        assert_eq!(outcome, Err(Error::NoSuchMember { root: 7, members: 3 }));
        let none = team.scatter_varied::<u8>(3, None);
        assert_eq!(none, Err(Error::NoSuchMember { root: 3, members: 3 }));
        varied_operations(team, &MIXED, 1);
    });
}

/// Elements of different sizes are different operations where no root stands in the signature.
#[test]
fn members_that_disagree_about_varied_operations_are_told() {
    for job in kinds_of_job(3) {
        let told = run(job, |team, _| match team.rank() {
            1 => team.all_gather_varied(&[1_u16; 4]).map(drop),
            _ => team.all_gather_varied(&[1_u32; 2]).map(drop),
        });
        for outcome in told {
            let Err(Error::Disagreement(said)) = outcome else { panic!("{outcome:?}") };
            assert!(said.to_string().contains("began all-gather (of varied lengths)"), "{said}");
        }
        let told = run(job, |team, _| {
            let mut one = [1_u64];
            let outcome = match team.rank() {
                2 => team.exclusive_scan(&mut one, Sum),
                _ => team.scan(&mut one, Sum),
            };
            // The first member only sends; it is told by what it does next.
            outcome.and_then(|()| team.begin_barrier()?.wait())
        });
        for outcome in told {
            let Err(Error::Disagreement(said)) = outcome else { panic!("{outcome:?}") };
            assert!(said.to_string().contains("exclusive scan of 8 bytes"), "{said}");
        }
    }
}

/// Functions `x -> a x + b`: they do not commute.
fn then(before: &mut [u32; 2], after: &[u32; 2]) {
    *before =
        [after[0].wrapping_mul(before[0]), after[0].wrapping_mul(before[1]).wrapping_add(after[1])];
}

fn function(member: usize, place: usize) -> [u32; 2] {
    [2 * member as u32 + 3, (member * 1000 + place) as u32]
}

#[test]
fn scans_combine_in_the_order_of_members() {
    for ranks in 1..=9 {
        for job in kinds_of_job(ranks) {
            run(job, |team, _| {
                let me = team.rank();
                // The last goes along a chain.
                let lengths = [0, 1, 30, 5000];
                let lengths = &lengths[..if [3, 4].contains(&ranks) { 4 } else { 3 }];
                for &length in lengths {
                    let up_to = |members: usize, place| {
                        let mut all = function(0, place);
                        (1..members).for_each(|member| then(&mut all, &function(member, place)));
                        all
                    };
                    let mine: Vec<_> = (0..length).map(|place| function(me, place)).collect();
                    let mut values = mine.clone();
                    team.scan(&mut values, then).unwrap();
                    let expected: Vec<_> = (0..length).map(|place| up_to(me + 1, place)).collect();
                    assert_eq!(values, expected, "{length} at member {me}, {job:?}");
                    let mut values = mine.clone();
                    team.exclusive_scan(&mut values, then).unwrap();
                    let before = || (0..length).map(|place| up_to(me, place)).collect();
                    let expected = if me == 0 { mine } else { before() };
                    assert_eq!(values, expected, "{length} before member {me}, {job:?}");
                }
            });
        }
    }
}

#[test]
fn scans_of_floats_are_the_same_bits_in_every_run() {
    for length in [1, 100, 20_000] {
        let scanned = |job: Job| {
            run(job, |team, _| {
                let value = |i: usize| 1.0 / ((team.rank() * 1000 + i + 3) as f64);
                let mut values: Vec<_> = (0..length).map(value).collect();
                team.scan(&mut values, Sum).unwrap();
                values.into_iter().map(f64::to_bits).collect::<Vec<_>>()
            })
        };
        let jobs = kinds_of_job(7);
        let first = scanned(jobs[0]);
        for job in jobs {
            assert!(scanned(job) == first, "{length}, {job:?}");
        }
    }
}

#[test]
fn a_reduction_that_panics_in_a_scan_does_so_where_its_program_waits() {
    for job in kinds_of_job(3) {
        run(job, |team, _| {
            let reduction = |into: &mut u64, next: &u64| {
                assert!(*next < 2, "two is too many");
                *into += next;
            };
            let begun = team.begin_scan(vec![team.rank() as u64; 50], reduction);
            let outcome = catch_unwind(AssertUnwindSafe(|| begun?.wait()));
            if team.rank() == 2 {
                assert_eq!(outcome.unwrap_err().downcast_ref(), Some(&"two is too many"));
            } else {
                let next = outcome.unwrap().and_then(|_| team.begin_barrier()?.wait());
                assert!(matches!(next, Err(Error::ReductionPanicked(_))), "{next:?}");
            }
        });
    }
}

/// Adds three-byte numbers, the first byte last.
fn add_records(before: &[u8], after: &mut [u8]) {
    assert_eq!((before.len(), before.len() % 3), (after.len(), 0), "whole records of both");
    for (one, two) in before.chunks_exact(3).zip(after.chunks_exact_mut(3)) {
        let sum = number(one) + number(two);
        two.copy_from_slice(&sum.to_be_bytes()[1..]);
    }
}

fn number(record: &[u8]) -> u32 {
    record.iter().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

fn records(of: impl Fn(u32) -> u32, many: u32) -> Vec<u8> {
    (0..many).flat_map(|place| of(place).to_be_bytes()[1..].to_vec()).collect()
}

#[test]
fn records_of_any_size_are_combined_whole() {
    for job in kinds_of_job(5) {
        run(job, |team, _| {
            let (me, by) = (team.rank() as u32, team.records(3));
            for many in [0, 1, 77, 30_000] {
                let mine = || records(|place| place + me, many);
                let sum = |members: u32| {
                    let below = members * members.saturating_sub(1) / 2;
                    records(move |place| place * members + below, many)
                };
                let pending = by.begin_all_reduce(mine(), add_records).unwrap();
                assert_eq!(pending.wait().unwrap(), sum(5));
                let pending = by.begin_reduce(3, mine(), add_records).unwrap();
                assert_eq!(pending.wait().unwrap(), (me == 3).then(|| sum(5)));
                let pending = by.begin_scan(mine(), add_records).unwrap();
                assert_eq!(pending.wait().unwrap(), sum(me + 1));
                let pending = by.begin_exclusive_scan(mine(), add_records).unwrap();
                assert_eq!(pending.wait().unwrap(), if me == 0 { mine() } else { sum(me) });
            }
            let Err(error) = by.begin_scan(vec![1; 7], add_records) else { panic!("7 bytes") };
            assert_eq!(error, Error::Records { bytes: 7, size: 3 });
            let nothing = team.records(0).begin_scan(vec![1; 7], add_records);
            assert!(matches!(nothing, Err(Error::Records { bytes: 7, size: 0 })));
        });
    }
}

#[test]
fn an_operation_is_started_any_number_of_times_on_the_same_buffers() {
    for job in [Job::new(3), Job { between: Between::Plain, ..Job::new(3) }] {
        run(job, |team, engine| {
            let (me, size) = (team.rank() as u64, team.size() as u64);
            let mut sum = team.prepare().all_reduce(vec![0_u64; 40], Sum).unwrap();
            let mut all = team.prepare().all_gather(vec![0_u64; 2]).unwrap();
            let buffers = (sum.values().unwrap().as_ptr(), all.values().unwrap().as_ptr());
            for round in 0..100_u64 {
                sum.values().unwrap().fill(round + me);
                all.values().unwrap().copy_from_slice(&[round, me]);
                let (adding, mut gathering) = (sum.start().unwrap(), all.start().unwrap());
                while !gathering.is_over().unwrap() {
                    engine.progress().unwrap();
                }
                let gathered = gathering.wait().unwrap();
                assert_eq!(gathered, [round, 0, round, 1, round, 2]);
                if round % 7 == 0 {
                    // Whoever writes to the buffer next waits for it.
                    drop(adding);
                } else {
                    assert_eq!(adding.wait().unwrap(), [3 * round + size; 40]);
                }
            }
            drop(sum.start());
            assert_eq!(sum.values().unwrap(), [9 * 99 + 3 * size; 40]);
            assert_eq!(all.values().unwrap(), [99, me]);
            assert_eq!(buffers, (sum.values().unwrap().as_ptr(), all.values().unwrap().as_ptr()));
        });
    }
}

#[test]
fn every_operation_of_equal_lengths_can_be_prepared() {
    run(Job::new(3), |team, _| {
        let (me, prepare) = (team.rank(), team.prepare());
        let at_root = |values: Vec<u32>| if me == 1 { values } else { Vec::new() };
        let mut prepared = [
            (prepare.broadcast(1, vec![me as u32; 2]).unwrap(), vec![1, 1]),
            (prepare.reduce(1, vec![me as u32], Sum).unwrap(), vec![[0, 3, 2][me]]),
            (prepare.scan(vec![me as u32], Sum).unwrap(), vec![[0, 1, 3][me]]),
            (prepare.exclusive_scan(vec![me as u32], Sum).unwrap(), vec![[0, 0, 1][me]]),
            (prepare.gather(1, vec![me as u32]).unwrap(), at_root(vec![0, 1, 2])),
            (prepare.scatter(1, at_root(vec![7, 8, 9]), 1).unwrap(), vec![7 + me as u32]),
            (prepare.all_gather(vec![me as u32]).unwrap(), vec![0, 1, 2]),
            (prepare.all_to_all(vec![me as u32; 3]).unwrap(), vec![0, 1, 2]),
        ];
        for _ in 0..3 {
            for (operation, expected) in &mut prepared {
                if let [value] = operation.values().unwrap() {
                    *value = me as u32;
                }
                assert_eq!(operation.start().unwrap().wait().unwrap(), expected);
            }
        }
        let refused = prepare.broadcast(3, vec![1_u8]).err();
        assert_eq!(refused, Some(Error::NoSuchMember { root: 3, members: 3 }));
        let refused = prepare.all_to_all(vec![1_u8; 4]).err();
        assert_eq!(refused, Some(Error::Uneven { values: 4, parts: 3 }));
        let refused = prepare.scatter(me, vec![1_u8; 4], 2).err();
        assert_eq!(refused, Some(Error::Uneven { values: 4, parts: 3 }));
    });
}

#[test]
fn every_operation_of_varied_lengths_can_be_prepared() {
    run(Job::new(3), |team, engine| {
        let (me, prepare) = (team.rank(), team.prepare());
        // Member n brings n values for all, or for each.
        let mine = |times: usize| vec![me as u32; me * times];
        let (root_has, lengths) = match me {
            1 => (vec![7, 8, 8], vec![1, 0, 2]),
            _ => (vec![], vec![]),
        };
        let of_all = |add: u32| vec![vec![], vec![1 + add], vec![2 + add; 2]];
        let mut gather = prepare.gather_varied(1, mine(1)).unwrap();
        let mut scatter = prepare.scatter_varied(1, root_has, &lengths).unwrap();
        let mut all_gather = prepare.all_gather_varied(mine(1)).unwrap();
        let mut all_to_all = prepare.all_to_all_varied(mine(3), &[me; 3]).unwrap();
        for round in 0..3 {
            for operation in [&mut gather, &mut all_gather, &mut all_to_all] {
                operation.values().unwrap().fill(me as u32 + round);
            }
            let gathered = gather.start().unwrap().wait().unwrap().to_vec();
            assert_eq!(gathered, if me == 1 { of_all(round) } else { vec![] });
            let part = scatter.start().unwrap().wait().unwrap().to_vec();
            assert_eq!(part, [[vec![7], vec![], vec![8, 8]][me].clone()]);
            assert_eq!(all_gather.start().unwrap().wait().unwrap(), of_all(round));
            let mut started = all_to_all.start().unwrap();
            while !started.is_over().unwrap() {
                engine.progress().unwrap();
            }
            assert_eq!(started.wait().unwrap(), of_all(round));
        }
        let refused = prepare.gather_varied(3, vec![1_u8]).err();
        assert_eq!(refused, Some(Error::NoSuchMember { root: 3, members: 3 }));
        let refused = prepare.all_to_all_varied(vec![1_u8; 4], &[1, 2, 3]).err();
        assert_eq!(refused, Some(Error::Parts { values: 4, parts: 3, members: 3, total: 6 }));
        let refused = prepare.scatter_varied(me, vec![1_u8; 4], &[2, 2]).err();
        assert_eq!(refused, Some(Error::Parts { values: 4, parts: 2, members: 3, total: 4 }));
    });
}
