use super::*;

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
        (waits.sampling.is_due(1_000_000_000, Duration::ZERO), waits.core())
    };
    let shared = WaitPolicy::for_ranks(3, 2);
    assert_eq!(next_sample(shared), (false, Core::Shared), "one was taken");
    assert_eq!(next_sample(shared.with_own_cores()), (true, Core::Own));
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
