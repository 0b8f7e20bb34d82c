//! Objects that are deleted while ranks operate on them.

use crate::common::*;
use weft_endpoint::Rank;
use weft_object::{Error, Placement};

fn deleted<T>(name: &str) -> Result<T, Error> {
    Err(Error::Deleted(name.into()))
}

#[test]
fn an_object_that_one_rank_deletes_is_gone_for_all_and_its_name_is_free() {
    for placement in placements(3) {
        run(3, |member| {
            let first = member.object("int", &Int(5), placement);
            let id = first.id();
            member.barrier.wait().unwrap();
            if member.rank() == 1 {
                first.clone().delete().unwrap();
                assert_eq!(first.clone().delete(), deleted("int"), "once");
            }
            // A barrier goes another way than the order.
            while member.objects.get::<Int>(id).is_ok() {
                member.engine.progress().unwrap();
                std::thread::yield_now();
            }
            assert_eq!(first.inc(), deleted("int"));
            assert_eq!(first.value(), deleted("int"));
            assert_eq!(first.place(Placement::Replicated), deleted("int"));
            assert!(first.statistics().is_none());
            assert_eq!(member.objects.get::<Int>(id).err(), Some(Error::NoSuchObject(id)));
            member.barrier.wait().unwrap();
            let second = member.object("int", &Int(7), placement);
            assert_eq!((second.value().unwrap(), second.id() > id), (7, true));
            assert_eq!(first.value(), deleted("int"), "another object of that name");
            member.barrier.wait().unwrap();
        });
    }
}

/// Whoever waits for a guard, on whatever rank, hears that nobody will make it true.
#[test]
fn who_waits_at_an_object_hears_that_it_was_deleted() {
    for placement in placements(3) {
        run(3, |member| {
            let int = member.object("int", &Int(0), placement);
            member.barrier.wait().unwrap();
            match member.rank() {
                // Others wait by then, or come too late; it makes no difference.
                1 => int.delete().unwrap(),
                _ => assert_eq!(int.take(3), deleted("int")),
            }
            member.barrier.wait().unwrap();
        });
    }
}

/// Operations before the deletion are executed once, at one object that moves; those after it
/// fail, and one of those that delete it does.
#[test]
fn an_object_is_deleted_while_it_moves_and_all_write_it() {
    run(3, |member| {
        for round in 0..60 {
            let name = format!("int {round}");
            let int = member.object(&name, &Int(0), placements(3)[round % 3]);
            member.barrier.wait().unwrap();
            let deletes = (round + member.rank()) % 3 != 0;
            let mut written = 0;
            let end = loop {
                let step = match written % 4 {
                    1 => int.place(placements(3)[(written / 4) as usize % 3]).map(|()| 0),
                    _ => int.inc(),
                };
                match step {
                    Ok(_) if deletes && written == 9 => break int.clone().delete(),
                    Ok(_) => written += 1,
                    Err(error) => break Err(error),
                }
            };
            let is_mine = u64::from(end == Ok(()));
            assert!(is_mine == 1 || end == deleted(&name), "{end:?}");
            let mut counts = [is_mine];
            member.barrier.team().all_reduce(&mut counts, weft_messaging::collective::Sum).unwrap();
            assert_eq!(counts, [1], "one has deleted it");
        }
    });
}

#[test]
fn a_process_that_waits_at_a_deleted_object_is_told_by_an_error() {
    let wait = |objects: &weft_object::Objects, arguments: &[u8]| {
        match objects.get::<Int>(u64::from_le_bytes(arguments.try_into()?)).map(|int| int.take(1)) {
            // It comes late, or waits by then.
            Err(Error::NoSuchObject(_)) | Ok(Err(Error::Deleted(_))) => Ok(()),
            other => Err(format!("{:?}", other.map(drop)).into()),
        }
    };
    let main = |objects: &weft_object::Objects, _: &[u8]| {
        let int = objects.create("int", &Int(0), Placement::Replicated)?;
        objects.fork("Wait", Rank(1), &int.id().to_le_bytes())?;
        objects.fork("Wait", Rank(0), &int.id().to_le_bytes())?;
        int.delete()?;
        Ok(())
    };
    let types = move |types: weft_object::Types| {
        types.with_process("Wait", wait).with_process("Main", main)
    };
    assert_eq!(crate::processes::run_program(2, types), [Ok(()), Ok(())]);
}
