//! Operations as others learn of them while a member waits for the end of one.

use crate::{Members, Signature, TeamId};
use weft_endpoint::{Awaited, Protocol, Rank, TeamMeeting, Whom};

/// Number that [`TeamId::count`] has in the team of all ranks before there are any others.
const OF_ALL: [u32; 2] = [0, u32::MAX];

/// Object of a member's wait for the end of an operation, which it has begun with this number in
/// its team of this system.
pub fn awaited(
    system: Protocol,
    team: TeamId,
    members: &Members,
    (number, signature): (u32, Signature),
) -> Awaited {
    let name = match team.count {
        count if OF_ALL.contains(&count) => "the team of all ranks".into(),
        count if count & TeamId::SPLIT != 0 => {
            format!("team {} that rank {} leads after a split", count ^ TeamId::SPLIT, team.leader)
        }
        count => format!("team {count}"),
    };
    let leader = u64::from(team.leader.0) << 32;
    let members: Vec<Rank> = (0..members.size()).map(|place| members.rank(place)).collect();
    let meeting = TeamMeeting {
        team: (system.index() as u64) << 56 | leader | u64::from(team.count),
        number,
        call: signature.hash(),
        members,
    };
    Awaited::new(format!("{signature}, operation {number} of {name}"), Whom::Meeting(meeting))
}
