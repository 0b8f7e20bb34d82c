use super::*;
use std::fs;

fn exporter(own: u16) -> ExportedMemory {
    ExportedMemory { own: Rank(own) }
}

/// Addresses at which this process has mapped memory that rank 3 exports to rank 5: one a side.
fn mappings() -> Vec<String> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let of_us = |line: &&str| line.contains("/memfd:weft-buffer-3-5 ");
    maps.lines().filter(of_us).map(|line| line.split(' ').next().unwrap().to_owned()).collect()
}

#[test]
fn both_sides_have_it_as_long_as_they_like() {
    let (mine, name) = exporter(3).create(Some(Rank(5)), 100_000).unwrap().unwrap();
    let theirs = exporter(5).attach(Rank(3), &name, 100_000).unwrap();
    assert_ne!(mine.start(), theirs.start());
    assert_eq!(mappings().len(), 2);
    mine.revoke_name();
    assert!(exporter(5).attach(Rank(3), &name, 100_000).is_err(), "it was to be taken once");
    drop(mine);
    assert_eq!(mappings().len(), 1);
    drop(theirs);
    assert_eq!(mappings().len(), 0);
}

#[test]
fn memory_for_others_or_of_others_or_of_another_size_is_refused() {
    let (_mine, name) = exporter(6).create(Some(Rank(8)), 4096).unwrap().unwrap();
    assert!(exporter(7).attach(Rank(6), &name, 4096).is_err());
    assert!(exporter(8).attach(Rank(2), &name, 4096).is_err());
    assert!(exporter(8).attach(Rank(6), &name, 4097).is_err());
    let mut other = name;
    other[8] ^= 1;
    assert!(exporter(8).attach(Rank(6), &other, 4096).is_err());
    let mut other = name;
    other[4..8].copy_from_slice(&0u32.to_le_bytes());
    assert!(exporter(8).attach(Rank(6), &other, 4096).is_err());
    exporter(8).attach(Rank(6), &name, 4096).unwrap();
    let (_all, name) = exporter(6).create(None, 4096).unwrap().unwrap();
    for peer in [7, 8] {
        exporter(peer).attach(Rank(6), &name, 4096).unwrap();
        assert!(exporter(peer).attach(Rank(2), &name, 4096).is_err());
    }
}
