// A store's colour as the pages use it: the same hue, made darker on light ground and lighter on dark ground until every
// text in it can be read.

type Rgb = readonly [red: number, green: number, blue: number];

export const ACCENT = /^#[0-9a-f]{6}$/;

/** Of text and of what it stands on: WCAG 2.2, AA. */
export const CONTRAST_MIN = 4.5;
/** The surfaces of tokens.css that text in the accent colour stands on. */
const LIGHT_SURFACES = ['#ffffff', '#eef1f5', '#f5f7fa'];
const DARK_SURFACES = ['#171b21', '#0d1014', '#1f252d'];
const LIGHT_TINT_SHARE = 0.09;
const DARK_TINT_SHARE = 0.14;
const STEPS = 100;

const rgbOf = (hex: string): Rgb => {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
};
const hexOf = (rgb: Rgb) => `#${rgb.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;

/** A mix in sRGB. @param share of `to` */
const mix = (from: Rgb, to: Rgb, share: number): Rgb => [
  from[0] + (to[0] - from[0]) * share,
  from[1] + (to[1] - from[1]) * share,
  from[2] + (to[2] - from[2]) * share,
];

/** A part of a colour in sRGB, from 0 to 255, as light, from 0 to 1. */
function linear(part: number): number {
  const share = part / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

/** Relative luminance by WCAG 2.2. */
function luminanceOf(rgb: Rgb): number {
  const [red, green, blue] = rgb;
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

/** The contrast of two colours by WCAG 2.2, from 1 to 21. */
export function contrastOf(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminanceOf(rgbOf(one)), luminanceOf(rgbOf(other))].toSorted(
    (a, b) => a - b,
  );
  return (lighter + 0.05) / (darker + 0.05);
}

/** What tokens.css names `--accent`, `--on-accent` and `--tint`. */
export interface AccentColours {
  accent: string;
  onAccent: string;
  tint: string;
}

interface Mode {
  towards: string;
  surfaces: readonly string[];
  /** Text on the accent colour. */
  onAccent: string;
  tintShare: number;
}

const LIGHT: Mode = {
  towards: '#000000',
  surfaces: LIGHT_SURFACES,
  onAccent: '#ffffff',
  tintShare: LIGHT_TINT_SHARE,
};
const DARK: Mode = {
  towards: '#ffffff',
  surfaces: DARK_SURFACES,
  onAccent: '#0d1014',
  tintShare: DARK_TINT_SHARE,
};

function coloursIn({ towards, surfaces, onAccent, tintShare }: Mode, chosen: string): AccentColours {
  const [card = '#ffffff'] = surfaces;
  for (let step = 0; ; step++) {
    const accent = hexOf(mix(rgbOf(chosen), rgbOf(towards), step / STEPS));
    const tint = hexOf(mix(rgbOf(card), rgbOf(accent), tintShare));
    const isReadable = [...surfaces, tint, onAccent].every((one) => contrastOf(accent, one) >= CONTRAST_MIN);
    // Black on light and white on dark can always be read.
    if (isReadable || step >= STEPS) return { accent, onAccent, tint };
  }
}

/** @param chosen such as `#0a58ca` */
export const accentColours = (chosen: string): Record<'light' | 'dark', AccentColours> => ({
  light: coloursIn(LIGHT, chosen),
  dark: coloursIn(DARK, chosen),
});

/** The values of tokens.css that a store's colour replaces; nothing but our own hexadecimal digits gets into it. */
export function accentCss(chosen: string): string {
  const { light, dark } = accentColours(chosen);
  const value = (name: keyof AccentColours) => `light-dark(${light[name]},${dark[name]})`;
  return `:root{--accent:${value('accent')};--on-accent:${value('onAccent')};--tint:${value('tint')}}`;
}
