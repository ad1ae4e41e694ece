/** Icons as drawings, so that they look the same whatever fonts there are. */

const PATHS = {
  play: 'M4 2.5 13 8l-9 5.5z',
  pause: 'M3.5 2.5h3v11h-3zM9.5 2.5h3v11h-3z',
  step: 'M3 2.5 10 8l-7 5.5zM11 2.5h2v11h-2z',
  back: 'M13 2.5 6 8l7 5.5zM3 2.5h2v11H3z',
  restart: 'M8 3.2V1L4.5 4 8 7V4.9a3.9 3.9 0 1 1-3.9 3.9H2.4A5.6 5.6 0 1 0 8 3.2z',
  theme: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zm0 1.6v9.8a4.9 4.9 0 0 1 0-9.8z',
  panel: 'M2 2.5h12v11H2zM3.5 4v8H9V4z',
};

/** A drawing of 16 by 16 in the colour of the text. */
export function icon(name: keyof typeof PATHS): SVGSVGElement {
  const space = 'http://www.w3.org/2000/svg';
  const drawing = document.createElementNS(space, 'svg');
  drawing.setAttribute('viewBox', '0 0 16 16');
  drawing.setAttribute('width', '16');
  drawing.setAttribute('height', '16');
  drawing.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(space, 'path');
  path.setAttribute('d', PATHS[name]);
  path.setAttribute('fill', 'currentColor');
  path.setAttribute('fill-rule', 'evenodd');
  drawing.append(path);
  return drawing;
}
