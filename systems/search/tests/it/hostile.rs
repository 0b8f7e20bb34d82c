//! Peers that send what no rank of a search sends: an error that names them.

use crate::common::*;
use weft_endpoint::Rank;
use weft_messaging::{Mailbox, Port};
use weft_search::{Error, Settings};

const HEADER: usize = 16;

/// A header of this kind, of the first iteration, with the bound 9.
fn message(kind: u8, number: u8, rest: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; HEADER];
    (bytes[0], bytes[2], bytes[4], bytes[8]) = (kind, 9, 1, number);
    bytes.extend(rest);
    bytes
}

/// A job: a stack of pancakes, and a number of moves to it.
fn job(pancakes: &[u8], depth: u8) -> Vec<u8> {
    let mut bytes = pancakes.to_vec();
    bytes.resize(32, 0);
    bytes[30] = depth;
    bytes
}

#[test]
fn what_is_no_message_of_a_search_is_refused_and_its_sender_named() {
    let sorted: Vec<u8> = (0..PANCAKES as u8).collect();
    let many = job(&sorted, 0).repeat(65);
    for (message, what) in [
        (vec![], "is shorter than a header"),
        (message(9, 0, &[]), "is of no kind that there is"),
        (message(1, 0, &[0; 33]), "ends within a job"),
        (message(1, 0, &job(&[0; PANCAKES], 0)), "has a job that no rank makes"),
        (message(1, 0, &job(&sorted, 10)), "has a job that no rank makes"),
        (message(1, 0, &many), "has more jobs than a message may have"),
        (message(1, 200, &[]), "gives credits that were not taken"),
        (message(2, 200, &[]), "gives credits that were not taken"),
        (message(4, 0, &[0; 63]), "is an answer without its counters"),
        (message(4, 0, &[0; 64]), "is an answer that nobody asked for"),
        (message(3, 1, &[]), "is not for its sender to send"),
        (message(6, 0, &[]), "is not for its sender to send"),
        (message(7, 0, &[]), "is not for its sender to send"),
        (vec![1; 1 << 18], "is longer than any"),
    ] {
        let message = &message;
        let said = with_team(2, |team, engine| {
            if engine.packets().rank() == 1 {
                let port = Port::sender(engine, "search").unwrap();
                port.send(Rank(0), &message[..]).unwrap();
                return None;
            }
            let search = weft_search::Search::new(engine, team, "search", Settings::default());
            search.unwrap().solve(&Stack::random(3), |_| {}).err()
        });
        assert_eq!(said[0], Some(Error::Format { from: Rank(1), what }), "{}", message.len());
    }
}

#[test]
fn moves_that_are_no_solution_are_none() {
    for moves in [&[1, 2, 3][..], &[0], &[PANCAKES as u8], &[]] {
        let said = with_team(2, |team, engine| {
            if engine.packets().rank() == 0 {
                let settings = Settings { grain: Some(u16::MAX), ..Settings::default() };
                let search = weft_search::Search::new(engine, team, "search", settings);
                return search.unwrap().solve(&Stack::random(3), |_| {}).err();
            }
            // It says that it has found something, and answers two waves.
            let mailbox = Mailbox::new(engine, "search").unwrap();
            mailbox.send(Rank(0), &message(5, 0, moves)).unwrap();
            for _ in 0..2 {
                let asked = loop {
                    let received = mailbox.receive().unwrap().read_to_vec().unwrap();
                    if received[0] == 3 {
                        break received;
                    }
                };
                mailbox.send(Rank(0), &message(4, asked[8], &[0; 64])).unwrap();
            }
            None
        });
        assert_eq!(said, [Some(Error::NoSolution), None], "{moves:?}");
    }
}

/// Error of rank 1 that searches like this, when rank 0 ends it and tells this result.
fn told(
    result: [u64; 5],
    search: impl Fn(&mut weft_search::Search) -> Option<Error> + Sync,
) -> Option<Error> {
    let said = with_team(2, |team, engine| {
        if engine.packets().rank() == 1 {
            let settings = Settings { grain: Some(u16::MAX), ..Settings::default() };
            return search(
                &mut weft_search::Search::new(engine, team, "search", settings).unwrap(),
            );
        }
        let port = Port::sender(engine, "search").unwrap();
        port.send(Rank(1), &message(7, 0, &[])[..]).unwrap();
        team.broadcast(0, &mut result.clone()).unwrap();
        None
    });
    said[1].clone()
}

#[test]
fn results_that_are_longer_than_any_are_refused() {
    let solve = |search: &mut weft_search::Search| search.solve(&Stack::random(3), |_| {}).err();
    let go_on = |_: &_| std::ops::ControlFlow::Continue(());
    let judge = |search: &mut weft_search::Search| {
        let plan = weft_search::Plan::to_end();
        search.best_move(&Noughts::random(3, 3), plan, go_on).err()
    };
    let what = "tells of a longer list than there can be";
    let refused = Some(Error::Format { from: Rank(0), what });
    for long in [(2 << 16) + 1, 1 << 40, u64::MAX / 6 + 1, u64::MAX] {
        assert_eq!(told([0, long, 0, 0, 0], solve), refused, "{long} moves");
        assert_eq!(told([0, 0, long, 0, 0], solve), refused, "{long} iterations");
        assert_eq!(told([0, 0, 0, long, 0], judge), refused, "{long} moves");
        assert_eq!(told([0, 0, 0, 0, long], judge), refused, "{long} depths");
    }
}

/// A request, of a record that is not there.
fn request(position: [u8; 4], [alpha, beta]: [i16; 2]) -> Vec<u8> {
    let mut bytes = vec![1];
    bytes.extend(position);
    bytes.extend([3, 0]);
    bytes.extend(alpha.to_le_bytes());
    bytes.extend(beta.to_le_bytes());
    bytes.extend([0; 7]);
    bytes
}

#[test]
fn what_is_no_part_of_a_search_for_values_is_refused_and_its_sender_named() {
    let good = request([0; 4], [-11, 11]);
    let of_search = |number: u8| {
        let mut bytes = message(1, 0, &good);
        bytes[4] = number;
        bytes
    };
    let answer = |slot: u8, value: i16| {
        let [low, high] = value.to_le_bytes();
        message(1, 0, &[2, slot, 0, 0, 0, 0, 0, 0, low, high, 0, 0, 0, 0])
    };
    let ends = "ends within a request, an answer or a cut";
    for (message, what) in [
        (vec![1; 15], "is shorter than a header"),
        (message(8, 0, &[]), "is of no kind that there is"),
        (message(1, 0, &[4]), "has something that no rank of a search sends"),
        (message(1, 0, &good[..good.len() - 1]), ends),
        (message(1, 0, &[1, 0]), ends),
        (message(1, 0, &[2, 0, 0, 0]), ends),
        (message(1, 0, &[3, 0, 0]), ends),
        (message(1, 0, &request([1, 0, 1, 0], [-11, 11])), "has a position that there is not"),
        (message(1, 0, &request([0; 4], [3, 3])), "has a window that no rank uses"),
        (message(1, 0, &request([0; 4], [-12, 3])), "has a window that no rank uses"),
        (message(1, 0, &request([0; 4], [i16::MIN, i16::MAX])), "has a window that no rank uses"),
        (message(1, 0, &good.repeat(1025)), "has more requests than there may be"),
        (message(1, 0, &good.repeat(4000)), "is longer than any"),
        (answer(0, 11), "has a value that no position has"),
        (answer(255, 3), "answers what it was not asked"),
        (message(1, 200, &[]), "gives credits that were not taken"),
        (message(2, 200, &[]), "gives credits that were not taken"),
        (message(4, 0, &[0; 63]), "is an answer without its counters"),
        (message(4, 0, &[0; 64]), "is an answer that nobody asked for"),
        (message(3, 1, &[]), "is not for its sender to send"),
        (message(5, 0, &[]), "is not for its sender to send"),
        (message(6, 0, &[]), "is not for its sender to send"),
        (message(7, 0, &[]), "is not for its sender to send"),
        (of_search(2), "is of another search"),
    ] {
        let message = &message;
        let said = with_team(2, |team, engine| {
            if engine.packets().rank() == 1 {
                let port = Port::sender(engine, "search").unwrap();
                port.send(Rank(0), &message[..]).unwrap();
                return None;
            }
            let settings = Settings { grain: Some(u16::MAX), ..Settings::default() };
            let search = weft_search::Search::new(engine, team, "search", settings);
            let plan = weft_search::Plan::to_end();
            let go_on = |_: &_| std::ops::ControlFlow::Continue(());
            search.unwrap().best_move(&Noughts::random(3, 3), plan, go_on).err()
        });
        assert_eq!(said[0], Some(Error::Format { from: Rank(1), what }), "{}", message.len());
    }
}
