use super::*;

#[test]
fn shm_works_if_all_that_it_needs_is_there() {
    let fine = || Finding::ok("pidfd", "");
    let links = all(&[fine(), fine()]);
    assert_eq!((links[0].name, links[0].status), ("shm", Status::Ok));
    let links = all(&[fine(), Finding::problem("membarrier", "", "")]);
    assert_eq!(links[0].status, Status::Problem);
    assert!(links[0].detail.ends_with("in the way: membarrier"), "{:?}", links[0]);
}

#[test]
fn links_to_come_are_named_as_such() {
    for link in &all(&[])[2..] {
        assert_eq!(link.status, Status::NotBuilt);
        assert!(link.detail.ends_with("not built yet in this version"));
    }
}

#[test]
fn memory_is_a_function_of_the_ranks() {
    let memory = memory();
    let ranks: Vec<_> = memory.iter().map(|memory| memory.ranks).collect();
    assert_eq!(ranks, [2, 8, 64]);
    for Memory { ranks, bytes_per_rank, bytes } in memory {
        assert_eq!(bytes, bytes_per_rank * u64::from(ranks));
        assert_eq!(bytes_per_rank, Settings::new(ranks).segment_bytes() as u64);
    }
}
