//! Which grains of a kernel are tried.

use std::fmt;
use std::str::FromStr;

use crate::grain::{Factors, LARGEST, blocks_of_task};

/// A block factor, a thread factor, and the blocks of a task (`None` for the runtime's own number).
pub type Point = (Factors, Factors, Option<u32>);

/// All combinations of block factors, thread factors and blocks of a task.
///
/// Written `blocks=1,2,4:threads=1,2:tasks=auto,1,64`, each factor a total or `XxYxZ`; `auto`, or 0, is the runtime's own
/// number of blocks. What is not written is as in the original.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// Factors of blocks.
    pub blocks: Vec<Factors>,
    /// Factors of threads.
    pub threads: Vec<Factors>,
    /// Blocks of a task.
    pub tasks: Vec<Option<u32>>,
}

/// Which grains of a kernel are tried, those of one product after those of another.
///
/// Written as its products, with `+` between them: `blocks=1,2:threads=1+tasks=1,64`; `none` is the original grain alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// At least one.
    products: Vec<Product>,
}

impl Product {
    fn original() -> Self {
        Self { blocks: vec![Factors::Total(1)], threads: vec![Factors::Total(1)], tasks: vec![None] }
    }

    fn totals(blocks: &[i64], threads: &[i64]) -> Self {
        let totals = |list: &[i64]| list.iter().map(|total| Factors::Total(*total)).collect();
        Self { blocks: totals(blocks), threads: totals(threads), ..Self::original() }
    }

    fn points(&self) -> impl Iterator<Item = Point> {
        let pairs =
            move || self.threads.iter().flat_map(|threads| self.blocks.iter().map(|blocks| (*blocks, *threads)));
        self.tasks.iter().flat_map(move |tasks| pairs().map(|(blocks, threads)| (blocks, threads, *tasks)))
    }
}

impl Space {
    /// The original grain alone.
    pub fn none() -> Self {
        Product::original().into()
    }

    /// What is tried on a GPU with warps of `warp` threads where nothing is said, by the block shape of the launch (`None`: not
    /// known). Small blocks are made larger rather than their threads coarser, so that whole warps are left; large ones give
    /// threads away.
    pub fn for_gpu(block: Option<[u32; 3]>, warp: u32) -> Self {
        let warps = block.map(|block| block.iter().product::<u32>() / warp);
        let (blocks, threads): (&[i64], &[i64]) = match warps {
            Some(..2) => (&[1, 2, 4, 8], &[1]),
            Some(16..) => (&[1, 2], &[1, 2, 4]),
            _ => (&[1, 2, 4], &[1, 2]),
        };
        Product::totals(blocks, threads).into()
    }

    /// What is tried on a CPU where nothing is said. Threads are iterations of loops that are vectorised: a factor shortens the
    /// loop, so one with few iterations is left as it is. Blocks are coarsened to run several side by side. How many a task has
    /// is tried of the original alone: one, so that the load is even, and many, which cost little to hand out.
    pub fn for_cpu(block: Option<[u32; 3]>) -> Self {
        let row = block.map(|block| block[0]);
        let threads: &[i64] = if row.is_some_and(|row| row < 16) { &[1] } else { &[1, 2, 4] };
        let tasks = Product { tasks: vec![Some(1), Some(64)], ..Product::original() };
        Self { products: vec![Product::totals(&[1, 2, 4], threads), tasks] }
    }

    /// Everything but the original; in a product block factors change fastest, blocks of a task slowest.
    pub fn points(&self) -> impl Iterator<Item = Point> {
        let all = self.products.iter().flat_map(Product::points);
        all.filter(|(blocks, threads, tasks)| blocks.total() > 1 || threads.total() > 1 || tasks.is_some())
    }

    /// Whether a number of blocks in a task is tried, which means something on a CPU alone.
    pub fn sets_tasks(&self) -> bool {
        self.products.iter().any(|product| product.tasks.iter().any(Option::is_some))
    }
}

impl From<Product> for Space {
    fn from(product: Product) -> Self {
        Self { products: vec![product] }
    }
}

/// Reads a number of blocks in a task.
fn parse_tasks(text: &str) -> Result<Option<u32>, String> {
    match text.trim() {
        "auto" | "0" => Ok(None),
        number => blocks_of_task(number)
            .map(Some)
            .ok_or_else(|| format!("blocks of a task '{text}', expected 'auto' or a number from 0 to {LARGEST}")),
    }
}

impl FromStr for Product {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut product = Self::original();
        for part in text.split(':') {
            let (name, list) = part.split_once('=').ok_or_else(|| {
                format!("search space '{text}', expected 'none' or as in 'blocks=1,2,4:threads=1,2:tasks=auto,1,64'")
            })?;
            let factors = || list.split(',').map(Factors::parse).collect::<Result<Vec<_>, _>>();
            match name {
                "blocks" => product.blocks = factors()?,
                "threads" => product.threads = factors()?,
                "tasks" => product.tasks = list.split(',').map(parse_tasks).collect::<Result<Vec<_>, _>>()?,
                _ => {
                    return Err(format!(
                        "search space '{text}': unknown dimension '{name}', expected 'blocks', 'threads' or 'tasks'"
                    ));
                }
            }
        }
        Ok(product)
    }
}

impl FromStr for Space {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self::none());
        }
        Ok(Self { products: text.split('+').map(str::parse).collect::<Result<_, _>>()? })
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let factors = |factors: &Factors| match factors {
            Factors::Total(total) => total.to_string(),
            Factors::Each([x, y, z]) => format!("{x}x{y}x{z}"),
        };
        let list = |all: &[Factors]| all.iter().map(factors).collect::<Vec<_>>().join(",");
        write!(f, "blocks={}:threads={}", list(&self.blocks), list(&self.threads))?;
        if self.tasks == [None] {
            return Ok(());
        }
        let tasks = self.tasks.iter().map(|tasks| tasks.map_or("auto".to_owned(), |blocks| blocks.to_string()));
        write!(f, ":tasks={}", tasks.collect::<Vec<_>>().join(","))
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let products: Vec<String> = self.products.iter().map(ToString::to_string).collect();
        f.pad(&products.join("+"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(text: &str) -> Space {
        text.parse().unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn usual_spaces_follow_the_block() {
        let for_gpu = |block, warp| Space::for_gpu(Some(block), warp).to_string();
        assert_eq!(for_gpu([16, 1, 1], 32), "blocks=1,2,4,8:threads=1");
        assert_eq!(for_gpu([64, 1, 1], 32), "blocks=1,2,4:threads=1,2");
        assert_eq!(for_gpu([64, 1, 1], 64), "blocks=1,2,4,8:threads=1", "half a warp of 64 would be left");
        assert_eq!(for_gpu([16, 16, 1], 32), "blocks=1,2,4:threads=1,2");
        assert_eq!(for_gpu([512, 1, 1], 32), "blocks=1,2:threads=1,2,4");
        assert_eq!(for_gpu([512, 1, 1], 64), "blocks=1,2,4:threads=1,2");
        assert_eq!(for_gpu([32, 32, 1], 64), "blocks=1,2:threads=1,2,4");
        assert_eq!(Space::for_gpu(None, 32), Space::for_gpu(Some([256, 1, 1]), 32));
        assert_eq!(Space::for_cpu(Some([8, 8, 1])).to_string(), "blocks=1,2,4:threads=1+blocks=1:threads=1:tasks=1,64");
        assert!(Space::for_cpu(None).sets_tasks() && !Space::for_gpu(None, 32).sets_tasks());
    }

    #[test]
    fn the_usual_space_of_a_cpu_tries_tasks_of_the_original_alone() {
        let points: Vec<Point> = Space::for_cpu(None).points().collect();
        let with_tasks: Vec<_> = points.iter().filter(|point| point.2.is_some()).collect();
        let one = Factors::Total(1);
        assert_eq!((points.len(), with_tasks), (10, vec![&(one, one, Some(1)), &(one, one, Some(64))]));
    }

    #[test]
    fn spaces_are_products() {
        let pairs = space("blocks=1,2,4x2x1:threads=1,2");
        assert_eq!(pairs.to_string(), "blocks=1,2,4x2x1:threads=1,2");
        assert_eq!(pairs.points().count(), 5);
        assert_eq!(space("none").points().count(), 0);
        let all = space("blocks=1,2:threads=1,2:tasks=0,16,64");
        assert_eq!(all.to_string(), "blocks=1,2:threads=1,2:tasks=auto,16,64");
        assert_eq!(all.points().count(), 11);
        assert_eq!(space("tasks=auto,1"), space("tasks=0,1"));
        assert_eq!(space("tasks=auto"), Space::none());
    }

    #[test]
    fn spaces_add_up() {
        let sum = space("blocks=1,2+tasks=1,64");
        assert_eq!(sum.to_string(), "blocks=1,2:threads=1+blocks=1:threads=1:tasks=1,64");
        assert_eq!(sum.points().count(), 3);
        assert!(sum.sets_tasks() && !space("blocks=1,2").sets_tasks());
    }

    #[test]
    fn wrong_spaces_say_what_was_expected() {
        for (text, expected) in [
            ("blocks", "expected 'none' or as in"),
            ("warps=2", "expected 'blocks', 'threads' or 'tasks'"),
            ("blocks=0", "expected N or X,Y,Z"),
            ("blocks=auto", "expected N or X,Y,Z"),
            ("tasks=", "blocks of a task '', expected 'auto' or a number from 0 to 1048576"),
            ("tasks=1,many", "blocks of a task 'many', expected"),
            ("tasks=2x1x1", "expected 'auto' or a number"),
            ("tasks=-1", "expected 'auto' or a number"),
            ("tasks=1048577", "expected 'auto' or a number"),
            ("blocks=1+", "expected 'none' or as in"),
            ("none+tasks=1", "expected 'none' or as in"),
        ] {
            let said = text.parse::<Space>().expect_err(text);
            assert!(said.contains(expected), "{text}: {said}");
        }
    }
}
