//! Tasks of a CPU: how many blocks a thread of the machine takes from a grid at once.

/// Tasks that each thread gets of a grid where nothing is asked: few enough to be cheap, enough to even out.
const PER_WORKER: u64 = 16;

/// The most blocks of a task where nothing is asked.
const MOST: u64 = 256;

/// The blocks of each task but the last, when `blocks` of a grid are handed out to `workers`. What is asked for counts, but a
/// task has at least one block and no more than there are; without it, or with 0, the usual number does.
pub fn blocks_per_task(asked: Option<u32>, blocks: u64, workers: u64) -> u64 {
    match asked.unwrap_or(0) {
        0 => (blocks / (workers.max(1) * PER_WORKER)).clamp(1, MOST),
        asked => u64::from(asked).min(blocks.max(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_number_follows_the_grid() {
        assert_eq!(blocks_per_task(None, 1, 4), 1);
        assert_eq!(blocks_per_task(None, 640, 4), 10);
        assert_eq!(blocks_per_task(None, 1 << 40, 4), 256);
        assert_eq!(blocks_per_task(None, 0, 0), 1);
    }

    #[test]
    fn what_is_asked_for_counts() {
        assert_eq!(blocks_per_task(Some(1), 640, 4), 1);
        assert_eq!(blocks_per_task(Some(1000), 1 << 40, 4), 1000);
        assert_eq!(blocks_per_task(Some(64), 10, 4), 10);
        assert_eq!(blocks_per_task(Some(64), 0, 4), 1);
        assert_eq!(blocks_per_task(Some(0), 640, 4), 10);
    }
}
