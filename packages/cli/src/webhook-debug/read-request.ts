import { wrongUsage } from '../failure.ts';

/** A request from text. Header names in lower case, with all their values. */
export interface GivenRequest {
  headers: ReadonlyMap<string, readonly string[]>;
  body: Buffer;
}

/** A header line, also as curl -v, a proxy's log or a person indents and marks it. */
const HEADER_LINE = /^[<>\s]*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)\s*:(.*)$/;
const REQUEST_LINE = /^[<>\s]*[A-Z]+ \S+ HTTP\/\d/;
const HEAD_END = /\r?\n[<>]?[ \t]*\r?\n/;

/** Header lines, or JSON such as a framework prints: `{"name": "value" or ["value"]}`. @throws CommandFailure */
export function readHeaders(text: string): ReadonlyMap<string, readonly string[]> {
  const headers = new Map<string, string[]>();
  for (const [name, value] of text.trimStart().startsWith('{') ? jsonHeaders(text) : headerLines(text)) {
    const key = name.toLowerCase();
    headers.set(key, [...(headers.get(key) ?? []), value]);
  }
  return headers;
}

function headerLines(text: string): [name: string, value: string][] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '' && !REQUEST_LINE.test(line));
  return lines.map((line) => {
    const [, name, value] = HEADER_LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) {
      throw wrongUsage(
        `This is no header line: ${JSON.stringify(line.slice(0, 80))}. Headers are written "Name: value".`,
      );
    }
    return [name, value.trim()];
  });
}

function jsonHeaders(text: string): [name: string, value: string][] {
  let parsed: Record<string, unknown>;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw wrongUsage('The headers begin with { but are no JSON.');
  }
  return Object.entries(parsed).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, String(one)]),
  );
}

/** A whole request: the head, an empty line, and every byte after it. @throws CommandFailure */
export function readWhole(bytes: Buffer): GivenRequest {
  // One character a byte, so that places in the text are places in the bytes.
  const text = bytes.toString('latin1');
  const end = HEAD_END.exec(text);
  if (end === null) throw wrongUsage('There is no empty line between the headers and the body.');
  const bodyAt = end.index + end[0].length;
  return { headers: readHeaders(text.slice(0, end.index)), body: bytes.subarray(bodyAt) };
}
