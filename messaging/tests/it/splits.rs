//! Teams that are split, by the members of each alone.

use crate::collectives::{all_operations, kinds_of_job, run};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use weft_endpoint::Rank;
use weft_messaging::Error;
use weft_messaging::collective::{Sum, Team};
use weft_threads::Job;

/// The ranks of a team, in its order.
fn ranks(team: &Team) -> Vec<u16> {
    (0..team.size()).map(|member| team.member(member).0).collect()
}

#[test]
fn members_of_a_colour_are_a_team_ordered_by_keys() {
    for size in 1..=9 {
        for job in kinds_of_job(size) {
            run(job, |team, _| {
                let me = team.rank() as u32;
                let part = team.split(Some(me % 3), 100 - me).unwrap().unwrap();
                let expected: Vec<u16> =
                    (0..size).rev().filter(|it| *it as u32 % 3 == me % 3).collect();
                assert_eq!(ranks(&part), expected);
                assert_eq!(part.member(part.rank()).0, me as u16);
                for length in [1, 40] {
                    all_operations(&part, length, 3);
                }
                // Equal keys: the order of the whole, whatever the colour is.
                let all = team.split(Some(u32::MAX), 7).unwrap().unwrap();
                assert_eq!(ranks(&all), (0..size).collect::<Vec<_>>());
                all_operations(&all, 5, 1);
            });
        }
    }
}

#[test]
fn who_has_no_colour_is_in_no_part() {
    run(Job::new(5), |team, _| {
        let me = team.rank() as u32;
        // No colour is none, and not the colour 0.
        let part = team.split((me != 2).then_some(0), 0).unwrap();
        assert_eq!(part.map(|part| ranks(&part)), (me != 2).then(|| vec![0, 1, 3, 4]));
        assert!(team.split(None, me).unwrap().is_none());
        all_operations(team, 3, 2);
    });
}

/// Ranks that are not in a team take no part in splitting it, nor in splitting its parts.
#[test]
fn a_split_is_of_one_team_alone() {
    for job in kinds_of_job(6) {
        run(job, |team, _| {
            let some = team.part(&[5, 4, 2, 1].map(Rank)).unwrap();
            let Some(some) = some else {
                return all_operations(&team.split(Some(1), 0).unwrap().unwrap(), 2, 2);
            };
            let half = some.split(Some(some.rank() as u32 / 2), 0).unwrap().unwrap();
            assert_eq!(ranks(&half), if some.rank() < 2 { [5, 4] } else { [2, 1] });
            let one = half.split(Some(half.rank() as u32), 0).unwrap().unwrap();
            assert_eq!(ranks(&one), [team.rank() as u16]);
            all_operations(&one, 4, 0);
            all_operations(&half, 4, 1);
            let rest = team.split(Some(2), 0).unwrap().unwrap();
            assert_eq!(ranks(&rest), [1, 2, 4, 5]);
            all_operations(&rest, 4, 2);
        });
    }
}

/// One member ends a split late: the others are ahead in the part, and what they send is kept.
#[test]
fn a_part_may_be_used_before_all_have_opened_it() {
    for job in kinds_of_job(3) {
        let ended = AtomicU64::new(0);
        run(job, |team, engine| {
            for round in 0..50_u64 {
                let part = team.split(Some(4), 0).unwrap().unwrap();
                ended.fetch_add(1, Ordering::SeqCst);
                let gathered = part.begin_gather(2, vec![round]).unwrap();
                if part.rank() == 2 {
                    while ended.load(Ordering::SeqCst) < 3 * (round + 1) {
                        engine.progress().unwrap();
                    }
                }
                let all = gathered.wait().unwrap();
                assert_eq!(all, (part.rank() == 2).then(|| vec![vec![round]; 3]));
            }
        });
    }
}

/// More parts than a rank may hear of without having opened them, all in use.
#[test]
fn a_team_may_be_split_any_number_of_times() {
    run(Job::new(3), |team, _| {
        let split = |_| team.split(Some(1), 0).unwrap().unwrap();
        let parts: Vec<Team> = (0..200).map(split).collect();
        for (number, part) in parts.iter().enumerate() {
            let mut sum = [number as u64];
            part.all_reduce(&mut sum, Sum).unwrap();
            assert_eq!(sum, [3 * number as u64]);
        }
    });
}

#[test]
fn members_that_do_not_split_together_are_told() {
    for job in kinds_of_job(3) {
        let told = run(job, |team, _| match team.rank() {
            1 => team.all_gather(&[0_u32; 4]).map(drop),
            _ => team.split(Some(1), 0).map(drop),
        });
        for outcome in told {
            let Err(Error::Disagreement(said)) = outcome else { panic!("{outcome:?}") };
            let names = "began split, rank 1 began all-gather of 16 bytes";
            let turned = "rank 1 began all-gather of 16 bytes, rank";
            let said = said.to_string();
            assert!(said.contains(names) || said.contains(turned), "{said}");
        }
    }
}

/// Packets for parts are stored for as many splits as a rank may be in; one more is refused before
/// it begins.
#[test]
fn splits_at_a_time_are_bounded() {
    let refused = AtomicBool::new(false);
    run(Job::new(2), |team, engine| {
        let wholes: Vec<Team> =
            (0..33).map(|_| team.part(&[0, 1].map(Rank)).unwrap().unwrap()).collect();
        let split = |whole: &Team| loop {
            match whole.split(Some(0), 0) {
                Ok(part) => return part.unwrap(),
                Err(error) => {
                    assert_eq!(error, Error::TooManySplits { limit: 32 });
                    refused.store(true, Ordering::SeqCst);
                    engine.progress().unwrap();
                }
            }
        };
        if team.rank() == 1 {
            while !refused.load(Ordering::SeqCst) {
                engine.progress().unwrap();
            }
        }
        let parts: Vec<Team> = std::thread::scope(|scope| {
            let splitting: Vec<_> =
                wholes.iter().map(|whole| scope.spawn(|| split(whole))).collect();
            splitting.into_iter().map(|split| split.join().unwrap()).collect()
        });
        for part in &parts {
            let mut sum = [1_u64];
            part.all_reduce(&mut sum, Sum).unwrap();
            assert_eq!(sum, [2]);
        }
    });
}
