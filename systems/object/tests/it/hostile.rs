//! Peers that broadcast what no rank broadcasts: an error that names them, and no wait for ever.

use crate::common::*;
use std::sync::Arc;
use weft_endpoint::Rank;
use weft_messaging::rpc::{Client, Rpc, Service};
use weft_messaging::{Engine, Error as MessagingError, Orders};
use weft_object::{Error, Objects, Placement, Types};
use weft_threads::Job;

/// Name of the order and the service of objects.
const NAME: &str = "weft.objects";

/// Error of rank 0 that waits for an object, when rank 1 has broadcast this.
fn met_with(message: &[u8]) -> Option<Error> {
    let errors = Job::new(2).packets(|packets| {
        let engine = Engine::new(packets);
        let rpc = Rpc::new(&engine).unwrap();
        let orders = Orders::new(&engine);
        if engine.packets().rank() == 0 {
            let objects = Objects::new(&orders, &rpc, Types::default().with::<Int>()).unwrap();
            objects.create("counter", &Int(0), Placement::Replicated).unwrap();
            return objects.find::<Int>("what nobody creates").err();
        }
        // A rank that has the place of one with objects.
        let created = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let told = Arc::clone(&created);
        let order =
            orders.order(NAME, move |_| told.store(true, std::sync::atomic::Ordering::SeqCst));
        let order = order.unwrap();
        let _service = Service::new(&rpc, NAME, |_| ()).unwrap();
        let _client = Client::new(&rpc, NAME).unwrap();
        // The object has number 0 in the order.
        let is_created = || created.load(std::sync::atomic::Ordering::SeqCst);
        engine.packets().poll_until(is_created).unwrap();
        order.broadcast_and_wait(message).unwrap();
        None
    });
    errors.into_iter().next().unwrap()
}

#[test]
fn what_is_no_message_of_objects_is_refused_and_its_sender_named() {
    let [no_rank, no_object] =
        ["it named a rank that there is not", "it named an object that there never was"];
    let no_message = "it broadcast what is no message of objects";
    let of_object = |kind: u8, how: u8, home: u16, object: u64| {
        let [low, high] = home.to_le_bytes();
        [&[kind, how, low, high, 0, 0, 0, 0][..], &object.to_le_bytes()].concat()
    };
    let invocation = |object: u64| {
        let mut bytes = vec![0; 24];
        bytes[0] = 2;
        bytes[8..16].copy_from_slice(&object.to_le_bytes());
        bytes
    };
    let reads =
        [&[9, 0, 0, 0, 0, 0, 0, 0][..], &7_u64.to_le_bytes(), &1_u64.to_le_bytes()].concat();
    let not_its = "it ended a process that is not its, or does not live";
    for (message, what) in [
        (vec![], no_message),
        (vec![0; 8], no_message),
        (vec![200; 40], no_message),
        // An object with a copy at rank 2.
        (vec![1, 0, 2, 0, 1, 3, 0, 0, b'a', b'I', b'n', b't'], no_rank),
        // A process on rank 2.
        (vec![3, 0, 2, 0, 1, 0, 0, 0, b'a'], no_rank),
        (of_object(5, 0, 2, 0), no_rank),
        (of_object(6, 1, 2, 0), no_rank),
        (of_object(5, 0, 1, 7), no_object),
        (of_object(6, 1, 1, 7), no_object),
        (invocation(7), no_object),
        (reads, no_object),
        (of_object(10, 0, 0, 7), no_object),
        (of_object(4, 0, 0, 7), not_its),
        // An answer of one byte.
        (
            [of_object(8, 0, 0, 0), vec![255]].concat(),
            "its answer about waiting processes cannot be read",
        ),
    ] {
        let violation = MessagingError::Violation { from: Rank(1), system: "shared objects", what };
        assert_eq!(met_with(&message), Some(Error::Messaging(violation)), "{message:?}");
    }
    let said = met_with(&[]).unwrap().to_string();
    assert_eq!(
        said,
        "rank 1 broke the protocol of shared objects: it broadcast what is no message of objects"
    );
}
