//! The objects of one rank.

use crate::dynamic::Dynamic;
use crate::entry::Entry;
use crate::error::{Error, Result};
use crate::format::{Creation, NAME_MAX};
use crate::handle::Handle;
use crate::operation::{Executable, Object};
use crate::placement::{Placement, Site};
use crate::shared::{Node, Shared};
use crate::table::Found;
use crate::types::Types;
use std::sync::Arc;
use weft_messaging::rpc::{Client, Rpc, Service};
use weft_messaging::{OrderEvent, Orders};

/// Name of the order and of the service.
const NAME: &str = "weft.objects";

/// The objects of one rank; one of these a rank. All ranks make one, at the same place in the
/// sequence of their orders. Clones are handles to the same, for any thread.
#[derive(Clone)]
pub struct Objects(pub(crate) Arc<Node>);

impl Objects {
    /// The objects of this rank, of which there are none yet.
    ///
    /// # Errors
    /// The name of the order is taken: there are some already.
    pub fn new(orders: &Orders, rpc: &Arc<Rpc>, types: Types) -> Result<Self> {
        let shared = Arc::new(Shared::new(rpc.engine(), types.kinds, types.processes));
        let [ordering, serving] = [(); 2].map(|()| Arc::clone(&shared));
        let mut last = None;
        let order = orders.order_with_losses(NAME, move |event| match event {
            OrderEvent::Message(message) => ordering.ordered(message, &mut last),
            OrderEvent::Loss(rank) => ordering.lose(rank),
        })?;
        let service = Service::new(rpc, NAME, move |request| serving.called(request))?;
        let client = Client::new(rpc, NAME)?;
        let node = Node::new(shared, order, client, service);
        node.shared.start_processes();
        Ok(Objects(node))
    }

    /// Plants a bug in this rank's objects.
    #[cfg(feature = "planted")]
    pub fn plant(&self, bug: crate::Bug) {
        self.0.shared.planted.plant(bug);
    }

    /// Has placements thought over after so many operations, for tests.
    #[cfg(feature = "planted")]
    pub fn think_after(&self, operations: u64) {
        self.0.shared.observer.think_after(operations);
    }

    /// Creates an object, and returns once this rank has it. One rank creates it; others find it.
    /// It lives until somebody [deletes](Handle::delete) it, or the job ends.
    ///
    /// # Errors
    /// [`Error::Taken`], [`Error::LongName`], [`Error::NoSuchRank`], [`Error::UnknownType`],
    /// [`Error::BadState`], or a lost rank.
    pub fn create<T: Object>(
        &self,
        name: &str,
        first: &T,
        placement: Placement,
    ) -> Result<Handle<T>> {
        let state = first.capture();
        self.create_kind(true, name, T::NAME, &state, placement).map(|entry| self.handle(entry))
    }

    /// Creates an object that nobody finds by its name, which is for people, and need not be its
    /// alone; otherwise like [`Objects::create`]. Others get it by its number, [`Handle::id`].
    ///
    /// # Errors
    /// Those of [`Objects::create`], [`Error::Taken`] excepted.
    pub fn create_unnamed<T: Object>(
        &self,
        name: &str,
        first: &T,
        placement: Placement,
    ) -> Result<Handle<T>> {
        let state = first.capture();
        self.create_kind(false, name, T::NAME, &state, placement).map(|entry| self.handle(entry))
    }

    /// Creates an object of a type that is not Rust's, with this state; otherwise like
    /// [`Objects::create`].
    ///
    /// # Errors
    /// Those of [`Objects::create`].
    pub fn create_dynamic(
        &self,
        name: &str,
        kind: &str,
        state: &[u8],
        placement: Placement,
    ) -> Result<Handle<Dynamic>> {
        self.create_kind(true, name, kind, state, placement).map(|entry| self.handle(entry))
    }

    /// Creates an object of a type that is not Rust's, as [`Objects::create_unnamed`] does.
    ///
    /// # Errors
    /// Those of [`Objects::create_unnamed`].
    pub fn create_dynamic_unnamed(
        &self,
        name: &str,
        kind: &str,
        state: &[u8],
        placement: Placement,
    ) -> Result<Handle<Dynamic>> {
        self.create_kind(false, name, kind, state, placement).map(|entry| self.handle(entry))
    }

    /// The object with this number, which whoever tells it has: a process by its arguments, or an
    /// operation by its result.
    ///
    /// # Errors
    /// [`Error::NoSuchObject`], [`Error::OtherType`].
    pub fn get<T: Object>(&self, id: u64) -> Result<Handle<T>> {
        self.get_kind(id, T::NAME).map(|entry| self.handle(entry))
    }

    /// The object with this number, of a type that is not Rust's; otherwise like [`Objects::get`].
    ///
    /// # Errors
    /// Those of [`Objects::get`].
    pub fn get_dynamic(&self, id: u64, kind: &str) -> Result<Handle<Dynamic>> {
        self.get_kind(id, kind).map(|entry| self.handle(entry))
    }

    fn get_kind(&self, id: u64, kind: &str) -> Result<Arc<Entry>> {
        let entry = self.0.shared.table.get(id);
        of_kind(entry.ok_or(Error::NoSuchObject(id))?, kind)
    }

    fn create_kind(
        &self,
        is_named: bool,
        name: &str,
        kind: &str,
        state: &[u8],
        placement: Placement,
    ) -> Result<Arc<Entry>> {
        let Node { shared, order, .. } = &*self.0;
        if let Some(long) = [name, kind].iter().map(|name| name.len()).find(|&l| l > NAME_MAX) {
            return Err(Error::LongName(long));
        }
        placement.check(shared.engine.packets().size())?;
        match shared.kinds.get(kind) {
            None => return Err(Error::UnknownType(kind.into())),
            Some(known) if (known.make)(Some(state)).is_none() => {
                return Err(Error::BadState(name.into()));
            }
            Some(_) => {}
        }
        let (site, is_automatic) = placement.site(shared.engine.packets().size());
        let site = site.unwrap_or(Site::Single(shared.own));
        let creation = Creation { site, is_automatic, is_named, name, kind, state };
        let head = creation.emit();
        let parts = [&head[..], name.as_bytes(), kind.as_bytes(), state];
        let id = order.broadcast_and_wait(&parts)?;
        // Who has found it by its name may have deleted it already.
        shared.table.get(id).ok_or_else(|| match shared.table.has_name(name) {
            true => Error::Taken(name.into()),
            false => Error::Deleted(name.into()),
        })
    }

    /// The object of that name. Waits until some rank has created it; handlers run meanwhile.
    ///
    /// # Errors
    /// [`Error::OtherType`], or a lost rank.
    pub fn find<T: Object>(&self, name: &str) -> Result<Handle<T>> {
        self.find_kind(name, T::NAME).map(|entry| self.handle(entry))
    }

    /// The object of that name, of a type that is not Rust's; otherwise like [`Objects::find`].
    ///
    /// # Errors
    /// Those of [`Objects::find`].
    pub fn find_dynamic(&self, name: &str, kind: &str) -> Result<Handle<Dynamic>> {
        self.find_kind(name, kind).map(|entry| self.handle(entry))
    }

    fn find_kind(&self, name: &str, kind: &str) -> Result<Arc<Entry>> {
        let shared = &self.0.shared;
        match shared.table.find(name, &shared.engine) {
            Found::Known(entry) => of_kind(entry, kind),
            Found::Awaited(entry) => of_kind(entry.wait()?, kind),
        }
    }

    fn handle<T: Executable>(&self, entry: Arc<Entry>) -> Handle<T> {
        Handle::new(Arc::clone(&self.0), entry)
    }
}

/// The object, if it is of this type.
fn of_kind(entry: Arc<Entry>, kind: &str) -> Result<Arc<Entry>> {
    if entry.kind.name == kind {
        return Ok(entry);
    }
    let (name, is, asked) = (entry.name.clone(), entry.kind.name.clone(), kind.into());
    Err(Error::OtherType { name, is, asked })
}
