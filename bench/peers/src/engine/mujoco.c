// A few functions over MuJoCo's C interface. The Rust side is mujoco.rs; both must agree on
// every signature.

#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct World {
    mjModel *model;
    mjData *data;
};

static void ignore(const char *message) { (void)message; }

// Builds a world from a description in MJCF; null and words in `error` where that fails.
struct World *peers_mujoco_new(const char *xml, char *error, int error_size) {
    // Warnings are counted in mjData and read after every step; by default they go to a file.
    mju_user_warning = ignore;
    mjSpec *spec = mj_parseXMLString(xml, NULL, error, error_size);
    if (!spec) return NULL;
    mjModel *model = mj_compile(spec, NULL);
    if (!model) snprintf(error, error_size, "%s", mjs_getError(spec));
    mj_deleteSpec(spec);
    if (!model) return NULL;
    struct World *self = malloc(sizeof *self);
    self->model = model;
    self->data = mj_makeData(model);
    return self;
}

void peers_mujoco_delete(struct World *self) {
    mj_deleteData(self->data);
    mj_deleteModel(self->model);
    free(self);
}

// Body numbers count from 1: 0 is the world.
void peers_mujoco_velocity(struct World *self, int body, const double *velocity) {
    int address = self->model->body_dofadr[body];
    if (address >= 0) memcpy(self->data->qvel + address, velocity, 3 * sizeof(double));
}

// Makes a step; the number of warnings so far (contacts dropped, a state that blew up).
int peers_mujoco_step(struct World *self) {
    mj_step(self->model, self->data);
    int count = 0;
    for (int k = 0; k < mjNWARNING; k++) count += self->data->warning[k].number;
    return count;
}

// Brings poses up to date with the state that the last step left.
void peers_mujoco_settle_poses(struct World *self) { mj_kinematics(self->model, self->data); }

// Position, then quaternion w x y z.
void peers_mujoco_pose(const struct World *self, int body, double *out) {
    memcpy(out, self->data->xpos + 3 * body, 3 * sizeof(double));
    memcpy(out + 3, self->data->xquat + 4 * body, 4 * sizeof(double));
}
