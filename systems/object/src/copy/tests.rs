use super::*;
use types::Int;

// Those of the tests with a network.
#[path = "../../tests/it/types.rs"]
mod types;

/// Numbers of the operations of [`Int`].
const INC: u16 = 0;
const AWAIT: u16 = 1;
const TAKE: u16 = 3;
const PANIC: u16 = 4;

/// A copy at `value`.
fn copy(value: u64) -> Copy<Int, u32> {
    Copy::new(Some(Int(value)), Role::Only)
}

/// Operations that are over after this one, which is number `resume`.
fn invoke(copy: &mut Copy<Int, u32>, operation: u16, argument: u64, resume: u32) -> Vec<Over<u32>> {
    let mut over = Overs::new();
    let values = match operation {
        AWAIT | TAKE => crate::marshal::values(&(argument,)).unwrap(),
        _ => crate::marshal::values(&()).unwrap(),
    };
    copy.invoke(Way::Home, operation, &values, resume, &mut over);
    over.into_vec()
}

fn numbers(over: &[Over<u32>]) -> Vec<u32> {
    over.iter().map(|(resume, _)| *resume).collect()
}

#[test]
fn an_operation_has_its_result_at_once_unless_its_guard_is_false() {
    let mut copy = copy(0);
    assert_eq!(invoke(&mut copy, INC, 0, 1), [(1, Ok(vec![1]))]);
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
    assert_eq!(invoke(&mut copy, 9, 0, 4), [(4, Err(Fault::Broken))]);
}

#[test]
fn what_there_is_not_and_what_cannot_be_read_changes_nothing() {
    let mut copy = copy(5);
    assert_eq!(invoke(&mut copy, 9, 0, 1), [(1, Err(Fault::NoSuchOperation))]);
    let mut over = Overs::new();
    copy.invoke(Way::Home, TAKE, &[1, 2, 3], 2, &mut over);
    assert_eq!(over.as_slice(), [(2, Err(Fault::Malformed))]);
    assert_eq!(copy.read(AWAIT, &[]), Err(Fault::Malformed));
    assert_eq!(copy.read_with(|int: &Int| Some(int.0)), Ok(Some(5)));
}

#[test]
fn the_alternatives_that_read_are_tried_first_and_those_that_write_wake_others() {
    let mut copy: Copy<types::Jobs, u32> = Copy::new(Some(types::Jobs::default()), Role::Only);
    let [take, put, close] = [0, 1, 2];
    let none = crate::marshal::values(&()).unwrap();
    assert_eq!(copy.read(take, &none), Ok(None), "both guards are false");
    let mut over = Overs::new();
    copy.invoke(Way::Home, take, &none, 1, &mut over);
    copy.invoke(Way::Home, take, &none, 2, &mut over);
    assert!(over.is_empty());
    let job =
        [&7_u16.to_le_bytes()[..], &crate::marshal::values(&(1_u32, "job", 0_u32, 1_u8)).unwrap()];
    copy.invoke(Way::Home, put, &job.concat(), 3, &mut over);
    assert_eq!(numbers(&over), [3, 1], "one job is taken once");
    assert_eq!(copy.read(take, &none), Ok(None), "there is none, and one may come");
    copy.invoke(Way::Home, close, &none, 4, &mut over);
    assert_eq!(over.last(), Some(&(2, Ok(vec![0]))), "there is none, and none will come");
    assert_eq!(copy.read(take, &none), Ok(Some(vec![0])), "a read, which is not shipped");
    assert_eq!(copy.statistics.writes, 3);
}

#[test]
fn operations_on_a_copy_here_need_no_bytes() {
    let mut copy = copy(0);
    assert_eq!(invoke(&mut copy, AWAIT, 2, 1), []);
    let mut over = Overs::new();
    let guarded = |int: &mut Int| (int.0 > 0).then(|| int.inc());
    assert_eq!(copy.write_with(guarded, &mut over), Ok(None));
    assert_eq!(copy.write_with(|int: &mut Int| Some(int.inc()), &mut over), Ok(Some(1)));
    assert!(over.is_empty());
    assert_eq!(copy.write_with(guarded, &mut over), Ok(Some(2)));
    assert_eq!(over.as_slice(), [(1, Ok(vec![]))], "it has let another one through");
    assert_eq!(invoke(&mut copy, AWAIT, 9, 2), []);
    let broken = copy.write_with::<()>(|_| panic!("on purpose"), &mut over);
    assert_eq!(broken, Err(Broken));
    assert_eq!(over.last(), Some(&(2, Err(Fault::Broken))));
    assert_eq!(copy.read_with(|int: &Int| Some(int.0)), Ok(None));
    assert_eq!(copy.read(AWAIT, &[]), Err(Fault::Broken));
}
