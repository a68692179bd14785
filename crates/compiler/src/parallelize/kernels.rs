//! The kernels of a nest as text. Each has the parameters that it uses, in the order in which it does; kernels that differ in names alone are one,
//! which is launched with other arguments.
//!
//! ```text
//!   C = A * B; F = D * E;      kernel0(const double *A0, const double *A1, double *A2, ..) is launched for both products
//! ```

use std::collections::{HashMap, HashSet};

/// The words that types are made of ([`super::types`]): a name behind one, but for stars, is declared there.
const TYPES: [&str; 10] =
    ["const", "__restrict__", "bool", "char", "short", "int", "long", "unsigned", "float", "double"];

/// What is written of kernels.
#[derive(Default)]
pub struct Kernels {
    /// The text of all.
    pub text: String,
    /// What each is called, by what it is whatever its names are.
    known: HashMap<String, String>,
}

impl Kernels {
    /// Adds a kernel that is to be called `name`, with the types and names of parameters that it may use, of which `body` is the text between the braces.
    /// Gives what it is called, and the parameters that its launch is to have arguments for.
    pub fn add(&mut self, name: &str, parameters: &[(String, String)], body: &str) -> (String, Vec<String>) {
        let words = words(body);
        let mut used: Vec<&(String, String)> = Vec::new();
        for word in &words {
            let parameter = parameters.iter().find(|(_, name)| name == word);
            used.extend(parameter.filter(|parameter| !used.contains(parameter)));
        }
        let head: Vec<String> = used.iter().map(|(ty, name)| format!("{ty} {name}")).collect();
        let head = head.join(", ");
        let arguments = used.into_iter().map(|(_, name)| name.clone()).collect();
        let known = self.known.entry(unnamed(&head, &words)).or_insert_with(|| {
            self.text += &format!("static __global__ void {name}({head}) {{\n{body}}}\n\n");
            name.to_owned()
        });
        (known.clone(), arguments)
    }
}

/// A kernel's words, where what it declares is called by its number.
fn unnamed(head: &str, body: &[&str]) -> String {
    let all = [&self::words(head)[..], body].concat();
    let (mut declared, mut numbers) = (HashSet::new(), HashMap::new());
    let mut before = "";
    for word in &all {
        if TYPES.contains(&before) && is_name(word) && !TYPES.contains(word) {
            declared.insert(*word);
        }
        before = if *word == "*" { before } else { word };
    }
    let mut text = String::new();
    for word in all {
        if declared.contains(word) {
            let next = numbers.len();
            text += &format!("${} ", numbers.entry(word).or_insert(next));
        } else {
            text += word;
            text.push(' ');
        }
    }
    text
}

fn is_name(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
}

/// Names, numbers and single signs, without comments.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for line in text.lines() {
        let mut rest = line.split("//").next().unwrap_or_default().trim_start();
        while let Some(first) = rest.chars().next() {
            let is_number = first.is_ascii_digit();
            let mut before = ' ';
            // A sign belongs to the number where it stands behind the letter of its exponent.
            let goes_on = |letter: char| {
                let is_sign = is_number && matches!(letter, '+' | '-') && matches!(before, 'p' | 'e');
                let goes_on =
                    letter.is_ascii_alphanumeric() || letter == '_' || (is_number && letter == '.') || is_sign;
                before = letter;
                !goes_on
            };
            let length = rest.find(goes_on).unwrap_or(rest.len()).max(first.len_utf8());
            let (word, others) = rest.split_at(length);
            words.push(word);
            rest = others.trim_start();
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(names: &[(&str, &str)]) -> Vec<(String, String)> {
        names.iter().map(|(ty, name)| ((*ty).into(), (*name).into())).collect()
    }

    #[test]
    fn kernels_that_differ_in_names_are_one() {
        let mut kernels = Kernels::default();
        let all = parameters(&[("double *", "A0"), ("double *", "A1"), ("long", "n0")]);
        let first = kernels.add("first", &all, "const long i3 = threadIdx.x;\nA1[i3] = 2.0 * n0;\n");
        let second = kernels.add("second", &all, "const long i5 = threadIdx.x;\nA0[i5] = 2.0 * n0; // of A0\n");
        assert_eq!(first, ("first".into(), vec!["A1".into(), "n0".into()]));
        assert_eq!(second, ("first".into(), vec!["A0".into(), "n0".into()]));
        assert_eq!(kernels.text.matches("__global__").count(), 1);
    }

    #[test]
    fn others_are_not() {
        let body = |text: &str| format!("const double v1 = {text};\nA0[0] = v1;\n");
        let all = parameters(&[("double *", "A0"), ("double *", "A1"), ("long", "n0"), ("long", "n1")]);
        let mut kernels = Kernels::default();
        let others = [
            "exp2(A1[n0])",
            "log2(A1[n0])",
            "A0[n0]",
            "A1[n0] + n1",
            "A1[n0] + n0",
            "0x1.8p-4",
            "0x1.8p-5",
            "1e-3 - 4",
            "1e-3",
            "(float)A1[n0]",
        ];
        for (number, text) in others.iter().enumerate() {
            assert_eq!(kernels.add(&format!("k{number}"), &all, &body(text)).0, format!("k{number}"));
        }
        let restrict = parameters(&[("double *", "A0"), ("const double *__restrict__", "A1"), ("long", "n0")]);
        assert_eq!(kernels.add("restrict", &restrict, &body(others[0])).0, "restrict");
        let floats = parameters(&[("float *", "A0"), ("double *", "A1"), ("long", "n0")]);
        assert_eq!(kernels.add("floats", &floats, &body(others[0])).0, "floats");
    }

    #[test]
    fn words_are_whole() {
        assert_eq!(
            words("r3=(0x1.99ap-3*v1-A0[2L]); // x"),
            "r3 = ( 0x1.99ap-3 * v1 - A0 [ 2L ] ) ;".split(' ').collect::<Vec<_>>()
        );
    }
}
