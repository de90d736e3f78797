//! Blocks of a series whose values depend on the values before them.

use drumfire_plan::Random;

/// The block length for a series of this length: its cube root, which minimises the error of a
/// variance (Hall, Horowitz and Jing 1995), and at least 1.
#[must_use]
pub fn block_length(length: usize) -> usize {
    let root = (length as f64).cbrt().ceil();
    // The cube root of a length fits into an index.
    (root as usize).max(1)
}

/// Draws as many indices as the series is long, in blocks of neighbours that start at random
/// places. A block that exceeds the end continues at the beginning (Politis and Romano 1992), so
/// that every value is equally likely. Nothing is drawn from an empty series.
pub fn moving_blocks(
    length: usize,
    block: usize,
    random: &mut Random,
) -> impl Iterator<Item = usize> + '_ {
    let block = block.max(1);
    let starts = std::iter::repeat_with(move || random.below(length.max(1) as u64) as usize);
    let drawn =
        starts.flat_map(move |start| (start..start + block).map(move |at| at % length.max(1)));
    drawn.take(length)
}

#[cfg(test)]
mod tests {
    use super::{block_length, moving_blocks};
    use drumfire_plan::Random;

    fn random(seed: u64) -> Random {
        Random::new(seed, 0, 0, 0)
    }

    #[test]
    fn blocks_are_neighbours_and_as_many_as_the_series_has_values() {
        for seed in 0..50 {
            let drawn: Vec<usize> = moving_blocks(10, 3, &mut random(seed)).collect();
            assert_eq!(drawn.len(), 10);
            for block in drawn.chunks(3) {
                let neighbours = block.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 10);
                assert!(neighbours, "{drawn:?}");
            }
        }
        assert_eq!(moving_blocks(0, 3, &mut random(1)).count(), 0);
    }

    #[test]
    fn every_value_is_drawn_as_often_as_any_other() {
        let mut counts = [0_u32; 12];
        let mut random = random(7);
        for _ in 0..4_000 {
            for at in moving_blocks(12, 4, &mut random) {
                counts[at] += 1;
            }
        }
        assert!(
            counts.iter().all(|count| (3_700..4_300).contains(count)),
            "{counts:?}"
        );
    }

    #[test]
    fn a_block_is_as_long_as_the_cube_root() {
        assert_eq!([0, 1, 8, 9, 60, 300].map(block_length), [1, 1, 2, 3, 4, 7]);
    }
}
