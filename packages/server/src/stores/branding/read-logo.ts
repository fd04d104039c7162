import { createHash } from 'node:crypto';
import { Fail } from '../../platform/fail.ts';
import { redrawPng } from './png-logo.ts';
import { redrawSvg } from './svg-logo.ts';

const LOGO_BYTES_MAX = 100_000;
const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const ID_LENGTH = 32;
const SHOWN_HEIGHT = 40;
const SHOWN_WIDTH_MAX = 160;

export interface Logo {
  /** Of the content: another picture has another address. */
  logoId: string;
  type: 'image/png' | 'image/svg+xml';
  body: Buffer;
  /** As pages show it, in pixels. */
  width: number;
  height: number;
}

/**
 * A logo as it is kept and served: drawn again from what the file shows, so that nothing else of it is.
 *
 * @throws Fail `invalid_request` with what is wrong, in one line
 */
export function readLogo(file: Buffer): Logo {
  if (file.length > LOGO_BYTES_MAX)
    throw new Fail('invalid_request', {
      message: `The logo has ${Math.ceil(file.length / 1_000)} kB; at most ${LOGO_BYTES_MAX / 1_000} kB are taken.`,
      param: 'logo',
    });
  const isPng = file.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE);
  if (!isPng && !/^[\s\uFEFF]*</.test(file.subarray(0, 200).toString('utf8')))
    throw new Fail('invalid_request', { message: 'The logo is neither a PNG nor an SVG.', param: 'logo' });
  const { body, width, height } = isPng ? redrawPng(file) : redrawSvg(file);
  const type = isPng ? 'image/png' : 'image/svg+xml';
  const logoId = createHash('sha256').update(body).digest('hex').slice(0, ID_LENGTH);
  return { logoId, type, body, ...shownSize(width, height) };
}

/** The size in the head of a page: as high as the head allows, at most four times as wide. */
function shownSize(width: number, height: number): Pick<Logo, 'width' | 'height'> {
  const scale = Math.min(SHOWN_HEIGHT / height, SHOWN_WIDTH_MAX / width);
  const pixels = (length: number) => Math.max(1, Math.round(length * scale));
  return { width: pixels(width), height: pixels(height) };
}
