//! Types that become known as the program runs.

use crate::common::*;
use std::any::Any;
use weft_object::{DynamicType, Effect, Error, Instance, Outcome, Types};

/// A counter whose operations are numbers: 0 reads it, 1 adds a byte, 2 waits until it is a byte
/// at least, 3 takes one, or reads that it is closed.
#[derive(Default)]
struct Counter(u8);

impl Instance for Counter {
    fn read(&self, operation: u16, arguments: &[u8], result: &mut Vec<u8>) -> Outcome {
        match (operation, arguments) {
            (0, []) => {}
            (2, [least]) if self.0 >= *least => {}
            (2, [_]) => return Outcome::Blocked,
            (3, []) if self.0 == u8::MAX => {}
            (3, []) => return Outcome::Blocked,
            _ => return Outcome::Malformed,
        }
        result.push(self.0);
        Outcome::Done
    }

    fn write(&mut self, operation: u16, arguments: &[u8], result: &mut Vec<u8>) -> Outcome {
        match (operation, arguments) {
            (1, [more]) => self.0 = self.0.saturating_add(*more),
            (3, []) if self.0 > 0 => self.0 -= 1,
            (3, []) => return Outcome::Blocked,
            _ => return Outcome::Malformed,
        }
        result.push(self.0);
        Outcome::Done
    }

    fn capture(&self) -> Vec<u8> {
        vec![self.0]
    }
}

fn types() -> Types {
    use Effect::{Either, Read, Write};
    let effects = [("value", Read), ("add", Write), ("await", Read), ("take", Either)];
    let operations = effects.map(|(name, effect)| (name.to_owned(), effect)).to_vec();
    let restore = |state: &[u8]| match state {
        [value] => Some(Box::new(Counter(*value)) as Box<dyn Instance>),
        _ => None,
    };
    Types::default().with_dynamic(DynamicType {
        name: "Counter".into(),
        operations,
        restore: Box::new(restore),
    })
}

#[test]
fn operations_go_by_number_wherever_the_object_is() {
    for placement in placements(3) {
        run_with(3, types, |member| {
            let objects = &member.objects;
            let counter = match member.rank() {
                0 => objects.create_dynamic("counter", "Counter", &[7], placement),
                _ => objects.find_dynamic("counter", "Counter"),
            };
            let counter = counter.unwrap();
            counter.invoke(1, &[1]).unwrap();
            assert_eq!(counter.invoke(2, &[10]).unwrap(), [10]);
            assert_eq!(counter.invoke(0, b"").unwrap(), [10]);
            member.barrier.wait().unwrap();
            assert!(counter.invoke(3, b"").unwrap()[0] < 10);
            member.barrier.wait().unwrap();
            // A write of this rank's own: the copy here has all that were before it.
            assert_eq!(counter.invoke(1, &[0]).unwrap(), [7]);
            let here = counter.read_here(0, |counter| {
                let instance: &dyn Any = counter.instance();
                instance.downcast_ref::<Counter>().map(|counter| counter.0)
            });
            let is_here = counter.statistics().is_some();
            assert_eq!(here.unwrap(), is_here.then_some(7));
            let wrong = counter.invoke(1, b"").map(drop).unwrap_err();
            assert!(matches!(wrong, Error::Malformed { operation: 1, .. }), "{wrong}");
            let wrong = counter.invoke(4, b"").map(drop).unwrap_err();
            assert!(matches!(wrong, Error::NoSuchOperation { operation: 4, .. }), "{wrong}");
            member.barrier.wait().unwrap();
        });
    }
}

#[test]
fn what_is_none_of_the_types_is_refused() {
    run_with(1, types, |member| {
        let create = |kind, state| {
            let placement = weft_object::Placement::Replicated;
            member.objects.create_dynamic("one", kind, state, placement).map(drop)
        };
        assert_eq!(create("Other", &[1]), Err(Error::UnknownType("Other".into())));
        assert_eq!(create("Counter", &[]), Err(Error::BadState("one".into())));
        create("Counter", &[1]).unwrap();
        let other = member.objects.find_dynamic("one", "Other").map(drop);
        assert!(matches!(other, Err(Error::OtherType { .. })), "{other:?}");
    });
}
