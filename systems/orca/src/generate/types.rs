//! Types, each after those that it has parts of, and their functions.

use super::Generator;
use super::names::quoted;
use crate::check::{FieldType, Type, TypeId, VariantType};

/// Types that are being written.
struct TypeWriter<'g, 'p> {
    generator: &'g Generator<'p>,
    /// True for those that are written, or about to be.
    made: Vec<bool>,
    text: String,
}

impl TypeWriter<'_, '_> {
    /// Writes a type, after those that it has parts of.
    fn write(&mut self, id: TypeId) {
        if std::mem::replace(&mut self.made[id.0 as usize], true) {
            return;
        }
        let facts = self.generator.facts;
        let parts = match facts.types.get(id) {
            Type::Object(object) => {
                let variables = facts.object(*object).variables.iter();
                variables.map(|variable| facts.variable(*variable).of).collect()
            }
            _ => facts.types.parts(id),
        };
        for part in parts {
            self.write(part);
        }
        self.text += &self.one(id);
    }

    fn one(&self, id: TypeId) -> String {
        let name = self.generator.type_name(id);
        match self.generator.facts.types.get(id) {
            Type::Array { indices, of } => self.array(&name, indices.len(), *of),
            Type::Set(of) => {
                format!("ORCA_SET({name}, {}, false)\n", self.generator.type_name(*of))
            }
            Type::Bag(of) => format!("ORCA_SET({name}, {}, true)\n", self.generator.type_name(*of)),
            Type::Record { fields, .. } => self.record(&name, fields),
            Type::Union { of, variants, .. } => self.union(&name, *of, variants),
            Type::Graph { fields, nodes, .. } => {
                let whole = self.record(&format!("{name}_fields"), fields);
                let node = self.record(&format!("{name}_nodes"), nodes);
                format!("{whole}{node}ORCA_GRAPH({name}, {name}_fields, {name}_nodes)\n")
            }
            Type::Object(object) if self.generator.facts.object(*object).generic => String::new(),
            Type::Object(object) => self.generator.object_type(*object),
            Type::Enumeration { values, .. } => {
                let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
                let values = values.join(", ");
                format!("static const char *const names{}[] = {{{values}}};\n", id.0)
            }
            _ => String::new(),
        }
    }

    fn array(&self, name: &str, dimensions: usize, of: TypeId) -> String {
        let element = self.generator.type_name(of);
        let numbers: Vec<usize> = (0..dimensions).collect();
        let parameters: String = numbers.iter().map(|d| format!("int64_t i{d}, ")).collect();
        let index = |d: &usize| format!("orca_index(i{d}, x->lower[{d}], x->count[{d}], where)");
        let place = numbers.iter().skip(1).fold(index(&0), |place, d| {
            format!("({place}) * (size_t)x->count[{d}] + {}", index(d))
        });
        format!(
            "ORCA_ARRAY({name}, {element}, {dimensions})\n\
             static inline {element} *{name}_at(const {name} *x, {parameters}const char *where) {{\n\
             \x20   return x->at + {place};\n}}\n"
        )
    }

    fn record(&self, name: &str, fields: &[FieldType]) -> String {
        let members: Vec<(String, TypeId)> =
            fields.iter().map(|field| (format!("f_{}", field.name), field.of)).collect();
        let flat = fields.iter().all(|field| self.generator.is_flat(field.of));
        self.generator.structure(name, &members, flat)
    }

    /// A union: its tag, and all fields beside one another. Those that the tag does not name are
    /// zero, so that copies and comparisons need not ask.
    fn union(&self, name: &str, tag: TypeId, variants: &[VariantType]) -> String {
        let mut members = vec![("tag".to_owned(), tag)];
        members.extend(variants.iter().map(|one| (format!("f_{}", one.name), one.of)));
        let flat = members.iter().all(|(_, of)| self.generator.is_flat(*of));
        let mut text = self.generator.structure(name, &members, flat);
        let tag = self.generator.type_name(tag);
        text += &format!(
            "static inline void {name}_retag({name} *x, {tag} tag) {{\n    if (x->tag == tag)\n\
             \x20       return;\n    {name}_free(x);\n    memset(x, 0, sizeof *x);\n    x->tag = tag;\n}}\n"
        );
        for variant in variants {
            let of = self.generator.type_name(variant.of);
            let (field, choice) = (&variant.name, variant.choice);
            let message =
                quoted(&format!("the field `{field}` is not there: the tag has another value"));
            text += &format!(
                "static inline {of} *{name}_{field}(const {name} *x, const char *where) {{\n\
                 \x20   if ((int64_t)x->tag != {choice})\n\
                 \x20       orca_fail(where, {message});\n\
                 \x20   return ({of} *)&x->f_{field};\n}}\n"
            );
        }
        text
    }
}

impl Generator<'_> {
    /// All types of the program.
    pub fn types(&self) -> String {
        let made = vec![false; self.facts.types.count() as usize];
        let mut writer = TypeWriter { generator: self, made, text: String::new() };
        (0..self.facts.types.count()).map(TypeId).for_each(|id| writer.write(id));
        writer.text
    }

    /// A structure with these members, and its functions.
    pub fn structure(&self, name: &str, members: &[(String, TypeId)], flat: bool) -> String {
        let all = |line: &dyn Fn(&str, &str) -> String| -> String {
            members.iter().map(|(member, of)| line(member, &self.type_name(*of))).collect()
        };
        let declared = all(&|member, of| format!("    {of} {member};\n"));
        let declared = if members.is_empty() { "    char none;\n" } else { &declared };
        let compared = all(&|member, of| {
            format!(
                "    if ((order = {of}_compare(&x->{member}, &y->{member})) != 0)\n        return order;\n"
            )
        });
        let compare = format!(
            "static int {name}_compare(const {name} *x, const {name} *y) {{\n    int order = 0;\n\
             \x20   (void)x, (void)y;\n{compared}    return order;\n}}\n"
        );
        let structure = format!("typedef struct {{\n{declared}}} {name};\n");
        if flat {
            return format!("{structure}ORCA_PLAIN({name})\n{compare}");
        }
        let freed = all(&|member, of| format!("    {of}_free(&x->{member});\n"));
        let copied = all(&|member, of| format!("    x.{member} = {of}_copy(&from->{member});\n"));
        let put = all(&|member, of| format!("    {of}_put(writer, &x->{member});\n"));
        let got = all(&|member, of| format!(" &&\n        {of}_get(reader, &x->{member})"));
        let assigned = members.iter().map(|(member, of)| {
            let name = self.type_name(*of);
            match self.is_flat(*of) {
                true => format!("    to->{member} = from->{member};\n"),
                false => format!("    {name}_assign(&to->{member}, &from->{member});\n"),
            }
        });
        let assigned: String = assigned.collect();
        format!(
            "{structure}enum {{ {name}_flat = 0 }};\n\
             static void {name}_free({name} *x) {{\n{freed}}}\n\
             static {name} {name}_copy(const {name} *from) {{\n    {name} x;\n{copied}    return x;\n}}\n\
             static inline void {name}_assign({name} *to, const {name} *from) {{\n{assigned}}}\n\
             ORCA_MOVE({name})\n\
             static void {name}_put(orca_writer *writer, const {name} *x) {{\n{put}}}\n\
             static bool {name}_get(orca_reader *reader, {name} *x) {{\n    memset(x, 0, sizeof *x);\n\
             \x20   return true{got};\n}}\n{compare}"
        )
    }
}
