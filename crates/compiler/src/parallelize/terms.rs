//! Numbers, conditions and loops of isl as C.

use mlir_bridge::isl::{Code, Kind, Term};

/// What the text has for operations that C has no sign for.
pub const HELPERS: &str = "\
static inline __host__ __device__ long least(long a, long b) { return a < b ? a : b; }
static inline __host__ __device__ long most(long a, long b) { return a > b ? a : b; }
static inline __host__ __device__ long quotient_below(long a, long b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }
";

/// A number or a condition.
pub fn term(term: &Term) -> String {
    match term {
        Term::Name(name) => name.clone(),
        Term::Number(number) if *number < 0 => format!("({number}L)"),
        Term::Number(number) => format!("{number}L"),
        Term::Of(kind, arguments) => operation(*kind, &arguments.iter().map(self::term).collect::<Vec<_>>()),
    }
}

fn operation(kind: Kind, arguments: &[String]) -> String {
    let joined = |sign: &str| format!("({})", arguments.join(&format!(" {sign} ")));
    let folded = |name: &str| {
        let mut arguments = arguments.iter().cloned();
        let first = arguments.next().unwrap_or_default();
        arguments.fold(first, |made, argument| format!("{name}({made}, {argument})"))
    };
    match kind {
        Kind::And => joined("&&"),
        Kind::Or => joined("||"),
        Kind::Max => folded("most"),
        Kind::Min => folded("least"),
        Kind::Minus => format!("(-{})", arguments.join("")),
        Kind::Add => joined("+"),
        Kind::Sub => joined("-"),
        Kind::Mul => joined("*"),
        // Divisions without a rest, and those of numbers that are not negative.
        Kind::Div | Kind::Quotient => joined("/"),
        Kind::Remainder | Kind::ZeroRemainder => joined("%"),
        Kind::Floor => folded("quotient_below"),
        Kind::Select => match arguments {
            [condition, then, otherwise] => format!("({condition} ? {then} : {otherwise})"),
            _ => joined("?"),
        },
        Kind::Eq => joined("=="),
        Kind::Le => joined("<="),
        Kind::Lt => joined("<"),
        Kind::Ge => joined(">="),
        Kind::Gt => joined(">"),
    }
}

/// Lines of text, indented.
#[derive(Default)]
pub struct Lines {
    /// The text.
    pub text: String,
    /// How deep.
    pub depth: usize,
}

impl Lines {
    /// Adds a line.
    pub fn line(&mut self, line: &str) {
        self.text += &"  ".repeat(self.depth);
        self.text += line;
        self.text.push('\n');
    }

    /// Opens a block.
    pub fn open(&mut self, line: &str) {
        self.line(format!("{line} {{").trim_start());
        self.depth += 1;
    }

    /// Closes it.
    pub fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }
}

/// Loops with what `statement` writes for instances.
///
/// # Errors
/// Those of `statement`.
pub fn code<E>(
    lines: &mut Lines,
    what: &Code,
    statement: &mut impl FnMut(&mut Lines, &str, &[Term]) -> Result<(), E>,
) -> Result<(), E> {
    match what {
        Code::For { iterator, first, body, once: true, .. } => {
            lines.open("");
            lines.line(&format!("const long {iterator} = {};", term(first)));
            code(lines, body, statement)?;
            lines.close();
        }
        Code::For { iterator, first, condition, step, body, .. } => {
            let (first, condition, step) = (term(first), term(condition), term(step));
            lines.open(&format!("for (long {iterator} = {first}; {condition}; {iterator} += {step})"));
            code(lines, body, statement)?;
            lines.close();
        }
        Code::If { condition, then, otherwise } => {
            lines.open(&format!("if ({})", term(condition)));
            code(lines, then, statement)?;
            lines.close();
            if let Some(otherwise) = otherwise {
                lines.open("else");
                code(lines, otherwise, statement)?;
                lines.close();
            }
        }
        Code::Block(parts) => parts.iter().try_for_each(|part| code(lines, part, statement))?,
        Code::Statement(name, arguments) => statement(lines, name, arguments)?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_c() {
        let (n, two) = (Term::Name("n".into()), Term::Number(-2));
        let text = |kind, arguments: &[&Term]| term(&Term::Of(kind, arguments.iter().copied().cloned().collect()));
        assert_eq!(text(Kind::Add, &[&n, &two]), "(n + (-2L))");
        assert_eq!(text(Kind::Max, &[&n, &two, &n]), "most(most(n, (-2L)), n)");
        assert_eq!(text(Kind::Floor, &[&n, &Term::Number(3)]), "quotient_below(n, 3L)");
        assert_eq!(text(Kind::Select, &[&n, &two, &n]), "(n ? (-2L) : n)");
    }
}
