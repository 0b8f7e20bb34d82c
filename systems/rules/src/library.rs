//! Libraries of rules: the table of `weft-game.h`, and calls of its functions.
//!
//! A library is code that somebody chose to run, as a program is: nothing here defends against one
//! that breaks what the header says. Its arguments are those that the header promises, checked
//! here.
#![allow(unsafe_code)]

use crate::error::Error;
use crate::source::Digest;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Version of the table.
const VERSION: u32 = 1;

/// Most bytes of a position.
pub(crate) const MOST_BYTES: usize = 29;

/// Most moves of a position.
pub(crate) const MOST_MOVES: usize = 254;

/// Bytes of a position's text.
const TEXT_BYTES: usize = 4096;

/// Most libraries of a process.
const MOST: usize = 64;

/// Libraries of this process, by their numbers. They stay as long as it does.
static LIBRARIES: [OnceLock<Loaded>; MOST] = [const { OnceLock::new() }; MOST];

/// `struct weft_game`.
#[repr(C)]
struct Table {
    version: u32,
    players: u32,
    bytes: u32,
    numbers: u32,
    grain: u32,
    name: *const c_char,
    first: Option<unsafe extern "C" fn(*mut c_void)>,
    check: Option<unsafe extern "C" fn(*const c_void) -> c_int>,
    moves: Option<unsafe extern "C" fn(*const c_void, c_int, *mut u8) -> c_int>,
    count: Option<unsafe extern "C" fn(*const c_void) -> c_int>,
    play: Option<unsafe extern "C" fn(*const c_void, u8, *mut c_void)>,
    value: Option<unsafe extern "C" fn(*const c_void) -> c_int>,
    is_goal: Option<unsafe extern "C" fn(*const c_void) -> c_int>,
    longest: Option<unsafe extern "C" fn(*const c_void) -> c_int>,
    parse: Option<unsafe extern "C" fn(*const c_char, *mut c_void) -> c_int>,
    print: Option<unsafe extern "C" fn(*const c_void, *mut c_char, usize)>,
}

/// Functions that every library has.
#[derive(Clone, Copy)]
struct Needed {
    first: unsafe extern "C" fn(*mut c_void),
    check: unsafe extern "C" fn(*const c_void) -> c_int,
    moves: unsafe extern "C" fn(*const c_void, c_int, *mut u8) -> c_int,
    play: unsafe extern "C" fn(*const c_void, u8, *mut c_void),
    value: unsafe extern "C" fn(*const c_void) -> c_int,
}

/// A library that was loaded, with what was read from its table, which is not looked at again.
struct Loaded {
    digest: Digest,
    name: String,
    players: u32,
    bytes: usize,
    numbers: usize,
    grain: u16,
    needed: Needed,
    count: Option<unsafe extern "C" fn(*const c_void) -> c_int>,
    is_goal: Option<unsafe extern "C" fn(*const c_void) -> c_int>,
    longest: Option<unsafe extern "C" fn(*const c_void) -> c_int>,
    parse: Option<unsafe extern "C" fn(*const c_char, *mut c_void) -> c_int>,
    print: Option<unsafe extern "C" fn(*const c_void, *mut c_char, usize)>,
}

/// A library of rules that this process has loaded. It has a number, by which positions name it.
#[derive(Clone, Copy)]
pub struct Library {
    number: u8,
    loaded: &'static Loaded,
}

impl Library {
    /// The library with such a number, if there is one.
    #[inline]
    pub(crate) fn of(number: u8) -> Option<Self> {
        let loaded = LIBRARIES.get(usize::from(number))?.get()?;
        Some(Library { number, loaded })
    }

    /// The library of such rules, if it was loaded before.
    pub(crate) fn known(digest: &Digest) -> Option<Self> {
        let all = (0..MOST as u8).filter_map(Library::of);
        all.into_iter().find(|library| library.loaded.digest == *digest)
    }

    /// Loads a library, unless it was loaded before.
    pub(crate) fn load(name: &str, path: &Path, digest: Digest) -> Result<Self, Error> {
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = Library::known(&digest) {
            return Ok(known);
        }
        let free = LIBRARIES.iter().position(|place| place.get().is_none());
        let number = free.ok_or_else(|| Error::Many(name.into()))?;
        let loaded = Loaded::open(name, path, digest)?;
        let loaded = LIBRARIES[number].get_or_init(|| loaded);
        Ok(Library { number: number as u8, loaded })
    }

    /// Its number.
    #[inline]
    pub(crate) fn number(self) -> u8 {
        self.number
    }

    /// Name of the game.
    pub fn name(self) -> &'static str {
        &self.loaded.name
    }

    /// Players: 1 or 2.
    pub fn players(self) -> u32 {
        self.loaded.players
    }

    /// Bytes of a position.
    #[inline]
    pub fn bytes(self) -> usize {
        self.loaded.bytes
    }

    /// Number behind the largest number of a move.
    #[inline]
    pub fn numbers(self) -> usize {
        self.loaded.numbers
    }

    /// Grain of a search; 0 for a default.
    pub fn grain(self) -> u16 {
        self.loaded.grain
    }

    /// Writes the first position.
    pub(crate) fn first(self, into: &mut [u8]) {
        assert!(into.len() >= self.bytes());
        // SAFETY: there is room for a position.
        unsafe { (self.loaded.needed.first)(into.as_mut_ptr().cast()) }
    }

    /// True if these bytes are a position.
    pub(crate) fn check(self, position: &[u8]) -> bool {
        assert!(position.len() >= self.bytes());
        // SAFETY: there are as many bytes as a position has.
        unsafe { (self.loaded.needed.check)(position.as_ptr().cast()) == 1 }
    }

    /// Writes the moves of a position, and returns how many there are.
    #[inline]
    pub(crate) fn moves(self, position: &[u8], last: Option<u8>, into: &mut [u8]) -> usize {
        assert!(position.len() >= self.bytes() && into.len() >= self.numbers());
        let last = last.map_or(-1, c_int::from);
        // SAFETY: this is a position, and there is room for as many moves as it can have.
        let count = unsafe {
            (self.loaded.needed.moves)(position.as_ptr().cast(), last, into.as_mut_ptr())
        };
        self.counted(count)
    }

    /// Number of moves of a position, if the library has a faster way to know it.
    #[inline]
    pub(crate) fn count(self, position: &[u8]) -> Option<usize> {
        assert!(position.len() >= self.bytes());
        // SAFETY: this is a position.
        self.loaded.count.map(|count| self.counted(unsafe { count(position.as_ptr().cast()) }))
    }

    fn counted(self, count: c_int) -> usize {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        assert!(count <= self.numbers(), "the library of {} counts wrong", self.name());
        count
    }

    /// Writes the position after a move.
    #[inline]
    pub(crate) fn play(self, position: &[u8], by: u8, into: &mut [u8]) {
        assert!(position.len() >= self.bytes() && into.len() >= self.bytes());
        // SAFETY: this is a position, the move is one of its moves, and there is room for another.
        unsafe {
            let into = into.as_mut_ptr().cast();
            (self.loaded.needed.play)(position.as_ptr().cast(), by, into);
        }
    }

    /// Value of a position.
    #[inline]
    pub(crate) fn value(self, position: &[u8]) -> i32 {
        assert!(position.len() >= self.bytes());
        // SAFETY: this is a position.
        unsafe { (self.loaded.needed.value)(position.as_ptr().cast()) }
    }

    /// True if a puzzle is solved.
    #[inline]
    pub(crate) fn is_goal(self, position: &[u8]) -> bool {
        assert!(position.len() >= self.bytes());
        // SAFETY: this is a position.
        self.loaded.is_goal.is_some_and(|is_goal| unsafe { is_goal(position.as_ptr().cast()) == 1 })
    }

    /// Moves of the longest game from a position, if the library knows.
    pub(crate) fn longest(self, position: &[u8]) -> Option<i32> {
        assert!(position.len() >= self.bytes());
        // SAFETY: this is a position.
        self.loaded.longest.map(|longest| unsafe { longest(position.as_ptr().cast()) })
    }

    /// Reads a position from a text, and says if it is one.
    pub(crate) fn parse(self, text: &CStr, into: &mut [u8]) -> bool {
        assert!(into.len() >= self.bytes());
        // SAFETY: the text ends with a zero, and there is room for a position.
        let parsed = self
            .loaded
            .parse
            .is_some_and(|parse| unsafe { parse(text.as_ptr(), into.as_mut_ptr().cast()) == 1 });
        parsed && self.check(into)
    }

    /// Text of a position, if the library writes them.
    pub(crate) fn print(self, position: &[u8]) -> Option<String> {
        assert!(position.len() >= self.bytes());
        let mut text = vec![0_u8; TEXT_BYTES];
        let print = self.loaded.print?;
        // SAFETY: this is a position, and the room is what is said.
        unsafe { print(position.as_ptr().cast(), text.as_mut_ptr().cast(), TEXT_BYTES - 1) };
        let text = CStr::from_bytes_until_nul(&text).unwrap_or_default();
        Some(text.to_string_lossy().into_owned())
    }
}

impl Loaded {
    fn open(name: &str, path: &Path, digest: Digest) -> Result<Self, Error> {
        let failed = |error: libloading::Error| Error::Load {
            name: name.into(),
            why: error.to_string().replace(&path.display().to_string(), name),
        };
        // SAFETY: who names a library wants its code to run; rules have no initializers.
        let library = unsafe { libloading::Library::new(path) }.map_err(failed)?;
        // It is never unloaded, so what its table points to stays.
        let library = ManuallyDrop::new(library);
        // SAFETY: a library with this symbol has a table there, which begins with its version.
        let table = unsafe { library.get::<*const u32>(b"weft_game\0") }.map_err(failed)?;
        let wrong = |what: &str| Error::Table { name: name.into(), what: what.into() };
        // SAFETY: the symbol is the table itself, whose first field is the version.
        let version = unsafe { **table };
        if version != VERSION {
            let what = format!("has version {version}, and this is {VERSION}");
            return Err(wrong(&what));
        }
        // SAFETY: a table of this version has this layout, and nobody writes it.
        let table: &Table = unsafe { &*table.cast::<Table>() };
        let needed = (table.first, table.check, table.moves, table.play, table.value);
        let (Some(first), Some(check), Some(moves), Some(play), Some(value)) = needed else {
            return Err(wrong("lacks one of first, check, moves, play and value"));
        };
        let fits = |value: u32, most: usize| (1..=most as u32).contains(&value);
        let is_sound = fits(table.bytes, MOST_BYTES)
            && fits(table.numbers, MOST_MOVES)
            && fits(table.players, 2)
            && !table.name.is_null();
        if !is_sound {
            return Err(wrong("has other players, bytes or numbers than there can be, or no name"));
        }
        if table.players == 1 && table.is_goal.is_none() {
            return Err(wrong("is of a puzzle, and lacks is_goal"));
        }
        // SAFETY: the header says that the name is a text, which ends with a zero.
        let game = unsafe { CStr::from_ptr(table.name) };
        Ok(Loaded {
            digest,
            name: game.to_string_lossy().into_owned(),
            players: table.players,
            bytes: table.bytes as usize,
            numbers: table.numbers as usize,
            grain: table.grain.min(u16::MAX.into()) as u16,
            needed: Needed { first, check, moves, play, value },
            count: table.count,
            is_goal: table.is_goal,
            longest: table.longest,
            parse: table.parse,
            print: table.print,
        })
    }
}
