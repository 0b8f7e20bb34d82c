use super::*;
use std::sync::Arc;
use std::sync::mpsc::channel;

#[test]
fn threads_take_turns() {
    const ROUNDS: u64 = 20_000;
    let lock = Arc::new(Biased::new(0u64));
    let others: Vec<_> = (0..2)
        .map(|_| {
            let lock = Arc::clone(&lock);
            std::thread::spawn(move || {
                for _ in 0..ROUNDS / 10 {
                    *lock.enter() += 1;
                }
            })
        })
        .collect();
    for _ in 0..ROUNDS {
        // A read and a write apart: a second thread inside would lose an addition.
        let mut value = lock.enter();
        let read = *value;
        std::hint::black_box(&read);
        *value = read + 1;
    }
    for other in others {
        other.join().unwrap();
    }
    assert_eq!(*lock.enter(), ROUNDS + 2 * (ROUNDS / 10));
}

#[test]
fn others_do_not_get_in_while_the_owner_is_inside() {
    let lock = Arc::new(Biased::new(()));
    let inside = lock.enter();
    let other = Arc::clone(&lock);
    std::thread::spawn(move || assert!(other.try_enter().is_none())).join().unwrap();
    drop(inside);
    let other = Arc::clone(&lock);
    std::thread::spawn(move || assert!(other.try_enter().is_some())).join().unwrap();
}

#[test]
fn at_once_the_owner_enters_and_nobody_waits() {
    let lock = Arc::new(Biased::new(7));
    let entered = |lock: &Biased<i32>| lock.enter_at_once().map(|value| *value);
    assert_eq!(entered(&lock), Some(7));
    let inside = lock.enter();
    assert_eq!(entered(&lock), None, "this thread is inside already");
    drop(inside);
    let (other, (tell, told), (go, gone)) = (Arc::clone(&lock), channel(), channel());
    let elsewhere = std::thread::spawn(move || {
        assert_eq!(entered(&other), None, "another thread pays for both");
        let _inside = other.enter();
        tell.send(()).unwrap();
        gone.recv().unwrap();
    });
    told.recv().unwrap();
    assert_eq!(entered(&lock), None, "another thread is inside");
    go.send(()).unwrap();
    elsewhere.join().unwrap();
    assert_eq!(entered(&lock), Some(7));
    lock.share();
    assert_eq!(entered(&lock), None, "nobody is the owner");
}

#[test]
#[should_panic(expected = "inside of")]
fn the_owner_cannot_enter_twice() {
    let lock = Biased::new(());
    let _inside = lock.enter();
    let _again = lock.enter();
}

#[cfg(loom)]
mod loom_checks;
