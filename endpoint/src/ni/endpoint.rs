//! A rank's endpoint, as the layers above hold it: a branch on the kind of link, once per call.
//!
//! The common path is compiled for shared memory, down to the slot; other links, where a packet
//! costs a system call, are called through [`AnyNode`].

use crate::Result;
use crate::ni::any_node::{AnyNode, Atomics, Inspect, Polled, Taken};
use crate::ni::arrival::Arrival;
use crate::ni::attendance::Attendance;
use crate::ni::attributes::Attributes;
use crate::ni::node::Node;
use std::any::Any;
use std::ops::Deref;
use std::sync::{Arc, Weak};
use weft_link::{Gather, Link, ShortWords};
use weft_link_shm::Shm;
use weft_wire::{Protocol, Rank};

/// A node over whatever link. Clones are handles to the same one.
#[derive(Clone)]
pub(crate) enum Endpoint {
    /// One over shared memory, whose calls are static.
    Shm(Arc<Node<Shm>>),
    /// Any other.
    Other(Arc<dyn AnyNode>),
}

/// A handle that does not keep the node alive.
pub(crate) enum WeakEndpoint {
    Shm(Weak<Node<Shm>>),
    Other(Weak<dyn AnyNode>),
}

impl WeakEndpoint {
    /// The node, if it lives.
    pub fn upgrade(&self) -> Option<Endpoint> {
        match self {
            WeakEndpoint::Shm(node) => node.upgrade().map(Endpoint::Shm),
            WeakEndpoint::Other(node) => node.upgrade().map(Endpoint::Other),
        }
    }
}

impl Endpoint {
    /// A handle to this node that knows its link.
    pub fn of<L: Link>(node: Arc<Node<L>>) -> Self {
        let any: Arc<dyn Any + Send + Sync> = Arc::clone(&node) as Arc<_>;
        any.downcast().map_or_else(|_| Endpoint::Other(node), Endpoint::Shm)
    }

    /// A handle that keeps the node alive.
    pub fn any(&self) -> Arc<dyn AnyNode> {
        match self {
            Endpoint::Shm(node) => Arc::clone(node) as Arc<_>,
            Endpoint::Other(node) => Arc::clone(node),
        }
    }

    /// A handle that does not keep the node alive.
    pub fn downgrade(&self) -> WeakEndpoint {
        match self {
            Endpoint::Shm(node) => WeakEndpoint::Shm(Arc::downgrade(node)),
            Endpoint::Other(node) => WeakEndpoint::Other(Arc::downgrade(node)),
        }
    }

    /// A number that no two nodes have at a time.
    #[inline]
    pub fn identity(&self) -> usize {
        match self {
            Endpoint::Shm(node) => Arc::as_ptr(node).addr(),
            Endpoint::Other(node) => Arc::as_ptr(node).addr(),
        }
    }

    /// See [`AnyNode::attributes`].
    #[inline]
    pub fn attributes(&self) -> &Attributes {
        match self {
            Endpoint::Shm(node) => &node.interface().attributes,
            Endpoint::Other(node) => node.attributes(),
        }
    }

    /// See [`AnyNode::attendance`].
    #[inline]
    pub fn attendance(&self) -> &Attendance {
        match self {
            Endpoint::Shm(node) => &node.interface().attendance,
            Endpoint::Other(node) => node.attendance(),
        }
    }

    /// True if packets to `to` may be short. Enters nothing.
    #[inline(always)]
    pub fn takes_short(&self, to: Rank) -> bool {
        match self {
            Endpoint::Shm(_) => true,
            Endpoint::Other(node) => node.attributes().takes_short(to),
        }
    }

    /// See [`Outbound::launch_short`](crate::ni::any_node::Outbound).
    #[inline(always)]
    pub fn launch_short(&self, to: Rank, protocol: Protocol, bytes: &(impl Gather + Copy)) -> bool {
        match self {
            Endpoint::Shm(node) => node.interface().send_short(to, protocol, bytes),
            Endpoint::Other(node) => launch_short(&**node, to, protocol, *bytes),
        }
    }

    /// See [`Atomics::fetch_and_add`](crate::ni::any_node::Atomics).
    #[inline(always)]
    pub fn fetch_and_add(&self, home: Rank, variable: u16, amount: u64) -> Result<u64> {
        match self {
            Endpoint::Shm(node) => node.fetch_and_add(home, variable, amount),
            Endpoint::Other(node) => node.fetch_and_add(home, variable, amount),
        }
    }

    /// See [`Packets::looks_are_calls`](crate::Packets::looks_are_calls).
    pub fn looks_are_calls(&self) -> bool {
        matches!(self, Endpoint::Other(_))
    }

    /// True if there is nothing to be had from a poll, as far as a glance tells.
    #[inline(always)]
    pub fn is_idle(&self) -> bool {
        match self {
            Endpoint::Shm(node) => node.dispatcher.is_idle(),
            Endpoint::Other(_) => false,
        }
    }

    /// See [`Inbound::poll`](crate::ni::any_node::Inbound), for who has seen that
    /// this is not [idle](Self::is_idle).
    #[inline(always)]
    pub fn poll(&self) -> Option<Polled> {
        match self {
            Endpoint::Shm(node) => node.dispatcher.poll_packet(),
            Endpoint::Other(node) => node.poll(),
        }
    }

    /// See [`Inbound::take_unless`](crate::ni::any_node::Inbound).
    #[inline(always)]
    pub fn take_unless(
        &self,
        protocol: Protocol,
        inspector: impl Inspect,
        into: &mut Option<Arrival>,
    ) -> Option<Taken> {
        match self {
            Endpoint::Shm(node) => node.dispatcher.take_packet(protocol, inspector, into),
            Endpoint::Other(node) => take_unless(&**node, protocol, inspector, into),
        }
    }
}

// These own their arguments, so that these need not lie in memory on the way of shared memory.

#[inline(never)]
fn take_unless(
    node: &dyn AnyNode,
    protocol: Protocol,
    mut inspector: impl Inspect,
    into: &mut Option<Arrival>,
) -> Option<Taken> {
    node.take_unless(protocol, &mut inspector, into)
}

#[inline(never)]
fn launch_short(node: &dyn AnyNode, to: Rank, protocol: Protocol, bytes: impl Gather) -> bool {
    let mut gathered = [0; size_of::<ShortWords>()];
    let gathered = &mut gathered[..bytes.size()];
    bytes.gather(gathered);
    node.launch_short(to, protocol, gathered)
}

impl Deref for Endpoint {
    type Target = dyn AnyNode;

    #[inline]
    fn deref(&self) -> &(dyn AnyNode + 'static) {
        match self {
            Endpoint::Shm(node) => &**node,
            Endpoint::Other(node) => &**node,
        }
    }
}
