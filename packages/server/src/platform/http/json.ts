import { shorten } from '../secrets/shorten.ts';

/**
 * Strict JSON for request bodies. `JSON.parse` checks the grammar and builds the value. A pass over the same text then
 * refuses what JSON.parse accepts: duplicate and poisoning keys, more than 32 levels, NUL, lone surrogates, and numbers
 * that would not be read back as they were written.
 */

const DEPTH_MAX = 32;
/**
 * Four times as many as the largest body of any call has. Without the limit 1 MiB of small values takes half a second to
 * build and check, only to be refused.
 */
const VALUES_MAX = 5_000;
const PLAIN_INTEGER = /^-?(?:0|[1-9][0-9]*)$/;
const POISON_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor']);

/** V8 keeps a text above 1,031,912 bytes outside its heap, in memory that may never return to the system. */
const TEXT_BYTES_MAX = 1_000_000;

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const BYTE_ORDER_MARK = 0xfeff;

/** A refused body. `reason` is for the caller, `path` names the place (`items[0].quantity`). */
export class JsonRefused extends Error {
  readonly reason: string;
  readonly path: string | undefined;

  constructor(reason: string, path?: string) {
    const shown = path === undefined || path === '' ? undefined : shorten(path);
    super(shown === undefined ? reason : `${shown}: ${reason}`);
    this.reason = reason;
    this.path = shown;
  }
}

/**
 * Parses the one top-level object in `raw`. Every integral number in it was written as a plain integer within ±(2^53−1),
 * so that a schema of type integer only needs to check the value. @throws JsonRefused
 */
export function parseStrictJson(raw: Uint8Array): Record<string, unknown> {
  const text = decode(raw);
  if (text.length === 0) throw new JsonRefused('the body is empty');
  if (firstCode(text) !== OPEN_BRACE) throw new JsonRefused('the body must be one JSON object');
  refuseCrowds(text);
  const value = parse(text);
  refuseTraps(text);
  return value;
}

function decode(raw: Uint8Array): string {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let text = '';
  try {
    let from = 0;
    for (; raw.length - from > TEXT_BYTES_MAX; from += TEXT_BYTES_MAX)
      text += decoder.decode(raw.subarray(from, from + TEXT_BYTES_MAX), { stream: true });
    text += decoder.decode(raw.subarray(from));
  } catch {
    throw new JsonRefused('the body is not valid UTF-8');
  }
  if (text.charCodeAt(0) === BYTE_ORDER_MARK) throw new JsonRefused('the body begins with a byte order mark');
  return text;
}

function firstCode(text: string): number {
  let at = 0;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== SPACE && code !== LINE_FEED && code !== CARRIAGE_RETURN && code !== TAB) return code;
  }
  return 0;
}

/** Counts values by commas and brackets before any is built; the text may still be invalid. */
function refuseCrowds(text: string): void {
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = stringEnd(text, at);
      if (at === -1) return;
    } else if (code === COMMA || code === OPEN_BRACE || code === OPEN_BRACKET) {
      values++;
      if (values > VALUES_MAX) throw new JsonRefused(`it holds more than ${VALUES_MAX} values`);
    }
  }
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The engine's message quotes the body; only the place is taken from it.
    const place = / position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
    throw new JsonRefused(
      `the body is not valid JSON${place === undefined ? '' : ` (at character ${place})`}`,
    );
  }
}

/** An open object with the keys so far and its current one, or an array (`keys` undefined) with its current index. */
interface Frame {
  readonly keys: Set<string> | undefined;
  key: string;
  index: number;
}

/** Scans text that is valid JSON; therefore a string in an object's key position is a key. */
function refuseTraps(text: string): void {
  const frames: Frame[] = [];
  let frame: Frame = { keys: undefined, key: '', index: 0 };
  let keyNext = false;
  let backslashAt = nextBackslash(text, 0);

  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = stringEnd(text, at);
      const escaped = backslashAt < end;
      const content = escaped ? unescaped(text.slice(at, end + 1), frames, keyNext) : '';
      if (keyNext) addKey(frame, escaped ? content : text.slice(at + 1, end), frames);
      if (escaped) backslashAt = nextBackslash(text, end);
      keyNext = false;
      at = end;
    } else if (code === COMMA) {
      keyNext = frame.keys !== undefined;
      frame.index++;
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      at = numberEnd(text, at, frames) - 1;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      keyNext = code === OPEN_BRACE;
      frame = { keys: keyNext ? new Set() : undefined, key: '', index: 0 };
      frames.push(frame);
      if (frames.length > DEPTH_MAX) throw new JsonRefused(`nested deeper than ${DEPTH_MAX} levels`);
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      frames.pop();
      frame = frames.at(-1) ?? frame;
      keyNext = false;
    }
  }
}

/** The result is kept until the scan passes it: a search from every string would take quadratic time. */
function nextBackslash(text: string, from: number): number {
  const at = text.indexOf('\\', from);
  return at === -1 ? Number.POSITIVE_INFINITY : at;
}

/** Index of the closing quote of the string that opens at `open`; -1 where there is none. */
function stringEnd(text: string, open: number): number {
  for (let end = text.indexOf('"', open + 1); ; end = text.indexOf('"', end + 1)) {
    if (end === -1) return -1;
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    if ((end - before) % 2 === 1) return end;
  }
}

/** Only escapes can hold NUL and lone surrogates: raw ones are invalid JSON and invalid UTF-8. */
function unescaped(token: string, frames: readonly Frame[], isKey: boolean): string {
  const content: string = JSON.parse(token);
  const trouble = content.includes('\0')
    ? 'a NUL character'
    : content.isWellFormed()
      ? ''
      : 'a lone surrogate';
  if (trouble !== '')
    throw new JsonRefused(`text with ${trouble}`, pathOf(isKey ? frames.slice(0, -1) : frames));
  return content;
}

function addKey(frame: Frame, key: string, frames: readonly Frame[]): void {
  frame.key = key;
  if (POISON_KEYS.has(key)) throw new JsonRefused(`the key ${key} is not allowed`, pathOf(frames));
  if (frame.keys?.has(key)) throw new JsonRefused('the key appears twice', pathOf(frames));
  frame.keys?.add(key);
}

/**
 * End of the number at `start`. It checks the written form, which the value does not show: `-0`, an
 * exponent (`1e1`), and a fraction that leaves a whole number (`10.0`, also after rounding) are refused, and so is
 * an integer that a double cannot hold. A real fraction such as 1.5 passes; a schema decides whether it may.
 */
function numberEnd(text: string, start: number, frames: readonly Frame[]): number {
  let end = start + 1;
  while (isNumberPart(text.charCodeAt(end))) end++;
  const token = text.slice(start, end);
  if (token.length < 16 && token !== '-0' && PLAIN_INTEGER.test(token)) return end;

  const value = Number(token);
  if (token === '-0') throw new JsonRefused('write 0 without a sign', pathOf(frames));
  if (PLAIN_INTEGER.test(token)) {
    if (Number.isSafeInteger(value)) return end;
    throw new JsonRefused('an integer beyond ±(2^53−1)', pathOf(frames));
  }
  if (/[eE]/.test(token)) throw new JsonRefused('a number with an exponent', pathOf(frames));
  if (!Number.isFinite(value)) throw new JsonRefused('a number too large to hold', pathOf(frames));
  if (Number.isInteger(value))
    throw new JsonRefused('a whole number written with a fraction', pathOf(frames));
  return end;
}

/** A digit, sign, point or exponent letter: + - . 0-9 E e. */
function isNumberPart(code: number): boolean {
  return (
    (code >= ZERO && code <= NINE) ||
    code === 0x2e ||
    code === MINUS ||
    code === 0x2b ||
    (code | 0x20) === 0x65
  );
}

function pathOf(frames: readonly Frame[]): string {
  let path = '';
  for (const { keys, key, index } of frames)
    path += keys === undefined ? `[${index}]` : path === '' ? key : `.${key}`;
  return path;
}
