use super::*;

const POLICY: WaitPolicy = WaitPolicy { spins: 300, yield_for: Duration::from_secs(1) };

/// Paces of a rank in `waits` waits of `looks` fruitless looks each.
fn paces(waits: u32, looks: u32, spin_count: Option<&SpinCount>) -> Vec<Pace> {
    let a_wait = |_| {
        let mut pacer = Pacer { policy: POLICY, spin_count, idle: 0, since: None };
        (0..looks).map(move |_| pacer.idle()).collect::<Vec<_>>()
    };
    (0..waits).flat_map(a_wait).collect()
}

#[test]
fn a_rank_on_a_network_whose_waits_are_short_yields_at_times() {
    let spin_count = SpinCount::default();
    let paces = paces(3 * SPINS_PER_YIELD / 10, 10, Some(&spin_count));
    let yields: Vec<_> = (1..).zip(&paces).filter(|(_, pace)| **pace == Pace::Yield).collect();
    let at: Vec<u32> = yields.into_iter().map(|(spin, _)| spin).collect();
    assert_eq!(at, [SPINS_PER_YIELD, 2 * SPINS_PER_YIELD, 3 * SPINS_PER_YIELD]);
}

#[test]
fn a_rank_in_memory_spins_through_short_waits() {
    let paces = paces(3 * SPINS_PER_YIELD / 10, 10, None);
    assert!(paces.iter().all(|pace| matches!(pace, Pace::Spin(_))), "{paces:?}");
}

#[test]
fn a_long_wait_yields_after_its_spins() {
    let paces = paces(1, POLICY.spins + 2, None);
    let (spins, yields) = paces.split_at(POLICY.spins as usize);
    assert!(spins.iter().all(|pace| matches!(pace, Pace::Spin(_))), "{spins:?}");
    assert_eq!(yields, [Pace::Yield; 2]);
}
