//! Jobs that go on after losses: what waits for the lost fails, and nothing else does.

use crate::common::{Member, connect};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use weft_endpoint::{Cause, Loss, Preset, Rank, Shape, Step, Variable};
use weft_messaging::collective::Sum;
use weft_messaging::rpc::{Client, Rpc, Service};
use weft_messaging::{Error, Mailbox, OrderMailbox, Orders, Port, Result};
use weft_threads::{Job, Tap};

/// A job of `ranks` that goes on, and what its ranks die by.
pub struct Mortal {
    job: Job,
    tap: &'static Tap,
    ranks: u16,
}

impl Mortal {
    pub fn new(ranks: u16) -> Self {
        let tap = Tap::new();
        Mortal { job: Job { tap: Some(tap), ..Job::new(ranks) }, tap, ranks }
    }

    /// One whose ranks reach one another by UDP.
    pub fn over_udp(ranks: u16, preset: Preset) -> Self {
        let tap = Tap::new();
        let job = Job { tap: Some(tap), shape: Shape::Flat, ..Job::over_udp(ranks, preset) };
        Mortal { job, tap, ranks }
    }

    /// Runs `program` on each rank. One that returns `None` is dead: the others hear of it.
    pub fn run<T: Send>(&self, program: impl Fn(&Member) -> Option<T> + Sync) -> Vec<Option<T>> {
        let connect = |packets: weft_endpoint::Packets| {
            packets.losses().go_on();
            connect(packets)
        };
        // Who is there can be told.
        let all_there = std::sync::Barrier::new(self.ranks.into());
        self.job.run(connect, |member| {
            all_there.wait();
            let outcome = program(&member);
            match &outcome {
                Some(_) => member.barrier.leave().unwrap(),
                None => self.bury(member.engine.packets().rank()),
            }
            member.engine.close();
            outcome
        })
    }

    fn bury(&self, rank: Rank) {
        let loss = Loss { rank, cause: Cause::Killed(9) };
        let others = (0..self.ranks).map(Rank).filter(|other| *other != rank);
        others.for_each(|other| self.tap.announce(other, loss));
    }
}

pub fn lost<T>(rank: u16, outcome: Result<T>) {
    assert_eq!(outcome.err().and_then(|error| error.lost_rank()), Some(Rank(rank)));
}

/// The rank that an outcome is lost for, if it is.
fn lost_rank<T>(outcome: &Result<T>) -> Option<Rank> {
    outcome.as_ref().err().and_then(Error::lost_rank)
}

#[test]
fn calls_to_the_lost_fail_and_others_go_on() {
    let died = AtomicBool::new(false);
    let job = Mortal::new(3);
    let outcomes = job.run(|member| {
        let rpc = Rpc::new(&member.engine).unwrap();
        let held = Arc::new(Mutex::new(Vec::new()));
        let keeps = Arc::clone(&held);
        let rank = member.rank();
        let _service = Service::new(&rpc, "echo", move |mut request| {
            let bytes = request.message().read_to_vec().unwrap();
            match rank {
                // It dies with what it was asked.
                1 => keeps.lock().unwrap().push(request),
                _ => request.reply(&bytes[..]).unwrap(),
            }
        })
        .unwrap();
        let client = Client::new(&rpc, "echo").unwrap();
        match rank {
            1 => {
                member.until(|| held.lock().unwrap().len() == 2);
                died.store(true, Ordering::SeqCst);
                held.lock().unwrap().drain(..).for_each(std::mem::forget);
                return None;
            }
            _ => {
                let (to_lost, to_live) =
                    (client.call(1, b"who"), client.call(2 - rank as u16, b"me"));
                assert_eq!(to_live.unwrap().wait().unwrap().read_to_vec().unwrap(), b"me");
                lost(1, to_lost.unwrap().wait());
                assert!(died.load(Ordering::SeqCst));
                lost(1, client.call(1, b"again").and_then(|call| call.wait()));
                lost(1, client.call(1, &vec![1; 100_000][..]).and_then(|call| call.wait()));
            }
        }
        Some(member.engine.packets().losses().all())
    });
    let loss = Loss { rank: Rank(1), cause: Cause::Killed(9) };
    assert_eq!(outcomes, [Some(vec![loss]), None, Some(vec![loss])]);
}

#[test]
fn who_waits_for_room_at_the_lost_or_for_the_rest_of_its_message_hears_of_it() {
    const LONG: usize = 8 << 20;
    Mortal::new(3).run(|member| {
        let mailbox = Mailbox::new(&member.engine, "long").unwrap();
        match member.rank() {
            // It waits for room at a rank that takes nothing.
            0 => lost(1, (0..).try_for_each(|_| mailbox.send(Rank(1), &vec![7; LONG][..]))),
            1 => {
                // Until nothing more comes, none of which it takes.
                let mut quiet = 0;
                while quiet < 1000 || member.engine.statistics().messages_received < 2 {
                    let any = member.engine.progress().unwrap();
                    quiet = if any { 0 } else { quiet + 1 };
                    std::thread::yield_now();
                }
                return None;
            }
            _ => {
                lost(1, (0..).try_for_each(|_| mailbox.send(Rank(1), &vec![7; LONG][..])));
            }
        }
        // What was on its way there takes no room any more.
        let other = Rank(2 - member.rank() as u16);
        for round in 0..4_u8 {
            let whole = std::thread::scope(|_| {
                mailbox.send(other, &vec![round; 100_000][..]).unwrap();
                let mut message = loop {
                    match mailbox.receive() {
                        Ok(message) => break message,
                        error => lost(1, error),
                    }
                };
                message.read_to_vec().unwrap()
            });
            assert_eq!(whole, vec![round; 100_000]);
        }
        Some(())
    });
}

#[test]
fn a_receive_that_waits_tells_of_each_loss_once() {
    Mortal::new(4).run(|member| {
        let mailbox = Mailbox::new(&member.engine, "box").unwrap();
        let port = Port::sender(&member.engine, "box").unwrap();
        match member.rank() {
            0 => {
                let mut heard = vec![];
                let text = loop {
                    match mailbox.receive() {
                        Ok(mut message) => break message.read_to_vec().unwrap(),
                        other => heard.extend(lost_rank(&other)),
                    }
                    if heard.len() == 2 {
                        port.send(Rank(1), b"both").unwrap();
                    }
                };
                heard.sort_unstable();
                assert_eq!((heard, &text[..]), (vec![Rank(2), Rank(3)], &b"then this"[..]));
            }
            1 => {
                loop {
                    match mailbox.receive() {
                        Ok(_) => break,
                        other => drop(lost_rank(&other).expect("a loss")),
                    }
                }
                port.send(Rank(0), b"then this").unwrap();
            }
            _ => return None,
        }
        Some(())
    });
}

/// View that a rank has had of a job: outcomes of its operations, and the ranks that are left.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Seen {
    /// For each operation whether it has ended well.
    well: Vec<bool>,
    left: Vec<Rank>,
}

#[test]
fn operations_end_well_at_all_that_live_or_at_none_and_the_team_shrinks() {
    (0..12).for_each(|seed| operate(seed, Mortal::new));
}

#[test]
fn so_they_do_where_packets_are_numbered() {
    for seed in 0..3 {
        operate(seed, |ranks| Mortal::over_udp(ranks, Preset::Pupa));
        operate(seed, |ranks| Mortal::over_udp(ranks, Preset::IrxImc));
    }
}

/// Operations of a job that loses as many of its ranks as the seed says, and when that says.
fn operate(seed: u64, job: impl Fn(u16) -> Mortal) {
    let mut random = fastrand::Rng::with_seed(seed);
    let ranks = random.u16(2..=8);
    let mortals = random.u16(1..ranks);
    // Rank by rank, the operation before which it dies.
    let mut order: Vec<u16> = (0..ranks).collect();
    random.shuffle(&mut order);
    let mut ends = vec![u32::MAX; ranks.into()];
    for rank in &order[..mortals.into()] {
        ends[usize::from(*rank)] = random.u32(0..30);
    }
    let seen = job(ranks).run(|member| live(member, ends[member.rank()]));
    judge(seed, &ends, &seen);
}

/// Operations until all are done, on what is left of the team; dies before operation `ends`.
fn live(member: &Member, ends: u32) -> Option<Seen> {
    const OPERATIONS: u32 = 30;
    let (mut team, mut well) = (member.barrier.team().clone(), Vec::new());
    let mut begun = 0;
    while begun < OPERATIONS {
        if begun == ends {
            return None;
        }
        let me = team.member(team.rank()).0;
        let outcome = match begun % 4 {
            0 => {
                let mut sum = [u64::from(me)];
                team.all_reduce(&mut sum, Sum).map(|()| {
                    let all = (0..team.size()).map(|number| u64::from(team.member(number).0));
                    assert_eq!(sum[0], all.sum::<u64>());
                })
            }
            1 => {
                let mut said = vec![if team.rank() == 0 { begun } else { 0 }; 20_000];
                team.broadcast(0, &mut said)
                    .map(|()| assert!(said.iter().all(|word| *word == begun)))
            }
            2 => team.gather(team.size() - 1, &[me]).map(|all| {
                let members: Vec<u16> =
                    (0..team.size()).map(|number| team.member(number).0).collect();
                assert!(all.is_none_or(|all| all == members));
            }),
            _ => team.barrier(),
        };
        well.push(outcome.is_ok());
        begun += 1;
        if let Err(error) = outcome {
            assert!(error.lost_rank().is_some(), "{error}");
            team = team.shrink().unwrap();
        }
    }
    let left = (0..team.size()).map(|number| team.member(number)).collect();
    Some(Seen { well, left })
}

/// All that live have seen the same, and are all that are left or were not missed yet.
fn judge(seed: u64, ends: &[u32], seen: &[Option<Seen>]) {
    let mut survivors = seen.iter().flatten();
    let first = survivors.next().expect("some rank lives to the end");
    assert!(survivors.all(|other| other == first), "seed {seed}: {seen:?}");
    for (rank, end) in (0..).map(Rank).zip(ends) {
        let is_left = first.left.contains(&rank);
        assert!(is_left || *end != u32::MAX, "seed {seed}: {rank} lives, and was left out");
        assert_eq!(
            is_left,
            *end == u32::MAX,
            "seed {seed}: {rank} is missed by the operations after"
        );
    }
}

#[test]
fn a_team_that_has_lost_nobody_shrinks_to_itself() {
    let seen = Mortal::new(3).run(|member| {
        let shrunk = member.barrier.team().shrink().unwrap();
        shrunk.barrier().unwrap();
        let agreed = shrunk.agree(0b110 | member.rank() as u32).unwrap();
        Some((shrunk.size(), shrunk.rank(), agreed.flags, agreed.lost))
    });
    let expected = |rank| Some((3, rank, 0b110, vec![]));
    assert_eq!(seen, [0, 1, 2].map(expected));
}

#[test]
fn members_that_agree_while_others_shrink_are_told() {
    Mortal::new(2).run(|member| {
        let team = member.barrier.team();
        let refused = match member.rank() {
            0 => team.agree(1).map(drop),
            _ => team.shrink().map(drop),
        };
        assert!(matches!(refused, Err(Error::CallsDiffer(_))), "{refused:?}");
        Some(())
    });
}

/// An entry of what a member of an order was handed over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Handed {
    /// A message: its sender, and its number among those of the sender.
    Message(u16, u32),
    /// A loss.
    Loss(Rank),
}

/// Messages that each member of an order broadcasts.
const BROADCASTS: u32 = 40;

/// Broadcasts of a job, in which each rank dies before it broadcasts the message that `ends` says.
fn broadcast(seed: u64, job: impl Fn(u16) -> Mortal) {
    let mut random = fastrand::Rng::with_seed(seed);
    let ranks = random.u16(2..=8);
    let mortals = random.u16(1..ranks);
    let mut order: Vec<u16> = (0..ranks).collect();
    random.shuffle(&mut order);
    // The home of the variable, which is the first coordinator, is among them each second time.
    if seed.is_multiple_of(2) {
        order.sort_by_key(|rank| *rank != 0);
    }
    let mut ends = vec![u32::MAX; ranks.into()];
    for rank in &order[..mortals.into()] {
        ends[usize::from(*rank)] = random.u32(0..BROADCASTS);
    }
    let long = random.bool();
    // Orders are kept until all have left.
    let outcomes = job(ranks).run(|member| ordered(member, ends[member.rank()], long));
    let seen: Vec<_> = outcomes.into_iter().map(|kept| kept.map(|(seen, _order)| seen)).collect();
    judge_order(seed, &ends, &seen);
}

/// A message that says which it is, some of them longer than a packet.
fn text(number: u32, long: bool) -> Vec<u8> {
    let length = if long && number.is_multiple_of(3) { 20_000 } else { 4 };
    let mut text = number.to_le_bytes().to_vec();
    text.resize(length, number as u8);
    text
}

/// Broadcasts, and receives until all that live are done.
fn ordered(member: &Member, ends: u32, long: bool) -> Option<(Vec<Handed>, OrderMailbox)> {
    let orders = Orders::new(&member.engine);
    let order = orders.mailbox("all").unwrap();
    let (mut seen, mut sent) = (Vec::new(), 0);
    let is_done = |seen: &[Handed], rank: &Rank| {
        seen.contains(&Handed::Message(rank.0, BROADCASTS - 1))
            || seen.contains(&Handed::Loss(*rank))
    };
    while !order.members().iter().all(|rank| is_done(&seen, rank)) {
        if sent == ends {
            return None;
        }
        if sent < BROADCASTS {
            order.broadcast(&text(sent, long)).unwrap();
            sent += 1;
        }
        let received = match sent < BROADCASTS {
            true => order.try_receive(),
            false => order.receive().map(Some),
        };
        match received {
            Ok(Some(mut message)) => {
                let bytes = message.read_to_vec().unwrap();
                let number = u32::from_le_bytes(*bytes.first_chunk().unwrap());
                assert_eq!(bytes, text(number, long));
                seen.push(Handed::Message(message.source().0, number));
            }
            Ok(None) => {}
            Err(error) => seen.push(Handed::Loss(error.lost_rank().expect("a loss"))),
        }
    }
    Some((seen, order))
}

/// All that live were handed over the same, with each loss between the same two messages: all
/// messages of those that live, in order, and a beginning of those of the lost.
fn judge_order(seed: u64, ends: &[u32], seen: &[Option<Vec<Handed>>]) {
    let survivors = || seen.iter().flatten();
    // Losses after the last message of all are of no order, and need not have been heard.
    let messages = |seen: &[Handed]| -> Vec<Handed> {
        seen.iter().copied().filter(|handed| matches!(handed, Handed::Message(..))).collect()
    };
    let first = survivors().next().expect("some rank lives to the end");
    let all = messages(first);
    for other in survivors() {
        assert_eq!(messages(other), all, "seed {seed}");
    }
    for rank in (0..).map(Rank).take(ends.len()) {
        let cut = |seen: &[Handed]| {
            let at = seen.iter().position(|seen| *seen == Handed::Loss(rank))?;
            Some(messages(&seen[..at]).len())
        };
        let mut cuts = survivors().filter_map(|seen| cut(seen));
        let at = cuts.next();
        assert!(cuts.all(|other| Some(other) == at), "seed {seed}: the cut of {rank}");
        let of_rank =
            all.iter().filter(|seen| matches!(seen, Handed::Message(of, _) if *of == rank.0));
        let numbers: Vec<u32> = of_rank
            .map(|seen| match seen {
                Handed::Message(_, number) => *number,
                Handed::Loss(_) => unreachable!("these are messages"),
            })
            .collect();
        assert!(numbers.iter().copied().eq(0..numbers.len() as u32), "seed {seed}: {numbers:?}");
        let lives = ends[rank.index()] == u32::MAX;
        assert!(!lives || numbers.len() == BROADCASTS as usize, "seed {seed}: of {rank}");
    }
}

#[test]
fn all_that_live_are_handed_over_the_same_messages_of_an_order() {
    (0..seeds(24)).for_each(|seed| broadcast(seed, Mortal::new));
}

#[test]
fn so_they_are_where_packets_are_numbered() {
    for seed in 0..seeds(4) {
        broadcast(seed, |ranks| Mortal::over_udp(ranks, Preset::Pupa));
        broadcast(seed, |ranks| Mortal::over_udp(ranks, Preset::IrxImc));
    }
}

/// Number of jobs, unless the environment says how many.
pub fn seeds(usual: u64) -> u64 {
    std::env::var("WEFT_LOSS_SEEDS").map_or(usual, |seeds| seeds.parse().expect("a number"))
}

#[test]
fn handlers_of_an_order_go_on_and_what_they_broadcast_comes_once() {
    const ROUNDS: u64 = 30;
    let logs = Mortal::new(4).run(|member| {
        let log = Arc::new(Mutex::new(Vec::new()));
        let orders = Orders::new(&member.engine);
        let own = Arc::new(std::sync::OnceLock::<weft_messaging::Order>::new());
        let (keeps, replies, rank) = (Arc::clone(&log), Arc::downgrade(&own), member.rank());
        let order = orders
            .order("echo", move |mut message| {
                let text = message.read_to_vec().unwrap();
                keeps.lock().unwrap().push((message.source(), text.clone()));
                // Each member answers its own.
                if message.source().index() == rank && text[0] == 0 {
                    let own = replies.upgrade().unwrap();
                    own.get().unwrap().broadcast(&[1, text[1]]).unwrap();
                }
            })
            .unwrap();
        assert!(own.set(order).is_ok());
        let order = own.get().unwrap();
        member.barrier.wait().unwrap();
        for round in 0..ROUNDS {
            if rank == 0 && round == 10 || rank == 2 && round == 20 {
                return None;
            }
            let number = order.broadcast_and_wait(&[0, round as u8]).unwrap();
            let log = log.lock().unwrap();
            let place = &log[usize::try_from(number).unwrap()];
            assert_eq!(place, &(Rank(rank as u16), vec![0, round as u8]), "its number is final");
        }
        let is_done = |rank: u16| log.lock().unwrap().contains(&(Rank(rank), vec![1, 29]));
        member.until(|| is_done(1) && is_done(3) && order.members() == [Rank(1), Rank(3)]);
        let log = log.lock().unwrap().clone();
        Some((log, Arc::clone(&own)))
    });
    let (one, three) = (&logs[1].as_ref().unwrap().0, &logs[3].as_ref().unwrap().0);
    let least = one.len().min(three.len());
    assert_eq!(one[..least], three[..least]);
    for rank in [1, 3] {
        for kind in 0..2 {
            let of = one.iter().filter(|(source, text)| *source == Rank(rank) && text[0] == kind);
            assert!(of.map(|(_, text)| u64::from(text[1])).eq(0..ROUNDS), "{rank} {kind}: {one:?}");
        }
    }
}

#[test]
fn an_order_among_some_ranks_goes_on_without_the_home_of_its_variable() {
    let lost = Mortal::over_udp(4, Preset::Pupa).run(|member| {
        let orders = Orders::new(&member.engine);
        // Its variable is rank 0's, which is no member.
        let order = orders.mailbox_in("some", &[Rank(1), Rank(3)]).unwrap();
        member.barrier.wait().unwrap();
        if member.rank() == 0 {
            return None;
        }
        let mut lost = Vec::new();
        if member.rank() == 2 {
            return Some((lost, order));
        }
        for number in 0..20 {
            let sent = order.begin(&[number]).unwrap();
            let mine = member.rank() as u16;
            loop {
                match order.receive() {
                    Ok(mut message) if message.source().0 == mine => {
                        assert_eq!(message.read_to_vec().unwrap(), [number]);
                        break;
                    }
                    Ok(_) => {}
                    Err(error) => lost.push(error.lost_rank().unwrap()),
                }
            }
            sent.wait().unwrap();
        }
        let packets = member.engine.packets();
        member.until(|| packets.losses().of(Rank(0)).is_some());
        while lost.is_empty() {
            if let Err(error) = order.receive() {
                lost.push(error.lost_rank().unwrap());
            }
        }
        assert_eq!(order.members(), [Rank(1), Rank(3)]);
        Some((lost, order))
    });
    let lost: Vec<_> = lost.into_iter().map(|kept| kept.map(|(lost, _order)| lost)).collect();
    assert_eq!(lost[1..], [Some(vec![Rank(0)]), Some(vec![]), Some(vec![Rank(0)])]);
}

#[test]
fn shared_variables_of_the_lost_live_on_in_shared_memory_and_are_lost_elsewhere() {
    let theirs = Variable { home: Rank(1), index: 9 };
    let count = |member: &Member| {
        let packets = member.engine.packets();
        packets.fetch_and_add(theirs, 1).unwrap();
        member.barrier.wait().unwrap();
        (member.rank() != 1).then(|| {
            // Its loss is heard of while it is waited for.
            let waited = packets.presence().wait(&mut || {
                let any = packets.poll()?;
                let is_heard = packets.losses().of(Rank(1)).is_some();
                Ok(if is_heard { Step::Done } else { Step::of(any) })
            });
            waited.unwrap();
            packets.fetch_and_add(theirs, 0).map_err(weft_messaging::Error::from)
        })
    };
    assert_eq!(Mortal::new(3).run(count), [Some(Ok(3)), None, Some(Ok(3))]);
    for outcome in Mortal::over_udp(3, Preset::Pupa).run(count).into_iter().flatten() {
        lost(1, outcome);
    }
}
