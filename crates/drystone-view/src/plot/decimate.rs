//! Fewer points for the same picture: at most four in every column.

use glamx::DVec2;

/// Drops points that cannot be seen. Of successive points in one column of the given width, the
/// first, the lowest, the highest and the last stay, in their order, so peaks and dips survive.
pub(super) fn decimate(points: &[DVec2], column_width: f64) -> Vec<DVec2> {
    let column = |point: &DVec2| (point.x / column_width).floor();
    let mut kept = Vec::new();
    for group in points.chunk_by(|a, b| column(a) == column(b)) {
        let mut chosen = [0, lowest(group), highest(group), group.len() - 1];
        chosen.sort_unstable();
        let mut last = None;
        for index in chosen {
            if last != Some(index) {
                kept.extend(group.get(index));
                last = Some(index);
            }
        }
    }
    kept
}

fn lowest(group: &[DVec2]) -> usize {
    let least = group
        .iter()
        .enumerate()
        .min_by(|a, b| a.1.y.total_cmp(&b.1.y));
    least.map_or(0, |(index, _)| index)
}

fn highest(group: &[DVec2]) -> usize {
    let most = group
        .iter()
        .enumerate()
        .max_by(|a, b| a.1.y.total_cmp(&b.1.y));
    most.map_or(0, |(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_survive_and_little_else() {
        let points: Vec<DVec2> = (0..100_000)
            .map(|k| DVec2::new(f64::from(k) * 1e-3, f64::from(k % 7)))
            .collect();
        let mut spiked = points.clone();
        spiked[54_321].y = 1e3;
        spiked[12_345].y = -1e3;
        let kept = decimate(&spiked, 1.0);
        assert!(kept.len() <= 4 * 101, "{}", kept.len());
        assert!(kept.contains(&spiked[54_321]) && kept.contains(&spiked[12_345]));
        assert_eq!(kept.first(), spiked.first());
        assert_eq!(kept.last(), spiked.last());
        assert!(kept.windows(2).all(|pair| pair[0].x <= pair[1].x));
    }

    #[test]
    fn few_points_stay_as_they_are() {
        let points = [DVec2::ZERO, DVec2::new(5.0, 1.0), DVec2::new(2.0, 2.0)];
        assert_eq!(decimate(&points, 1.0), points);
        assert!(decimate(&[], 1.0).is_empty());
    }
}
