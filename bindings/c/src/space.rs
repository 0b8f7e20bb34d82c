//! Linda: spaces of tuples, on shared objects.
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.

use crate::handle::{Handle, HandleKind, free, given, put};
use crate::memory::{FieldView, Fields, Text, User};
use crate::object::{Objects, part};
use crate::status::{Failure, Status, call};
use crate::structures::{Field, FieldKindNumber};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::sync::Arc;
use weft_linda::{Active, Pattern};

/// A space of tuples, as this rank sees it. Any thread may use it, several at once.
pub struct Space(Handle<Shared>);

/// A tuple that was found. Any thread may use it, several at once.
pub struct Tuple(Handle<Found>);

/// An active tuple, which a thread of this rank computes. One thread at a time uses it.
pub struct ActiveTuple(Handle<Computed>);

/// Fields that code gives, one after the other. The code's until it returns.
pub struct TupleFields(Handle<Given>);

/// Type of a field.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldKind {
    /// Its i64, a number with a sign.
    I64 = 1,
    /// Its u64, a number without.
    U64,
    /// Its f64.
    F64,
    /// Its u64, false if that is 0.
    Bool,
    /// Its u64, the number of a character of Unicode.
    Char,
    /// Its bytes, UTF-8 without a zero behind.
    Text,
    /// Its bytes.
    Bytes,
}

struct Shared {
    space: weft_linda::Space,
    user: Arc<()>,
}

struct Found {
    /// Owners of texts and bytes.
    _owned: Vec<weft_linda::Field>,
    fields: Vec<Field>,
}

struct Computed {
    active: Active,
    _user: Arc<()>,
}

#[derive(Default)]
struct Given {
    fields: Vec<weft_linda::Field>,
    /// Some were none.
    is_wrong: bool,
}

impl HandleKind for Shared {
    const MARK: u32 = 0x5350_4318;
    const NAME: &'static str = "space";
}

impl HandleKind for Found {
    const MARK: u32 = 0x5455_5019;
    const NAME: &'static str = "tuple";
}

impl HandleKind for Computed {
    const MARK: u32 = 0x4143_541a;
    const NAME: &'static str = "active tuple";
}

impl HandleKind for Given {
    const MARK: u32 = 0x4749_561b;
    const NAME: &'static str = "list of fields";
}

/// Code that computes a tuple, on a thread of its own: it gives the fields by weft_fields_add(),
/// and may use the space.
pub type TupleCode = Option<extern "C" fn(fields: &mut TupleFields, user: User)>;

fn space(space: Option<&Space>) -> Result<&Shared, Failure> {
    given(space, Shared::NAME)?.0.get()
}

const KINDS: [(FieldKind, weft_linda::FieldKind); 7] = [
    (FieldKind::I64, weft_linda::FieldKind::I64),
    (FieldKind::U64, weft_linda::FieldKind::U64),
    (FieldKind::F64, weft_linda::FieldKind::F64),
    (FieldKind::Bool, weft_linda::FieldKind::Bool),
    (FieldKind::Char, weft_linda::FieldKind::Char),
    (FieldKind::Text, weft_linda::FieldKind::Text),
    (FieldKind::Bytes, weft_linda::FieldKind::Bytes),
];

impl FieldKindNumber {
    fn get(self) -> Result<FieldKind, Failure> {
        let found = KINDS.iter().find(|(kind, _)| *kind as u32 == self.0);
        let unknown = || Failure::invalid(format!("there is no kind of fields {}", self.0));
        found.map(|(kind, _)| *kind).ok_or_else(unknown)
    }
}

impl FieldView<'_> {
    fn value(&self) -> Result<weft_linda::Field, Failure> {
        use weft_linda::Field as Value;
        if self.is_formal {
            return Err(Failure::invalid("a tuple has no formals"));
        }
        let no_character = || Failure::invalid(format!("{} is no character", self.u64));
        Ok(match self.kind.get()? {
            FieldKind::I64 => Value::I64(self.i64),
            FieldKind::U64 => Value::U64(self.u64),
            FieldKind::F64 => Value::F64(self.f64),
            FieldKind::Bool => Value::Bool(self.u64 != 0),
            FieldKind::Char => {
                let character = u32::try_from(self.u64).ok().and_then(char::from_u32);
                Value::Char(character.ok_or_else(no_character)?)
            }
            FieldKind::Text => {
                let text = str::from_utf8(self.bytes()?);
                let text = text.map_err(|error| {
                    Failure::invalid(format!("the text of a field is no UTF-8: {error}"))
                });
                Value::Text(text?.into())
            }
            FieldKind::Bytes => Value::Bytes(self.bytes()?.into()),
        })
    }

    fn pattern(&self) -> Result<Pattern, Failure> {
        if !self.is_formal {
            return Ok(Pattern::Actual(self.value()?));
        }
        let kind = self.kind.get()?;
        let found = KINDS.iter().find(|(of_c, _)| *of_c == kind);
        found.map(|(_, kind)| Pattern::Formal(*kind)).ok_or_else(|| Failure::invalid("no kind"))
    }
}

impl Field {
    /// The field in C; it points to bytes of `value`.
    fn new(value: &weft_linda::Field) -> Self {
        use weft_linda::Field as Value;
        let kind = |kind: FieldKind| FieldKindNumber(kind as u32);
        let none = Field {
            kind: kind(FieldKind::Bytes),
            is_formal: false,
            i64: 0,
            u64: 0,
            f64: 0.0,
            bytes: null(),
            length: 0,
        };
        let of_bytes = |of, bytes: &[u8]| (kind(of), bytes.as_ptr().cast(), bytes.len());
        match value {
            Value::I64(i64) => Field { kind: kind(FieldKind::I64), i64: *i64, ..none },
            Value::U64(u64) => Field { kind: kind(FieldKind::U64), u64: *u64, ..none },
            Value::F64(f64) => Field { kind: kind(FieldKind::F64), f64: *f64, ..none },
            Value::Bool(is) => Field { kind: kind(FieldKind::Bool), u64: (*is).into(), ..none },
            Value::Char(is) => Field { kind: kind(FieldKind::Char), u64: (*is).into(), ..none },
            Value::Text(text) => {
                let (kind, bytes, length) = of_bytes(FieldKind::Text, text.as_bytes());
                Field { kind, bytes, length, ..none }
            }
            Value::Bytes(bytes) => {
                let (kind, bytes, length) = of_bytes(FieldKind::Bytes, bytes);
                Field { kind, bytes, length, ..none }
            }
        }
    }
}

fn tuple_of(fields: &Fields<'_>, count: usize) -> Result<Vec<weft_linda::Field>, Failure> {
    fields.views(count)?.map(|field| field.value()).collect()
}

fn template_of(fields: &Fields<'_>, count: usize) -> Result<Vec<Pattern>, Failure> {
    fields.views(count)?.map(|field| field.pattern()).collect()
}

/// A tuple for C.
fn found(owned: Vec<weft_linda::Field>) -> *mut Tuple {
    let fields = owned.iter().map(Field::new).collect();
    Box::into_raw(Box::new(Tuple(Handle::new(Found { _owned: owned, fields }))))
}

/// Function of the space that asks for a tuple.
type Ask<T> = fn(&weft_linda::Space, Vec<Pattern>) -> weft_linda::Result<T>;

/// Gives the tuple that a function of the space waits for, if somebody wants it.
fn wait_for(
    wait: Ask<Vec<weft_linda::Field>>,
    space: Option<&Space>,
    (template, count): (Fields<'_>, usize),
    tuple: Option<&mut MaybeUninit<*mut Tuple>>,
) -> Status {
    call(|| {
        let fields = wait(&self::space(space)?.space, template_of(&template, count)?)?;
        tuple.map(|tuple| tuple.write(found(fields)));
        Ok(())
    })
}

/// Gives the tuple that a function of the space finds, or null.
fn look_for(
    look: Ask<Option<Vec<weft_linda::Field>>>,
    space: Option<&Space>,
    (template, count): (Fields<'_>, usize),
    tuple: Option<&mut MaybeUninit<*mut Tuple>>,
) -> Status {
    call(|| {
        let out = given(tuple, "the pointer for the result")?;
        let fields = look(&self::space(space)?.space, template_of(&template, count)?)?;
        out.write(fields.map_or(null_mut(), found));
        Ok(())
    })
}

/// Creates the space of a name. All ranks do, with the same name, and each has a part of it. The
/// space is the caller's, to be given back to weft_space_destroy(). Blocks until all have;
/// callbacks run meanwhile.
#[unsafe(no_mangle)]
pub extern "C" fn weft_space_create(
    objects: Option<&Objects>,
    name: Text<'_>,
    space: Option<&mut MaybeUninit<*mut Space>>,
) -> Status {
    call(|| {
        let out = given(space, "the pointer for the result")?;
        let (part, name) = (part(objects)?, name.get("the name")?);
        let (own, ranks) = part.place;
        let space = weft_linda::Space::new(&part.objects, name, own, ranks)?;
        let shared = Shared { space, user: Arc::clone(&part.users) };
        out.write(Box::into_raw(Box::new(Space(Handle::new(shared)))));
        Ok(())
    })
}

/// Gives a space back. Its tuples stay as long as the objects. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_space_destroy(space: Option<Box<Space>>) -> Status {
    call(|| free(space, |space| &mut space.0).map(drop))
}

/// Puts a tuple of count fields, at most 255. It is there when this returns, and whoever waited for
/// it goes on. Blocks for a round trip or two; callbacks run meanwhile. Not to be called in a
/// callback, nor are the four below.
#[unsafe(no_mangle)]
pub extern "C" fn weft_space_out(space: Option<&Space>, tuple: Fields<'_>, count: usize) -> Status {
    call(|| Ok(self::space(space)?.space.out(tuple_of(&tuple, count)?)?))
}

/// Takes a tuple that matches a template of count parts out of the space, and gives it if tuple is
/// not null; it is the caller's, to be freed with weft_tuple_free(). A tuple matches if it has as
/// many fields, of the same types, and those equal to all parts that are no formals. Blocks until
/// there is one; callbacks run meanwhile.
#[unsafe(no_mangle)]
pub extern "C" fn weft_space_in(
    space: Option<&Space>,
    template: Fields<'_>,
    count: usize,
    tuple: Option<&mut MaybeUninit<*mut Tuple>>,
) -> Status {
    wait_for(weft_linda::Space::take, space, (template, count), tuple)
}

/// Gives a copy of a tuple that matches, which stays in the space; else as weft_space_in().
#[unsafe(no_mangle)]
pub extern "C" fn weft_space_rd(
    space: Option<&Space>,
    template: Fields<'_>,
    count: usize,
    tuple: Option<&mut MaybeUninit<*mut Tuple>>,
) -> Status {
    wait_for(weft_linda::Space::rd, space, (template, count), tuple)
}

/// Takes a tuple that matches, as weft_space_in() does, or gives null if there is none: then there
/// was a moment, during the call, without one at any rank. Blocks for a round trip or more.
#[unsafe(no_mangle)]
pub extern "C" fn weft_space_inp(
    space: Option<&Space>,
    template: Fields<'_>,
    count: usize,
    tuple: Option<&mut MaybeUninit<*mut Tuple>>,
) -> Status {
    look_for(weft_linda::Space::inp, space, (template, count), tuple)
}

/// Gives a copy of a tuple that matches, which stays in the space; else as weft_space_inp().
#[unsafe(no_mangle)]
pub extern "C" fn weft_space_rdp(
    space: Option<&Space>,
    template: Fields<'_>,
    count: usize,
    tuple: Option<&mut MaybeUninit<*mut Tuple>>,
) -> Status {
    look_for(weft_linda::Space::rdp, space, (template, count), tuple)
}

/// Has code compute a tuple, on a thread of this rank, and puts it when the code returns. The
/// active tuple is the caller's, who ends it by weft_active_wait(). Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_space_eval(
    space: Option<&Space>,
    code: TupleCode,
    user: User,
    active: Option<&mut MaybeUninit<*mut ActiveTuple>>,
) -> Status {
    call(|| {
        let out = given(active, "the pointer for the result")?;
        let (shared, code) = (self::space(space)?, given(code, "the code")?);
        let active = shared.space.eval(move || {
            let mut lent = TupleFields(Handle::lent(Given::default()));
            code(&mut lent, user);
            let Given { fields, is_wrong } = lent.0.take().unwrap_or_default();
            // There is no tuple then, which weft_active_wait() says.
            assert!(!is_wrong, "the code of an active tuple gave fields that are none");
            fields
        })?;
        let computed = Computed { active, _user: Arc::clone(&shared.user) };
        out.write(Box::into_raw(Box::new(ActiveTuple(Handle::new(computed)))));
        Ok(())
    })
}

/// Adds count fields to the tuple that code computes; what they point to is copied. If it fails
/// there will be no tuple. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_fields_add(
    fields: Option<&mut TupleFields>,
    more: Fields<'_>,
    count: usize,
) -> Status {
    call(|| {
        let given = given(fields, Given::NAME)?.0.get_mut()?;
        let more = tuple_of(&more, count);
        given.is_wrong |= more.is_err();
        given.fields.extend(more?);
        Ok(())
    })
}

/// Waits until an active tuple is in the space, and frees it, even when it fails. Blocks; callbacks
/// run on other threads only.
#[unsafe(no_mangle)]
pub extern "C" fn weft_active_wait(active: Option<Box<ActiveTuple>>) -> Status {
    call(|| Ok(free(active, |active| &mut active.0)?.active.wait()?))
}

/// Fields of a tuple that was found; none is formal. They, and what they point to, are valid until
/// it is freed. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_tuple_fields(
    tuple: Option<&Tuple>,
    fields: Option<&mut MaybeUninit<*const Field>>,
    count: Option<&mut MaybeUninit<usize>>,
) -> Status {
    call(|| {
        let found = given(tuple, Found::NAME)?.0.get()?;
        put(fields, found.fields.as_ptr())?;
        put(count, found.fields.len())
    })
}

/// Frees a tuple that was found. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_tuple_free(tuple: Option<Box<Tuple>>) -> Status {
    call(|| free(tuple, |tuple| &mut tuple.0).map(drop))
}
