use super::{Condition, Mutex, Semaphore};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// A future that is polled by hand, and says whether it was woken.
struct Hand<'a, T> {
    future: Pin<Box<dyn Future<Output = T> + Send + 'a>>,
    wakes: Arc<Wakes>,
}

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl<'a, T> Hand<'a, T> {
    /// A future that waits.
    fn waiting(future: impl Future<Output = T> + Send + 'a) -> Self {
        let mut hand = Hand { future: Box::pin(future), wakes: Arc::default() };
        assert!(hand.poll().is_none(), "it did not wait");
        hand
    }

    fn poll(&mut self) -> Option<T> {
        let waker = Waker::from(Arc::clone(&self.wakes));
        match self.future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    fn is_woken(&self) -> bool {
        self.wakes.0.load(Ordering::SeqCst) > 0
    }
}

#[test]
fn a_lock_is_handed_over_in_the_order_of_asking() {
    let mutex = Mutex::new(0);
    let held = mutex.try_lock().unwrap();
    let mut first = Hand::waiting(mutex.lock());
    let mut second = Hand::waiting(mutex.lock());
    assert!(!first.is_woken());
    drop(held);
    assert!(first.is_woken() && !second.is_woken());
    assert!(mutex.try_lock().is_none(), "somebody barged in");
    assert!(second.poll().is_none());
    *first.poll().unwrap() += 1;
    assert!(second.is_woken());
    *second.poll().unwrap() += 1;
    assert_eq!(*mutex.try_lock().unwrap(), 2);
}

#[test]
fn a_lock_whose_waiter_was_dropped_goes_to_the_next() {
    let mutex = Mutex::new(());
    let held = mutex.try_lock().unwrap();
    let called = Hand::waiting(mutex.lock());
    let gone = Hand::waiting(mutex.lock());
    let mut last = Hand::waiting(mutex.lock());
    drop(gone);
    drop(held);
    assert!(called.is_woken() && !last.is_woken());
    drop(called);
    assert!(last.is_woken());
    drop(last.poll().unwrap());
    assert!(mutex.try_lock().is_some());
}

#[test]
fn a_panic_unlocks() {
    let mutex = Mutex::new(1);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _held = mutex.try_lock().unwrap();
        std::panic::resume_unwind(Box::new("enough"));
    }));
    assert!(outcome.is_err());
    assert_eq!(*mutex.try_lock().unwrap(), 1);
}

#[test]
fn the_notified_go_on_one_by_one_with_the_lock() {
    let (mutex, condition) = (Mutex::new(0), Condition::new());
    assert!(!condition.notify_one(), "nobody waits yet");
    let wait = || async {
        let guard = mutex.lock().await;
        let mut guard = condition.wait(guard).await;
        *guard += 1;
        *guard
    };
    let mut waiting = [Hand::waiting(wait()), Hand::waiting(wait()), Hand::waiting(wait())];
    let held = mutex.try_lock().expect("who waits has unlocked");
    assert!(condition.notify_one());
    assert!(waiting[0].is_woken() && waiting[0].poll().is_none(), "the lock is held");
    drop(held);
    assert_eq!(waiting[0].poll(), Some(1));
    assert!(!waiting[1].is_woken());
    condition.notify_all();
    assert_eq!([waiting[2].poll(), waiting[1].poll()], [Some(2), Some(3)]);
}

#[test]
fn a_notification_whose_waiter_was_dropped_goes_to_the_next() {
    let (mutex, condition) = (Mutex::new(()), Condition::new());
    let wait = || async { drop(condition.wait(mutex.lock().await).await) };
    // One is dropped before it has noticed, the other while it waits for the lock.
    let (early, mut late) = (Hand::waiting(wait()), Hand::waiting(wait()));
    let mut last = Hand::waiting(wait());
    condition.notify_one();
    drop(early);
    assert!(late.is_woken() && !last.is_woken());
    let held = mutex.try_lock().unwrap();
    assert!(late.poll().is_none());
    drop(late);
    assert!(last.is_woken());
    drop(held);
    assert_eq!(last.poll(), Some(()));
    assert!(mutex.try_lock().is_some());
}

#[test]
fn a_semaphore_lets_so_many_in() {
    let semaphore = Semaphore::new(2);
    let permits = [semaphore.try_acquire().unwrap(), semaphore.try_acquire().unwrap()];
    assert!(semaphore.try_acquire().is_none());
    let mut next = Hand::waiting(semaphore.acquire());
    drop(permits);
    let permit = next.poll().unwrap();
    let other = semaphore.try_acquire().unwrap();
    assert!(semaphore.try_acquire().is_none());
    permit.forget();
    drop(other);
    assert!(semaphore.try_acquire().is_some());
    assert!(!semaphore.release(), "nobody waits");
}

#[test]
fn threads_exclude_one_another() {
    let mutex = Mutex::new((0, 0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut turns = 0;
                while turns < 1000 {
                    let Some(mut both) = mutex.try_lock() else {
                        std::thread::yield_now();
                        continue;
                    };
                    both.0 += 1;
                    assert_eq!(both.0, both.1 + 1);
                    both.1 += 1;
                    turns += 1;
                }
            });
        }
    });
    assert_eq!(*mutex.try_lock().unwrap(), (4000, 4000));
}
