//! The rules of matching: all small tuples against all small templates.

use crate::common::*;
use weft_linda::{Field, FieldKind, Pattern, any};

/// Values of a small world, as numbers: three types, of which two have two values.
const VALUES: [(&str, u8); 5] = [("i64", 0), ("i64", 1), ("u64", 0), ("text", 0), ("text", 1)];

/// A part of a template of that world: a value, or any of a type.
#[derive(Clone, Copy, Debug)]
enum TestPart {
    Value(&'static str, u8),
    Any(&'static str),
}

/// The rules once more, in this world.
fn is_match(template: &[TestPart], tuple: &[(&str, u8)]) -> bool {
    if template.len() != tuple.len() {
        return false;
    }
    template.iter().zip(tuple).all(|(part, field)| match part {
        TestPart::Value(kind, value) => kind == &field.0 && value == &field.1,
        TestPart::Any(kind) => kind == &field.0,
    })
}

fn field(&(kind, value): &(&str, u8)) -> Field {
    match kind {
        "i64" => Field::I64(value.into()),
        "u64" => Field::U64(value.into()),
        _ => Field::Text(value.to_string()),
    }
}

fn pattern(part: &TestPart) -> Pattern {
    match part {
        TestPart::Value(kind, value) => Pattern::Actual(field(&(kind, *value))),
        TestPart::Any("i64") => Pattern::Formal(FieldKind::I64),
        TestPart::Any("u64") => Pattern::Formal(FieldKind::U64),
        TestPart::Any(_) => Pattern::Formal(FieldKind::Text),
    }
}

/// All sequences of up to three of these.
fn sequences<T: Copy>(of: &[T]) -> Vec<Vec<T>> {
    let mut all = vec![vec![]];
    let mut from = 0;
    for _ in 0..3 {
        let until = all.len();
        for index in from..until {
            for one in of {
                all.push([&all[index][..], &[*one]].concat());
            }
        }
        from = until;
    }
    all
}

#[test]
fn every_template_finds_the_tuples_that_match_and_no_others() {
    let tuples = sequences(&VALUES);
    let actuals = VALUES.map(|(kind, value)| TestPart::Value(kind, value));
    let parts = [&actuals[..], &["i64", "u64", "text"].map(TestPart::Any)].concat();
    let templates = sequences(&parts);
    assert_eq!((tuples.len(), templates.len()), (156, 585));
    let found = run(3, |member| {
        let mut found = 0;
        if member.rank() == 1 {
            for tuple in &tuples {
                member.space.out(tuple.iter().map(field).collect::<Vec<_>>()).unwrap();
            }
            for template in &templates {
                let patterns: Vec<_> = template.iter().map(pattern).collect();
                let matching = tuples.iter().filter(|tuple| is_match(template, tuple));
                let mut expected: Vec<Vec<Field>> =
                    matching.map(|tuple| tuple.iter().map(field).collect()).collect();
                let read = member.space.rdp(patterns.clone()).unwrap();
                assert!(read.is_none_or(|tuple| expected.contains(&tuple)), "{template:?}");
                while let Some(tuple) = member.space.inp(patterns.clone()).unwrap() {
                    let at = expected.iter().position(|expected| *expected == tuple);
                    let at = at.unwrap_or_else(|| panic!("{template:?} found {tuple:?}"));
                    expected.swap_remove(at);
                    found += 1;
                    // Where it is put back, the next look would find it again.
                    member.space.out(vec![Field::Bool(true), Field::Bytes(bytes(&tuple))]).unwrap();
                }
                assert_eq!(expected, Vec::<Vec<Field>>::new(), "{template:?} has not found these");
                put_back(member, &tuples);
            }
        }
        member.barrier.wait().unwrap();
        found
    });
    // Of each field: five values find themselves, and three types two, one and two of them.
    assert_eq!(found, [0, 1 + 10 + 100 + 1000, 0]);
}

/// A name of a tuple of the small world.
fn bytes(tuple: &[Field]) -> Vec<u8> {
    format!("{tuple:?}").into_bytes()
}

/// Puts the tuples back whose names are in the space.
fn put_back(member: &Member<'_>, tuples: &[Vec<(&str, u8)>]) {
    while let Some((_, name)) = member.space.inp((true, any::<Vec<u8>>())).unwrap() {
        let tuple = tuples.iter().map(|tuple| tuple.iter().map(field).collect::<Vec<_>>());
        let tuple = tuple.into_iter().find(|tuple| bytes(tuple) == name).unwrap();
        member.space.out(tuple).unwrap();
    }
}

#[test]
fn typed_tuples_of_all_types_come_out_as_they_went_in() {
    run(2, |member| {
        if member.rank() == 0 {
            let space = &member.space;
            space.out((-1_i64, u64::MAX, 0.5, true, 'é', "text", b"bytes")).unwrap();
            let formals = (
                any::<i64>(),
                any::<u64>(),
                any::<f64>(),
                any::<bool>(),
                any::<char>(),
                any::<String>(),
                any::<Vec<u8>>(),
            );
            let copy: (i64, u64, f64, bool, char, String, Vec<u8>) = space.rd(formals).unwrap();
            assert_eq!(copy, (-1, u64::MAX, 0.5, true, 'é', "text".into(), b"bytes".into()));
            let actuals = (copy.0, copy.1, copy.2, copy.3, copy.4, &copy.5, &copy.6[..]);
            assert_eq!(space.inp(actuals).unwrap(), Some(copy));
            assert_eq!(space.inp(formals).unwrap(), None);
        }
    });
}

#[test]
fn floats_match_by_equality_and_those_that_are_no_numbers_by_formals() {
    run(2, |member| {
        if member.rank() == 0 {
            let space = &member.space;
            space.out((f64::NAN, 1_u64)).unwrap();
            space.out(("x", f64::NAN)).unwrap();
            assert_eq!(space.rdp((f64::NAN, any::<u64>())).unwrap(), None);
            assert_eq!(space.rdp(("x", f64::NAN)).unwrap(), None);
            assert!(space.take((any::<f64>(), 1_u64)).unwrap().0.is_nan());
            assert!(space.take(("x", any::<f64>())).unwrap().1.is_nan());
            for (put, asked) in [(0.0, -0.0), (-0.0, 0.0)] {
                space.out((put,)).unwrap();
                let (taken,) = space.take((asked,)).unwrap();
                assert_eq!(taken.to_bits(), f64::to_bits(put), "it is the tuple that was put");
            }
        }
    });
}

#[test]
fn a_tuple_without_fields_is_a_tuple() {
    run(3, |member| {
        match member.rank() {
            0 => member.space.out(()).unwrap(),
            1 => member.space.take(()).unwrap(),
            _ => {}
        }
        member.barrier.wait().unwrap();
        assert_eq!(member.space.rdp(()).unwrap(), None);
    });
}
