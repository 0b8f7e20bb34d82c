use super::*;

const POLICY: WaitPolicy = WaitPolicy {
    spins: 300,
    yield_for: Duration::from_secs(1),
    yield_alone_for: Duration::from_secs(1),
};

/// Paces of a rank in `count` waits of `looks` fruitless looks each.
fn paces(count: u32, looks: u32, is_network: bool) -> Vec<Pace> {
    let waits = Waits::new(POLICY, is_network);
    let a_wait = |_| {
        let mut pacer = Pacer::new(&waits);
        (0..looks).map(|_| pacer.idle()).collect::<Vec<_>>()
    };
    (0..count).flat_map(a_wait).collect()
}

#[test]
fn a_rank_on_a_network_whose_waits_are_short_yields_at_times() {
    let paces = paces(3 * SPINS_PER_YIELD / 10, 10, true);
    let yields: Vec<_> = (1..).zip(&paces).filter(|(_, pace)| **pace == Pace::Yield).collect();
    let at: Vec<u32> = yields.into_iter().map(|(spin, _)| spin).collect();
    assert_eq!(at, [SPINS_PER_YIELD, 2 * SPINS_PER_YIELD, 3 * SPINS_PER_YIELD]);
}

#[test]
fn a_rank_in_memory_spins_through_short_waits() {
    let paces = paces(3 * SPINS_PER_YIELD / 10, 10, false);
    assert!(paces.iter().all(|pace| matches!(pace, Pace::Spin(_))), "{paces:?}");
}

#[test]
fn a_long_wait_yields_after_its_spins() {
    let paces = paces(1, POLICY.spins + 2, false);
    let (spins, yields) = paces.split_at(POLICY.spins as usize);
    assert!(spins.iter().all(|pace| matches!(pace, Pace::Spin(_))), "{spins:?}");
    assert_eq!(yields, [Pace::Yield; 2]);
}

/// Looks in vain until a rank sleeps whose yields come back after `between`, each but the
/// `slow`-th, which takes a millisecond.
fn yields_until_sleep(between: Duration, slow: Option<u32>) -> (u32, Duration) {
    let waits = Waits::new(WaitPolicy::for_ranks(2, 2), false);
    let (mut pacer, start) = (Pacer::new(&waits), Instant::now());
    let (mut now, mut yields) = (start, 0);
    while pacer.pace_at(now) == Pace::Yield {
        yields += 1;
        now += if Some(yields) == slow { Duration::from_millis(1) } else { between };
    }
    (yields, now - start)
}

#[test]
fn a_rank_yields_for_longer_while_nobody_else_wants_its_core() {
    let at_once = Duration::from_micros(1);
    assert_eq!(yields_until_sleep(at_once, None).1, YIELD_ALONE_FOR);
    assert_eq!(yields_until_sleep(at_once, Some(1)), (1, Duration::from_millis(1)));
    assert_eq!(yields_until_sleep(at_once, Some(2000)).0, 2000);
    assert_eq!(yields_until_sleep(LONGEST_ALONE * 2, None).1, Duration::from_micros(200));
}

/// Looks of `core_time` that end its quantum, at these times in microseconds.
fn ends(core_time: &CoreTime, times: &[u64]) -> Vec<bool> {
    times.iter().map(|at| core_time.is_over(Duration::from_micros(*at))).collect()
}

#[test]
fn who_finds_something_at_every_look_yields_a_shared_core_once_in_a_quantum() {
    let quantum = QUANTUM.as_micros() as u64;
    let times = [7, 8, 6 + quantum, 7 + quantum, 8 + quantum, 7 + 2 * quantum];
    assert_eq!(ends(&CoreTime::new(), &times), [false, false, false, true, false, true]);
}

#[test]
fn a_yield_ends_the_quantum() {
    let (quantum, core_time) = (QUANTUM.as_micros() as u64, CoreTime::new());
    assert_eq!(ends(&core_time, &[1]), [false]);
    core_time.end();
    assert_eq!(ends(&core_time, &[quantum, 2 * quantum - 1, 2 * quantum]), [false, false, true]);
}

#[test]
fn only_who_shares_a_core_gives_it_away_while_it_finds_something() {
    let shares = |policy| Waits::new(policy, false).core_time.is_some();
    assert!(shares(WaitPolicy::for_ranks(3, 2)));
    assert!(!shares(WaitPolicy::for_ranks(2, 2)));
    assert!(!shares(WaitPolicy::SLEEP), "simulated ranks have a core each");
}
