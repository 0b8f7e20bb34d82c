//! A peer that is lost, of which nothing is left.

use crate::tests::recorder::{Bench, Did, ucast};
use crate::tree::Shape;
use crate::{PacketBody, Preset, Settings};
use weft_wire::{GroupId, Rank, Tag};

const WINDOW: u16 = 4;

fn bench(preset: Preset) -> Bench {
    Bench::set_up(0, Settings { preset, shape: Shape::Flat, ..Settings::new(3, WINDOW) })
}

fn freed(did: &[Did]) -> Vec<u64> {
    let freed = did.iter().filter_map(|did| match did {
        Did::Free(buffer) => Some(*buffer),
        _ => None,
    });
    freed.collect()
}

#[test]
fn what_waits_for_the_lost_is_freed_and_so_is_what_is_sent_to_it_later() {
    for preset in [Preset::NrxImc, Preset::IrxImc, Preset::Pupa] {
        let mut bench = bench(preset);
        let sent: Vec<u64> = (0..2 * u64::from(WINDOW)).collect();
        let mut gone: Vec<u64> =
            sent.iter().flat_map(|buffer| freed(&bench.unicast(2, *buffer))).collect();
        gone.extend(freed(&bench.bury(2)));
        gone.sort_unstable();
        assert_eq!(gone, sent, "{preset}: each once");
        assert_eq!(freed(&bench.unicast(2, 77)), [77], "{preset}");
        assert!(bench.ni.is_flushed(), "{preset}");
        assert_eq!(bench.bury(2), [], "{preset}: once");
        bench.ni.check_invariants().expect("all holds");
    }
}

#[test]
fn multicasts_go_to_those_that_live() {
    let mut bench = bench(Preset::NrxImc);
    bench.bury(1);
    let did = bench.multicast(GroupId::ALL, 5);
    let to: Vec<Rank> = did
        .iter()
        .filter_map(|did| match did {
            Did::Transmit(to, header, _) if header.tag == Tag::Mcast => Some(*to),
            _ => None,
        })
        .collect();
    assert_eq!((to, freed(&did)), (vec![Rank(2)], vec![5]));
    assert_eq!(
        bench.ni.group(GroupId::ALL).map(|group| group.members().to_vec()),
        Some(vec![Rank(0), Rank(2)])
    );
    let named = bench.ni.create_group(&[Rank(2), Rank(1), Rank(0)]).expect("a group");
    assert_eq!(
        bench.ni.group(named).map(|group| group.members().to_vec()),
        Some(vec![Rank(2), Rank(0)])
    );
}

#[test]
fn data_of_the_lost_that_comes_late_is_taken_where_nothing_is_lost_and_dropped_elsewhere() {
    let mut bench = bench(Preset::NrxImc);
    bench.bury(1);
    let did = bench.receive(ucast(1, 0), PacketBody::Buffer(40));
    assert!(matches!(did[..], [Did::Deliver { buffer: 40, .. }]), "{did:?}");
    let mut bench = self::bench(Preset::IrxImc);
    bench.bury(1);
    assert_eq!(bench.receive(ucast(1, 0), PacketBody::Buffer(40)), [Did::Free(40)]);
}

#[test]
fn an_operation_that_the_lost_was_asked_for_has_no_answer() {
    let mut bench = bench(Preset::NrxImc);
    bench.fetch_and_add(2, 0, 1);
    assert!(bench.ni.observe().is_fetching());
    bench.bury(2);
    assert!(!bench.ni.observe().is_fetching());
}
