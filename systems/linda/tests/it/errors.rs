//! Errors, and the words that say them.

use crate::common::*;
use weft_endpoint::Rank;
use weft_linda::{Error, FIELDS_MAX, Field, FieldKind, Pattern, Shard, Space, any};

#[test]
fn a_name_is_taken_once_and_ranks_are_checked() {
    run(2, |member| {
        let new = |name: &str, own, ranks| Space::new(member.objects, name, own, ranks).err();
        let taken = format!("weft.linda.space.{}", member.rank());
        let taken = weft_object::Error::Taken(taken);
        assert_eq!(new("space", member.own(), 2), Some(Error::Object(taken)));
        let said = new("other", Rank(2), 2).unwrap().to_string();
        assert_eq!(said, "rank 2 cannot have a part of a tuple space: the job has 2 ranks");
        assert_eq!(new("other", Rank(0), 0), Some(Error::NoSuchRank(Rank(0), 0)));
        let long = weft_object::Error::LongName(256);
        assert_eq!(new(&"x".repeat(243), member.own(), 2), Some(Error::Object(long)));
    });
}

#[test]
fn objects_have_to_know_the_type_of_shards() {
    let no_types = weft_object::Types::default;
    let said = with_objects(1, no_types, |objects, _, _| {
        Space::new(objects, "space", Rank(0), 1).err().unwrap().to_string()
    });
    assert_eq!(said, ["the type 'weft.linda.Shard' is not among those that this rank was given"]);
}

#[test]
fn what_is_too_long_is_refused_before_it_leaves() {
    run(2, |member| {
        let space = &member.space;
        let fields = vec![Field::U64(1); FIELDS_MAX + 1];
        let patterns = vec![Pattern::Formal(FieldKind::U64); FIELDS_MAX + 1];
        let error = Error::ManyFields(256);
        assert_eq!(error.to_string(), "a tuple or template has 256 fields, 255 are the most");
        assert_eq!(space.out(fields.clone()), Err(error.clone()));
        assert_eq!(space.take(patterns.clone()), Err(error.clone()));
        assert_eq!(space.rdp(patterns.clone()), Err(error));
        if member.rank() == 0 {
            space.out(fields[1..].to_vec()).unwrap();
            assert_eq!(space.take(patterns[1..].to_vec()).unwrap(), &fields[1..]);
        }
    });
}

#[test]
fn bytes_that_are_no_operation_are_refused_and_break_nothing() {
    run(2, |member| {
        let other = format!("weft.linda.space.{}", 1 - member.rank());
        let shard = member.objects.find::<Shard>(&other).unwrap();
        for operation in 0..9 {
            for bytes in [&[][..], &[255], &[1, 0], &[1, 6, 255, 255, 255, 255], &[7; 100]] {
                let error = shard.invoke(operation, bytes).unwrap_err();
                let malformed = matches!(error, weft_object::Error::Malformed { .. });
                assert!(malformed, "{operation}, {bytes:?}: {error}");
            }
        }
        for n in 0..10_u64 {
            member.space.out((n, member.rank())).unwrap();
            member.space.take((n, member.rank())).unwrap();
        }
        assert_eq!(member.space.inp((any::<u64>(), member.rank())).unwrap(), None);
    });
}
