//! Rules as the parser understands them: names are numbers, and sets of cells are masks.

use crate::geometry::Board;

/// Owner of a piece or a counter, as the player to move sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Whose {
    /// The player to move; in games of one player, everything.
    Own,
    /// The other player.
    Other,
}

/// A kind of pieces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kind {
    /// Its name.
    pub name: String,
    /// Signs of own ones and of the other player's.
    pub signs: Vec<String>,
}

/// Contents of cells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Contents {
    /// A piece, or nothing.
    Pieces(Vec<Kind>),
    /// A number.
    Numbers {
        /// The largest.
        most: u8,
        /// True if each number from 0 on is there once.
        once: bool,
    },
}

/// Position of the board for the other player.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// The one that it has for who moved.
    Same,
    /// Turned by a half.
    Half,
    /// Rows in the opposite order.
    Flip,
}

/// A number beside the board.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counter {
    /// Its name.
    pub name: String,
    /// The largest value.
    pub most: u8,
    /// The first value.
    pub first: u8,
    /// True if each player has one.
    pub each: bool,
}

/// Contents that a test accepts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Set {
    /// Pieces, by owner and, unless it is any, kind.
    pub pieces: Vec<(Whose, Option<usize>)>,
    /// Cells without pieces.
    pub empty: bool,
    /// Numbers, from the first to the last.
    pub numbers: Vec<(u8, u8)>,
    /// The outside of the board.
    pub edge: bool,
    /// The cells in which it is looked for.
    pub zone: Option<u64>,
}

/// Number of times that a test is made along a direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Times {
    /// Once.
    Once,
    /// At least once.
    Plus,
    /// Perhaps not at all.
    Star,
}

/// Tests of cells, one after the other along a direction.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pattern(pub Vec<(Set, Times)>);

/// New content of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Put {
    /// The one that is there.
    Same,
    /// Nothing.
    Empty,
    /// A piece.
    Piece(Whose, usize),
    /// A number.
    Number(u8),
    /// The one that was in another cell of the pattern.
    From(usize),
}

/// Directions of a move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Along {
    /// Not at all: it is about one cell.
    Nowhere,
    /// Along one of these, which the player chooses.
    One(Vec<usize>),
    /// Along all of these at once in which it is possible.
    Each(Vec<usize>),
}

/// Action behind the pattern of a move.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// The number that was in the first cell is dealt out, one to each cell that follows.
    Sow {
        /// True if the first cell gets none.
        past_start: bool,
    },
    /// Numbers are taken from the last cell of sowing on, backwards.
    Collect {
        /// Condition of a cell that is taken.
        during: Expression,
        /// Counter that gets them.
        into: (usize, Whose),
        /// Condition afterwards; where it fails nothing is taken.
        keeping: Option<Expression>,
    },
    /// Condition of the move, at this point.
    Need(Expression),
    /// A new value of a counter.
    Let(usize, Whose, Expression),
}

/// A kind of moves.
#[derive(Clone, PartialEq, Debug)]
pub struct Move {
    /// Its name.
    pub name: String,
    /// Directions.
    pub along: Along,
    /// Contents that the cells need.
    pub before: Pattern,
    /// Contents that come into them.
    pub after: Vec<Put>,
    /// Condition, before the move.
    pub condition: Option<Expression>,
    /// Actions behind it.
    pub actions: Vec<Action>,
    /// True if it goes on with moves of its group.
    pub again: bool,
    /// True if the opposite move does not follow at once.
    pub no_return: bool,
    /// Number of the group: moves of the next one only exist where this has none.
    pub group: usize,
}

/// A change of the piece that has arrived.
#[derive(Clone, PartialEq, Debug)]
pub struct Become {
    /// The piece that changes, and where.
    pub from: Set,
    /// Its new content.
    pub into: Put,
    /// True if its move is over then.
    pub stops: bool,
}

/// Result of a game, for the player to move.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// A win.
    Win,
    /// A loss.
    Loss,
    /// Neither.
    Draw,
    /// A number.
    Score(Expression),
}

/// An end of the game.
#[derive(Clone, PartialEq, Debug)]
pub struct End {
    /// Its result.
    pub outcome: Outcome,
    /// Its condition; `None` if it is that there is no move.
    pub when: Option<Expression>,
}

/// An operator between two values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // The names say it.
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
    Minimum,
    Maximum,
}

/// A value or a condition.
#[derive(Clone, PartialEq, Debug)]
pub enum Expression {
    /// A number.
    Number(i32),
    /// A counter.
    Counter(usize, Whose),
    /// Number of the cell in question.
    Cell,
    /// Number in the cell in question.
    Here,
    /// Row of a cell.
    Row(Box<Expression>),
    /// Column of a cell.
    Column(Box<Expression>),
    /// Absolute value.
    Absolute(Box<Expression>),
    /// Negative value.
    Negative(Box<Expression>),
    /// Opposite condition.
    Not(Box<Expression>),
    /// Two values.
    Two(Operator, Box<Expression>, Box<Expression>),
    /// A cell is one of these.
    InZone(Box<Expression>, u64),
    /// A number is in a range.
    InRange(Box<Expression>, i32, i32),
    /// Sum over cells.
    Sum {
        /// Value that is added up.
        of: Box<Expression>,
        /// The cells.
        zone: u64,
        /// Their condition.
        condition: Option<Box<Expression>>,
    },
    /// Places where a pattern begins: their number, or that there is one.
    Places {
        /// The pattern.
        pattern: Pattern,
        /// Directions, none for patterns of one cell.
        along: Vec<usize>,
        /// True if it is asked whether there is one.
        any: bool,
    },
}

/// Rules of a game.
#[derive(Clone, PartialEq, Debug)]
pub struct Rules {
    /// Name of the game.
    pub name: String,
    /// Players: 1 or 2.
    pub players: u8,
    /// Contents of cells.
    pub contents: Contents,
    /// The board and the first position.
    pub board: Board,
    /// Position of the board for the other player.
    pub turn: Turn,
    /// Sets of cells with names.
    pub zones: Vec<(String, u64)>,
    /// Sets of directions with names.
    pub families: Vec<(String, Vec<usize>)>,
    /// Numbers beside the board.
    pub counters: Vec<Counter>,
    /// Moves.
    pub moves: Vec<Move>,
    /// Changes of pieces that have arrived.
    pub becomes: Vec<Become>,
    /// True if a player without a move passes.
    pub passes: bool,
    /// Ends.
    pub ends: Vec<End>,
    /// Value of a position.
    pub value: Option<Expression>,
    /// Moves of the longest game from here.
    pub longest: Option<Expression>,
    /// Condition of a solved puzzle.
    pub goal: Option<Expression>,
    /// Moves that a solution has at least.
    pub bound: Option<Expression>,
    /// Conditions of all positions.
    pub always: Vec<Expression>,
    /// Grain of a search.
    pub grain: Option<u16>,
}
