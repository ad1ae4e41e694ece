/** One world as three.js sees it: few instanced meshes, whose instances follow frames. */
import {
  Color,
  DirectionalLight,
  DoubleSide,
  HemisphereLight,
  InstancedMesh,
  type Intersection,
  type Material,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  PlaneGeometry,
  Quaternion,
  Scene,
  Vector3,
} from 'three';
import { flat, flatGround, flatGroundAngle } from './flats';
import { type Look, groundTexture } from './look';
import { type Dress, dress } from './skins';
import { detailOf, type Drawable, solid } from './solids';
import { stripe } from './stripe';
import type { Frame, StageMessage, Vec3 } from './types';

interface Instance {
  object: number;
  position: Vector3;
  rotation: Quaternion;
  scale: Vector3;
}

interface Batch {
  mesh: InstancedMesh;
  instances: Instance[];
}

interface Ground {
  mesh: Mesh;
  object: number;
  rotation: Quaternion;
}

/** Ground reaches this many times as far as the scene. */
const GROUND_REACH = 40;

export class WorldView {
  readonly scene = new Scene();
  readonly batches: Batch[] = [];
  private readonly grounds: Ground[] = [];
  private readonly dresses: Dress[] = [];
  /** The first node of the skin that an object is a node of. */
  private readonly wearer = new Map<number, number>();
  private readonly sun = new DirectionalLight('#fff4e2', 2.3);
  private readonly sky = new HemisphereLight('#e6eef6', '#b5aa99', 1.75);
  /** Where everything is, by object, after the last frame. */
  positions = new Float32Array(0);
  rotations = new Float32Array(0);
  readonly flat: boolean;
  /** What the present colours stand for. */
  painted = '';
  /** How much is seen of the stripes of balls, 0 to 1: none where colours stand for numbers. */
  readonly stripes = { value: 1 };
  /** Half of the size of most things that move, m. */
  grain = Infinity;

  /**
   * @param origin of the view in world coordinates: what is drawn is relative to it.
   * @param radius of what is looked at, m.
   * @param line width of outlines in 2D, m.
   */
  constructor(
    readonly message: StageMessage,
    readonly origin: Vec3,
    readonly radius: number,
    line: number,
    look: Look,
  ) {
    this.flat = message.stage.dimension === 2;
    this.addObjects(line);
    if (!this.flat) this.addLights();
    this.wear(look);
  }

  private addObjects(line: number): void {
    const groups = new Map<string, { drawable: Drawable; instances: Instance[]; fixed: boolean }>();
    this.addSkins();
    this.message.stage.objects.forEach((object, index) => {
      if (this.wearer.has(index)) return;
      for (const part of object.parts) {
        const drawable = this.flat ? flat(part.form, line) : solid(part.form);
        const rotation = new Quaternion(...part.rotation);
        if (drawable.ground) {
          this.addGround(index, drawable.ground, rotation, line);
          continue;
        }
        const key = `${drawable.key} ${this.flat ? object.fixed : drawable.round}`;
        const group = groups.get(key) ?? { drawable, instances: [], fixed: object.fixed };
        group.instances.push({ object: index, position: new Vector3(...part.position), rotation, scale: new Vector3(...drawable.scale) });
        groups.set(key, group);
      }
    });
    for (const { drawable, instances, fixed } of groups.values()) {
      const material = this.flat
        ? new MeshBasicMaterial({ vertexColors: true, side: DoubleSide, depthTest: false, toneMapped: false })
        : new MeshStandardMaterial({ roughness: drawable.round ? 0.42 : 0.86, metalness: 0 });
      if (drawable.key === 'ball' && material instanceof MeshStandardMaterial) stripe(material, this.stripes);
      const mesh = new InstancedMesh(drawable.make(detailOf(instances.length)), material, instances.length);
      mesh.castShadow = !this.flat;
      mesh.receiveShadow = !this.flat;
      mesh.frustumCulled = false;
      mesh.renderOrder = fixed ? 1 : 2;
      mesh.userData.batch = this.batches.length;
      this.batches.push({ mesh, instances });
      this.scene.add(mesh);
    }
    this.paint((object, colour) => this.own(object, colour));
    this.grain = this.measureGrain();
  }

  private addSkins(): void {
    for (const skin of this.message.stage.skins ?? []) {
      for (const object of skin.objects) this.wearer.set(object, skin.objects[0]);
      const made = dress(skin, this.flat);
      this.dresses.push(made);
      this.scene.add(made.mesh);
    }
  }

  private measureGrain(): number {
    const sizes: number[] = [];
    for (const { mesh, instances } of this.batches) {
      mesh.geometry.computeBoundingBox();
      const size = mesh.geometry.boundingBox?.getSize(new Vector3()) ?? new Vector3();
      for (const { object, scale } of instances) {
        if (!this.message.stage.objects[object].fixed) sizes.push(0.5 * Math.min(size.x * scale.x, size.y * scale.y));
      }
    }
    return sizes.sort((a, b) => a - b)[sizes.length >> 1] ?? Infinity;
  }

  private addGround(object: number, normal: Vec3, rotation: Quaternion, line: number): void {
    const extent = GROUND_REACH * this.radius;
    const up = new Quaternion();
    let mesh: Mesh;
    if (this.flat) {
      mesh = new Mesh(flatGround(Math.min(extent, 3000 * line), line), new MeshBasicMaterial({ vertexColors: true, side: DoubleSide, depthTest: false, toneMapped: false }));
      up.setFromAxisAngle(new Vector3(0, 0, 1), flatGroundAngle(normal));
    } else {
      const cell = 10 ** Math.round(Math.log10(this.radius * 0.6));
      mesh = new Mesh(new PlaneGeometry(2 * extent, 2 * extent), new MeshStandardMaterial({ roughness: 1, map: groundTexture(extent / cell) }));
      mesh.receiveShadow = true;
      up.setFromUnitVectors(new Vector3(0, 0, 1), new Vector3(...normal).normalize());
    }
    mesh.userData.object = object;
    this.grounds.push({ mesh, object, rotation: rotation.clone().multiply(up) });
    this.scene.add(mesh);
  }

  private addLights(): void {
    const r = this.radius;
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    const camera = this.sun.shadow.camera;
    [camera.left, camera.right, camera.top, camera.bottom] = [-1.7 * r, 1.7 * r, 1.7 * r, -1.7 * r];
    [camera.near, camera.far] = [0.1 * r, 12 * r];
    this.sun.shadow.normalBias = 0.004 * r;
    this.sun.shadow.bias = -0.0004;
    this.sun.shadow.radius = 3.5;
    this.scene.add(this.sun, this.sun.target, this.sky);
    this.lightFrom(new Vector3(0, 0, 1));
  }

  /** Puts the sun to the left above the camera, as the camera stands at the start. */
  lightFrom(toCamera: Vector3): void {
    const level = new Vector3(toCamera.x, 0, toCamera.z).normalize();
    const left = new Vector3(-level.z, 0, level.x).negate();
    const direction = new Vector3(0, 1.15, 0).addScaledVector(left, -0.75).addScaledVector(level, 0.55).normalize();
    this.sun.position.copy(direction.multiplyScalar(5 * this.radius)).add(this.sun.target.position);
  }

  /** Aims the shadow at the middle of what is looked at. */
  aim(middle: Vector3, toCamera: Vector3): void {
    this.sun.target.position.copy(middle);
    this.lightFrom(toCamera);
  }

  /** Dark or light. */
  wear(look: Look): void {
    this.scene.background = look.background(this.flat);
    this.scene.fog = this.flat ? null : look.fog(this.radius);
    for (const { mesh } of this.grounds) {
      const material = mesh.material as MeshStandardMaterial | MeshBasicMaterial;
      material.color.set(this.flat ? look.flatGround : look.ground);
    }
    this.sky.intensity = look.dark ? 1.1 : 1.75;
    this.sun.intensity = look.dark ? 2.0 : 2.3;
  }

  /** The material's own colour of an object. */
  own(object: number, colour: Color): void {
    const [r, g, b] = this.message.colours[this.wearer.get(object) ?? object] ?? [128, 128, 128];
    colour.setRGB(r / 255, g / 255, b / 255, 'srgb');
  }

  /** Gives every object a colour. */
  paint(choose: (object: number, colour: Color) => void): void {
    const colour = new Color();
    for (const { mesh, instances } of this.batches) {
      instances.forEach(({ object }, k) => {
        choose(object, colour);
        mesh.setColorAt(k, colour);
      });
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
    for (const made of this.dresses) made.paint(choose, colour);
  }

  /** Lets one look through the objects. */
  seeThrough(on: boolean): void {
    for (const { mesh } of [...this.batches, ...this.dresses]) {
      const material = mesh.material as Material;
      if (material.transparent === on) continue;
      material.transparent = on;
      material.opacity = on ? 0.35 : 1;
      material.depthWrite = !on;
      material.needsUpdate = true;
    }
  }

  /** Moves everything to where a frame says. */
  follow(frame: Frame): void {
    const shift = frame.origin.map((x, k) => x - this.origin[k]);
    if (this.positions.length !== frame.positions.length) this.positions = new Float32Array(frame.positions.length);
    for (let k = 0; k < frame.positions.length; k += 1) this.positions[k] = frame.positions[k] + shift[k % 3];
    this.rotations = frame.rotations as Float32Array<ArrayBuffer>;
    const [position, rotation] = [new Vector3(), new Quaternion()];
    const [at, turned] = [new Vector3(), new Quaternion()];
    const matrix = new Matrix4();
    for (const { mesh, instances } of this.batches) {
      instances.forEach((instance, k) => {
        if (!this.pose(instance.object, position, rotation)) {
          matrix.makeScale(0, 0, 0);
        } else {
          at.copy(instance.position).applyQuaternion(rotation).add(position);
          turned.multiplyQuaternions(rotation, instance.rotation);
          matrix.compose(at, turned, instance.scale);
        }
        mesh.setMatrixAt(k, matrix);
      });
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null;
    }
    for (const made of this.dresses) made.follow(this.positions);
    for (const ground of this.grounds) {
      if (!this.pose(ground.object, position, rotation)) continue;
      ground.mesh.position.copy(position);
      ground.mesh.quaternion.multiplyQuaternions(rotation, ground.rotation);
    }
  }

  /** Where an object is; false if the frame does not have it or not with finite numbers. */
  pose(object: number, position: Vector3, rotation: Quaternion): boolean {
    if (3 * object + 2 >= this.positions.length) return false;
    position.fromArray(this.positions, 3 * object);
    rotation.fromArray(this.rotations, 4 * object);
    return Number.isFinite(position.x + position.y + position.z + rotation.w);
  }

  /** What can be pointed at. */
  targets(): (InstancedMesh | Mesh)[] {
    return [...this.batches, ...this.dresses].map(({ mesh }): InstancedMesh | Mesh => mesh).concat(this.grounds.map(({ mesh }) => mesh));
  }

  /** The object of a hit. */
  objectOf(hit: Intersection): number {
    const mesh = hit.object as Mesh;
    const instance = hit.instanceId;
    const worn = this.dresses.find((made) => made.mesh === mesh);
    if (worn) return worn.nodeAt(hit);
    const batch = this.batches[mesh.userData.batch as number];
    if (batch?.mesh === mesh && instance !== undefined) return batch.instances[instance].object;
    return mesh.userData.object as number;
  }

  dispose(): void {
    for (const mesh of this.targets()) {
      mesh.geometry.dispose();
      (mesh.material as Material).dispose();
      if (mesh instanceof InstancedMesh) mesh.dispose();
    }
    this.sun.dispose();
  }
}
