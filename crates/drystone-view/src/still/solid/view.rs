//! The perspective camera, and the small frame of reference in which the picture is computed.
//!
//! Positions are single precision relative to the middle of the subject, so a scene far from the
//! world's origin looks the same as one at it.

use crate::still::framing::{Standpoint, Subject};
use glamx::{DVec3, Vec2, Vec3};

/// A perspective camera over a picture.
pub(in crate::still) struct View {
    /// Columns of the picture.
    pub(super) width: u32,
    /// Rows of the picture.
    pub(super) height: u32,
    /// World position in m of the origin of all single precision positions.
    pub(super) origin: DVec3,
    /// The camera, relative to the origin.
    pub(super) eye: Vec3,
    right: Vec3,
    up: Vec3,
    back: Vec3,
    /// Pixels per unit of the tangent of the angle to the axis.
    pub(super) focal_px: f32,
    /// Nothing nearer than this is seen, in m.
    pub(super) near: f32,
    /// Radius of the subject in m.
    pub(super) radius: f32,
}

impl View {
    /// A camera at a standpoint for a picture of the given size in pixels.
    pub(in crate::still) fn new(
        standpoint: &Standpoint,
        subject: &Subject,
        width: u32,
        height: u32,
    ) -> Self {
        let (right, up, back) = standpoint.axes();
        let distance = standpoint.eye.distance(subject.centre);
        Self {
            width,
            height,
            origin: subject.centre,
            eye: (standpoint.eye - subject.centre).as_vec3(),
            right: right.as_vec3(),
            up: up.as_vec3(),
            back: back.as_vec3(),
            focal_px: (f64::from(height) / 2.0 / standpoint.tan_half) as f32,
            near: (1e-3 * distance.min(subject.radius)) as f32,
            radius: subject.radius as f32,
        }
    }

    /// A world position relative to the origin.
    pub(super) fn relative(&self, world: DVec3) -> Vec3 {
        (world - self.origin).as_vec3()
    }

    /// Distance in front of the camera along its axis.
    pub(super) fn depth(&self, point: Vec3) -> f32 {
        (self.eye - point).dot(self.back)
    }

    /// Column and row of a point in front of the camera.
    pub(super) fn project(&self, point: Vec3) -> Vec2 {
        let ray = point - self.eye;
        let scale = self.focal_px / self.depth(point);
        self.middle() + Vec2::new(ray.dot(self.right), -ray.dot(self.up)) * scale
    }

    /// The point of the ray through a pixel position, per unit of depth.
    pub(super) fn ray(&self, pixel: Vec2) -> Vec3 {
        let offset = (pixel - self.middle()) / self.focal_px;
        self.right * offset.x - self.up * offset.y - self.back
    }

    /// How a quantity that is linear along rays, `direction . ray(pixel)`, changes over the
    /// picture: its value at pixel (0, 0) and its growth per column and row.
    pub(super) fn linear_over_picture(&self, direction: Vec3) -> (f32, Vec2) {
        let per_pixel = Vec2::new(direction.dot(self.right), -direction.dot(self.up));
        let slope = per_pixel / self.focal_px;
        (direction.dot(self.ray(Vec2::ZERO)), slope)
    }

    /// Pixels that one metre covers at a point, at least at the near plane.
    pub(super) fn pixels_per_metre(&self, point: Vec3) -> f32 {
        self.focal_px / self.depth(point).max(self.near)
    }

    fn middle(&self) -> Vec2 {
        Vec2::new(self.width as f32, self.height as f32) / 2.0
    }

    /// The pixel position of a world position, `None` behind the camera.
    pub(in crate::still) fn pixel(&self, world: DVec3) -> Option<Vec2> {
        let point = self.relative(world);
        (self.depth(point) > self.near).then(|| self.project(point))
    }
}
