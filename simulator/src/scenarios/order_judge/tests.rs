use super::*;

const A: Line = (Rank(0), 0);
const B: Line = (Rank(1), 0);
const MEMBERS: [Rank; 2] = [Rank(0), Rank(1)];

/// A judge who was told of two messages of each, and is then shown `seen`: who, whose, which.
fn shown(seen: &[(u16, Line, u64)]) -> OrderJudge {
    let judge = OrderJudge::new();
    for line in [A, B] {
        (0..2).for_each(|count| judge.sends(7, line, count, 40 + count));
    }
    seen.iter().for_each(|&(at, line, count)| judge.sees(7, Rank(at), line, count, 40 + count));
    judge
}

#[test]
fn one_order_for_all_is_right() {
    let one = [(A, 0), (B, 0), (B, 1), (A, 1)];
    let seen: Vec<_> = (0..2).flat_map(|at| one.map(|(line, count)| (at, line, count))).collect();
    assert_eq!(shown(&seen).complete(7, &MEMBERS), Ok(4));
    let some = shown(&seen[..6]);
    assert_eq!(some.prefixes(), Ok(()));
    let missing = OrderFault::Missing { order: 7, at: Rank(1), saw: 2, sent: 4 };
    assert_eq!(some.complete(7, &MEMBERS), Err(missing));
    assert_eq!(some.seen_by(7, Rank(1)), 2);
}

#[test]
fn each_fault_is_found() {
    let fault = |seen: &[_]| shown(seen).prefixes().err();
    let disagree =
        OrderFault::Disagree { order: 7, place: 0, at: Rank(1), saw: (B, 0), other: (A, 0) };
    assert_eq!(fault(&[(0, A, 0), (1, B, 0)]), Some(disagree));
    let overtook = OrderFault::NotFifo { order: 7, line: A, count: 1, due: 0 };
    assert_eq!(fault(&[(0, A, 1)]), Some(overtook));
    let twice = OrderFault::NotFifo { order: 7, line: A, count: 0, due: 1 };
    assert_eq!(fault(&[(0, A, 0), (0, A, 0)]), Some(twice));
    let invented = OrderFault::Altered { order: 7, at: Rank(0), saw: (A, 2) };
    assert_eq!(fault(&[(0, A, 2)]), Some(invented));
    let judge = shown(&[]);
    judge.sees(7, Rank(1), A, 0, 99);
    let altered = OrderFault::Altered { order: 7, at: Rank(1), saw: (A, 0) };
    assert_eq!(judge.prefixes(), Err(altered), "other bytes");
}
