//! Messages between launcher, agents and ranks, those of a process manager to ranks, and the output
//! of ranks. The checks are beside the parsers, which nobody else needs to see.

pub use weft_launch::fuzzing::{
    hosts, job_roll, job_variable, last_words, peers, to_launcher, to_rank,
};
pub use weft_launch::pmi::fuzzing::process_manager;
use weft_xdp::request::{FromNet, RANKS_MAX, ToNet};

/// A request to `weft-net`, or its answer: what is read is within its limits, and written again is
/// the same.
pub fn net_request(data: &[u8]) {
    // Many begin right, or few would get any further.
    let named = [&ToNet::Look.emit()[..4], data].concat();
    for datagram in [data, &named] {
        if let Ok(request) = ToNet::parse(datagram) {
            assert_eq!(ToNet::parse(&request.emit()).as_ref(), Ok(&request));
            if let ToNet::Take(request) = request {
                assert!(request.interface > 0 && request.ranks.len() <= RANKS_MAX);
                assert!(request.seats().count() <= RANKS_MAX + 1);
            }
        }
        if let Ok(answer) = FromNet::parse(datagram) {
            assert_eq!(FromNet::parse(&answer.emit()), Ok(answer));
        }
    }
}
