import { decode, encode } from 'fast-png';
import { Fail } from '../../platform/fail.ts';

/** A page shows logos in 40 pixels of height; screens have up to three for one. */
const HEIGHT_MAX = 120;
const WIDTH_MAX = 480;
/** Decoded four bytes a pixel: 16 MiB at most. */
const PIXELS_MAX = 2_048 * 2_048;
const HEADER_BYTES = 24;
const CHANNELS = 4;

/** A logo that was drawn again, and its proportions. */
export interface DrawnLogo {
  body: Buffer;
  width: number;
  height: number;
}

/** Eight bits of red, green, blue and opacity for each pixel. */
interface Pixels {
  width: number;
  height: number;
  data: Uint8Array;
}

const refuse = (message: string): never => {
  throw new Fail('invalid_request', { message, param: 'logo' });
};

/**
 * Draws a PNG again: decoded, made as small as pages need it, encoded. Nothing of the file but its pixels is kept.
 *
 * @throws Fail `invalid_request`
 */
export function redrawPng(file: Buffer): DrawnLogo {
  const [width, height] = sizeOf(file);
  // Read from the header before any pixel is decoded: a small file may hold a huge picture.
  if (width < 1 || height < 1 || width * height > PIXELS_MAX)
    refuse('The logo is larger than 2048 × 2048 pixels, or has none.');
  const pixels = decoded(file);
  const scale = Math.min(1, HEIGHT_MAX / pixels.height, WIDTH_MAX / pixels.width);
  const made = shrunk(pixels, scale);
  const body = Buffer.from(encode({ ...made, channels: CHANNELS, depth: 8 }));
  return { body, width: made.width, height: made.height };
}

function sizeOf(file: Buffer): [width: number, height: number] {
  if (file.length < HEADER_BYTES) return [0, 0];
  return [file.readUInt32BE(16), file.readUInt32BE(20)];
}

function decoded(file: Buffer): Pixels {
  try {
    const { width, height, data, channels, depth, palette } = decode(file, { checkCrc: true });
    const sampleOf = (index: number) => {
      const sample = data[index] ?? 0;
      return depth === 16
        ? sample >> 8
        : depth === 8
          ? sample
          : Math.round((sample * 255) / (2 ** depth - 1));
    };
    const full = new Uint8Array(width * height * CHANNELS);
    for (let i = 0; i < width * height; i++) {
      full.set(
        palette === undefined ? colourOf(i, channels, sampleOf) : paletteColour(palette[data[i] ?? 0]),
        i * CHANNELS,
      );
    }
    return { width, height, data: full };
  } catch {
    return refuse('The logo is no PNG that can be read.');
  }
}

function colourOf(pixel: number, channels: number, sampleOf: (index: number) => number): number[] {
  const at = pixel * channels;
  const isGrey = channels < 3;
  const [red, green, blue] = isGrey ? [0, 0, 0] : [0, 1, 2];
  const hasOpacity = channels === 2 || channels === CHANNELS;
  return [
    sampleOf(at + red),
    sampleOf(at + green),
    sampleOf(at + blue),
    hasOpacity ? sampleOf(at + channels - 1) : 255,
  ];
}

function paletteColour(colour: readonly number[] | undefined): number[] {
  if (colour === undefined) throw new Error('a colour that the palette lacks');
  const [red = 0, green = 0, blue = 0, opacity = 255] = colour;
  return [red, green, blue, opacity];
}

/** Each pixel is the mean of those that it covers, weighted by their opacity. */
function shrunk(from: Pixels, scale: number): Pixels {
  if (scale === 1) return from;
  const width = Math.max(1, Math.round(from.width * scale));
  const height = Math.max(1, Math.round(from.height * scale));
  const data = new Uint8Array(width * height * CHANNELS);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const rows = [
        Math.floor((y * from.height) / height),
        Math.ceil(((y + 1) * from.height) / height),
      ] as const;
      const columns = [
        Math.floor((x * from.width) / width),
        Math.ceil(((x + 1) * from.width) / width),
      ] as const;
      data.set(meanOf(from, rows, columns), (y * width + x) * CHANNELS);
    }
  }
  return { width, height, data };
}

type Range = readonly [from: number, to: number];

function meanOf({ width, data }: Pixels, [top, bottom]: Range, [left, right]: Range): number[] {
  let [red, green, blue, opacity, count] = [0, 0, 0, 0, 0];
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) {
      const at = (y * width + x) * CHANNELS;
      const weight = data[at + 3] ?? 0;
      red += (data[at] ?? 0) * weight;
      green += (data[at + 1] ?? 0) * weight;
      blue += (data[at + 2] ?? 0) * weight;
      opacity += weight;
      count++;
    }
  }
  if (opacity === 0) return [0, 0, 0, 0];
  return [red / opacity, green / opacity, blue / opacity, opacity / count].map(Math.round);
}
