//! Textures and surfaces: `tex`, `tld4`, `suld.b` and `sust.b` on objects, by functions of the device library.
//!
//! ```text
//! tex.level.a2d.v4.f32.f32 {r, g, b, a}, [object, {layer, x, y, y}], lod;
//! suld.b.2d.v2.b32.trap {a, b}, [surface, {x, y}];
//! ```

use super::dispatch::{Modifiers, Type};
use super::emit::{Emitter, NOT_KNOWN, Reason};
use super::parse::{Instruction, Operand};

/// Shapes of objects: whether a layer comes first, the library's number, how many coordinates there are.
const SHAPES: &[(&str, bool, u32, usize)] = &[
    ("1d", false, 1, 1),
    ("2d", false, 2, 2),
    ("3d", false, 3, 3),
    ("cube", false, CUBE, 3),
    ("a1d", true, 1, 1),
    ("a2d", true, 2, 2),
    ("acube", true, CUBE, 3),
];
/// The library's number of cubes.
const CUBE: u32 = 4;
/// What an access outside of a surface does, by the library's numbers.
const BOUNDARIES: &[&str] = &["zero", "clamp", "trap"];
/// Bytes of the widest access of a surface.
const WIDEST: u32 = 16;

/// Beginnings of what reads and writes textures and surfaces.
const FETCHES: &[&str] = &["tex.", "suld.b.", "sust.b."];

/// Whether a statement is one access of a texture or a surface.
pub(super) fn is_fetch(text: &str) -> bool {
    FETCHES.iter().any(|start| text.trim_start().starts_with(start))
}

/// Beginnings of the names of CUDA's functions for textures and surfaces, and what the names of those of clang's headers hold.
const WRAPPERS: &[&str] = &["tex1D", "tex2D", "tex3D", "texCubemap", "surf1D", "surf2D", "surf3D", "surfCubemap"];
const INNER_WRAPPERS: &str = "__cuda_tex";

/// Whether a function of this name is one of the headers' around a statement.
pub(super) fn is_wrapper(name: &str) -> bool {
    let plain = name.trim_start_matches("_Z").trim_start_matches('L').trim_start_matches(|c: char| c.is_ascii_digit());
    let is_mangled = plain.len() < name.len();
    is_mangled && (name.contains(INNER_WRAPPERS) || WRAPPERS.iter().any(|start| plain.starts_with(start)))
}

/// The object of an instruction and what stands behind it: a layer if there is one, and the coordinates.
struct Place<'o> {
    object: &'o Operand,
    number: u32,
    layer: Option<&'o Operand>,
    coordinates: &'o [Operand],
}

fn place<'o>(modifiers: &Modifiers<'_>, operand: &'o Operand) -> Result<Place<'o>, Reason> {
    let Operand::Indexed(object, places) = operand else { return Err("an object and coordinates expected".into()) };
    let shape = SHAPES.iter().find(|(name, ..)| modifiers.has(name));
    let (_, layered, number, count) = shape.copied().ok_or("the shape of the object")?;
    let first = usize::from(layered);
    let (Some(coordinates), layer) = (places.get(first..first + count), places.first()) else {
        return Err(format!("{} coordinates", places.len()));
    };
    Ok(Place { object, number, layer: layer.filter(|_| layered), coordinates })
}

/// Where the elements of a fetch go that may also say whether they are there.
fn elements_of(to: &Operand) -> &Operand {
    if let Operand::Both(elements, _) = to { elements } else { to }
}

/// The library gives four elements of 32 bits.
fn check_elements(modifiers: &Modifiers<'_>, to: &Operand) -> Result<(), Reason> {
    let is_word = matches!(modifiers.types().first(), Some(Type::Signed(32) | Type::Unsigned(32) | Type::F32));
    if is_word && elements_of(to).parts().len() == 4 { Ok(()) } else { Err("elements of other sizes".into()) }
}

impl Emitter<'_> {
    /// tex: a fetch, at a level or for differences of coordinates where it says so.
    pub(super) fn tex(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let modifiers = Modifiers::of(instruction);
        modifiers.only(&["1d", "2d", "3d", "cube", "a1d", "a2d", "acube", "v4", "level", "grad", "base"])?;
        let [to, from, more @ ..] = instruction.operands.as_slice() else { return Err("operands expected".into()) };
        check_elements(&modifiers, to)?;
        let place = place(&modifiers, from)?;
        let object = self.read(place.object, 64)?;
        if modifiers.last_type()? != Type::F32 {
            let ([x], None, []) = (place.coordinates, place.layer, more) else {
                return Err("coordinates that count".into());
            };
            let x = self.read(x, 32)?;
            let found = self.call("__regrain_texture_element", &[("i64", object), ("i32", x)])?;
            return self.take(to, &found);
        }
        let number = place.number.to_string();
        let lod = match more {
            [] if !modifiers.has("level") && !modifiers.has("grad") => "0.0".to_owned(),
            [lod] if modifiers.has("level") => self.number(lod)?,
            [u, v] if modifiers.has("grad") => {
                let mut arguments = vec![("i64", object.clone()), ("i32", number.clone())];
                for direction in [u, v] {
                    arguments.extend(self.numbers(direction.parts())?.map(|value| ("float", value)));
                }
                self.call("__regrain_texture_level", &arguments)?
            }
            _ => return Err(format!("{} operands", instruction.operands.len())),
        };
        let mut arguments = vec![("i64", object.clone()), ("i32", number)];
        arguments.extend(self.numbers(place.coordinates)?.map(|value| ("float", value)));
        arguments.push(("i32", place.layer.map_or(Ok("0".to_owned()), |layer| self.read(layer, 32))?));
        if place.number == CUBE {
            arguments.push(("float", lod));
            let found = self.call("__regrain_texture_fetch", &arguments)?;
            return self.take(to, &found);
        }
        let [quick, any, done] = ["quick", "any", "done"].map(|kind| self.fresh_label(kind));
        let is_quick = self.call("__regrain_texture_is_quick", &[("i64", object)])?;
        self.end_block(&format!("br i1 {is_quick}, label %\"{quick}\", label %\"{any}\""));
        self.start_block(&quick);
        // Channel by channel: those that nobody wants go.
        for (channel, part) in elements_of(to).parts().iter().enumerate() {
            let of_channel = [arguments.as_slice(), &[("i32", channel.to_string())]].concat();
            let word = self.call("__regrain_texture_channel", &of_channel)?;
            self.write(part, &word, 32, false)?;
        }
        self.end_block(&format!("br label %\"{done}\""));
        self.start_block(&any);
        arguments.push(("float", lod));
        let found = self.call("__regrain_texture_fetch", &arguments)?;
        self.take(to, &found)?;
        self.start_block(&done);
        self.say_resident(to)
    }

    /// tld4: one channel of four elements.
    pub(super) fn tld4(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let modifiers = Modifiers::of(instruction);
        let [to, from] = instruction.operands.as_slice() else { return Err("two operands expected".into()) };
        check_elements(&modifiers, to)?;
        let channel = ["r", "g", "b", "a"].iter().position(|name| modifiers.has(name)).ok_or("the channel")?;
        let Place { object, number: 2, layer: None, coordinates: [x, y] } = place(&modifiers, from)? else {
            return Err(NOT_KNOWN.into());
        };
        let object = self.read(object, 64)?;
        let arguments =
            [("i64", object), ("i32", channel.to_string()), ("float", self.number(x)?), ("float", self.number(y)?)];
        let found = self.call("__regrain_texture_gather", &arguments)?;
        self.take(to, &found)
    }

    /// suld.b, sust.b: bytes of a surface.
    pub(super) fn surface(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let modifiers = Modifiers::of(instruction);
        let loads = instruction.opcode[0] == "suld";
        let (from, value) = match instruction.operands.as_slice() {
            [to, from] if loads => (from, to),
            [to, value] => (to, value),
            _ => return Err("two operands expected".into()),
        };
        let boundary = BOUNDARIES.iter().position(|name| modifiers.has(name)).ok_or("what is done outside")?;
        if !modifiers.has("b") {
            return Err("formatted accesses are not known".into());
        }
        let width = modifiers.last_type()?.width() * value.parts().len() as u32;
        if width > 8 * WIDEST {
            return Err(format!("{width} bits"));
        }
        let place = place(&modifiers, from)?;
        let mut arguments = vec![("i64", self.read(place.object, 64)?)];
        arguments.push(("i32", boundary.to_string()));
        arguments.push(("i32", (width / 8).to_string()));
        let third = place.layer.or(place.coordinates.get(2));
        for coordinate in [place.coordinates.first(), place.coordinates.get(1), third] {
            arguments.push(("i32", coordinate.map_or(Ok("0".to_owned()), |at| self.read(at, 32))?));
        }
        if loads {
            let found = self.call("__regrain_surface_load", &arguments)?;
            return self.halves_to(value, &found, width);
        }
        let [low, high] = self.halves_of(value, width)?;
        arguments.extend([("i64", low), ("i64", high)]);
        self.call("__regrain_surface_store", &arguments).map(|_| ())
    }

    /// Writes what a fetch gave.
    fn take(&mut self, to: &Operand, found: &str) -> Result<(), Reason> {
        for (number, part) in elements_of(to).parts().iter().enumerate() {
            let word = self.value(&format!("extractelement <4 x i32> {found}, i32 {number}"));
            self.write(part, &word, 32, false)?;
        }
        self.say_resident(to)
    }

    /// Says that what was fetched is there, where a fetch asks: all of a texture is.
    fn say_resident(&mut self, to: &Operand) -> Result<(), Reason> {
        match to {
            Operand::Both(_, resident) => self.write(resident, "true", 1, false),
            _ => Ok(()),
        }
    }

    /// Writes the parts of a value that comes in two halves.
    fn halves_to(&mut self, to: &Operand, found: &str, width: u32) -> Result<(), Reason> {
        let parts = to.parts();
        let part = width / parts.len() as u32;
        for (number, to) in parts.iter().enumerate() {
            let bit = part * number as u32;
            let half = self.value(&format!("extractelement <2 x i64> {found}, i32 {}", bit / 64));
            let moved = self.value(&format!("lshr i64 {half}, {}", bit % 64));
            let value = self.resize(&moved, 64, part, false);
            self.write(to, &value, part, false)?;
        }
        Ok(())
    }

    /// The parts of a value, in two halves.
    fn halves_of(&mut self, from: &Operand, width: u32) -> Result<[String; 2], Reason> {
        let parts = from.parts();
        let part = width / parts.len() as u32;
        let mut halves = ["0".to_owned(), "0".to_owned()];
        for (number, from) in parts.iter().enumerate() {
            let bit = part * number as u32;
            let value = self.read(from, part)?;
            let wide = self.resize(&value, part, 64, false);
            let moved = self.value(&format!("shl i64 {wide}, {}", bit % 64));
            let half = &mut halves[(bit / 64) as usize];
            *half = self.value(&format!("or i64 {half}, {moved}"));
        }
        Ok(halves)
    }

    fn number(&mut self, operand: &Operand) -> Result<String, Reason> {
        let bits = self.read(operand, 32)?;
        Ok(self.from_integer("float", &bits, 32))
    }

    /// Up to three coordinates, those that are not there as 0.
    fn numbers(&mut self, operands: &[Operand]) -> Result<std::array::IntoIter<String, 3>, Reason> {
        let mut found = ["0.0".to_owned(), "0.0".to_owned(), "0.0".to_owned()];
        for (place, operand) in found.iter_mut().zip(operands) {
            *place = self.number(operand)?;
        }
        Ok(found.into_iter())
    }
}
