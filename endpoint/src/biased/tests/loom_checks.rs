//! The lock in all orders in which the owner and others may enter it. Loom finds whoever is inside
//! with another, because the value is a cell that it watches.

use super::*;
use loom::cell::Cell;
use loom::thread::{self, JoinHandle};
use weft_link::sync::model;

type Count = Biased<Cell<u32>>;

/// A lock that this thread owns.
fn owned() -> Arc<Count> {
    Arc::new(Biased::new(Cell::new(0)))
}

fn increment(inside: &Entered<'_, Cell<u32>>) {
    inside.set(inside.get() + 1);
}

fn in_thread(lock: &Arc<Count>, enter: impl FnOnce(&Count) + Send + 'static) -> JoinHandle<()> {
    let lock = Arc::clone(lock);
    thread::spawn(move || enter(&lock))
}

fn assert_count(lock: &Count, expected: u32) {
    assert_eq!(lock.enter().get(), expected);
}

#[test]
fn the_owner_and_another_take_turns() {
    model(|| {
        let lock = owned();
        let other = in_thread(&lock, |lock| increment(&lock.enter()));
        increment(&lock.enter());
        increment(&lock.enter());
        other.join().unwrap();
        assert_count(&lock, 3);
    });
}

#[test]
fn two_others_and_the_owner_take_turns() {
    model(|| {
        let lock = owned();
        let others = [(); 2].map(|()| in_thread(&lock, |lock| increment(&lock.enter())));
        increment(&lock.enter());
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_count(&lock, 3);
    });
}

#[test]
fn who_does_not_wait_enters_alone_or_not_at_all() {
    model(|| {
        let lock = owned();
        let other = in_thread(&lock, |lock| {
            if let Some(inside) = lock.try_enter() {
                increment(&inside);
            }
        });
        if let Some(inside) = lock.enter_at_once() {
            increment(&inside);
        }
        other.join().unwrap();
    });
}

#[test]
fn the_owner_goes_out_and_in_again() {
    model(|| {
        let lock = owned();
        let other = in_thread(&lock, |lock| increment(&lock.enter()));
        let (inside, ()) = lock.enter().while_outside(|| ());
        increment(&inside);
        drop(inside);
        other.join().unwrap();
        assert_count(&lock, 2);
    });
}

#[test]
fn the_owner_of_a_lock_that_is_shared_becomes_one_of_the_others() {
    model(|| {
        let lock = owned();
        let other = in_thread(&lock, |lock| {
            lock.share();
            increment(&lock.enter());
        });
        increment(&lock.enter());
        other.join().unwrap();
        assert_count(&lock, 2);
    });
}

#[test]
fn a_lock_may_be_shared_while_its_owner_enters_at_once() {
    model(|| {
        let lock = owned();
        let other = in_thread(&lock, |lock| {
            lock.share();
            increment(&lock.enter());
        });
        let entered = lock.enter_at_once().map(|inside| increment(&inside));
        other.join().unwrap();
        assert_count(&lock, 1 + u32::from(entered.is_some()));
    });
}
