//! Arguments and results of all kinds, and operations with alternatives.

use crate::common::*;

/// Arguments of the job with this number, which is of many kinds.
fn task(number: u16) -> Task {
    Task {
        name: format!("job {number}"),
        row: (0..number % 50).map(|i| f64::from(i) / 3.0).collect(),
        counts: (0..number % 7).map(|i| i * 1000 + number).collect(),
    }
}

#[test]
fn arguments_and_results_are_the_same_at_both_ends_wherever_the_object_is() {
    for placement in placements(3) {
        let taken = run(3, |member| {
            let jobs = member.object("jobs", &Jobs::default(), placement);
            for number in (0..60).filter(|number| usize::from(number % 3) == member.rank()) {
                let Task { name, row, counts } = task(number);
                let said = jobs.put(counts, &name, &row, 1).unwrap();
                assert_eq!((said.len(), said[1]), (2, 1));
                assert!((1..=60).contains(&said[0]), "{said:?}");
            }
            member.barrier.wait().unwrap();
            if member.rank() == 1 {
                jobs.close().unwrap();
            }
            std::iter::from_fn(|| jobs.take().unwrap()).collect::<Vec<Task>>()
        });
        let mut taken = taken.concat();
        taken.sort_by_key(|job| job.name[4..].parse::<u16>().unwrap());
        assert_eq!(taken, (0..60).map(task).collect::<Vec<_>>(), "{placement:?}");
    }
}

#[test]
fn operations_that_were_begun_have_their_results_in_any_order() {
    for placement in placements(2) {
        run(2, |member| {
            let jobs = member.object("jobs", &Jobs::default(), placement);
            let int = member.object("int", &Int(0), placement);
            if member.rank() == 0 {
                let waited: Vec<_> = (0..5).map(|_| jobs.begin_take().unwrap()).collect();
                let counts: Vec<_> = (0..10).map(|_| int.begin_inc().unwrap()).collect();
                let mut counts: Vec<u64> =
                    counts.into_iter().rev().map(|count| count.wait().unwrap()).collect();
                counts.sort_unstable();
                assert_eq!(counts, (1..=10).collect::<Vec<u64>>());
                // Given up on: it is executed all the same, some time.
                drop(int.begin_inc().unwrap());
                int.await_value(11).unwrap();
                let last = member.engine.block_on(int.begin_inc().unwrap().result()).unwrap();
                assert_eq!(last.unwrap(), 12);
                member.barrier.wait().unwrap();
                let mut names: Vec<String> =
                    waited.into_iter().map(|job| job.wait().unwrap().unwrap().name).collect();
                names.sort();
                assert_eq!(names, ["job 0", "job 1", "job 2", "job 3", "job 4"]);
            } else {
                int.await_value(10).unwrap();
                for number in 0..5 {
                    let Task { name, row, counts } = task(number);
                    let said = jobs.begin_put(counts, &name, &row, 1).unwrap().wait().unwrap();
                    assert_eq!(said[1], 1);
                }
                member.barrier.wait().unwrap();
            }
            member.barrier.wait().unwrap();
        });
    }
}

#[test]
fn whoever_takes_waits_for_a_job_or_the_end() {
    for placement in placements(2) {
        run(2, |member| {
            let jobs = member.object("jobs", &Jobs::default(), placement);
            if member.rank() == 0 {
                assert_eq!(jobs.take().unwrap().map(|job| job.name), Some("only".into()));
                assert_eq!(jobs.take().unwrap(), None);
            } else {
                assert_eq!(jobs.put(vec![], "only", &[], 1).unwrap()[1], 1);
                jobs.close().unwrap();
            }
            member.barrier.wait().unwrap();
        });
    }
}

#[test]
fn at_a_replica_the_end_is_read_without_a_broadcast() {
    run(2, |member| {
        let jobs = member.object("jobs", &Jobs::default(), weft_object::Placement::Replicated);
        if member.rank() == 1 {
            jobs.close().unwrap();
        }
        // Waits for the other's write.
        assert_eq!(jobs.take().unwrap(), None);
        member.barrier.wait().unwrap();
        let before = jobs.statistics().unwrap();
        assert_eq!(jobs.take().unwrap(), None);
        let after = jobs.statistics().unwrap();
        assert_eq!((after.reads - before.reads, after.writes - before.writes), (1, 0));
        member.barrier.wait().unwrap();
    });
}

#[test]
fn functions_of_a_type_are_there_without_ranks_too() {
    let mut int = Int(3);
    assert_eq!((int.inc(), int.value()), (4, 4));
}
