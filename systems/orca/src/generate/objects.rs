//! Object types: their states, and what Weft is told of them.

use super::Generator;
use super::code::Role;
use super::names::{object_name, quoted};
use super::statements::Statements;
use crate::check::{ObjectId, Owner, RoutineId, TypeId, Types, VariableId};

impl Generator<'_> {
    /// The C type of an object, and of its state.
    pub fn object_type(&self, id: ObjectId) -> String {
        let variables = &self.facts.object(id).variables;
        let members: Vec<(String, TypeId)> = variables
            .iter()
            .map(|variable| (self.variable_name(*variable), self.facts.variable(*variable).of))
            .collect();
        let flat = members.iter().all(|(_, of)| self.is_flat(*of));
        let (name, kind) = (object_name(id), quoted(&self.kind_name(id)));
        let state = self.structure(&format!("{name}_state"), &members, flat);
        format!("{state}ORCA_OBJECT({name}, {kind})\n")
    }

    /// Name by which ranks agree on an object type.
    fn kind_name(&self, id: ObjectId) -> String {
        let name = &self.facts.object(id).name;
        let same = self.facts.objects.iter().filter(|object| object.name == *name);
        if same.count() > 1 { format!("{name}.{}", id.0) } else { name.clone() }
    }

    /// The object type that has an operation.
    pub fn owner(&self, id: RoutineId) -> Option<ObjectId> {
        match self.facts.routine(id).owner {
            Owner::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Placement of an object, as C has it: copies everywhere if it is expected to be read as often
    /// as it is written, else one copy that statistics move; and one that stays, if its operations
    /// do not do the same at every copy (thesis 7.1.2).
    pub fn placement(&self, id: ObjectId, variable: VariableId) -> &'static str {
        let accesses = self.facts.variable(variable).accesses;
        let operations = &self.facts.object(id).operations;
        let mut seen = Vec::new();
        if operations.iter().any(|operation| self.is_impure(*operation, &mut seen)) {
            "orca_rank"
        } else if accesses.reads >= accesses.writes {
            "WEFT_REPLICATED"
        } else {
            "WEFT_AUTOMATIC"
        }
    }

    /// Object types of the program: all but those that are generic.
    fn objects(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let ids = (0..self.facts.objects.len()).map(|number| ObjectId(number as u32));
        ids.filter(|id| !self.facts.object(*id).generic)
    }

    /// Initialisations and operations of all object types.
    pub fn object_bodies(&self) -> String {
        let mut text = String::new();
        for id in self.objects() {
            text += &self.beginning(id);
            let operations = self.facts.object(id).operations.iter().enumerate();
            for (number, operation) in operations {
                text += &self.operation(id, number, *operation);
            }
            text += &self.operation_table(id);
        }
        text
    }

    /// The function that initialises an object.
    fn beginning(&self, id: ObjectId) -> String {
        let name = object_name(id);
        let mut statements = Statements::new(self, Role::Initialisation);
        for variable in &self.facts.object(id).variables {
            let facts = self.facts.variable(*variable);
            let place = format!("self->{}", self.variable_name(*variable));
            statements.code.begin(&place, facts.of, &facts.shape, facts.span, *variable);
        }
        if let Some(block) = self.initialisations.get(&id) {
            statements.block(block);
        }
        format!(
            "\nstatic void {name}_begin({name} *object, const char *name, uint32_t home) {{\n\
             \x20   {name}_state *self = &object->state;\n    (void)self;\n\
             \x20   object->name = name;\n    object->home = home;\n{}}}\n",
            statements.body(Types::NOTHING)
        )
    }

    fn operation_table(&self, id: ObjectId) -> String {
        let name = object_name(id);
        let operations: String = self
            .facts
            .object(id)
            .operations
            .iter()
            .map(|operation| {
                let facts = self.facts.routine(*operation);
                let routine = self.routine_name(*operation);
                let code = |there: bool, word: &str| match there {
                    true => format!("{routine}_{word}_code"),
                    false => "NULL".to_owned(),
                };
                let (read, write) = (code(facts.reads(), "read"), code(facts.writes(), "write"));
                format!("    {{{}, {read}, {write}}},\n", quoted(&facts.name))
            })
            .collect();
        if operations.is_empty() {
            return format!("\n#define {name}_operations NULL\n#define {name}_count 0\n");
        }
        format!(
            "\nstatic const weft_object_operation {name}_operations[] = {{\n{operations}}};\n\
             enum {{ {name}_count = sizeof {name}_operations / sizeof *{name}_operations }};\n"
        )
    }

    /// Tables of object types, for Weft.
    pub fn object_table(&self) -> String {
        if self.objects().next().is_none() {
            return "#define types NULL\n#define TYPES 0\n".to_owned();
        }
        let types: String = self
            .objects()
            .map(|id| {
                let (name, kind) = (object_name(id), quoted(&self.kind_name(id)));
                format!(
                    "    {{{kind}, {name}_operations, {name}_count, {name}_restore, {name}_capture, \
                     {name}_destroy}},\n"
                )
            })
            .collect();
        format!(
            "\nstatic const weft_object_type types[] = {{\n{types}}};\n\
             enum {{ TYPES = sizeof types / sizeof *types }};\n"
        )
    }
}
