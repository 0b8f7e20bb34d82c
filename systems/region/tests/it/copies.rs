//! Cost of the bytes of a region to a simulated host that asks for them: a copy where they are
//! copied, and none where they are put.

use weft_endpoint::{Packets, Rank};
use weft_region::coherence::Policy;
use weft_region::{DataWay, RegionId, Regions, Settings};
use weft_simulator::{MachineModel, Options, Simulation};

/// Cost of a byte that is copied: so much that nothing else counts beside it.
const EACH_NS: u64 = 10_000;
/// Bytes of a packet that a region's may fill (`weft_region::format`).
const IN_A_PACKET: u64 = 1000;

/// Nanoseconds of a read miss on a region of `bytes`, if a byte that is copied costs `each_ns`.
fn miss_ns(data: DataWay, bytes: u64, each_ns: u64) -> u64 {
    let mut machine = MachineModel::myrinet().unwrap();
    machine.host.copy_ns_per_byte = each_ns as f64;
    let program = move |packets: Packets| {
        let regions = Regions::open_with(&packets, Settings { data, ..Settings::default() });
        if packets.rank() == Rank(0) {
            regions.create(bytes, Policy::default())?;
        }
        regions.barrier()?;
        let region = regions.map::<u8>(RegionId { home: Rank(0), index: 0 })?;
        let start = packets.now();
        let read = region.read()?.len();
        let took = packets.now() - start;
        assert_eq!(read as u64, bytes);
        drop(region);
        regions.close()?;
        Ok::<_, weft_region::Error>(took.as_nanos() as u64)
    };
    let report = Simulation::new(Options::on(machine, 2)).unwrap().run_packets(program);
    report.into_values().unwrap()[1]
}

/// Time that copying adds to a miss. Copies of one packet pass while another is on its way, so that
/// it may be less than the whole by the time that a miss without them takes.
fn added_ns(data: DataWay, bytes: u64) -> (u64, u64) {
    let [free, dear] = [0, EACH_NS].map(|each_ns| miss_ns(data, bytes, each_ns));
    (dear - free, free)
}

#[test]
fn what_comes_in_packets_is_copied_out_of_them() {
    for bytes in [64, 1024, 9_016, 100_000] {
        let (added, free) = added_ns(DataWay::Packets, bytes);
        let all = bytes * EACH_NS;
        assert!(added <= all && added + free >= all, "{bytes} bytes: {added} of {all} ns");
    }
}

#[test]
fn what_is_put_is_not_copied_but_for_what_comes_with_the_message() {
    for bytes in [1024, 9_016, 10_000, 100_000] {
        let last = match bytes % IN_A_PACKET {
            0 => IN_A_PACKET,
            last => last,
        };
        let (added, _) = added_ns(DataWay::Puts, bytes);
        assert_eq!(added, last * EACH_NS, "{bytes} bytes");
    }
}

/// Data that is not worth a put travels in a packet either way.
#[test]
fn little_is_copied_either_way() {
    let of = |data| miss_ns(data, 512, EACH_NS);
    assert_eq!(of(DataWay::Packets), of(DataWay::Puts));
}
