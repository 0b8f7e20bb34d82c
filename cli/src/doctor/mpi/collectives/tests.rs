use super::*;
use crate::doctor::finding::Status;

fn linked(stack: Option<Stack>, abi: bool) -> Option<Linked> {
    Some(Linked { stack, abi, ..Linked::default() })
}

#[test]
fn it_is_found_among_what_is_preloaded() {
    let of = |value: &str| named_in(Some(value.into()));
    assert_eq!(named_in(None), None);
    assert_eq!(of(""), None);
    assert_eq!(of("/lib/libasan.so:/c/libweft-collect.so"), None);
    assert_eq!(of("/lib/libasan.so:/c/libweft-coll.so"), Some("/c/libweft-coll.so".into()));
    assert_eq!(of("/c/libweft-coll.so /lib/libasan.so"), Some("/c/libweft-coll.so".into()));
    assert_eq!(of("libweft-coll.so"), Some(COLLECTIVES.file.into()));
}

#[test]
fn a_preloaded_one_is_there_and_for_this_library() {
    let file = Path::new("/c/libweft-coll.so");
    let of = |linked| of_preloaded(Stack::OpenMpi, file, linked);
    for fine in [linked(Some(Stack::OpenMpi), false), linked(None, true)] {
        let finding = of(fine);
        assert_eq!(finding.status, Status::Ok);
        assert_eq!(finding.detail, "LD_PRELOAD names /c/libweft-coll.so");
    }
    for (wrong, said) in [
        (None, "/c/libweft-coll.so, which is not there: the loader goes on without it"),
        (linked(None, false), "/c/libweft-coll.so, which is linked with no MPI library"),
        (
            linked(Some(Stack::Mpich), false),
            "/c/libweft-coll.so, which is made for MPICH, and mpirun is Open MPI's",
        ),
    ] {
        let finding = of(wrong);
        assert_eq!(finding.status, Status::Problem);
        assert!(finding.detail.starts_with(&format!("LD_PRELOAD names {said}")), "{finding:?}");
        let advice = finding.advice.unwrap();
        assert_eq!(
            advice,
            "unset LD_PRELOAD, and say weft mpirun --collectives weft, which makes one for Open MPI"
        );
    }
    let bare = of_preloaded(Stack::Mpich, Path::new(COLLECTIVES.file), None);
    assert_eq!(bare.detail, "LD_PRELOAD names libweft-coll.so, without a folder");
    assert!(bare.advice.unwrap().starts_with("name the whole path, or unset LD_PRELOAD"));
}

#[test]
fn one_is_made_when_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(COLLECTIVES.file);
    let of = || of_own(Ok(Preloaded::at(&COLLECTIVES, file.clone(), "/bin/mpicc".into())));
    let (unmade, shown) = (of(), file.display());
    assert_eq!(unmade.status, Status::Ok);
    assert_eq!(
        unmade.detail,
        format!("weft mpirun --collectives weft makes {shown}, by /bin/mpicc")
    );
    std::fs::write(&file, "").unwrap();
    let made = of();
    assert_eq!(made.detail, format!("weft mpirun --collectives weft preloads {shown}"));
    let none = of_own(Err(PreloadedError::no_place(&COLLECTIVES)));
    assert_eq!(none.status, Status::Absent, "programs run without it");
    assert!(none.detail.contains("no place to keep libweft-coll.so"), "{none:?}");
}
