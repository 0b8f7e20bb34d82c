use super::Array;
use weft_app_common::RegionRank;
use weft_region::Error;
use weft_region::coherence::Policy;
use weft_threads::Job;

/// Rank 0 writes all over an array whose parts are no whole number of regions, and all ranks read.
#[test]
fn what_one_writes_across_regions_all_read() {
    for (ranks, keys) in [(1, 10), (3, 29), (4, 3)] {
        let done = Job::new(ranks).packets(|packets| {
            RegionRank::run(&packets, |shared| {
                let mut array = Array::new(shared, keys, 4, Policy::default())?;
                let all: Vec<u32> = (100..100 + keys as u32).collect();
                if shared.rank() == 0 {
                    array.write(0, &all[..1])?;
                    array.write(1, &all[1..])?;
                }
                shared.barrier()?;
                array.prefetch_mine()?;
                let mine = array.mine();
                assert_eq!(array.read(mine.clone())?, all[mine]);
                assert_eq!(array.read(1..keys)?, all[1..]);
                let part = array.of((shared.rank() + 1) % ranks as usize);
                let inner = part.start..part.end.saturating_sub(1).max(part.start);
                array.map(inner.clone())?;
                array.prefetch(inner.clone())?;
                let mut seen = Vec::new();
                let open = array.open(inner.clone(), |keys| {
                    seen.extend(keys.to_vec());
                    Ok(())
                })?;
                assert_eq!(seen, all[inner.clone()]);
                let last = inner.end.saturating_sub(5).max(inner.start)..inner.end;
                let slices: Vec<&[u32]> = open.slices(last.clone()).collect();
                assert_eq!(slices.concat(), all[last]);
                Ok::<_, Error>(())
            })
        });
        assert!(done.iter().all(Result::is_ok), "{done:?}");
    }
}
