//! Counters of teams, whose members add to them and are lost meanwhile.

use crate::common::{Member, run};
use crate::losses::{Mortal, lost, seeds};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use weft_endpoint::{Preset, Rank};
use weft_messaging::collective::{Counter, Team};
use weft_messaging::{Error, Result};
use weft_threads::Job;

/// Additions of each rank.
const ADDITIONS: usize = 60;

/// An addition that has returned.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Returned {
    before: u64,
    amount: u64,
    /// Ends of the last additions of all ranks that had returned when it was called.
    ends: Vec<u64>,
}

/// Additions of all ranks, the lost ones included.
struct Ledger {
    returned: Vec<Mutex<Vec<Returned>>>,
    ends: Vec<AtomicU64>,
}

impl Ledger {
    fn new(ranks: u16) -> Self {
        let returned = (0..ranks).map(|_| Mutex::default()).collect();
        Ledger { returned, ends: (0..ranks).map(|_| AtomicU64::new(0)).collect() }
    }

    fn add(&self, rank: usize, counter: &Counter, amount: u64) -> Result<()> {
        let ends = self.ends.iter().map(|end| end.load(Ordering::SeqCst)).collect();
        let before = counter.add(amount)?;
        self.ends[rank].store(before + amount, Ordering::SeqCst);
        self.returned[rank].lock().unwrap().push(Returned { before, amount, ends });
        Ok(())
    }

    fn count(&self, rank: usize) -> usize {
        self.returned[rank].lock().unwrap().len()
    }

    /// No additions of these ranks overlap, and none has a value below one that had returned.
    fn judge(&self, ranks: &[usize], what: &str) {
        let of = |rank: &usize| self.returned[*rank].lock().unwrap().clone();
        let mut all: Vec<Returned> = ranks.iter().flat_map(of).collect();
        for one in &all {
            let ends = ranks.iter().map(|rank| one.ends[*rank]);
            assert!(ends.max().is_none_or(|end| one.before >= end), "{what}: {one:?}");
        }
        all.sort_unstable_by_key(|one| one.before);
        for two in all.windows(2) {
            assert!(two[0].before + two[0].amount <= two[1].before, "{what}: {two:?}");
        }
    }
}

/// The reason why a member stops.
enum Stop {
    /// It dies here.
    Death,
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Error(error)
    }
}

/// Steps that are left to a member.
struct Life(u32);

impl Life {
    fn step(&mut self) -> std::result::Result<(), Stop> {
        self.0 = self.0.checked_sub(1).ok_or(Stop::Death)?;
        Ok(())
    }
}

/// A counter that is created or moved, additions, and a meeting of all.
fn count(
    (member, ledger): (&Member, &Ledger),
    (team, counter): (&Team, &mut Option<Counter>),
    life: &mut Life,
) -> std::result::Result<(), Stop> {
    let rank = member.rank();
    life.step()?;
    match counter {
        Some(counter) => counter.move_to(team)?,
        None => *counter = Some(Counter::new(team)?),
    }
    let counter = counter.as_ref().expect("it is there");
    assert_eq!(counter.home(), team.member(0));
    while ledger.count(rank) < ADDITIONS {
        life.step()?;
        ledger.add(rank, counter, 1 + ledger.count(rank) as u64 % 3)?;
    }
    life.step()?;
    team.barrier()?;
    Ok(())
}

/// Counts until all have done so, on what is left of the team; `None` if it dies.
fn live(member: &Member, ledger: &Ledger, steps: u32) -> Option<Vec<Rank>> {
    let (mut team, mut counter) = (member.barrier.team().clone(), None);
    let mut life = Life(steps);
    loop {
        match count((member, ledger), (&team, &mut counter), &mut life) {
            Ok(()) => return Some((0..team.size()).map(|place| team.member(place)).collect()),
            Err(Stop::Death) => return None,
            Err(Stop::Error(error)) => assert!(error.lost_rank().is_some(), "{error}"),
        }
        team = team.shrink().unwrap();
    }
}

/// A job that loses as many of its ranks as the seed says, and when that says.
fn storm(seed: u64, job: impl Fn(u16) -> Mortal, do_share: bool) {
    let mut random = fastrand::Rng::with_seed(seed);
    let ranks = random.u16(2..=7);
    let mortals = random.u16(1..ranks);
    let mut order: Vec<u16> = (0..ranks).collect();
    random.shuffle(&mut order);
    // Homes are the first to die each second time.
    if seed.is_multiple_of(2) {
        order.sort_unstable();
    }
    let mut steps = vec![u32::MAX; ranks.into()];
    for rank in &order[..mortals.into()] {
        steps[usize::from(*rank)] = random.u32(0..ADDITIONS as u32 + 6);
    }
    let ledger = Ledger::new(ranks);
    let left = job(ranks).run(|member| live(member, &ledger, steps[member.rank()]));
    let living: Vec<usize> = (0..ranks.into()).filter(|rank| left[*rank].is_some()).collect();
    let what = format!("seed {seed}, {steps:?}");
    ledger.judge(&living, &what);
    assert!(living.iter().all(|rank| ledger.count(*rank) == ADDITIONS), "{what}");
    if do_share {
        ledger.judge(&(0..ranks.into()).collect::<Vec<usize>>(), &what);
    }
}

#[test]
fn no_number_is_handed_out_twice_to_members_that_live() {
    for seed in 0..seeds(8) {
        storm(seed, |ranks| Mortal::over_udp(ranks, Preset::Pupa), false);
        storm(seed, |ranks| Mortal::over_udp(ranks, Preset::IrxImc), false);
    }
}

#[test]
fn nor_to_the_lost_where_ranks_share_memory() {
    (0..seeds(24)).for_each(|seed| storm(seed, Mortal::new, true));
}

#[test]
fn an_addition_fails_with_the_home_and_goes_on_from_what_is_known() {
    let outcomes = Mortal::over_udp(3, Preset::Pupa).run(|member| {
        let team = member.barrier.team();
        let mut counter = Counter::new(team).unwrap();
        if member.rank() == 1 {
            assert_eq!(counter.add(10), Ok(0));
        }
        team.barrier().unwrap();
        if member.rank() == 0 {
            // Nobody else hears of this one.
            assert_eq!(counter.add(100), Ok(10));
            return None;
        }
        member.until(|| member.engine.packets().losses().of(Rank(0)).is_some());
        lost(0, counter.next());
        lost(0, counter.add(0));
        let rest = team.shrink().unwrap();
        counter.move_to(&rest).unwrap();
        assert_eq!(counter.home(), Rank(1));
        let first = counter.next().unwrap();
        rest.barrier().unwrap();
        Some((first, counter.add(0).unwrap()))
    });
    let mut firsts: Vec<u64> = outcomes.iter().flatten().map(|(first, _)| *first).collect();
    firsts.sort_unstable();
    assert_eq!(firsts, [10, 11]);
    assert!(outcomes.iter().flatten().all(|(_, last)| *last == 12));
}

#[test]
fn an_old_home_that_lives_is_asked() {
    let outcomes = Mortal::over_udp(3, Preset::Pupa).run(|member| {
        let team = member.barrier.team();
        let mut counter = Counter::new(team).unwrap();
        if member.rank() == 2 {
            // It alone knows of this, and is lost.
            assert_eq!(counter.add(100), Ok(0));
            return None;
        }
        let rest = loop {
            let lost = team.agree(0).unwrap().lost;
            if lost == [Rank(2)] {
                break team.shrink().unwrap();
            }
        };
        counter.move_to(&rest).unwrap();
        Some(counter.add(0).unwrap())
    });
    assert_eq!(outcomes, [Some(100), Some(100), None]);
}

#[test]
fn a_counter_moves_to_a_larger_team_whose_other_members_join() {
    run(Job::new(4), |member| {
        let all = member.barrier.team();
        // The first member of the larger team has none.
        let part = all.split((member.rank() > 1).then_some(1), 0).unwrap();
        let counter = match part {
            None => Counter::join(all),
            Some(part) => {
                let mut counter = Counter::new(&part).unwrap();
                counter.add(5).unwrap();
                counter.move_to(all).map(|()| counter)
            }
        };
        let counter = counter.unwrap();
        assert_eq!(counter.home(), Rank(0));
        all.barrier().unwrap();
        assert!((10..14).contains(&counter.next().unwrap()));
        all.barrier().unwrap();
        assert_eq!(counter.add(0), Ok(14));
    });
}

#[test]
fn counters_are_apart_and_those_of_programs_and_orders_too() {
    run(Job::new(3), |member| {
        let team = member.barrier.team();
        let counters: Vec<Counter> = (0..5).map(|_| Counter::new(team).unwrap()).collect();
        for (amount, counter) in (1..).zip(&counters) {
            counter.add(amount).unwrap();
        }
        team.barrier().unwrap();
        let values: Vec<u64> = counters.iter().map(|counter| counter.add(0).unwrap()).collect();
        assert_eq!(values, [3, 6, 9, 12, 15]);
        team.barrier().unwrap();
    });
}

#[test]
fn members_that_do_not_bring_the_same_counter_are_told() {
    run(Job::new(3), |member| {
        let team = member.barrier.team();
        let (mut one, mut other) = (Counter::new(team).unwrap(), Counter::new(team).unwrap());
        let is_odd_one = member.rank() == 1;
        let outcomes = [
            if is_odd_one { other.move_to(team) } else { one.move_to(team) },
            if is_odd_one { Counter::new(team).map(drop) } else { one.move_to(team) },
            if is_odd_one { Counter::join(team).map(drop) } else { one.move_to(team) },
            Counter::join(team).map(drop),
        ];
        for outcome in outcomes {
            let error = outcome.unwrap_err();
            assert_eq!(error, Error::CountersDiffer);
            assert_eq!(
                error.to_string(),
                "the members of this team do not bring the same counter: all of them create one, \
                 or all that have it move it and only the others join it"
            );
        }
        // It is where it was.
        one.next().unwrap();
        one.move_to(team).unwrap();
        team.barrier().unwrap();
        assert_eq!(one.add(0), Ok(3));
        team.barrier().unwrap();
    });
}

#[test]
fn a_counter_leaves_nobody_behind_who_lives() {
    run(Job::new(3), |member| {
        let team = member.barrier.team();
        let mut counter = Counter::new(team).unwrap();
        let part = team.split((member.rank() > 0).then_some(0), 0).unwrap();
        if let Some(part) = part {
            let error = counter.move_to(&part).unwrap_err();
            assert_eq!(error, Error::CounterLeavesOut { rank: Rank(0) });
            assert_eq!(
                error.to_string(),
                "rank 0 shares this counter, is not lost, and is no member of the team that it is \
                 to move to"
            );
        }
        assert!(counter.next().unwrap() < 3);
    });
}

#[test]
fn a_rank_is_the_home_of_so_many_and_another_of_more() {
    const LIMIT: u16 = 992;
    run(Job::new(2), |member| {
        let team = member.barrier.team();
        for _ in 0..LIMIT {
            Counter::new(team).unwrap();
        }
        let error = Counter::new(team).err().unwrap();
        assert_eq!(error, Error::TooManyCounters { home: Rank(0), limit: LIMIT });
        assert_eq!(
            error.to_string(),
            "rank 0 has been the home of 992 counters already, counters that were moved there \
             included: the first member of another team can be the home of more"
        );
        let turned = team.split(Some(0), 1 - member.rank() as u32).unwrap().unwrap();
        assert_eq!(Counter::new(&turned).unwrap().home(), Rank(1));
    });
}

#[test]
fn a_counter_has_an_end() {
    run(Job::new(1), |member| {
        let counter = Counter::new(member.barrier.team()).unwrap();
        assert_eq!(counter.add(u64::MAX), Ok(0));
        assert_eq!(counter.add(1), Err(Error::CounterFull));
    });
}
