import { SaxesParser, type SaxesTagNS } from 'saxes';
import { Fail } from '../../platform/fail.ts';
import type { DrawnLogo } from './png-logo.ts';

const SVG = 'http://www.w3.org/2000/svg';
const ELEMENTS_MAX = 2_000;
const DEPTH_MAX = 32;

/** Elements that draw, and what they refer to. None loads, runs, links or repeats anything. */
const ELEMENTS = new Set([
  'svg',
  'g',
  'defs',
  'path',
  'rect',
  'circle',
  'ellipse',
  'line',
  'polyline',
  'polygon',
  'linearGradient',
  'radialGradient',
  'stop',
  'clipPath',
]);
/** Said to readers and editors; dropped with what stands in them. */
const DROPPED = new Set(['title', 'desc', 'metadata']);

const GEOMETRY = [
  'viewBox',
  'preserveAspectRatio',
  'width',
  'height',
  'x',
  'y',
  'x1',
  'y1',
  'x2',
  'y2',
  'cx',
  'cy',
  'r',
  'rx',
  'ry',
  'fx',
  'fy',
  'd',
  'points',
  'transform',
  'id',
  'offset',
  'gradientUnits',
  'gradientTransform',
  'spreadMethod',
  'clipPathUnits',
  'pathLength',
];
const LOOKS = [
  'fill',
  'fill-opacity',
  'fill-rule',
  'stroke',
  'stroke-width',
  'stroke-opacity',
  'stroke-linecap',
  'stroke-linejoin',
  'stroke-miterlimit',
  'stroke-dasharray',
  'stroke-dashoffset',
  'opacity',
  'clip-path',
  'clip-rule',
  'stop-color',
  'stop-opacity',
  'color',
  'display',
  'visibility',
  'paint-order',
  'vector-effect',
];
const ATTRIBUTES = new Set([...GEOMETRY, ...LOOKS]);
const STYLES = new Set(LOOKS);
/** Numbers, names, colours, paths; no quotes, no addresses. */
const VALUE = /^[\w\s#.,%()+-]*$/;
/** The only thing that a value may refer to is a part of the same picture. */
const REFERENCE = /^\s*url\(\s*['"]?(#[\w.-]+)['"]?\s*\)\s*$/;

const refuse = (message: string): never => {
  throw new Fail('invalid_request', { message, param: 'logo' });
};

/**
 * Draws an SVG again from a short list of elements and attributes.
 *
 * @throws Fail `invalid_request` where it holds more than shapes: scripts, pictures, texts, links, styles
 */
export function redrawSvg(file: Buffer): DrawnLogo {
  const text = new TextDecoder().decode(file);
  const writer = new Writer();
  const parser = new SaxesParser({ xmlns: true, fileName: 'logo' });
  parser.on('error', () => refuse('The logo is no well-formed SVG.'));
  parser.on('doctype', (doctype) => {
    // Entities can be made to grow without end.
    if (doctype.includes('['))
      refuse('The logo declares entities, which a logo may not: save it as plain SVG.');
  });
  parser.on('opentag', (tag) => writer.open(tag));
  parser.on('closetag', (tag) => writer.close(tag));
  parser.write(text).close();
  return writer.end();
}

class Writer {
  #out = '';
  #elements = 0;
  #depth = 0;
  /** Depth of the element that is dropped with all that it holds; 0: none. */
  #droppedAt = 0;
  #size = { width: 0, height: 0 };

  open({ uri, local, attributes }: SaxesTagNS): void {
    this.#depth++;
    if (this.#droppedAt > 0) return;
    // Editors keep their own notes in namespaces of their own.
    if (this.#depth > 1 && (uri !== SVG || DROPPED.has(local))) {
      this.#droppedAt = this.#depth;
      return;
    }
    if (this.#depth === 1 && (uri !== SVG || local !== 'svg'))
      refuse('The logo is no SVG: its root is not <svg>.');
    if (!ELEMENTS.has(local)) refuse(`The logo has <${local}>, which a logo may not: only shapes are drawn.`);
    if (++this.#elements > ELEMENTS_MAX || this.#depth > DEPTH_MAX)
      refuse('The logo has too many shapes: simplify it.');
    const own = Object.values(attributes).flatMap(({ uri: space, local: name, value }) =>
      attributesOf(space, name, value),
    );
    const root = this.#depth === 1 ? ` xmlns="${SVG}"` : '';
    if (this.#depth === 1) {
      this.#size = sizeOf(own);
      // Without a view box a picture cannot be made smaller.
      if (!own.some(([name]) => name === 'viewBox'))
        own.push(['viewBox', `0 0 ${this.#size.width} ${this.#size.height}`]);
    }
    this.#out += `<${local}${root}${own.map(([name, value]) => ` ${name}="${value}"`).join('')}>`;
  }

  close({ local }: SaxesTagNS): void {
    if (this.#droppedAt === 0) this.#out += `</${local}>`;
    else if (this.#droppedAt === this.#depth) this.#droppedAt = 0;
    this.#depth--;
  }

  end(): DrawnLogo {
    if (this.#elements < 2) refuse('The logo has no shape.');
    return { body: Buffer.from(this.#out), ...this.#size };
  }
}

type Attribute = [name: string, value: string];

function attributesOf(space: string, name: string, value: string): Attribute[] {
  if (/^on/i.test(name)) refuse(`The logo has ${name}, a script, which a logo may not.`);
  if (name === 'href') {
    // Gradients may continue another one of the same picture.
    return /^#[\w.-]+$/.test(value)
      ? [['href', value]]
      : refuse('The logo refers to another file, which a logo may not.');
  }
  if (space !== '') return [];
  if (name === 'style') {
    return value.split(';').flatMap((declaration) => {
      const at = declaration.indexOf(':');
      const property = declaration.slice(0, at).trim();
      return at > 0 && STYLES.has(property)
        ? attributesOf('', property, declaration.slice(at + 1).trim())
        : [];
    });
  }
  if (!ATTRIBUTES.has(name)) return [];
  const [, own] = REFERENCE.exec(value) ?? [];
  if (own !== undefined) return [[name, `url(${own})`]];
  if (/url\s*\(/i.test(value)) refuse('The logo refers to another file, which a logo may not.');
  return VALUE.test(value) ? [[name, value]] : [];
}

/** The proportions of a picture: of its view box, else its width and height. */
function sizeOf(own: readonly Attribute[]): { width: number; height: number } {
  const attribute = (name: string) => own.find(([one]) => one === name)?.[1] ?? '';
  const box = attribute('viewBox')
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  const given = ['width', 'height'].map((name) => {
    const value = attribute(name);
    return /^\d+(\.\d+)?(px)?$/.test(value) ? Number.parseFloat(value) : 0;
  });
  const [width = 0, height = 0] = box.length === 4 ? box.slice(2) : given;
  return width > 0 && height > 0
    ? { width, height }
    : refuse('The logo has neither a viewBox nor a width and height.');
}
