use super::*;
use std::cell::Cell;

const POLICY: WaitPolicy = WaitPolicy {
    spin_for: SPIN_FOR,
    pauses: Pauses::ONE,
    yield_for: Duration::from_secs(1),
    yield_alone_for: Duration::from_secs(1),
    core: Core::Own,
    core_is_certain: false,
    place: None,
};

/// A clock that each look moves on.
struct Looks {
    now: Cell<Instant>,
    every: Duration,
}

impl Looks {
    fn new(every: Duration) -> Self {
        Looks { now: Cell::new(Instant::now()), every }
    }

    /// Paces of a wait of so many looks in vain.
    fn paces(&self, waits: &Waits, looks: u32) -> Vec<Pace> {
        let mut pacer = Pacer::new(waits);
        let look = |_| {
            self.now.set(self.now.get() + self.every);
            pacer.idle(|| self.now.get())
        };
        (0..looks).map(look).collect()
    }
}

/// Looks of a hundred nanoseconds in a hundred waits, with the first of each uncounted: until then
/// its program may have done anything.
#[test]
fn a_rank_on_a_network_whose_waits_are_short_yields_at_times() {
    let (waits, looks) = (Waits::new(POLICY, true), Looks::new(Duration::from_nanos(100)));
    let paces: Vec<_> = (0..300).flat_map(|_| looks.paces(&waits, 11)).collect();
    let yields: Vec<_> = (1..).zip(&paces).filter(|(_, pace)| **pace == Pace::Yield).collect();
    let at: Vec<u32> = yields.into_iter().map(|(look, _)| look).collect();
    assert_eq!(at, [1100, 2200, 3300]);
}

#[test]
fn a_rank_in_memory_spins_through_short_waits() {
    let (waits, looks) = (Waits::new(POLICY, false), Looks::new(Duration::from_nanos(100)));
    let paces: Vec<_> = (0..300).flat_map(|_| looks.paces(&waits, 11)).collect();
    assert!(paces.iter().all(|pace| *pace == Pace::Spin { pauses: false }), "{paces:?}");
}

/// Times of the first pause and the first yield in a wait whose looks take so long.
fn pauses_and_yields_at(is_network: bool, every: Duration) -> [Duration; 2] {
    let (waits, looks) = (Waits::new(POLICY, is_network), Looks::new(every));
    let paces = looks.paces(&waits, SPIN_FOR.div_duration_f64(every) as u32 + 100);
    [Pace::Spin { pauses: true }, Pace::Yield].map(|wanted| {
        let at = paces.iter().position(|pace| *pace == wanted).expect("it is long enough");
        every * (at as u32 + 1)
    })
}

#[test]
fn a_long_wait_pauses_and_yields_by_time_whatever_a_look_takes() {
    for (is_network, look_ns) in [(false, 2), (false, 8), (false, 60), (true, 60), (true, 400)] {
        let every = Duration::from_nanos(look_ns);
        let [pause, yields] = pauses_and_yields_at(is_network, every);
        // The clock is read at one look in some, and from the first of these on.
        let slack = every * 2 * if is_network { 1 } else { LOOKS_PER_CLOCK };
        assert!(
            (SPIN_AT_ONCE_FOR..=SPIN_AT_ONCE_FOR + slack).contains(&pause),
            "{look_ns}: {pause:?}"
        );
        assert!((SPIN_FOR..=SPIN_FOR + slack).contains(&yields), "{look_ns}: {yields:?}");
    }
}

/// Looks in vain until a rank sleeps whose yields come back after `between`, but for one of them.
fn yields_until_sleep(between: Duration, slow: Option<(u32, Duration)>) -> (u32, Duration) {
    let waits = Waits::new(WaitPolicy::for_ranks(2, 2), false);
    let (mut pacer, start) = (Pacer::new(&waits), Instant::now());
    let (mut now, mut yields) = (start, 0);
    while pacer.pace_at(now) == Pace::Yield {
        yields += 1;
        now += slow.filter(|(which, _)| *which == yields).map_or(between, |(_, takes)| takes);
    }
    (yields, now - start)
}

#[test]
fn a_rank_yields_for_longer_while_nobody_else_wants_its_core() {
    let at_once = Duration::from_micros(1);
    assert_eq!(yields_until_sleep(at_once, None).1, YIELD_ALONE_FOR);
    let slice = Duration::from_millis(1);
    assert_eq!(yields_until_sleep(at_once, Some((1, slice))), (1, slice));
    assert_eq!(yields_until_sleep(at_once, Some((2000, slice))).0, 2000);
    assert_eq!(yields_until_sleep(at_once, Some((1, MOMENT))).1, YIELD_ALONE_FOR);
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
fn more_ranks_than_cores_share_them_from_the_first() {
    let core = |ranks| WaitPolicy::for_ranks(ranks, 2).core;
    assert_eq!([core(2), core(3)], [Core::Own, Core::Shared]);
}

#[test]
fn who_is_told_of_its_own_core_samples_nothing() {
    let next_sample = |policy| {
        let waits = Waits::new(policy, false);
        waits.observe(Duration::from_secs(1), Duration::ZERO);
        (waits.observe_at.load(Ordering::Relaxed), waits.core())
    };
    let shared = WaitPolicy::for_ranks(3, 2);
    assert_eq!(next_sample(shared), (1_000_000_000 + OBSERVE_EVERY, Core::Shared));
    assert_eq!(next_sample(shared.with_own_cores()), (0, Core::Own));
}

#[test]
fn a_quota_rations_the_cores_that_ranks_would_use() {
    let core = |quota, ranks| WaitPolicy::for_ranks(ranks, 4).within_quota(quota, ranks, 4).core;
    assert_eq!(core(None, 2), Core::Own);
    assert_eq!(core(Some(2.0), 2), Core::Own);
    assert_eq!(core(Some(1.5), 2), Core::Rationed);
    assert_eq!(core(Some(4.0), 8), Core::Shared);
    assert_eq!(core(Some(3.5), 8), Core::Rationed);
}

/// Paces of a wait on a core of this kind, one in so many microseconds, until it sleeps.
fn paces_until_sleep(core: Core, every_us: u64) -> (Vec<Pace>, Duration) {
    let waits = Waits::new(WaitPolicy::for_ranks(2, 2), false);
    let (mut pacer, start) = (Pacer { core, ..Pacer::new(&waits) }, Instant::now());
    let looks = (0..).map(|look| Duration::from_micros(look * every_us));
    let paces = looks.map(|time| (pacer.pace_at(start + time), time));
    let mut paces: Vec<_> = paces.take_while(|(pace, _)| *pace != Pace::Sleep).collect();
    let last = paces[paces.len() - 1].1;
    (paces.drain(..).map(|(pace, _)| pace).collect(), last + Duration::from_micros(every_us))
}

#[test]
fn who_shares_a_core_yields_it_at_every_look() {
    let (paces, time) = paces_until_sleep(Core::Shared, 1);
    assert!(paces.iter().all(|pace| *pace == Pace::Yield), "{paces:?}");
    assert_eq!(time, YIELD_ON_SHARED_CORE_FOR);
}

#[test]
fn who_would_get_a_core_back_late_does_not_yield_it_but_sleeps_soon() {
    let (paces, time) = paces_until_sleep(Core::Busy, 1);
    assert!(paces.iter().all(|pace| matches!(pace, Pace::Spin { .. })), "{paces:?}");
    assert_eq!(time, PATIENCE);
}

#[test]
fn who_may_not_use_its_core_for_long_sleeps_soon() {
    assert_eq!(paces_until_sleep(Core::Rationed, 1).1, PATIENCE);
}

/// Paces of a program that polls once in so many microseconds and pauses each time, until it has
/// polled so often or sleeps.
fn paces_of_polls(core: Core, every_us: u64, most: u64) -> Vec<Pace> {
    let polls = Polls::default();
    let pace = |poll: u64| {
        let now = Duration::from_micros(1000 + poll * every_us);
        let pace = polls.pace(now, poll == 0, core);
        if pace == Pace::Yield {
            polls.yielded(now);
        }
        polls.paused(now, 1);
        pace
    };
    let mut paces: Vec<_> = (0..most).map(pace).collect();
    let sleep = paces.iter().position(|pace| *pace == Pace::Sleep);
    paces.truncate(sleep.map_or(paces.len(), |sleep| sleep + 1));
    paces
}

#[test]
fn a_program_that_polls_has_its_core_to_itself_but_for_a_yield_at_times() {
    let paces = paces_of_polls(Core::Own, 1, 4999);
    let yields = paces.iter().filter(|pace| **pace == Pace::Yield).count();
    assert_eq!((paces.len(), yields), (4999, 50));
    assert!(paces.iter().all(|pace| matches!(pace, Pace::Spin { .. } | Pace::Yield)), "{paces:?}");
}

#[test]
fn a_program_that_polls_gives_a_shared_core_away_and_then_sleeps() {
    let paces = paces_of_polls(Core::Shared, 1, 10_000);
    let (sleep, yields) = paces.split_last().unwrap();
    assert_eq!((*sleep, yields), (Pace::Sleep, &[Pace::Yield; 5000][..]));
    assert_eq!(paces_of_polls(Core::Busy, 1, 1000).len(), 21);
    assert_eq!(paces_of_polls(Core::Rationed, 1, 1000).len(), 21);
}

#[test]
fn a_program_that_does_other_things_between_its_polls_is_not_put_to_sleep() {
    for core in [Core::Own, Core::Shared, Core::Busy, Core::Rationed] {
        let paces = paces_of_polls(core, 10, 10_000);
        assert!(!paces.contains(&Pace::Sleep), "{core:?}");
    }
}

#[test]
fn a_program_that_polls_seldom_pauses_often_enough_for_others_to_see_it() {
    let polls = Polls::default();
    let mut now = Duration::from_secs(1);
    let mut pause = |every: Duration, begins| {
        now += every * polls.count.load(Ordering::Relaxed);
        let next = polls.until_next(now, begins, POLLS_PER_PAUSE);
        polls.paused(now, next);
        next
    };
    assert_eq!(pause(Duration::ZERO, true), POLLS_PER_PAUSE);
    // It tests a request, and sleeps for a millisecond.
    let [seldom, still] = [(); 2].map(|()| pause(Duration::from_millis(1), false));
    assert_eq!((seldom, still), (50, 50));
    assert_eq!(pause(Duration::from_secs(1), false), 1);
    assert_eq!(pause(Duration::from_micros(1), false), POLLS_PER_PAUSE);
}
