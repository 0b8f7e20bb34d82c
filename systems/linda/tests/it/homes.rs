//! Places of tuples.

use crate::common::*;
use weft_linda::any;

#[test]
fn tuples_spread_over_the_ranks_and_are_found_from_each() {
    const EACH: u64 = 250;
    let counts = run(4, |member| {
        let space = &member.space;
        let own = member.rank() * EACH..(member.rank() + 1) * EACH;
        for n in own.clone() {
            space.out((n, member.rank())).unwrap();
        }
        member.barrier.wait().unwrap();
        let here = space.count_here().unwrap();
        member.barrier.wait().unwrap();
        // The next rank's.
        for n in own {
            let n = (n + EACH) % (4 * EACH);
            assert_eq!(space.rdp((n, any::<u64>())).unwrap(), Some((n, n / EACH)));
            assert_eq!(space.take((n, n / EACH)).unwrap(), (n, n / EACH));
        }
        member.barrier.wait().unwrap();
        assert_eq!(space.count_here().unwrap(), 0);
        here
    });
    assert_eq!(counts.iter().sum::<u64>(), 4 * EACH);
    assert!(counts.iter().all(|count| (150..350).contains(count)), "{counts:?}");
}

#[test]
fn tuples_with_one_first_field_have_one_home_for_each_form() {
    let counts = run(4, |member| {
        for n in 0..25_u64 {
            member.space.out(("task", n)).unwrap();
        }
        member.barrier.wait().unwrap();
        member.space.count_here().unwrap()
    });
    let mut counts = counts;
    counts.sort_unstable();
    assert_eq!(counts, [0, 0, 0, 100]);
}

#[test]
fn a_template_that_begins_with_a_formal_finds_all_tuples_of_all_ranks() {
    run(4, |member| {
        let space = &member.space;
        if member.rank() == 2 {
            for n in 0..200_u64 {
                space.out((n, "even or odd", n % 2 == 0)).unwrap();
            }
        }
        member.barrier.wait().unwrap();
        if member.rank() == 3 {
            let mut taken = Vec::new();
            while let Some((n, ..)) = space.inp((any::<u64>(), any::<String>(), true)).unwrap() {
                taken.push(n);
            }
            taken.sort_unstable();
            assert_eq!(taken, (0..200).step_by(2).collect::<Vec<_>>());
            let (odd, ..) = space.rd((any::<u64>(), "even or odd", any::<bool>())).unwrap();
            assert_eq!(odd % 2, 1);
        }
        member.barrier.wait().unwrap();
    });
}

#[test]
fn spaces_of_two_names_have_nothing_in_common() {
    run(2, |member| {
        let ranks = member.ranks();
        let other = weft_linda::Space::new(member.objects, "other", member.own(), ranks).unwrap();
        other.out(("a", member.rank())).unwrap();
        assert_eq!(other.take(("a", member.rank())).unwrap(), ("a".into(), member.rank()));
        other.out(("b",)).unwrap();
        assert_eq!(member.space.inp((any::<String>(),)).unwrap(), None);
        member.barrier.wait().unwrap();
    });
}
