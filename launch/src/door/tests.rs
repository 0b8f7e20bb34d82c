use super::*;
use crate::wait::{Waited, wait_for};

/// The next news of a door.
fn next_news(door: &mut Door) -> DoorNews {
    loop {
        let sources: Vec<Waited<'_, AtDoor>> = door.waits_for().collect();
        for at in wait_for(&sources, None).unwrap() {
            if let Some(news) = door.attend(at) {
                return news;
            }
        }
    }
}

fn answer(channel: &OwnedFd) -> Result<ToRank, ReceiveError> {
    let received = channel::receive(channel, RecvFlags::empty())?;
    Ok(ToRank::parse(&received.bytes)?)
}

#[test]
fn a_visitor_waits_until_it_is_admitted() {
    let key = DoorKey::draw().unwrap();
    let mut door = Door::open(&key).unwrap();
    let first = knock(&key).unwrap();
    channel::send(&first, &ToLauncher::Hello.emit(), &[], SendFlags::empty()).unwrap();
    let second = knock(&key).unwrap();
    assert_eq!(next_news(&mut door), DoorNews::Knocked(0));
    assert_eq!(next_news(&mut door), DoorNews::Knocked(1));
    let visitor = door.admit(0).unwrap();
    assert_eq!(visitor.process, rustix::process::getpid());
    let said = channel::receive(&visitor.channel, RecvFlags::DONTWAIT).unwrap();
    assert_eq!(ToLauncher::parse(&said.bytes), Ok(ToLauncher::Hello));
    assert!(door.admit(0).is_none());
    drop(second);
    assert_eq!(next_news(&mut door), DoorNews::Gone(1));
    // Known until the launcher says that it knows.
    assert_eq!(door.waits_for().count(), 1);
    door.forget(1);
    assert!(door.admit(1).is_none());
}

#[test]
fn who_does_not_know_the_secret_is_refused() {
    let key = DoorKey::draw().unwrap();
    let mut door = Door::open(&key).unwrap();
    let other: DoorKey = format!("{}:{:032x}", key.name(), 1).parse().unwrap();
    let stranger = knock(&other).unwrap();
    let known = knock(&key).unwrap();
    assert_eq!(next_news(&mut door), DoorNews::Knocked(1));
    let refused = ToRank::Refused("that is not this door's secret".into());
    assert_eq!(answer(&stranger).unwrap(), refused);
    assert!(matches!(answer(&stranger), Err(ReceiveError::Closed)));
    assert_eq!(door.visitors.len(), 1);
    drop(known);
}

#[test]
fn no_more_wait_than_there_is_room_for() {
    let key = DoorKey::draw().unwrap();
    let mut door = Door::open(&key).unwrap();
    let mut all: Vec<_> = (0..VISITORS_MAX).map(|_| knock(&key).unwrap()).collect();
    for number in 0..VISITORS_MAX as u32 {
        assert_eq!(next_news(&mut door), DoorNews::Knocked(number));
    }
    all.push(knock(&key).unwrap());
    assert!(door.waits_for().all(|(at, ..)| at != AtDoor::Arrival));
    door.admit(3).unwrap();
    assert_eq!(next_news(&mut door), DoorNews::Knocked(VISITORS_MAX as u32));
}

#[test]
fn a_key_is_text_and_a_file() {
    let key = DoorKey::draw().unwrap();
    assert_eq!(DoorKey::find(&key.to_string()).unwrap(), key);
    let text = "weft-door-0123456789abcdef:000102030405060708090a0b0c0d0e0f";
    assert_eq!(text.parse::<DoorKey>().unwrap().to_string(), text);
    for wrong in ["", "weft-door-12:34", &text[..57], &format!("{text}0"), &text.replace('f', "+")]
    {
        assert!(wrong.parse::<DoorKey>().is_err(), "{wrong}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("door");
    let file = DoorFile::write(&path, &key).unwrap();
    assert_eq!(DoorKey::find(path.to_str().unwrap()).unwrap(), key);
    // A job that follows replaces it, and the first one leaves that alone.
    let next = DoorKey::draw().unwrap();
    let replaced = DoorFile::write(&path, &next).unwrap();
    drop(file);
    assert_eq!(DoorKey::find(path.to_str().unwrap()).unwrap(), next);
    drop(replaced);
    assert!(!path.exists());
    let program = folder.path().join("program");
    fs_write(&program, "#!/bin/sh\n");
    let refused = DoorFile::write(&program, &key).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(folder.path().read_dir().unwrap().count(), 1);
}

fn fs_write(path: &std::path::Path, text: &str) {
    std::fs::write(path, text).unwrap();
}
