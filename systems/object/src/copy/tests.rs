use super::*;
use crate::operation::{Body, Object, Operation};

/// The type of fig. 7.1, and an operation that takes what it waited for.
struct Int(u64);

const INC: u16 = 0;
const AWAIT: u16 = 1;
const TAKE: u16 = 2;
const PANIC: u16 = 3;

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().unwrap())
}

impl Object for Int {
    const NAME: &'static str = "Int";
    const OPERATIONS: &'static [Operation<Self>] = &[
        Operation {
            name: "inc",
            body: Body::Write(|int, _, result| {
                int.0 += 1;
                result.extend(int.0.to_le_bytes());
                Outcome::Done
            }),
        },
        Operation {
            name: "await",
            body: Body::Read(|int, arguments, _| match int.0 >= number(arguments) {
                true => Outcome::Done,
                false => Outcome::Blocked,
            }),
        },
        Operation {
            name: "take",
            body: Body::Write(|int, arguments, _| match int.0.checked_sub(number(arguments)) {
                Some(left) => {
                    int.0 = left;
                    Outcome::Done
                }
                None => Outcome::Blocked,
            }),
        },
        Operation { name: "panic", body: Body::Write(|_, _, _| panic!("on purpose")) },
    ];

    fn capture(&self) -> Vec<u8> {
        self.0.to_le_bytes().to_vec()
    }

    fn restore(state: &[u8]) -> Option<Self> {
        Some(Int(u64::from_le_bytes(state.try_into().ok()?)))
    }
}

/// A copy at `value`.
fn copy(value: u64) -> Copy<u32> {
    Copy::new(Box::new(Int(value)))
}

/// Operations that are over after this one, which is number `resume`.
fn invoke(copy: &mut Copy<u32>, operation: u16, argument: u64, resume: u32) -> Vec<Over<u32>> {
    let mut over = Vec::new();
    copy.invoke(operation, &argument.to_le_bytes(), resume, &mut over);
    over
}

fn numbers(over: &[Over<u32>]) -> Vec<u32> {
    over.iter().map(|(resume, _)| *resume).collect()
}

#[test]
fn an_operation_has_its_result_at_once_unless_its_guard_is_false() {
    let mut copy = copy(0);
    assert_eq!(invoke(&mut copy, INC, 0, 1), [(1, Ok(1_u64.to_le_bytes().to_vec()))]);
    assert_eq!(invoke(&mut copy, AWAIT, 1, 2), [(2, Ok(vec![]))]);
    assert_eq!(invoke(&mut copy, AWAIT, 2, 3), []);
    assert_eq!(numbers(&invoke(&mut copy, INC, 0, 4)), [4, 3]);
    let Statistics { reads, writes, blocked, evaluated } = copy.statistics;
    assert_eq!((reads, writes, blocked, evaluated), (2, 2, 1, 1));
}

#[test]
fn blocked_operations_are_evaluated_in_their_order_until_none_gets_through() {
    let mut copy = copy(0);
    for (argument, resume) in [(2, 1), (1, 2), (1, 3), (5, 4)] {
        assert_eq!(invoke(&mut copy, TAKE, argument, resume), []);
    }
    assert_eq!(numbers(&invoke(&mut copy, INC, 0, 5)), [5, 2]);
    assert_eq!(numbers(&invoke(&mut copy, INC, 0, 6)), [6, 3]);
    assert_eq!(numbers(&invoke(&mut copy, INC, 0, 7)), [7]);
    assert_eq!(numbers(&invoke(&mut copy, INC, 0, 8)), [8, 1]);
    assert_eq!(copy.blocked.len(), 1);
}

#[test]
fn reads_that_block_change_no_order_of_writes() {
    let (mut with, mut without) = (copy(0), copy(0));
    let mut order = [Vec::new(), Vec::new()];
    for step in 0..200_u32 {
        let argument = u64::from(step * 7 % 11);
        invoke(&mut with, AWAIT, argument + 3, 1000 + step);
        let operation = if step % 3 == 0 { TAKE } else { INC };
        for (copy, order) in [&mut with, &mut without].into_iter().zip(&mut order) {
            let over = numbers(&invoke(copy, operation, argument, step));
            order.extend(over.into_iter().filter(|number| *number < 1000));
        }
    }
    assert_eq!(order[0], order[1]);
    assert!(order[0].len() > 150, "{}", order[0].len());
}

#[test]
fn ten_thousand_blocked_operations_wake_in_one_pass() {
    let mut copy = copy(0);
    for resume in 0..10_000 {
        assert_eq!(invoke(&mut copy, AWAIT, 2, resume), []);
    }
    assert_eq!(numbers(&invoke(&mut copy, INC, 0, 10_000)), [10_000]);
    assert_eq!(copy.statistics.evaluated, 10_000);
    assert_eq!(invoke(&mut copy, INC, 0, 10_001).len(), 10_001);
    assert_eq!(copy.statistics.evaluated, 20_000, "nothing was evaluated twice");
    assert!(copy.blocked.is_empty());
}

#[test]
fn what_a_panic_leaves_behind_is_not_used() {
    let mut copy = copy(0);
    assert_eq!(invoke(&mut copy, AWAIT, 1, 1), []);
    let broken = [(2, Err(Fault::Broken)), (1, Err(Fault::Broken))];
    assert_eq!(invoke(&mut copy, PANIC, 0, 2), broken);
    assert_eq!(invoke(&mut copy, INC, 0, 3), [(3, Err(Fault::Broken))]);
    assert_eq!(invoke(&mut copy, 9, 0, 4), [(4, Err(Fault::NoSuchOperation))]);
}
