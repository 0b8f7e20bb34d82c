//! A replicated key-value store: every rank has all of it, and all have the same.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use weft::prelude::*;

/// One rank's replica.
struct Store {
    pairs: Arc<Mutex<BTreeMap<String, String>>>,
    puts: Order,
}

impl Store {
    fn new(weft: &Weft) -> weft::Result<Self> {
        let pairs = Arc::new(Mutex::new(BTreeMap::<String, String>::new()));
        let replica = Arc::clone(&pairs);
        let puts = weft.order("kv", move |mut message: OrderedMessage| {
            // A put that cannot be read is one whose sender is lost: then nothing follows it
            // anywhere.
            let Ok(put) = message.text() else { return };
            if let Some((key, value)) = put.split_once('=') {
                lock(&replica).insert(key.into(), value.into());
            }
        })?;
        Ok(Store { pairs, puts })
    }

    /// Returns when this replica has it; by then it has every put before it as well.
    fn put(&self, key: &str, value: &str) -> weft::Result<()> {
        self.puts.broadcast_and_wait(&format!("{key}={value}"))?;
        Ok(())
    }

    /// From this rank's memory: nothing is sent.
    fn get(&self, key: &str) -> Option<String> {
        lock(&self.pairs).get(key).cloned()
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All ranks put values, some of them under the same keys; in the end all replicas are equal.
///
/// # Errors
/// A lost rank.
pub fn kv(weft: Weft) -> weft::Result<()> {
    let store = Store::new(&weft)?;
    let me = format!("rank {}", weft.rank());
    for n in 0..10 {
        store.put(&format!("shared {n}"), &me)?; // All ranks write it: one of them is last.
    }
    store.put(&me, "was here")?;
    assert_eq!(store.get(&me).as_deref(), Some("was here"));

    weft.barrier()?; // All puts have their numbers,
    store.put("end", "reached")?; // and this one comes after them.
    let digest = digest(&lock(&store.pairs));
    let digests = weft.all_gather(&[digest])?;
    assert!(digests.iter().all(|other| *other == digest), "replicas differ: {digests:x?}");
    if weft.rank() == 0 {
        let last = store.get("shared 0").unwrap_or_default();
        let pairs = lock(&store.pairs).len();
        println!("{} replicas of {pairs} pairs are equal; {last} was last", weft.size());
    }
    Ok(())
}

/// A number that stands for all pairs.
fn digest(pairs: &BTreeMap<String, String>) -> u64 {
    let bytes = pairs.iter().flat_map(|(key, value)| [key, "=", value, ";"]).flat_map(str::bytes);
    bytes
        .fold(0xcbf29ce484222325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100000001b3))
}
