//! Declarations.

use super::Printer;
use super::expressions::{Document, expression, names, parameters, text, types, written};
use crate::tree::{
    Declaration, DeclarationKind, Field, Half, Routine, TypeKind, TypeSyntax, Unit, Variant,
};

impl Printer<'_> {
    /// Declarations, one after another.
    pub fn declarations(&mut self, declarations: &[Declaration]) {
        for declaration in declarations {
            self.declaration(declaration);
        }
    }

    fn declaration(&mut self, declaration: &Declaration) {
        self.begin(declaration.span.start);
        let end = declaration.span.end;
        match &declaration.kind {
            DeclarationKind::Import { module, names: imported } => {
                let line = match imported.is_empty() {
                    true => format!("import {};", module.text),
                    false => format!("from {} import {};", module.text, names(imported)),
                };
                self.line(&line, end);
            }
            DeclarationKind::Constant { name, value } => {
                let line = text(format!("const {} = ", name.text)).append(expression(value));
                let line = self.laid_out(line.append(";"));
                self.line(&line, end);
            }
            DeclarationKind::Type { name, definition } => {
                self.definition(text(format!("type {} = ", name.text)), definition, end);
            }
            DeclarationKind::Variable(variable) => self.variable(variable, end),
            DeclarationKind::Routine(routine) => self.routine(routine, end),
            DeclarationKind::Object(unit) => self.unit("object", unit, end),
            DeclarationKind::Module(unit) => self.unit("module", unit, end),
            DeclarationKind::Instance(instance) => {
                let word = if instance.is_object { "object" } else { "module" };
                let (name, of) = (&instance.name.text, &instance.of.text);
                let line = text(format!("{word} {name} = new {of}"));
                let line = self.laid_out(line.append(types(&instance.arguments)).append(";"));
                self.line(&line, end);
            }
            DeclarationKind::Malformed => {
                let source = self.text[declaration.span.range()].trim_end().to_owned();
                self.line(&source, end);
            }
        }
    }

    fn routine(&mut self, routine: &Routine, end: u32) {
        let heading = text(format!("{} {}", routine.kind.word(), routine.name.text));
        let heading = heading.append(parameters(&routine.parameters));
        let heading = match &routine.result {
            Some(result) => heading.append(": ").append(written(result)),
            None => heading,
        };
        let heading = self.laid_out(heading.append(";"));
        self.line(&heading, routine.heading.end);
        let Some(body) = &routine.body else { return };
        let begin = self.before_begin(body.block.span.start);
        self.inside(begin, |printer| printer.declarations(&body.declarations));
        self.heading(text("begin"), &body.block);
        self.line("end;", end);
    }

    /// The offset of the word `begin` that ends at a place.
    fn before_begin(&self, end: u32) -> u32 {
        end.saturating_sub("begin".len() as u32)
    }

    fn unit(&mut self, word: &str, unit: &Unit, end: u32) {
        let half = match unit.half {
            Half::Specification => "specification",
            Half::Implementation => "implementation",
        };
        if let Some(generic) = &unit.generic {
            let line = match generic.parameters.is_empty() {
                true => "generic".to_owned(),
                false => format!("generic (type {})", names(&generic.parameters)),
            };
            self.line(&line, generic.span.end);
        }
        self.line(&format!("{word} {half} {};", unit.name.text), unit.heading.end);
        self.inside(unit.inside.end, |printer| {
            printer.declarations(&unit.declarations);
            if let Some(block) = &unit.initialisation {
                printer.begin(printer.before_begin(block.span.start));
                printer.heading(text("begin"), block);
                let end = printer.initialisation_end(block.span.end, unit.inside.end);
                printer.line("end;", end);
            }
        });
        self.line(if unit.generic.is_some() { "end generic;" } else { "end;" }, end);
    }

    /// The end of the `end;` of an initialisation.
    fn initialisation_end(&self, start: u32, limit: u32) -> u32 {
        let rest = self.text.get(start as usize..limit as usize).unwrap_or("");
        let semicolon = rest.find(';').map_or(0, |place| place + 1);
        start + semicolon as u32
    }

    /// A declared name and its type: records, unions and graphs have a line for each field.
    pub fn definition<'d>(&mut self, declared: Document<'d>, syntax: &'d TypeSyntax, end: u32) {
        let mut outer = declared;
        let mut syntax = syntax;
        // `array[integer] of record ... end` has its fields on lines of their own, too.
        while let Some((before, of)) = wrapped(syntax) {
            outer = outer.append(before);
            syntax = of;
        }
        let first = match &syntax.kind {
            TypeKind::Record(fields) => fields.first().map(|field| field.span.start),
            TypeKind::Union { variants, .. } => variants.first().map(|one| one.span.start),
            TypeKind::Graph { fields, nodes } => {
                let first = fields.first().or(nodes.first());
                first.map(|field| field.span.start)
            }
            _ => {
                let line = self.laid_out(outer.append(written(syntax)).append(";"));
                return self.line(&line, end);
            }
        };
        let heading = self.laid_out(outer.append(written(syntax)));
        let word = self.heading_end(syntax, first.unwrap_or(syntax.span.end));
        self.line(&heading, word);
        let inside = syntax.span.end.saturating_sub("end".len() as u32);
        self.inside(inside, |printer| printer.type_fields(syntax));
        self.line("end;", end);
    }

    /// The end of the words before the first field.
    fn heading_end(&self, syntax: &TypeSyntax, first: u32) -> u32 {
        let start = match &syntax.kind {
            TypeKind::Union { of, .. } => of.span.end,
            _ => syntax.span.start,
        };
        let before = self.text.get(start as usize..first as usize).unwrap_or("");
        let code = before.lines().next().unwrap_or("");
        let code = code.split('#').next().unwrap_or("").trim_end();
        let code = code.strip_suffix("end").map_or(code, str::trim_end);
        start + code.len() as u32
    }

    fn type_fields(&mut self, syntax: &TypeSyntax) {
        match &syntax.kind {
            TypeKind::Record(fields) => self.fields(fields),
            TypeKind::Union { variants, .. } => {
                for variant in variants {
                    self.variant(variant);
                }
            }
            TypeKind::Graph { fields, nodes } => {
                self.fields(fields);
                let first = nodes.first().map_or(syntax.span.end - 3, |node| node.span.start);
                let last = fields.last().map_or(syntax.span.start, |field| field.span.end);
                let word = self.nodes_word(last, first);
                self.comments_before(word);
                self.level -= 1;
                self.line("nodes", word + "nodes".len() as u32);
                self.level += 1;
                self.fresh = true;
                self.fields(nodes);
            }
            _ => {}
        }
    }

    /// The offset of the word `nodes` between the fields of a graph and those of its nodes.
    fn nodes_word(&self, start: u32, end: u32) -> u32 {
        let mut offset = start;
        let between = self.text.get(start as usize..end as usize).unwrap_or("");
        for line in between.split_inclusive('\n') {
            let code = line.split('#').next().unwrap_or("");
            if let Some(place) = code.find("nodes").or_else(|| code.find("NODES")) {
                return offset + place as u32;
            }
            offset += line.len() as u32;
        }
        start
    }

    fn fields(&mut self, fields: &[Field]) {
        for field in fields {
            self.begin(field.span.start);
            let line = text(format!("{}: ", names(&field.names)));
            self.definition(line, &field.of, field.span.end);
        }
    }

    fn variant(&mut self, variant: &Variant) {
        self.begin(variant.span.start);
        let line = expression(&variant.choice).append(" => ");
        let line = line.append(text(format!("{}: ", variant.name.text)));
        self.definition(line, &variant.of, variant.span.end);
    }
}

/// The words before the type of the elements, and this type.
fn wrapped(syntax: &TypeSyntax) -> Option<(Document<'_>, &TypeSyntax)> {
    let of = match &syntax.kind {
        TypeKind::Array { of, .. } | TypeKind::Set(of) | TypeKind::Bag(of) => of,
        TypeKind::NodeName(of) => of,
        _ => return None,
    };
    Some((super::expressions::before_element(syntax), of))
}
