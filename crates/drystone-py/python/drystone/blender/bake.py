"""Baking: frames in a file as they come, then key frames and vertex caches.

The frames, and from time to time the whole world, are kept in a folder: a bake that was ended, by a
crash too, goes on where it was, bit by bit.
"""

import json
import os
import struct
from pathlib import Path

import bpy
import numpy as np

import drystone

from .build import build, quaternion

#: Frames from one saved world to the next.
STATE_EVERY = 10


class Bake:
    """A bake in the making; ``step()`` makes a frame and says whether there are more."""

    def __init__(self, scene, folder=None):
        self.scene = scene
        self.folder = Path(folder or _folder(scene))
        self.folder.mkdir(parents=True, exist_ok=True)
        self.world, self.bodies, self.soft, self.substeps = build(scene)
        self.count = scene.frame_end - scene.frame_start + 1
        self.width = self.world.poses.size
        self.worst = []
        if not self._resume():
            self._frames_file().write_bytes(b"")
            self.frame = 0
            self._keep()

    @property
    def progress(self):
        """Part that is done, 0 to 1."""
        return self.frame / self.count

    def step(self):
        """Makes a frame; false at the end."""
        if self.frame >= self.count:
            return False
        residual = depth = 0.0
        for _ in range(self.substeps):
            self.world.step()
            certificate = self.world.certificate
            if certificate is not None:
                residual = max(residual, certificate.residual_m_s)
                depth = max(depth, certificate.penetration_m)
        self.worst.append((residual, depth))
        self._keep()
        return self.frame < self.count

    def frames(self):
        """Poses of all bodies at all frames."""
        return np.fromfile(self._frames_file()).reshape(-1, *self.world.poses.shape)

    def finish(self):
        """Key frames, caches, report."""
        frames = self.frames()
        for name, body in self.bodies.items():
            o = self.scene.objects[name]
            if o.drystone.role == "RIGID":
                _key(o, frames[:, body], self.scene.frame_start)
        for name, soft in self.soft.items():
            _cache(self.scene.objects[name], frames[:, soft.bodies, :3], self.folder, self.scene)
        self._report(frames)
        (self.folder / "state.json").unlink(missing_ok=True)

    def _frames_file(self):
        return self.folder / "frames.f64"

    def _print(self):
        """What the bake is of: another scene begins anew."""
        return {"scene": self.world.to_toml(), "frames": self.count, "substeps": self.substeps}

    def _keep(self):
        """Writes the present frame, and now and then the world."""
        with open(self._frames_file(), "ab") as file:
            file.write(np.ascontiguousarray(self.world.poses).tobytes())
        self.frame += 1
        if self.frame % STATE_EVERY == 0:
            state = self.folder / "state.dryworld"
            self.world.save(f"{state}.new")
            told = {"frame": self.frame, "worst": self.worst, "of": self._print()}
            (self.folder / "state.json.new").write_text(json.dumps(told))
            os.replace(f"{state}.new", state)
            os.replace(self.folder / "state.json.new", self.folder / "state.json")

    def _resume(self):
        state, told = self.folder / "state.dryworld", self.folder / "state.json"
        if not (state.exists() and told.exists()):
            return False
        told = json.loads(told.read_text())
        if told["of"] != self._print():
            return False
        world = drystone.load(state)
        if world.steps != (told["frame"] - 1) * self.substeps:
            return False
        with open(self._frames_file(), "r+b") as file:
            file.truncate(8 * self.width * told["frame"])
        self.world, self.frame, self.worst = world, told["frame"], [tuple(w) for w in told["worst"]]
        self.soft = {name: drystone.Deformable(world, int(soft)) for name, soft in self.soft.items()}
        return True

    def _report(self, frames):
        worst = np.array(self.worst or [(0.0, 0.0)])
        text = bpy.data.texts.get("Drystone certificate") or bpy.data.texts.new("Drystone certificate")
        text.clear()
        text.write(
            f"{len(self.bodies)} bodies, {len(self.soft)} deformables, {len(frames)} frames\n"
            f"worst residual {worst[:, 0].max():.3g} m/s at frame {worst[:, 0].argmax() + 1 + self.scene.frame_start}\n"
            f"deepest overlap {1e3 * worst[:, 1].max():.3g} mm at frame {worst[:, 1].argmax() + 1 + self.scene.frame_start}\n"
        )
        # Green where the bake ended deep enough apart, red from 5 mm of overlap on.
        contacts = self.world.contacts
        for name, body in self.bodies.items():
            own = (contacts.bodies == int(body)).any(axis=1)
            depth = max(0.0, -contacts.separations[own].min(initial=0.0))
            bad = min(1.0, depth / 5e-3)
            self.scene.objects[name].color = (0.2 + 0.8 * bad, 0.8 - 0.6 * bad, 0.2, 1.0)


def bake(scene, folder=None):
    """Bakes a whole scene."""
    made = Bake(scene, folder)
    while made.step():
        pass
    made.finish()
    return made


def clear(scene):
    """Takes away what a bake made."""
    for o in scene.objects:
        if o.drystone.role == "RIGID":
            o.animation_data_clear()
        for modifier in [m for m in o.modifiers if m.name == "Drystone"]:
            o.modifiers.remove(modifier)
    for name in ("state.json", "state.dryworld", "frames.f64"):
        (Path(_folder(scene)) / name).unlink(missing_ok=True)


def _folder(scene):
    blend = Path(bpy.data.filepath) if bpy.data.filepath else Path(bpy.app.tempdir or "/tmp") / "untitled.blend"
    return blend.with_name(f"{blend.stem}_drystone") / bpy.path.clean_name(scene.name)


def _key(o, poses, start):
    """Key frames of an object, one a frame."""
    o.animation_data_clear()
    o.rotation_mode = "QUATERNION"
    before = None
    for k, pose in enumerate(poses):
        rotation = np.array([pose[6], *pose[3:6]])
        # Both signs are the same rotation: take the one that is nearer to the last.
        if before is not None and rotation @ before < 0:
            rotation = -rotation
        before = rotation
        o.location, o.rotation_quaternion = pose[:3], rotation
        o.keyframe_insert("location", frame=start + k)
        o.keyframe_insert("rotation_quaternion", frame=start + k)


def _cache(o, nodes, folder, scene):
    """A vertex cache (PC2) of a deformable, and the modifier that plays it."""
    place, rotation, scale = o.matrix_world.decompose()
    turn = np.array(rotation.to_matrix())
    local = ((nodes - np.array(place)) @ turn) / np.array(scale)
    path = Path(folder) / f"{bpy.path.clean_name(o.name)}.pc2"
    with open(path, "wb") as file:
        file.write(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, local.shape[1], float(scene.frame_start), 1.0, len(local)))
        file.write(local.astype("<f4").tobytes())
    modifier = o.modifiers.get("Drystone") or o.modifiers.new("Drystone", "MESH_CACHE")
    modifier.cache_format, modifier.filepath = "PC2", str(path)
    modifier.frame_start = scene.frame_start
    return quaternion(rotation)
