//! Objects that move while ranks, and threads of them, operate on them.

use crate::common::*;
use weft_endpoint::Rank;
use weft_object::{Body, Error, Handle, Object, Operation, Outcome, Placement, Types};

/// Waits until this rank knows that the object is there.
fn wait_for(member: &Member, object: &Handle<impl Object>, placement: Placement) {
    while object.placement() != placement {
        member.engine.progress().unwrap();
        std::thread::yield_now();
    }
}

#[test]
fn an_object_is_where_it_was_placed_with_its_state() {
    run(3, |member| {
        let int = member.object("int", &Int(0), Placement::Single(Rank(0)));
        let places = placements(3);
        for (step, placement) in (0..).zip(places.iter().cycle().take(9)) {
            member.barrier.wait().unwrap();
            if member.rank() == step % 3 {
                int.place(*placement).unwrap();
            }
            wait_for(member, &int, *placement);
            int.inc().unwrap();
            member.barrier.wait().unwrap();
            int.inc().unwrap();
            member.barrier.wait().unwrap();
            int.take(0).unwrap();
            assert_eq!(int.value().unwrap(), 6 * (step as u64 + 1));
            let is_here = match *placement {
                Placement::Single(home) => home.index() == member.rank(),
                _ => true,
            };
            assert_eq!(int.statistics().is_some(), is_here);
        }
    });
}

/// Each operation is executed once, whoever is blocked, and wherever the object is by then.
#[test]
fn who_is_blocked_follows_the_object() {
    for (from, to) in [(0, 1), (0, 2), (1, 2), (1, 0), (2, 0), (2, 1)] {
        run(3, |member| {
            let places = [placements(3)[0], placements(3)[1], placements(3)[2]];
            let int = member.object("int", &Int(0), places[from]);
            member.barrier.wait().unwrap();
            if member.rank() == 1 {
                // All others are blocked by then, or come later; it makes no difference.
                int.place(places[to]).unwrap();
                for _ in 0..6 {
                    int.inc().unwrap();
                }
            } else {
                int.take(2).unwrap();
            }
            member.barrier.wait().unwrap();
            assert_eq!(int.inc().unwrap().min(3), 3, "two were left");
            wait_for(member, &int, places[to]);
            member.barrier.wait().unwrap();
            int.take(0).unwrap();
            assert_eq!(int.value().unwrap(), 5);
            member.barrier.wait().unwrap();
        });
    }
}

/// Of changes that come while one is under way the last is done.
#[test]
fn threads_write_while_the_object_goes_round() {
    const EACH: u64 = 200;
    run(3, |member| {
        let int = member.object("int", &Int(0), Placement::Single(Rank(0)));
        member.engine.share();
        std::thread::scope(|scope| {
            for thread in 0..2 {
                let int = int.clone();
                scope.spawn(move || {
                    for step in 0..EACH {
                        let before = int.inc().unwrap();
                        assert!(int.value().unwrap() >= before, "nothing is taken back");
                        if thread == 0 && step % 5 == 0 {
                            int.place(placements(3)[(step / 5) as usize % 3]).unwrap();
                        }
                    }
                });
            }
        });
        int.await_value(3 * 2 * EACH).unwrap();
        member.barrier.wait().unwrap();
        assert_eq!(int.value().unwrap(), 6 * EACH);
        member.barrier.wait().unwrap();
    });
}

#[test]
fn long_states_and_what_cannot_move() {
    let long: Vec<u8> = (0..200_000_u32).map(|i| (i / 7) as u8).collect();
    run(3, |member| {
        let log = member.object("log", &Log(long.clone(), 7), Placement::Single(Rank(0)));
        let broken = member.object("broken", &Int(0), Placement::Single(Rank(0)));
        if member.rank() == 2 {
            assert_eq!(log.place(Placement::Single(Rank(3))), Err(Error::NoSuchRank(Rank(3), 3)));
            assert_eq!(broken.panic(), Err(Error::Broken("broken".into())));
            broken.place(Placement::Replicated).unwrap();
            log.place(Placement::Replicated).unwrap();
        }
        wait_for(member, &log, Placement::Replicated);
        assert!(log.all().unwrap() == long);
        assert_eq!(broken.placement(), Placement::Single(Rank(0)), "it stays where it is");
        assert_eq!(broken.inc(), Err(Error::Broken("broken".into())));
        member.barrier.wait().unwrap();
    });
}

/// An object whose state is captured by a panic, or is none.
struct Stuck(u8);

impl Object for Stuck {
    const NAME: &'static str = "Stuck";
    const OPERATIONS: &'static [Operation<Self>] = &[Operation {
        name: "set",
        body: Body::Write(|stuck, arguments, result| {
            result.push(stuck.0);
            stuck.0 = arguments.first().copied().unwrap_or_default();
            Outcome::Done
        }),
    }];

    fn capture(&self) -> Vec<u8> {
        assert!(self.0 != 1, "on purpose");
        vec![self.0]
    }

    fn restore(state: &[u8]) -> Option<Self> {
        (state != [2]).then(|| Stuck(state[0]))
    }
}

#[test]
fn an_object_whose_state_is_none_stays() {
    run_with(
        2,
        || Types::default().with::<Stuck>(),
        |member| {
            let stuck = member.object("stuck", &Stuck(0), Placement::Single(Rank(0)));
            if member.rank() == 1 {
                for bad in [1, 2] {
                    stuck.invoke(0, &[bad]).unwrap();
                    stuck.place(Placement::Single(Rank(1))).unwrap();
                    assert_eq!(stuck.invoke(0, &[3]).unwrap(), [bad]);
                    // The order has said by then that it stays.
                    stuck.place(Placement::Single(Rank(0))).unwrap();
                    assert_eq!(stuck.placement(), Placement::Single(Rank(0)));
                }
                stuck.place(Placement::Single(Rank(1))).unwrap();
                wait_for(member, &stuck, Placement::Single(Rank(1)));
                assert_eq!(stuck.invoke(0, &[5]).unwrap(), [3]);
            }
            member.barrier.wait().unwrap();
        },
    );
}

/// Nobody who leaves it to statistics knows where it is by then.
#[test]
fn an_object_that_is_left_to_statistics_stays_where_it_is_or_goes() {
    run(3, |member| {
        let int = member.object("int", &Int(0), Placement::Single(Rank(0)));
        let steps = member.object("steps", &Int(0), Placement::Replicated);
        for step in 1..=20 {
            let to = Placement::Single(Rank((step % 3) as u16));
            if member.rank() == 1 {
                int.place(to).unwrap();
                int.place(Placement::Automatic).unwrap();
            }
            wait_for(member, &int, to);
            member.barrier.wait().unwrap();
            if member.rank() == step as usize % 3 {
                // After a state that it may have sent elsewhere.
                steps.inc().unwrap();
            }
            steps.await_value(step).unwrap();
            assert_eq!(int.placement(), to);
            member.barrier.wait().unwrap();
        }
    });
}

/// It is where it was created at first, and then where it costs least.
#[test]
fn statistics_move_an_object_to_who_operates_on_it() {
    run(3, |member| {
        let int = member.object("int", &Int(0), Placement::Automatic);
        let fixed = member.object("fixed", &Int(0), Placement::Single(Rank(0)));
        assert_eq!(int.placement(), Placement::Single(Rank(0)));
        member.barrier.wait().unwrap();
        if member.rank() == 2 {
            for _ in 0..600 {
                int.inc().unwrap();
                fixed.inc().unwrap();
            }
        }
        wait_for(member, &int, Placement::Single(Rank(2)));
        assert_eq!(fixed.placement(), Placement::Single(Rank(0)), "the program has said so");
        member.barrier.wait().unwrap();
        // All read it.
        while int.placement() != Placement::Replicated {
            assert_eq!(int.value().unwrap(), 600);
            member.engine.progress().unwrap();
        }
        member.barrier.wait().unwrap();
        // One writes, and the others do nothing.
        while member.rank() == 1 && int.placement() != Placement::Single(Rank(1)) {
            int.inc().unwrap();
        }
        wait_for(member, &int, Placement::Single(Rank(1)));
        member.barrier.wait().unwrap();
        let expected = Placement::Expected { reads: 100, writes: 1 };
        if member.rank() == 1 {
            int.place(expected).unwrap();
        }
        wait_for(member, &int, Placement::Replicated);
        let new = member.object("new", &Int(0), expected);
        assert_eq!(new.placement(), Placement::Replicated);
        member.barrier.wait().unwrap();
    });
}

/// Reads that others tell keep it where they are cheap.
#[test]
fn a_replicated_object_that_is_read_much_stays_replicated() {
    run(3, |member| {
        let expected = Placement::Expected { reads: 100, writes: 1 };
        let int = member.object("int", &Int(0), expected);
        member.barrier.wait().unwrap();
        for _ in 0..700 {
            (0..20).for_each(|_| assert!(int.value().unwrap() <= 700));
            if member.rank() == 2 {
                int.inc().unwrap();
            } else {
                member.engine.progress().unwrap();
            }
        }
        int.await_value(700).unwrap();
        member.barrier.wait().unwrap();
        assert_eq!(int.placement(), Placement::Replicated);
        member.barrier.wait().unwrap();
    });
}
