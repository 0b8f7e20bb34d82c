use super::*;
use std::cell::Cell;

const TIMES: WaitTimes = WaitTimes {
    spin: SPIN_FOR,
    yields: Duration::from_secs(1),
    yields_alone: Duration::from_secs(1),
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
    fn paces(&self, budget: &Budget, looks: u32) -> Vec<Pace> {
        let mut backoff = Backoff::new(budget);
        let look = |_| {
            self.now.set(self.now.get() + self.every);
            backoff.idle(Core::Own, || self.now.get())
        };
        (0..looks).map(look).collect()
    }
}

/// Looks of a hundred nanoseconds in a hundred waits, with the first of each uncounted: until then
/// its program may have done anything.
#[test]
fn a_rank_on_a_network_whose_waits_are_short_yields_at_times() {
    let (budget, looks) = (Budget::new(TIMES, true), Looks::new(Duration::from_nanos(100)));
    let paces: Vec<_> = (0..300).flat_map(|_| looks.paces(&budget, 11)).collect();
    let yields: Vec<_> = (1..).zip(&paces).filter(|(_, pace)| **pace == Pace::Yield).collect();
    let at: Vec<u32> = yields.into_iter().map(|(look, _)| look).collect();
    assert_eq!(at, [1100, 2200, 3300]);
}

#[test]
fn a_rank_in_memory_spins_through_short_waits() {
    let (budget, looks) = (Budget::new(TIMES, false), Looks::new(Duration::from_nanos(100)));
    let paces: Vec<_> = (0..300).flat_map(|_| looks.paces(&budget, 11)).collect();
    assert!(paces.iter().all(|pace| *pace == Pace::Spin { pauses: false }), "{paces:?}");
}

/// Times of the first pause and the first yield in a wait whose looks take so long.
fn pauses_and_yields_at(is_network: bool, every: Duration) -> [Duration; 2] {
    let (budget, looks) = (Budget::new(TIMES, is_network), Looks::new(every));
    let paces = looks.paces(&budget, SPIN_FOR.div_duration_f64(every) as u32 + 100);
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
    let budget = Budget::new(WaitTimes::USUAL, false);
    let (mut backoff, start) = (Backoff::new(&budget), Instant::now());
    let (mut now, mut yields) = (start, 0);
    while backoff.pace_at(Core::Own, now) == Pace::Yield {
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

/// Paces of a wait on a core of this kind, one in so many microseconds, until it sleeps.
fn paces_until_sleep(core: Core, every_us: u64) -> (Vec<Pace>, Duration) {
    let budget = Budget::new(WaitTimes::USUAL, false);
    let (mut backoff, start) = (Backoff::new(&budget), Instant::now());
    let looks = (0..).map(|look| Duration::from_micros(look * every_us));
    let paces = looks.map(|time| (backoff.pace_at(core, start + time), time));
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
