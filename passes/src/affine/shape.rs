//! The shape of the blocks of a launch: their threads, and how many rounds of a loop these do in one piece.

/// The threads of a block, by how many dimensions there are, neighbours last.
const BLOCKS: [&[u32]; 4] = [&[], &[256], &[8, 32], &[2, 4, 32]];
/// The threads of a block that goes along a row.
pub const ROW: u32 = 256;
/// The rounds of a piece.
const PIECE: i64 = 32;

/// The threads of a block, and the rounds that they do of a loop in one piece.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The threads in each dimension, neighbours last.
    pub block: Vec<u32>,
    /// The rounds.
    pub piece: i64,
    /// Whether boxes whose elements are read once are copied, too, where the copy goes along rows that threads go down: a schedule of its own
    /// for what comes to the chip, beside that of what is done there (paper 000, section 4).
    pub transposes: bool,
    /// A box is copied where its elements are read so often.
    pub least_reuse: i64,
}

impl Shape {
    /// The usual one for so many dimensions.
    pub fn usual(dimensions: usize) -> Self {
        Self { block: BLOCKS[dimensions].to_vec(), piece: PIECE, transposes: false, least_reuse: 2 }
    }

    /// The same for processors, whose caches have at hand what is read a few times.
    pub fn for_processors(dimensions: usize) -> Self {
        Self { least_reuse: 5, ..Self::usual(dimensions) }
    }

    /// One for processors and so many dimensions, whose blocks go along a row alone: memory is fetched ahead there.
    pub fn row(dimensions: usize) -> Self {
        let block = [&[][..], &[ROW], &[1, ROW], &[1, 1, ROW]][dimensions].to_vec();
        Self { block, ..Self::for_processors(dimensions) }
    }

    /// One for so many dimensions whose blocks have room for boxes of elements of their own, as rows of memory have them together.
    pub fn transposing(dimensions: usize) -> Self {
        let block = [&[][..], &[128], &[4, 32], &[1, 4, 32]][dimensions].to_vec();
        Self { block, piece: PIECE / 2, transposes: true, least_reuse: 2 }
    }

    /// The threads of a block.
    pub fn threads(&self) -> i64 {
        self.block.iter().map(|size| i64::from(*size)).product()
    }

    /// The rounds of all threads of a block in a piece.
    pub fn rounds(&self) -> i64 {
        self.threads() * self.piece
    }
}
