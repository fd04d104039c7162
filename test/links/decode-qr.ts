import jsqr from 'jsqr';

const PIXELS = 4;
const BLACK = [0, 0, 0, 255];

/** What a phone reads from a code whose dark modules are pieces `M<x> <y>h<length>…` of a path. */
export function decodeQr(path: string, size: number): string | undefined {
  const width = size * PIXELS;
  const image = new Uint8ClampedArray(width * width * 4).fill(255);
  for (const [, x, y, length] of path.matchAll(/M(\d+) (\d+)h(\d+)/g)) {
    for (let row = Number(y) * PIXELS; row < (Number(y) + 1) * PIXELS; row++) {
      for (let column = Number(x) * PIXELS; column < (Number(x) + Number(length)) * PIXELS; column++) {
        image.set(BLACK, (row * width + column) * 4);
      }
    }
  }
  // A CommonJS package: the function is a property of what it exports.
  return jsqr.default(image, width, width)?.data;
}
