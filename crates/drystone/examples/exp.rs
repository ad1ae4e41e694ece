use drystone::glam::{DQuat, DVec2, DVec3};
use drystone::*;
use std::time::Instant;
struct Lcg(u64);
impl Lcg {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) as f64) / (1u64 << 31) as f64
    }
    fn sym(&mut self) -> f64 {
        2.0 * self.next() - 1.0
    }
}
fn env(n: &str, d: f64) -> f64 {
    std::env::var(n)
        .ok()
        .and_then(|v| v.parse().ok())
        .unwrap_or(d)
}
fn settings<S: Space>() -> Settings<S> {
    let mut r = Realtime::default();
    r.rounds = env("ROUNDS", r.rounds as f64) as u32;
    r.exact_points = env("POINTS", r.exact_points as f64) as u32;
    r.exact_speed = env("SPEED", r.exact_speed);
    r.sleep_after = env("SLEEP", r.sleep_after);
    let strategy = if env("REF", 0.0) > 0.0 {
        Strategy::Velocity
    } else {
        Strategy::Realtime(r)
    };
    let mut s = Settings {
        dt: env("DT", 1.0 / 60.0),
        strategy,
        certify_every: env("CERT", 0.0) as u32,
        threads: env("THREADS", 1.0) as u32,
        ..Settings::default()
    };
    if env("REF", 0.0) > 0.0 {
        s.solver = SolverKind::Auto(Auto::default());
    }
    s
}
fn report<S: Space>(name: &str, world: &mut World<S>, seconds: f64) {
    let start: Vec<_> = world.bodies().position.clone();
    let n = (seconds / world.settings().dt).round() as usize;
    let mut times = Vec::new();
    let mut marks = vec![];
    let (mut res, mut resn) = (0.0_f64, 0.0);
    for k in 0..n {
        let t = Instant::now();
        let rep = match world.step() {
            Ok(r) => r,
            Err(e) => {
                println!("{name}: step {k} {e}");
                return;
            }
        };
        times.push(t.elapsed().as_secs_f64() * 1e3);
        if let Some(c) = rep.certificate {
            res = res.max(c.residual_m_s);
            resn += c.residual_m_s;
        }
        if [n / 20, n / 4, n / 2, n - 1].contains(&k) {
            let m = world
                .bodies()
                .position
                .iter()
                .zip(&start)
                .map(|(a, b)| (*a - *b).length())
                .enumerate()
                .filter(|(i, _)| world.bodies().is_dynamic(*i))
                .map(|x| x.1);
            let mut m: Vec<f64> = m.collect();
            m.sort_by(f64::total_cmp);
            marks.push(format!(
                "{:.1}s max {:.3e} mid {:.1e}",
                (k + 1) as f64 * world.settings().dt,
                m[m.len() - 1],
                m[m.len() / 2]
            ));
        }
    }
    let mean = times.iter().sum::<f64>() / n as f64;
    let first: f64 = times[..n.min(60)].iter().sum::<f64>() / 60.0;
    times.sort_by(f64::total_cmp);
    println!(
        "{name}: {} | ms mean {:.3} first-second {:.3} p95 {:.3} max {:.2} | res max {:.2e} mean {:.2e}",
        marks.join(", "),
        mean,
        first,
        times[n * 95 / 100],
        times[n - 1],
        res,
        resn / n as f64
    );
}
fn mat<S: Space>(w: &mut World<S>, mu: f64) -> MaterialId {
    w.materials
        .add(Material {
            friction: mu,
            ..Material::default()
        })
        .unwrap()
}
fn arch(n: usize, t: f64, mu: f64) -> World2 {
    let mut w = World2::new(settings()).unwrap();
    let m = mat(&mut w, mu);
    w.add(Body::fixed(Shape2::half_space(DVec2::Y).unwrap()).of(m))
        .unwrap();
    let d = std::f64::consts::PI / n as f64;
    for k in 0..n {
        let a = d * k as f64;
        let p = |r: f64, a: f64| DVec2::new(r * a.cos(), r * a.sin());
        let c = p(1.0, a + 0.5 * d);
        let pts = [
            p(1.0 - t / 2.0, a) - c,
            p(1.0 + t / 2.0, a) - c,
            p(1.0 + t / 2.0, a + d) - c,
            p(1.0 - t / 2.0, a + d) - c,
        ];
        w.add(Body::rigid(Shape2::hull(&pts).unwrap()).at(c).of(m))
            .unwrap();
    }
    w
}
fn tower(n: usize, jitter: f64, seed: u64) -> World3 {
    let mut w = World3::new(settings()).unwrap();
    w.add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()))
        .unwrap();
    let mut r = Lcg(seed);
    for k in 0..n {
        w.add(
            Body::rigid(Shape3::cuboid(DVec3::splat(0.5)).unwrap()).at(DVec3::new(
                jitter * r.sym(),
                0.5 + k as f64,
                jitter * r.sym(),
            )),
        )
        .unwrap();
    }
    w
}
fn wall(seed: u64, hole: bool, mu: f64) -> World3 {
    let mut w = World3::new(settings()).unwrap();
    let m = mat(&mut w, mu);
    w.add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()).of(m))
        .unwrap();
    let mut r = Lcg(seed);
    let mut y = 0.0;
    while y < 2.0 {
        let h = 0.2 + 0.12 * r.next();
        let mut x = -3.5;
        while x < 3.5 {
            let l = 0.3 + 0.45 * r.next();
            let l = if x + l > 3.2 { 3.5 - x } else { l };
            let depth = 0.6 - 0.1 * y;
            let c = DVec3::new(x + l / 2.0, y + h / 2.0, 0.02 * r.sym());
            let in_hole = hole && c.x.abs() < 0.35 && c.y > 0.3 && c.y < 1.0;
            if !in_hole {
                w.add(
                    Body::rigid(
                        Shape3::cuboid(DVec3::new(l / 2.0 - 0.001, h / 2.0, depth / 2.0)).unwrap(),
                    )
                    .at(c)
                    .of(m),
                )
                .unwrap();
            }
            x += l;
        }
        y += h;
    }
    w
}
fn grip(mu: f64) -> World3 {
    let mut w = World3::new(settings()).unwrap();
    let m = mat(&mut w, mu);
    let s = |h| Shape3::cuboid(h).unwrap();
    w.add(
        Body::fixed(s(DVec3::splat(0.5)))
            .at(DVec3::new(-0.6, 0.0, 0.0))
            .of(m),
    )
    .unwrap();
    let mass = 8.0;
    let need = mass * 9.81 / (2.0 * mu);
    w.add(Body::rigid(s(DVec3::splat(0.1))).with_mass(mass).of(m))
        .unwrap();
    let mut plate = Body::rigid(s(DVec3::splat(0.5)))
        .with_mass(20.0)
        .at(DVec3::new(0.6, 0.0, 0.0))
        .of(m);
    plate.pushes = vec![Push {
        force: DVec3::new(-1.5 * need, 20.0 * 9.81, 0.0),
        rate: DVec3::ZERO,
        point: DVec3::ZERO,
    }];
    w.add(plate).unwrap();
    w
}
fn slope(mu: f64, tan: f64) -> World3 {
    let mut w = World3::new(settings()).unwrap();
    let m = mat(&mut w, mu);
    let a = tan.atan();
    w.add(Body::fixed(Shape3::half_space(DVec3::new(-a.sin(), a.cos(), 0.0)).unwrap()).of(m))
        .unwrap();
    let n = DVec3::new(-a.sin(), a.cos(), 0.0);
    w.add(
        Body::rigid(Shape3::cuboid(DVec3::splat(0.25)).unwrap())
            .at(n * 0.25)
            .turned(DQuat::from_rotation_z(a))
            .of(m),
    )
    .unwrap();
    w
}
fn heap(n: usize) -> World3 {
    let mut w = World3::new(settings()).unwrap();
    w.add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()))
        .unwrap();
    let mut r = Lcg(3);
    for k in 0..n {
        let (i, j, l) = (k % 10, (k / 10) % 10, k / 100);
        let s = if k % 2 == 0 {
            Shape3::cuboid(DVec3::new(0.2, 0.15, 0.25)).unwrap()
        } else {
            Shape3::ball(0.2).unwrap()
        };
        w.add(Body::rigid(s).at(DVec3::new(
            i as f64 * 0.6 + 0.05 * r.sym(),
            0.5 + l as f64 * 0.6,
            j as f64 * 0.6 + 0.05 * r.sym(),
        )))
        .unwrap();
    }
    w
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let f = |k: usize, d: f64| a.get(k).and_then(|s| s.parse().ok()).unwrap_or(d);
    let secs = env("SECS", 20.0);
    match a[1].as_str() {
        "arch" => report(
            &format!("arch {} {}", f(2, 25.0), f(3, 0.12)),
            &mut arch(f(2, 25.0) as usize, f(3, 0.12), f(4, 0.7)),
            secs,
        ),
        "tower" => report(
            &format!("tower {}", f(2, 40.0)),
            &mut tower(f(2, 40.0) as usize, f(3, 0.02), f(4, 1.0) as u64),
            secs,
        ),
        "wall" => report(
            "wall",
            &mut wall(f(2, 1.0) as u64, f(3, 1.0) > 0.0, f(4, 0.6)),
            secs,
        ),
        "grip" => report("grip", &mut grip(f(2, 0.5)), secs),
        "slope" => report("slope", &mut slope(f(2, 0.5), f(3, 0.5)), secs),
        "heavy" => {
            let mut w = World3::new(settings()).unwrap();
            w.add(Body::fixed(Shape3::half_space(DVec3::Y).unwrap()))
                .unwrap();
            let n = f(2, 4.0) as usize;
            for k in 0..n {
                w.add(
                    Body::rigid(Shape3::cuboid(DVec3::splat(0.5)).unwrap())
                        .at(DVec3::new(0.0, 0.5 + k as f64, 0.0))
                        .with_mass(1.0),
                )
                .unwrap();
            }
            w.add(
                Body::rigid(Shape3::cuboid(DVec3::splat(0.5)).unwrap())
                    .at(DVec3::new(0.0, n as f64 + 0.5 + f(4, 0.3), 0.0))
                    .with_mass(f(3, 100.0)),
            )
            .unwrap();
            report("heavy", &mut w, secs)
        }
        "heap" => report("heap", &mut heap(f(2, 300.0) as usize), secs),
        _ => panic!(),
    }
}
