import { newId } from '../db/ids/ids.ts';
import { redact } from '../secrets/redact.ts';

const CALLERS_FORM = /^[A-Za-z0-9_-]{8,64}$/;

/** The caller's request id, if it has the accepted form and is not an API key put there by mistake. */
export function readRequestId(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && CALLERS_FORM.test(header) && redact(header) === header
    ? header
    : undefined;
}

export function newRequestId(): string {
  return `req_${newId().replaceAll('-', '')}`;
}
