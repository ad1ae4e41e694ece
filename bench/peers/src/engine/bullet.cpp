// A few C functions over Bullet's C++. The Rust side is bullet.rs; both must agree on every
// signature. Poses are seven floats: position, then quaternion x y z w.

#include <btBulletDynamicsCommon.h>

#include <memory>
#include <vector>

namespace {

struct World {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    std::vector<std::unique_ptr<btTypedConstraint>> joints;

    // Bullet's world holds plain pointers: take them out before their owners go.
    ~World() {
        for (auto &joint : joints) world.removeConstraint(joint.get());
        for (auto &body : bodies) world.removeRigidBody(body.get());
    }
};

btTransform transform(const float *pose) {
    return btTransform(btQuaternion(pose[3], pose[4], pose[5], pose[6]),
                       btVector3(pose[0], pose[1], pose[2]));
}

}  // namespace

extern "C" {

struct BulletBody {
    float pose[7];
    float velocity[3];
    float mass;  // 0 for fixed bodies
    float friction;
    float restitution;
};

World *peers_bullet_new(float gravity) {
    World *self = new World;
    self->world.setGravity(btVector3(0, gravity, 0));
    return self;
}

void peers_bullet_delete(World *self) { delete self; }

void peers_bullet_box(World *self, float x, float y, float z) {
    self->shapes.emplace_back(new btBoxShape(btVector3(x, y, z)));
}

void peers_bullet_sphere(World *self, float radius) {
    self->shapes.emplace_back(new btSphereShape(radius));
}

void peers_bullet_capsule(World *self, float half_length, float radius) {
    self->shapes.emplace_back(new btCapsuleShape(radius, 2 * half_length));
}

void peers_bullet_hull(World *self, const float *points, int count) {
    self->shapes.emplace_back(new btConvexHullShape(points, count, 3 * sizeof(float)));
}

// Adds a body with the shape made last.
void peers_bullet_body(World *self, const BulletBody *def) {
    btCollisionShape *shape = self->shapes.back().get();
    btVector3 inertia(0, 0, 0);
    if (def->mass > 0) shape->calculateLocalInertia(def->mass, inertia);
    btRigidBody::btRigidBodyConstructionInfo info(def->mass, nullptr, shape, inertia);
    info.m_startWorldTransform = transform(def->pose);
    info.m_friction = def->friction;
    info.m_restitution = def->restitution;
    auto body = std::make_unique<btRigidBody>(info);
    body->setLinearVelocity(btVector3(def->velocity[0], def->velocity[1], def->velocity[2]));
    body->setActivationState(DISABLE_DEACTIVATION);
    self->world.addRigidBody(body.get());
    self->bodies.push_back(std::move(body));
}

// A joint between two bodies from its frames in each; a hinge turns about the frames' z.
void peers_bullet_joint(World *self, int a, int b, const float *frame_a, const float *frame_b,
                        bool is_hinge) {
    btRigidBody &body_a = *self->bodies[a], &body_b = *self->bodies[b];
    btTransform in_a = transform(frame_a), in_b = transform(frame_b);
    std::unique_ptr<btTypedConstraint> joint;
    if (is_hinge)
        joint.reset(new btHingeConstraint(body_a, body_b, in_a, in_b));
    else
        joint.reset(
            new btPoint2PointConstraint(body_a, body_b, in_a.getOrigin(), in_b.getOrigin()));
    self->world.addConstraint(joint.get(), true);
    self->joints.push_back(std::move(joint));
}

void peers_bullet_step(World *self, float dt) { self->world.stepSimulation(dt, 0); }

void peers_bullet_pose(const World *self, int index, float *out) {
    const btTransform &at = self->bodies[index]->getWorldTransform();
    const btQuaternion turn = at.getRotation();
    const float pose[7] = {at.getOrigin().x(), at.getOrigin().y(), at.getOrigin().z(),
                           turn.x(),           turn.y(),           turn.z(),
                           turn.w()};
    for (int k = 0; k < 7; k++) out[k] = pose[k];
}
}
