use super::*;
use proptest::prelude::*;

fn ranks(numbers: &[u16]) -> Vec<Rank> {
    numbers.iter().copied().map(Rank).collect()
}

/// The group of ranks `0..n` in a job of `n`.
fn everyone(n: u16, shape: Shape) -> MulticastGroup {
    MulticastGroup::new(&(0..n).map(Rank).collect::<Vec<_>>(), shape, usize::from(n)).unwrap()
}

/// All edges (parent, child) below `root`, breadth first.
fn edges(group: &MulticastGroup, root: Rank) -> Vec<(u16, u16)> {
    let mut found: Vec<(u16, u16)> = Vec::new();
    let mut next = vec![root];
    while let Some(parent) = next.first().copied() {
        next.remove(0);
        for child in group.children(root, parent) {
            found.push((parent.0, child.0));
            next.push(child);
            assert!(found.len() < 1000, "a tree of {:?} has a cycle", group.shape);
        }
    }
    found
}

fn assert_spans(group: &MulticastGroup) {
    for &root in group.members() {
        let edges = edges(group, root);
        let mut reached: Vec<Rank> = edges.iter().map(|&(_, child)| Rank(child)).collect();
        reached.push(root);
        reached.sort();
        let mut members = group.members().to_vec();
        members.sort();
        assert_eq!(reached, members, "{:?} from {root:?}: each member once", group.shape);
        assert_eq!(group.parent(root, root), None);
        for (parent, child) in edges {
            assert_eq!(group.parent(root, Rank(child)), Some(Rank(parent)), "{:?}", group.shape);
        }
    }
}

#[test]
fn every_tree_spans_every_member_once_and_parents_agree_with_children() {
    for shape in Shape::ALL {
        for n in 1..=40 {
            assert_spans(&everyone(n, shape));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, rng_seed: prop::test_runner::RngSeed::Fixed(0),
                                        failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn trees_of_any_members_in_any_order_span_them(
        members in Just((0..40).collect::<Vec<u16>>()).prop_shuffle(),
        n in 1usize..=20,
        shape in prop::sample::select(&Shape::ALL[..]),
    ) {
        let group = MulticastGroup::new(&ranks(&members[..n]), shape, 40).unwrap();
        assert_spans(&group);
        let outsider = Rank(members[n]);
        prop_assert!(!group.contains(outsider));
        prop_assert_eq!(group.parent(outsider, group.members()[0]), None);
        prop_assert_eq!(group.child(outsider, group.members()[0], 0), None);
        prop_assert_eq!(group.parent(group.members()[0], outsider), None);
        prop_assert_eq!(group.child(group.members()[0], outsider, 0), None);
    }
}

/// The tree of `p` is that of 0 with every `n` replaced by `(n + p) mod P` (thesis 4.2.6).
#[test]
fn renumbering_preserves_distances() {
    for shape in Shape::ALL {
        for n in 1..=40 {
            let group = everyone(n, shape);
            for p in 0..n {
                let renumbered: Vec<(u16, u16)> = edges(&group, Rank(0))
                    .into_iter()
                    .map(|(parent, child)| ((parent + p) % n, (child + p) % n))
                    .collect();
                let edges_of_p = edges(&group, Rank(p));
                assert_eq!(edges_of_p, renumbered, "{shape:?}, {n} members, root {p}");
                for ((parent, child), (first_parent, first_child)) in
                    edges_of_p.into_iter().zip(edges(&group, Rank(0)))
                {
                    let distance = Rank(parent).distance_to(Rank(child), usize::from(n));
                    let first = Rank(first_parent).distance_to(Rank(first_child), usize::from(n));
                    assert_eq!(distance, first);
                }
            }
        }
    }
}

#[test]
#[rustfmt::skip] // a level a line
fn the_binary_tree_of_fig_4_9() {
    let expected = [
        (0, 1), (0, 2),
        (1, 3), (1, 4), (2, 5), (2, 6),
        (3, 7), (3, 8), (4, 9), (4, 10), (5, 11), (5, 12), (6, 13), (6, 14),
        (7, 15),
    ];
    assert_eq!(edges(&everyone(16, Shape::Binary), Rank(0)), expected);
}

#[test]
#[rustfmt::skip] // a level a line
fn the_binomial_tree_of_fig_a_1() {
    let expected = [
        (0, 8), (0, 4), (0, 2), (0, 1),
        (8, 12), (8, 10), (8, 9), (4, 6), (4, 5), (2, 3),
        (12, 14), (12, 13), (10, 11), (6, 7),
        (14, 15),
    ];
    assert_eq!(edges(&everyone(16, Shape::Binomial), Rank(0)), expected);
}

#[test]
fn the_chains_of_fig_4_8() {
    let group = everyone(4, Shape::Chain);
    assert_eq!(edges(&group, Rank(0)), [(0, 1), (1, 2), (2, 3)]);
    assert_eq!(edges(&group, Rank(2)), [(2, 3), (3, 0), (0, 1)]);
}

#[test]
fn a_flat_tree_has_one_level() {
    assert_eq!(edges(&everyone(4, Shape::Flat), Rank(1)), [(1, 2), (1, 3), (1, 0)]);
}

#[test]
fn the_relay_of_fig_5_6() {
    assert_eq!(edges(&everyone(5, Shape::Relay), Rank(1)), [(1, 2), (2, 3), (2, 4), (2, 0)]);
    assert_eq!(edges(&everyone(2, Shape::Relay), Rank(0)), [(0, 1)]);
}

/// Appendix A.1's condition to the letter, over all trees, with distances by ring.
fn condition_by_definition(group: &MulticastGroup, holds: fn(usize, usize) -> bool) -> bool {
    let n = group.members().len();
    group.members().iter().all(|&root| {
        group.members().iter().all(|&member| {
            let Some(parent) = group.parent(root, member) else { return true };
            let from_parent = parent.distance_to(member, n);
            let mut children = group.children(root, member);
            children.all(|child| holds(from_parent, member.distance_to(child, n)))
        })
    })
}

#[test]
fn which_shapes_satisfy_the_distance_condition() {
    for n in 1..=40 {
        for shape in Shape::ALL {
            let group = everyone(n, shape);
            let nearer = condition_by_definition(&group, |up, down| up < down);
            let farther = condition_by_definition(&group, |up, down| up > down);
            assert_eq!(group.satisfies_distance_condition(), nearer || farther, "{shape:?} {n}");
            match shape {
                Shape::Binary => assert!(nearer, "{n}: nearer its parent than its children"),
                Shape::Binomial => assert!(farther, "{n}: farther from its parent"),
                Shape::Flat => assert!(nearer && farther, "{n}: nobody forwards"),
                Shape::Chain | Shape::Relay => {
                    assert_eq!(nearer || farther, n < 3, "{n}: equal distances");
                }
            }
        }
    }
}

fn hosts(numbers: &[u16], shape: Shape) -> MulticastGroup {
    everyone(numbers.len() as u16, shape).on_hosts(numbers)
}

#[test]
fn trees_cross_to_each_host_once() {
    // Two ranks on each of four hosts; then what others send to host 2 goes to its second rank.
    let group = hosts(&[0, 0, 1, 1, 2, 2, 3, 3], Shape::Flat);
    let from_0 = [(0, 2), (0, 4), (0, 6), (0, 1), (2, 3), (4, 5), (6, 7)];
    assert_eq!(edges(&group, Rank(0)), from_0);
    let from_5 = [(5, 6), (5, 0), (5, 2), (5, 4), (6, 7), (0, 1), (2, 3)];
    assert_eq!(edges(&group, Rank(5)), from_5);
    let group = hosts(&[0, 0, 1, 1, 2, 2, 3, 3], Shape::Binary);
    let from_0 = [(0, 2), (0, 4), (0, 1), (2, 6), (2, 3), (4, 5), (6, 7)];
    assert_eq!(edges(&group, Rank(0)), from_0);
    let some = MulticastGroup::new(&ranks(&[7, 3, 2, 4, 6]), Shape::Flat, 8).unwrap();
    let some = some.on_hosts(&[0, 0, 1, 1, 2, 2, 3, 3]);
    assert_eq!(edges(&some, Rank(2)), [(2, 4), (2, 7), (2, 3), (7, 6)]);
}

#[test]
fn hosts_with_a_member_each_change_nothing() {
    for shape in Shape::ALL {
        let spread = hosts(&[3, 0, 2, 1], shape);
        for root in 0..4 {
            assert_eq!(edges(&spread, Rank(root)), edges(&everyone(4, shape), Rank(root)));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, rng_seed: prop::test_runner::RngSeed::Fixed(0),
                                        failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn trees_between_hosts_span_their_members_and_keep_the_distance_condition(
        members in Just((0..40).collect::<Vec<u16>>()).prop_shuffle(),
        n in 1usize..=30,
        host_of in prop::collection::vec(0u16..12, 40),
        shape in prop::sample::select(&Shape::ALL[..]),
    ) {
        let group = MulticastGroup::new(&ranks(&members[..n]), shape, 40).unwrap().on_hosts(&host_of);
        assert_spans(&group);
        let outsider = Rank(members[n]);
        prop_assert_eq!(group.parent(outsider, group.members()[0]), None);
        prop_assert_eq!(group.child(group.members()[0], outsider, 0), None);
        let ring: Vec<u16> = {
            let mut seen = Vec::new();
            let all = group.members().iter().map(|member| host_of[member.index()]);
            all.for_each(|host| if !seen.contains(&host) { seen.push(host) });
            seen
        };
        let at = |rank: Rank| ring.iter().position(|host| *host == host_of[rank.index()]).unwrap();
        let distance = |from: Rank, to: Rank| (at(to) + ring.len() - at(from)) % ring.len();
        let careful = matches!(shape, Shape::Binary | Shape::Binomial | Shape::Flat);
        prop_assert!(!careful || group.satisfies_distance_condition());
        for &root in group.members() {
            let edges = edges(&group, root);
            let across = edges.iter().filter(|(from, to)| distance(Rank(*from), Rank(*to)) > 0);
            prop_assert_eq!(across.count(), ring.len() - 1, "each other host is entered once");
            for &member in group.members() {
                let Some(parent) = group.parent(root, member) else { continue };
                let up = distance(parent, member);
                let further: Vec<usize> =
                    group.children(root, member).map(|child| distance(member, child)).collect();
                prop_assert!(up > 0 || further.is_empty(), "what is from beside goes no further");
                let right = |down: &usize| match shape {
                    _ if *down == 0 => true,
                    Shape::Binary => up < *down,
                    Shape::Binomial => up > *down,
                    Shape::Flat => false,
                    Shape::Chain | Shape::Relay => true,
                };
                prop_assert!(further.iter().all(right), "{:?}: {} then {:?}", shape, up, further);
            }
        }
    }
}

#[test]
fn what_is_not_a_group_says_why() {
    let refused =
        |members: &[u16]| MulticastGroup::new(&ranks(members), Shape::Binary, 4).unwrap_err();
    assert_eq!(refused(&[]), GroupError::Empty);
    assert_eq!(refused(&[0, 1, 0]), GroupError::Twice(Rank(0)));
    assert_eq!(refused(&[3, 4]), GroupError::OutsideJob { member: Rank(4), ranks: 4 });
    assert_eq!(refused(&[]).to_string(), "a multicast group needs at least one member");
    assert_eq!(refused(&[2, 2]).to_string(), "rank 2 is named twice in the group");
    let expected = "rank 9 cannot be in a group: the job has ranks 0..4";
    assert_eq!(refused(&[9]).to_string(), expected);
}
