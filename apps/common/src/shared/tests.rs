use super::{Family, RegionRank};
use crate::Traffic;
use weft_region::coherence::Policy;
use weft_region::{Error, Mapped, RegionId};
use weft_threads::Job;

/// Runs `program` on so many ranks and returns what they return.
fn on<T: Send>(ranks: u16, program: impl Fn(&RegionRank) -> Result<T, Error> + Sync) -> Vec<T> {
    Job::new(ranks).packets(|packets| RegionRank::run(&packets, &program).expect("nothing fails"))
}

#[test]
fn all_ranks_know_the_names_of_a_family() {
    on(3, |shared| {
        // Rank 0 has two of them, rank 2 none.
        let uneven =
            shared.create(Policy::default(), |rank| 2 - rank, |number| 8 * (number + 1))?;
        let even = shared.create(Policy::default(), |_| 1, |_| 4)?;
        let map =
            |family: &Family, rank, number| shared.regions().map::<u32>(family.id(rank, number));
        assert_eq!([map(&uneven, 0, 0)?.len(), map(&uneven, 0, 1)?.len()], [2, 4]);
        assert_eq!(map(&uneven, 1, 0)?.len(), 2);
        let mine: Mapped<u32> = map(&even, shared.rank(), 0)?;
        mine.write()?[0] = 10 + shared.rank() as u32;
        shared.barrier()?;
        for rank in 0..3 {
            assert_eq!(*map(&even, rank, 0)?.read()?, [10 + rank as u32]);
        }
        assert!(
            matches!(map(&even, 0, 1), Err(Error::Unknown(RegionId { index: 3, .. })))
                || shared.rank() == 0
        );
        shared.barrier()
    });
}

#[test]
fn families_may_follow_what_a_rank_created_by_itself() {
    on(3, |shared| {
        for _ in 0..shared.rank() {
            shared.create_one(Policy::default(), 24)?;
        }
        let family = shared.create(Policy::default(), |_| 1, |_| 8)?;
        for rank in 0..3 {
            let region = shared.regions().map::<u64>(family.id(rank, 0))?;
            assert_eq!((region.len(), region.id().index), (1, rank as u32));
        }
        shared.barrier()
    });
}

#[test]
fn rank_0_gathers_as_many_values_as_each_brings() {
    for ranks in [1, 4] {
        let gathered = on(ranks, |shared| {
            let rank = shared.rank() as u64;
            let first = shared.gather(&vec![rank; shared.rank()])?;
            Ok((first, shared.gather(&[rank + 7])?))
        });
        let wanted = (0..u64::from(ranks)).map(|rank| vec![rank; rank as usize]).collect();
        let again = (0..u64::from(ranks)).map(|rank| vec![rank + 7]).collect();
        assert_eq!(gathered[0], (Some(wanted), Some(again)));
        assert!(gathered[1..].iter().all(|others| *others == (None, None)));
    }
}

#[test]
fn traffic_is_counted_and_gathered() {
    let traffic = on(2, |shared| {
        let before = shared.traffic();
        shared.barrier()?;
        let mine = shared.traffic().since(before);
        shared.gather_traffic(mine)
    });
    let [Some(all), None] = &traffic[..] else { panic!("{traffic:?}") };
    assert_eq!(all.len(), 2);
    assert_eq!(all[1].packets_sent, 1, "rank 1 comes to the barrier: {all:?}");
    assert_ne!(Traffic::total(all), Traffic::default());
}
