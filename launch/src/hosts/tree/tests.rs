use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

/// Connections of each process: of the launcher behind the last host.
fn connections(tree: &[Below]) -> Vec<u16> {
    let mut counts = vec![1; tree.len()];
    counts.push(0);
    for below in tree {
        counts[usize::from(below.parent).min(tree.len())] += 1;
    }
    counts
}

/// Number of agents through which a message of the launcher passes, the host's own included.
fn depth(tree: &[Below], host: u16) -> usize {
    match tree[usize::from(host)].parent {
        LAUNCHER => 1,
        parent => 1 + depth(tree, parent),
    }
}

fn elsewhere(count: usize) -> Vec<(&'static str, bool)> {
    vec![("x", false); count]
}

#[test]
fn sixteen_hosts_are_a_star_and_256_two_steps() {
    let star = plan(&elsewhere(16), FAN_OUT);
    assert!(star.iter().all(|below| below.parent == LAUNCHER));
    let tree = plan(&elsewhere(256), FAN_OUT);
    assert_eq!(depth(&tree, 255), 2);
    assert_eq!(connections(&tree).into_iter().max(), Some(16));
    assert_eq!(tree.iter().filter(|below| below.parent == LAUNCHER).count(), 16);
    let forty = plan(&elsewhere(40), 4);
    assert_eq!(
        (1..=4).map(|d| (0..40).filter(|&h| depth(&forty, h) == d).count()).collect::<Vec<_>>(),
        [4, 12, 24, 0]
    );
}

proptest! {
    #[test]
    fn nobody_has_too_many_connections_and_all_are_reached(
        here in vec(any::<bool>(), 0..300),
        fan_out in 0..40u16,
    ) {
        // The launcher's own host has two names at most.
        let mut own = 0;
        let mut once = |is_here: bool| {
            own += u16::from(is_here);
            is_here && own <= 2
        };
        let hosts: Vec<_> = here.into_iter().map(|is_here| ("x", once(is_here))).collect();
        let tree = plan(&hosts, fan_out);
        for (below, (_, is_here)) in tree.iter().zip(&hosts) {
            prop_assert!(below.parent == LAUNCHER || below.parent < below.host);
            prop_assert!(!is_here || below.parent == LAUNCHER);
        }
        let own = hosts.iter().filter(|(_, is_here)| *is_here).count() as u16;
        let mut counts = connections(&tree);
        prop_assert!(counts.pop().unwrap() <= fan_out.max(2).max(own + 1));
        prop_assert!(counts.iter().all(|count| *count <= fan_out.max(2)));
    }

    #[test]
    fn each_host_is_behind_one_connection(count in 0..300usize, fan_out in 2..20u16) {
        let tree = plan(&elsewhere(count), fan_out);
        let mut roots = vec![(LAUNCHER, tree.clone())];
        let mut ends = Vec::new();
        while let Some((root, hosts)) = roots.pop() {
            for branch in branches(root, &hosts) {
                prop_assert_eq!(branch[0].parent, root);
                ends.push(branch[0].host);
                roots.push((branch[0].host, branch[1..].to_vec()));
            }
        }
        ends.sort();
        prop_assert_eq!(ends, (0..count as u16).collect::<Vec<_>>());
    }
}
