//! Kernels of joint nets, eight joints in SIMD lanes.

#![allow(clippy::needless_range_loop)] // Rows and columns of matrices.

use super::{Group, Layout};
use crate::geometry::Space;
use crate::math::algebra::manifold_algebra::{V3, add, zero};
use crate::math::simd::{Column, LANES, Wide, dispatch};
use crate::parallel::shared_slice::SharedSlice;

/// Eight rows of an array, transposed.
#[inline(always)]
fn gather<V: Wide>(from: &SharedSlice<'_, Column>, places: &[u32; LANES]) -> [V; LANES] {
    let mut rows = [zero::<V>(); LANES];
    for k in 0..LANES {
        rows[k] = V::load(&from.read(places[k] as usize));
    }
    V::transpose(rows)
}

#[inline(always)]
fn scatter<V: Wide>(to: &SharedSlice<'_, Column>, places: &[u32; LANES], columns: [V; LANES]) {
    let rows = V::transpose(columns);
    for k in 0..LANES {
        let mut row = Column::default();
        rows[k].store(&mut row);
        to.write(places[k] as usize, row);
    }
}

#[inline(always)]
fn vector<S: Space, V: Wide>(numbers: &[Column], first: usize) -> V3<V> {
    let mut v = [zero::<V>(); 3];
    for axis in 0..S::DIM {
        v[axis] = V::load(&numbers[first + axis]);
    }
    v
}

#[inline(always)]
fn cross<V: Wide>(a: V3<V>, b: V3<V>) -> V3<V> {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// ρ: what a turn moves the end of an arm by.
#[inline(always)]
fn swung<S: Space, V: Wide>(x: &[V; LANES], arm: V3<V>) -> V3<V> {
    let half = V::splat(0.5);
    if S::DIM == 2 {
        let turn = x[2];
        let shrink = half * turn * turn;
        return [
            -(turn * arm[1]) - shrink * arm[0],
            turn * arm[0] - shrink * arm[1],
            zero::<V>(),
        ];
    }
    let turn = [x[3], x[4], x[5]];
    let first = cross(turn, arm);
    let second = cross(turn, first);
    add(first, second.map(|part| half * part))
}

/// arm × impulse.
#[inline(always)]
fn moment<S: Space, V: Wide>(arm: V3<V>, impulse: V3<V>) -> V3<V> {
    if S::DIM == 2 {
        let o = zero::<V>();
        return [arm[0] * impulse[1] - arm[1] * impulse[0], o, o];
    }
    cross(arm, impulse)
}

fn unit<V: Wide>(axis: usize) -> V3<V> {
    let mut unit = [zero::<V>(); 3];
    unit[axis] = V::splat(1.0);
    unit
}

/// Inverse inertia (xx, yy, zz, xy, xz, yz; in the plane xx) times a moment.
#[inline(always)]
fn turned<S: Space, V: Wide>(i: &[V; LANES], m: V3<V>) -> V3<V> {
    let o = zero::<V>();
    if S::SPIN_DIM == 1 {
        return [i[0] * m[0], o, o];
    }
    [
        i[0] * m[0] + i[3] * m[1] + i[4] * m[2],
        i[3] * m[0] + i[1] * m[1] + i[5] * m[2],
        i[4] * m[0] + i[5] * m[1] + i[2] * m[2],
    ]
}

/// Works out what impulses do at the joints, and forgets their sums.
#[inline(always)]
fn prepare_kernel<S: Space, V: Wide>(
    groups: &[Group],
    numbers: &mut [Column],
    masses: &SharedSlice<'_, Column>,
    inertias: &SharedSlice<'_, Column>,
) {
    let all = numbers.chunks_exact_mut(Layout::<S>::COUNT);
    for (group, numbers) in groups.iter().zip(all) {
        let mut k = [[zero::<V>(); 3]; 3];
        for side in 0..2 {
            let mass = gather::<V>(masses, &group.ends[side]);
            let inertia = gather::<V>(inertias, &group.ends[side]);
            let arm = vector::<S, V>(numbers, Layout::<S>::ARM + side * S::DIM);
            let size = Layout::<S>::INERTIA_SIZE;
            for i in 0..size {
                inertia[i].store(&mut numbers[Layout::<S>::INERTIA + side * size + i]);
            }
            for i in 0..S::DIM {
                mass[i].store(&mut numbers[Layout::<S>::MASS + side * S::DIM + i]);
                k[i][i] = k[i][i] + mass[i];
                let turn = turned::<S, V>(&inertia, moment::<S, V>(arm, unit(i)));
                for j in 0..=i {
                    let other = moment::<S, V>(arm, unit(j));
                    for axis in 0..S::SPIN_DIM {
                        k[i][j] = k[i][j] + turn[axis] * other[axis];
                    }
                }
            }
        }
        let inverse = inverted::<S, V>(k);
        let mut place = Layout::<S>::INVERSE;
        for i in 0..S::DIM {
            for j in 0..=i {
                inverse[i][j].store(&mut numbers[place]);
                place += 1;
            }
            numbers[Layout::<S>::PULL + i] = Column::default();
        }
    }
}

/// The lower triangle of the inverse of a symmetric matrix, of which only that is read.
#[inline(always)]
fn inverted<S: Space, V: Wide>(mut k: [V3<V>; 3]) -> [V3<V>; 3] {
    let least = V::splat(1e-30);
    let mut trace = zero::<V>();
    for i in 0..S::DIM {
        trace = trace + k[i][i];
    }
    // Numbers near 1: masses may be of any size.
    let scale = V::splat(1.0) / trace.most(least);
    for row in &mut k {
        *row = row.map(|number| number * scale);
    }
    let o = zero::<V>();
    let mut inverse = [[o; 3]; 3];
    let determinant = if S::DIM == 2 {
        inverse[0][0] = k[1][1];
        inverse[1][0] = -k[1][0];
        inverse[1][1] = k[0][0];
        k[0][0] * k[1][1] - k[1][0] * k[1][0]
    } else {
        inverse[0][0] = k[1][1] * k[2][2] - k[2][1] * k[2][1];
        inverse[1][0] = k[2][1] * k[2][0] - k[1][0] * k[2][2];
        inverse[2][0] = k[1][0] * k[2][1] - k[1][1] * k[2][0];
        inverse[1][1] = k[0][0] * k[2][2] - k[2][0] * k[2][0];
        inverse[2][1] = k[1][0] * k[2][0] - k[0][0] * k[2][1];
        inverse[2][2] = k[0][0] * k[1][1] - k[1][0] * k[1][0];
        k[0][0] * inverse[0][0] + k[1][0] * inverse[1][0] + k[2][0] * inverse[2][0]
    };
    let scale = scale / determinant.most(least);
    inverse.map(|row| row.map(|number| number * scale))
}

/// Closes joints of one colour.
#[inline(always)]
fn sweep_kernel<S: Space, V: Wide>(
    groups: &[Group],
    numbers: &mut [Column],
    x: &SharedSlice<'_, Column>,
) {
    let all = numbers.chunks_exact_mut(Layout::<S>::COUNT);
    for (group, numbers) in groups.iter().zip(all) {
        let mut a = gather::<V>(x, &group.ends[0]);
        let mut b = gather::<V>(x, &group.ends[1]);
        let arm_a = vector::<S, V>(numbers, Layout::<S>::ARM);
        let arm_b = vector::<S, V>(numbers, Layout::<S>::ARM + S::DIM);
        let (swung_a, swung_b) = (swung::<S, V>(&a, arm_a), swung::<S, V>(&b, arm_b));
        let gap = vector::<S, V>(numbers, Layout::<S>::GAP);
        let mut open = [zero::<V>(); 3];
        for axis in 0..S::DIM {
            open[axis] = gap[axis] + (b[axis] - a[axis]) + (swung_b[axis] - swung_a[axis]);
        }
        let pull = pull::<S, V>(numbers, &open);
        let mass = Layout::<S>::MASS;
        for axis in 0..S::DIM {
            let sum = &mut numbers[Layout::<S>::PULL + axis];
            (V::load(sum) + pull[axis]).store(sum);
            a[axis] = a[axis] - V::load(&numbers[mass + axis]) * pull[axis];
            b[axis] = b[axis] + V::load(&numbers[mass + S::DIM + axis]) * pull[axis];
        }
        // Arms as they are by now: with those at the start, taut nets would make energy.
        let size = Layout::<S>::INERTIA_SIZE;
        let inertia = inertia::<S, V>(numbers, Layout::<S>::INERTIA);
        let turn_a = turned::<S, V>(&inertia, moment::<S, V>(add(arm_a, swung_a), pull));
        let inertia = self::inertia::<S, V>(numbers, Layout::<S>::INERTIA + size);
        let turn_b = turned::<S, V>(&inertia, moment::<S, V>(add(arm_b, swung_b), pull));
        for axis in 0..S::SPIN_DIM {
            a[S::DIM + axis] = a[S::DIM + axis] - turn_a[axis];
            b[S::DIM + axis] = b[S::DIM + axis] + turn_b[axis];
        }
        scatter(x, &group.ends[0], a);
        scatter(x, &group.ends[1], b);
    }
}

/// P: what closes eight joints that are open by so much.
#[inline(always)]
fn pull<S: Space, V: Wide>(numbers: &[Column], open: &V3<V>) -> V3<V> {
    let mut pull = [zero::<V>(); 3];
    for i in 0..S::DIM {
        for j in 0..S::DIM {
            let (low, high) = (i.min(j), i.max(j));
            let place = Layout::<S>::INVERSE + high * (high + 1) / 2 + low;
            pull[i] = pull[i] - V::load(&numbers[place]) * open[j];
        }
    }
    pull
}

#[inline(always)]
fn inertia<S: Space, V: Wide>(numbers: &[Column], first: usize) -> [V; LANES] {
    let mut inertia = [zero::<V>(); LANES];
    for k in 0..Layout::<S>::INERTIA_SIZE {
        inertia[k] = V::load(&numbers[first + k]);
    }
    inertia
}

dispatch! {
    /// Works out what impulses do at the joints of some groups, whose numbers these are.
    fn prepare<S: Space>(
        groups: &[Group],
        numbers: &mut [Column],
        masses: &SharedSlice<'_, Column>,
        inertias: &SharedSlice<'_, Column>,
    ) = prepare_kernel
}
dispatch! {
    /// Closes the joints of some groups of one colour, whose numbers these are.
    fn sweep<S: Space>(
        groups: &[Group],
        numbers: &mut [Column],
        x: &SharedSlice<'_, Column>,
    ) = sweep_kernel
}
