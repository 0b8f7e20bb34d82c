use super::{Alone, Error, Exchange};
use crate::on_threads;

#[test]
fn gather_brings_every_rank_in_order_to_rank_0_only() {
    let gathered = on_threads(4, 0, |mut exchange| {
        let mine = vec![exchange.rank() as u32; exchange.rank()];
        exchange.gather(&mine, |rank| rank).expect("all ranks take part")
    });
    assert_eq!(gathered[0], Some(vec![vec![], vec![1], vec![2; 2], vec![3; 3]]));
    assert!(gathered[1..].iter().all(Option::is_none));
}

#[test]
fn spread_gives_every_rank_the_values_of_rank_0() {
    let values = on_threads(3, 0, |mut exchange| {
        let mut values = [exchange.rank() as u64 + 7, 1];
        exchange.spread(&mut values).expect("all ranks take part");
        values
    });
    assert_eq!(values, [[7, 1]; 3]);
}

#[test]
fn a_message_of_another_length_names_its_sender() {
    let errors = on_threads(2, 1, |mut exchange| {
        if exchange.rank() == 1 {
            exchange.send(0, &[1, 2, 3]).expect("there is room for one message");
            return None;
        }
        exchange.receive(1, &mut [0; 2]).err()
    });
    assert!(matches!(errors[0], Some(Error::Length { from: 1, expected: 2, found: 3 })));
}

#[test]
fn a_rank_that_left_is_named() {
    let errors = on_threads(2, 0, |mut exchange| match exchange.rank() {
        0 => exchange.receive(1, &mut [0; 8]).err(),
        _ => None,
    });
    assert!(matches!(errors[0], Some(Error::Left(1))));
}

#[test]
fn one_rank_gathers_its_own() {
    let gathered = Alone.gather(&[1.5_f64], |_| 1).expect("nobody else is needed");
    assert_eq!(gathered, Some(vec![vec![1.5]]));
    assert!(Alone.broadcast(b"to nobody").is_ok());
}
