//! Builds the little C and C++ that lies between this crate and Bullet and MuJoCo, where they
//! are asked for.

fn main() {
    println!("cargo:rerun-if-changed=src/engine/bullet.cpp");
    println!("cargo:rerun-if-changed=src/engine/mujoco.c");
    #[cfg(feature = "bullet")]
    build_bullet();
    #[cfg(feature = "mujoco")]
    build_mujoco();
}

#[cfg(feature = "bullet")]
fn build_bullet() {
    cc::Build::new()
        .cpp(true)
        .file("src/engine/bullet.cpp")
        .include("/usr/include/bullet")
        .flag_if_supported("-Wno-unused-parameter")
        .compile("peers_bullet");
    for library in ["BulletDynamics", "BulletCollision", "LinearMath"] {
        println!("cargo:rustc-link-lib={library}");
    }
}

/// MUJOCO_DIR is the folder `mujoco` of an unpacked wheel of `mujoco-core`; the script `run`
/// unpacks one.
#[cfg(feature = "mujoco")]
fn build_mujoco() {
    println!("cargo:rerun-if-env-changed=MUJOCO_DIR");
    let folder = std::env::var("MUJOCO_DIR")
        .expect("the feature `mujoco` needs MUJOCO_DIR: start with bench/peers/run");
    cc::Build::new()
        .file("src/engine/mujoco.c")
        .include(format!("{folder}/include"))
        .compile("peers_mujoco");
    println!("cargo:rustc-link-search=native={folder}");
    println!("cargo:rustc-link-lib=mujoco");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
}
