//! A tuple space of which ranks are killed: a ledger that is kept outside of the job says what
//! became of each tuple.
//!
//! Every tuple has a number. A rank enters into the ledger what it begins to put, what it has put,
//! what it begins to take, and what it has got. Survivors add what they find in their own parts of
//! the space in the end. Then
//! - no number was got twice;
//! - what was put and not got is found again, or its home was killed, or it was on its way to a
//!   rank that asked for such a tuple and was told no more, one tuple for each such `take`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use weft::{Rank, Weft};
use weft_linda::{Bug, Error, Shard, Space, any};
use weft_model::random::Random;
use weft_object::{Objects, Types};
use weft_simulator::{Faults, Options, Outcome, Preset, RunEnd, Simulation};

/// Tuples of each class that a rank puts, and takes.
const STEPS: u64 = 30;

/// Tuples of which each is taken by templates of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Class {
    /// `("hot", n)`: all at one home.
    Hot,
    /// `(n, "numbered")`: at all homes, and taken by a formal.
    Numbered,
    /// `(n, n)`: at all homes, and taken by its number, by the rank before the one that puts it.
    Own,
}

const CLASSES: [Class; 3] = [Class::Hot, Class::Numbered, Class::Own];

/// Knowledge of a tuple.
#[derive(Default, Debug)]
struct Known {
    /// Its home, once it is there for sure.
    home: Option<Rank>,
    /// Ranks that got it, or found it in the end.
    at: Vec<Rank>,
}

/// Record of what ranks did, as they saw it.
#[derive(Default, Debug)]
struct Ledger {
    tuples: BTreeMap<(Class, u64), Known>,
    /// Times that a tuple was asked for, less those that one was got or there was none.
    asked: BTreeMap<Class, usize>,
    /// Of these, the numbers where there is one.
    asked_own: Vec<u64>,
    /// Tuples that survivors found in their parts of the space.
    remained: usize,
    /// Tuples that were got after the first rank was killed.
    got_late: usize,
}

/// A rank, and its ledger.
struct Member {
    weft: Weft,
    space: Space,
    ledger: Arc<Mutex<Ledger>>,
    first_kill: Duration,
}

impl Member {
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap()
    }

    fn out(&self, class: Class, n: u64) -> weft_linda::Result<()> {
        self.ledger().tuples.entry((class, n)).or_default();
        let (space, name) = (&self.space, (class, n));
        let home = match class {
            Class::Hot => space.out(("hot", n)).map(|()| space.home_of(("hot", n))),
            Class::Numbered => space.out((n, "numbered")).map(|()| space.home_of((n, "numbered"))),
            Class::Own => space.out((n, n)).map(|()| space.home_of((n, n))),
        };
        self.ledger().tuples.entry(name).or_default().home = Some(home?);
        Ok(())
    }

    /// Takes a tuple of a class, by one of the ways to ask for it.
    fn take(&self, class: Class, way: u64, own: u64) -> weft_linda::Result<()> {
        *self.ledger().asked.entry(class).or_default() += 1;
        if class == Class::Own {
            self.ledger().asked_own.push(own);
        }
        let space = &self.space;
        let text = any::<String>;
        let looked = match (class, way) {
            (Class::Hot, 1) => space.inp(("hot", any::<u64>()))?.map(|(_, n)| n),
            (Class::Hot, 2) => space.inp((text(), any::<u64>()))?.map(|(_, n)| n),
            (Class::Numbered, 1 | 2) => space.inp((any::<u64>(), "numbered"))?.map(|(n, _)| n),
            (Class::Own, 1) => space.inp((own, any::<u64>()))?.map(|(n, _)| n),
            _ => None,
        };
        let n = match (looked, class) {
            (Some(n), _) => n,
            (None, Class::Hot) if way == 3 => space.take((text(), any::<u64>()))?.1,
            (None, Class::Hot) => space.take(("hot", any::<u64>()))?.1,
            (None, Class::Numbered) => space.take((any::<u64>(), "numbered"))?.0,
            (None, Class::Own) => space.take((own, any::<u64>()))?.0,
        };
        self.got(class, n);
        Ok(())
    }

    fn got(&self, class: Class, n: u64) {
        let mut ledger = self.ledger();
        *ledger.asked.entry(class).or_default() -= 1;
        if class == Class::Own {
            ledger.asked_own.retain(|own| *own != n);
        }
        ledger.got_late += usize::from(self.weft.now() > self.first_kill);
        ledger.tuples.entry((class, n)).or_default().at.push(self.weft.rank());
    }

    /// Puts and takes as many tuples; with every take, more were put than taken.
    fn work(&self, random: &mut Random) -> weft_linda::Result<()> {
        let (own, ranks) = (u64::from(self.weft.rank().0), self.weft.size() as u64);
        let numbers = |rank: u64, step: u64| rank * STEPS + step;
        for step in 0..STEPS {
            let first = random.below(3) as usize;
            let classes = || (0..3).map(|index| CLASSES[(first + index) % 3]);
            for class in classes() {
                self.out(class, numbers(own, step))?;
            }
            for class in classes() {
                self.take(class, random.below(4), numbers((own + 1) % ranks, step))?;
            }
            self.weft.work(random.below(20_000));
        }
        Ok(())
    }

    /// Empties the part of the space that is here. It takes no message, and so no other rank.
    fn empty(&self) -> weft_linda::Result<()> {
        let space = &self.space;
        for _ in 0..space.count_here()? {
            let hot = |_: Error| space.inp((any::<String>(), any::<u64>()));
            let found = space
                .inp((any::<u64>(), any::<String>()))
                .map(|found| found.map(|(n, _)| (Class::Numbered, n)))
                .or_else(|error| Ok(hot(error)?.map(|(_, n)| (Class::Hot, n))))
                .or_else(|_: Error| {
                    space
                        .inp((any::<u64>(), any::<u64>()))
                        .map(|found| found.map(|(n, _)| (Class::Own, n)))
                })?;
            let name = found.expect("a tuple that is here");
            let mut ledger = self.ledger();
            ledger.remained += 1;
            ledger.tuples.entry(name).or_default().at.push(self.weft.rank());
        }
        Ok(())
    }
}

/// Checks what a survivor is told.
fn assert_is_lost(error: &Error, killed: &[Rank]) {
    use weft_messaging::Error as Messaging;
    let Error::Object(weft_object::Error::Messaging(Messaging::Packet(error))) = error else {
        panic!("{error}")
    };
    assert!(
        matches!(error, weft_endpoint::Error::RankLost(loss) if killed.contains(&loss.rank)),
        "{error}"
    );
}

/// Fate of the ranks, and of the tuples.
struct Told {
    killed: Vec<Rank>,
    /// True if some rank was told of a kill.
    is_cut_short: bool,
    ledger: Ledger,
}

fn run(options: Options, bug: Option<Bug>) -> Told {
    let seed = options.seed;
    let kills = options.faults.crashes.clone();
    let asked: Vec<Rank> = kills.iter().map(|(rank, _)| *rank).collect();
    let first_kill = kills.iter().map(|(_, time)| *time).min().unwrap_or(Duration::MAX);
    let ledger: Arc<Mutex<Ledger>> = Arc::default();
    let (kept, victims) = (Arc::clone(&ledger), asked.clone());
    let report = Simulation::new(options).unwrap().run_joined(move |weft: Weft| {
        let types = Types::default().with::<Shard>();
        let objects = Objects::new(weft.orders(), weft.rpc(), types).map_err(|e| e.to_string())?;
        let space = Space::new(&objects, "space", weft.rank(), weft.size());
        let space = space.inspect_err(|error| assert_is_lost(error, &victims));
        let space = space.map_err(|error| error.to_string())?;
        bug.into_iter().for_each(|bug| space.plant(bug));
        let member = Member { weft, space, ledger: Arc::clone(&kept), first_kill };
        let mut random = Random::part(seed, u64::from(member.weft.rank().0));
        let worked = member.work(&mut random);
        if let Err(error) = &worked {
            assert_is_lost(error, &victims);
        }
        // Each rank's part stays until all are done.
        let met = member.weft.barrier().map_err(|error| error.to_string());
        member.empty().map_err(|error| error.to_string())?;
        worked.map_err(|error| error.to_string()).and(met)
    });
    assert_eq!(report.ended, RunEnd::Finished, "seed {seed}: {:?}", report.outcomes);
    let mut told = Told { killed: Vec::new(), is_cut_short: false, ledger: Ledger::default() };
    for (rank, outcome) in (0..).map(Rank).zip(&report.outcomes) {
        match outcome {
            Outcome::Returned(()) => {}
            Outcome::Crashed if asked.contains(&rank) => told.killed.push(rank),
            Outcome::Victim(what) => {
                let names = |rank: &Rank| what.contains(&format!("rank {rank} was killed"));
                assert!(asked.iter().any(names), "seed {seed}: {what}");
                told.is_cut_short = true;
            }
            other => panic!("seed {seed}: rank {rank} {other:?}"),
        }
    }
    told.ledger = std::mem::take(&mut *ledger.lock().unwrap());
    told
}

/// Checks the fate of the tuples; an error says what is wrong with it.
fn judge(told: &Told) -> Result<(), String> {
    let Ledger { tuples, asked, asked_own, .. } = &told.ledger;
    let mut on_their_way: BTreeMap<Class, usize> = BTreeMap::new();
    for ((class, n), Known { home, at }) in tuples {
        let survives = home.is_some_and(|home| !told.killed.contains(&home));
        match at.len() {
            0 if survives && *class == Class::Own && !asked_own.contains(n) => {
                return Err(format!("{class:?} {n} is lost, and nobody had asked for it"));
            }
            0 if survives => *on_their_way.entry(*class).or_default() += 1,
            0 | 1 => {}
            _ => return Err(format!("{class:?} {n} was got by {at:?}")),
        }
    }
    for (class, lost) in on_their_way {
        let asked = asked.get(&class).copied().unwrap_or(0);
        if lost > asked {
            return Err(format!("{lost} of {class:?} are lost, and {asked} were on their way"));
        }
    }
    Ok(())
}

/// One rank is killed or two are, or with a seed that ends in 0 none.
fn options(seed: u64, preset: Preset) -> Options {
    let mut random = Random::part(seed, 1000);
    let ranks = 3 + random.below(4) as u16;
    let mut options = Options::new(ranks).unwrap();
    (options.settings.preset, options.seed, options.stack_bytes) = (preset, seed, 1 << 20);
    if Preset::RETRANSMITTING.contains(&preset) && random.happens(500) {
        options.faults = Faults { loss: 0.05, duplication: 0.02, ..Faults::default() };
    }
    // Who waits for ever asks again and again whether the other end lives.
    options.limit = Duration::from_secs(2);
    if !seed.is_multiple_of(10) {
        let first = random.below(ranks.into()) as u16;
        let second = (first + 1 + random.below(u64::from(ranks) - 1) as u16) % ranks;
        let mut time = || Duration::from_micros(500 + random.below(20_000));
        options.faults.crashes = vec![(Rank(first), time()), (Rank(second), time())];
        options.faults.crashes.truncate(1 + (seed % 2) as usize);
    }
    options
}

#[test]
fn no_tuple_is_lost_or_taken_twice_when_ranks_are_killed() {
    let (mut cut_short, mut remained, mut late, mut lost) = (0, 0, 0, 0);
    for seed in 0..seeds() {
        for preset in Preset::ALL {
            let told = run(options(seed, preset), None);
            assert_eq!(judge(&told), Ok(()), "seed {seed}, {preset}");
            let Ledger { tuples, remained: left, got_late, .. } = &told.ledger;
            if !told.is_cut_short && told.killed.is_empty() {
                assert!(tuples.values().all(|known| known.at.len() == 1), "seed {seed}, {preset}");
                assert_eq!(*left, 0);
            }
            cut_short += u64::from(told.is_cut_short);
            (remained, late) = (remained + left, late + got_late);
            lost += tuples.values().filter(|known| known.at.is_empty()).count();
        }
    }
    // It is about ranks that are killed in the middle, and not about nothing.
    assert!(cut_short > seeds(), "{cut_short} runs were cut short");
    assert!(remained > 0 && late > 0 && lost > 0, "{remained} {late} {lost}");
}

/// The judge finds tuples that are put nowhere, put twice, and taken and left.
#[test]
fn planted_bugs_are_found() {
    for bug in [Bug::Lost, Bug::Twice, Bug::Stays] {
        let is_found = |seed: &u64| judge(&run(options(*seed, Preset::IrxImc), Some(bug))).is_err();
        // Without a kill nobody would end who waits for a tuple that is nowhere.
        let found = (1..10).filter(is_found).count();
        assert!(found > 5, "{bug:?}: {found}");
    }
}

/// Programs under each preset: `WEFT_OBJECT_SEEDS`, or a few.
fn seeds() -> u64 {
    let asked = std::env::var("WEFT_OBJECT_SEEDS").ok();
    asked.map_or(15, |asked| asked.parse().expect("WEFT_OBJECT_SEEDS is a number"))
}
