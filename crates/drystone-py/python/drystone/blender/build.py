"""From Blender's objects to a world. Blender's axes stay as they are: gravity points along -z."""

import numpy as np

import drystone

#: Corners of a box that is meant by a shape, as a part of its size.
_NEAR = 1e-6


def build(scene):
    """The world of a scene's objects: the world, bodies by object, deformables by object."""
    settings = scene.drystone
    frame = 1.0 / (scene.render.fps / scene.render.fps_base)
    gravity = tuple(scene.gravity) if scene.use_gravity else (0.0, 0.0, 0.0)
    objects = [o for o in scene.objects if o.drystone.role != "NONE"]
    is_soft = any(o.drystone.role in {"CLOTH", "ROPE", "SOFT"} for o in objects)
    substeps = settings.substeps if settings.substeps > 0 else (4 if is_soft else 1)
    strategy = None if settings.strategy == "AUTO" else settings.strategy.lower()
    world = drystone.World(name=scene.name, dt=frame / substeps, gravity=gravity, strategy=strategy)
    bodies, soft = {}, {}
    for o in objects:
        if o.drystone.role in {"RIGID", "FIXED", "ANIMATED"}:
            bodies[o.name] = _body(world, scene, o)
    for o in objects:
        if o.drystone.role in {"CLOTH", "ROPE", "SOFT"}:
            soft[o.name] = _soft(world, o)
    for o in scene.objects:
        if o.type == "EMPTY" and o.drystone.joint != "NONE":
            _joint(world, o, bodies)
    return world, bodies, soft, substeps


def quaternion(rotation):
    """x, y, z, w of one of Blender's."""
    return [rotation.x, rotation.y, rotation.z, rotation.w]


def vertices(o):
    """Vertices in the object's own axes, with its scale."""
    flat = np.empty(3 * len(o.data.vertices), dtype=np.float32)
    o.data.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3).astype(float) * np.array(o.matrix_world.to_scale())


def triangles(o):
    """Triangles of a mesh."""
    o.data.calc_loop_triangles()
    flat = np.empty(3 * len(o.data.loop_triangles), dtype=np.int32)
    o.data.loop_triangles.foreach_get("vertices", flat)
    return flat.reshape(-1, 3)


def _shape(o):
    """The shape of a body, and where its origin is in the object's axes."""
    points = vertices(o)
    lower, upper = points.min(axis=0), points.max(axis=0)
    kind, size, middle = o.drystone.shape, upper - lower, (upper + lower) / 2
    if kind == "AUTO":
        at_corner = np.isclose(points, lower, atol=_NEAR * size.max()) | np.isclose(points, upper, atol=_NEAR * size.max())
        radii = np.linalg.norm(points - middle, axis=1)
        if len(points) == 8 and at_corner.all():
            kind = "BOX"
        elif len(points) > 40 and np.ptp(radii) < 1e-3 * radii.max():
            kind = "BALL"
        else:
            kind = "MESH" if o.drystone.role != "RIGID" else "HULL"
    if kind == "BOX":
        return {"box": {"size": size}}, middle
    if kind == "BALL":
        return {"ball": {"radius": float(np.linalg.norm(points - middle, axis=1).max())}}, middle
    if kind == "HULL":
        return {"hull": {"points": points}}, np.zeros(3)
    solid = {"decompose": {}} if o.drystone.role == "RIGID" else {}
    return {"mesh": {"points": points, "triangles": triangles(o), **solid}}, np.zeros(3)


def _surface(o):
    return {"friction": o.drystone.friction, "restitution": o.drystone.restitution, "name": o.name}


def _body(world, scene, o):
    shape, middle = _shape(o)
    place, rotation, _ = o.matrix_world.decompose()
    if np.any(middle):
        shape = {"compound": {"parts": [{"shape": shape, "position": middle}]}}
    given = _surface(o) | {"at": list(place), "rotation": quaternion(rotation)}
    role = o.drystone.role
    if role == "FIXED":
        return world.add(shape, fixed=True, **given)
    if role == "ANIMATED":
        return world.add(shape, kind="kinematic", script={"keyframes": _keyframes(scene, o)}, **given)
    mass = {"mass": o.drystone.mass} if o.drystone.mass > 0 else {"density": o.drystone.density}
    return world.add(shape, velocity=list(o.drystone.velocity), **mass, **given)


def _keyframes(scene, o):
    """Where an animated object is at every frame."""
    now, frames = scene.frame_current, []
    rate = scene.render.fps / scene.render.fps_base
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        place, rotation, _ = o.matrix_world.decompose()
        frames.append({"time": (frame - scene.frame_start) / rate, "position": list(place), "rotation": quaternion(rotation)})
    scene.frame_set(now)
    return frames


def _soft(world, o):
    place, rotation, _ = o.matrix_world.decompose()
    d = o.drystone
    cells = {}
    if d.role == "ROPE":
        cells["segments"] = np.array([edge.vertices[:] for edge in o.data.edges])
    elif d.role == "CLOTH":
        cells["triangles"] = triangles(o)
    else:
        return _jelly(world, o, place, rotation)
    group = o.vertex_groups.get("pinned")
    pinned = [] if group is None else [
        v.index for v in o.data.vertices if any(g.group == group.index and g.weight > 0.5 for g in v.groups)
    ]
    return world.soft_mesh(
        vertices(o), at=list(place), rotation=quaternion(rotation), name=o.name, young=d.young, density=d.density,
        thickness=d.thickness, friction=d.friction, bending=d.bending, pinned_nodes=pinned, **cells,
    )


def _jelly(world, o, place, rotation):
    """A soft box around the object, which its mesh then follows."""
    points = vertices(o)
    size, middle = np.ptp(points, axis=0), (points.max(axis=0) + points.min(axis=0)) / 2
    cells = np.maximum(1, np.round(size / (size.max() / 4))).astype(int)
    at = np.array(place) + np.array(o.matrix_world.to_quaternion().to_matrix()) @ middle
    return world.jelly(
        size, cells, at=at, rotation=quaternion(rotation), name=o.name, young=o.drystone.young,
        density=o.drystone.density, friction=o.drystone.friction,
    )


def _joint(world, o, bodies):
    ends = (o.drystone.a, o.drystone.b)
    if any(end is None or end.name not in bodies for end in ends):
        raise ValueError(f"the joint `{o.name}` needs two objects that are rigid, fixed or animated")
    place, rotation, _ = o.matrix_world.decompose()
    kind, more = o.drystone.joint.lower(), {}
    if kind in {"hinge", "slider"}:
        more["axis"] = list(rotation.to_matrix().col[2])
    if kind in {"rod", "rope"}:
        return world.joint(kind, *(bodies[end.name] for end in ends), name=o.name)
    return world.joint(kind, *(bodies[end.name] for end in ends), at=list(place), name=o.name, **more)
