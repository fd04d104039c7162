import { shorten } from '../secrets/shorten.ts';

/**
 * Strict JSON for request bodies. `JSON.parse` decides the grammar and builds the value; one pass over the same
 * text then refuses what JSON.parse lets through and nobody should: duplicate and poisoning keys, depth, NUL,
 * lone surrogates, and numbers whose value or written form is not what the caller would get back.
 */

const DEPTH_MAX = 32;
/**
 * Four times what the largest body of any call holds. Without it 1 MiB of small values costs half a second: each is made,
 * named and judged, only to be refused.
 */
const VALUES_MAX = 5_000;
const PLAIN_INTEGER = /^-?(?:0|[1-9][0-9]*)$/;
const POISON_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor']);

/** V8 keeps a text of more than 1,031,912 bytes outside of its heap, in memory that may never go back to the system. */
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

/** A body that is not taken. `reason` is a sentence for the caller, `path` names the place (`items[0].quantity`). */
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
 * The one top-level object in `raw`. Every number in it that has an integral value was written as a plain integer
 * within ±(2^53−1), so that a schema of type integer needs to look at the value only. Throws JsonRefused.
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

/** Counts values by their commas and brackets before any is made; the text may still be no JSON. */
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

/** An object has its keys so far and the one it stands at; an array (`keys` undefined) the index it stands at. */
interface Frame {
  readonly keys: Set<string> | undefined;
  key: string;
  index: number;
}

/** Walks text that is known to be valid JSON; therefore a string in an object's key position is a key. */
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

/** Found once and kept until passed: a search from every string would take quadratic time without backslashes. */
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

/** Only escapes can smuggle NUL and lone surrogates in: raw ones are no JSON and no UTF-8. */
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
 * End of the number at `start`. The written form is judged here, since the value no longer shows it: `-0`, an
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
