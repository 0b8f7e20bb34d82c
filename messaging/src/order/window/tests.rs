use super::*;
use proptest::prelude::*;

const WINDOW: OrderWindow = OrderWindow { messages: 4, bytes: 100 };

#[test]
fn a_full_window_opens_when_the_slowest_has_consumed() {
    let mut outstanding = Outstanding::new(2, WINDOW);
    for number in [0, 3, 2, 7] {
        assert!(outstanding.reserve(10));
        outstanding.number(number, 10);
    }
    assert!(!outstanding.reserve(10));
    outstanding.consumed_by(0, 8);
    assert!(!outstanding.reserve(10), "the other has consumed none");
    outstanding.consumed_by(1, 3);
    assert!(outstanding.reserve(10), "0 and 2 are consumed, 3 and 7 are not");
    assert_eq!(outstanding.messages(), 3);
    outstanding.number(8, 10);
    outstanding.consumed_by(1, 1);
    assert!(outstanding.reserve(10), "what was said late takes nothing back");
    outstanding.number(9, 10);
    assert!(!outstanding.reserve(10));
}

#[test]
fn bytes_count_and_a_message_longer_than_the_window_goes_beside_half_of_it() {
    let mut outstanding = Outstanding::new(1, WINDOW);
    assert!(outstanding.reserve(50));
    outstanding.number(0, 50);
    assert!(outstanding.reserve(500));
    outstanding.number(1, 500);
    assert!(!outstanding.reserve(0), "too much is under way even for nothing");
    outstanding.consumed_by(0, 2);
    assert!(outstanding.reserve(51));
    outstanding.number(2, 51);
    assert!(!outstanding.reserve(50));
    assert!(outstanding.reserve(49));
}

#[test]
fn who_overdraws_does_not_wait_and_is_counted() {
    let mut outstanding = Outstanding::new(1, OrderWindow { messages: 1, bytes: 100 });
    assert!(outstanding.reserve(1));
    assert!(!outstanding.reserve(1));
    assert_eq!(outstanding.overdraw(1), 2);
}

#[test]
fn debts_fall_due_at_half_a_window_and_broadcasts_pay_them() {
    let mut owed = Owed::new(2, WINDOW);
    assert!(!owed.consume(0, 1));
    assert!(!owed.consume(1, 1));
    assert!(owed.consume(0, 1));
    owed.tell_all();
    assert!(!owed.consume(1, 1), "it was told of the first");
    assert!(owed.consume(1, 1));
    assert!(owed.consume(1, 50));
}

proptest! {
    /// Whatever is sent, once all of it is consumed there is room for any message: nobody waits for
    /// an acknowledgement that is not due.
    #[test]
    fn nobody_waits_for_ever(
        messages in 1..9u64,
        bytes in 0..200u64,
        sizes in proptest::collection::vec((0..300u64, any::<bool>()), 1..60),
    ) {
        let window = OrderWindow { messages, bytes };
        let mut sender = Outstanding::new(2, window);
        let mut receiver = Owed::new(2, window);
        let mut number = 0;
        for (size, chatty) in sizes {
            prop_assert!(sender.reserve(size), "{number}");
            sender.number(number, size);
            number += 1;
            sender.consumed_by(0, number);
            if receiver.consume(0, size) {
                sender.consumed_by(1, number);
            }
            if chatty {
                receiver.tell_all();
                sender.consumed_by(1, number);
            }
        }
    }
}
