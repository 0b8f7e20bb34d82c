//! Running, suspending, unwinding.

use super::{Stack, Strand, is_inside, suspend};
use std::cell::RefCell;
use std::rc::Rc;

#[test]
fn strands_take_turns_and_keep_their_places() {
    let log = Rc::new(RefCell::new(Vec::new()));
    let mut strands: Vec<Strand> = (0..3)
        .map(|number| {
            let log = Rc::clone(&log);
            Strand::new(0, Stack::new(64 << 10).unwrap(), move || {
                for round in 0..2 {
                    log.borrow_mut().push((number, round));
                    suspend();
                }
            })
        })
        .collect();
    assert!(!is_inside());
    for _ in 0..2 {
        strands.iter_mut().for_each(|strand| assert!(strand.resume().is_none()));
    }
    assert_eq!(*log.borrow(), [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)]);
    for mut strand in strands {
        assert!(matches!(strand.resume(), Some(Ok(()))));
        assert!(!strand.is_suspended());
    }
}

#[test]
fn a_panic_stays_inside_and_says_what_it_said() {
    let mut strand = Strand::new(0, Stack::new(64 << 10).unwrap(), || {
        suspend();
        std::panic::resume_unwind(Box::new("enough"));
    });
    assert!(strand.resume().is_none());
    let Some(Err(panic)) = strand.resume() else { panic!("it did not panic") };
    assert_eq!(panic.downcast_ref(), Some(&"enough"));
}

#[test]
fn a_strand_inside_a_strand_is_itself() {
    let mut outer = Strand::new(0, Stack::new(128 << 10).unwrap(), || {
        let mut inner = Strand::new(0, Stack::new(64 << 10).unwrap(), suspend);
        assert!(inner.resume().is_none());
        suspend();
        assert!(inner.resume().is_some());
    });
    assert!(outer.resume().is_none(), "the inner one suspended only itself, the outer one once");
    assert!(matches!(outer.resume(), Some(Ok(()))));
}
