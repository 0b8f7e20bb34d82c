//! Active tuples.

use crate::common::*;
use weft_linda::{Error, any};

#[test]
fn a_tuple_that_is_computed_is_a_tuple_once_it_is() {
    run(2, |member| {
        let space = &member.space;
        if member.rank() == 0 {
            let other = space.clone();
            let active = space.eval(move || {
                // It waits for what another rank puts.
                let (_, n) = other.take(("argument", any::<u64>())).unwrap();
                ("square", n, n * n)
            });
            assert_eq!(space.inp(("square", any::<u64>(), any::<u64>())).unwrap(), None);
            space.out(("go",)).unwrap();
            active.unwrap().wait().unwrap();
            let square = space.inp(("square", 7_u64, any::<u64>())).unwrap();
            assert_eq!(square, Some(("square".into(), 7, 49)));
        } else {
            space.take(("go",)).unwrap();
            space.out(("argument", 7_u64)).unwrap();
        }
        member.barrier.wait().unwrap();
    });
}

#[test]
fn many_are_computed_at_once() {
    run(3, |member| {
        let space = &member.space;
        let rank = member.rank();
        let actives: Vec<_> =
            (0..10).map(|n| space.eval(move || (rank * 10 + n, "done")).unwrap()).collect();
        for _ in 0..10 {
            space.take((any::<u64>(), "done")).unwrap();
        }
        for active in actives {
            active.wait().unwrap();
        }
        member.barrier.wait().unwrap();
        assert_eq!(space.count_here().unwrap(), 0);
    });
}

#[test]
fn a_panic_puts_no_tuple_and_is_told() {
    run(1, |member| {
        let panics = || -> (u64,) { panic!("on purpose") };
        let active = member.space.eval(panics).unwrap();
        assert_eq!(active.wait(), Err(Error::Panicked));
        let many = member.space.eval(|| vec![weft_linda::Field::Bool(true); 256]).unwrap();
        assert_eq!(many.wait(), Err(Error::ManyFields(256)));
        assert_eq!(member.space.count_here().unwrap(), 0);
    });
}
