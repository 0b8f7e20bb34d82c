#![allow(clippy::unwrap_used)]

use super::*;

fn signature(number: usize) -> Signature {
    let operation = Signature::operation(number as u8 % 15).unwrap();
    Signature { operation, root: (number * 7919) as u16, bytes: (number as u64) << 35 | 3 }
}

#[test]
fn aborts_come_back_as_they_went() {
    let (one, other) = ((Rank(7), signature(2)), (Rank(300), signature(30)));
    let disagreement = Abort::Disagreement(Disagreement { number: 77, one, other });
    let broken = [Abort::Broken(None), Abort::Broken(Some(Rank(259)))];
    let named = [disagreement, Abort::Panicked(Rank(513)), Abort::Violation(Rank(258))];
    for abort in named.into_iter().chain(broken) {
        let bytes = abort.emit();
        assert_eq!(Abort::parse(&bytes), Some(abort));
        assert_eq!(Abort::parse(&bytes[1..]).filter(|_| bytes.len() > 4), None);
    }
}

#[test]
fn a_disagreement_names_ranks_operations_and_lengths() {
    let one = (Rank(1), Signature { operation: Operation::Reduce, root: 2, bytes: 80 });
    let other = (Rank(3), Signature { operation: Operation::Barrier, root: 0, bytes: 0 });
    let text = Disagreement { number: 5, one, other }.to_string();
    assert_eq!(
        text,
        "the members of a team disagree about its operation 5: rank 1 began reduce of 80 bytes \
         with member 2 as root, rank 3 began barrier"
    );
}

#[test]
fn leaving_agrees_with_no_barrier_of_the_program() {
    let [leaving, barrier] = [LEAVING, crate::BARRIER].map(|call| call.signature());
    assert!(!leaving.agrees(&barrier) && leaving.agrees(&leaving));
    assert_ne!(leaving.hash(), barrier.hash());
    assert_eq!([leaving, barrier].map(|it| it.to_string()), ["leaving the job", "barrier"]);
}
