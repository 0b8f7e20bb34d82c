//! Multicast groups of a job, and their trees as one rank sees them.

use crate::settings::Settings;
use crate::tree::{GroupError, MulticastGroup};
use weft_wire::{GroupId, Rank, TreeId};

/// Groups that this rank has created.
#[derive(Debug, Clone)]
pub(crate) struct Groups {
    local: Rank,
    groups: Vec<MulticastGroup>,
    /// By rank, where trees know hosts.
    host_of: Option<Box<[u16]>>,
}

impl Groups {
    /// The broadcast group.
    pub fn new(local: Rank, settings: &Settings) -> Self {
        let groups = vec![MulticastGroup::everyone(settings.founders, settings.shape)];
        Groups { local, groups, host_of: None }
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Ranks with equal numbers in `host_of`, which is by rank, share a host.
    ///
    /// # Panics
    /// If it does not name the host of every rank, or there are groups.
    pub fn set_hosts(&mut self, host_of: &[u16], settings: &Settings) {
        assert_eq!(host_of.len(), usize::from(settings.ranks), "every rank has a host");
        assert_eq!(self.groups.len(), 1, "groups have trees already");
        let everyone = MulticastGroup::everyone(settings.founders, settings.shape);
        self.groups = vec![everyone.on_hosts(host_of)];
        self.host_of = Some(host_of.into());
    }

    /// Creates the next one.
    ///
    /// # Errors
    /// [`GroupError`] if `members` is not a set of ranks of this job.
    ///
    /// # Panics
    /// After 65,535 groups: the next number stands for none.
    pub fn create(&mut self, members: &[Rank], settings: &Settings) -> Result<GroupId, GroupError> {
        let mut group = MulticastGroup::new(members, settings.shape, settings.ranks.into())?;
        if let Some(host_of) = &self.host_of {
            group = group.on_hosts(host_of);
        }
        let id = GroupId(self.groups.len() as u16);
        assert!(id.0 < GroupId::LIMIT, "a job has at most {} multicast groups", GroupId::LIMIT);
        self.groups.push(group);
        Ok(id)
    }

    /// Takes `rank`, which is lost, out of all groups.
    pub fn bury(&mut self, rank: Rank) {
        self.groups.iter_mut().for_each(|group| group.remove(rank));
    }

    /// The group `id`, if there is one.
    pub fn get(&self, id: GroupId) -> Option<&MulticastGroup> {
        self.groups.get(usize::from(id.0))
    }

    /// True if the group of `tree` is there.
    pub fn are_known(&self, tree: TreeId) -> bool {
        self.of(tree).is_some()
    }

    /// Parent of this rank in `tree`.
    pub fn parent(&self, tree: TreeId) -> Option<Rank> {
        self.of(tree)?.parent(tree.root, self.local)
    }

    /// Child `i` of this rank in `tree`.
    pub fn child(&self, tree: TreeId, i: usize) -> Option<Rank> {
        self.of(tree)?.child(tree.root, self.local, i)
    }

    /// Number of children of this rank in `tree`.
    pub fn children(&self, tree: TreeId) -> u16 {
        (0..).take_while(|&i| self.child(tree, i).is_some()).count() as u16
    }

    fn of(&self, tree: TreeId) -> Option<&MulticastGroup> {
        self.get(tree.group()?)
    }
}
