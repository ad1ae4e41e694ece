//! Builds the C++ that lies between this crate and Bullet, where Bullet is asked for.

fn main() {
    println!("cargo:rerun-if-changed=src/engine/bullet.cpp");
    #[cfg(feature = "bullet")]
    {
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
}
