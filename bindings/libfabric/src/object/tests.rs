use super::*;

#[repr(C)]
struct Thing {
    fid: Fid,
    number: u32,
}

#[repr(C)]
struct Other {
    fid: Fid,
}

impl Class for Thing {
    const CLASS: usize = 1;
}

impl Class for Other {
    const CLASS: usize = 1;
}

// SAFETY: they are `repr(C)`, and begin with a `Fid`.
unsafe impl Object for Thing {}
// SAFETY: as above.
unsafe impl Object for Other {}

#[test]
fn only_what_c_has_and_has_not_closed_is_found() {
    let given = give(Thing { fid: Fid::of::<Thing>(Context::NONE), number: 7 });
    // SAFETY: it was just given, and is closed below.
    let fid = unsafe { &*given.0.cast::<Fid>() };
    assert_eq!(fid.object::<Thing>().map(|thing| thing.number), Some(7));
    assert!(fid.object::<Other>().is_none(), "it is of another type");
    let alike = Thing { fid: Fid::of::<Thing>(Context::NONE), number: 8 };
    assert!(alike.fid.object::<Thing>().is_none(), "nobody gave it");
    let again = Given(given.0, PhantomData);
    assert_eq!((close(given), close(again)), (0, Refusal::INVALID.returned() as c_int));
}
