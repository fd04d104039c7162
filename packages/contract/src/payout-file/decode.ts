import { FileFault } from './csv-rows.ts';

const BOM = '\uFEFF';

/** The text of a file in UTF-8, without its byte order mark. @throws FileFault that says where other bytes are */
export function decodeFile(bytes: Uint8Array): string {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff))
    throw new FileFault('row 1', 'the file is UTF-16; save it as UTF-8');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(BOM, '');
  } catch {
    throw placeOfFault(bytes);
  }
}

/** Spreadsheets on Windows write Latin-1 (windows-1252) unless they are told otherwise. */
function placeOfFault(bytes: Uint8Array): FileFault {
  const lines = splitLines(bytes);
  const row = lines.findIndex((line) => !isUtf8(line));
  const line = new TextDecoder('windows-1252').decode(lines[row]);
  const shown = [...line].find((character) => (character.codePointAt(0) ?? 0) > 0x7f) ?? '';
  return new FileFault(
    `row ${row + 1}`,
    `it is not UTF-8 (as Latin-1 it would have ${JSON.stringify(shown)}); save the file as UTF-8`,
  );
}

function splitLines(bytes: Uint8Array): Uint8Array[] {
  const lines = [];
  let from = 0;
  for (let to = bytes.indexOf(0x0a); to !== -1; to = bytes.indexOf(0x0a, from)) {
    lines.push(bytes.subarray(from, to));
    from = to + 1;
  }
  return [...lines, bytes.subarray(from)];
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
