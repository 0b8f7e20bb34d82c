//! Facts about a program, for those who generate code from its tree.

use std::collections::BTreeMap;

use super::builtin::Builtin;
use super::types::{Shape, TypeId, Types};
use crate::source::Span;
use crate::tree::{Expression, ExpressionId, Mode, RoutineKind};

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub struct $name(pub u32);

        impl $name {
            /// Place in its table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

numbers! {
    /// Number of a variable, parameter or loop variable in [`Facts::variables`].
    VariableId,
    /// Number of a constant in [`Facts::constants`].
    ConstantId,
    /// Number of a function, operation or process in [`Facts::routines`].
    RoutineId,
    /// Number of an object type in [`Facts::objects`].
    ObjectId,
    /// Number of a module in [`Facts::modules`].
    ModuleId,
}

/// Everything that was found out. Tables are in the order of declaration.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The types.
    pub types: Types,
    /// The variables.
    pub variables: Vec<VariableFacts>,
    /// The constants.
    pub constants: Vec<ConstantFacts>,
    /// The functions, operations and processes.
    pub routines: Vec<RoutineFacts>,
    /// The object types.
    pub objects: Vec<ObjectFacts>,
    /// The modules.
    pub modules: Vec<ModuleFacts>,
    /// The process `OrcaMain`, with which a program starts; none in what is no whole program.
    pub main: Option<RoutineId>,
    /// Declared things by the places where their names are declared. The routine that stands
    /// in a specification is that of the implementation.
    pub declared: BTreeMap<Span, Entity>,
    /// Meanings of names, selections from modules, calls and operations.
    pub meanings: BTreeMap<ExpressionId, Entity>,
    /// Types of the expressions, by their numbers.
    pub(super) expressions: Vec<TypeId>,
}

/// The thing for which a name stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entity {
    /// A variable.
    Variable(VariableId),
    /// A constant.
    Constant(ConstantId),
    /// A type.
    Type(TypeId),
    /// A value of an enumeration.
    Value {
        /// The enumeration.
        of: TypeId,
        /// The value's place in it, from 0.
        number: u32,
    },
    /// A function, operation or process.
    Routine(RoutineId),
    /// An object type.
    Object(ObjectId),
    /// A module.
    Module(ModuleId),
    /// A function that every program has.
    Builtin(Builtin),
}

/// Kind of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VariableKind {
    /// Declared in a routine.
    Local,
    /// Declared by a `for`.
    Loop,
    /// A parameter.
    Parameter(Mode),
    /// Part of the state of an object.
    Instance(ObjectId),
}

/// A variable.
#[derive(Clone, PartialEq, Debug)]
pub struct VariableFacts {
    /// Its name.
    pub name: String,
    /// The place of its declaration.
    pub span: Span,
    /// Its kind.
    pub kind: VariableKind,
    /// Its type.
    pub of: TypeId,
    /// Bounds with which it begins.
    pub shape: Shape,
    /// Of an object, or of what holds objects: how often it is read and written.
    pub accesses: Accesses,
}

/// A constant.
#[derive(Clone, PartialEq, Debug)]
pub struct ConstantFacts {
    /// Its name.
    pub name: String,
    /// The place of its declaration.
    pub span: Span,
    /// Its type.
    pub of: TypeId,
    /// Its value; `None` if that was reported as wrong.
    pub value: Option<Value>,
}

/// Value of a constant.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// An integer.
    Integer(i64),
    /// A real.
    Real(f64),
    /// A truth value.
    Boolean(bool),
    /// A character.
    Char(char),
    /// A string.
    Text(String),
    /// A value of an enumeration.
    Enumeration(TypeId, u32),
}

/// The owner of a routine: the thing that declares it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// At the level of a file.
    File,
    /// In a module.
    Module(ModuleId),
    /// In an object type.
    Object(ObjectId),
}

/// A function, operation or process.
#[derive(Clone, PartialEq, Debug)]
pub struct RoutineFacts {
    /// Its name.
    pub name: String,
    /// The place of its name, in the implementation.
    pub span: Span,
    /// Its kind.
    pub kind: RoutineKind,
    /// Its owner.
    pub owner: Owner,
    /// Its parameters, in order.
    pub parameters: Vec<VariableId>,
    /// The type of what it returns; [`Types::NOTHING`] if nothing.
    pub result: TypeId,
    /// True if others may use it: always but for what a specification leaves out.
    pub exported: bool,
    /// Of an operation: its guards in order, or one alternative without a condition.
    pub alternatives: Vec<AlternativeFacts>,
}

/// One alternative of an operation (thesis 7.1.2: the run-time system tries those that read first).
#[derive(Clone, PartialEq, Debug)]
pub struct AlternativeFacts {
    /// The guard's condition; none if the operation has no guards.
    pub condition: Option<Expression>,
    /// Effect of the statements on the object. An effect that cannot be told is a write.
    pub effect: Effect,
}

/// Effect of a part of an operation on its object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Effect {
    /// It leaves the object as it is.
    Read,
    /// It may change the object.
    Write,
}

/// Expected numbers of operations on an object, relative to other objects: ten times as many in
/// a loop as outside, half as often under a condition (thesis 7.1.2). A first guess for its
/// placement; what happens once counts [`Accesses::ONCE`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Accesses {
    /// Operations, or alternatives of them, that read.
    pub reads: u64,
    /// Operations, or alternatives of them, that write.
    pub writes: u64,
}

/// An object type.
#[derive(Clone, PartialEq, Debug)]
pub struct ObjectFacts {
    /// Its name.
    pub name: String,
    /// The place of its name, in the implementation if there is one.
    pub span: Span,
    /// True if it is generic: not part of the program, which its instances are.
    pub generic: bool,
    /// Its type.
    pub of: TypeId,
    /// Its instance variables, in order.
    pub variables: Vec<VariableId>,
    /// Its operations, in order. The place of one is its identifier.
    pub operations: Vec<RoutineId>,
    /// Sum over all variables of the type.
    pub accesses: Accesses,
}

/// A module.
#[derive(Clone, PartialEq, Debug)]
pub struct ModuleFacts {
    /// Its name.
    pub name: String,
    /// The place of its name, in the implementation if there is one.
    pub span: Span,
}

impl Accesses {
    /// The count for what is expected to happen once.
    pub const ONCE: u64 = 16;
}

impl Facts {
    /// The type of an expression.
    pub fn type_of(&self, expression: &Expression) -> TypeId {
        self.expressions.get(expression.id.0 as usize).copied().unwrap_or(Types::UNKNOWN)
    }

    /// The written form of a type.
    pub fn describe(&self, id: TypeId) -> String {
        let names: Vec<String> = self.objects.iter().map(|object| object.name.clone()).collect();
        self.types.describe(id, &names)
    }

    /// A variable.
    pub fn variable(&self, id: VariableId) -> &VariableFacts {
        &self.variables[id.index()]
    }

    /// A function, operation or process.
    pub fn routine(&self, id: RoutineId) -> &RoutineFacts {
        &self.routines[id.index()]
    }

    /// An object type.
    pub fn object(&self, id: ObjectId) -> &ObjectFacts {
        &self.objects[id.index()]
    }
}

impl RoutineFacts {
    /// True if an alternative may change the object.
    pub fn writes(&self) -> bool {
        self.alternatives.iter().any(|alternative| alternative.effect == Effect::Write)
    }

    /// True if an alternative leaves the object as it is.
    pub fn reads(&self) -> bool {
        self.alternatives.iter().any(|alternative| alternative.effect == Effect::Read)
    }

    /// True if the operation may have to wait.
    pub fn waits(&self) -> bool {
        self.alternatives.iter().any(|alternative| alternative.condition.is_some())
    }
}
