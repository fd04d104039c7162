import type { QrCode } from '@florin/pages';
import { encode } from 'uqr';

/** Blank modules around the code, without which readers do not find it. */
const QUIET_ZONE = 4;

/** The text as a QR code; dark modules of a row that touch are one piece of the path. */
export function qrCodeOf(text: string): QrCode {
  const { data, size } = encode(text, { ecc: 'M', border: QUIET_ZONE });
  const path = data.flatMap((row, y) => {
    const pieces: string[] = [];
    for (let x = 0; x < row.length; x++) {
      if (!row[x]) continue;
      const start = x;
      while (row[x + 1]) x++;
      const length = x - start + 1;
      pieces.push(`M${start} ${y}h${length}v1h-${length}z`);
    }
    return pieces;
  });
  return { size, path: path.join('') };
}
