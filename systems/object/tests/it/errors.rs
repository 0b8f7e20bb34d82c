//! Errors, and the words that say them.

use crate::common::*;
use weft_endpoint::Rank;
use weft_object::{Error, Placement};

#[test]
fn names_are_taken_once_and_types_are_checked() {
    run(2, |member| {
        let counter = member.object("counter", &Int(0), Placement::Replicated);
        assert_eq!((counter.name(), counter.placement()), ("counter", Placement::Replicated));
        let again = member.objects.create("counter", &Int(1), Placement::Replicated);
        assert_eq!(again.err(), Some(Error::Taken("counter".into())));
        let said = member.objects.find::<Log>("counter").err().unwrap().to_string();
        assert_eq!(said, "the object 'counter' is of type 'Int', not 'log of bytes'");
        let far = member.objects.create("far", &Int(0), Placement::Single(Rank(2)));
        let said = far.err().unwrap().to_string();
        assert_eq!(said, "rank 2 can have no object and no process: the job has 2 ranks");
        let long = member.objects.create(&"x".repeat(256), &Int(0), Placement::Replicated);
        assert_eq!(long.err(), Some(Error::LongName(256)));
        assert_eq!(counter.value().unwrap(), 0);
    });
}

#[test]
fn an_operation_that_there_is_not_is_refused() {
    for placement in placements(2) {
        run(2, |member| {
            let counter = member.object("counter", &Int(0), placement);
            let said = counter.invoke(5, b"").err().unwrap().to_string();
            assert_eq!(said, "the type 'Int' of the object 'counter' has no operation 5");
        });
    }
}

#[test]
fn an_operation_that_panics_breaks_its_object_and_nothing_else() {
    for placement in placements(2) {
        run(2, |member| {
            let counter = member.object("counter", &Int(0), placement);
            let other = member.object("other", &Int(0), placement);
            let broken = Error::Broken("counter".into());
            member.barrier.wait().unwrap();
            if member.rank() == 0 {
                assert_eq!(counter.panic().err(), Some(broken.clone()));
            } else {
                // It waits for what never comes, and is told.
                let waits = counter.await_value(1);
                assert_eq!(waits.err(), Some(broken.clone()));
            }
            assert_eq!(counter.inc().err(), Some(broken));
            other.inc().unwrap();
            member.barrier.wait().unwrap();
        });
    }
}
