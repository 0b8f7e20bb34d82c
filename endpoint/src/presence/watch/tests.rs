use super::*;

const DELAY: Duration = Duration::from_micros(70);

/// Pauses of a host that polls all the time, until it has done so for `active`.
fn pauses(active: Duration) -> Vec<Duration> {
    let (mut all, mut elapsed) = (vec![DELAY], DELAY);
    while elapsed < active {
        let pause = longer(all[all.len() - 1], DELAY, elapsed);
        all.push(pause);
        elapsed += pause;
    }
    all
}

#[test]
fn the_delay_doubles_eight_fold_at_first() {
    let expected = [1, 2, 4, 8, 8, 8].map(|delays| DELAY * delays);
    assert_eq!(pauses(Duration::from_millis(2))[..6], expected);
}

#[test]
fn an_interrupt_is_late_by_a_share_of_the_time_that_the_host_has_polled() {
    let mut elapsed = Duration::ZERO;
    for pause in pauses(Duration::from_secs(2)) {
        assert!(pause <= (elapsed / SHARE_OF_ACTIVITY).max(DELAY * MOST_DELAYS));
        elapsed += pause;
    }
}

#[test]
fn a_host_that_polls_for_long_is_looked_at_two_hundred_times_a_second() {
    let (short, long) =
        (pauses(Duration::from_secs(1)).len(), pauses(Duration::from_secs(2)).len());
    assert_eq!(long - short, 200);
    assert_eq!(pauses(Duration::from_secs(1)).last(), Some(&LONGEST_DELAY));
}

/// A host that has processed so many packets, and polls or does not.
fn host(packets_processed: u64, activity: u64) -> Host {
    let status = HostStatus { packets_processed, interrupts_disabled: false };
    Host { status, activity, is_eager: false, core: Core::Own }
}

#[test]
fn in_memory_a_host_that_does_not_poll_is_interrupted_after_the_delay() {
    let mut watch = MemoryWatch::new(DELAY);
    let idle = || unreachable!("nobody asks");
    assert_eq!(watch.next(WatchEvent::Looked(Found::Nothing), 0, &host(5, 5), idle), Act::Sleep);
    let pause = watch.next(WatchEvent::Woken(Woken::Ring), 0, &host(5, 5), idle);
    assert_eq!(pause, Act::Pause(DELAY));
    // What it has processed before the first pause is no progress since the one before.
    let first = watch.next(WatchEvent::Paused, 70_000, &host(5, 5), || false);
    assert_eq!(first, Act::Pause(DELAY));
    assert_eq!(watch.next(WatchEvent::Paused, 140_000, &host(5, 5), || false), Act::Interrupt);
    let after = watch.next(WatchEvent::Interrupted, 150_000, &host(6, 5), idle);
    assert_eq!(after, Act::Pause(DELAY));
    assert_eq!(watch.next(WatchEvent::Paused, 220_000, &host(6, 5), || true), Act::Look);
}

#[test]
fn in_memory_a_host_that_polls_is_looked_at_ever_less_often() {
    let mut watch = MemoryWatch::new(DELAY);
    watch.next(WatchEvent::Woken(Woken::Ring), 0, &host(0, 0), || true);
    let pauses = (1..5).map(|look| {
        watch.next(WatchEvent::Paused, look * 70_000, &host(look, look), || {
            unreachable!("it is busy")
        })
    });
    assert_eq!(pauses.collect::<Vec<_>>(), [2, 4, 8, 8].map(|delays| Act::Pause(DELAY * delays)));
}

#[test]
fn on_a_network_an_arrival_is_given_the_delay_and_then_interrupts() {
    let mut watch = NetworkWatch::new(DELAY);
    let tick = DELAY * 6;
    assert_eq!(watch.next(WatchEvent::Looked(Found::Nothing), &host(1, 0)), Act::Sleep);
    assert_eq!(watch.next(WatchEvent::Woken(Woken::Ring), &host(1, 0)), Act::Pause(DELAY));
    assert_eq!(watch.next(WatchEvent::Paused, &host(1, 0)), Act::Look);
    assert_eq!(watch.next(WatchEvent::Looked(Found::Waits), &host(1, 0)), Act::Interrupt);
    assert_eq!(watch.next(WatchEvent::Interrupted, &host(2, 0)), Act::Look);
    assert_eq!(watch.next(WatchEvent::Looked(Found::Inside(tick)), &host(2, 0)), Act::Pause(tick));
}

#[test]
fn on_a_network_a_host_that_makes_progress_is_left_twice_the_time() {
    let mut watch = NetworkWatch::new(DELAY);
    let looked = WatchEvent::Looked(Found::Waits);
    let pauses: Vec<_> = (0..5).map(|seen| watch.next(looked, &host(seen, 0))).collect();
    assert_eq!(pauses, [1, 2, 4, 8, 8].map(|delays| Act::Pause(DELAY * delays)));
    let off = HostStatus { packets_processed: 4, interrupts_disabled: true };
    assert_eq!(watch.next(looked, &Host { status: off, ..host(4, 0) }), Act::Pause(DELAY * 8));
}

#[test]
fn an_eager_program_is_given_no_time() {
    let eager = Host { is_eager: true, ..host(1, 0) };
    let mut network = NetworkWatch::new(DELAY);
    assert_eq!(network.next(WatchEvent::Woken(Woken::Ring), &eager), Act::Look);
    assert_eq!(network.next(WatchEvent::Looked(Found::Waits), &eager), Act::Interrupt);
    let mut memory = MemoryWatch::new(DELAY);
    assert_eq!(memory.next(WatchEvent::Woken(Woken::Ring), 0, &eager, || true), Act::Look);
}
