import { shellQuote } from './shell-quote.ts';

export interface SignedRequest {
  method: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  /** The signed text, byte for byte. */
  body: string;
}

/** Linux takes 128 KiB in one argument; a shell's own printf has no such limit. */
const ARGUMENT_BYTES_MAX = 100_000;

/** A command for any POSIX shell that sends the request with exactly these bytes. */
export function curlCommand({ method, url, headers, body }: SignedRequest): string {
  const parts = ['curl -sS', ...(method === 'GET' ? [] : [`-X ${method}`])];
  // curl takes brackets in a URL (expand[]=…) for patterns.
  if (/[[\]{}]/.test(url)) parts.push('--globoff');
  parts.push(shellQuote(url));
  parts.push(...Object.entries(headers).map(([name, value]) => `-H ${shellQuote(`${name}: ${value}`)}`));
  if (body === '') return parts.join(' \\\n  ');
  if (method === 'GET') parts.splice(1, 0, '-X GET');
  if (Buffer.byteLength(body) > ARGUMENT_BYTES_MAX) {
    parts.push('--data-binary @-');
    return `printf '%s' ${shellQuote(body)} | ${parts.join(' \\\n  ')}`;
  }
  // curl takes a body that begins with @ for a file name.
  parts.push(`${body.startsWith('@') ? '--data-raw' : '--data-binary'} ${shellQuote(body)}`);
  return parts.join(' \\\n  ');
}
