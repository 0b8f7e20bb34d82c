//! The objects that a rank knows, by their numbers and names.

use crate::entry::Entry;
use crate::lock::lock;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use weft_messaging::{Completer, Completion, Engine};

/// The objects that a rank knows: those that were created, and not deleted.
#[derive(Default)]
pub(crate) struct Table(Mutex<Rows>);

#[derive(Default)]
struct Rows {
    /// By the number of their creation in the order.
    objects: BTreeMap<u64, Arc<Entry>>,
    names: BTreeMap<String, u64>,
    /// Threads that wait for an object of that name.
    finding: BTreeMap<String, Vec<Completer<Arc<Entry>>>>,
}

/// An object that is looked for by its name.
pub(crate) enum Found {
    Known(Arc<Entry>),
    /// It is completed when some rank has created it.
    Awaited(Completion<Arc<Entry>>),
}

impl Table {
    /// The object with this number.
    pub fn get(&self, id: u64) -> Option<Arc<Entry>> {
        lock(&self.0).objects.get(&id).cloned()
    }

    /// All of them.
    pub fn all(&self) -> Vec<Arc<Entry>> {
        lock(&self.0).objects.values().cloned().collect()
    }

    /// The object of that name.
    pub fn find(&self, name: &str, engine: &Arc<Engine>) -> Found {
        let mut rows = lock(&self.0);
        if let Some(known) = rows.names.get(name).and_then(|id| rows.objects.get(id)) {
            return Found::Known(Arc::clone(known));
        }
        let (completer, completion) = Completion::new(engine);
        rows.finding.entry(name.into()).or_default().push(completer);
        Found::Awaited(completion)
    }

    /// True if there is an object of that name.
    pub fn has_name(&self, name: &str) -> bool {
        lock(&self.0).names.contains_key(name)
    }

    /// Removes an object, whose name others may have from here on.
    pub fn remove(&self, id: u64) -> Option<Arc<Entry>> {
        let mut rows = lock(&self.0);
        let entry = rows.objects.remove(&id)?;
        if rows.names.get(&entry.name) == Some(&id) {
            rows.names.remove(&entry.name);
        }
        Some(entry)
    }

    /// Adds an object, unless it is named and its name is taken. Its waiters get it.
    pub fn add(&self, entry: Arc<Entry>, is_named: bool) {
        let mut rows = lock(&self.0);
        if !is_named {
            rows.objects.insert(entry.id, entry);
            return;
        }
        if rows.names.contains_key(&entry.name) {
            return;
        }
        rows.names.insert(entry.name.clone(), entry.id);
        rows.objects.insert(entry.id, Arc::clone(&entry));
        let finding = rows.finding.remove(&entry.name).unwrap_or_default();
        drop(rows);
        for completer in finding {
            completer.complete(Ok(Arc::clone(&entry)));
        }
    }
}
