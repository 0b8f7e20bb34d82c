use super::*;

/// Two registers, of which one may be taken when it is not 0.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Registers([u8; 2]);

#[derive(Clone, Copy)]
enum Op {
    Set(usize, u8),
    Get(usize),
    Take(usize),
}

impl Objects for Registers {
    type Operation = Op;
    type Result = u8;

    fn execute(&mut self, operation: &Op) -> Option<u8> {
        match *operation {
            Op::Set(which, value) => {
                self.0[which] = value;
                Some(0)
            }
            Op::Get(which) => Some(self.0[which]),
            Op::Take(which) => Some(std::mem::take(&mut self.0[which])).filter(|value| *value != 0),
        }
    }
}

/// Processes with operations, their results, and when they began and ended.
fn history(processes: &[&[(Op, u8, u64, u64)]]) -> History<Registers> {
    let executed = |&(operation, result, begin, end): &(Op, u8, u64, u64)| Executed {
        operation,
        result,
        times: (begin, end),
    };
    processes.iter().map(|process| process.iter().map(executed).collect()).collect()
}

fn judge(processes: &[&[(Op, u8, u64, u64)]]) -> (Option<Vec<usize>>, Option<Vec<usize>>) {
    let (none, history) = (Registers::default(), history(processes));
    (sequential(&none, &history), linear(&none, &history))
}

#[test]
fn an_order_is_found_and_is_one() {
    let set_and_get = judge(&[&[(Op::Set(0, 1), 0, 0, 1)], &[(Op::Get(0), 1, 2, 3)]]);
    assert_eq!(set_and_get, (Some(vec![0, 1]), Some(vec![0, 1])));
    // The one that takes waits for the one that sets.
    let waits = judge(&[&[(Op::Take(0), 7, 0, 9)], &[(Op::Set(0, 7), 0, 3, 4)]]);
    assert_eq!(waits, (Some(vec![1, 0]), Some(vec![1, 0])));
}

#[test]
fn a_read_of_the_past_is_consistent_and_not_linear() {
    let (sequential, linear) = judge(&[&[(Op::Set(0, 1), 0, 0, 1)], &[(Op::Get(0), 0, 2, 3)]]);
    assert_eq!(sequential, Some(vec![1, 0]));
    assert_eq!(linear, None);
}

#[test]
fn a_process_that_reads_its_own_past_is_not_consistent() {
    let own = judge(&[&[(Op::Set(0, 1), 0, 0, 1), (Op::Get(0), 0, 2, 3)]]);
    assert_eq!(own, (None, None));
}

/// Writes of two objects: who sees the second sees the first.
#[test]
fn writes_of_two_objects_are_seen_in_order() {
    let writer: &[_] = &[(Op::Set(0, 1), 0, 0, 1), (Op::Set(1, 1), 0, 2, 3)];
    let stale = judge(&[writer, &[(Op::Get(1), 1, 4, 5), (Op::Get(0), 0, 6, 7)]]);
    assert_eq!(stale.0, None);
    let fresh = judge(&[writer, &[(Op::Get(0), 0, 1, 2), (Op::Get(1), 1, 6, 7)]]);
    assert!(fresh.0.is_some());
}

#[test]
fn nothing_is_taken_twice_or_from_nowhere() {
    let twice =
        [&[(Op::Take(0), 5, 0, 9)][..], &[(Op::Take(0), 5, 0, 9)], &[(Op::Set(0, 5), 0, 0, 1)]];
    assert_eq!(judge(&twice).0, None);
    assert_eq!(judge(&[&[(Op::Take(0), 5, 0, 9)]]).0, None);
}

/// Two that each see the other's write before their own (Dekker): not in one order.
#[test]
fn nobody_is_first_twice() {
    let first: &[_] = &[(Op::Set(0, 1), 0, 0, 1), (Op::Get(1), 0, 2, 3)];
    let second: &[_] = &[(Op::Set(1, 1), 0, 0, 1), (Op::Get(0), 0, 2, 3)];
    assert_eq!(judge(&[first, second]).0, None);
}

#[test]
fn long_histories_end_soon() {
    let process: Vec<(Op, u8, u64, u64)> = (0..30)
        .map(|i| if i % 2 == 0 { (Op::Set(0, 1), 0, i, i) } else { (Op::Get(0), 1, i, i) })
        .collect();
    let wrong = [(Op::Get(1), 9, 0, 0)];
    assert_eq!(judge(&[&process, &process, &process, &wrong]).0, None);
}
