/** The picture: one canvas, one camera, one pane for each world side by side. */
import {
  type Camera,
  NeutralToneMapping,
  OrthographicCamera,
  PCFShadowMap,
  PerspectiveCamera,
  Quaternion,
  Raycaster,
  Vector2,
  Vector3,
  WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import { paint } from './colouring';
import { el, fill } from './dom';
import { DARK, LIGHT, type Look } from './look';
import type { Model } from './model';
import { Overlay } from './overlay';
import type { StageMessage, Vec3 } from './types';
import { WorldView } from './world_view';

/** Width by height for which the program chose the camera. */
const FRAMED_ASPECT = 16 / 9;

export interface Pane {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** What a ray from a pixel meets. */
export interface Hit {
  lane: number;
  object: number;
  point: Vector3;
}

export class Viewport {
  readonly canvas = el('canvas', { tabindex: '0', 'aria-label': 'The scene. Drag to look around.' });
  private readonly labels = el('div', { class: 'lane-labels' });
  private readonly renderer: WebGLRenderer;
  private readonly caster = new Raycaster();
  views: WorldView[] = [];
  private overlays: Overlay[] = [];
  private stageKey = '';
  camera: PerspectiveCamera | OrthographicCamera = new PerspectiveCamera();
  controls: OrbitControls | undefined;
  /** World coordinates of the view's origin, m. */
  origin: Vec3 = [0, 0, 0];
  /** Size of what is looked at, m. */
  radius = 1;
  private home = { eye: new Vector3(), target: new Vector3(), tanHalf: 1 };
  private flight: { from: Vector3; to: Vector3; eye: Vector3; start: number } | undefined;
  private stale = true;
  private look: Look = LIGHT;
  /** Frames drawn so far, for tests. */
  drawn = 0;

  constructor(
    private readonly model: Model,
    private readonly host: HTMLElement,
  ) {
    this.renderer = new WebGLRenderer({ canvas: this.canvas, antialias: true, powerPreference: 'high-performance' });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.toneMapping = NeutralToneMapping;
    this.renderer.setScissorTest(true);
    host.append(this.canvas, this.labels);
    new ResizeObserver(() => this.resize()).observe(host);
    model.on(['stage'], () => this.rebuild());
    model.on(['frame', 'show', 'selection', 'settings', 'matrix'], () => this.refresh());
    const turn = (now: number) => {
      requestAnimationFrame(turn);
      this.draw(now);
    };
    requestAnimationFrame(turn);
  }

  /** Asks for a new picture. */
  refresh(): void {
    this.stale = true;
  }

  wear(dark: boolean): void {
    this.look = dark ? DARK : LIGHT;
    for (const view of this.views) view.wear(this.look);
    this.refresh();
  }

  private rebuild(): void {
    const message = this.model.stage;
    if (!message) return;
    const key = `${message.about.name} ${message.lanes.length}`;
    const fresh = key !== this.stageKey || message.stage.dimension === 2 !== this.camera instanceof OrthographicCamera;
    this.stageKey = key;
    if (fresh) this.frameCamera(message);
    for (const view of this.views) view.dispose();
    for (const overlay of this.overlays) overlay.dispose();
    const line = (2 * this.halfHeight() * 1.7) / 720;
    this.views = this.model.lanes.map(() => new WorldView(message, this.origin, this.radius, line, this.look));
    this.overlays = this.views.map((view, lane) => new Overlay(this.model, view, lane));
    const toCamera = this.home.eye.clone().sub(this.home.target);
    for (const view of this.views) view.aim(this.home.target, toCamera);
    fill(this.labels, ...message.lanes.map((name) => el('div', { class: 'lane-label' }, name)));
    this.resize();
  }

  /** Half of the height of what is seen at the target, m. */
  private halfHeight(): number {
    return this.home.tanHalf * this.home.eye.distanceTo(this.home.target);
  }

  private frameCamera(message: StageMessage): void {
    const { eye, target, field_of_view } = message.camera;
    this.origin = target;
    this.home.eye.set(eye[0] - target[0], eye[1] - target[1], eye[2] - target[2]);
    this.home.target.set(0, 0, 0);
    this.home.tanHalf = Math.tan((field_of_view * Math.PI) / 360);
    this.radius = 1.25 * this.halfHeight();
    const flat = message.stage.dimension === 2;
    this.camera = flat ? new OrthographicCamera() : new PerspectiveCamera();
    const distance = this.home.eye.length();
    this.camera.near = 0.01 * distance;
    this.camera.far = 100 * distance;
    this.controls?.dispose();
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.enableRotate = !flat;
    this.controls.screenSpacePanning = true;
    this.controls.maxPolarAngle = 0.98 * Math.PI;
    this.controls.addEventListener('change', () => this.refresh());
    this.goHome();
  }

  /** Puts the camera where everything is seen. */
  goHome(): void {
    this.flight = undefined;
    this.camera.position.copy(this.home.eye);
    this.camera.zoom = 1;
    this.controls?.target.copy(this.home.target);
    this.controls?.update();
    this.resize();
  }

  /** Shows what moves as it is now: without what has flown far away. */
  fit(): void {
    const objects = this.model.stage?.stage.objects ?? [];
    const points = objects.flatMap((object, k) => (object.fixed ? [] : (this.middle(k, 0) ?? [])));
    const controls = this.controls;
    if (!controls || points.length === 0) return this.goHome();
    const median = (axis: 'x' | 'y' | 'z') => points.map((p) => p[axis]).sort((a, b) => a - b)[points.length >> 1];
    const middle = new Vector3(median('x'), median('y'), median('z'));
    const distances = points.map((p) => p.distanceTo(middle)).sort((a, b) => a - b);
    const reach = distances[Math.floor(0.9 * (distances.length - 1))] + 0.12 * this.radius;
    const share = Math.min((1.25 * reach) / (this.radius / 1.25), 1.5);
    const offset = this.camera.position.clone().sub(controls.target).setLength(this.home.eye.distanceTo(this.home.target) * (this.camera instanceof OrthographicCamera ? 1 : share));
    if (this.camera instanceof OrthographicCamera) {
      this.camera.zoom = 1 / share;
      this.camera.updateProjectionMatrix();
    }
    this.flight = { from: controls.target.clone(), to: middle, eye: offset, start: performance.now() };
    this.refresh();
  }

  /** Flies the camera to a point, near enough to see it well. */
  flyTo(point: Vector3, size: number): void {
    const controls = this.controls;
    if (!controls) return;
    const offset = this.camera.position.clone().sub(controls.target);
    const distance = Math.min(offset.length(), 14 * size);
    this.flight = { from: controls.target.clone(), to: point.clone(), eye: offset.clone().setLength(distance), start: performance.now() };
    if (this.camera instanceof OrthographicCamera) {
      this.flight.eye.copy(offset);
      this.camera.zoom = Math.max(this.camera.zoom, this.halfHeight() / (5 * size));
      this.camera.updateProjectionMatrix();
    }
    this.refresh();
  }

  private fly(now: number): void {
    if (!this.flight || !this.controls) return;
    const share = Math.min((now - this.flight.start) / 450, 1);
    const smooth = share * share * (3 - 2 * share);
    const offset = this.camera.position.clone().sub(this.controls.target).lerp(this.flight.eye, smooth);
    this.controls.target.lerpVectors(this.flight.from, this.flight.to, smooth);
    this.camera.position.copy(this.controls.target).add(offset);
    this.controls.update();
    if (share >= 1) this.flight = undefined;
    this.refresh();
  }

  resize(): void {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (width === 0 || height === 0) return;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
    const pane = this.pane(0);
    const aspect = pane.width / pane.height;
    // Where a pane is narrower than what was framed, more is seen above and below.
    const wider = Math.max(1, FRAMED_ASPECT / aspect);
    if (this.camera instanceof PerspectiveCamera) {
      this.camera.fov = (Math.atan(this.home.tanHalf * wider) * 360) / Math.PI;
      this.camera.aspect = aspect;
    } else {
      const half = this.halfHeight() * wider;
      [this.camera.left, this.camera.right] = [-half * aspect, half * aspect];
      [this.camera.top, this.camera.bottom] = [half, -half];
    }
    this.camera.updateProjectionMatrix();
    [...this.labels.children].forEach((label, lane) => {
      const place = this.pane(lane);
      (label as HTMLElement).style.transform = `translate(${place.left + 12}px, ${place.top + 12}px)`;
    });
    this.refresh();
  }

  /** The part of the canvas that a lane has, in CSS pixels. */
  pane(lane: number): Pane {
    const { clientWidth: width, clientHeight: height } = this.host;
    const count = Math.max(this.model.lanes.length, 1);
    const tall = height > width;
    const columns = count === 1 ? 1 : count === 2 && tall ? 1 : 2;
    const rows = Math.ceil(count / columns);
    const [w, h] = [width / columns, height / rows];
    return { left: (lane % columns) * w, top: Math.floor(lane / columns) * h, width: w, height: h };
  }

  /** Size of a CSS pixel at the target, m. */
  pixelSize(): number {
    const height = this.pane(0).height;
    if (this.camera instanceof OrthographicCamera) return (this.camera.top - this.camera.bottom) / this.camera.zoom / height;
    const distance = this.camera.position.distanceTo(this.controls?.target ?? new Vector3());
    return (2 * distance * Math.tan((this.camera.fov * Math.PI) / 360)) / height;
  }

  private draw(now: number): void {
    this.fly(now);
    if (!this.stale || this.views.length === 0) return;
    this.stale = false;
    this.drawn += 1;
    const pixel = this.pixelSize();
    this.views.forEach((view, lane) => {
      const frame = this.model.lanes[lane]?.frame;
      if (frame) {
        view.follow(frame);
        paint(this.model, view, lane);
        view.seeThrough(this.model.show.xray);
        this.overlays[lane].follow(frame, pixel);
      }
      const pane = this.pane(lane);
      const bottom = this.host.clientHeight - pane.top - pane.height;
      this.renderer.setViewport(pane.left, bottom, pane.width, pane.height);
      this.renderer.setScissor(pane.left, bottom, pane.width, pane.height);
      this.renderer.render(view.scene, this.camera as Camera);
    });
  }

  /** The lane under a pixel and its normalised device coordinates. */
  private locate(x: number, y: number): { lane: number; point: Vector2 } | undefined {
    for (let lane = 0; lane < this.views.length; lane += 1) {
      const pane = this.pane(lane);
      const [u, v] = [(x - pane.left) / pane.width, (y - pane.top) / pane.height];
      if (u >= 0 && u < 1 && v >= 0 && v < 1) return { lane, point: new Vector2(2 * u - 1, 1 - 2 * v) };
    }
    return undefined;
  }

  /** The ray through a pixel. */
  ray(x: number, y: number): { lane: number; caster: Raycaster } | undefined {
    const place = this.locate(x, y);
    if (!place) return undefined;
    this.caster.setFromCamera(place.point, this.camera);
    return { lane: place.lane, caster: this.caster };
  }

  /** What is under a pixel. */
  pick(x: number, y: number): Hit | undefined {
    const ray = this.ray(x, y);
    if (!ray) return undefined;
    const view = this.views[ray.lane];
    const hits = ray.caster.intersectObjects(view.targets(), false);
    // In 2D all lies in one plane: what is drawn last is on top.
    const best = view.flat ? hits.sort((a, b) => b.object.renderOrder - a.object.renderOrder)[0] : hits[0];
    if (!best) return undefined;
    return { lane: ray.lane, object: view.objectOf(best), point: best.point.clone() };
  }

  /** The pixel of a point, and whether it is in front of the camera. */
  project(point: Vector3, lane: number): { x: number; y: number; seen: boolean } {
    const pane = this.pane(lane);
    const p = point.clone().project(this.camera);
    return { x: pane.left + ((p.x + 1) / 2) * pane.width, y: pane.top + ((1 - p.y) / 2) * pane.height, seen: Math.abs(p.z) <= 1 };
  }

  /** Calls and triangles of the last picture, shadows included. */
  drawing(): { calls: number; triangles: number } {
    const { calls, triangles } = this.renderer.info.render;
    return { calls, triangles };
  }

  /** Edges of the box around an object of the first lane, and of its box in the broad phase, m. */
  boxes(object: number): { shape: number[]; box: number[] } | undefined {
    const frame = this.model.lanes[0]?.frame;
    return frame && this.overlays[0]?.boxesOf(frame, object);
  }

  /** The middle of an object. */
  middle(object: number, lane: number): Vector3 | undefined {
    const point = new Vector3();
    return this.views[lane]?.pose(object, point, new Quaternion()) ? point : undefined;
  }
}
