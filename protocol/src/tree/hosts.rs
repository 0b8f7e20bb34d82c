//! Trees that know which ranks share a host: a packet crosses to each host once.
//!
//! Of each host one member, its *entrance*, is in a tree of the group's shape between hosts: the
//! root on its own host, on all others the first of the members there. Each passes packets on to
//! the members beside it. So what a rank gets from one beside it goes no further, and waits for
//! nothing but that rank: between hosts the condition of Appendix A.1 decides, with hosts in a ring
//! in place of members.

use super::Shape;
use weft_wire::Rank;

#[derive(Debug, Clone)]
pub(super) struct Hosts {
    /// By place in the group: which host, in the order in which hosts come among the members, and
    /// which of the members there.
    seats: Vec<(u16, u16)>,
    /// By host.
    members: Vec<Vec<Rank>>,
}

/// A member and its place in the group.
pub(super) type Member = (Rank, usize);

impl Hosts {
    /// The hosts of `members`, given the host of each rank of the job by rank. `None` if each of
    /// the members has one for itself: trees are then the same without hosts.
    pub fn new(members: &[Rank], host_of: &[u16]) -> Option<Self> {
        let mut seats = Vec::with_capacity(members.len());
        let mut found: Vec<(u16, Vec<Rank>)> = Vec::new();
        for &member in members {
            let host = host_of[member.index()];
            let known = found.iter().position(|(other, _)| *other == host);
            let index = known.unwrap_or(found.len());
            if known.is_none() {
                found.push((host, Vec::new()));
            }
            seats.push((index as u16, found[index].1.len() as u16));
            found[index].1.push(member);
        }
        let shared = found.len() < members.len();
        let members = found.into_iter().map(|(_, members)| members).collect();
        shared.then_some(Hosts { seats, members })
    }

    /// Number of hosts.
    pub fn count(&self) -> usize {
        self.members.len()
    }

    /// The `i`-th child of `member`: those on other hosts first, because a network takes longer.
    pub fn child(&self, shape: Shape, root: Member, member: Member, i: usize) -> Option<Rank> {
        let (host, seat) = self.seat(member);
        if self.entrance(host, root) != member.0 {
            return None;
        }
        let (home, hosts) = (self.seat(root).0, self.count());
        let position = (host + hosts - home) % hosts;
        if let Some(child) = shape.child(position, i, hosts) {
            return Some(self.entrance((home + child) % hosts, root));
        }
        let i = i - shape.children(position, hosts);
        self.members[host].get(i + usize::from(i >= seat)).copied()
    }

    /// The parent of `member`; `None` for the root.
    pub fn parent(&self, shape: Shape, root: Member, member: Member) -> Option<Rank> {
        let host = self.seat(member).0;
        let entrance = self.entrance(host, root);
        if entrance != member.0 {
            return Some(entrance);
        }
        let (home, hosts) = (self.seat(root).0, self.count());
        let parent = shape.parent((host + hosts - home) % hosts)?;
        Some(self.entrance((home + parent) % hosts, root))
    }

    /// The member of `host` that others pass packets to.
    fn entrance(&self, host: usize, root: Member) -> Rank {
        if self.seat(root).0 == host { root.0 } else { self.members[host][0] }
    }

    fn seat(&self, (_, place): Member) -> (usize, usize) {
        let (host, seat) = self.seats[place];
        (host.into(), seat.into())
    }
}
