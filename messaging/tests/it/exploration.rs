//! The machine of messaging in small worlds, in all their states, and in larger ones by seeds.

use crate::world::{Deed, How, Options, Port, Step};
use weft_messaging::machine::{Limits, Planted};
use weft_model::explore::{Model, explore};
use weft_model::random::Random;

/// One packet more for each message: minutes, not seconds.
const MORE: u64 = if cfg!(feature = "soak") { 1 } else { 0 };

const fn send(to: u16, port: Port, packets: u64, how: How) -> Deed {
    Deed::Send { to, port, packets, how }
}

/// Two ranks that send each other more than a window, and read then.
fn crossing(packets: u64, how: How) -> Options {
    let program = |to| vec![send(to, Port::Mailbox, packets, how), Deed::Receive];
    Options::new(vec![program(1), program(0)])
}

/// Three ranks that send in a ring before they read.
fn ring(packets: u64, how: How) -> Options {
    let program = |to| vec![send(to, Port::Mailbox, packets, how), Deed::Receive];
    let limits = Limits { window: 1, copied_bytes: 64 };
    Options { limits, ..Options::new(vec![program(1), program(2), program(0)]) }
}

/// A sender that may give up, to a receiver that does this, and what is sent after.
fn given_up(deed: Deed) -> Options {
    let again = send(1, Port::Handler, 1, How::AtOnce);
    let sends = vec![send(1, Port::Mailbox, 3, How::MayGiveUp), again];
    let other = send(0, Port::Mailbox, 1, How::AtOnce);
    // One more, so that it does not wait for a message that was given up.
    let sends_more = [sends, vec![send(1, Port::Mailbox, 1, How::AtOnce)]].concat();
    Options::new(vec![sends_more, vec![deed, other]])
}

/// Ranks that send each the next one's handler more than a window, and ask its mailbox then.
fn handled(ranks: u16, port: Port) -> Options {
    let program = |rank: u16| {
        let to = (rank + 1) % ranks;
        let asks = send(to, Port::Mailbox, 1 + MORE, How::Asking);
        let sends = vec![send(to, port, 2, How::AtOnce)];
        match ranks {
            2 if port == Port::Echo => [sends, vec![asks, Deed::Receive, Deed::Receive]].concat(),
            2 => [sends, vec![asks, Deed::Receive]].concat(),
            _ => sends,
        }
    };
    let limits = Limits { window: 1, copied_bytes: 64 };
    Options { limits, ..Options::new((0..ranks).map(program).collect()) }
}

fn explored(options: &Options) -> usize {
    let explored = explore(options, 3_000_000);
    let explored = explored.unwrap_or_else(|found| {
        let mut world = options.start();
        found.steps.iter().for_each(|step| options.take(&mut world, step));
        panic!("{options:?}\n{found}\n{world:?}")
    });
    println!("{explored:?} {options:?}");
    explored.states
}

#[test]
fn two_ranks_that_send_before_they_read_end() {
    for how in [How::AtOnce, How::Asking] {
        assert!(explored(&crossing(4 + MORE, how)) > 500);
    }
}

#[test]
fn three_ranks_that_send_in_a_ring_end() {
    assert!(explored(&ring(2, How::AtOnce)) > 5_000);
    if cfg!(feature = "soak") {
        assert!(explored(&ring(1, How::Asking)) > 50_000);
    }
}

#[test]
fn what_is_given_up_or_dropped_ends() {
    for deed in [Deed::Receive, Deed::Discard] {
        assert!(explored(&given_up(deed)) > 200);
    }
}

#[test]
fn handlers_above_a_send_end() {
    for port in [Port::Handler, Port::Echo] {
        assert!(explored(&handled(2, port)) > 300);
    }
    assert!(explored(&handled(3, Port::Handler)) > 500);
}

/// A program of some deeds for each rank, in which all that is sent to a mailbox is read there.
fn random(ranks: u16, seed: u64) -> Options {
    let mut random = Random::new(seed);
    let mut programs = vec![Vec::new(); usize::from(ranks)];
    for _ in 0..4 * ranks {
        let from = random.below(u64::from(ranks)) as u16;
        let to = (from + 1 + random.below(u64::from(ranks) - 1) as u16) % ranks;
        let port = *random.choose(&[Port::Mailbox, Port::Mailbox, Port::Handler]);
        let how = *random.choose(&[How::AtOnce, How::Asking]);
        programs[usize::from(from)].push(send(to, port, 1 + random.below(6), how));
        if port == Port::Mailbox {
            let deed = *random.choose(&[Deed::Receive, Deed::Receive, Deed::Discard]);
            programs[usize::from(to)].push(deed);
        }
    }
    // Who receives first may wait for who does the same: all send before they receive.
    for program in &mut programs {
        program.sort_by_key(|deed| !matches!(deed, Deed::Send { .. }));
    }
    let limits = Limits { window: 2 + random.below(3) as u32, copied_bytes: 1000 };
    Options { limits, keeps: 1 + random.below(2) as u32, ..Options::new(programs) }
}

/// Takes steps at random, until all is done.
fn run(options: &Options, seed: u64) {
    let (mut random, mut world) = (Random::part(seed, 1), options.start());
    for _ in 0..20_000 {
        if options.is_done(&world) {
            return;
        }
        let steps = options.steps(&world);
        assert!(!steps.is_empty(), "seed {seed}: nothing can happen\n{world:?}");
        let calm: Vec<Step> =
            steps.iter().copied().filter(|step| !matches!(step, Step::Complain(_))).collect();
        // Complaints come when nothing else does, or now and then.
        let step = match calm.is_empty() || random.happens(20) {
            true => *random.choose(&steps),
            false => *random.choose(&calm),
        };
        options.take(&mut world, &step);
        options.check(&world);
    }
    panic!("seed {seed}: it does not end\n{world:?}");
}

#[test]
fn larger_worlds_end_by_any_seed() {
    let seeds = if cfg!(feature = "soak") { 20_000 } else { 400 };
    for seed in 0..seeds {
        run(&random(3 + (seed % 4) as u16, seed), seed);
    }
}

/// Consequence of a mistake in the first of the small worlds that shows it.
fn found(planted: Planted) -> String {
    let worlds = [
        crossing(4, How::AtOnce),
        crossing(3, How::Asking),
        given_up(Deed::Receive),
        given_up(Deed::Discard),
        handled(2, Port::Handler),
    ];
    let find =
        |options: Options| explore(&Options { planted: Some(planted), ..options }, 3_000_000);
    let found = worlds.into_iter().find_map(|options| find(options).err());
    let found = found.unwrap_or_else(|| panic!("{planted:?} is not found"));
    println!("{planted:?}\n{found}");
    found.consequence().into()
}

#[test]
fn reports_that_come_late_stop_a_sender() {
    assert_eq!(found(Planted::ReportLate), "it does not end");
}

#[test]
fn complaints_that_nobody_answers_stop_two_ranks() {
    assert_eq!(found(Planted::IgnoreStalled), "it does not end");
}

#[test]
fn requests_that_nobody_grants_cost_a_complaint_and_no_more() {
    // Who waits for an answer grants at once what is asked meanwhile; if not, a complaint does it.
    let options = Options { planted: Some(Planted::IgnoreWaiting), ..crossing(3, How::Asking) };
    assert!(explored(&options) > 0);
}

#[test]
fn a_request_that_is_granted_again_is_noticed() {
    assert!(found(Planted::GrantAgain).contains("belongs to no message"));
}

#[test]
fn an_answer_that_nobody_waits_for_is_noticed() {
    assert!(found(Planted::ForgetWithdrawn).contains("belongs to no message"));
}

#[test]
fn handlers_that_wait_for_any_rank_above_a_send_stop_two_ranks() {
    assert_eq!(found(Planted::RunAbove), "it does not end");
}
