import { Fail } from '../platform/fail.ts';
import { checkCallbackUrl } from '../platform/outbound/index.ts';
import type { EndpointRow } from './endpoint-queries.ts';

/** Normalises a callback URL to the form that is stored and shown. @throws Fail with `param` `url` */
export function normalUrl(text: string): string {
  const checked = checkCallbackUrl(text);
  if ('url' in checked) return checked.url;
  throw new Fail('invalid_request', { message: `url ${checked.refused}.`, param: 'url' });
}

/** @throws Fail `invalid_request` for a disabled endpoint: its deliveries are paused, so nothing would arrive */
export function checkEnabled(endpoint: EndpointRow): void {
  if (endpoint.status === 'enabled') return;
  throw new Fail('invalid_request', 'The webhook endpoint is disabled. Enable it first.');
}
