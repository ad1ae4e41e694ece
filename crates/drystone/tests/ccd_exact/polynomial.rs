//! Polynomials with rational coefficients and the signs of them at each other's roots.

use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

/// Coefficients, lowest power first, without leading zeros; empty is zero.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Polynomial(Vec<BigRational>);

impl Polynomial {
    pub(crate) fn new(mut coefficients: Vec<BigRational>) -> Self {
        while coefficients.last().is_some_and(Zero::is_zero) {
            coefficients.pop();
        }
        Self(coefficients)
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    fn is_constant(&self) -> bool {
        self.0.len() <= 1
    }

    pub(crate) fn at(&self, x: &BigRational) -> BigRational {
        let zero = BigRational::zero();
        self.0.iter().rev().fold(zero, |sum, c| sum * x + c)
    }

    pub(crate) fn add(&self, other: &Self, factor: i64) -> Self {
        let factor = BigRational::from_integer(factor.into());
        let term = |list: &Self, k: usize| list.0.get(k).cloned().unwrap_or_else(BigRational::zero);
        let count = self.0.len().max(other.0.len());
        Self::new(
            (0..count)
                .map(|k| term(self, k) + term(other, k) * &factor)
                .collect(),
        )
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        let mut product = vec![BigRational::zero(); (self.0.len() + other.0.len()).max(1)];
        for (i, a) in self.0.iter().enumerate() {
            for (j, b) in other.0.iter().enumerate() {
                product[i + j] += a * b;
            }
        }
        Self::new(product)
    }

    fn derivative(&self) -> Self {
        let power = |k: usize| BigRational::from_integer(k.into());
        let terms = self.0.iter().enumerate().skip(1);
        Self::new(terms.map(|(k, c)| c * power(k)).collect())
    }

    fn divided(&self, by: &Self) -> (Self, Self) {
        let mut rest = self.0.clone();
        let lead = by.0.last().expect("a divisor that is not zero");
        let mut quotient = vec![BigRational::zero(); self.0.len()];
        while rest.len() >= by.0.len() {
            let factor = rest.last().expect("not empty") / lead;
            let shift = rest.len() - by.0.len();
            for (k, c) in by.0.iter().enumerate() {
                rest[shift + k] -= c * &factor;
            }
            quotient[shift] = factor;
            rest.pop();
        }
        (Self::new(quotient), Self::new(rest))
    }

    fn common(&self, other: &Self) -> Self {
        let (mut a, mut b) = (self.clone(), other.clone());
        while !b.is_zero() {
            let rest = a.divided(&b).1;
            a = b;
            b = rest;
        }
        let lead = a.0.last().cloned().unwrap_or_else(BigRational::one);
        Self::new(a.0.iter().map(|c| c / &lead).collect())
    }

    /// Sturm's chain.
    fn chain(&self) -> Vec<Self> {
        let mut chain = vec![self.clone(), self.derivative()];
        while !chain[chain.len() - 1].is_zero() {
            let rest = chain[chain.len() - 2].divided(&chain[chain.len() - 1]).1;
            chain.push(Self::new(rest.0.into_iter().map(|c| -c).collect()));
        }
        chain.pop();
        chain
    }

    /// The number of different roots in (from, to]. The polynomial has no double roots.
    fn roots_between(&self, from: &BigRational, to: &BigRational) -> usize {
        if self.is_constant() {
            return 0;
        }
        let chain = self.chain();
        let changes = |x: &BigRational| {
            let signs: Vec<bool> = chain
                .iter()
                .map(|p| p.at(x))
                .filter(|value| !value.is_zero())
                .map(|value| value.is_positive())
                .collect();
            signs.windows(2).filter(|pair| pair[0] != pair[1]).count()
        };
        changes(from) - changes(to)
    }

    /// The polynomial with every root once.
    fn without_repeats(&self) -> Self {
        if self.is_constant() {
            return self.clone();
        }
        self.divided(&self.common(&self.derivative())).0
    }

    /// The roots from 0 to 1, ascending.
    pub(crate) fn roots(&self) -> Vec<Root> {
        if self.is_constant() {
            return Vec::new();
        }
        let simple = self.without_repeats();
        let mut roots = Vec::new();
        if simple.at(&BigRational::zero()).is_zero() {
            roots.push(Root::at(BigRational::zero()));
        }
        simple.isolate(BigRational::zero(), BigRational::one(), &mut roots);
        roots
    }

    fn isolate(&self, from: BigRational, to: BigRational, roots: &mut Vec<Root>) {
        match self.roots_between(&from, &to) {
            0 => {}
            1 if self.at(&to).is_zero() => roots.push(Root::at(to)),
            1 => roots.push(Root {
                of: self.clone(),
                from,
                to,
            }),
            _ => {
                let middle = (&from + &to) / BigRational::from_integer(2.into());
                self.isolate(from, middle.clone(), roots);
                self.isolate(middle, to, roots);
            }
        }
    }
}

/// The only root of a polynomial in (from, to], or the number `from` = `to`.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    of: Polynomial,
    from: BigRational,
    to: BigRational,
}

impl Root {
    /// A rational number.
    pub(crate) fn at(x: BigRational) -> Self {
        Self {
            of: Polynomial::new(vec![-x.clone(), BigRational::one()]),
            from: x.clone(),
            to: x,
        }
    }

    fn halve(&mut self) {
        let middle = (&self.from + &self.to) / BigRational::from_integer(2.into());
        if self.of.roots_between(&self.from, &middle) == 1 {
            self.to = middle;
        } else {
            self.from = middle;
        }
    }

    /// The sign of a polynomial at this root: −1, 0 or 1.
    pub(crate) fn sign(&self, of: &Polynomial) -> i32 {
        let sign =
            |value: BigRational| i32::from(value.is_positive()) - i32::from(value.is_negative());
        if of.is_constant() || self.from == self.to {
            return sign(of.at(&self.to));
        }
        let common = self.of.common(of);
        if common.roots_between(&self.from, &self.to) == 1 {
            return 0;
        }
        let simple = of.without_repeats();
        let mut narrow = self.clone();
        while narrow.from != narrow.to
            && (simple.roots_between(&narrow.from, &narrow.to) > 0
                || simple.at(&narrow.from).is_zero())
        {
            narrow.halve();
        }
        sign(of.at(&narrow.to))
    }
}
