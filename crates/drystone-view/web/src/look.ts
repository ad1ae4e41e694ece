/** Light and dark: backgrounds, ground and haze. */
import { CanvasTexture, Color, EquirectangularReflectionMapping, Fog, RepeatWrapping, SRGBColorSpace, type Texture } from 'three';

export interface Look {
  dark: boolean;
  ground: string;
  flatGround: string;
  background(flat: boolean): Color | Texture;
  fog(radius: number): Fog;
}

interface Hues {
  sky: string;
  horizon: string;
  /** Straight down, where there is no ground. */
  below: string;
  paper: string;
  ground: string;
  flatGround: string;
}

function look(dark: boolean, hues: Hues): Look {
  let gradient: Texture | undefined;
  return {
    dark,
    ground: hues.ground,
    flatGround: hues.flatGround,
    background: (flat) => (flat ? new Color(hues.paper) : (gradient ??= sky(hues))),
    fog: (radius) => new Fog(hues.horizon, 6 * radius, 30 * radius),
  };
}

export const LIGHT = look(false, { sky: '#d9e6ef', horizon: '#eef0ef', below: '#c9d0d3', paper: '#f8f5ef', ground: '#ece6dc', flatGround: '#e0d8cb' });
export const DARK = look(true, { sky: '#0d1117', horizon: '#1b2027', below: '#0a0d11', paper: '#16191e', ground: '#50545a', flatGround: '#2a2d33' });

/** Sky above, haze at and below the horizon, all around. */
function sky(hues: Hues): Texture {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [8, 1024];
  const context = canvas.getContext('2d');
  if (context) {
    // The horizon is in the middle; the haze reaches a few degrees above it.
    const gradient = context.createLinearGradient(0, 0, 0, 1024);
    gradient.addColorStop(0, hues.sky);
    gradient.addColorStop(0.4, hues.sky);
    gradient.addColorStop(0.495, hues.horizon);
    gradient.addColorStop(0.53, hues.horizon);
    gradient.addColorStop(0.85, hues.below);
    gradient.addColorStop(1, hues.below);
    context.fillStyle = gradient;
    context.fillRect(0, 0, 8, 1024);
  }
  const texture = new CanvasTexture(canvas);
  texture.mapping = EquirectangularReflectionMapping;
  texture.colorSpace = SRGBColorSpace;
  return texture;
}

/** Fine lines on the ground, `cells` to the edge from the middle. */
export function groundTexture(cells: number): Texture {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [256, 256];
  const context = canvas.getContext('2d');
  if (context) {
    context.fillStyle = '#ffffff';
    context.fillRect(0, 0, 256, 256);
    context.fillStyle = '#e3e0db';
    context.fillRect(0, 0, 256, 2);
    context.fillRect(0, 0, 2, 256);
  }
  const texture = new CanvasTexture(canvas);
  texture.wrapS = RepeatWrapping;
  texture.wrapT = RepeatWrapping;
  texture.repeat.set(2 * cells, 2 * cells);
  // Lines cross in the middle of the scene.
  texture.offset.set(-cells + Math.ceil(cells), -cells + Math.ceil(cells));
  texture.anisotropy = 8;
  texture.colorSpace = SRGBColorSpace;
  return texture;
}
