//! IDA* written down a second time: an array of tiles, which moves are done on and undone.

/// Bounds and nodes of the iterations that find nothing, and the length of a shortest solution.
pub fn deepen(board: &str) -> (Vec<(u16, u64)>, u16) {
    let tiles: Vec<i32> = board.split(' ').map(|tile| tile.parse().unwrap()).collect();
    let mut search = Search { tiles: tiles.try_into().unwrap(), bound: 0, next: 0, nodes: 0 };
    let (mut iterations, mut bound) = (Vec::new(), search.distance());
    loop {
        (search.bound, search.next, search.nodes) = (bound, i32::MAX, 1);
        let blank = search.tiles.iter().position(|tile| *tile == 0).unwrap() as i32;
        if search.below(blank, -1, 0) {
            return (iterations, bound as u16);
        }
        iterations.push((bound as u16, search.nodes));
        bound = search.next;
    }
}

struct Search {
    tiles: [i32; 16],
    bound: i32,
    next: i32,
    nodes: u64,
}

impl Search {
    fn distance(&self) -> i32 {
        let apart = |(place, tile): (i32, i32)| {
            if tile == 0 { 0 } else { (place / 4 - tile / 4).abs() + (place % 4 - tile % 4).abs() }
        };
        (0..).zip(self.tiles).map(apart).sum()
    }

    /// True once a solution was found.
    fn below(&mut self, blank: i32, from: i32, depth: i32) -> bool {
        for to in [blank - 4, blank + 4, blank - 1, blank + 1] {
            let is_beside = (0..16).contains(&to) && (to / 4 == blank / 4 || to % 4 == blank % 4);
            if !is_beside || to == from {
                continue;
            }
            self.tiles.swap(to as usize, blank as usize);
            self.nodes += 1;
            let least = depth + 1 + self.distance();
            let found = if least > self.bound {
                self.next = self.next.min(least);
                false
            } else {
                least == depth + 1 || self.below(to, blank, depth + 1)
            };
            self.tiles.swap(to as usize, blank as usize);
            if found {
                return true;
            }
        }
        false
    }
}

#[test]
fn it_finds_published_lengths() {
    let (iterations, moves) = deepen(super::simulated::EASY);
    assert_eq!((iterations[0].0, moves), (29, 41));
}
