use super::{Name, NameError};
use std::path::Path;

fn name(folder: &str) -> Result<Name, NameError> {
    Name::of(Path::new(folder))
}

#[test]
fn names_are_those_that_all_tools_take() {
    for right in ["a", "primes", "my-program", "k_means2", "there/primes", "/tmp/primes/"] {
        assert!(name(right).is_ok(), "{right}");
    }
    for wrong in ["9lives", "Primes", "-x", "_x", "a b", "é", "a.b", &"a".repeat(65)] {
        assert_eq!(name(wrong), Err(NameError::Characters(wrong.into())));
    }
    for taken in ["test", "while", "std", "weft", "simulated", "build"] {
        assert_eq!(name(taken), Err(NameError::Taken(taken.into())));
    }
    for none in ["", "..", "/"] {
        assert_eq!(name(none), Err(NameError::None(none.into())));
    }
}

#[test]
fn crates_have_underscores() {
    let put = |folder: &str| name(folder).unwrap().put_into("use my_program::x; // my-program");
    assert_eq!(put("here/two-words"), "use two_words::x; // two-words");
    assert_eq!(put("primes"), "use primes::x; // primes");
}
