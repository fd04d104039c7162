import type { PageAnswer } from './page.ts';

/** Headers of every page of ours: no foreign content, no framing, no referrer. */
export function pageHeaders(policy: Readonly<Record<string, string>>): Record<string, string> {
  const rules = { 'default-src': "'none'", 'form-action': "'none'", ...policy, 'base-uri': "'none'" };
  return {
    'content-security-policy': [...Object.entries(rules), ['frame-ancestors', "'none'"]]
      .map((rule) => rule.join(' '))
      .join('; '),
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  };
}

/** Leads to another page after a form, so that a reload does not send the form again (POST/redirect/GET). */
export function seeOther(location: string, headers: Readonly<Record<string, string>> = {}): PageAnswer {
  return { status: 303, type: 'text/plain; charset=utf-8', headers: { ...headers, location }, body: '' };
}

/** A rendered document, with the directives of its content security policy beside those that all pages have. */
export interface HtmlDocument {
  html: string;
  policy: Readonly<Record<string, string>>;
}

export function htmlAnswer(
  { html, policy }: HtmlDocument,
  { status = 200, headers = {} }: { status?: number; headers?: Readonly<Record<string, string>> } = {},
): PageAnswer {
  return {
    status,
    type: 'text/html; charset=utf-8',
    headers: { ...pageHeaders(policy), ...headers },
    body: html,
  };
}
