//! A sparse matrix stored by columns: plain arrays, for the matrix form of a contact problem.

/// A sparse matrix by columns, as SciPy's `csc_matrix`: column k has the entries from
/// `column_starts[k]` to `column_starts[k + 1]`, with rising rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseMatrix {
    /// Number of rows.
    pub rows: usize,
    /// Where each column begins, and the number of entries at the end.
    pub column_starts: Vec<u32>,
    /// The row of each entry.
    pub row_indices: Vec<u32>,
    /// The entries.
    pub values: Vec<f64>,
}

impl SparseMatrix {
    /// A matrix of `[rows, columns]` from entries (row, column, value); those of one place add up.
    pub(crate) fn from_entries(
        [rows, columns]: [usize; 2],
        mut entries: Vec<(u32, u32, f64)>,
    ) -> Self {
        // Stable, so that entries of one place are added in the order they came in.
        entries.sort_by_key(|&(row, column, _)| (column, row));
        let mut matrix = Self {
            rows,
            ..Self::default()
        };
        let mut last = None;
        for (row, column, value) in entries {
            if last == Some((row, column)) {
                if let Some(sum) = matrix.values.last_mut() {
                    *sum += value;
                }
                continue;
            }
            matrix.close_columns(column as usize + 1);
            matrix.row_indices.push(row);
            matrix.values.push(value);
            last = Some((row, column));
        }
        matrix.close_columns(columns + 1);
        matrix
    }

    /// Lets all columns before the `count`-th start that do not yet have a start end here.
    fn close_columns(&mut self, count: usize) {
        let end = self.values.len() as u32;
        while self.column_starts.len() < count {
            self.column_starts.push(end);
        }
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.column_starts.len().saturating_sub(1)
    }

    /// Rows and values of a column.
    pub fn column(&self, k: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.column_starts[k] as usize..self.column_starts[k + 1] as usize;
        let rows = self.row_indices[range.clone()].iter();
        rows.zip(&self.values[range])
            .map(|(&row, &value)| (row as usize, value))
    }

    /// The matrix times a vector.
    #[must_use]
    pub fn multiply(&self, x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.rows];
        for (k, x) in x.iter().enumerate().take(self.columns()) {
            for (row, value) in self.column(k) {
                y[row] += value * x;
            }
        }
        y
    }

    /// The same with rows and columns exchanged.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let entries = (0..self.columns()).flat_map(|k| {
            self.column(k)
                .map(move |(row, value)| (k as u32, row as u32, value))
        });
        Self::from_entries([self.columns(), self.rows], entries.collect())
    }

    /// This matrix times another.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        let mut product = Self {
            rows: self.rows,
            ..Self::default()
        };
        let mut sums = vec![0.0; self.rows];
        let mut is_there = vec![false; self.rows];
        let mut there: Vec<u32> = Vec::new();
        for column in 0..other.columns() {
            product.close_columns(column + 1);
            for (k, factor) in other.column(column) {
                for (row, value) in self.column(k) {
                    if !std::mem::replace(&mut is_there[row], true) {
                        there.push(row as u32);
                    }
                    sums[row] += value * factor;
                }
            }
            there.sort_unstable();
            for row in there.drain(..) {
                is_there[row as usize] = false;
                product.row_indices.push(row);
                product.values.push(std::mem::take(&mut sums[row as usize]));
            }
        }
        product.close_columns(other.columns() + 1);
        product
    }
}

#[cfg(test)]
mod tests {
    use super::SparseMatrix;

    /// The matrix as rows of all its numbers.
    fn dense(matrix: &SparseMatrix) -> Vec<Vec<f64>> {
        let mut rows = vec![vec![0.0; matrix.columns()]; matrix.rows];
        for (k, (row, value)) in
            (0..matrix.columns()).flat_map(|k| matrix.column(k).map(move |entry| (k, entry)))
        {
            rows[row][k] += value;
        }
        rows
    }

    #[test]
    fn products_and_transposes_are_those_of_dense_matrices() {
        let a = SparseMatrix::from_entries(
            [3, 4],
            vec![
                (2, 0, 1.0),
                (0, 2, 2.0),
                (2, 0, 0.5),
                (1, 3, -4.0),
                (0, 3, 3.0),
            ],
        );
        assert_eq!(a.column_starts, [0, 1, 1, 2, 4]);
        assert_eq!(a.values[0], 1.5, "entries of one place add up");
        let product = dense(&a.times(&a.transposed()));
        let a_dense = dense(&a);
        for i in 0..3 {
            for j in 0..3 {
                let sum: f64 = (0..4).map(|k| a_dense[i][k] * a_dense[j][k]).sum();
                assert_eq!(product[i][j], sum, "{i} {j}");
            }
        }
        assert_eq!(a.multiply(&[1.0, 9.0, 1.0, 1.0]), [5.0, -4.0, 1.5]);
    }
}
