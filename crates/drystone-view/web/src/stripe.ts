/** A pale stripe around the equator of balls, which shows how they turn. */
import type { IUniform, MeshStandardMaterial } from 'three';

/** Half of the stripe's width, in radii. */
const HALF_WIDTH = 0.13;

/** Gives the material of unit balls a stripe; its uniform says how much of it is seen, 0 to 1. */
export function stripe(material: MeshStandardMaterial, shown: IUniform<number>): void {
  material.onBeforeCompile = (shader) => {
    shader.uniforms.stripe = shown;
    shader.vertexShader = shader.vertexShader.replace('#include <common>', '#include <common>\nvarying float vHeight;').replace('#include <begin_vertex>', '#include <begin_vertex>\nvHeight = position.y;');
    shader.fragmentShader = shader.fragmentShader.replace('#include <common>', '#include <common>\nvarying float vHeight;\nuniform float stripe;').replace(
      '#include <color_fragment>',
      `#include <color_fragment>
      float blur = max(fwidth(vHeight), 1e-4);
      // Balls of a few pixels keep their colour: the stripe would wash it out.
      float band = stripe * clamp((${HALF_WIDTH} - abs(vHeight)) / blur + 0.5, 0.0, 1.0) * clamp(0.3 / blur - 1.0, 0.0, 1.0);
      diffuseColor.rgb = mix(diffuseColor.rgb, vec3(0.82, 0.77, 0.68), band);`,
    );
  };
}
