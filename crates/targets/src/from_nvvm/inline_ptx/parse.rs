//! Reads the text of an inline PTX statement, with LLVM's `$N` for operands.
//!
//! ```text
//! {.reg .pred p; setp.lt.s32 p, $1, 0; @p mov.b32 $0, {$2, lo}; ld.v2.u32 {a, b}, [$3+8];}
//! ```
//! Scopes are resolved here: a register declared in an inner pair of braces gets a name of its own. So are operands that are
//! constants: they may stand wherever PTX wants an immediate, in the offset of an address too.

use std::collections::{BTreeMap, HashMap};

/// An operand of an instruction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand {
    /// The N-th operand of the asm statement.
    Outer(usize),
    /// A register declared inside.
    Register(String),
    /// `%tid.x` and the like, without the percent sign; also `WARP_SZ`.
    Special(String),
    /// An integer constant.
    Integer(u64),
    /// A floating-point constant: its bits, and how many they are (32 or 64).
    Float(u64, u32),
    /// `{a, b}`
    Vector(Vec<Operand>),
    /// `[a+8]`
    Address(Box<Operand>, i64),
    /// `[object, {x, y}]`: a place of a texture or surface.
    Indexed(Box<Operand>, Vec<Operand>),
    /// `p|q`: two results.
    Both(Box<Operand>, Box<Operand>),
    /// `!p`
    Not(Box<Operand>),
    /// `_`: a result nobody wants.
    Sink,
    /// A name that is no register: a label or a symbol.
    Name(String),
}

impl Operand {
    /// The elements of a vector, or the operand itself.
    pub fn parts(&self) -> &[Operand] {
        match self {
            Self::Vector(elements) => elements,
            single => std::slice::from_ref(single),
        }
    }
}

/// One instruction: `@guard opcode.modifiers operands;`
#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    /// The predicate, and whether it is negated.
    pub guard: Option<(Operand, bool)>,
    /// The mnemonic, split at its dots.
    pub opcode: Vec<String>,
    /// What follows it.
    pub operands: Vec<Operand>,
}

impl Instruction {
    /// The mnemonic as written.
    pub fn mnemonic(&self) -> String {
        self.opcode.join(".")
    }
}

/// A statement.
#[derive(Clone, Debug)]
pub(crate) enum Statement {
    /// `name:`
    Label(String),
    /// An instruction.
    Instruction(Instruction),
}

/// A whole asm statement.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// Width in bits of each declared register; predicates have 1.
    pub registers: Vec<(String, u32)>,
    /// The code.
    pub statements: Vec<Statement>,
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Outer(usize),
    Symbol(char),
}

/// The operands of a statement that are integer constants in its text ("n" and "i"), by their number.
pub(crate) type Immediates = BTreeMap<usize, i64>;

/// Parses `text`; the error says what was not understood.
pub(crate) fn parse(text: &str, immediates: &Immediates) -> Result<Program, String> {
    let tokens = lex(text)?;
    Parser { tokens, at: 0, immediates, scopes: vec![HashMap::new()], program: Program::default() }.run()
}

fn lex(text: &str) -> Result<Vec<Token>, String> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let c = chars[i];
        let next = chars.get(i + 1).copied();
        if c.is_whitespace() {
            i += 1;
        } else if c == '/' && next == Some('/') {
            while i < chars.len() && chars[i] != '\n' {
                i += 1;
            }
        } else if c == '/' && next == Some('*') {
            i += 2;
            while i < chars.len() && !(chars[i] == '*' && chars.get(i + 1) == Some(&'/')) {
                i += 1;
            }
            i += 2;
        } else if c == '$' && next.is_some_and(|n| n.is_ascii_digit() || n == '{') {
            let braced = next == Some('{');
            i += 1 + usize::from(braced);
            let start = i;
            while i < chars.len() && chars[i].is_ascii_digit() {
                i += 1;
            }
            let number: String = chars[start..i].iter().collect();
            tokens.push(Token::Outer(number.parse().map_err(|_| "malformed operand number".to_string())?));
            while braced && i < chars.len() && chars[i - 1] != '}' {
                i += 1;
            }
        } else if is_word(c) || (c == ':' && next == Some(':')) {
            let mut word = String::new();
            while i < chars.len() {
                if chars[i] == '$' && chars.get(i + 1) == Some(&'$') {
                    word.push('$');
                    i += 2;
                } else if is_word(chars[i]) && chars[i] != '$' {
                    word.push(chars[i]);
                    i += 1;
                } else if chars[i] == ':' && chars.get(i + 1) == Some(&':') {
                    word.push_str("::");
                    i += 2;
                } else {
                    break;
                }
            }
            if word.is_empty() {
                return Err("a stray '$' in inline assembly".into());
            }
            tokens.push(Token::Word(word));
        } else {
            tokens.push(Token::Symbol(c));
            i += 1;
        }
    }
    Ok(tokens)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '%' | '$')
}

struct Parser<'i> {
    tokens: Vec<Token>,
    at: usize,
    immediates: &'i Immediates,
    scopes: Vec<HashMap<String, String>>,
    program: Program,
}

impl Parser<'_> {
    fn run(mut self) -> Result<Program, String> {
        while let Some(token) = self.peek().cloned() {
            match token {
                Token::Symbol(';') => self.at += 1,
                Token::Symbol('{') => {
                    self.at += 1;
                    self.scopes.push(HashMap::new());
                }
                Token::Symbol('}') => {
                    self.at += 1;
                    if self.scopes.len() == 1 {
                        return Err("an unmatched '}' in inline assembly".into());
                    }
                    self.scopes.pop();
                }
                Token::Word(word) if word == ".reg" || word.starts_with(".reg.") => self.declaration()?,
                Token::Word(word) if word == ".pragma" || word == ".loc" => self.skip_statement(),
                Token::Word(word) if word.starts_with('.') => return Err(format!("directive '{word}'")),
                Token::Word(word) if self.tokens.get(self.at + 1) == Some(&Token::Symbol(':')) => {
                    self.at += 2;
                    self.program.statements.push(Statement::Label(word));
                }
                _ => self.instruction()?,
            }
        }
        Ok(self.program)
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Result<Token, String> {
        let token = self.peek().cloned().ok_or("inline assembly ends early")?;
        self.at += 1;
        Ok(token)
    }

    fn accept(&mut self, symbol: char) -> bool {
        let found = self.peek() == Some(&Token::Symbol(symbol));
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: char) -> Result<(), String> {
        if self.accept(symbol) { Ok(()) } else { Err(format!("expected '{symbol}', got {:?}", self.peek())) }
    }

    fn skip_statement(&mut self) {
        while self.peek().is_some() && !self.accept(';') {
            self.at += 1;
        }
    }

    /// `.reg .b32 a, b;` or `.reg.pred p;` or `.reg .b32 r<4>;`
    fn declaration(&mut self) -> Result<(), String> {
        let Token::Word(first) = self.next()? else { return Err("malformed .reg".into()) };
        let mut kind = first.trim_start_matches(".reg").trim_start_matches('.').to_string();
        if kind.is_empty() {
            let Token::Word(word) = self.next()? else { return Err("malformed .reg".into()) };
            kind = word.trim_start_matches('.').to_string();
        }
        let width = width_of(&kind).ok_or_else(|| format!("register type '.{kind}'"))?;
        loop {
            let Token::Word(name) = self.next()? else { return Err("malformed .reg".into()) };
            if self.accept('<') {
                let Token::Word(count) = self.next()? else { return Err("malformed .reg".into()) };
                self.expect('>')?;
                let count: u32 = count.parse().map_err(|_| "malformed .reg".to_string())?;
                (0..count).for_each(|i| self.declare(&format!("{name}{i}"), width));
            } else {
                self.declare(&name, width);
            }
            if !self.accept(',') {
                break;
            }
        }
        self.expect(';')
    }

    fn declare(&mut self, name: &str, width: u32) {
        let unique = format!("{name}.{}", self.program.registers.len());
        self.program.registers.push((unique.clone(), width));
        let scope = self.scopes.last_mut().expect("the outermost scope stays");
        scope.insert(name.to_string(), unique);
    }

    fn instruction(&mut self) -> Result<(), String> {
        let guard = if self.accept('@') {
            let negated = self.accept('!');
            Some((self.simple_operand()?, negated))
        } else {
            None
        };
        let opcode = match self.next()? {
            Token::Word(word) => word.split('.').map(str::to_string).collect(),
            other => return Err(format!("expected an instruction, got {other:?}")),
        };
        let mut operands = Vec::new();
        while self.peek().is_some() && !self.accept(';') {
            // A missing semicolon before the closing brace is accepted by ptxas for some statements only.
            if self.peek() == Some(&Token::Symbol('}')) {
                return Err("missing ';' in inline assembly".into());
            }
            operands.push(self.operand()?);
            if !self.accept(',') && self.peek().is_some() && self.peek() != Some(&Token::Symbol(';')) {
                return Err(format!("expected ',' or ';', got {:?}", self.peek()));
            }
        }
        self.program.statements.push(Statement::Instruction(Instruction { guard, opcode, operands }));
        Ok(())
    }

    fn operand(&mut self) -> Result<Operand, String> {
        let first = self.simple_operand()?;
        if self.accept('|') {
            let second = self.simple_operand()?;
            return Ok(Operand::Both(Box::new(first), Box::new(second)));
        }
        Ok(first)
    }

    fn simple_operand(&mut self) -> Result<Operand, String> {
        match self.next()? {
            Token::Outer(number) => Ok(match self.immediates.get(&number) {
                Some(value) => Operand::Integer(*value as u64),
                None => Operand::Outer(number),
            }),
            Token::Word(word) => Ok(self.word(&word)),
            Token::Symbol('!') => Ok(Operand::Not(Box::new(self.simple_operand()?))),
            Token::Symbol('-') => match self.simple_operand()? {
                Operand::Integer(value) => Ok(Operand::Integer(value.wrapping_neg())),
                Operand::Float(bits, width) => Ok(Operand::Float(bits ^ (1 << (width - 1)), width)),
                other => Err(format!("cannot negate {other:?}")),
            },
            Token::Symbol('{') => self.vector(),
            Token::Symbol('[') => self.address(),
            Token::Symbol(other) => Err(format!("unexpected '{other}'")),
        }
    }

    fn vector(&mut self) -> Result<Operand, String> {
        let mut elements = Vec::new();
        loop {
            elements.push(self.simple_operand()?);
            if self.accept('}') {
                return Ok(Operand::Vector(elements));
            }
            self.expect(',')?;
        }
    }

    fn address(&mut self) -> Result<Operand, String> {
        let base = self.simple_operand()?;
        if self.accept(',') {
            let places = self.simple_operand()?.parts().to_vec();
            self.expect(']')?;
            return Ok(Operand::Indexed(Box::new(base), places));
        }
        let mut offset = 0i64;
        while !self.accept(']') {
            let negative = self.accept('-');
            if !negative {
                self.expect('+')?;
            }
            match self.simple_operand()? {
                Operand::Integer(value) if negative => offset -= value as i64,
                Operand::Integer(value) => offset += value as i64,
                other => return Err(format!("address offset {other:?}")),
            }
        }
        Ok(Operand::Address(Box::new(base), offset))
    }

    fn word(&self, word: &str) -> Operand {
        if word == "_" {
            return Operand::Sink;
        }
        if let Some(unique) = self.scopes.iter().rev().find_map(|scope| scope.get(word)) {
            return Operand::Register(unique.clone());
        }
        if word == "WARP_SZ" {
            return Operand::Integer(32);
        }
        if let Some(special) = word.strip_prefix('%') {
            return Operand::Special(special.to_string());
        }
        number(word).unwrap_or_else(|| Operand::Name(word.to_string()))
    }
}

/// `12`, `0x3f80U`, `0b101`, `017`, `0f3F800000`, `0d...`, `1.5`
fn number(word: &str) -> Option<Operand> {
    if let Some(bits) = word.strip_prefix("0f").or_else(|| word.strip_prefix("0F")) {
        return u32::from_str_radix(bits, 16).ok().map(|bits| Operand::Float(bits.into(), 32));
    }
    if let Some(bits) = word.strip_prefix("0d").or_else(|| word.strip_prefix("0D")) {
        return u64::from_str_radix(bits, 16).ok().map(|bits| Operand::Float(bits, 64));
    }
    let digits = word.trim_end_matches(['U', 'u']);
    let parsed = if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        u64::from_str_radix(hex, 16)
    } else if let Some(binary) = digits.strip_prefix("0b").or_else(|| digits.strip_prefix("0B")) {
        u64::from_str_radix(binary, 2)
    } else if digits.len() > 1 && digits.starts_with('0') && !digits.contains('.') {
        u64::from_str_radix(digits, 8)
    } else {
        digits.parse()
    };
    match parsed {
        Ok(value) => Some(Operand::Integer(value)),
        Err(_) if word.starts_with(|c: char| c.is_ascii_digit()) => {
            word.parse::<f64>().ok().map(|value| Operand::Float(value.to_bits(), 64))
        }
        Err(_) => None,
    }
}

/// Bits of a PTX type without its dot: `u32`, `b16`, `f16x2`, `pred`.
pub(super) fn width_of(kind: &str) -> Option<u32> {
    Some(match kind {
        "pred" => 1,
        "b8" | "u8" | "s8" => 8,
        "b16" | "u16" | "s16" | "f16" | "bf16" => 16,
        "b32" | "u32" | "s32" | "f32" | "f16x2" | "bf16x2" | "tf32" => 32,
        "b64" | "u64" | "s64" | "f64" => 64,
        "b128" => 128,
        _ => return None,
    })
}
