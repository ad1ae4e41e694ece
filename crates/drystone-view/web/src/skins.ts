/** Surfaces that hang on several objects: cloth, soft solids, ropes. */
import {
  BufferAttribute,
  BufferGeometry,
  type Color,
  CylinderGeometry,
  DoubleSide,
  DynamicDrawUsage,
  InstancedMesh,
  type Intersection,
  type Material,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshDepthMaterial,
  MeshStandardMaterial,
  Quaternion,
  SphereGeometry,
  Vector3,
} from 'three';
import type { Skin } from './types';

const UP = new Vector3(0, 1, 0);

/** What follows nodes: a surface, or a tube for each string. */
export interface Dress {
  readonly mesh: Mesh;
  /** Moves it to where the nodes are. */
  follow(positions: Float32Array): void;
  paint(choose: (object: number, colour: Color) => void, colour: Color): void;
  /** The node nearest to where a ray meets it. */
  nodeAt(hit: Intersection): number;
}

function material(flat: boolean): Material {
  return flat
    ? new MeshBasicMaterial({ vertexColors: true, side: DoubleSide, depthTest: false, toneMapped: false })
    : new MeshStandardMaterial({ vertexColors: true, side: DoubleSide, roughness: 0.8, metalness: 0 });
}

/** The dress of a skin. */
export function dress(skin: Skin, flat: boolean): Dress {
  const made = skin.triangles.length > 0 ? new Surface(skin, flat) : new Strings(skin, flat);
  made.mesh.castShadow = !flat;
  made.mesh.receiveShadow = !flat;
  made.mesh.frustumCulled = false;
  made.mesh.renderOrder = 2;
  made.mesh.userData.object = skin.objects[0];
  // A sheet is as near to the sun as itself: its shadow begins a little behind it.
  if (skin.two_sided) made.mesh.customDepthMaterial = new MeshDepthMaterial({ side: DoubleSide, polygonOffset: true, polygonOffsetFactor: 6, polygonOffsetUnits: 6 });
  return made;
}

class Surface implements Dress {
  readonly mesh: Mesh;
  private readonly place: BufferAttribute;
  private readonly colours: BufferAttribute;

  constructor(
    private readonly skin: Skin,
    private readonly flat: boolean,
  ) {
    const count = skin.objects.length;
    const number = new Map(skin.objects.map((object, k) => [object, k]));
    const corners = skin.triangles.flat().map((object) => number.get(object) ?? 0);
    const geometry = new BufferGeometry();
    this.place = new BufferAttribute(new Float32Array(3 * count), 3).setUsage(DynamicDrawUsage);
    this.colours = new BufferAttribute(new Float32Array(3 * count).fill(0.6), 3);
    geometry.setIndex(corners);
    geometry.setAttribute('position', this.place);
    geometry.setAttribute('color', this.colours);
    // There from the first picture on: without normals a material is compiled for flat facets.
    geometry.setAttribute('normal', new BufferAttribute(new Float32Array(3 * count), 3));
    this.mesh = new Mesh(geometry, material(flat));
  }

  follow(positions: Float32Array): void {
    this.skin.objects.forEach((object, k) => {
      const at = 3 * object;
      if (at + 2 < positions.length) this.place.setXYZ(k, positions[at], positions[at + 1], positions[at + 2]);
    });
    this.place.needsUpdate = true;
    if (!this.flat) this.mesh.geometry.computeVertexNormals();
    this.mesh.geometry.boundingSphere = null;
  }

  paint(choose: (object: number, colour: Color) => void, colour: Color): void {
    this.skin.objects.forEach((object, k) => {
      choose(object, colour);
      this.colours.setXYZ(k, colour.r, colour.g, colour.b);
    });
    this.colours.needsUpdate = true;
  }

  nodeAt({ face, point }: Intersection): number {
    if (!face) return this.skin.objects[0];
    const corners = [face.a, face.b, face.c];
    const away = (corner: number) => point.distanceToSquared(new Vector3().fromBufferAttribute(this.place, corner));
    return this.skin.objects[corners.sort((a, b) => away(a) - away(b))[0]];
  }
}

class Strings implements Dress {
  readonly mesh: InstancedMesh;
  /** Balls at the nodes: tubes bend without a gap. */
  private readonly knots: InstancedMesh;

  constructor(
    private readonly skin: Skin,
    flat: boolean,
  ) {
    const tube = new CylinderGeometry(0.5 * skin.thickness, 0.5 * skin.thickness, 1, flat ? 4 : 10, 1);
    tube.setAttribute('color', new BufferAttribute(new Float32Array(tube.getAttribute('position').count * 3).fill(1), 3));
    this.mesh = new InstancedMesh(tube, material(flat), skin.segments.length);
    const knot = new SphereGeometry(0.5 * skin.thickness, 10, 8);
    knot.setAttribute('color', new BufferAttribute(new Float32Array(knot.getAttribute('position').count * 3).fill(1), 3));
    this.knots = new InstancedMesh(knot, this.mesh.material, skin.objects.length);
    this.knots.castShadow = !flat;
    this.knots.receiveShadow = !flat;
    this.knots.frustumCulled = false;
    this.knots.renderOrder = 2;
    this.mesh.add(this.knots);
  }

  follow(positions: Float32Array): void {
    const [a, b, along, turn, matrix] = [new Vector3(), new Vector3(), new Vector3(), new Quaternion(), new Matrix4()];
    this.skin.segments.forEach(([from, to], k) => {
      if (3 * Math.max(from, to) + 2 >= positions.length) return;
      a.fromArray(positions, 3 * from);
      b.fromArray(positions, 3 * to);
      const length = along.subVectors(b, a).length();
      turn.setFromUnitVectors(UP, along.divideScalar(length || 1));
      matrix.compose(a.add(b).multiplyScalar(0.5), turn, new Vector3(1, length, 1));
      this.mesh.setMatrixAt(k, matrix);
    });
    this.skin.objects.forEach((object, k) => {
      if (3 * object + 2 < positions.length) this.knots.setMatrixAt(k, matrix.makeTranslation(a.fromArray(positions, 3 * object)));
    });
    for (const mesh of [this.mesh, this.knots]) {
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null;
    }
  }

  paint(choose: (object: number, colour: Color) => void, colour: Color): void {
    const give = (mesh: InstancedMesh, objects: number[]) => {
      objects.forEach((object, k) => {
        choose(object, colour);
        mesh.setColorAt(k, colour);
      });
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    };
    give(
      this.mesh,
      this.skin.segments.map(([from]) => from),
    );
    give(this.knots, this.skin.objects);
  }

  nodeAt({ instanceId, point }: Intersection): number {
    const ends = this.skin.segments[instanceId ?? 0];
    const matrix = new Matrix4();
    this.mesh.getMatrixAt(instanceId ?? 0, matrix);
    // The tube reaches from the first end, at −½ of its length, to the second.
    const along = point.clone().applyMatrix4(matrix.invert()).y;
    return ends?.[along < 0 ? 0 : 1] ?? this.skin.objects[0];
  }
}
