//! Records: what they wait for, and places that are used again.

use super::*;

fn record(beta: i16, moves: u8) -> Record<()> {
    let requester = Requester { rank: Rank(2), record: RecordId { slot: 1, turn: 1 }, index: 0 };
    let moves = (0..moves).map(|by| Move { by, value: 0, child: () }).collect();
    Record::new(1, 4, Window { alpha: -10, beta }, requester, moves)
}

#[test]
fn a_record_is_over_when_no_answer_can_change_it() {
    let mut one = record(10, 3);
    (0..3).for_each(|index| one.ask(index, Rank(index as u16 / 2)));
    one.next = 3;
    assert_eq!(one.missing(), [Rank(0), Rank(1)]);
    assert!(one.awaits(1, Rank(0)) && !one.awaits(1, Rank(1)) && !one.awaits(9, Rank(0)));
    one.take(1, (-3, false), 100);
    assert_eq!((one.now(), one.found()), (Window { alpha: 3, beta: 10 }, None));
    one.take(0, (5, false), 20);
    assert_eq!((one.missing(), one.found()), (vec![Rank(1)], None));
    one.take(2, (-4, false), 0);
    assert_eq!(one.found(), Some(Found { value: 4, best: Some(2), is_cut: false }));
    assert_eq!(one.nodes, 3 + 120);
}

#[test]
fn a_value_beyond_the_window_is_enough() {
    let mut one = record(10, 3);
    (0..2).for_each(|index| one.ask(index, Rank(0)));
    one.next = 2;
    one.take(1, (-10, false), 0);
    assert_eq!(one.found(), Some(Found { value: 10, best: Some(1), is_cut: false }));
    assert_eq!(one.missing(), [Rank(0)]);
    let mut one = record(10, 1);
    one.ask(0, Rank(0));
    one.next = 1;
    one.take(0, (20, false), 0);
    assert_eq!(
        one.found(),
        Some(Found { value: -20, best: None, is_cut: false }),
        "no move is known to be good"
    );
}

#[test]
fn a_place_that_is_used_again_is_another_record() {
    let mut records = Records::new(2);
    let first = records.insert(record(10, 1));
    records.insert(record(20, 1));
    assert!(records.is_full() && records.get(first).is_some());
    assert!(records.remove(first).is_some() && records.remove(first).is_none());
    let third = records.insert(record(30, 1));
    assert_eq!((third.slot, third == first), (first.slot, false));
    assert!(records.get(first).is_none() && records.was_there(first));
    assert_eq!(records.get(third).unwrap().window.beta, 30);
    let never = [RecordId { slot: 2, turn: 1 }, RecordId { turn: third.turn + 1, ..third }];
    assert!(never.into_iter().all(|id| !records.was_there(id)));
}

#[test]
fn a_position_in_progress_is_searched_for_several_requesters() {
    let requester = |rank| Requester { rank: Rank(rank), ..record(10, 1).requesters[0] };
    let mut records = Records::new(4);
    let first = records.insert(record(10, 1));
    let inside = Window { alpha: -10, beta: 5 };
    records.covering(1, 4, inside).expect("it answers that, too").requesters.push(requester(3));
    assert!(records.covering(1, 4, Window { alpha: -11, beta: 5 }).is_none());
    assert!(records.covering(1, 4, Window { alpha: 0, beta: 11 }).is_none());
    assert!(records.covering(1, 3, inside).is_none() && records.covering(2, 4, inside).is_none());
    // Another window, another record, which is the one that is found from here on.
    let second = records.insert(record(20, 1));
    records.covering(1, 4, inside).expect("the latest").requesters.push(requester(4));
    // It stays for as long as somebody waits for it.
    assert_eq!(
        records.drop_requesters(|requester| requester.rank == 2),
        (vec![requester(2); 2], vec![])
    );
    assert_eq!(
        records.drop_requesters(|requester| requester.rank == 4),
        (vec![requester(4)], vec![second])
    );
    assert!(records.remove(second).is_some() && records.covering(1, 4, inside).is_none());
    assert_eq!(records.get(first).expect("rank 3 waits").requesters, [requester(3)]);
}
