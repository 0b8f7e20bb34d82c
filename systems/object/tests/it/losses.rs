//! Objects of jobs that go on after losses.

use crate::common::*;
use std::sync::Barrier as Meeting;
use weft_endpoint::{Cause, Loss, Rank};
use weft_messaging::rpc::Rpc;
use weft_messaging::{Barrier, Engine, Orders};
use weft_object::{Error, Handle, Objects, Placement, Types};
use weft_threads::{Job, Tap};

/// Results of `program` on every rank of a job that goes on. One that returns `None` is dead, and
/// the others hear of it.
fn run_mortals<T: Send>(
    ranks: u16,
    types: impl Fn() -> Types + Sync,
    program: impl Fn(&Member) -> Option<T> + Sync,
) -> Vec<Option<T>> {
    let tap = Tap::new();
    // Who is there can be told.
    let all_there = Meeting::new(ranks.into());
    Job { tap: Some(tap), ..Job::new(ranks) }.packets(|packets| {
        packets.losses().go_on();
        let rank = packets.rank();
        let engine = Engine::new(packets);
        let barrier = Barrier::new(&engine).unwrap();
        let rpc = Rpc::new(&engine).unwrap();
        let objects = Objects::new(&Orders::new(&engine), &rpc, types()).unwrap();
        let member = Member { objects, barrier, engine };
        all_there.wait();
        let outcome = program(&member);
        match &outcome {
            Some(_) => member.barrier.leave().unwrap(),
            None => {
                // Who is dead answers nobody.
                std::mem::forget(member.objects.clone());
                let loss = Loss { rank, cause: Cause::Killed(9) };
                let others = (0..ranks).map(Rank).filter(|other| *other != rank);
                others.for_each(|other| tap.announce(other, loss));
            }
        }
        member.engine.close();
        outcome
    })
}

const RANKS: u16 = 8;
const ROUNDS: u8 = 30;

/// View of a rank that lives to the end.
struct Seen {
    log: Vec<u8>,
    counts: Vec<Result<u64, Error>>,
    /// For each count, how often this rank has counted, as it knows.
    counted: Vec<u64>,
}

/// Adds to a log that all have, and counts at all ranks in turn, until it dies.
fn count(member: &Member, ends: Option<u8>) -> Option<Seen> {
    let me = member.rank() as u8;
    let log = member.object("log", &Log(Vec::new(), 0), Placement::Replicated);
    let count_of = |home: u16| {
        let placement = Placement::Single(Rank(home));
        member.object(&format!("count {home}"), &Int(0), placement)
    };
    let counts: Vec<Handle<Int>> = (0..RANKS).map(count_of).collect();
    member.barrier.wait().unwrap();
    let mut counted = vec![0; RANKS.into()];
    for round in 0..ROUNDS {
        if ends == Some(round) {
            return None;
        }
        log.add(&[me, round]).unwrap();
        let home = usize::from(round.wrapping_add(me)) % counts.len();
        match counts[home].inc() {
            Ok(_) => counted[home] += 1,
            // The last one moves, and may be lost elsewhere.
            Err(error) => {
                let rank = error.lost_rank().unwrap_or_else(|| panic!("{error}"));
                assert!(home == 7 || rank == home as u16, "{error}");
            }
        }
        // One that moves, to ranks that may be lost.
        if round % 8 == me {
            match counts[7].place(Placement::Single(Rank(u16::from(me)))) {
                Ok(()) => {}
                Err(error) => assert!(matches!(error, Error::Lost { .. }), "{error}"),
            }
        }
    }
    // All that live are done, and know who is lost.
    let team = member.barrier.team();
    while team.agree(0).unwrap().lost.len() < 3 {}
    log.add(&[me, ROUNDS]).unwrap();
    let is_done = |all: &[u8]| {
        let entries = all.as_chunks::<2>().0;
        entries.iter().filter(|entry| entry[1] == ROUNDS).count() == usize::from(RANKS) - 3
    };
    let mut all = Vec::new();
    while !is_done(&all) {
        member.engine.progress().unwrap();
        all = log.all().unwrap();
    }
    let counts = counts.iter().map(|count| count.value()).collect();
    // New ones may be made.
    let new = member.objects.create(&format!("new {me}"), &Int(0), Placement::Replicated).unwrap();
    assert_eq!(new.inc().unwrap(), 1);
    team.agree(0).unwrap();
    Some(Seen { log: all, counts, counted })
}

#[test]
fn objects_live_on_without_those_whose_only_copy_is_lost() {
    for seed in 0..6_u16 {
        // Rank 0, which counts the order's messages, each second time.
        let lost = [seed % 2 * 2, 3 + seed % 2, 6];
        let ends = |rank: u16| {
            let at = lost.iter().position(|lost| *lost == rank)?;
            Some(((u16::from(ROUNDS) * (at as u16 + 1) / 4 + seed) % u16::from(ROUNDS)) as u8)
        };
        let types = || Types::default().with::<Int>().with::<Log>();
        let seen = run_mortals(RANKS, types, |member| count(member, ends(member.rank() as u16)));
        let survivors: Vec<&Seen> = seen.iter().flatten().collect();
        assert_eq!(survivors.len(), 5);
        let log = &survivors[0].log;
        for other in &survivors {
            assert_eq!(&other.log, log, "seed {seed}: all have the same log");
            assert_eq!(other.counts, survivors[0].counts, "seed {seed}");
        }
        for rank in 0..RANKS as u8 {
            let of = log.as_chunks::<2>().0.iter().filter(|entry| entry[0] == rank);
            let rounds: Vec<u8> = of.map(|entry| entry[1]).collect();
            assert!(rounds.iter().copied().eq(0..rounds.len() as u8), "once, in order: {rounds:?}");
            let lives = !lost.contains(&u16::from(rank));
            assert!(!lives || rounds.len() == usize::from(ROUNDS) + 1, "seed {seed}: {rank}");
        }
        for (home, count) in survivors[0].counts.iter().enumerate() {
            match count {
                Ok(count) => {
                    let known: u64 = survivors.iter().map(|seen| seen.counted[home]).sum();
                    let most = known + 3 * u64::from(ROUNDS);
                    assert!((known..=most).contains(count), "seed {seed}: {count} at {home}");
                }
                Err(error) => {
                    let name = format!("count {home}");
                    assert!(
                        matches!(error, Error::Lost { name: of, rank } if *of == name && lost.contains(&rank.0)),
                        "seed {seed}: {error}"
                    );
                }
            }
            let is_lost = lost.contains(&(home as u16));
            assert!(home == 7 || is_lost == count.is_err(), "seed {seed}: {home}");
        }
    }
}

#[test]
fn who_waits_for_a_guard_of_an_object_hears_that_it_is_lost() {
    let errors = run_mortals(
        3,
        || Types::default().with::<Int>(),
        |member| {
            let there = Placement::Single(Rank(1));
            let int = member.object("there", &Int(0), there);
            member.barrier.wait().unwrap();
            if member.rank() == 1 {
                // It dies when both wait.
                member.engine.poll_until(|| int.statistics().unwrap().blocked == 2).unwrap();
                return None;
            }
            let waited = int.await_value(7);
            let later = int.begin_inc().and_then(|begun| begun.wait());
            Some([waited.unwrap_err(), later.unwrap_err()])
        },
    );
    let lost = || Error::Lost { name: "there".into(), rank: Rank(1) };
    assert_eq!(errors, [Some([lost(), lost()]), None, Some([lost(), lost()])]);
}

#[test]
fn a_program_with_a_process_on_a_lost_rank_ends() {
    let outcomes = run_mortals(
        3,
        || {
            let types = Types::default().with::<Int>();
            let types = types.with_process("Main", |objects, _| {
                let int = objects.create_unnamed("int", &Int(0), Placement::Replicated)?;
                objects.fork("Waiter", Rank(1), &int.id().to_le_bytes())?;
                int.await_value(1)?;
                Ok(())
            });
            types.with_process("Waiter", |objects, arguments| {
                let id = u64::from_le_bytes(arguments.try_into().unwrap());
                objects.get::<Int>(id)?.await_value(1)?;
                Ok(())
            })
        },
        |member| {
            if member.rank() == 1 {
                let forked = || member.objects.processes().iter().any(|one| one.name == "Waiter");
                member.engine.poll_until(forked).unwrap();
                return None;
            }
            Some(member.objects.run("Main", &[]))
        },
    );
    for outcome in [&outcomes[0], &outcomes[2]] {
        let Some(Err(Error::Process { name, rank, .. })) = outcome else { panic!("{outcome:?}") };
        assert_eq!((&name[..], *rank), ("Waiter", Rank(1)));
    }
}
