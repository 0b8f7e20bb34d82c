//! In the steady state a call allocates nothing, at neither end.

use weft_endpoint::Rank;
use weft_messaging::rpc::{Client, Rpc, Service};
use weft_messaging::{Barrier, Engine};
use weft_threads::Job;

/// Rounds of a sample: few, so that some pass without another program on the cores.
const ROUNDS: usize = 2;
/// Samples. A caller that waits for ten milliseconds, because another program has a core, sets a
/// timer and asks the server, which takes memory at both.
const SAMPLES: usize = 5000;
const OUTSTANDING: usize = 8;

/// Allocations of each rank during some rounds of calls, in the sample that has the fewest;
/// there were as many before.
fn allocations(serve: impl Fn(&mut Vec<u8>) + Send + Sync + Copy + 'static) -> Vec<u64> {
    Job::new(2).packets(|packets| {
        let rank = packets.rank();
        let engine = Engine::new(packets);
        let barrier = Barrier::new(&engine).unwrap();
        let rpc = Rpc::new(&engine).unwrap();
        let mut scratch = Vec::new();
        let handler = move |request: weft_messaging::rpc::Request| {
            serve(&mut scratch);
            request.reply("reply").unwrap();
        };
        let service = (rank == 0).then(|| Service::new(&rpc, "service", handler).unwrap());
        let client = (rank == 1).then(|| Client::new(&rpc, "service").unwrap());
        let round = || {
            for client in client.iter().flat_map(|client| std::iter::repeat_n(client, ROUNDS)) {
                let calls = [(); OUTSTANDING].map(|()| client.call(Rank(0), "request").unwrap());
                calls.into_iter().for_each(|call| drop(call.wait().unwrap()));
            }
            barrier.wait().unwrap();
        };
        barrier.wait().unwrap();
        round();
        let samples = (0..SAMPLES).map(|_| allocation_counter::measure(round).count_total);
        let counted = samples.min().unwrap();
        barrier.leave().unwrap();
        drop(service);
        counted
    })
}

#[test]
fn a_call_allocates_nothing() {
    assert_eq!(allocations(|_| {}), [0, 0]);
}

#[test]
fn what_is_allocated_is_counted() {
    let counted = allocations(|scratch| *scratch = vec![0; 100]);
    let (served, called) = (counted[0], counted[1]);
    // The first calls of a round may be served before that is measured.
    let calls = (ROUNDS * OUTSTANDING) as u64;
    assert!((calls - OUTSTANDING as u64..=calls).contains(&served), "{served} of {calls}");
    assert_eq!(called, 0);
}
