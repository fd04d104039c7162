import type { RawRequest } from '../platform/http/index.ts';

const MAX_AGE_SECONDS = 12 * 3600;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
const TOKEN = /^[\w-]{43}$/;

const isSecure = (publicUrl: string) => publicUrl.startsWith('https:');

/** On plain http, which only loopback has, some browsers drop what `Secure` and the prefix ask for. */
const nameOf = (publicUrl: string) => (isSecure(publicUrl) ? '__Host-florin_session' : 'florin_session');

/** The header that gives a browser its session, or takes it away. */
export function sessionCookie(publicUrl: string, token: string | null): Record<string, string> {
  const age = token === null ? 0 : MAX_AGE_SECONDS;
  const secure = isSecure(publicUrl) ? '; Secure' : '';
  return {
    'set-cookie': `${nameOf(publicUrl)}=${token ?? ''}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict${secure}`,
  };
}

/** Undefined without a session, and with two: one of them was planted. */
export function readSessionCookie(
  { headers }: Pick<RawRequest, 'headers'>,
  publicUrl: string,
): string | undefined {
  const prefix = `${nameOf(publicUrl)}=`;
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const [token, ...others] = pairs.flatMap((pair) =>
    pair.startsWith(prefix) ? [pair.slice(prefix.length)] : [],
  );
  return token !== undefined && others.length === 0 && TOKEN.test(token) ? token : undefined;
}

function originOf(url: string): URL | undefined {
  return URL.canParse(url) ? new URL(url) : undefined;
}

/** Whether a page of ours sent a request. A sandbox on loopback goes by each of its names. */
export function isSameOrigin(
  { headers, repeated }: Pick<RawRequest, 'headers' | 'repeated'>,
  publicUrl: string,
): boolean {
  const site = headers['sec-fetch-site'];
  if (repeated.has('origin') || (site !== undefined && site !== 'same-origin')) return false;
  const [given, own] = [originOf(headers.origin ?? ''), originOf(publicUrl)];
  if (given === undefined || own === undefined) return false;
  if (given.origin === own.origin) return true;
  const areLoopback = LOOPBACK.has(given.hostname) && LOOPBACK.has(own.hostname);
  return areLoopback && given.protocol === own.protocol && given.port === own.port;
}
