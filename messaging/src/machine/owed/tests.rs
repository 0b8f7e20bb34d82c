use super::*;
use crate::machine::RequestAnswer;
use weft_endpoint::Group;

const TO: To = To::Rank(Rank(3));

fn all(owed: &mut Owed) -> Vec<(To, PacketHeader)> {
    std::iter::from_fn(|| owed.pop()).collect()
}

#[test]
fn packets_leave_in_their_order_and_those_that_could_not_first() {
    let mut owed = Owed::default();
    let (grant, cancel) = (
        RequestAnswer::Granted.header(1, 7),
        PacketHeader::of_message(1, PacketKind::Cancel, 7, 5),
    );
    owed.push(TO, grant).unwrap();
    owed.push(To::Group(Group::ALL), cancel).unwrap();
    let first = owed.pop().unwrap();
    assert_eq!(first, (TO, grant));
    owed.put_back(first.0, first.1);
    assert!(!owed.is_empty());
    assert_eq!(all(&mut owed), [(TO, grant), (To::Group(Group::ALL), cancel)]);
    assert!(owed.is_empty());
}

/// Reports and complaints that are sent again and again while no frame is free take no memory.
#[test]
fn of_one_flow_the_latest_count_waits() {
    let mut owed = Owed::default();
    for of_flow in [PacketHeader::window, PacketHeader::stalled] {
        for group in [None, Some(0), Some(7)] {
            let counts = [u32::MAX - 1, 5, 3, u32::MAX];
            for count in counts {
                owed.push(TO, of_flow(1, group, count)).unwrap();
            }
            owed.push(To::Rank(Rank(4)), of_flow(1, group, 1)).unwrap();
            owed.push(TO, of_flow(2, group, 2)).unwrap();
            let counts =
                all(&mut owed).iter().map(|(_, header)| header.message).collect::<Vec<_>>();
            assert_eq!(counts, [5, 1, 2]);
        }
    }
}

#[test]
fn a_question_waits_once() {
    let mut owed = Owed::default();
    for _ in 0..1000 {
        owed.push(TO, PacketHeader::about(1, PacketKind::Probe)).unwrap();
        owed.push(TO, PacketHeader::of_message(1, PacketKind::Waiting, 6, 0)).unwrap();
    }
    assert_eq!(all(&mut owed).len(), 2);
}

#[test]
fn who_asks_and_takes_no_answer_is_named() {
    let mut owed = Owed::default();
    let answer = |number: usize| match number < UNFINISHED_LIMIT {
        true => RequestAnswer::Unwanted.header(1, number as u32),
        false => PacketHeader::about(number as u32, PacketKind::NoPort),
    };
    for number in 0..ANSWERS_LIMIT {
        owed.push(TO, answer(number)).unwrap();
        owed.push(TO, answer(number)).unwrap();
    }
    owed.push(To::Rank(Rank(4)), answer(0)).unwrap();
    // What is taken and put back counts once.
    let (to, header) = owed.pop().unwrap();
    owed.put_back(to, header);
    let refused = Error::Unanswered { from: Rank(3), limit: ANSWERS_LIMIT };
    assert_eq!(owed.push(TO, answer(ANSWERS_LIMIT)), Err(refused));
    assert_eq!(all(&mut owed).len(), ANSWERS_LIMIT + 2);
    owed.push(TO, answer(0)).unwrap();
}
