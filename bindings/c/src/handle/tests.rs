use super::{Handle, HandleKind, free, free_even_used, given, put};
use std::mem::MaybeUninit;

#[derive(Debug, PartialEq)]
struct Cat(u32);
struct Dog;

impl HandleKind for Cat {
    const MARK: u32 = 1;
    const NAME: &'static str = "cat";
}

impl HandleKind for Dog {
    const MARK: u32 = 2;
    const NAME: &'static str = "dog";
}

#[test]
fn a_handle_gives_its_value_until_it_is_taken() {
    let mut cat = Handle::new(Cat(7));
    cat.get_mut().unwrap().0 += 1;
    assert_eq!(cat.get().unwrap(), &Cat(8));
    assert_eq!(cat.take().unwrap(), Cat(8));
    assert!(format!("{:?}", cat.get().unwrap_err()).contains("this cat was used up already"));
    assert!(cat.take().is_err());
}

#[test]
fn another_kind_is_refused() {
    let cat = Handle::new(Cat(1));
    cat.mark.store(Dog::MARK, std::sync::atomic::Ordering::Relaxed);
    assert!(format!("{:?}", cat.get().unwrap_err()).contains("this is no cat"));
}

#[test]
fn freeing_takes_the_value_and_spares_what_is_no_such_handle() {
    let cat = Box::new(Handle::new(Cat(3)));
    assert_eq!(free(Some(cat), |cat| cat).unwrap(), Cat(3));
    assert!(free::<Handle<Cat>, Cat>(None, |cat| cat).is_err());
    let dog = Box::new(Handle::new(Cat(4)));
    dog.mark.store(Dog::MARK, std::sync::atomic::Ordering::Relaxed);
    // Were it not spared, its value would be gone with it.
    assert!(free(Some(dog), |dog| dog).is_err());
}

#[test]
fn what_is_lent_is_not_freed() {
    let lent = Box::new(Handle::lent(Cat(5)));
    let text = format!("{:?}", free(Some(lent), |cat| cat).unwrap_err());
    assert!(text.contains("this cat is not the caller's"), "{text}");
}

#[test]
fn an_empty_handle_is_freed_all_the_same() {
    let used = || {
        let mut cat = Box::new(Handle::new(Cat(6)));
        assert_eq!(cat.take().unwrap(), Cat(6));
        Some(cat)
    };
    assert_eq!(free_even_used(used(), |cat| cat).unwrap(), None);
    assert!(free(used(), |cat| cat).is_err());
}

#[test]
fn null_pointers_have_a_name() {
    assert!(format!("{:?}", given(None::<&u32>, "job").unwrap_err()).contains("job is null"));
    assert!(put(None::<&mut MaybeUninit<u32>>, 1).is_err());
}
